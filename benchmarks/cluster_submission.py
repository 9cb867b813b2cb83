"""What one submission costs on a real Piston server: `cluster_submission.py URL [--server-pid PID]`.

30 tests, judged exhaustively, with a grader and a checker that takes seconds to compile, two slots, the bundled
profile. First with an empty cache, then again with the problem's programs in the cache. CPU time is that of this
process, plus that of the server with all its jobs if its process id is given.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Problem, ProblemKey, SourceFile, Submission, Subtask, TaskType, TestCase, Verdict
from ioi_eval.sandbox.cluster import PistonCluster
from ioi_eval.scorer import Scorer

TESTS, SLOTS = 30, 2
WALL_S, CPU_S = 4.0, 5.0

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
        usage = resource.getrusage(resource.RUSAGE_SELF)
        spent = usage.ru_utime + usage.ru_stime
        if server is not None:
            fields = Path(f"/proc/{server}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            spent += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return spent

    return now


async def measure(url: str, server: int | None) -> None:
    """Score the submission twice."""
    judged, cpu_s = problem(), clock(server)
    submission = Submission(id="x", problem=judged.key, code=CODE)
    with tempfile.TemporaryDirectory() as cache:
        async with PistonCluster([url], max_requests_per_endpoint=SLOTS, profile="bundled") as cluster:
            for what in ("nothing in the cache", "the problem's programs in the cache"):
                scorer = Scorer(cluster, artifacts=ArtifactStore(cache))
                began, spent = time.monotonic(), cpu_s()
                result = await scorer.score(judged, submission, exhaustive=True)
                wall, cpu = time.monotonic() - began, cpu_s() - spent
                if result.verdict is not Verdict.AC:
                    raise SystemExit(f"{result.verdict}: {result.compile.message}")
                print(f"isolation {result.isolation}")
                report(
                    Figure(name=f"{what}: wall clock", value=wall, unit="s", bound=WALL_S),
                    Figure(name=f"{what}: CPU time", value=cpu, unit="CPU-s", bound=CPU_S),
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--server-pid", type=int)
    options = parser.parse_args(arguments())
    asyncio.run(measure(options.url, options.server_pid))
