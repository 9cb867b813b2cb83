"""Scoring a dump: what `score` and `demo` do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ioi_eval.blobs import BlobStore
from ioi_eval.cli.outputs import SCORE, check_out, replaced
from ioi_eval.cli.readiness import make_ready, memory_limits_of
from ioi_eval.cli.sandboxes import Opened, Place, opened, tell
from ioi_eval.errors import InputError
from ioi_eval.journal import Index, Journal, peek
from ioi_eval.model import ProblemKey
from ioi_eval.pipeline import Intake, Outcome, Plan, Selection, Settings, Survey, plan, score_dump, survey
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.problems.ioi import ProblemSet, load_problems
from ioi_eval.problems.time_scale import scaled_set
from ioi_eval.report.frame import result_rows
from ioi_eval.report.rows import Unscored
from ioi_eval.report.suspicious import suspicious_of, suspicious_report
from ioi_eval.report.terminal import counted, terminal_report
from ioi_eval.rows import Source, open_source
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import check_std

_NAMED = 10  # how many problems that there are a message names


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the command line asks for; see `ioi-eval score --help`."""

    dump: str
    problems: str
    tests: str
    out: Path
    place: Place = field(default_factory=Place)
    id_column: str = "uuid"
    selection: Selection = field(default_factory=Selection)
    resume: bool = True
    retry_failed: bool = False
    dedupe: bool = True
    std: str | None = None
    python: str = "python3"
    time_scale: float = 1.0
    near_limit_repeats: int = 1
    fix_includes: bool = False
    unscored: Unscored = Unscored.NULL
    suspicious: bool = False
    bar: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        """For the journal and the summary."""
        return {
            "dump": self.dump,
            "problems": self.problems,
            "tests": self.tests,
            **self.place.as_dict(),
            "id_column": self.id_column,
            "years": sorted(self.selection.years),
            "problem_ids": sorted(self.selection.problems),
            "limit": self.selection.limit,
            "dedupe": self.dedupe,
            "retry_failed": self.retry_failed,
            "std": self.std,
            "python": self.python,
            "time_scale": self.time_scale,
            "near_limit_repeats": self.near_limit_repeats,
            "fix_includes": self.fix_includes,
            "unscored_as": self.unscored,
        }


def unscored(text: str) -> Unscored:
    """The value of `--unscored-as`."""
    try:
        return Unscored(text)
    except ValueError:
        raise InputError(f"--unscored-as {text}: must be null or zero") from None


def score(call: Call) -> int:
    """Score a dump and show the result.

    Returns:
        The exit code.
    """
    dump, problem_source, test_source = _open(call)
    seen = survey(dump, call.selection, id_column=call.id_column)
    blobs = BlobStore()
    problems = _load(call, seen, problem_source, test_source, blobs)

    def restore() -> None:
        tell("the cache was deleted in mid-run; reading problems and tests again")
        _read(seen, problem_source, test_source, blobs)

    outcome = asyncio.run(_score(call, dump, seen, problems, restore))
    print(terminal_report(outcome.summary))
    if call.suspicious:
        rows = result_rows(call.out)
        print("\n" + suspicious_report(suspicious_of(rows, id_column=call.id_column)))
    print(f"\nResults: {call.out / 'results.jsonl'}\nReport:  {call.out / 'report.md'}")
    return outcome.exit_code


def dry_run(call: Call) -> int:
    """Say what `score` would judge.

    Returns:
        The exit code: 1 if some rows cannot be judged.
    """
    dump, problem_source, test_source = _open(call)
    seen = survey(dump, call.selection, id_column=call.id_column)
    index, notes = peek(call.out) if call.resume else (Index(), ())
    tell(*notes)
    problems = _load(call, seen, problem_source, test_source, BlobStore())
    planned = asyncio.run(_plan(call, dump, seen, problems, index))
    print(planned.describe())
    return 1 if planned.refused.counts else 0


_NARROWING = {"--year": "years", "--problem": "problem_ids", "--limit": "limit"}


