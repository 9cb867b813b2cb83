"""`ioi-eval doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from ioi_eval.cli.exits import WRONG_CALL


def doctor(
    *,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure how fast this machine is, for --time-scale auto; 20 s.")
    ] = False,
) -> int:
    """Try what this machine can isolate, and say what to do about what is missing.

    Exit code 2 if nothing can be judged here, or if the machine is too busy to be calibrated.
    """
    if calibrate:
        from ioi_eval.cli.calibrating import calibrate_here

        return calibrate_here()
    return _examine()


def _examine() -> int:
    import asyncio

    from ioi_eval.artifacts import ArtifactStore
    from ioi_eval.config import Environment
    from ioi_eval.doctor import State, examine, healthy
    from ioi_eval.report.terminal import printable

    environment = Environment.read()
    findings = asyncio.run(examine(artifacts=ArtifactStore(environment.cache), compiler=environment.compiler))
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.state.value:>7}  {finding.what:<{width}}  {printable(finding.detail)}")
        if finding.advice:
            print(f"{'':>7}  {'':<{width}}  → {finding.advice}")
    fine = healthy(findings)
    warned = any(finding.state is State.WARNING for finding in findings)
    print()
    print("Programs can be judged here." if fine else "Nothing can be judged here as it is.", end="")
    print(" See the warnings." if fine and warned else "")
    return 0 if fine else WRONG_CALL
