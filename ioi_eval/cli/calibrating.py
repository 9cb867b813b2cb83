"""Measuring this machine: what `doctor --calibrate` does."""

from __future__ import annotations

import asyncio
import datetime
import os
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.calibration import Speed, measure
from ioi_eval.calibration.stored import Calibration, calibration_of_this_machine, store
from ioi_eval.calibration.workload import REFERENCE
from ioi_eval.config import Environment
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer


def calibrate_here() -> int:
    """Measure this machine, store the result and print it.

    Raises:
        SetupError: the machine is busy, or nothing can be judged here.
    """
    speed, compiler = asyncio.run(_measure())
    taken = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    calibration = calibration_of_this_machine(speed.time_scale, compiler=compiler, taken=taken)
    print(describe(speed, calibration, store(calibration, Environment.read().cache)))
    return 0


async def _measure() -> tuple[Speed, str]:
    environment = Environment.read()
    async with LocalSandbox(slots=1, compiler=environment.compiler) as sandbox:
        (target,) = sandbox.targets()
        scorer = Scorer(sandbox, artifacts=ArtifactStore(environment.cache), spread=False)
        speed = await measure(scorer, processors=os.cpu_count() or 1)
        return speed, target.toolchain.version


def describe(speed: Speed, calibration: Calibration, path: Path) -> str:
    """The measurements as text."""
    lines = [f"CPU time of a fixed workload, as a multiple of the reference's ({REFERENCE}):", ""]
    lines += [f"  {part:<12}{ratio:6.3f}" for part, ratio in speed.parts.items()]
    lines += [
        f"  {'all':<12}{calibration.time_scale:6.2f}   repeats differ by {speed.spread:.1%}",
        "",
        f"`--time-scale auto` multiplies time limits by {calibration.time_scale:g} from now on ({path}).",
    ]
    return "\n".join(lines)
