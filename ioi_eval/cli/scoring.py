"""Scoring a dump: what `score`, `run-tests` and `demo` do."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.cli.dump_run import end_run, judge_dump
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import SCORE, check_out
from ioi_eval.cli.readiness import make_ready
from ioi_eval.cli.sandboxes import OpenSandbox, opened
from ioi_eval.cli.score import ScoreCall
from ioi_eval.cli.sources import tell_hub_names
from ioi_eval.cli.validate import ValidateCall
from ioi_eval.concurrency import in_thread, until
from ioi_eval.config import KEPT_OUTPUT_BYTES
from ioi_eval.errors import InputError, listed
from ioi_eval.events import Events
from ioi_eval.journal import Index, read_index
from ioi_eval.model import DEFAULT_YEAR, Language, ProblemKey
from ioi_eval.pipeline import DumpOutcome
from ioi_eval.pipeline.contest import ContestFamily
from ioi_eval.pipeline.contest_dump import ContestDumpReader, Survey, survey
from ioi_eval.problems.first_rows import FIRST
from ioi_eval.problems.ioi import ProblemSet, problems_without_tests
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.problems.submissions import submission_columns
from ioi_eval.problems.time_scale import scaled_set
from ioi_eval.report.groups import Grouping, grouping_of
from ioi_eval.report.result_files import result_rows
from ioi_eval.report.terminal import terminal_report
from ioi_eval.report.texts import counted
from ioi_eval.rows import Altered, KeptColumns, Source, joined_dumps, open_source
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import check_std

_ID_COLUMN, _LABEL_COLUMN = "uuid", "label"  # Source: the reference's dumps, and `open-r1/ioi-sample-solutions`


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpToScore:
    """A dump that a command judges, what reading it once has found, and the columns by which results are grouped."""

    call: ScoreCall
    dump: Source
    survey: Survey
    grouping: Grouping

    def problems_of_dump(self, problems: ProblemSet) -> ProblemSet:
        """Of the problems that were read for all dumps, those whose year and whose id occur in this dump."""
        years, ids = _years_and_ids((self,))

        def is_own(key: ProblemKey) -> bool:
            return key.year in years and key.id in ids

        return replace(
            problems,
            problems={key: problem for key, problem in problems.problems.items() if is_own(key)},
            unusable={key: error for key, error in problems.unusable.items() if is_own(key)},
            others={*problems.others, *(key for key in (*problems.problems, *problems.unusable) if not is_own(key))},
        )

    def wait_for_problems(self, problems: LoadingProblems) -> LoadingProblems:
        """Wait until all problems have been read, and return those of this dump, as `problems_of_dump` does."""
        return LoadingProblems.complete(self.problems_of_dump(problems.wait_for_all()))

    async def family(self, problems: LoadingProblems, scorer: Scorer) -> ContestFamily:
        """How the dump is read, judged and written."""
        await scorer.learn_tools(self.survey.languages)
        dump_reader = ContestDumpReader(
            self.dump,
            self.call.selection,
            problems,
            fingerprints=scorer.fingerprints,
            id_column=self.call.id_column,
            with_includes=self.call.fix_includes,
        )
        return ContestFamily(
            dump_reader,
            scorer,
            unscored=self.call.unscored_as,
            grouping=self.grouping,
            dump_notes=[f"of the dump, {note}" for note in self.survey.misspelled],
        )


def score(call: ScoreCall) -> int:
    """Score a dump, print the result, and push it to the Hub if the user asked for that."""
    return call.watch.run(
        SCORE,
        call.as_dict(),
        lambda events: score_all((call,), after=call.open_hub(), events=events),
        read=call.sources,
    )


def score_all(calls: Sequence[ScoreCall], *, after: Callable[[ScoreCall, DumpOutcome], int], events: Events) -> int:
    """Score several dumps, one after the other, each into a directory of its own, and show each result.

    All dumps are read once before anything is judged. Problems and tests are read only once, and the sandbox is entered
    only once. A single dump is judged while tests are still being read.

    Args:
        calls: they differ only in `dumps` and `out`.
        after: called after each dump; returns an exit code. The highest of all is returned.
    """
    common = calls[0]
    problem_source, test_source, dumps = _read_sources(calls)
    problems = _load(dumps, problem_source, test_source)

    async def run() -> int:
        codes = []
        async with opened_scorer(common, events) as (entered, scorer):
            await make_ready(entered, (problem.memory_limit_bytes for problem in problems.drafts.problems.values()))
            reading = asyncio.create_task(_leave_room_for_reading(entered, problems))
            for number, to_score in enumerate(dumps, 1):
                if len(dumps) > 1:
                    tell(f"data set {number} of {len(dumps)}: {to_score.call.dump}")
                    await until(lambda: not problems.is_loading)
                own = problems if len(dumps) == 1 else to_score.wait_for_problems(problems)
                outcome = await judge_dump(
                    to_score.call,
                    await to_score.family(own, scorer),
                    entered,
                    rows=to_score.survey.rows,
                    problems=len(own.drafts.problems),
                    shares=Language.PYTHON in to_score.survey.languages,
                    events=events,
                )
                codes.append(await in_thread(_show, to_score.call, outcome, after, events))
                if outcome.interrupted or outcome.stopped_by:
                    tell(*(f"not begun: {left.call.dump}" for left in dumps[number:]))
                    break
            reading.cancel()
        return max(codes)

    return asyncio.run(run())


def _show(call: ScoreCall, outcome: DumpOutcome, after: Callable[[ScoreCall, DumpOutcome], int], events: Events) -> int:
    texts = [terminal_report(outcome.summary)]
    if call.suspicious:
        from ioi_eval.report.submission_text import suspicious_report

        texts.append(suspicious_report(result_rows(call.out), id_column=call.id_column))
    end_run(call.out, outcome.summary, events, *texts)
    return max(outcome.exit_code, after(call, outcome))


def dry_run(call: ScoreCall) -> int:
    """Print what `score` would judge."""
    if call.push_to_hub is not None:
        from ioi_eval.report.hub import check_name

        check_name(call.push_to_hub)
    return dry_run_all((call,))


def dry_run_all(calls: Sequence[ScoreCall]) -> int:
    """Print what `score_all` would judge. Returns the exit code: 1 if some rows cannot be judged."""
    from ioi_eval.pipeline.dry_run import plan

    problem_source, test_source, dumps = _read_sources(calls)
    problems = _load(dumps, problem_source, test_source)

    async def run() -> bool:
        complete = True
        async with opened_scorer(calls[0]) as (_, scorer):
            for to_score in dumps:
                index, notes = read_index(to_score.call.out) if not to_score.call.no_resume else (Index(), ())
                tell(*notes)
                family = await to_score.family(to_score.wait_for_problems(problems), scorer)
                again = {"dedupe": not to_score.call.no_dedupe, "retry_failed": to_score.call.retry_failed}
                planned = await in_thread(plan, family.dump_reader, index, **again)
                print(f"{to_score.call.dump}\n\n{planned.describe()}\n" if len(dumps) > 1 else planned.describe())
                complete = complete and not planned.refused.counts
        return complete

    return 0 if asyncio.run(run()) else 1


def _read_sources(calls: Sequence[ScoreCall]) -> tuple[Source, Source, Sequence[DumpToScore]]:
    common = calls[0]
    check_std(common.rules.std)
    directories = [check_out(call.out, read=call.sources, command=SCORE) for call in calls]
    opened = [_opened(call) for call in calls]
    dumps = list(map(_dump, calls, opened))
    tell_hub_names((*(name for call in calls for name in call.dumps), common.problems, common.tests))
    problems, tests = open_source(common.problems, all_splits=True), open_source(common.tests)
    return problems, tests, list(map(_read_once, calls, dumps, opened, directories))


def _read_once(call: ScoreCall, dump: Source, opened: Sequence[Source], directory: Path) -> DumpToScore:
    """A dump, read once. Official solutions have a label instead of an id; they are named by the label.

    The columns that judging needs are kept in a temporary file in the directory.
    """
    if call.id_column == _ID_COLUMN:
        named = {name for row in islice(dump.iterate((_ID_COLUMN, _LABEL_COLUMN)), FIRST) for name in row.names}
        if _LABEL_COLUMN in named and _ID_COLUMN not in named:
            tell(f"{call.dump} has no column {_ID_COLUMN}; its rows are named by {_LABEL_COLUMN}")
            call = replace(call, id_column=_LABEL_COLUMN)
    dump = KeptColumns(dump, submission_columns(call.id_column), directory)
    found = survey(dump, call.selection, id_column=call.id_column)
    grouping = grouping_of(opened, call.by)
    return DumpToScore(call=call, dump=dump, survey=found, grouping=grouping)


def _opened(call: ScoreCall) -> list[Source]:
    """The dumps of a call. What is doubtful about a source is said when it is opened, so they are opened once."""
    for name in call.dumps:
        if any(mark in name for mark in ",*?[") and not os.path.exists(os.path.expanduser(name)):
            raise InputError(
                f"{name}: there is no such file. Several dumps are separate words; ioi-eval run-tests takes them with"
                " commas, and patterns, and writes results for each"
            )
    return [open_source(name) for name in call.dumps]


def _dump(call: ScoreCall, opened: Sequence[Source]) -> Source:
    dump = joined_dumps(list(zip(call.dumps, opened, strict=True)))
    if not (call.always_extract_code or call.add_messages_column):
        return dump
    return Altered(dump, without_code=call.always_extract_code, with_messages=call.add_messages_column)


def _load(dumps: Sequence[DumpToScore], problem_source: Source, test_source: Source) -> LoadingProblems:
    """The problems with a year and an id that occur in the dumps, with scaled time limits. Reading their tests, which
    are stored in the cache, has begun."""
    counts = sum((Counter(to_score.survey.counts) for to_score in dumps), Counter[ProblemKey | None]())
    unnamed, needed = counts.pop(None, 0), set(counts)
    others = f", {counted(unnamed, 'row')} without a problem" if unnamed else ""
    counted_text = f"{counted(counts.total(), 'submission')} to {counted(len(needed), 'problem')}{others}"
    tell(f"{counted_text}; reading problems and tests")
    years, ids = _years_and_ids(dumps)
    drafts = problems_without_tests(problem_source, years=years, ids=ids)
    for to_score in dumps:
        _check_found(to_score, to_score.problems_of_dump(drafts), problem_source)
    return LoadingProblems.begin(scaled_set(drafts, dumps[0].call.rules.factor), test_source, BlobStore())


def _years_and_ids(dumps: Sequence[DumpToScore]) -> tuple[set[int], set[str]]:
    needed = {key for to_score in dumps for key in to_score.survey.problems}
    return {key.year for key in needed}, {key.id for key in needed}


def _check_found(to_score: DumpToScore, problems: ProblemSet, source: Source) -> None:
    """Refuse a dump for other problems, or a selected problem that does not exist: the results would have no score."""
    known, call = {*problems.problems, *problems.unusable}, to_score.call
    asked = {name for name in call.selection.problems if any(key.is_among({name}) for key in to_score.survey.problems)}
    absent = sorted(name for name in asked if not any(key.is_among({name}) for key in known))
    if known and not absent:
        return
    needed = ", ".join(f"--problem {name}" for name in absent)
    if not absent:
        assumed = f" (rows without `year` are for {DEFAULT_YEAR})" if to_score.survey.without_year else ""
        needed = f"any problem of {call.dump}, which asks for {listed(map(str, to_score.survey.problems))}{assumed}"
    rows = source.iterate(("year", "id"))
    existing = dict.fromkeys(f"{row.integer('year')}/{row.identifier('id')}" for row in rows)
    raise InputError(f"{source.describe()} does not have {needed}; it has {listed(existing)}")


@asynccontextmanager
async def opened_scorer(
    call: ScoreCall | ValidateCall, events: Events | None = None
) -> AsyncIterator[tuple[OpenSandbox, Scorer]]:
    """The sandbox, entered, and a scorer that judges on it; at the end, lines describe what the scorer noted."""
    async with opened(call.sandbox, events=events) as entered:
        stored = None
        if call.keep_programs is not None and call.sandbox.is_here:
            from ioi_eval.kept_programs import KeptPrograms

            stored = KeptPrograms(max_bytes=int(call.keep_programs * 1e9))
        elif call.keep_programs is not None:
            tell("--keep-programs has no effect, because programs are compiled on other machines")
        scorer = Scorer(
            entered.sandbox,
            artifacts=ArtifactStore(),
            policy=replace(call.rules.policy(entered.least_isolation), score_only=call.score_only),
            return_bytes=KEPT_OUTPUT_BYTES,
            keep_outputs=call.keep,
            kept_programs=stored,
            events=events,
        )
        yield entered, scorer
        tell(*scorer.notes())
        if stored is not None:
            tell(*stored.notes())


async def _leave_room_for_reading(entered: OpenSandbox, problems: LoadingProblems) -> None:
    """If this machine judges, run one job less here, and none alone, until all tests have been read."""
    from ioi_eval.sandbox.local.sandbox import LocalSandbox

    if isinstance(entered.sandbox, LocalSandbox) and problems.is_loading:
        async with entered.sandbox.own_work():
            await until(lambda: not problems.is_loading)
