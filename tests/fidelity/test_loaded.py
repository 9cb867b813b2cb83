"""Verdicts on a busy machine: a program that computes too long is TLE, one that waits for a processor is not.

Without `--full`, only the ways in which a program uses and loses time are tried. They decide the verdicts of the sample
contest too, whose other limits do not depend on the load.

The programs measure their own CPU time and stop far below or far above the limit. So the results do not depend on the
speed of the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.kept_programs import KeptPrograms
from ioi_eval.model import Communication, Isolation, JudgeProgram, SourceFile, SubmissionResult, Verdict
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from ioi_eval.validate import ValidationRun
from ioi_eval.validate.comparison import Validation
from ioi_eval.validate.statements import StatedSolutions, read_solutions
from tests.busy_processes import WALKS, busy_processes
from tests.one_processor import one_processor

BUSY = 1
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
    if (mode == "doze")  // many short waits, like those of a program that waits for a disk or a pipe
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
"""What a program does with a time limit of 0.5 s, and the expected verdict."""


@pytest.fixture(scope="module")
def busy() -> Iterator[None]:
    """A process that walks through memory, on the one processor that the tests use too."""
    with one_processor(), busy_processes(BUSY, WALKS):
        yield


def verdicts(result: SubmissionResult) -> dict[str, Verdict]:
    """The verdicts by subtask."""
    return {subtask.subtask: subtask.verdict for subtask in result.subtasks}


def test_time_is_cpu_time_and_idle_time(busy: None, benches: Callable[[Isolation], Any], problem_from: Any) -> None:
    """CPU time is summed over threads. Idle time stops sleeping programs. Waiting for a processor does not count.

    Reduced isolation is tried here, full isolation with two processes below: on a busy machine both take long.
    """
    problem = problem_from(
        {name: (given, b"done\n") for name, (given, _) in CASES.items()}, time_limit_s=0.5, memory_limit_bytes=1 << 28
    )
    result = benches(Isolation.REDUCED).result(problem, PROGRAM)
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
    """Two processes that use 0.35 s each are over a limit of 0.5 s; two that use 0.1 s are not."""
    problem = problem_from(
        {"below": (b"burn 0.1\n", None), "above": (b"burn 0.35\n", None)},
        method=Communication(manager=JudgeProgram(source=MANAGER), processes=2),
        time_limit_s=0.5,
    )
    assert verdicts(full_bench.result(problem, PROGRAM)) == {"below": Verdict.AC, "above": Verdict.TLE}


def reading(cache: Path) -> StatedSolutions:
    """All solutions of the sample contest with their labels."""
    problems = load_problems(open_source(str(sample.problems())), open_source(str(sample.tests())), BlobStore(cache))
    return read_solutions(open_source(str(sample.solutions())), problems)


def scorer_for(sandbox: LocalSandbox, cache: Path) -> Scorer:
    """A scorer that keeps compiled programs."""
    return Scorer(sandbox, artifacts=ArtifactStore(cache), kept_programs=KeptPrograms(cache))


async def judged(found: StatedSolutions, cache: Path) -> Validation:
    """Validate the solutions, two at once."""
    async with LocalSandbox(slots=2) as sandbox:
        validating = ValidationRun(found, scorer_for(sandbox, cache))
        await validating.run(workers=3)
        return validating.validation()


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_all_stated_verdicts_are_reached_ten_times(busy: None, cache: Path) -> None:
    """All solutions get the stated verdicts in each of ten runs, without a JE."""
    found = reading(cache)
    for _ in range(10):
        validation = asyncio.run(judged(found, cache))
        assert (validation.disagreements, validation.undecided) == ([], [])
