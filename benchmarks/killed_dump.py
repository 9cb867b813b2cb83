"""A run over a large dump for the sample contest is killed ten times and resumed: memory, and whether results are
equal.

    python benchmarks/killed_dump.py [ROWS]

100,000 rows, a fifth of them with distinct programs, are scored by `ioi-eval score` in a sandbox that answers at once
(`fast_sandbox.py`): once without interruption, and once with ten times `kill -9`, each after a random share of the
work. The results, the tests and the inputs of both are compared byte by byte, and the journals' records are counted: a
submission that was judged twice was running when a run was killed. Memory is anonymous memory, read ten times a second.
A run with a tenth of the rows shows whether it grows with them.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fast_sandbox import SLOTS
from figures import Figure, arguments, report
from watched_run import COMMAND, anonymous_mb

from ioi_eval import sample
from ioi_eval.pipeline.settings import spare_for

ROWS, KILLS, SHARE = 100_000, 10, 5
FILES = ("results.jsonl", "tests.jsonl", "inputs.jsonl")
ENTRY_POINTS = "[ioi_eval.sandboxes]\nfast = fast_sandbox:open_fast\n"


def write_dump(path: Path, rows: int) -> None:
    """The sample's generations, repeated. Five repetitions have the same programs, the next five have others."""
    texts = [json.loads(line) for line in sample.dump().read_text(encoding="utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            row = texts[number % len(texts)]
            changed = row["generation"].replace("```cpp\n", f"```cpp\n// {number // len(texts) // SHARE}\n")
            file.write(json.dumps({**row, "uuid": f"row-{number}", "generation": changed}) + "\n")


def install(site: Path) -> dict[str, str]:
    """The environment in which `--sandbox fast` is available."""
    information = site / "fast-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: fast\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    folders = [str(site), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
        "IOI_EVAL_CACHE": str(site.parent / "cache"),
    }


class Runs:
    """Runs over one dump, with their memory.

    Args:
        dump: the rows.
        environment: the environment of the command.
    """

    def __init__(self, dump: Path, environment: dict[str, str]) -> None:
        self._dump, self._environment = dump, environment
        self.peak_mb = 0.0

    def run(self, out: Path, enough_bytes: float = math.inf) -> int:
        """Score the dump. The command is killed when the journal has this number of bytes. Returns the exit code."""
        sources = ("--problems", str(sample.problems()), "--tests", str(sample.tests()))
        command = [COMMAND, "score", str(self._dump), *sources, "--sandbox", "fast", "--no-progress", "--out", str(out)]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, env=self._environment, stdout=quiet, stderr=quiet)
        while process.poll() is None:
            self.peak_mb = max(self.peak_mb, anonymous_mb(process.pid))
            if size_of(out / "journal") >= enough_bytes:
                process.kill()
                return process.wait()
            time.sleep(0.1)
        return process.returncode


def size_of(path: Path) -> int:
    """The size in bytes; 0 if there is no file."""
    return path.stat().st_size if path.exists() else 0


def records(out: Path) -> int:
    """The number of results that were judged and not copied."""
    return (out / "journal").read_bytes().count(b" r ")


def run_with_kills(runs: Runs, out: Path, whole: int) -> int:
    """Score the dump, killed at random sizes of a journal whose final size is `whole` bytes. Returns the number of
    kills.
    """
    dice = random.Random(4)
    kills = 0
    for share in sorted(dice.uniform(0.02, 0.98) for _ in range(KILLS)):
        kills += runs.run(out, enough_bytes=int(share * whole)) < 0
    if runs.run(out) != 0:
        sys.exit("the last run has not judged everything")
    return kills


def main() -> None:
    """Score, kill, compare."""
    rows = int(arguments()[0]) if arguments() else ROWS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(name)
        environment = install(directory / "site")
        small, large = (Runs(directory / f"{part}.jsonl", environment) for part in ("small", "large"))
        write_dump(directory / "small.jsonl", rows // 10)
        write_dump(directory / "large.jsonl", rows)
        codes = [small.run(directory / "few"), large.run(directory / "whole")]
        undisturbed_mb = large.peak_mb
        kills = run_with_kills(large, directory / "killed", size_of(directory / "whole" / "journal"))
        differing = [
            name
            for name in FILES
            if (directory / "whole" / name).read_bytes() != (directory / "killed" / name).read_bytes()
        ]
        written = (directory / "killed" / "results.jsonl").read_bytes().count(b"\n")
        twice = records(directory / "killed") - records(directory / "whole")
    print(f"exit codes {codes}; {kills} of {KILLS} kills struck; files that differ: {', '.join(differing) or 'none'}")
    report(
        Figure(name="rows without a result", value=rows - written, unit="", bound=0),
        Figure(name="files that differ after ten kills", value=len(differing), unit="", bound=0),
        Figure(name="judged twice", value=twice, unit="", bound=KILLS * (SLOTS + spare_for(SLOTS, shares=False))),
        Figure(name="anonymous memory", value=undisturbed_mb, unit="MB", bound=300),
        Figure(name="the same of a run that goes on", value=large.peak_mb, unit="MB", bound=300),
        Figure(name="the same of a tenth of the rows", value=small.peak_mb, unit="MB"),
    )


if __name__ == "__main__":
    main()
