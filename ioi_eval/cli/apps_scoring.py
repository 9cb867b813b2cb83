"""Scoring a dump of Python programs: what `apps score` does."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.apps.catalog import Catalog, load_catalog
from ioi_eval.apps.dumps import open_dump, survey
from ioi_eval.apps.intake import AppsIntake
from ioi_eval.apps.judging import AppsFingerprints, AppsJudging
from ioi_eval.apps.outcomes import AppsSettings
from ioi_eval.apps.report import terminal_report
from ioi_eval.apps.scoring import RunSettings, score_apps
from ioi_eval.apps.verdicts import refusal_of
from ioi_eval.cli import apps_calls
from ioi_eval.cli.sandboxes import Place, opened, tell
from ioi_eval.errors import InputError
from ioi_eval.journal import Journal
from ioi_eval.pipeline import Outcome
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.problems.apps_submissions import RULES, our_rules
from ioi_eval.problems.row import RowSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the command line asks for; see `ioi-eval apps score --help`."""

    dump: str
    problems: apps_calls.Problems
    rules: apps_calls.Rules
    out: Path
    place: Place
    ks: tuple[int, ...] | None = None
    id_column: str = "uuid"
    resume: bool = True
    dedupe: bool = True
    bar: bool | None = None


def score(call: Call) -> int:
    """Score a dump and show the result.

    Returns:
        The exit code.
    """
    settings = call.rules.settings(call.problems.configuration)
    options = _options(call, settings)
    dump, dataset = open_dump(call.dump, call.problems.ids), call.problems.open()
    counts = survey(dump)
    needed = {problem for problem in counts if problem is not None}
    tell(f"{sum(counts.values())} programs for {len(needed)} problems; reading {dataset.describe()}")
    with Journal(call.out, options=options, resume=call.resume) as journal:
        tell(*journal.notes)
        catalog = load_catalog(
            dataset,
            needed=needed,
            selection=call.problems.selection,
            excluded=call.problems.excluded,
            refusal=lambda problem: refusal_of(problem, settings),
            directory=call.out,
        )
        with closing(catalog):
            rows = sum(count for problem, count in counts.items() if _counts(catalog, problem))
            if not rows:
                raise InputError(f"{dump.describe()} has no program for any of the problems that were asked for")
            scoring = _score(
                call, settings=settings, options=options, dump=dump, catalog=catalog, journal=journal, rows=rows
            )
            outcome = asyncio.run(scoring)
    print(terminal_report(outcome.summary))
    print(f"\nResults: {call.out / 'results.jsonl'}\nReport:  {call.out / 'report.md'}")
    return outcome.exit_code


def _counts(catalog: Catalog, problem: str | None) -> bool:
    """Whether rows for a problem are judged or refused, not passed over."""
    return problem is None or problem in catalog.listed or not catalog.knows(problem)


def _options(call: Call, settings: AppsSettings) -> dict[str, Any]:
    return {
        "dump": call.dump,
        **call.problems.as_dict(),
        "judged_by": settings.judged_by,
        "time_limit_s": settings.cpu_s,
        "memory_limit_bytes": settings.memory_limit_bytes,
        "python": settings.python,
        "fail_fast": settings.fail_fast,
        **call.place.as_dict(),
        "id_column": call.id_column,
        "dedupe": call.dedupe,
    }


async def _score(
    call: Call,
    *,
    settings: AppsSettings,
    options: dict[str, Any],
    dump: RowSource,
    catalog: Catalog,
    journal: Journal,
    rows: int,
) -> Outcome:
    async with opened(call.place) as here:
        executor = apps_calls.executor(here.sandbox, settings)
        python = str(await executor.interpreter())
        tell(f"{python}; judged by {settings.judged_by}, {settings.cpu_s:g} s a test")
        fingerprints = AppsFingerprints(settings, executor.target, python, checker=executor.checker)
        profile = settings.profile
        intake = AppsIntake(
            dump,
            catalog,
            fingerprint=fingerprints.of,
            test_s=settings.cpu_s,
            id_column=call.id_column,
            rules=RULES.get(profile.name, our_rules) if profile is not None else our_rules,
        )
        return await score_apps(
            call.out,
            intake,
            AppsJudging(executor, catalog, settings.judged_by),
            journal=journal,
            settings=RunSettings(
                workers=apps_calls.workers(call.place, executor), dedupe=call.dedupe, ks=call.ks, options=options
            ),
            progress=progress_for(rows, bar=call.bar),
        )
