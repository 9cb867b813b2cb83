"""CPU time of scoring programs, divided by that of plain `g++` and a loop in bash over the same tests.

    python benchmarks/plain_loop.py [PROGRAMS]

The programs are short, begin with `<bits/stdc++.h>`, and are right on all of their 20 tests. The loop has no isolation
and no limits, and runs one program after another. It compiles with our options, but without a precompiled header. The
two alternate.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from figures import Figure, arguments, report
from large_results import COMMAND, PROBLEMS, PROGRAM, write_dump, write_inputs

PROGRAMS, ROUNDS = 20, 3
FIRST = 1_000_003  # the program's constant; if it is larger than all inputs, the program is right
LOOP = """
set -eu
for source in programs/*.cpp; do
    g++ -std=gnu++17 -DEVAL -O2 -pipe -c "$source" -o program.o
    g++ -O2 -pipe -static -s program.o -o program
    problem=${source##*-}
    for input in tests/"${problem%.cpp}"/*.in; do
        ./program <"$input" >output
        cmp -s output "${input%.in}.out"
    done
done
"""


def source(number: int) -> str:
    """The source of a program. All programs differ."""
    return PROGRAM.format(number=FIRST + number)


def write_files(directory: Path, count: int) -> None:
    """Write the files for the loop: the same programs and tests."""
    (directory / "programs").mkdir()
    for number in range(count):
        (directory / "programs" / f"{number:04}-sum{number % PROBLEMS}.cpp").write_text(source(number))
    for line in (directory / "tests.jsonl").open():
        row = json.loads(line)
        where = directory / "tests" / row["problem_id"]
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{row['test_name']}.in").write_text(row["test_input"])
        (where / f"{row['test_name']}.out").write_text(row["test_output"])


def cpu_s(command: list[str], directory: Path) -> float:
    """The CPU time of a command and all its descendants."""
    environment = {**os.environ, "IOI_EVAL_CACHE": str(directory / "cache")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure both in turn. The first run of ours fills the cache."""
    count = int(arguments()[0]) if arguments() else PROGRAMS
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_inputs(directory)
        write_files(directory, count)
        write_dump(directory / "dump.jsonl", count, lambda number: f"```cpp\n{source(number)}```\n")
        write_dump(directory / "one.jsonl", 1, lambda number: f"```cpp\n{source(number)}```\n")
        sources = ["--problems", "problems.jsonl", "--tests", "tests.jsonl", "--no-progress"]
        cpu_s([COMMAND, "score", "one.jsonl", *sources, "--out", "warm-up"], directory)
        ratios = []
        for number in range(ROUNDS):
            out = f"out-{number}"
            ours = cpu_s([COMMAND, "score", "dump.jsonl", *sources, "--out", out], directory)
            verdicts = json.loads((directory / out / "summary.json").read_text())["verdicts"]
            if verdicts != {"AC": count}:
                raise SystemExit(f"not all programs are right: {verdicts}")
            plain = cpu_s(["bash", "-c", LOOP], directory)
            ratios.append(ours / plain)
            print(f"ours {ours:.2f} CPU-s, the loop {plain:.2f} CPU-s", flush=True)
    report(Figure(name="CPU time: ours / g++ and a loop in bash", value=statistics.median(ratios), unit="×"))


if __name__ == "__main__":
    main()
