"""What a run costs if almost nothing is left to judge: 100,000 rows, 300 distinct programs, a tenth without code.

    python benchmarks/large_results.py [ROWS [DIRECTORY]]

The rows are judged once, resumed with nothing new, extended by 1,000 rows, and loaded. Then a fifth as many rows
without any program are judged, and the rules of our own code are read for the fingerprint. CPU seconds are those of the
process and its children, the median of three runs; memory is the peak resident size. If everything in the directory was
judged before, the run continues from there.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROWS, MORE, PROGRAMS = 100_000, 1_000, 300
PROBLEMS, TESTS, SUBTASKS = 4, 20, 5
TIMES = 3
COMMAND = str(Path(sys.executable).with_name("ioi-eval"))
PROSE = "Let us think about this problem: a sum is asked for, and the numbers are small enough for 64 bits. " * 3
PROGRAM = """#include <bits/stdc++.h>
using namespace std;
int main() {{
    ios::sync_with_stdio(false);
    long long a, b;
    cin >> a >> b;
    if (a % {number} == 7) b += {number};  // wrong for some
    cout << a + b << "\\n";
}}
"""
NOTHING = "I do not know."


def write_inputs(directory: Path) -> None:
    """Problems and their tests: each subtask includes the tests of the one before."""
    names = [f"{number:02}" for number in range(TESTS)]
    with (directory / "problems.jsonl").open("w") as problems, (directory / "tests.jsonl").open("w") as tests:
        for problem in range(PROBLEMS):
            for subtask in range(SUBTASKS):
                row = {
                    "year": 2024, "day": "1", "id": f"sum{problem}", "name": "Sum", "subtask": f"{subtask:02}-part",
                    "score": 20, "score_precision": 2, "time_limit": 1.0, "memory_limit": 1 << 28,
                    "task_type": "Batch", "test_names": names[: TESTS * (subtask + 1) // SUBTASKS], "grader_files": [],
                }  # fmt: skip
                problems.write(json.dumps(row) + "\n")
            for number, name in enumerate(names):
                a, b = number * 1009 + problem, number
                row = {"year": 2024, "day": "1", "problem_name": "Sum", "problem_id": f"sum{problem}"}
                test = {"test_name": name, "test_input": f"{a} {b}\n", "test_output": f"{a + b}\n"}
                tests.write(json.dumps(row | test) + "\n")


def write_dump(path: Path, rows: int, text_of: Callable[[int], str]) -> None:
    """Generations."""
    with path.open("w") as file:
        for number in range(rows):
            row = {"uuid": f"row-{number}", "year": 2024, "problem_id": f"sum{number % PROBLEMS}"}
            file.write(json.dumps({**row, "target_subtask": "01-part", "generation": text_of(number)}) + "\n")


def often_the_same(number: int) -> str:
    """One of a few programs, and sometimes none."""
    program = PROGRAM.format(number=number % PROGRAMS + 8)
    return NOTHING if number % 10 == 9 else f"{PROSE}\n```cpp\n{program}```\n"


def cpu_s_of(command: list[str]) -> tuple[float, str]:
    """Run a command. Returns its CPU time in seconds, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        print(ended.stdout, ended.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended.stdout.strip()


def measured(what: str, command: list[str], *, times: int = TIMES, prepare: Callable[[], None] | None = None) -> float:
    """Run a command several times; print and return the median of its CPU time, in seconds."""
    taken: list[float] = []
    started, printed = time.monotonic(), ""
    for _ in range(times):
        if prepare is not None:
            prepare()
        cpu_s, printed = cpu_s_of(command)
        taken.append(cpu_s)
    median, wall_s = statistics.median(taken), (time.monotonic() - started) / times
    all_of_them = ", ".join(f"{one:.1f}" for one in taken)
    print(f"{what}: {median:.2f} CPU-s ({all_of_them}), {wall_s:.1f} s", printed if "-c" in command else "", flush=True)
    return median


LOAD = """
import resource, sys, time
import pandas
from ioi_eval import load_results
started = time.process_time()
table = load_results({directory!r}{options})
cpu_s = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
print(f"{{len(table)}} rows, {{len(table.columns)}} columns, {{peak}} MB, {{cpu_s:.1f}} CPU-s to load")
"""
RULES = """
import time
from ioi_eval import fingerprint
started = time.process_time()
fingerprint.rules_digest(), fingerprint.runner_digest(), fingerprint.harness_digest()
print(f"{time.process_time() - started:.3f} CPU-s to read them")
"""


def main() -> None:
    """Generate, judge, resume, grow, load."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(sys.argv[2] if len(sys.argv) > 2 else name)
        directory.mkdir(parents=True, exist_ok=True)
        dump, out = directory / "dump.jsonl", directory / "out"
        write_inputs(directory)
        sources = [f"--{part}={directory / part}.jsonl" for part in ("problems", "tests")]

        def score(dump: Path, out: Path) -> list[str]:
            return [COMMAND, "score", str(dump), *sources, "--out", str(out), "--no-progress"]

        write_dump(dump, rows, often_the_same)
        measured("judge", score(dump, out), times=1)
        sizes = {path.name: path.stat().st_size / 1e6 for path in out.iterdir()}
        print(
            f"dump {dump.stat().st_size / 1e6:.0f} MB; results {sizes['results.jsonl'] + sizes['tests.jsonl']:.0f} MB "
            "(bound 250): " + ", ".join(f"{name} {size:.0f} MB" for name, size in sizes.items() if size >= 0.5)
        )
        measured("resume, nothing new (bound 5)", score(dump, out))

        def as_before() -> None:
            shutil.rmtree(directory / "grown", ignore_errors=True)
            shutil.copytree(out, directory / "grown")

        more = directory / "more.jsonl"
        write_dump(more, rows + MORE, often_the_same)
        measured(f"{MORE} rows more (bound 8)", score(more, directory / "grown"), prepare=as_before)
        for options in (", tests=False", ""):
            code = LOAD.format(directory=str(directory / "grown"), options=options)
            measured(f"load_results(…{options}) (bound without tests 5, 500 MB)", [sys.executable, "-c", code])

        def nothing() -> None:
            shutil.rmtree(directory / "none", ignore_errors=True)

        no_code, empty = directory / "no_code.jsonl", rows // 5
        write_dump(no_code, empty, lambda _: NOTHING)
        cpu_s = measured(f"{empty} rows without code", score(no_code, directory / "none"), prepare=nothing)
        print(f"{empty / cpu_s:.0f} rows without code in a CPU-s, start and end included (bound 3,000)")
        measured("what our rules say (bound 0.2)", [sys.executable, "-c", RULES])


if __name__ == "__main__":
    main()
