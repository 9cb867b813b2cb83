"""Examining this machine or a cluster, and measuring how fast this machine is: what `doctor` does."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.calibration import REFERENCE, Calibration, Speed, measure, store
from ioi_eval.cli.endpoints import needed_cluster, worker_name
from ioi_eval.cli.exits import WRONG_CALL, exit_code_of_workers
from ioi_eval.config import Environment
from ioi_eval.doctor import Finding, Severity, examine, examine_cache, examine_worker, healthy
from ioi_eval.errors import listed
from ioi_eval.pipeline.settings import now
from ioi_eval.report.texts import counted, printable
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.control import ask_each
from ioi_eval.scorer import Scorer

_AT_ONCE = 16  # workers that are examined at the same time: each compiles and runs two dozen tests


def examine_machine() -> int:
    """Print what this machine can do, and return the exit code."""
    environment = Environment.read()
    findings = [examine_cache(environment.cache)]
    if healthy(findings):
        with contextlib.ExitStack() as stack:
            cache = environment.cache
            if findings[0].severity is not Severity.OK:  # it can only be read
                with contextlib.suppress(OSError):  # then `examine` finds that no temporary files can be made
                    cache = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            findings += asyncio.run(examine(artifacts=ArtifactStore(cache), compiler=environment.compiler))
    _print_findings(findings)
    if not healthy(findings):
        print("\nNothing can be judged here as it is.")
        return WRONG_CALL
    warned = any(finding.severity is Severity.WARNING for finding in findings)
    print(f"\nPrograms can be judged here.{' See the warnings.' if warned else ''}")
    return 0


def examine_cluster(endpoints: str, per_endpoint: int | None) -> int:
    """Print what each worker can do, workers with the same findings together, and return the exit code."""
    cluster = needed_cluster(endpoints, per_endpoint)
    urls = cluster.urls
    ask = partial(examine_worker, artifacts=ArtifactStore(), slots=cluster.max_requests_per_endpoint)
    found = asyncio.run(ask_each(urls, ask, at_once=_AT_ONCE))
    alike: dict[tuple[Finding, ...], list[str]] = {}
    for url, findings in zip(urls, found, strict=True):
        wrong = tuple(finding for finding in findings if finding.severity is not Severity.OK)
        alike.setdefault(wrong or tuple(findings), []).append(worker_name(url))
    for same, names in alike.items():
        print(listed(names, most=4))
        _print_findings(same)
        print()
    able = sum(map(healthy, found))
    print(f"Programs can be judged on {able} of {counted(len(urls), 'worker')}.")
    return exit_code_of_workers(able, len(urls))


def _print_findings(findings: Sequence[Finding]) -> None:
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.severity.value:>7}  {finding.what:<{width}}  {printable(finding.detail)}")
        if finding.advice:
            print(f"{'':>7}  {'':<{width}}  → {finding.advice}")


def calibrate() -> int:
    """Measure this machine, store the result and print it."""
    environment = Environment.read()

    async def run() -> tuple[Speed, str]:
        async with LocalSandbox(slots=1, compiler=environment.compiler) as sandbox:
            (target,) = sandbox.targets()
            scorer = Scorer(sandbox, artifacts=ArtifactStore(environment.cache), spread=False)
            return await measure(scorer), target.toolchain.version

    speed, compiler = asyncio.run(run())
    calibration = Calibration(time_scale=speed.time_scale, compiler=compiler, taken=now())
    print(describe(speed, store(calibration, environment.cache)))
    return 0


def describe(speed: Speed, path: Path) -> str:
    """The measurements of `--calibrate` as text."""
    lines = [f"CPU time of a fixed workload, as a multiple of the reference's ({REFERENCE}):", ""]
    lines += [f"  {part:<12}{ratio:6.3f}" for part, ratio in speed.parts.items()]
    lines += [
        f"  {'all':<12}{speed.time_scale:6.2f}   repeats differ by {speed.spread:.1%}",
        "",
        f"`--time-scale auto` multiplies time limits by {speed.time_scale:g} from now on ({path}).",
    ]
    return "\n".join(lines)
