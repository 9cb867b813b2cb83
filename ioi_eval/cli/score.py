"""`ioi-eval score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ioi_eval.cli import options
from ioi_eval.cli.grouped import grouped
from ioi_eval.cli.options import ContestRules, time_scale_of
from ioi_eval.cli.sandboxes import Place, place_of
from ioi_eval.cli.watching import Watch
from ioi_eval.errors import InputError
from ioi_eval.model.terms import Keep

if TYPE_CHECKING:
    from ioi_eval.report.rows import Unscored


UnscoredAs = Annotated[
    str, typer.Option("--unscored-as", metavar="null|zero", help="The value of a score that is not known (JE).")
]
Suspicious = Annotated[
    bool, typer.Option("--suspicious", help="Afterwards also list the submissions that tried forbidden system calls.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be judged; judge nothing and write nothing to DIR.")
]


@grouped(rules=ContestRules, place=place_of, watch=Watch)
def score(
    dump: Annotated[list[str], typer.Argument(metavar="DUMP...", help="The generations: files, folders, or Hub ids.")],
    *,
    problems: options.Problems,
    tests: options.Tests,
    out: options.Out,
    id_column: options.IdColumn = "uuid",
    year: options.Years = None,
    problem: options.ProblemIds = None,
    limit: options.Limit = None,
    by: options.By = None,
    no_resume: options.NoResume = False,
    retry_failed: options.RetryFailed = False,
    no_dedupe: options.NoDedupe = False,
    place: Place,
    rules: ContestRules,
    fix_includes: options.FixIncludes = False,
    always_extract_code: options.AlwaysExtractCode = False,
    add_messages_column: options.AddMessagesColumn = False,
    unscored_as: UnscoredAs = "null",
    keep: options.KeepTexts = Keep.INPUTS,
    suspicious: Suspicious = False,
    keep_programs: options.KeepPrograms = None,
    push_to_hub: options.PushToHub = None,
    public: options.Public = False,
    watch: Watch,
    dry_run: DryRun = False,
) -> int:
    """Score a dump of programs for contest problems.

    Programs run on this machine or on a Piston cluster. If a run was interrupted, or the dump has grown, start the same
    command again: it continues where it stopped. DIR gets results.jsonl (the dump's rows with scores), tests.jsonl
    (each test), inputs.jsonl (of tests that failed), summary.json, report.md, report.html and the journal.
    """
    from ioi_eval.cli import scoring
    from ioi_eval.pipeline.contest_intake import RowSelection

    call = scoring.ScoreCall(
        dumps=tuple(dump),
        problems=problems,
        tests=tests,
        out=Path(out),
        place=place,
        id_column=id_column,
        selection=RowSelection(years=frozenset(year or ()), problems=frozenset(problem or ()), limit=limit),
        by=tuple(by or ()),
        resume=not no_resume,
        retry_failed=retry_failed,
        dedupe=not no_dedupe,
        rules=rules,
        time_scale=time_scale_of(rules.time_scale, here=place.is_here),
        fix_includes=fix_includes,
        extract_code=always_extract_code,
        add_messages=add_messages_column,
        unscored=_unscored(unscored_as),
        keep=keep,
        keep_programs=keep_programs,
        suspicious=suspicious,
        push_to_hub=push_to_hub,
        public=public,
        watch=watch,
    )
    return scoring.dry_run(call) if dry_run else scoring.score(call)


def _unscored(text: str) -> Unscored:
    from ioi_eval.report.rows import Unscored

    try:
        return Unscored(text)
    except ValueError:
        raise InputError(f"--unscored-as {text}: must be null or zero") from None
