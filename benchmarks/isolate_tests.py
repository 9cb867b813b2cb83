"""The cost of a trivial test of a compiled program with us and with isolate: `isolate_tests.py ISOLATE [--tests 256]`.

ISOLATE is the program of ioi/isolate, which must be able to create boxes. The program, its tests and its limits are the
same for both: they are in `bundle_overhead.py`. With isolate, each test runs in its own box (created, filled, run and
removed, as in contest systems), or all tests run in one box; this program compares the output. Our cost is that of all
tests except one: the same program is scored with all of them and with one, so that compiling is left out. All take
turns. CPU time is that of all processes. The figures are the medians of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bundle_overhead import PROBLEM, PROGRAM
from figures import Figure, arguments, report
from peers import own_cpu_s

from ioi_eval import ArtifactStore, LocalSandbox, Scorer, Submission
from ioi_eval.config import Environment
from ioi_eval.model import Problem, TestCase

ROUNDS = 5
OURS, FRESH, SAME = "ours", "isolate, a box for each test", "isolate, one box for all"


class Isolate:
    """Runs the program with isolate, without control groups.

    Args:
        path: the program isolate.
        directory: for the compiled program and the inputs.
        tests: the tests to run.
    """

    def __init__(self, path: Path, directory: Path, tests: list[TestCase]) -> None:
        self._path, self._meta, self._tests = str(path), directory / "meta", tests
        source, self._program = directory / "program.cpp", directory / "program"
        source.write_text(PROGRAM)
        options = ["-std=gnu++17", "-DEVAL", "-O2", "-pipe", "-static", "-s"]
        subprocess.run(["g++", *options, str(source), "-o", str(self._program)], check=True)
        self._compiled = self._program.read_bytes()

    def each(self) -> None:
        """One box for each test."""
        for test in self._tests:
            box = self._made()
            self._test(box, test)
            self._call("--cleanup")

    def together(self) -> None:
        """One box for all tests."""
        box = self._made()
        for test in self._tests:
            self._test(box, test)
        self._call("--cleanup")

    def _made(self) -> Path:
        """A new box with the program."""
        self._call("--init", printed=self._meta)
        box = Path(self._meta.read_text().strip()) / "box"
        (box / "program").write_bytes(self._compiled)
        (box / "program").chmod(0o755)
        return box

    def _test(self, box: Path, test: TestCase) -> None:
        assert isinstance(test.input, bytes)
        assert isinstance(test.answer, bytes)
        (box / "input").write_bytes(test.input)
        limits = ["--time=1", "--wall-time=10", f"--mem={PROBLEM.memory_limit_bytes >> 10}", "--processes=1"]
        self._call(
            "--run", *limits, "--silent", f"--meta={self._meta}", "--stdin=input", "--stdout=output", "--", "program"
        )
        printed = (box / "output").read_bytes()
        if printed.split() != test.answer.split():
            raise SystemExit(f"isolate: test {test.name}: {printed!r}")

    def _call(self, *words: str, printed: Path | None = None) -> None:
        """Run isolate without the overhead of Python's `subprocess`."""
        actions = []
        if printed is not None:
            actions = [(os.POSIX_SPAWN_OPEN, 1, str(printed), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
        child = os.posix_spawn(self._path, [self._path, *words], os.environ, file_actions=actions)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise SystemExit(f"{self._path} {' '.join(words)} failed; what it said is above")


class Ours:
    """The embedded sandbox with one slot."""

    def __init__(self, tests: int, loop: asyncio.Runner) -> None:
        self._loop, self._sandbox = loop, LocalSandbox(slots=1)
        loop.run(self._sandbox.__aenter__())
        store = ArtifactStore(Environment.read().cache)
        self._scorer = Scorer(self._sandbox, artifacts=store, bundle_tests=tests)

    def score(self, problem: Problem) -> None:
        """Score the program."""
        result = self._loop.run(self._scorer.score(problem, Submission(id="sum", problem=problem.key, code=PROGRAM)))
        if result.score != 100:
            raise SystemExit(f"{result.verdict}: {result.compile.message}")

    def end(self) -> None:
        """Remove the sandbox."""
        self._loop.run(self._sandbox.__aexit__(None, None, None))


def of_tests(count: int) -> Problem:
    """The problem with its first tests."""
    return replace(PROBLEM, subtasks=(replace(PROBLEM.subtasks[0], tests=PROBLEM.subtasks[0].tests[:count]),))


def spent(run: Callable[[], None]) -> tuple[float, float]:
    """CPU time and wall clock of a run, in ms."""
    cpu, began = own_cpu_s(), time.perf_counter()
    run()
    return (own_cpu_s() - cpu) * 1000, (time.perf_counter() - began) * 1000


def main() -> None:
    """Measure in turn, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isolate", type=Path)
    parser.add_argument("--tests", type=int, default=len(PROBLEM.tests))
    options = parser.parse_args(arguments())
    count, whole, one = options.tests, of_tests(options.tests), of_tests(1)
    costs: dict[str, list[tuple[float, float]]] = {OURS: [], FRESH: [], SAME: []}
    with tempfile.TemporaryDirectory() as name, asyncio.Runner() as loop:
        ours = Ours(count, loop)
        isolate = Isolate(
            options.isolate.resolve(), Path(name), [PROBLEM.tests[each] for each in whole.subtasks[0].tests]
        )
        ours.score(one)
        for _ in range(ROUNDS):
            single, all_tests = spent(lambda: ours.score(one)), spent(lambda: ours.score(whole))
            costs[OURS].append(tuple((more - less) / (count - 1) for more, less in zip(all_tests, single, strict=True)))
            for way, run in ((FRESH, isolate.each), (SAME, isolate.together)):
                costs[way].append(tuple(each / count for each in spent(run)))
        ours.end()
    medians = {way: [statistics.median(each) for each in zip(*rounds, strict=True)] for way, rounds in costs.items()}
    for way, (cpu_ms, wall_ms) in medians.items():
        report(
            Figure(name=f"{way}: CPU time a test", value=cpu_ms, unit="ms"),
            Figure(name=f"{way}: wall clock a test", value=wall_ms, unit="ms"),
        )
    report(
        *(
            Figure(name=f"CPU time: ours / {way}", value=medians[OURS][0] / medians[way][0], unit="×")
            for way in (FRESH, SAME)
        )
    )


if __name__ == "__main__":
    main()
