"""What is not the submission's fault, and is told so by our own pair of scripts."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest
from own_pair import CASE, PLAIN, SUM, Boxes, with_checker, with_config

from ioi_eval.errors import TransientError, UnservedError
from ioi_eval.jobs import classic
from ioi_eval.jobs.classic_answer import compile_outcome
from ioi_eval.jobs.classic_answer import test_outcome as outcome_of
from ioi_eval.model import Blob, CheckerProtocol, Execution, Isolation, SourceFile, Stage, TaskType


@pytest.mark.parametrize(
    ("source", "protocol"),
    [
        ("int main() { return 1; }", "cms"),
        ('int main() { puts("nan"); }', "cms"),
        ('int main() { puts("1.5"); }', "cms"),
        ("int main() {}", "cms"),
        ('int main() { printf("1%5000s", "extra"); }', "cms"),
        ('int main() { puts("1"); fputs("no number", stderr); return 7; }', "testlib"),
    ],
)
def test_a_checker_that_fails_is_no_score(boxes: Boxes, runner: Blob | None, source: str, protocol: str) -> None:
    """The checker's fault is JE for us, and nothing that any client can take for a score."""
    problem = with_checker(source, CheckerProtocol(protocol))
    execution = boxes.execute(classic.job(problem, CASE, SUM, pair=classic.own_pair(), runner=runner))
    outcome = outcome_of(execution, "t")
    assert (outcome.verdict.value, outcome.score, outcome.judge_program) == ("JE", None, "checker")
    assert execution.run.stdout == ""


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


@pytest.mark.parametrize("task_type", list(TaskType)[:2])
def test_a_protocol_without_its_checker(boxes: Boxes, task_type: TaskType) -> None:
    """The problem's fault too, also after its manager has been compiled."""
    manager = SourceFile(path="graders/manager.cpp", content=b"int main() {}")
    problem = dataclasses.replace(
        PLAIN,
        task_type=task_type,
        manager=manager if task_type is TaskType.COMMUNICATION else None,
        checker_protocol=CheckerProtocol.TESTLIB,
    )
    outcome = compile_outcome(boxes.execute(classic.job(problem, CASE, SUM, pair=classic.own_pair())))
    assert (outcome.verdict, outcome.final) == ("JE", False)
    assert "needs a checker" in outcome.message


def test_a_standard_that_the_compiler_does_not_know(boxes: Boxes) -> None:
    """Says nothing of the program: a good one does not compile either."""
    problem = dataclasses.replace(PLAIN, cxx_std="gnu++29")
    execution = boxes.execute(classic.job(problem, CASE, SUM, pair=classic.own_pair()))
    with pytest.raises(UnservedError, match=r"-std=gnu\+\+29"):
        compile_outcome(execution)
    known = boxes.execute(classic.job(PLAIN, CASE, "int main( {", pair=classic.own_pair()))
    assert compile_outcome(known).verdict == "CE"


FILLING = '__asm__(".data\\n.fill 100000000");\n' + SUM


@pytest.mark.parametrize(
    ("code", "size", "verdict"),
    [(SUM, 1 << 19, "JE"), (FILLING, 64 << 20, "CE"), (SUM, 64 << 20, None)],
    ids=["always full", "filled by the program", "not full"],
)
def test_a_full_disk(boxes: Boxes, tmp_path: Path, code: str, size: int, verdict: str | None) -> None:
    """Still full when the program's own files are gone, it says nothing of the program; else it does."""
    assert boxes.target.isolation is Isolation.FULL  # so there are user namespaces
    for file in classic.job(PLAIN, CASE, code, pair=classic.own_pair()).files:
        path = tmp_path / file.name
        path.parent.mkdir(exist_ok=True)
        assert isinstance(file.content, bytes)
        path.write_bytes(file.content)
    script = f"""
        mount --bind {tmp_path} /srv
        mount -t tmpfs -o size={size} tmpfs /mnt
        mount -t tmpfs -o size=1M tmpfs /tmp
        cp -r /srv/. /mnt && cd /mnt && bash compile
    """
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "bash", "-ec", script],
        capture_output=True,
        text=True,
        check=False,
    )
    stage = Stage(stdout=done.stdout, stderr=done.stderr, code=done.returncode)
    execution = Execution(run=stage, compile=stage)
    if verdict == "JE":
        with pytest.raises(TransientError, match="Looking for room"):
            compile_outcome(execution)
    else:
        assert compile_outcome(execution).verdict == verdict


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
