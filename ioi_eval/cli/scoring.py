"""Scoring a dump: what `score` and `demo` do."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from ioi_eval.blobs import BlobStore
from ioi_eval.cli.contest_scorer import opened_scorer
from ioi_eval.cli.judging import end_run, judge_dump
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import SCORE, check_out
from ioi_eval.cli.readiness import make_ready
from ioi_eval.cli.sandboxes import OpenSandbox
from ioi_eval.cli.score import ScoreCall
from ioi_eval.cli.sources import tell_hub_names
from ioi_eval.errors import InputError
from ioi_eval.events import Events
from ioi_eval.journal import Index, peek
from ioi_eval.model import DEFAULT_YEAR, Language
from ioi_eval.pipeline import DumpOutcome
from ioi_eval.pipeline.contest import ContestDumpReader, ContestFamily
from ioi_eval.pipeline.survey import Survey, survey
from ioi_eval.pipeline.threads import in_thread, until
from ioi_eval.problems.first_rows import FIRST
from ioi_eval.problems.ioi import ProblemSet, load_problems, problems_without_tests, scaled_set
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.problems.submissions import submission_columns
from ioi_eval.report.frame import result_rows
from ioi_eval.report.groups import Grouping, grouping_of
from ioi_eval.report.terminal import terminal_report
from ioi_eval.report.texts import counted, listed
from ioi_eval.rows import Altered, KeptColumns, Source, in_one, open_source
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import check_std

_ID_COLUMN, _LABEL_COLUMN = "uuid", "label"  # Source: the reference's dumps, and `open-r1/ioi-sample-solutions`


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpToScore:
    """A dump that a command judges.

    Args:
        call: the options of the command.
        dump: its rows.
        survey: what reading it once has found.
        grouping: the columns by which results are grouped.
        drafts: the problems with a year and an id that occur in it, with scaled time limits and without tests.
        problems, tests: the rows of problems and of tests.
        blobs: stores the test data.
    """

    call: ScoreCall
    dump: Source
    survey: Survey
    grouping: Grouping
    drafts: ProblemSet
    problems: Source
    tests: Source
    blobs: BlobStore = field(default_factory=BlobStore)

    def begin_to_load(self) -> LoadingProblems:
        """Begin to read the tests, which are stored in the cache."""
        return LoadingProblems.begin(self.drafts, self.tests, self.blobs)

    def restore(self) -> None:
        """Read problems and tests again, after the cache was deleted."""
        tell("the cache was deleted during the run; reading problems and tests again")
        years, ids = _years_and_ids(self.survey)
        load_problems(self.problems, self.tests, self.blobs, years=years, ids=ids)


def score(call: ScoreCall) -> int:
    """Score a dump, print the result, and push it to the Hub if the user asked for that."""

    def work(events: Events) -> int:
        return score_all((call,), after=call.open_hub(), events=events)

    return call.watch.run(SCORE, call.as_dict(), work, read=call.sources)


def score_all(calls: Sequence[ScoreCall], *, after: Callable[[ScoreCall, DumpOutcome], int], events: Events) -> int:
    """Score several dumps, one after the other, each into a directory of its own, and show each result.

    All dumps are read once before anything is judged.

    Args:
        calls: they differ only in `dumps` and `out`.
        after: called after each dump; returns an exit code.
        events: receives the events of the run.

    Returns:
        The exit code: the highest of all.
    """
    dumps = _open(calls)
    code = 0
    for number, to_score in enumerate(dumps, 1):
        call = to_score.call
        if len(dumps) > 1:
            tell(f"data set {number} of {len(dumps)}: {call.dump}")
        outcome = asyncio.run(_score(to_score, events))
        texts = [terminal_report(outcome.summary)]
        if call.suspicious:
            from ioi_eval.report.suspicious import suspicious_report

            texts.append(suspicious_report(result_rows(call.out), id_column=call.id_column))
        end_run(call.out, outcome.summary, events, *texts)
        code = max(code, outcome.exit_code, after(call, outcome))
        if outcome.interrupted or outcome.stopped_by:
            tell(*(f"not begun: {left.call.dump}" for left in dumps[number:]))
            break
    return code


def dry_run(call: ScoreCall) -> int:
    """Print what `score` would judge.

    Returns:
        The exit code: 1 if some rows cannot be judged.

    Raises:
        InputError: the value of `--push-to-hub` is not the name of a data set.
    """
    if call.push_to_hub is not None:
        from ioi_eval.report.hub import check_name

        check_name(call.push_to_hub)
    return dry_run_all((call,))


def dry_run_all(calls: Sequence[ScoreCall]) -> int:
    """Print what `score_all` would judge.

    Returns:
        The exit code: 1 if some rows cannot be judged.
    """
    from ioi_eval.pipeline.dry_run import DryRun, plan

    async def planned(to_score: DumpToScore) -> DryRun:
        call = to_score.call
        async with _opened(call) as (_, scorer):
            index, notes = peek(call.out) if not call.no_resume else (Index(), ())
            tell(*notes)
            dump_reader = await _dump_reader(to_score, to_score.begin_to_load(), scorer)
            return await in_thread(plan, dump_reader, index, dedupe=not call.no_dedupe, retry_failed=call.retry_failed)

    code = 0
    for to_score in _open(calls):
        dry = asyncio.run(planned(to_score))
        print(f"{to_score.call.dump}\n\n{dry.describe()}\n" if len(calls) > 1 else dry.describe())
        code = 1 if dry.refused.counts else code
    return code


def _open(calls: Sequence[ScoreCall]) -> Sequence[DumpToScore]:
    """Each dump, read once, with its problems."""
    common = calls[0]
    check_std(common.rules.std)
    folder, *_ = [check_out(call.out, read=call.sources, command=SCORE) for call in calls]
    sources = [_dump(call) for call in calls]
    tell_hub_names((*(name for call in calls for name in call.dumps), common.problems, common.tests))
    problems, tests = open_source(common.problems, all_splits=True), open_source(common.tests)
    return [_read_once(call, source, folder, problems, tests) for call, source in zip(calls, sources, strict=True)]


def _read_once(call: ScoreCall, dump: Source, folder: Path, problems: Source, tests: Source) -> DumpToScore:
    """A dump, read once. Official solutions have a label instead of an id; they are named by the label.

    Raises:
        InputError: nothing could be judged.
    """
    if call.id_column == _ID_COLUMN:
        named = {name for row in islice(dump.iterate((_ID_COLUMN, _LABEL_COLUMN)), FIRST) for name in row.names}
        if _LABEL_COLUMN in named and _ID_COLUMN not in named:
            tell(f"{call.dump} has no column {_ID_COLUMN}; its rows are named by {_LABEL_COLUMN}")
            call = replace(call, id_column=_LABEL_COLUMN)
    dump = KeptColumns(dump, submission_columns(call.id_column), folder)
    found = survey(dump, call.selection, id_column=call.id_column)
    tell(
        f"{counted(found.rows, 'submission')} to {counted(len(found.problems), 'problem')}; reading problems and tests"
    )
    years, ids = _years_and_ids(found)
    drafts = problems_without_tests(problems, years=years, ids=ids)
    _check_found(call, found, drafts, problems)

    return DumpToScore(
        call=call,
        dump=dump,
        survey=found,
        grouping=grouping_of([open_source(name) for name in call.dumps], call.by),
        drafts=scaled_set(drafts, call.rules.factor),
        problems=problems,
        tests=tests,
    )


def _years_and_ids(survey: Survey) -> tuple[set[int], set[str]]:
    """The years and the ids of the problems that a dump needs."""
    return {key.year for key in survey.problems}, {key.id for key in survey.problems}


def _dump(call: ScoreCall) -> Source:
    for name in call.dumps:
        if any(mark in name for mark in ",*?[") and not os.path.exists(os.path.expanduser(name)):
            raise InputError(
                f"{name}: there is no such file. Give one data set; ioi-eval run-tests takes several with commas, and"
                " patterns, and writes results for each"
            )
    dump = in_one([(name, open_source(name)) for name in call.dumps])
    if not (call.always_extract_code or call.add_messages_column):
        return dump
    return Altered(dump, without_code=call.always_extract_code, with_messages=call.add_messages_column)


def _check_found(call: ScoreCall, survey: Survey, problems: ProblemSet, source: Source) -> None:
    """Refuse a dump for other problems, or a selected problem that does not exist.

    Raises:
        InputError: nothing could be judged, and existing results would only be replaced.
    """
    known = {*problems.problems, *problems.unusable}
    absent = sorted({key.id for key in survey.problems} & call.selection.problems - {key.id for key in known})
    if known and not absent:
        return
    needed = ", ".join(f"--problem {name}" for name in absent)
    if not absent:
        assumed = f" (rows without `year` are for {DEFAULT_YEAR})" if survey.without_year else ""
        needed = f"any problem of {call.dump}, which asks for {listed(map(str, survey.problems))}{assumed}"
    rows = source.iterate(("year", "id"))
    existing = dict.fromkeys(f"{row.integer('year')}/{row.identifier('id')}" for row in rows)
    raise InputError(f"{source.describe()} does not have {needed}; it has {listed(existing)}")


def _opened(call: ScoreCall, events: Events | None = None) -> AbstractAsyncContextManager[tuple[OpenSandbox, Scorer]]:
    return opened_scorer(
        call.sandbox,
        call.rules,
        keep=call.keep,
        score_only=call.score_only,
        keep_programs=call.keep_programs,
        events=events,
    )


async def _take_the_place_of_a_job(entered: OpenSandbox, problems: LoadingProblems) -> None:
    """While tests are being read on the machine that judges, run one job less, and no program alone."""
    from ioi_eval.sandbox.local.sandbox import LocalSandbox

    if isinstance(entered.sandbox, LocalSandbox) and problems.is_loading:
        async with entered.sandbox.own_work():
            await until(lambda: not problems.is_loading)


async def _score(to_score: DumpToScore, events: Events) -> DumpOutcome:
    call, problems = to_score.call, to_score.begin_to_load()
    async with _opened(call, events) as (sandbox, scorer):
        await make_ready(sandbox, (problem.memory_limit_bytes for problem in to_score.drafts.problems.values()))
        reading = asyncio.create_task(_take_the_place_of_a_job(sandbox, problems))
        dump_reader = await _dump_reader(to_score, problems, scorer)
        outcome = await judge_dump(
            call,
            ContestFamily(dump_reader, scorer, unscored=call.unscored_as, grouping=to_score.grouping),
            sandbox,
            jobs_at_once=sandbox.jobs_at_once,
            rows=to_score.survey.rows,
            problems=len(to_score.drafts.problems),
            shares=Language.PYTHON in to_score.survey.languages,
            events=events,
            restore=to_score.restore,
        )
        reading.cancel()
        return outcome


async def _dump_reader(to_score: DumpToScore, problems: LoadingProblems, scorer: Scorer) -> ContestDumpReader:
    await scorer.learn_tools(to_score.survey.languages)
    return ContestDumpReader(
        to_score.dump,
        to_score.call.selection,
        problems,
        fingerprints=scorer.fingerprints,
        id_column=to_score.call.id_column,
        with_includes=to_score.call.fix_includes,
    )
