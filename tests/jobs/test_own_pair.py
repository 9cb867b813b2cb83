"""Our own pair of scripts, in real boxes, with the runner and without: the same rules either way."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.errors import TransientError
from ioi_eval.jobs import classic
from ioi_eval.jobs.classic_answer import compile_outcome, score_and_feedback
from ioi_eval.jobs.classic_answer import test_outcome as outcome_of
from ioi_eval.model import (
    Blob,
    CheckerProtocol,
    Execution,
    Isolation,
    Job,
    JobFile,
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

SOLUTIONS: dict[str, dict[str, Any]] = {
    f"{row['problem_id']}/{row['label']}": row for row in map(json.loads, sample.solutions().open(encoding="utf-8"))
}

SUM = """#include <cstdio>
int main() { int a, b; if (scanf("%d %d", &a, &b) != 2) return 2; printf("%d\\n", a + b); }
"""
CASE = TestCase(name="t", input=b"20 22\n", answer=b"42\n")
PLAIN = Problem(
    key=ProblemKey(year=2026, id="Sum"),
    name="Sum",
    task_type=TaskType.BATCH,
    time_limit_s=1.0,
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


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boxes]:
    """A sandbox with full isolation."""
    cache = tmp_path_factory.mktemp("cache")
    with asyncio.Runner() as loop:
        sandbox = LocalSandbox(slots=1)
        loop.run(sandbox.__aenter__())
        try:
            if sandbox.targets()[0].isolation is not Isolation.FULL:
                pytest.skip(f"no full isolation here: {sandbox.why_not_full}")
            yield Boxes(loop, sandbox, cache)
        finally:
            loop.run(sandbox.__aexit__(None, None, None))


@pytest.fixture(params=["with the runner", "without"])
def runner(request: pytest.FixtureRequest, boxes: Boxes) -> Blob | None:
    """What travels along with the pair."""
    return boxes.runner if request.param == "with the runner" else None


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


@pytest.mark.parametrize(
    ("label", "test", "verdict"),
    [
        ("berths/model_solution/heap.cpp", "0-01", "AC"),
        ("berths/partially_correct/one-each.cpp", "0-01", "PA"),
        ("berths/incorrect/one-for-all.cpp", "0-01", "WA"),
        ("berths/output_limit/flood.cpp", "0-01", "OLE"),
        ("berths/time_limit/exhaustive.cpp", "2-01", "TLE"),
        ("buoys/memory_limit/second-by-second.cpp", "2-01", "MLE"),
        ("buoys/runtime_error/gives-up.cpp", "0-01", "RE"),
        ("buoys/correct/ragged-blanks.cpp", "0-01", "AC"),
        ("lamps/model_solution/halving.cpp", "0-01", "AC"),
        ("lamps/protocol_violation/goes-home.cpp", "0-01", "WA"),
        ("lamps/runtime_error/last-lamp.cpp", "0-01", "RE"),
        ("lamps/time_limit/waits-for-more.cpp", "0-01", "TLE"),
        ("keepers/model_solution/halving.cpp", "0-01", "AC"),
        ("keepers/incorrect/shared-notebook.cpp", "0-01", "WA"),
        ("keepers/memory_limit/second-keeper.cpp", "2-01", "MLE"),
        ("keepers/runtime_error/second-keeper.cpp", "2-01", "RE"),
        ("keepers/compile_error/two-arguments.cpp", "0-01", "CE"),
    ],
)
def test_sample_solutions(boxes: Boxes, runner: Blob | None, label: str, test: str, verdict: str) -> None:
    """Every verdict of the sample contest, in both kinds of tasks, is the bundled profile's."""
    problem = boxes.contest[label.split("/", maxsplit=1)[0]]
    found, score, message = judged(boxes, runner, problem, SOLUTIONS[label]["code"], problem.tests[test])
    assert found == verdict, message
    assert score == {"AC": 1.0, "PA": 0.7, "CE": None}.get(verdict, 0.0)


def with_checker(source: str, protocol: CheckerProtocol = CheckerProtocol.CMS) -> Problem:
    """The sum, judged by a program."""
    checker = SourceFile(path="checker/checker.cpp", content=b"#include <cstdio>\n" + source.encode())
    return dataclasses.replace(PLAIN, checker=checker, checker_protocol=protocol)


