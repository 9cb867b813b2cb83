"""The cost of one submission on a real Piston server: `cluster_submission.py URL [--server-pid PID] [--ioi-client
DIR]`.

It has 30 tests, judged exhaustively, a grader, and a checker that takes seconds to compile. There are two slots, and
the profile is bundled. It is scored first with an empty cache, then five times with the problem's programs in the
cache; and the same in the embedded sandbox. In a checkout, the embedded sandbox also compiles the runner (about 7
CPU-s) if the cache is empty. CPU time is that of this process and its children, plus that of the server with all its
jobs if its process id is given.

DIR is a checkout of huggingface/ioi. Its client then scores the same submission once on the same server, with as many
requests at a time as we have slots. It uses its own package (`cms_ioi`), which must be on the server: each test is a
request, whose job compiles checker, grader and program. It stores nothing. Its CPU time is counted in the same way. Its
limit of 10 s for an answer is removed: on a slow machine it would repeat requests that are still running.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import Figure, arguments, report
from peers import Peer

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import (
    Batch,
    Blob,
    JudgeProgram,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.scorer import Scorer

TESTS, SLOTS = 30, 2
WALL_S, CPU_S = 4.0, 5.0
WARM = 5
AGAINST_EMBEDDED = 1.15
UNKNOWN, KNOWN = "nothing in the cache", "the problem's programs in the cache"
THEIR_CLIENT = "Hugging Face's client"

Costs = dict[str, tuple[float, float]]
"""Wall clock and CPU time, in s, by what is in the cache."""

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
        method=Batch(check=JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=CHECKER))),
        time_limit_s=1.0,
        memory_limit_bytes=1 << 28,
        subtasks=(Subtask(name="01", points=100.0, tests=tuple(tests)),),
        tests=tests,
        linked=(SourceFile(path="graders/grader.cpp", content=GRADER),),
        headers=(SourceFile(path="graders/sum.h", content=HEADER),),
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


async def measure(url: str, server: int | None) -> Costs:
    """Score the submission on the server and in the embedded sandbox: with an empty cache, then `WARM` times.

    Returns the costs on the server.
    """
    cluster = PistonCluster([url], max_requests_per_endpoint=SLOTS, profile="bundled")
    on_server = await measure_on(cluster, "the server", clock(server))
    embedded = await measure_on(LocalSandbox(slots=SLOTS), "embedded", clock(None))
    if server is not None:
        ratio = on_server[KNOWN][1] / embedded[KNOWN][1]
        report(Figure(name=f"{KNOWN}: CPU time / embedded", value=ratio, unit="×", bound=AGAINST_EMBEDDED))
    return on_server


async def measure_on(sandbox: PistonCluster | LocalSandbox, where: str, cpu_s: Callable[[], float]) -> Costs:
    """Report the costs of the submission: of the first run, and the median with the problem's programs in the cache."""
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
    costs = {UNKNOWN: (walls[0], cpus[0]), KNOWN: (statistics.median(walls[1:]), statistics.median(cpus[1:]))}
    for what, (wall, cpu) in costs.items():
        report(
            Figure(name=f"{where}, {what}: wall clock", value=wall, unit="s", bound=wall_bound),
            Figure(name=f"{where}, {what}: CPU time", value=cpu, unit="CPU-s", bound=cpu_bound),
        )
    return costs


def subtask() -> dict[str, Any]:
    """The same problem in the format of Hugging Face's client."""
    judged = problem()
    settings = {
        "task_type": "Batch",
        "code": judged.key.id,
        "time_limit": judged.time_limit_s,
        "memory_limit": judged.memory_limit_bytes,
    }
    files = {"graders/grader.cpp": GRADER, "graders/sum.h": HEADER, "checker/checker.cpp": CHECKER}
    return {
        "id": judged.key.id,
        "subtask": "01",
        "score": 100.0,
        "score_precision": 2,
        "time_limit": judged.time_limit_s,
        "memory_limit": judged.memory_limit_bytes,
        "test_names": list(judged.tests),
        "test_cases": {name: [text(test.input), text(test.answer)] for name, test in judged.tests.items()},
        "grader_files": [
            *([name, content.decode()] for name, content in files.items()),
            ["graders/grader_config.json", json.dumps(settings, separators=(",", ":"))],
        ],
    }


def text(data: bytes | Blob | None) -> str:
    """The text of an input or an answer."""
    assert isinstance(data, bytes)
    return data.decode()


def refuse_our_package(url: str) -> None:
    """Check that the server will run their jobs with their package: ours has the same name.

    Raises:
        SystemExit: it has only ours, or ours has a version that is not lower.
    """
    with urllib.request.urlopen(f"{url}/api/v2/runtimes", timeout=10) as answer:
        named = [each for each in json.load(answer) if "cms_ioi" in (each["language"], *each["aliases"])]
    versions = {each["language"]: tuple(map(int, each["version"].split("."))) for each in named}
    ours = versions.pop("ioi_eval", (-1,))
    if not any(version > ours for version in versions.values()):
        raise SystemExit("the server needs Hugging Face's package cms_ioi, under a higher version than that of ours")


def compare(url: str, server: int, checkout: Path, ours: Costs) -> None:
    """Score the submission with Hugging Face's client. Report its costs, and ours divided by them."""
    refuse_our_package(url)
    peer = Peer(sys.executable, "ioi_client.py", str(checkout.resolve()), url, str(SLOTS))
    of_server = clock(server)
    task = {"subtask": subtask(), "code": CODE}
    began, spent = time.monotonic(), of_server()
    statuses = peer(task)
    wall, cpu = time.monotonic() - began, of_server() - spent + peer.cpu_s
    peer.end()
    if set(statuses) != {"AC"} or len(statuses) != TESTS:
        raise SystemExit(f"{THEIR_CLIENT} found {statuses}")
    report(
        Figure(name=f"{THEIR_CLIENT}: wall clock", value=wall, unit="s"),
        Figure(name=f"{THEIR_CLIENT}: CPU time", value=cpu, unit="CPU-s"),
        *(
            Figure(name=f"{what}: {kind}: ours / {THEIR_CLIENT}", value=mine / theirs, unit="×")
            for what, costs in ours.items()
            for kind, mine, theirs in zip(("wall clock", "CPU time"), costs, (wall, cpu), strict=True)
        ),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--server-pid", type=int)
    parser.add_argument("--ioi-client", type=Path, metavar="DIR")
    options = parser.parse_args(arguments())
    if options.ioi_client is not None and options.server_pid is None:
        parser.error("--ioi-client needs --server-pid: the server does nearly all of the work")
    costs = asyncio.run(measure(options.url, options.server_pid))
    if options.ioi_client is not None:
        compare(options.url, options.server_pid, options.ioi_client, costs)
