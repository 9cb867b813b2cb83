"""A sandbox for our own pair of scripts, and small problems to judge in it."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

from small_problems import small_problem

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.jobs import classic
from ioi_eval.jobs.classic_answer import compile_outcome
from ioi_eval.jobs.classic_answer import test_outcome as outcome_of
from ioi_eval.model import (
    Blob,
    CheckerProtocol,
    Execution,
    Job,
    Problem,
    ProblemKey,
    ProcessIO,
    SourceFile,
    Subtask,
    TaskType,
    TestCase,
)
from ioi_eval.problems.ioi import load_problems
from ioi_eval.programs import Builder
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local import LocalSandbox

SUM = """#include <cstdio>
int main() { int a, b; if (scanf("%d %d", &a, &b) != 2) return 2; printf("%d\\n", a + b); }
"""

CASE = TestCase(name="t", input=b"20 22\n", answer=b"42\n")

PLAIN = small_problem(
    key=ProblemKey(year=2026, id="Sum"),
    name="Sum",
    memory_limit_bytes=64 << 20,
    subtasks=(Subtask(name="01", points=100.0, tests=("t",)),),
    tests={"t": CASE},
    checker_protocol=CheckerProtocol.WHITE_DIFF,
    cxx_std="gnu++17",
)


class Boxes:
    """One sandbox for all tests, the runner as it was compiled there, and the sample contest."""

    def __init__(self, loop: asyncio.Runner, sandbox: LocalSandbox, cache: Path) -> None:
        self.loop = loop
        self.sandbox = sandbox
        (self.target,) = sandbox.targets()
        self.runner: Blob = loop.run(Builder(sandbox, ArtifactStore(cache), Policy()).runner(self.target))
        blobs = BlobStore(cache / "blobs")
        contest = load_problems(open_source(sample.problems()), open_source(sample.tests()), blobs)
        self.contest = {key.id: problem for key, problem in contest.problems.items()}

    def execute(self, job: Job) -> Execution:
        """Run a job to its end."""
        return self.loop.run(self.sandbox.execute(job, self.target))


def judged(
    boxes: Boxes, runner: Blob | None, problem: Problem, code: str, case: TestCase = CASE
) -> tuple[str, float | None, str]:
    """Verdict, score and message of a program on one test."""
    execution = boxes.execute(classic.job(problem, case, code, pair=classic.own_pair(), runner=runner))
    compiled = compile_outcome(execution)
    if compiled.verdict is not None:
        return compiled.verdict.value, None, compiled.message
    outcome = outcome_of(execution, case.name)
    return outcome.verdict.value, outcome.score, outcome.message


def with_checker(source: str, protocol: CheckerProtocol = CheckerProtocol.CMS) -> Problem:
    """The sum, judged by a program."""
    checker = SourceFile(path="checker/checker.cpp", content=b"#include <cstdio>\n" + source.encode())
    return dataclasses.replace(PLAIN, checker=checker, checker_protocol=protocol)


MANAGER = """#include <cstdio>
#include <cstdlib>
int main(int argc, char **argv) {
    int processes = PROCESSES, sum = 0, in;
    if (scanf("%d", &in) != 1) return 1;
    for (int i = 0; i < processes; i++) {
        FILE *to = fopen(argv[2 + 2 * i], "w"), *from = fopen(argv[1 + 2 * i], "r");
        fprintf(to, "%d\\n", in); fflush(to);
        int got; if (fscanf(from, "%d", &got) != 1) got = 0;
        sum += got;
    }
    printf(RESULT);
    fprintf(stderr, "%d processes, argument %s", processes, argc > 1 + 2 * processes ? argv[1 + 2 * processes] : "-");
}
"""

STUB = """#include <cstdio>
#include <cstdlib>
int answer(int, int);
int main(int argc, char **argv) {
    FILE *in = USES_FIFOS ? fopen(argv[1], "r") : stdin, *out = USES_FIFOS ? fopen(argv[2], "w") : stdout;
    int n, index = argc > (USES_FIFOS ? 3 : 1) ? atoi(argv[argc - 1]) : 0;
    if (fscanf(in, "%d", &n) != 1) return 1;
    fprintf(out, "%d\\n", answer(n, index)); fflush(out);
}
"""


def talking(processes: int, io: ProcessIO, *, result: str = 'sum == PROCESSES * 7 ? "1" : "0"') -> Problem:
    """A task in which each process answers one question of the manager's."""
    manager = MANAGER.replace("RESULT", result).replace("PROCESSES", str(processes))
    stub = STUB.replace("USES_FIFOS", str(int(io is ProcessIO.FIFO_IO)))
    return dataclasses.replace(
        PLAIN,
        task_type=TaskType.COMMUNICATION,
        linked=(SourceFile(path="graders/stub.cpp", content=stub.encode()),),
        manager=SourceFile(path="graders/manager.cpp", content=manager.encode()),
        manager_args=("a,b%c*",),
        checker_protocol=CheckerProtocol.CMS,
        processes=processes,
        process_io=io,
    )


def with_config(job: Job, config: str) -> Job:
    """The same job with another configuration."""
    files = tuple(
        dataclasses.replace(file, content=config.encode()) if file.name == "graders/grader_config.json" else file
        for file in job.files
    )
    return dataclasses.replace(job, files=files)
