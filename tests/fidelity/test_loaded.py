"""Verdicts with busy processes: a program that computes too long is TLE, one that waits for a processor is not.

Times in here are CPU times that the programs themselves keep to, far from the limit on either side. So the tests say
nothing about how fast a machine is, and may take as long as they like.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.kept_programs import KeptPrograms
from ioi_eval.model import SourceFile, SubmissionResult, TaskType, Verdict
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from ioi_eval.validate import StatedSolutions, Validating, Validation, read_solutions
from tests.busy_processes import COMPUTES, WALKS, busy_processes

BUSY = 4
FEW = (
    ("berths", "model_solution/heap.cpp"),
    ("berths", "memory_limit/timetable.cpp"),
    ("buoys", "time_limit/flash-by-flash.cpp"),
    ("lamps", "time_limit/waits-for-more.cpp"),
    ("keepers", "correct/talks-to-himself.cpp"),
    ("keepers", "time_limit/first-keeper.cpp"),
)
"""A small part of the sample contest: right, too slow, too large and asleep; with one and with two processes."""

PROGRAM = """
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

double now(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
void burn(double seconds) {
    while (now(CLOCK_THREAD_CPUTIME_ID) < seconds) {}
}
int main() {
    char word[32] = "";
    double seconds = 0;
    if (scanf("%31s %lf", word, &seconds) != 2) return 1;
    std::string mode = word;
    if (mode == "burn") burn(seconds);
    if (mode == "threads") {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back(burn, seconds / 4);
        for (auto& thread : threads) thread.join();
    }
    if (mode == "sleep") usleep(static_cast<useconds_t>(seconds * 1e6));
    if (mode == "doze")  // many short waits, as a program has that waits for a disk or a pipe
        for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end;) usleep(1000);
    if (mode == "stop") raise(SIGSTOP);
    if (mode == "files")
        for (int i = 0; i < 200; ++i) {
            FILE* file = fopen("scratch", "w+");
            if (!file) return 2;
            std::string block(65536, 'x');
            fwrite(block.data(), 1, block.size(), file);
            rewind(file);
            if (fread(&block[0], 1, block.size(), file) != block.size()) return 3;
            fclose(file);
        }
    if (mode == "read") {
        long letters = 0;
        for (int c; (c = getchar()) != EOF;) letters += c == 'x';
        if (letters != 4 << 20) return 4;
    }
    puts("done");
}
"""

CASES = {
    "far below": (b"burn 0.25\n", Verdict.AC),
    "far above": (b"burn 5\n", Verdict.TLE),
    "threads below": (b"threads 0.25\n", Verdict.AC),
    "threads above in sum": (b"threads 0.9\n", Verdict.TLE),
    "short sleep": (b"sleep 0.5\n", Verdict.AC),
    "long sleep": (b"sleep 600\n", Verdict.TLE),
    "many short waits": (b"doze 0.5\n", Verdict.AC),
    "waits for ever": (b"doze 600\n", Verdict.TLE),
    "stopped": (b"stop 0\n", Verdict.TLE),
    "files": (b"files 0\n", Verdict.AC),
    "large input": (b"read 0\n" + b"x" * (4 << 20) + b"\n", Verdict.AC),
}
"""What a program does under a limit of 0.5 s, and what becomes of it."""


@pytest.fixture(scope="module")
def quiet(cache: Path) -> StatedSolutions:
    """A few solutions of the sample contest. They and their problems' programs are compiled while nothing is busy."""
    found = reading(cache)
    few = tuple(each for each in found.solutions if (each.problem.key.id, each.name) in FEW)
    assert len(few) == len(FEW)

    async def compile_all() -> None:
        async with LocalSandbox(slots=2) as sandbox:
            scorer = scorer_for(sandbox, cache)
            for each in few:
                samples = replace(each.problem, subtasks=each.problem.subtasks[:1])
                assert (await scorer.score(samples, each.submission)).compile.verdict is None

    asyncio.run(compile_all())
    return StatedSolutions(solutions=few, refused=(), silent=0)


