"""Memory: MLE is distinguished from other failures, and the peak is right, in the embedded sandbox and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import IsolationError
from ioi_eval.model import Isolation, Problem, Submission, TestOutcome, Verdict
from ioi_eval.programs import Builder
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.serve.server import serving
from ioi_eval.scorer import Scorer
from tests.one_processor import PEAK_ERROR_BYTES, one_processor

MIB = 1024 * 1024

PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

const size_t MIB = 1 << 20;
static char untouched[900 * MIB];
static char touched[900 * MIB];

void touch(volatile char* from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 4096) from[at] = static_cast<char>(at >> 12 | 1);
}
__attribute__((noinline)) int recurse(int depth) {
    volatile char frame[1024];
    frame[depth & 1023] = 1;
    return depth == 0 ? 0 : recurse(depth - 1) + frame[depth & 1023] - 1;
}
int main() {
    char word[32] = "";
    size_t number = 0;
    if (scanf("%31s %zu", word, &number) != 2) return 1;
    std::string mode = word;
    const size_t bytes = number * MIB;
    if (mode == "new") touch(new char[bytes], bytes);
    if (mode == "vector") {  // grows by copies, as everybody's does
        std::vector<int> values;
        for (size_t i = 0; i < bytes / sizeof(int); ++i) values.push_back(static_cast<int>(i));
    }
    if (mode == "malloc") touch(static_cast<char*>(malloc(bytes)), bytes);
    if (mode == "mmap") touch(static_cast<char*>(mmap(0, bytes, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes);
    if (mode == "static") touch(touched, bytes);
    if (mode == "untouched") untouched[5] = 1;
    if (mode == "reserved") {  // asked for and never used
        std::vector<char*> blocks;
        for (size_t i = 0; i < number; ++i) blocks.push_back(static_cast<char*>(malloc(MIB)));
    }
    if (mode == "recursion" && recurse(static_cast<int>(bytes / 1072)) != 0) return 2;
    if (mode == "fragments") {  // half of it is freed, and no page of it
        std::vector<char*> blocks;
        for (size_t done = 0; done < bytes; done += 1024) {
            blocks.push_back(static_cast<char*>(malloc(1000)));
            touch(blocks.back(), 1);
        }
        for (size_t i = 0; i < blocks.size(); i += 2) free(blocks[i]);
    }
    if (mode == "freed") {  // the peak counts, not what is left
        for (int i = 0; i < 3; ++i) {
            char* block = static_cast<char*>(malloc(bytes));
            touch(block, bytes);
            free(block);
        }
    }
    if (mode == "threads") {
        std::vector<std::thread> threads;
        for (int i = 0; i < 16; ++i)
            threads.emplace_back([&] { touch(static_cast<char*>(malloc(bytes / 16)), bytes / 16); });
        for (auto& thread : threads) thread.join();
    }
    if (mode == "impossible") {  // more address space than anybody has
        try {
            touch(new char[1ull << 45], 1ull << 45);
        } catch (const std::bad_alloc&) {
            return 3;
        }
    }
    puts("done");
}
"""

LIMIT_MIB = 64

CASES: dict[str, tuple[str, Verdict]] = {
    **{f"{mode} below": (f"{mode} 40", Verdict.AC) for mode in ("new", "malloc", "mmap", "static", "threads")},
    **{f"{mode} above": (f"{mode} 100", Verdict.MLE) for mode in ("new", "malloc", "mmap", "static", "threads")},
    "vector below": ("vector 16", Verdict.AC),
    "vector above": ("vector 60", Verdict.MLE),
    "large array, untouched": ("untouched 0", Verdict.AC),
    "asked for and never used": ("reserved 500", Verdict.AC),
    "recursion below": ("recursion 40", Verdict.AC),
    "recursion above": ("recursion 100", Verdict.MLE),
    "recursion without end": ("recursion 2000", Verdict.MLE),
    "fragments below": ("fragments 40", Verdict.AC),
    "fragments above": ("fragments 100", Verdict.MLE),
    "freed, below": ("freed 40", Verdict.AC),
    "freed, above": ("freed 100", Verdict.MLE),
    "no memory to be had": ("impossible 0", Verdict.RE),
}
"""What a program does with a memory limit of 64 MiB, and the expected verdict."""


