"""CPU time of scoring one program: on a machine that has never judged, and with a full cache.

Usage: python benchmarks/first_score.py

It is measured with a wheel, which is built first, and with this checkout, which has to compile the runner. The first
run also compiles the problem's own programs. CPU time is that of the command and all its descendants.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from figures import Figure, report

ROOT = Path(__file__).resolve().parent.parent
CODE = "from ioi_eval.cli.main import main; main()"
ROUNDS = 3


def unpacked_wheel(directory: Path) -> Path:
    """The files that an installation puts into site-packages."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = directory.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory / "site")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(directory / "site")], check=True)  # as pip does
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    return directory / "site"


def cpu_s(package: Path, cache: Path, out: Path) -> float:
    """The CPU time of scoring the first row of the sample dump."""
    sample = package / "ioi_eval" / "sample"
    command = [sys.executable, "-P", "-c", CODE, "score", str(sample / "dump.jsonl"), "--limit", "1"]
    command += ["--problems", str(sample / "problems.jsonl"), "--tests", str(sample / "tests.jsonl"), "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(package), "IOI_EVAL_CACHE": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=out.parent, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the medians, and the cost of the first score above the second."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for what, package, rounds in (("wheel", unpacked_wheel(directory), ROUNDS), ("checkout", ROOT, 1)):
            first: list[float] = []
            second: list[float] = []
            for number in range(rounds):
                cache = directory / f"cache-{what}-{number}"
                for which, times in (("first", first), ("second", second)):
                    times.append(cpu_s(package, cache, directory / f"{what}-{number}-{which}"))
            fresh, warm = statistics.median(first), statistics.median(second)
            print(f"{what}: first {fresh:.2f} CPU-s, second {warm:.2f}", flush=True)
            bound = 1.0 if what == "wheel" else None
            report(
                Figure(name=f"first above second, {what}", value=fresh - warm, unit="CPU-s", bound=bound),
                Figure(name=f"first / second, {what}", value=fresh / warm, unit="×"),
            )


if __name__ == "__main__":
    main()