@pytest.fixture(scope="module")
def busy(quiet: StatedSolutions) -> Iterator[None]:
    """Four processes that compute and walk through memory, on one processor, which is all that the tests have too."""
    before = os.sched_getaffinity(0)
    try:
        stay_on({max(before)})
        with busy_processes(BUSY, COMPUTES, WALKS):
            yield
    finally:
        stay_on(before)


def stay_on(processors: set[int]) -> None:
    """Let this process, and what its threads start from now on, have these processors."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), processors)


def verdicts(result: SubmissionResult) -> dict[str, Verdict]:
    """By subtask."""
    return {subtask.subtask: subtask.verdict for subtask in result.subtasks}


def test_time_is_cpu_time_and_idle_time(busy: None, bench: Any, problem_from: Any) -> None:
    """Threads are summed, sleeping and stopped programs end by the idle rule, and the queue for a processor is free."""
    problem = problem_from(
        {name: (given, b"done\n") for name, (given, _) in CASES.items()}, time_limit_s=0.5, memory_limit_bytes=1 << 28
    )
    result = bench.result(problem, PROGRAM)
    expected = {name: verdict for name, (_, verdict) in CASES.items()}
    other = [s.tests[0] for s in result.subtasks if s.verdict != expected[s.subtask]]
    assert verdicts(result) == expected, other
    limits = {subtask.subtask: subtask.tests[0].limit for subtask in result.subtasks}
    assert {name for name, limit in limits.items() if limit == "idle"} == {"long sleep", "waits for ever", "stopped"}
    assert {name for name, limit in limits.items() if limit == "cpu"} == {"far above", "threads above in sum"}


MANAGER = SourceFile(
    path="graders/manager.sh",
    content=b"""#!/bin/bash
read -r line
exec 4>"$2" 3<"$1" 6>"$4" 5<"$3"
echo "$line" >&4; echo "$line" >&6
read -r one <&3; read -r two <&5
[ "$one$two" = donedone ] && echo 1.0 || echo 0.0
echo said >&2
""",
)


def test_processes_of_a_submission_are_summed(busy: None, full_bench: Any, problem_from: Any) -> None:
    """Two processes of 0.35 s each are over a limit of 0.5 s, two of 0.1 s are not."""
    problem = problem_from(
        {"below": (b"burn 0.1\n", None), "above": (b"burn 0.35\n", None)},
        task_type=TaskType.COMMUNICATION,
        manager=MANAGER,
        processes=2,
        time_limit_s=0.5,
    )
    assert verdicts(full_bench.result(problem, PROGRAM)) == {"below": Verdict.AC, "above": Verdict.TLE}


def reading(cache: Path) -> StatedSolutions:
    """All solutions of the sample contest with what is stated of them."""
    problems = load_problems(open_source(str(sample.problems())), open_source(str(sample.tests())), BlobStore(cache))
    return read_solutions(open_source(str(sample.solutions())), problems)


def scorer_for(sandbox: LocalSandbox, cache: Path) -> Scorer:
    """One that keeps the programs that it compiles."""
    return Scorer(sandbox, artifacts=ArtifactStore(cache), kept_programs=KeptPrograms(cache))


async def judged(found: StatedSolutions, cache: Path) -> Validation:
    """Validate, two at once."""
    async with LocalSandbox(slots=2) as sandbox:
        validating = Validating(found, scorer_for(sandbox, cache))
        await validating.run(workers=3)
        return validating.validation()


def test_stated_verdicts_hold_on_a_loaded_machine(busy: None, quiet: StatedSolutions, cache: Path) -> None:
    """Some solutions of the sample contest, judged on every test."""
    validation = asyncio.run(judged(quiet, cache))
    assert (validation.disagreements, validation.undecided) == ([], [])


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_all_stated_verdicts_hold_ten_times(busy: None, cache: Path) -> None:
    """The whole contest, ten times: nothing flips, and nothing is a judge error."""
    found = reading(cache)
    for _ in range(10):
        validation = asyncio.run(judged(found, cache))
        assert (validation.disagreements, validation.undecided) == ([], [])
