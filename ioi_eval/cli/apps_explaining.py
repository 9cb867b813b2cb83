"""Explaining where graders differ: what `apps explain` does."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from ioi_eval.apps.catalog import Catalog
from ioi_eval.apps.dump_reader import AppsCandidate, AppsDumpReader, survey
from ioi_eval.apps.explain import OURS, GraderResult, differ, differing_tests, grader_results
from ioi_eval.apps.solution_files import open_dump
from ioi_eval.cli import apps_executor
from ioi_eval.cli.apps import ExplainCall
from ioi_eval.cli.exits import FAILED
from ioi_eval.cli.messages import tell
from ioi_eval.cli.readiness import make_ready
from ioi_eval.cli.sandboxes import opened
from ioi_eval.cli.sources import tell_hub_names
from ioi_eval.compat import NAMES, grader_named
from ioi_eval.concurrency import for_each, in_thread
from ioi_eval.errors import InputError
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.pipeline.progress import progress_for, with_progress
from ioi_eval.pipeline.settings import spare_for
from ioi_eval.problems.apps_submissions import submission_columns
from ioi_eval.report.run_summary import ReasonCounts
from ioi_eval.report.texts import counted, printable, table
from ioi_eval.rows import KeptColumns

_TESTS = 10  # how many tests of a program are printed


@dataclass(slots=True)
class _Explained:
    """The results of all programs.

    Args:
        texts: the text to print for each program, by the program's position in the dump.
        unjudged: programs that we failed to judge, by our rules or a grader's.
        tally: for each grader, how often it accepts a program that we reject, and the other way round.
    """

    graders: Sequence[str]
    texts: dict[int, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    unusable: dict[str, str] = field(default_factory=dict)
    unjudged: ReasonCounts = field(default_factory=ReasonCounts)
    programs: int = 0
    different: int = 0
    tally: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(
        self, index: int, entry: Judgeable[AppsCandidate], results: Sequence[GraderResult], everything: bool
    ) -> None:
        """Add the results for one program."""
        ours = next(result.right for result in results if result.grader == OURS)
        self.programs += 1
        for result in results:
            if result.we_failed:
                candidate, by = entry.candidate, "" if result.grader == OURS else f"{result.grader}: "
                self.unjudged.add(f"{by}{result.whole}", f"{candidate.submission.id} (problem {candidate.problem.id})")
        self.different += differ(results)
        for result in results:
            if ours is not None and result.right is not None and result.right != ours:
                self.tally[result.grader, "accepts" if result.right else "rejects"] += 1
        if everything or differ(results):
            self.texts[index] = _text(entry, results)


def explain(call: ExplainCall) -> int:
    """Print where graders differ. Returns the exit code: 1 if a row or a program could not be judged."""
    for name in call.compat or ():
        grader_named(name)  # an unknown one is refused before anything is read
    dump = KeptColumns(open_dump(call.dump, call.problems.selection.ids), submission_columns(call.id_column))
    tell_hub_names((call.dump, call.problems.dataset))
    _ = call.problems.source  # a wrong name is refused before the dump is read
    counts = survey(dump, id_column=call.id_column)
    needed = {problem for problem in counts if problem is not None}
    with call.problems.catalog(needed=needed) as catalog:
        dump_reader = AppsDumpReader(dump, catalog, fingerprints=lambda *_: ("",), id_column=call.id_column)
        count = sum(n for problem, n in counts.items() if problem and catalog.id_of(problem) in catalog.entries)
        if not count:
            raise InputError(f"{dump.describe()} has no program for any of the problems that were asked for")
        explained = asyncio.run(_explain(call, dump_reader, catalog, count))
    _report(explained)
    return FAILED if explained.unjudged.counts or explained.refused else 0


async def _explain(call: ExplainCall, dump_reader: AppsDumpReader, catalog: Catalog, count: int) -> _Explained:
    names = tuple(dict.fromkeys(call.compat or NAMES))
    explained = _Explained(graders=(OURS, *names))
    rules = {OURS: call.rules}
    rules |= {name: replace(call.rules, compat=name, comparator="lines") for name in names}
    settings = {name: rule.settings(isolation=call.sandbox.isolation) for name, rule in rules.items()}
    progress = progress_for(count, bar=call.bar)
    async with opened(call.sandbox) as entered:
        await make_ready(entered, [settings[OURS].memory_limit_bytes])
        executors = {name: apps_executor.executor(entered.sandbox, own, call.sandbox) for name, own in settings.items()}
        python = await executors[OURS].interpreter()
        tell(apps_executor.interpreter_line(python, call.rules.python, is_here=call.sandbox.is_here))
        tell(f"our rules compare outputs by {call.rules.comparator}")
        for name in call.compat or ():
            await executors[name].interpreter()  # a grader that was asked for must be usable

        async def ask(numbered: tuple[int, Judgeable[AppsCandidate]]) -> None:
            index, entry = numbered
            problem = await in_thread(catalog.problem, entry.candidate.problem.id)
            results = await grader_results(entry, problem, executors, explained.unusable)
            explained.add(index, entry, results, call.everything)
            progress.advance("different" if differ(results) else "alike")

        jobs = apps_executor.jobs_now(call.sandbox, executors[OURS])
        work = for_each(_accepted(dump_reader, explained), ask, workers=jobs + spare_for(jobs, shares=True))
        with closing(progress):
            await with_progress(progress, work)
    return explained


def _accepted(dump_reader: AppsDumpReader, explained: _Explained) -> Iterator[tuple[int, Judgeable[AppsCandidate]]]:
    for index, entry in enumerate(dump_reader.entries()):
        if isinstance(entry, Refused):
            explained.refused.append(entry.message)
        else:
            yield index, entry


def _text(entry: Judgeable[AppsCandidate], results: Sequence[GraderResult]) -> str:
    """The text for one program: each grader's verdict, the tests on which they differ, and why."""
    candidate = entry.candidate
    names = printable(f"{candidate.problem.instance_id}, {candidate.submission.id}")
    lines = [f"{names} ({candidate.submission.extraction})"]
    tests = differing_tests(results)
    numbers = tests[:_TESTS]
    head = ("grader", "all", *(f"test {number}" for number in numbers))
    rows = [(each.grader, each.whole, *(each.tests[number].result or "–" for number in numbers)) for each in results]
    lines.append(table(head, rows, left=frozenset(range(len(head)))))
    if len(tests) > len(numbers):
        lines.append(f"… and {len(tests) - len(numbers)} more tests")
    for number in numbers:
        lines.append(f"test {number}:")
        reasons: dict[str, list[str]] = {}
        for result in results:
            reasons.setdefault(result.tests[number].reason, []).append(result.grader)
        lines += [f"  {', '.join(graders)}: {printable(reason)}" for reason, graders in reasons.items()]
    for result in results:
        if result.code is not None:
            lines.append(f"{result.grader} found another program, of {len(result.code)} characters")
    return "\n".join(lines) + "\n"


def _report(explained: _Explained) -> None:
    for _, text in sorted(explained.texts.items()):
        print(text)
    for grader, text in explained.unusable.items():
        print(f"{grader} was not asked: {text}")
    for message in explained.refused:
        print(printable(message))
    for entry in explained.unjudged.as_list():
        reason = f"{printable(entry['reason'])}, such as {printable(entry['examples'][0])}"
        print(f"{counted(entry['rows'], 'program')} not judged: {reason}")
    used = [name for name in explained.graders if name not in explained.unusable]
    if not used[1:]:
        print("no other grader could be asked")
        return
    names = f"{', '.join(used[:-1])} and {used[-1]}"
    print(f"{names} differ on {explained.different} of {counted(explained.programs, 'program')}")
    for (grader, how), count in sorted(explained.tally.items()):
        print(f"  {grader} {how} {count} that we {'reject' if how == 'accepts' else 'accept'}")
