"""Memory does not grow with the texts of a dump, nor with the outcomes of tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.scripted import Contest

CHILD = """
import pathlib, sys, threading
from tests.pipeline.scripted import Contest, ScriptedScorer

def anonymous_kb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

peak, over = [0], threading.Event()

def watch():
    while not over.wait(0.05):
        peak[0] = max(peak[0], anonymous_kb())

watcher = threading.Thread(target=watch)
watcher.start()
try:
    Contest(pathlib.Path(sys.argv[1])).run(ScriptedScorer())
finally:
    over.set()
    watcher.join()
print(peak[0])
"""


def write_dump(path: Path, rows: int) -> None:
    """Write rows of 5 kB; one in ten is a copy."""
    with path.open("w") as file:
        for number in range(rows):
            code = f"{number % 11 / 10} 1 {number % 7 / 6} // {number - number % 10 // 9}\n" + "int x;\n" * 50
            row = {
                "uuid": f"00000000-0000-0000-0000-{number:012d}",
                "year": 2024,
                "problem_id": "nile",
                "target_subtask": "02-full",
                "generation": f"{'thinking ' * 500}\n```cpp\n{code}```\n",
                "metadata": {"usage": {"completion_tokens": number % 997}},
            }
            file.write(json.dumps(row) + "\n")


@pytest.mark.full
def test_100_000_rows_in_300_mb(contest: Contest) -> None:
    """The peak of anonymous memory, for judging and for writing the results."""
    write_dump(contest.dump, 100_000)
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(contest.directory)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert int(ended.stdout) < 300 * 1024
    assert len((contest.out / "results.jsonl").read_bytes().splitlines()) == 100_000
