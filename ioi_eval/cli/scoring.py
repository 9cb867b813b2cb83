"""Scoring a dump: what `score` and `demo` do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ioi_eval.blobs import BlobStore
from ioi_eval.cli.sandboxes import Place, opened, tell
from ioi_eval.config import Environment
from ioi_eval.errors import InputError
from ioi_eval.journal import Index, Journal, peek
from ioi_eval.model import ProblemKey
from ioi_eval.pipeline import Intake, Outcome, Plan, Selection, Settings, plan, score_dump, survey
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.problems.ioi import ProblemSet, load_problems
from ioi_eval.problems.time_scale import scaled_set
from ioi_eval.report.rows import Unscored
from ioi_eval.report.suspicious import suspicious_of, suspicious_report
from ioi_eval.report.terminal import terminal_report
from ioi_eval.rows import Source, open_source
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import check_std


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
    time_scale: float = 1.0
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
            "time_scale": self.time_scale,
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
    counts = survey(dump, call.selection)
    with Journal(call.out, options=call.as_dict(), resume=call.resume) as journal:
        tell(*journal.notes, *_replaced(call))
        problems = _load(call, counts, problem_source, test_source)
        outcome = asyncio.run(_score(call, dump, problems, journal, sum(counts.values())))
    print(terminal_report(outcome.summary))
    if call.suspicious:
        rows = (row.values for row in open_source(str(call.out / "results.jsonl")).rows(None))
        print("\n" + suspicious_report(suspicious_of(rows, id_column=call.id_column)))
    print(f"\nResults: {call.out / 'results.jsonl'}\nReport:  {call.out / 'report.md'}")
    return outcome.exit_code


def dry_run(call: Call) -> int:
    """Say what `score` would judge.

    Returns:
        The exit code: 1 if some rows cannot be judged.
    """
    dump, problem_source, test_source = _open(call)
    counts = survey(dump, call.selection)
    index, notes = peek(call.out) if call.resume else (Index(), ())
    tell(*notes)
    problems = _load(call, counts, problem_source, test_source)
    planned = asyncio.run(_plan(call, dump, problems, index))
    print(planned.describe())
    return 1 if planned.refused.counts else 0


def _replaced(call: Call) -> tuple[str, ...]:
    """A warning where the results of another dump stand in the directory; the journal keeps what both came to."""
    try:
        summary = json.loads((call.out / "summary.json").read_bytes())
        before = summary["options"]["dump"]
    except (OSError, ValueError, LookupError, TypeError):
        return ()  # nothing there that we wrote
    if before == call.dump:
        return ()
    return (f"{call.out} holds the results of {before}: those of {call.dump} will stand in their place",)


def _open(call: Call) -> tuple[Source, Source, Source]:
    check_std(call.std)
    return open_source(call.dump), open_source(call.problems, all_splits=True), open_source(call.tests)


def _load(
    call: Call, counts: Mapping[ProblemKey | None, int], problem_source: Source, test_source: Source
) -> ProblemSet:
    """The problems that the dump needs, and no others, with the limits that hold here."""
    needed = [key for key in counts if key is not None]
    tell(f"{sum(counts.values())} submissions to {len(needed)} problems; reading problems and tests")
    problems = load_problems(
        problem_source,
        test_source,
        BlobStore(Environment.read().cache),
        years={key.year for key in needed},
        ids={key.id for key in needed},
    )
    return scaled_set(problems, call.time_scale)


async def _score(call: Call, dump: Source, problems: ProblemSet, journal: Journal, rows: int) -> Outcome:
    async with opened(call.place, std=call.std) as sandbox:
        return await score_dump(
            call.out,
            _intake(call, dump, problems, sandbox.scorer),
            sandbox.scorer,
            journal=journal,
            settings=Settings(
                workers=sandbox.workers,
                dedupe=call.dedupe,
                retry_failed=call.retry_failed,
                unscored=call.unscored,
                options=call.as_dict(),
            ),
            progress=progress_for(rows, bar=call.bar),
        )


async def _plan(call: Call, dump: Source, problems: ProblemSet, index: Index) -> Plan:
    async with opened(call.place, std=call.std) as sandbox:
        intake = _intake(call, dump, problems, sandbox.scorer)
        return await in_thread(plan, intake, index, dedupe=call.dedupe, retry_failed=call.retry_failed)


def _intake(call: Call, dump: Source, problems: ProblemSet, scorer: Scorer) -> Intake:
    return Intake(
        dump,
        call.selection,
        problems,
        fingerprints=scorer.fingerprints,
        id_column=call.id_column,
        with_includes=call.fix_includes,
    )
