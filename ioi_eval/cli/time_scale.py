"""What `--time-scale` means."""

from __future__ import annotations

import sys

from ioi_eval.calibration.kept import find
from ioi_eval.config import Environment
from ioi_eval.errors import InputError
from ioi_eval.problems.time_scale import check_time_scale
from ioi_eval.sandbox.local_compiler import detect


def time_scale_of(text: str, *, here: bool = True) -> float:
    """A number, or for `auto` what this machine was calibrated to, which is said in a line.

    Args:
        text: as the user wrote it.
        here: programs run on this machine; of others it is not known how fast they are.

    Raises:
        InputError: it is neither.
        SetupError: `auto`, and this machine was not calibrated as it is now.
    """
    if text != "auto":
        return check_time_scale(text)
    if not here:
        raise InputError(
            "--time-scale auto was measured on this machine and does not hold for Piston servers; give a number"
        )
    environment = Environment.read()
    found = find(environment.cache, compiler=detect(environment.compiler).version)
    print(f"ioi-eval: time limits are multiplied by {found.time_scale:g} (calibrated {found.taken})", file=sys.stderr)
    return found.time_scale