def test_memory_limit_is_distinguished_from_a_crash(bench: Any, problem_from: Any) -> None:
    """Use of more memory than the limit is MLE, not RE, whatever call allocates it. Untouched pages do not count."""
    tests = {name: (f"{order}\n".encode(), b"done\n") for name, (order, _) in CASES.items()}
    problem = problem_from(tests, time_limit_s=10.0, memory_limit_bytes=LIMIT_MIB * MIB)
    found = bench.outcomes(problem, PROGRAM)
    assert {name: found[name].verdict for name in CASES} == {name: verdict for name, (_, verdict) in CASES.items()}
    assert found["no memory to be had"].exit_code == 3
    for outcome in found.values():
        if outcome.verdict is Verdict.MLE:
            assert (outcome.memory_bytes or 0) > LIMIT_MIB * MIB


Outcomes = Callable[[Problem, str], dict[str, TestOutcome]]

SIZES = (1, 4, 16, 64)
LEAST_MIB = {"malloc": 1, "mmap": 1, "static": 1, "freed": 1, "threads": 64}
"""The smallest size in MiB for each kind of memory. The stacks of 16 threads are more than 5 % of small sizes."""


@pytest.fixture(scope="module")
def over_http(cache: Path) -> Iterator[Outcomes]:
    """Judges on a worker like `ioi-eval serve`, over real sockets."""
    store = ArtifactStore(cache)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def start() -> Scorer:
            worker = await stack.enter_async_context(LocalSandbox(slots=1))
            (target,) = worker.targets()
            program = await Builder(worker, store, Policy()).runner(target)
            try:
                address = await stack.enter_async_context(serving(worker, runner=program, port=0))
            except IsolationError as error:
                pytest.skip(str(error))
            cluster = await stack.enter_async_context(PistonCluster([address], profile="bundled"))
            return Scorer(cluster, artifacts=store)

        try:
            scorer = runner.run(start())

            def outcomes(problem: Problem, code: str) -> dict[str, TestOutcome]:
                submission = Submission(id="program", problem=problem.key, code=code)
                result = runner.run(scorer.score(problem, submission, exhaustive=True))
                assert result.compile.verdict is None, result.compile.message
                return {test.test: test for subtask in result.subtasks for test in subtask.tests}

            yield outcomes
        finally:
            runner.run(stack.aclose())


@pytest.fixture(params=["full", "reduced", "over-http"])
def judge(request: pytest.FixtureRequest) -> Outcomes:
    """The function that judges: at each isolation level, and over HTTP."""
    if request.param == "over-http":
        return request.getfixturevalue("over_http")  # type: ignore[no-any-return]
    return request.getfixturevalue("benches")(Isolation(request.param)).outcomes  # type: ignore[no-any-return]


def test_peak_memory_is_exact_within_5_percent(judge: Outcomes, problem_from: Any) -> None:
    """The peak is the allocated memory plus the program's own, within 5 % and the kernel's error.

    The program's own memory is measured with an allocation of 2 MiB: before it starts, its process is a copy of the
    runner, whose peak of about a megabyte would hide less.
    """
    orders = {f"{mode} {size}": size for mode in LEAST_MIB for size in SIZES if size >= LEAST_MIB[mode]}
    tests = {order: (f"{order}\n".encode(), b"done\n") for order in ("nothing 0", "mmap 2", *orders)}
    problem = problem_from(tests, time_limit_s=30.0, memory_limit_bytes=2048 * MIB)
    with one_processor():
        found = judge(problem, PROGRAM)
    assert {outcome.verdict for outcome in found.values()} == {Verdict.AC}
    assert 0 < (found["nothing 0"].memory_bytes or 0) < 2 * MIB
    itself = (found["mmap 2"].memory_bytes or 0) - 2 * MIB
    assert 0 < itself < 2 * MIB
    wrong = {
        order: (size, round(((found[order].memory_bytes or 0) - itself) / MIB, 2))
        for order, size in orders.items()
        if (found[order].memory_bytes or 0) - itself != pytest.approx(size * MIB, rel=0.05, abs=PEAK_ERROR_BYTES)
    }
    assert not wrong
