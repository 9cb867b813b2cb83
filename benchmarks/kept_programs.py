"""CPU time of scoring a dump again into another directory: with kept compiled programs, and without.

Usage: python benchmarks/kept_programs.py [DUMP PROBLEMS TESTS]
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval import sample

COMMAND = str(Path(sys.executable).with_name("ioi-eval"))


def cpu_s(sources: list[str], out: Path, cache: Path, *options: str) -> tuple[float, str]:
    """The CPU time of the command and all its descendants, and the verdicts."""
    dump, problems, tests = sources
    command = [COMMAND, "score", dump, "--problems", problems, "--tests", tests, "--out", str(out), *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "IOI_EVAL_CACHE": str(cache)}
    subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdicts = json.dumps(json.loads((out / "summary.json").read_text())["verdicts"])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, verdicts


def main() -> None:
    """Print all three."""
    sources = arguments()[:3] or [str(sample.dump()), str(sample.problems()), str(sample.tests())]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        cache = directory / "cache"
        cpu_s(sources, directory / "warm-up", cache)
        plain, verdicts = cpu_s(sources, directory / "plain", cache)
        keeping, _ = cpu_s(sources, directory / "keeping", cache, "--keep-programs", "10")
        stored, same = cpu_s(sources, directory / "kept", cache, "--keep-programs", "10")
        sizes = [path.stat().st_size for path in (cache / "programs").glob("??/*")]
    print(f"all compiled      {plain:.2f} CPU-s")
    print(f"compiled and kept {keeping:.2f} CPU-s; {len(sizes)} programs, {sum(sizes) / 1e6:.1f} MB")
    print(f"none compiled     {stored:.2f} CPU-s")
    if verdicts != same:
        sys.exit(f"other verdicts: {verdicts}, {same}")
    report(
        Figure(name="CPU time: kept / compiled", value=stored / plain, unit="×"),
        Figure(name="CPU time: compiled and kept / compiled", value=keeping / plain, unit="×"),
    )


if __name__ == "__main__":
    main()
