"""`ioi-eval apps`: its commands' arguments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import apps_options as given
from ioi_eval.cli import options
from ioi_eval.cli.apps_options import Problems, Rules
from ioi_eval.cli.endpoints import Endpoints, RequestsPerEndpoint
from ioi_eval.cli.grouped import grouped
from ioi_eval.cli.sandboxes import Place, ProfileChoice, SandboxChoice, SandboxOption, place_of
from ioi_eval.cli.watching import Watch
from ioi_eval.model.terms import Keep


def where(
    *,
    workers: options.Workers = None,
    isolation: options.LeastIsolation = None,
    sandbox: SandboxOption = SandboxChoice.AUTO,
    endpoints: Endpoints = None,
    max_requests_per_endpoint: RequestsPerEndpoint = None,
) -> Place:
    """Where jobs are executed."""
    return place_of(
        workers=workers,
        isolation=isolation,
        sandbox=sandbox,
        endpoints=endpoints,
        max_requests_per_endpoint=max_requests_per_endpoint,
        profile=ProfileChoice.BUNDLED,
    )


@grouped(problems=Problems, rules=Rules, place=where, watch=Watch)
def score(
    dump: given.Dumps,
    *,
    problems: Problems,
    out: options.Out,
    config: given.Config = None,
    rules: Rules,
    compat: given.Compat = None,
    fail_fast: given.FailFast = False,
    conventions: given.Conventions = False,
    pass_at: given.PassAt = None,
    id_column: options.IdColumn = "uuid",
    by: options.By = None,
    no_resume: options.NoResume = False,
    retry_failed: given.RetryFailed = False,
    no_dedupe: options.NoDedupe = False,
    keep: options.KeepTexts = Keep.FAILING,
    place: Place,
    push_to_hub: options.PushToHub = None,
    public: options.Public = False,
    watch: Watch,
) -> int:
    """Score a dump of Python programs for APPS problems.

    DIR gets results.jsonl (each program), tests.jsonl (its tests), inputs.jsonl (of tests that failed), mcpbr.jsonl
    (records as mcpbr's), summary.json, report.md (by difficulty: test case average, strict accuracy, pass@k),
    report.html and the journal. If a run was interrupted, start the same command again: it continues where it stopped.
    """
    from ioi_eval.cli import apps_scoring

    return apps_scoring.score(
        apps_scoring.AppsScoreCall(
            dumps=tuple(dump),
            problems=replace(problems, config=config),
            rules=replace(rules, compat=compat, fail_fast=fail_fast, conventions=conventions),
            out=Path(out),
            ks=tuple(pass_at) if pass_at else None,
            place=place,
            id_column=id_column,
            by=tuple(by or ()),
            resume=not no_resume,
            dedupe=not no_dedupe,
            retry_failed=retry_failed,
            keep=keep,
            push_to_hub=push_to_hub,
            public=public,
            watch=watch,
        )
    )


@grouped(problems=Problems, rules=Rules, place=where)
def audit(
    *,
    problems: Problems,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the list to FILE, and the journal to FILE.run."),
    ] = None,
    solutions: Annotated[
        int | None, typer.Option("--solutions", metavar="N", min=1, help="At most N solutions of each problem.")
    ] = None,
    rules: Rules,
    place: Place,
    progress: options.Bar = None,
) -> int:
    """List the broken rows of a data set.

    The data set's own reference solutions are judged, which shows these rows. `apps score --exclude FILE` leaves out
    the rows that cannot be judged, and those that no reference solution passes. Rows that only some solutions pass are
    in the list too, but are not left out.
    """
    from ioi_eval.cli import apps_audit

    rules = replace(rules, conventions=True)
    call = apps_audit.AuditCall(problems=problems, rules=rules, place=place, out=out, most=solutions, bar=progress)
    return apps_audit.audit(call)


@grouped(problems=Problems, rules=Rules, place=where)
def explain(
    dump: given.Dump,
    *,
    problems: Problems,
    rules: Rules,
    compat: Annotated[
        list[str] | None,
        typer.Option("--compat", metavar="P", help="Compare with this grader; may be repeated. By default with all."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show also programs about which all graders agree.")
    ] = False,
    id_column: options.IdColumn = "uuid",
    place: Place,
    progress: options.Bar = None,
) -> int:
    """Show the tests that other graders judge differently.

    Each program is judged by our rules and by those of other graders. hendrycks needs an interpreter with numpy: see
    --python.
    """
    from ioi_eval.cli import apps_explaining
    from ioi_eval.compat import NAMES

    return apps_explaining.explain(
        apps_explaining.ExplainCall(
            dump=dump,
            problems=problems,
            rules=rules,
            place=place,
            graders=tuple(compat) if compat else NAMES,
            id_column=id_column,
            everything=everything,
            bar=progress,
        )
    )
