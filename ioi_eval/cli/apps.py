"""`ioi-eval apps`: its commands' arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import apps_options as given
from ioi_eval.cli import options
from ioi_eval.cli.endpoints import Endpoints, RequestsPerEndpoint
from ioi_eval.cli.sandboxes import ProfileChoice, SandboxChoice, SandboxOption, place_of


def score(
    dump: given.Dump,
    *,
    dataset: given.Dataset,
    out: options.Out,
    split: given.Split = None,
    filter_difficulty: given.Difficulties = None,
    sample: given.SampleSize = None,
    task: given.Tasks = None,
    sampling: given.SamplingHow = None,
    seed: given.Seed = None,
    exclude: given.Exclude = None,
    config: given.Config = None,
    comparator: given.HowCompared = "lines",
    compat: given.Compat = None,
    timeout: given.Timeout = None,
    memory: given.Memory = 1024,
    python: given.Python = "python3",
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop a program at its first failure; the rest counts as not passed.")
    ] = False,
    pass_at: Annotated[
        list[int] | None,
        typer.Option("--pass-at", metavar="K", min=1, help="Report pass@K; may be repeated. All possible by default."),
    ] = None,
    workers: options.Workers = None,
    id_column: options.IdColumn = "uuid",
    no_resume: Annotated[
        bool, typer.Option("--no-resume", help="Start over; the journal of earlier runs is kept beside the new one.")
    ] = False,
    no_dedupe: Annotated[bool, typer.Option("--no-dedupe", help="Judge identical programs one by one.")] = False,
    isolation: options.LeastIsolation = None,
    sandbox: SandboxOption = SandboxChoice.AUTO,
    endpoints: Endpoints = None,
    max_requests_per_endpoint: RequestsPerEndpoint = None,
    progress: options.Bar = None,
) -> int:
    """Score a dump of Python programs for APPS problems.

    DIR gets results.jsonl (each program with its tests), mcpbr.jsonl (records as mcpbr's), summary.json, report.md (by
    difficulty: test case average, strict accuracy, pass@k) and the journal: start the same command again to go on.
    """
    from ioi_eval.cli import apps_calls, apps_scoring

    problems = apps_calls.Problems(
        dataset=dataset, split=split, difficulties=tuple(filter_difficulty or ()), ids=tuple(task or ()), limit=sample,
        sampling=sampling, seed=seed, exclude=tuple(exclude or ()), config=config,
    )  # fmt: skip
    rules = apps_calls.Rules(
        comparator=comparator, compat=compat, timeout=timeout, memory_mib=memory, python=python, isolation=isolation,
        fail_fast=fail_fast,
    )  # fmt: skip
    return apps_scoring.score(
        apps_scoring.Call(
            dump=dump,
            problems=problems,
            rules=rules,
            out=Path(out),
            ks=tuple(pass_at) if pass_at else None,
            place=place_of(
                sandbox,
                endpoints=endpoints,
                per_endpoint=max_requests_per_endpoint,
                profile=ProfileChoice.BUNDLED,
                workers=workers,
                isolation=isolation,
            ),
            id_column=id_column,
            resume=not no_resume,
            dedupe=not no_dedupe,
            bar=progress,
        )
    )


def audit(
    *,
    dataset: given.Dataset,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the list there; what was judged is kept in FILE.run."),
    ] = None,
    split: given.Split = None,
    filter_difficulty: given.Difficulties = None,
    sample: given.SampleSize = None,
    task: given.Tasks = None,
    sampling: given.SamplingHow = None,
    seed: given.Seed = None,
    exclude: given.Exclude = None,
    solutions: Annotated[
        int | None, typer.Option("--solutions", metavar="N", min=1, help="At most so many of each problem.")
    ] = None,
    comparator: given.HowCompared = "lines",
    timeout: given.Timeout = None,
    memory: given.Memory = 1024,
    python: given.Python = "python3",
    workers: options.Workers = None,
    isolation: options.LeastIsolation = None,
    sandbox: SandboxOption = SandboxChoice.AUTO,
    endpoints: Endpoints = None,
    max_requests_per_endpoint: RequestsPerEndpoint = None,
    progress: options.Bar = None,
) -> int:
    """Judge a data set's own reference solutions, and list the rows that are broken.

    A row is left out by apps score --exclude FILE where it cannot be judged, or no reference solution passes its tests.
    Where only some pass it is listed, and stays in.
    """
    from ioi_eval.cli import apps_audit, apps_calls

    return apps_audit.audit(
        apps_audit.Call(
            problems=apps_calls.Problems(
                dataset=dataset, split=split, difficulties=tuple(filter_difficulty or ()), ids=tuple(task or ()),
                limit=sample, sampling=sampling, seed=seed, exclude=tuple(exclude or ()),
            ),
            rules=apps_calls.Rules(
                comparator=comparator, timeout=timeout, memory_mib=memory, python=python, isolation=isolation,
                conventions=True,
            ),
            place=place_of(
                sandbox, endpoints=endpoints, per_endpoint=max_requests_per_endpoint, profile=ProfileChoice.BUNDLED,
                workers=workers, isolation=isolation,
            ),
            out=out,
            most=solutions,
            bar=progress,
        )
    )  # fmt: skip


def explain(
    dump: given.Dump,
    *,
    dataset: given.Dataset,
    split: given.Split = None,
    task: given.Tasks = None,
    filter_difficulty: given.Difficulties = None,
    sample: given.SampleSize = None,
    exclude: given.Exclude = None,
    comparator: given.HowCompared = "lines",
    compat: Annotated[
        list[str] | None,
        typer.Option("--compat", metavar="P", help="Only this other grader; may be repeated. All four by default."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also programs about which graders agree.")] = False,
    timeout: given.Timeout = None,
    memory: given.Memory = 1024,
    python: given.Python = "python3",
    id_column: options.IdColumn = "uuid",
    workers: options.Workers = None,
    isolation: options.LeastIsolation = None,
    sandbox: SandboxOption = SandboxChoice.AUTO,
    endpoints: Endpoints = None,
    max_requests_per_endpoint: RequestsPerEndpoint = None,
    progress: options.Bar = None,
) -> int:
    """Say where other graders judge a program otherwise than we do, on which test, and why.

    hendrycks, eval-protocol and livecodebench need an interpreter with numpy: see --python.
    """
    from ioi_eval.cli import apps_calls, apps_explaining
    from ioi_eval.compat import NAMES

    return apps_explaining.explain(
        apps_explaining.Call(
            dump=dump,
            problems=apps_calls.Problems(
                dataset=dataset, split=split, difficulties=tuple(filter_difficulty or ()), ids=tuple(task or ()),
                limit=sample, exclude=tuple(exclude or ()),
            ),
            rules=apps_calls.Rules(
                comparator=comparator, timeout=timeout, memory_mib=memory, python=python, isolation=isolation,
            ),
            place=place_of(
                sandbox, endpoints=endpoints, per_endpoint=max_requests_per_endpoint, profile=ProfileChoice.BUNDLED,
                workers=workers, isolation=isolation,
            ),
            graders=tuple(compat) if compat else NAMES,
            id_column=id_column,
            everything=everything,
            bar=progress,
        )
    )  # fmt: skip
