"""`ioi-eval doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ioi_eval.cli.endpoints import RequestsPerEndpoint, needed_cluster, worker_name
from ioi_eval.cli.exits import WRONG_CALL, exit_code_of_workers
from ioi_eval.cli.grouped import option
from ioi_eval.errors import InputError
from ioi_eval.report.texts import counted, listed, printable

if TYPE_CHECKING:
    from ioi_eval.calibration import Calibration, Speed
    from ioi_eval.doctor import Finding

Endpoints = Annotated[
    str | None,
    option(
        "--endpoints E", "Examine Piston workers, not this machine: URLs with commas between them, file:PATH, or slurm."
    ),
]


def doctor(
    *,
    endpoints: Endpoints = None,
    max_requests_per_endpoint: RequestsPerEndpoint = None,
    calibrate: Annotated[
        bool, option("--calibrate", "Measure how fast this machine is, for --time-scale auto; takes 20 s.")
    ] = False,
) -> int:
    """Test whether this machine, or a cluster, can judge.

    It tests which isolation the machine, or each worker of a cluster, can give, and says what to do if any is missing.
    Exit code 2 if nothing can be judged here (or on any worker), or if the machine is too busy to be calibrated; 1 if
    some workers cannot judge.
    """
    if endpoints is None and max_requests_per_endpoint is not None:
        raise InputError("--max-requests-per-endpoint is for Piston workers, and none is named; add --endpoints")
    if calibrate and endpoints is not None:
        raise InputError("--calibrate measures this machine, and --endpoints names others: leave out one of them")
    if calibrate:
        return _calibrate()
    return _examine() if endpoints is None else _examine_workers(endpoints, max_requests_per_endpoint)


def _examine() -> int:
    import asyncio
    import contextlib
    import tempfile

    from ioi_eval.artifacts import ArtifactStore
    from ioi_eval.config import Environment
    from ioi_eval.doctor import Severity, examine, examine_cache, healthy

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
    fine = healthy(findings)
    warned = any(finding.severity is Severity.WARNING for finding in findings)
    print()
    print("Programs can be judged here." if fine else "Nothing can be judged here as it is.", end="")
    print(" See the warnings." if fine and warned else "")
    return 0 if fine else WRONG_CALL


_AT_ONCE = 16  # workers that are examined at the same time: each compiles and runs two dozen tests


def _examine_workers(endpoints: str, per_endpoint: int | None) -> int:
    """Examine every worker; workers with the same findings are printed together."""
    import asyncio

    from ioi_eval.doctor import Severity, healthy

    cluster = needed_cluster(endpoints, per_endpoint)
    by_worker = asyncio.run(_examine_all(cluster.urls, cluster.max_requests_per_endpoint))
    alike: dict[tuple[Finding, ...], list[str]] = {}
    for url, findings in by_worker.items():
        wrong = tuple(finding for finding in findings if finding.severity is not Severity.OK)
        alike.setdefault(wrong or tuple(findings), []).append(worker_name(url))
    for findings, urls in alike.items():
        print(listed(urls, most=4))
        _print_findings(findings)
        print()
    able = sum(healthy(findings) for findings in by_worker.values())
    print(f"Programs can be judged on {able} of {counted(len(by_worker), 'worker')}.")
    return exit_code_of_workers(able, len(by_worker))


async def _examine_all(urls: Sequence[str], slots: int) -> dict[str, Sequence[Finding]]:
    from ioi_eval.artifacts import ArtifactStore
    from ioi_eval.doctor import examine_worker
    from ioi_eval.sandbox.piston.control import ask_each

    examine = partial(examine_worker, artifacts=ArtifactStore(), slots=slots)
    return dict(zip(urls, await ask_each(urls, examine, at_once=_AT_ONCE), strict=True))


def _print_findings(findings: Sequence[Finding]) -> None:
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.severity.value:>7}  {finding.what:<{width}}  {printable(finding.detail)}")
        if finding.advice:
            print(f"{'':>7}  {'':<{width}}  → {finding.advice}")


def _calibrate() -> int:
    """Measure this machine, store the result and print it."""
    import asyncio
    import datetime
    import os

    from ioi_eval.artifacts import ArtifactStore
    from ioi_eval.calibration import calibration_of_this_machine, measure, store
    from ioi_eval.config import Environment
    from ioi_eval.sandbox.local.sandbox import LocalSandbox
    from ioi_eval.scorer import Scorer

    environment = Environment.read()

    async def run() -> tuple[Speed, str]:
        async with LocalSandbox(slots=1, compiler=environment.compiler) as sandbox:
            (target,) = sandbox.targets()
            scorer = Scorer(sandbox, artifacts=ArtifactStore(environment.cache), spread=False)
            return await measure(scorer, processors=os.cpu_count() or 1), target.toolchain.version

    speed, compiler = asyncio.run(run())
    taken = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    calibration = calibration_of_this_machine(speed.time_scale, compiler=compiler, taken=taken)
    print(describe(speed, calibration, store(calibration, environment.cache)))
    return 0


def describe(speed: Speed, calibration: Calibration, path: Path) -> str:
    """The measurements of `--calibrate` as text."""
    from ioi_eval.calibration import REFERENCE

    lines = [f"CPU time of a fixed workload, as a multiple of the reference's ({REFERENCE}):", ""]
    lines += [f"  {part:<12}{ratio:6.3f}" for part, ratio in speed.parts.items()]
    lines += [
        f"  {'all':<12}{calibration.time_scale:6.2f}   repeats differ by {speed.spread:.1%}",
        "",
        f"`--time-scale auto` multiplies time limits by {calibration.time_scale:g} from now on ({path}).",
    ]
    return "\n".join(lines)