@pytest.mark.parametrize(
    ("source", "protocol", "found"),
    [
        ('int main() { puts(" 0.25 "); fputs("half\\nmore", stderr); }', "cms", ("PA", 0.25, "half")),
        ('int main() { puts("1"); fputs("translate:success", stderr); }', "cms", ("AC", 1.0, "Output is correct")),
        (
            'int main() { puts("0"); fputs("na\\xc3\\xafve \\"\\\\n\\" %d", stderr); }',
            "cms",
            ("WA", 0.0, 'naïve "\\n" %d'),
        ),
        ("int main() { return 1; }", "testlib", ("WA", 0.0, "")),
        ('int main() { fputs("points 0.5", stderr); return 7; }', "testlib", ("PA", 0.5, "points 0.5")),
        ("int main() { return 42; }", "kattis", ("AC", 1.0, "")),
        ("int main() { return 43; }", "kattis", ("WA", 0.0, "")),
    ],
)
def test_checker_protocols(
    boxes: Boxes, runner: Blob | None, source: str, protocol: str, found: tuple[str, float, str]
) -> None:
    """Score and message of a checker, in each protocol."""
    assert judged(boxes, runner, with_checker(source, CheckerProtocol(protocol)), SUM) == found


def test_checker_gets_input_answer_and_output(boxes: Boxes, runner: Blob | None) -> None:
    """In CMS's order, each as it is."""
    source = """int main(int, char **argv) {
        int a, b, right, said;
        FILE *in = fopen(argv[1], "r"), *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
        if (fscanf(in, "%d %d", &a, &b) != 2 || fscanf(answer, "%d", &right) != 1) return 1;
        if (fscanf(output, "%d", &said) != 1) return 1;
        puts(a == 20 && b == 22 && right == 42 && said == -2 ? "1" : "0");
    }"""
    assert judged(boxes, runner, with_checker(source), SUM.replace("a + b", "a - b"))[:2] == ("AC", 1.0)


@pytest.mark.parametrize(
    "source",
    ["int main() { return 1; }", 'int main() { puts("nan"); }', 'int main() { puts("1.5"); }', "int main() {}"],
)
def test_a_checker_that_fails_is_no_score(boxes: Boxes, runner: Blob | None, source: str) -> None:
    """The checker's fault is JE for us, and nothing that any client can take for a score."""
    execution = boxes.execute(classic.job(with_checker(source), CASE, SUM, pair=classic.own_pair(), runner=runner))
    outcome = outcome_of(execution, "t")
    assert (outcome.verdict.value, outcome.score, outcome.judge_program) == ("JE", None, "checker")
    assert execution.run.stdout == ""


@pytest.mark.parametrize("answer", [None, b"", b"\n\n"])
def test_no_expected_output_is_an_empty_one(boxes: Boxes, runner: Blob | None, answer: bytes | None) -> None:
    """A program that prints 1 does not get 1 for it, as it does from the stock pair."""
    case = dataclasses.replace(CASE, answer=answer)
    prints_one = '#include <cstdio>\nint main() { puts("1"); }\n'
    assert judged(boxes, runner, PLAIN, prints_one, case)[:2] == ("WA", 0.0)
    assert judged(boxes, runner, PLAIN, "int main() {}", case)[:2] == ("AC", 1.0)


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


@pytest.mark.parametrize("io", ProcessIO)
@pytest.mark.parametrize("processes", [1, 3])
def test_communication(boxes: Boxes, runner: Blob | None, processes: int, io: ProcessIO) -> None:
    """Both ways to get FIFOs, one process and more, which know their index; the manager's own arguments."""
    problem = talking(processes, io)
    case = TestCase(name="t", input=b"7\n", answer=None)
    words = f"{processes} processes, argument a,b%c*"
    index_free = "int answer(int n, int) { return n; }"
    assert judged(boxes, runner, problem, index_free, case) == ("AC", 1.0, words)
    if processes > 1:
        takes_turns = "int answer(int n, int index) { return n + index - 1; }"
        assert judged(boxes, runner, problem, takes_turns, case)[:2] == ("AC", 1.0)


def test_checker_after_the_manager(boxes: Boxes, runner: Blob | None) -> None:
    """Where a Communication task has a checker, what the manager prints is the output that it judges."""
    checker = SourceFile(
        path="checker/checker.cpp",
        content=b"""#include <cstdio>
        int main(int, char **argv) {
            int said; FILE *output = fopen(argv[3], "r");
            if (fscanf(output, "%d", &said) != 1) return 1;
            puts(said == 21 ? "1" : "0");
        }""",
    )
    problem = dataclasses.replace(
        talking(3, ProcessIO.STD_IO, result='"%d", sum'), checker=checker, checker_after_manager=True
    )
    case = TestCase(name="t", input=b"7\n", answer=b"21\n")
    assert judged(boxes, runner, problem, "int answer(int n, int) { return n; }", case)[:2] == ("AC", 1.0)


