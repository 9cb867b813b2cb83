"""What `--time-scale` means."""

from __future__ import annotations

import sys

from ioi_eval.calibration.kept import find
from ioi_eval.config import Environment
from ioi_eval.errors import InputError
from ioi_eval.problems.time_scale import check_time_scale
from ioi_eval.sandbox.local_compiler import detect


def time_scale_of(text: str, *, here: bool = True) -> float:
    """The number that the user gave or, for `auto`, the stored calibration of this machine, which is printed.

    Args:
        text: as the user wrote it.
        here: whether programs run on this machine; the speed of other machines is not known.

    Raises:
        InputError: it is neither a number nor `auto`.
        SetupError: `auto`, and this machine was not calibrated, or has changed since.
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
