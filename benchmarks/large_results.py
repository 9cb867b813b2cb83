"""What a run costs where nearly nothing is left to judge: 100,000 rows, 300 distinct programs, a tenth without code.

Judged once, resumed with nothing new, grown by 1,000 rows, and read back. CPU seconds are of the process itself and of
what it has started; memory is the most that was resident.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS, MORE, PROGRAMS = 100_000, 1_000, 300
PROBLEMS, TESTS, SUBTASKS = 4, 20, 5
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


def write_inputs(directory: Path) -> None:
    """Problems and their tests: each subtask holds those of the one before."""
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


def write_dump(path: Path, rows: int) -> None:
    """Generations; the same program often."""
    with path.open("w") as file:
        for number in range(rows):
            program = PROGRAM.format(number=number % PROGRAMS + 8)
            text = "I do not know." if number % 10 == 9 else f"{PROSE}\n```cpp\n{program}```\n"
            row = {"uuid": f"row-{number}", "year": 2024, "problem_id": f"sum{number % PROBLEMS}"}
            file.write(json.dumps({**row, "target_subtask": "01-part", "generation": text}) + "\n")


def measured(what: str, command: list[str]) -> float:
    """Run it; say and return what CPU time it took, in seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    after, wall_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if ended.returncode:
        print(ended.stdout, ended.stderr)
    told = ended.stdout.strip() if "-c" in command else ""
    print(f"{what}: {cpu_s:.1f} CPU-s, {wall_s:.1f} s, exit code {ended.returncode} {told}", flush=True)
    return cpu_s


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


def main() -> None:
    """Generate, judge, resume, grow, load."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(sys.argv[2] if len(sys.argv) > 2 else name)
        write_inputs(directory)
        write_dump(directory / "dump.jsonl", rows)
        command = [COMMAND, "score", str(directory / "dump.jsonl"), "--out", str(directory / "out"), "--no-progress"]
        for part in ("problems", "tests"):
            command += [f"--{part}", str(directory / f"{part}.jsonl")]
        measured("judge", command)
        sizes = {path.name: path.stat().st_size / 1e6 for path in (directory / "out").iterdir()}
        print(
            f"dump {(directory / 'dump.jsonl').stat().st_size / 1e6:.0f} MB; "
            + ", ".join(f"{name} {size:.0f} MB" for name, size in sorted(sizes.items()) if size >= 0.5)
        )
        measured("resume, nothing new (bound 5)", command)
        write_dump(directory / "dump.jsonl", rows + MORE)
        measured(f"{MORE} rows more (bound 8)", command)
        for options in (", tests=False", ""):
            code = LOAD.format(directory=str(directory / "out"), options=options)
            measured(f"load_results(…{options}) (bound without tests 5, 500 MB)", [sys.executable, "-c", code])


if __name__ == "__main__":
    main()
