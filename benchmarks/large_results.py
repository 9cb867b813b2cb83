"""The cost of a run if almost nothing is left to judge: 100,000 rows, 300 distinct programs, a tenth without code.

    python benchmarks/large_results.py [ROWS [DIRECTORY]] [--all-differ]

The rows are judged once, resumed with nothing new, extended by 1,000 rows, and loaded. Then a fifth as many rows
without any program are judged, and the rules of our own code are read for the fingerprint. CPU seconds are those of the
process and its children, the median of three runs. Memory is the peak resident size. If all rows in the directory were
judged before, the run continues from there.

With `--all-differ` each row has a program of its own, in Python, which costs least to judge. They are judged once, and
resumed with nothing new.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import Figure, arguments, report

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
OTHER = "a, b = map(int, input().split())\nprint(a + b - (a % {number} == 7))\n"
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
    """Write generations."""
    with path.open("w") as file:
        for number in range(rows):
            row = {"uuid": f"row-{number}", "year": 2024, "problem_id": f"sum{number % PROBLEMS}"}
            row |= {"language": "Python 3"} if text_of is always_another else {}
            file.write(json.dumps({**row, "target_subtask": "01-part", "generation": text_of(number)}) + "\n")


def often_the_same(number: int) -> str:
    """One of a few programs; for some rows none."""
    program = PROGRAM.format(number=number % PROGRAMS + 8)
    return NOTHING if number % 10 == 9 else f"{PROSE}\n```cpp\n{program}```\n"


def always_another(number: int) -> str:
    """Another program for each row, in Python."""
    return f"{PROSE}\n```python\n{OTHER.format(number=number + 8)}```\n"


def cpu_s_of(command: list[str]) -> tuple[float, str]:
    """Run a command. Returns its CPU time in seconds, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        sys.exit(
            f"{ended.stdout}{ended.stderr}no figure is recorded, because a command has failed: {shlex.join(command)}"
        )
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended.stdout.strip()


def measure_command(
    what: str, command: list[str], *, times: int = TIMES, prepare: Callable[[], None] | None = None
) -> tuple[float, str]:
    """Run a command several times. Returns the median of its CPU time, in seconds, and the output of the last run."""
    cpu_times: list[float] = []
    started, printed = time.monotonic(), ""
    for _ in range(times):
        if prepare is not None:
            prepare()
        cpu_s, printed = cpu_s_of(command)
        cpu_times.append(cpu_s)
    median, wall_s = statistics.median(cpu_times), (time.monotonic() - started) / times
    all_of_them = ", ".join(f"{seconds:.1f}" for seconds in cpu_times)
    print(f"{what}: {median:.2f} CPU-s ({all_of_them}), {wall_s:.1f} s", printed if "-c" in command else "", flush=True)
    return median, printed


LOAD = """
import json, resource, time
import pandas
from ioi_eval import load_results
started = time.process_time()
table = load_results({directory!r}{options})
cpu_s = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
print(json.dumps({{"rows": len(table), "columns": len(table.columns), "peak_mb": peak, "cpu_s": cpu_s}}))
"""
RULES = """
import time
from ioi_eval import fingerprint
started = time.process_time()
fingerprint.rules_digest(), fingerprint.runner_meaning_digest(), fingerprint.harness_digest()
print(time.process_time() - started)
"""


def main() -> None:
    """Generate, judge, resume, grow, load."""
    args = [word for word in arguments() if word != "--all-differ"]
    rows = int(args[0]) if args else ROWS
    all_differ = "--all-differ" in arguments()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(args[1] if len(args) > 1 else name)
        directory.mkdir(parents=True, exist_ok=True)
        write_inputs(directory)
        if all_differ:
            judge_and_resume(directory, rows, always_another)
            return
        judge_and_resume(directory, rows, often_the_same)
        grow(directory, rows)
        for tests, options in ((False, ", tests=False"), (True, "")):
            load(directory / "grown", options, bounds=(None, None) if tests else (500.0, 5.0))
        without_code(directory, rows // 5)
        _, printed = measure_command("what our rules say", [sys.executable, "-c", RULES])
        report(Figure(name="reading our rules", value=float(printed), unit="CPU-s", bound=0.2))


def score(directory: Path, dump: Path, out: Path) -> list[str]:
    """The command that judges a dump."""
    sources = [f"--{part}={directory / part}.jsonl" for part in ("problems", "tests")]
    return [COMMAND, "score", str(dump), *sources, "--out", str(out), "--no-progress"]


def judge_and_resume(directory: Path, rows: int, text_of: Callable[[int], str]) -> None:
    """Judge, and resume with nothing new."""
    dump, out = directory / "dump.jsonl", directory / "out"
    is_new = not out.exists()
    write_dump(dump, rows, text_of)
    judged_s, _ = measure_command("judge", score(directory, dump, out), times=1)
    sizes = {path.name: path.stat().st_size / 1e6 for path in out.iterdir()}
    sizes_text = ", ".join(f"{name} {size:.0f} MB" for name, size in sizes.items() if size >= 0.5)
    print(f"dump {dump.stat().st_size / 1e6:.0f} MB; results: {sizes_text}")
    results_mb = sizes["results.jsonl"] + sizes["tests.jsonl"]
    report(Figure(name="results.jsonl and tests.jsonl", value=results_mb, unit="MB", bound=250))
    resumed_s, _ = measure_command("resume, nothing new", score(directory, dump, out))
    report(Figure(name="resume with nothing new", value=resumed_s, unit="CPU-s", bound=5))
    if is_new and text_of is always_another:
        report(Figure(name="resume / judging", value=100 * resumed_s / judged_s, unit="%", bound=1))


def grow(directory: Path, rows: int) -> None:
    """Resume with more rows."""
    more = directory / "more.jsonl"

    def as_before() -> None:
        shutil.rmtree(directory / "grown", ignore_errors=True)
        shutil.copytree(directory / "out", directory / "grown")

    write_dump(more, rows + MORE, often_the_same)
    grown_s, _ = measure_command(f"{MORE} rows more", score(directory, more, directory / "grown"), prepare=as_before)
    report(Figure(name=f"resume with {MORE} rows more", value=grown_s, unit="CPU-s", bound=8))


def load(directory: Path, options: str, bounds: tuple[float | None, float | None]) -> None:
    """Load the results as a table. The bounds are those of memory and CPU time."""
    code = LOAD.format(directory=str(directory), options=options)
    _, printed = measure_command(f"load_results(…{options})", [sys.executable, "-c", code])
    loaded: dict[str, Any] = json.loads(printed)
    name = f"load_results(…{options})"
    report(
        Figure(name=f"{name}: memory", value=loaded["peak_mb"], unit="MB", bound=bounds[0]),
        Figure(name=f"{name}: CPU time", value=loaded["cpu_s"], unit="CPU-s", bound=bounds[1]),
    )


def without_code(directory: Path, rows: int) -> None:
    """Judge rows that have no program."""
    dump, out = directory / "no_code.jsonl", directory / "none"

    def remove() -> None:
        shutil.rmtree(out, ignore_errors=True)

    write_dump(dump, rows, lambda _: NOTHING)
    cpu_s, _ = measure_command(f"{rows} rows without code", score(directory, dump, out), prepare=remove)
    name = "rows without code in a CPU-s, start and end included"
    report(Figure(name=name, value=rows / cpu_s, unit="/CPU-s", bound=3000, larger_is_better=True))


if __name__ == "__main__":
    main()