def _replaced(call: Call, rows: int) -> tuple[str, ...]:
    return replaced(call.out, rows=rows, options=call.as_dict(), narrowing=_NARROWING, resume=call.resume)


def _open(call: Call) -> tuple[Source, Source, Source]:
    check_std(call.std)
    check_out(call.out, read=call.dump, command=SCORE)
    return open_source(call.dump), open_source(call.problems, all_splits=True), open_source(call.tests)


def _load(call: Call, seen: Survey, problem_source: Source, test_source: Source, blobs: BlobStore) -> ProblemSet:
    """The problems that the dump needs, and no others, with the limits that hold here."""
    needed = seen.problems
    tell(f"{counted(seen.rows, 'submission')} to {counted(len(needed), 'problem')}; reading problems and tests")
    problems = _read(seen, problem_source, test_source, blobs)
    _check_found(call, needed, problems, problem_source)
    return scaled_set(problems, call.time_scale)


def _read(seen: Survey, problem_source: Source, test_source: Source, blobs: BlobStore) -> ProblemSet:
    """The problems; their test data is in the cache from then on."""
    return load_problems(
        problem_source,
        test_source,
        blobs,
        years={key.year for key in seen.problems},
        ids={key.id for key in seen.problems},
    )


def _check_found(call: Call, needed: Collection[ProblemKey], problems: ProblemSet, source: Source) -> None:
    """Refuse a call whose dump is for other problems, or that names one which is not there.

    Raises:
        InputError: nothing could be judged of what was asked for; results that stand there would only be replaced.
    """
    found = {*problems.problems, *problems.unusable}
    lost = sorted({key.id for key in needed} & call.selection.problems - {key.id for key in found})
    if found and not lost:
        return
    asked = ", ".join(f"--problem {name}" for name in lost) or f"any problem of {call.dump}"
    rows = source.iterate(("year", "id"))
    there = dict.fromkeys(f"{row.integer('year')}/{row.identifier('id')}" for row in rows)
    more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
    raise InputError(f"{source.describe()} does not have {asked}; it has {', '.join(islice(there, _NAMED))}{more}")


def _opened(call: Call) -> AbstractAsyncContextManager[Opened]:
    return opened(call.place, std=call.std, python=call.python, near_limit_repeats=call.near_limit_repeats)


async def _score(call: Call, dump: Source, seen: Survey, problems: ProblemSet, restore: Callable[[], None]) -> Outcome:
    """Nothing is written before all that is needed is there: a call that fails leaves no directory behind."""
    async with _opened(call) as sandbox:
        await make_ready(sandbox, memory_limits_of(problems.problems.values()))
        intake = await _intake(call, dump, seen, problems, sandbox.scorer)
        settings = Settings(
            workers=sandbox.workers,
            dedupe=call.dedupe,
            retry_failed=call.retry_failed,
            options=call.as_dict(),
        )
        with await in_thread(Journal, call.out, options=call.as_dict(), resume=call.resume) as journal:
            tell(*journal.notes, *_replaced(call, seen.rows))
            progress = progress_for(seen.rows, bar=call.bar)
            return await score_dump(
                call.out,
                intake,
                sandbox.scorer,
                journal=journal,
                settings=settings,
                progress=progress,
                unscored=call.unscored,
                restore=restore,
            )


async def _plan(call: Call, dump: Source, seen: Survey, problems: ProblemSet, index: Index) -> Plan:
    async with _opened(call) as sandbox:
        intake = await _intake(call, dump, seen, problems, sandbox.scorer)
        return await in_thread(plan, intake, index, dedupe=call.dedupe, retry_failed=call.retry_failed)


async def _intake(call: Call, dump: Source, seen: Survey, problems: ProblemSet, scorer: Scorer) -> Intake:
    if seen.has_python:
        await scorer.learn_python()
    return Intake(
        dump,
        call.selection,
        problems,
        fingerprints=scorer.fingerprints,
        id_column=call.id_column,
        with_includes=call.fix_includes,
    )