def with_config(job: Job, config: str) -> Job:
    """The same job with another configuration."""
    files = tuple(
        dataclasses.replace(file, content=config.encode()) if file.name == "graders/grader_config.json" else file
        for file in job.files
    )
    return dataclasses.replace(job, files=files)


@pytest.mark.parametrize("shape", ["flat", "object", "text"])
def test_shapes_of_the_configuration(boxes: Boxes, shape: str) -> None:
    """Flat keys, an object inside, or a JSON text inside: what rows of the data set and CMS packages hold."""
    problem = talking(3, ProcessIO.FIFO_IO)
    prefix = "task_type_parameters_Communication_"
    params = {f"{prefix}num_processes": 3, f"{prefix}user_io": "fifo_io", f"{prefix}compilation": "stub"}
    config: dict[str, Any] = {"task_type": "Communication", "code": "sum", "time_limit": 1, "memory_limit": 67108864.0}
    config |= {
        "flat": params,
        "object": {"task_type_params": params},
        "text": {"task_type_params": json.dumps(params)},
    }[shape]
    case = TestCase(name="t", input=b"7\n", answer=None)
    job = classic.job(problem, case, "int answer(int n, int) { return n; }", pair=classic.own_pair())
    execution = boxes.execute(with_config(job, json.dumps(config, indent=2)))
    assert score_and_feedback(execution) == ("1\n", "3 processes, argument -\n")


@pytest.mark.parametrize(
    "config",
    ["{}", '{"time_limit": "x", "memory_limit": 1}', '{"task_type": "OutputOnly", "time_limit": 1, "memory_limit": 1}'],
)
def test_a_useless_configuration_is_not_the_submission_s_fault(boxes: Boxes, config: str) -> None:
    """What the problem's files lack is JE, never a compilation error; not for good, as no compiler said so."""
    job = with_config(classic.job(PLAIN, CASE, SUM, pair=classic.own_pair()), config)
    outcome = compile_outcome(boxes.execute(job))
    assert (outcome.verdict, outcome.final) == ("JE", False)


def test_problem_programs_that_do_not_compile(boxes: Boxes) -> None:
    """A checker, grader or manager with an error is the problem's fault."""
    broken = b"int main( {"
    checker = dataclasses.replace(with_checker(""), checker=SourceFile(path="checker/checker.cpp", content=broken))
    grader = dataclasses.replace(PLAIN, linked=(SourceFile(path="graders/grader.cpp", content=broken),))
    for problem, name in ((checker, "checker"), (grader, "grader")):
        outcome = compile_outcome(boxes.execute(classic.job(problem, CASE, SUM, pair=classic.own_pair())))
        assert (outcome.verdict, outcome.final) == ("JE", True)
        assert outcome.message.startswith(f"the {name} does not compile\n")


def test_the_problem_s_own_standard(boxes: Boxes) -> None:
    """C++20 where the problem says so."""
    code = '#include <compare>\n#include <cstdio>\nint main() { puts((1 <=> 2) < 0 ? "42" : ""); }\n'
    assert judged(boxes, None, PLAIN, code)[0] == "CE"
    assert judged(boxes, None, dataclasses.replace(PLAIN, cxx_std="gnu++20"), code)[0] == "AC"


# ---------------------------------------------------------------------- what a submission must not reach

STEAL_AT_COMPILE_TIME = [
    '__asm__(".globl stolen\\nstolen: .incbin \\"correct_output.txt\\"");\nextern char stolen[]; int main() {}',
    '__asm__(".globl stolen\\nstolen: .incbin \\"../correct_output.txt\\"");\nextern char stolen[]; int main() {}',
    '#include "../input.txt"\nint main() {}',
    '#include "grader.cpp"\n',
    '#include "../checker/checker.cpp"\n',
]


@pytest.mark.parametrize("code", STEAL_AT_COMPILE_TIME)
def test_the_compiler_reaches_neither_test_nor_judge(boxes: Boxes, code: str) -> None:
    """What a submission might include is not there while it is compiled."""
    problem = dataclasses.replace(
        with_checker('int main() { puts("1"); }'),
        linked=(SourceFile(path="graders/grader.cpp", content=b"int main() {}"),),
    )
    assert judged(boxes, None, problem, code)[0] == "CE"


