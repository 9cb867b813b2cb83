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
from ioi_eval.sandbox.local.control_groups import processors
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

_CROWDED = 1.1
"""If programs are slower by this factor when all slots are busy, a correct one may be too late even to be run again."""


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
    slots = processors()
    async with LocalSandbox(slots=slots, compiler=environment.compiler) as sandbox:
        (target,) = sandbox.targets()
        scorer = Scorer(sandbox, artifacts=ArtifactStore(environment.cache), spread=False)
        speed = await measure(scorer, slots=slots, processors=os.cpu_count() or slots)
        return speed, target.toolchain.version


def describe(speed: Speed, calibration: Calibration, path: Path) -> str:
    """The measurements as text."""
    lines = [f"CPU time of a fixed workload, as a multiple of the reference's ({REFERENCE}):", ""]
    lines += [f"  {part:<12}{ratio:6.3f}" for part, ratio in speed.parts.items()]
    lines += [
        f"  {'all':<12}{calibration.time_scale:6.2f}   repeats differ by {speed.spread:.1%}",
        f"  {'all at once':<12}{speed.crowded:6.2f} × as long with a program in every slot",
        "",
    ]
    if speed.crowded > _CROWDED:
        lines.append("Programs slow each other down here: fewer --workers give times that are nearer to the truth.")
    lines.append(f"`--time-scale auto` multiplies time limits by {calibration.time_scale:g} from now on ({path}).")
    return "\n".join(lines)
