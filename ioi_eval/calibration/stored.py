"""The stored calibration of this machine: `doctor --calibrate` writes it, `--time-scale auto` reads it.

It is the file `calibration.json` in the cache directory. A cache may be shared or copied, and a machine may get another
processor. So the file names machine, compiler and workload, and is refused if one of them differs.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ioi_eval.cache_directory import make_private_directory
from ioi_eval.calibration.workload import workload_digest
from ioi_eval.errors import SetupError
from ioi_eval.new_files import new_file
from ioi_eval.problems.time_scale import LEAST_SCALE, MAX_SCALE

NAME = "calibration.json"
_ADVICE = "run `ioi-eval doctor --calibrate` on an idle machine, or give --time-scale a number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A measured time scale, and the conditions of the measurement; `taken` is in ISO 8601."""

    time_scale: float
    taken: str
    machine: str
    compiler: str
    workload: str


def calibration_of_this_machine(time_scale: float, *, compiler: str, taken: str) -> Calibration:
    """A calibration of this machine, from its measured time scale."""
    return Calibration(
        time_scale=time_scale, taken=taken, machine=_this_machine(), compiler=compiler, workload=workload_digest()
    )


def store(calibration: Calibration, cache: Path) -> Path:
    """Store a calibration, replacing an earlier one."""
    make_private_directory(cache)
    path = cache / NAME
    try:
        with new_file(path, 0o600, durable=False) as file:
            file.write(f"{json.dumps(asdict(calibration), indent=2)}\n".encode())
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}; free space, or set IOI_EVAL_CACHE") from error
    return path


def find(cache: Path, *, compiler: str) -> Calibration:
    """The calibration of this machine with this compiler; a `SetupError` if there is none."""
    make_private_directory(cache)  # otherwise other users could change every limit
    path = cache / NAME
    try:
        stored = _read(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise SetupError(f"--time-scale auto: this machine has not been calibrated ({path}); {_ADVICE}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SetupError(f"--time-scale auto: {path} cannot be read ({error!r}); {_ADVICE}") from error
    here = calibration_of_this_machine(stored.time_scale, compiler=compiler, taken=stored.taken)
    for what in ("machine", "compiler", "workload"):
        then, now = getattr(stored, what), getattr(here, what)
        if then != now:
            raise SetupError(f"--time-scale auto: {path} was taken with another {what} ({then}, now {now}); {_ADVICE}")
    return stored


def _this_machine() -> str:
    """The processors of this machine as text: `AMD EPYC, 2 processors, x86_64`."""
    models: list[str] = []
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "CPU part"))]
    except OSError:
        pass
    return f"{models[0] if models else 'unknown'}, {os.cpu_count()} processors, {platform.machine()}"


def _read(values: Mapping[str, Any]) -> Calibration:
    calibration = Calibration(**{name: values[name] for name in Calibration.__slots__})
    scale = calibration.time_scale
    if not isinstance(scale, float) or not LEAST_SCALE <= scale <= MAX_SCALE:
        raise ValueError(f"time_scale is {scale!r}; it must be from {LEAST_SCALE:g} to {MAX_SCALE:g}")
    return calibration