ATTACK = """#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
// Looks at every file that it can open anywhere near and in every process, and writes to whatever can be written.
static std::string found;
static bool only_processes = false;
static void visit(const std::string &path, int depth) {
    DIR *directory = opendir(path.c_str());
    if (!directory) {
        int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK);
        char text[64] = "";
        if (fd >= 0 && read(fd, text, 63) >= 0 && strstr(text, "42")) found = text;
        if (fd >= 0) close(fd);
        fd = open(path.c_str(), O_WRONLY | O_NONBLOCK);
        if (fd >= 0 && write(fd, "1\\n", 2) < 0) {}
        if (fd >= 0) close(fd);
        return;
    }
    while (dirent *entry = readdir(directory))
        if (entry->d_name[0] != '.' || entry->d_name[1] == 'j')
            if (depth > 0) visit(path + "/" + entry->d_name, depth - 1);
    closedir(directory);
}
static void everywhere() {
    for (const char *start : {".", "..", "../..", "/box", "/tmp"}) visit(start, 3);
    for (int pid = 1; pid < 200; pid++) {
        if (pid == getpid()) continue;
        std::string process = "/proc/" + std::to_string(pid);
        visit(process + "/fd", 1);
        visit(process + "/environ", 0);
        visit(process + "/cwd", 2);
        visit(process + "/root/box", 2);
    }
}
"""

ATTACKS = {
    "takes what it finds": "int main() { everywhere(); puts(found.c_str()); }",
    "leaves a child behind": """int main() {
        if (fork() == 0) {
            setsid(); signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN);
            for (int i = 0; i < 100; i++) { everywhere(); usleep(10000); }
        }
        puts("0");
    }""",
    "ignores SIGTERM": "int main() { signal(SIGTERM, SIG_IGN); signal(SIGXCPU, SIG_IGN); for (;;) everywhere(); }",
    "is slow on the wall clock only": 'int main() { sleep(1); puts("41"); }',
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_get_no_point(boxes: Boxes, runner: Blob | None, attack: str) -> None:
    """Neither answer nor checker nor the score's channel is in reach of the program, or of what it leaves behind."""
    checker = """#include <unistd.h>
    int main(int, char **argv) {
        usleep(300000);
        int right = 0, said = 0;
        FILE *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
        if (fscanf(answer, "%d", &right) != 1 || right != 42) return 1;
        puts(fscanf(output, "%d", &said) == 1 && said == right ? "1" : "0");
    }"""
    verdict, score, message = judged(boxes, runner, with_checker(checker), ATTACK + ATTACKS[attack])
    assert (verdict in ("WA", "TLE", "RE", "SV"), score) == (True, 0.0), (verdict, message)


def test_a_manager_is_out_of_reach(boxes: Boxes, runner: Blob | None) -> None:
    """A process that runs beside the manager finds neither its input nor its memory."""
    problem = talking(1, ProcessIO.STD_IO, result='sum == 42 ? "1" : "0"')
    case = TestCase(name="t", input=b"7 42\n", answer=None)
    code = ATTACK + 'int answer(int, int) { everywhere(); return atoi(strstr(found.c_str(), "42") ? "42" : "0"); }'
    assert judged(boxes, runner, problem, code, case)[:2] == ("WA", 0.0)


def test_without_isolation_the_runner_does_not_judge(boxes: Boxes) -> None:
    """Where the runner refuses, there is no score and no verdict."""
    job = classic.job(PLAIN, CASE, SUM, pair=classic.own_pair(), runner=boxes.runner)
    files = tuple(
        dataclasses.replace(file, content=b'#!/bin/sh\necho \'{"fault":"isolation","words":"none here"}\'; exit 3\n')
        if file.name == "runner"
        else file
        for file in job.files
    )
    execution = boxes.execute(dataclasses.replace(job, files=files))
    assert (execution.run.stdout, execution.run.code) == ("", 2)
    assert "none here" in execution.run.stderr
    with pytest.raises(TransientError):
        outcome_of(execution, "t")


def test_the_pair_travels_in_a_classic_job() -> None:
    """`compile`, `run` and the runner lie beside the test, the runner executable."""
    job = classic.job(PLAIN, CASE, SUM, pair=classic.own_pair(), runner=b"ELF")
    files = {file.name: file for file in job.files}
    assert {"compile", "run", "runner"} <= set(files)
    assert files["runner"] == JobFile(name="runner", content=b"ELF", executable=True)
    assert classic.own_pair()[0].startswith(b"#!/usr/bin/env bash\n")
