"""What one submission costs on a real Piston server: `cluster_submission.py URL [--server-pid PID]`.

30 tests, judged exhaustively, with a grader and a checker that takes seconds to compile, two slots, the bundled
profile. First with an empty cache, then five times with the problem's programs in the cache; and the same in the
embedded sandbox, which in a checkout also compiles the runner (about 7 CPU-s) if nothing is in the cache. CPU time is
that of this process and its children, plus that of the server with all its jobs if its process id is given.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Problem, ProblemKey, SourceFile, Submission, Subtask, TaskType, TestCase, Verdict
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.scorer import Scorer

TESTS, SLOTS = 30, 2
WALL_S, CPU_S = 4.0, 5.0
WARM = 5
AGAINST_EMBEDDED = 1.15
KNOWN = "the problem's programs in the cache"

HEADER = b"int add(int a, int b);\n"
GRADER = b"""#include <iostream>
#include "sum.h"
int main() {
  int a, b;
  std::cin >> a >> b;
  std::cout << add(a, b) << std::endl;
}
"""
CODE = '#include "sum.h"\nint add(int a, int b) { return a + b; }\n'
CHECKER = rb"""// Regular expressions, for the time that they take to compile: about as long as testlib.
#include <fstream>
#include <iostream>
#include <regex>
std::string read(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
int main(int, char** argv) {
  std::regex number("\\s*(-?[0-9]+)\\s*");
  std::smatch right, given;
  std::string answer = read(argv[2]), output = read(argv[3]);
  bool same = std::regex_match(answer, right, number) && std::regex_match(output, given, number);
  same = same && right[1] == given[1];
  std::cout << (same ? "1.0" : "0.0") << std::endl;
  std::cerr << (same ? "translate:success" : "translate:wrong") << std::endl;
}
"""


def problem(count: int = TESTS) -> Problem:
    """A problem with sums of two numbers and a grader."""
    tests = {
        f"t{n:02}": TestCase(name=f"t{n:02}", input=f"{n} {n * n}\n".encode(), answer=f"{n + n * n}\n".encode())
        for n in range(count)
    }
    return Problem(
        key=ProblemKey(year=2026, id="sum"),
        name="Sum",
        task_type=TaskType.BATCH,
        time_limit_s=1.0,
        memory_limit_bytes=1 << 28,
        subtasks=(Subtask(name="01", points=100.0, tests=tuple(tests)),),
        tests=tests,
        linked=(SourceFile(path="graders/grader.cpp", content=GRADER),),
        headers=(SourceFile(path="graders/sum.h", content=HEADER),),
        checker=SourceFile(path="checker/checker.cpp", content=CHECKER),
        cxx_std="gnu++17",
    )


def clock(server: int | None) -> Callable[[], float]:
    """A function that returns the CPU time, in s, of this process and (given its id) of the server and its jobs."""

    def now() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        spent = sum(usage.ru_utime + usage.ru_stime for usage in used)
        if server is not None:
            fields = Path(f"/proc/{server}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            spent += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return spent

    return now


async def measure(url: str, server: int | None) -> None:
    """Score the submission there, and in the embedded sandbox: with nothing in the cache, then `WARM` times."""
    cluster = PistonCluster([url], max_requests_per_endpoint=SLOTS, profile="bundled")
    there = await taken(cluster, "the server", clock(server))
    here = await taken(LocalSandbox(slots=SLOTS), "embedded", clock(None))
    if server is not None:
        report(Figure(name=f"{KNOWN}: CPU time / embedded", value=there / here, unit="×", bound=AGAINST_EMBEDDED))


async def taken(sandbox: PistonCluster | LocalSandbox, where: str, cpu_s: Callable[[], float]) -> float:
    """Report what the submission costs. Returns the median CPU time with the problem's programs in the cache."""
    judged = problem()
    submission = Submission(id="x", problem=judged.key, code=CODE)
    cpus: list[float] = []
    walls: list[float] = []
    with tempfile.TemporaryDirectory() as cache:
        async with sandbox:
            for _ in range(1 + WARM):
                scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
                began, spent = time.monotonic(), cpu_s()
                result = await scorer.score(judged, submission, exhaustive=True)
                walls.append(time.monotonic() - began)
                cpus.append(cpu_s() - spent)
                if result.verdict is not Verdict.AC:
                    raise SystemExit(f"{result.verdict}: {result.compile.message}")
    print(f"{where}: isolation {result.isolation}")
    wall_bound, cpu_bound = (None, None) if isinstance(sandbox, LocalSandbox) else (WALL_S, CPU_S)
    for what, wall, cpu in (
        ("nothing in the cache", walls[0], cpus[0]),
        (KNOWN, statistics.median(walls[1:]), statistics.median(cpus[1:])),
    ):
        report(
            Figure(name=f"{where}, {what}: wall clock", value=wall, unit="s", bound=wall_bound),
            Figure(name=f"{where}, {what}: CPU time", value=cpu, unit="CPU-s", bound=cpu_bound),
        )
    return statistics.median(cpus[1:])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--server-pid", type=int)
    options = parser.parse_args(arguments())
    asyncio.run(measure(options.url, options.server_pid))
