"""The cost of a test with 10 MB of input, compared with a plain interpreter that gets the same bytes through a pipe.

    python benchmarks/apps_large_row.py [--megabytes 10] [--isolation full|reduced]

The two alternate, and the best of several rounds counts. The program prints its input, so that 10 MB are compared too.
`row` is the step before: parsing the row's JSON as in `apps score`, compared with two calls of `json.loads`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.problems.apps import read_rows
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local.sandbox import LocalSandbox

PROGRAM = "import sys\nfor line in sys.stdin: print(line, end='')\n"
ROUNDS = 5
BOUND = 1.5


def row(megabytes: int) -> dict[str, object]:
    """A row with one test, whose output is its input."""
    line = " ".join(str(number) for number in range(2_000)) + "\n"
    text = line * (megabytes * 1_000_000 // len(line))
    tests = json.dumps({"inputs": [text], "outputs": [text]})
    return {"problem_id": 0, "question": "?", "solutions": "", "input_output": tests, "difficulty": "interview"}


def cpu_s() -> float:
    """CPU seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def run_piped(python: str, test: StdinTest) -> None:
    """A plain interpreter and two pipes."""
    done = subprocess.run([python, "-c", PROGRAM], input=test.stdin, check=True, stdout=subprocess.PIPE)
    assert done.stdout == test.answer


def best(runs: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """The lowest CPU time and wall clock of each, in seconds. They alternate."""
    least = dict.fromkeys(runs, (float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            begun, begun_cpu = time.perf_counter(), cpu_s()
            run()
            cpu, wall = cpu_s() - begun_cpu, time.perf_counter() - begun
            least[name] = (min(least[name][0], cpu), min(least[name][1], wall))
    return least


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--isolation", choices=["full", "reduced"], default="full")
    options = parser.parse_args(arguments())
    with tempfile.TemporaryDirectory() as name, asyncio.Runner() as loop:
        path = Path(name) / "apps.jsonl"
        path.write_text(json.dumps(row(options.megabytes)) + "\n")
        (problem,) = read_rows(open_source(str(path)), frozenset({0}))
        test = problem.tests[0]
        assert isinstance(test, StdinTest)
        sandbox = LocalSandbox(slots=1, strongest=Isolation(options.isolation))
        loop.run(sandbox.__aenter__())
        executor = AppsExecutor(sandbox, artifacts=ArtifactStore(name), settings=AppsSettings())

        def ours(row_problem: AppsProblem = problem) -> None:
            assert loop.run(executor.score(row_problem, PROGRAM)).score == 1.0

        ours()
        python = loop.run(executor.interpreter()).path
        least = best(
            {
                "ours": ours,
                "a pipe": lambda: run_piped(python, test),
                "row, ours": lambda: list(read_rows(open_source(str(path)), frozenset({0}))),
                "row, json": lambda: json.loads(json.loads(path.read_text())["input_output"]),
            }
        )
        loop.run(sandbox.__aexit__(None, None, None))
    for name, (cpu, wall) in least.items():
        print(f"{name:10} {cpu * 1000:7.0f} ms of CPU, {wall * 1000:7.0f} ms of wall clock")
    for numerator, other in (("ours", "a pipe"), ("row, ours", "row, json")):
        report(
            Figure(
                name=f"CPU time: {numerator} / {other}",
                value=least[numerator][0] / least[other][0],
                unit="×",
                bound=BOUND,
            )
        )


if __name__ == "__main__":
    main()
