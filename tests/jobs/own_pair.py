"""A sandbox for our own pair of scripts, and small problems to judge in it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError
from ioi_eval.jobs import scripts_answer, scripts_job
from ioi_eval.jobs.run_setups import plan_protocol
from ioi_eval.model import (
    Batch,
    Blob,
    CheckerProtocol,
    Communication,
    Execution,
    Job,
    JudgeProgram,
    Language,
    Problem,
    ProblemKey,
    ProcessIO,
    SourceFile,
    Subtask,
    TestCase,
)
from ioi_eval.problems.ioi import load_problems
from ioi_eval.programs import Builder
from ioi_eval.rows import open_source
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests.small_problems import small_problem

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
    cxx_std="gnu++17",
)


class Boxes:
    """One sandbox for all tests, the runner that was compiled there, and the sample contest."""

    def __init__(self, loop: asyncio.Runner, sandbox: LocalSandbox, cache: Path) -> None:
        self.loop = loop
        self.sandbox = sandbox
        (self.target,) = sandbox.targets()
        self.runner: Blob = loop.run(Builder(sandbox, ArtifactStore(cache), Policy()).runner(self.target))
        blobs = BlobStore(cache / "blobs")
        contest = load_problems(open_source(sample.problems()), open_source(sample.tests()), blobs)
        self.contest = {
            key.id: dataclasses.replace(problem, cxx_std=PLAIN.cxx_std)  # takes two thirds of the time of gnu++20
            for key, problem in contest.problems.items()
        }

    def execute(self, job: Job) -> Execution:
        """Run a job to its end."""
        return self.loop.run(self.sandbox.execute(job, self.target))


def pair_job(boxes: Boxes, problem: Problem, code: str, case: TestCase = CASE, **config: Any) -> Job:
    """The job of our own pair for a problem in the form of a row. `config` is added to its configuration."""
    method, checker = problem.method, problem.checker
    sources = (*problem.linked_with(Language.CPP), *problem.headers)
    files = [(source.path, source.content) for source in sources]
    files += [("graders/manager.cpp", method.manager.source.content)] if method.manager else []
    files += [(source.path, source.content) for source in (checker.source, *checker.files)] if checker else []
    prefix = f"task_type_parameters_{problem.task_type.value}_"
    settings: dict[str, Any] = {
        "task_type": problem.task_type.value,
        "code": problem.key.id.lower(),
        "time_limit": problem.time_limit_s,
        "memory_limit": problem.memory_limit_bytes,
        "cxx_std": problem.cxx_std,
        "judge_cxx_std": problem.cxx_std,
        "checker_protocol": plan_protocol(method.check) if method.check else CheckerProtocol.CMS.value,
        f"{prefix}io_0_inputfile": method.input_file,
        f"{prefix}io_1_outputfile": method.output_file,
        f"{prefix}num_processes": method.processes,
    }
    if isinstance(method, Communication):
        settings[f"{prefix}user_io"] = method.process_io.value
        settings[f"{prefix}manager_args"] = " ".join(method.manager.args)
    row = {
        "id": problem.key.id,
        "time_limit": problem.time_limit_s,
        "memory_limit": problem.memory_limit_bytes,
        "grader_files": [
            *((name, content.decode()) for name, content in files),
            ("graders/grader_config.json", json.dumps(settings | config)),
        ],
    }
    texts = [None if part is None else content_of(part).decode() for part in (case.input, case.answer)]
    return scripts_job.row_job(row, texts[0] or "", code, texts[1], beside=scripts_job.own_files(boxes.runner))


def content_of(content: bytes | Blob) -> bytes:
    """Test data, in memory or on disk."""
    return content if isinstance(content, bytes) else content.path.read_bytes()


def judged(boxes: Boxes, problem: Problem, code: str, case: TestCase = CASE, **config: Any) -> tuple[str, float, str]:
    """The verdict (read from the feedback), score and message of a program on one test.

    Raises:
        SandboxError: it was not judged.
    """
    return judged_job(boxes, pair_job(boxes, problem, code, case, **config))


def judged_job(boxes: Boxes, job: Job) -> tuple[str, float, str]:
    """The same for a job."""
    execution = boxes.execute(job)
    scripts_answer.require_judged(execution)
    score, feedback = scripts_answer.score_and_feedback(execution)
    return verdict_of(float(score), feedback), float(score), feedback.rstrip("\n")


NAMES = {
    "Compilation error": "CE",
    "Time limit exceeded": "TLE",
    "Memory limit exceeded": "MLE",
    "Output limit exceeded": "OLE",
    "Security violation": "SV",
    "Runtime error": "RE",
}


def verdict_of(score: float, feedback: str) -> str:
    """The name of the verdict that score and feedback express."""
    if score > 0:
        return "AC" if score == 1 else "PA"
    return next((name for words, name in NAMES.items() if feedback.startswith(words)), "WA")


def fault(boxes: Boxes, job: Job) -> SandboxError | None:
    """The error of our own pair that is not the submission's fault; `None` if it has judged."""
    try:
        scripts_answer.require_judged(boxes.execute(job))
    except SandboxError as error:
        return error
    return None


def with_checker(source: str, protocol: CheckerProtocol = CheckerProtocol.CMS) -> Problem:
    """The sum task, judged by a checker."""
    checker = SourceFile(path="checker/checker.cpp", content=b"#include <cstdio>\n" + source.encode())
    return dataclasses.replace(PLAIN, method=Batch(check=JudgeProgram(source=checker, protocol=protocol)))


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


def talking(
    processes: int,
    io: ProcessIO,
    *,
    result: str = 'sum == PROCESSES * 7 ? "1" : "0"',
    checker: JudgeProgram | None = None,
) -> Problem:
    """A task in which each process answers one question of the manager."""
    manager = MANAGER.replace("RESULT", result).replace("PROCESSES", str(processes))
    stub = STUB.replace("USES_FIFOS", str(int(io is ProcessIO.FIFO_IO)))
    program = JudgeProgram(source=SourceFile(path="graders/manager.cpp", content=manager.encode()), args=("a,b%c*",))
    return dataclasses.replace(
        PLAIN,
        method=Communication(manager=program, processes=processes, process_io=io, check=checker),
        linked=(SourceFile(path="graders/stub.cpp", content=stub.encode()),),
    )


SAYS_ITS_PLAN = b"""#!/bin/sh
if [ "$1" = --dir ]; then tr '\\n' ' ' < plan; exit 2; fi
exec ./.true-runner "$@"
"""


def says_its_plan(job: Job) -> Job:
    """The same job with a runner that compiles, and prints its plan instead of judging. `run` reports
    that as an error.
    """
    return with_other_runner(job, SAYS_ITS_PLAN)


def with_other_runner(job: Job, script: bytes) -> Job:
    """The same job with a script in the place of the runner, which becomes `.true-runner`."""
    (runner,) = (file for file in job.files if file.name == "runner")
    others = tuple(file for file in job.files if file.name != "runner")
    moved = dataclasses.replace(runner, name=".true-runner"), dataclasses.replace(runner, content=script)
    return dataclasses.replace(job, files=(*others, *moved))


def with_config(job: Job, config: str) -> Job:
    """The same job with another configuration."""
    return with_file(job, "graders/grader_config.json", config.encode())


def with_file(job: Job, name: str, content: bytes) -> Job:
    """The same job with another content of a file."""
    files = tuple(dataclasses.replace(file, content=content) if file.name == name else file for file in job.files)
    return dataclasses.replace(job, files=files)
