"""Failures that are not the submission's: our own pair never reports them as a failed compile stage or as a score."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval import boxfiles
from ioi_eval.errors import SandboxError, TransientError
from ioi_eval.jobs import scripts_answer
from ioi_eval.model import (
    CheckerProtocol,
    Execution,
    Isolation,
    Job,
    Problem,
    SourceFile,
    Stage,
)
from tests.jobs.own_pair import (
    CASE,
    PLAIN,
    SUM,
    Boxes,
    content_of,
    fault,
    judged,
    judged_job,
    pair_job,
    with_checker,
    with_config,
    with_file,
    with_other_runner,
)


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
def test_a_failing_checker_gives_no_score(boxes: Boxes, source: str, protocol: str) -> None:
    """It is a permanent error for us. No client can take the answer for a score."""
    job = pair_job(boxes, with_checker(source, CheckerProtocol(protocol)), SUM)
    execution = boxes.execute(job)
    assert (execution.run.stdout, execution.run.code) == ("", 3)
    assert execution.compile is not None
    assert execution.compile.code == 0
    with pytest.raises(SandboxError, match="the checker is at fault") as found:
        scripts_answer.require_judged(execution)
    assert not isinstance(found.value, TransientError)


@pytest.mark.parametrize(
    "config",
    [
        "{}",
        '{"time_limit": "x", "memory_limit": 1}',
        '{"time_limit": 1, "memory_limit": "x"}',
        '{"task_type": "OutputOnly", "time_limit": 1, "memory_limit": 1}',
    ],
)
def test_a_useless_configuration_is_not_the_submission_s_fault(boxes: Boxes, config: str) -> None:
    """If the problem's files are incomplete, it is not a compile error."""
    found = fault(boxes, with_config(pair_job(boxes, PLAIN, SUM), config))
    assert isinstance(found, SandboxError)
    assert not isinstance(found, TransientError)
    assert "graders/grader_config.json" in str(found) or "OutputOnly is not supported" in str(found)


def test_problem_programs_that_do_not_compile(boxes: Boxes) -> None:
    """An error in a checker, grader or manager is the problem's fault. The message is the compiler's."""
    broken = b"int main( {"
    checker = with_checker(broken.decode())
    grader = dataclasses.replace(PLAIN, linked=(SourceFile(path="graders/grader.cpp", content=broken),))
    for problem, name in ((checker, "checker"), (grader, "grader")):
        found = fault(boxes, pair_job(boxes, problem, SUM))
        assert not isinstance(found, TransientError)
        assert f"the {name} does not compile" in str(found)
        assert "error: expected" in str(found)


def test_a_protocol_without_its_checker(boxes: Boxes) -> None:
    """It is the problem's fault."""
    assert "needs a checker" in str(fault(boxes, pair_job(boxes, PLAIN, SUM, checker_protocol="testlib")))


def test_a_standard_that_the_compiler_does_not_know(boxes: Boxes) -> None:
    """It is no evidence against the program, because a good one does not compile either."""
    problem = dataclasses.replace(PLAIN, cxx_std="gnu++29")
    assert "the compiler does not compile a known good program either, with -std=gnu++29" in str(
        fault(boxes, pair_job(boxes, problem, SUM))
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('__asm__(".data\\n.fill 100000000");\n' + SUM, "Compilation stopped by its limit: file"),
        ("template <int n> struct A { A<n + 1> a; A<n + 2> b; };\n#pragma GCC optimize\nA<0> a;\n" + SUM, "error: "),
    ],
    ids=["object too large", "template depth"],
)
def test_limits_of_a_compilation(boxes: Boxes, code: str, words: str) -> None:
    """A program that makes the compiler exceed a limit is a compile error. The message names the limit."""
    verdict, score, message = judged(boxes, PLAIN, code)
    assert (verdict, score) == ("CE", 0.0)
    assert words in message


LACKING = """#!/bin/bash
plan=${2#plan=} plan=/proc/self/fd/${plan%%,*}
count=$(cat .times 2> /dev/null || echo 0)
if [[ $1 == --fds ]] && ((count < TIMES)) && grep -q 'as=FILE$' "$plan"; then
    echo $((count + 1)) > .times
    echo '{"step":0,"code":1,"signal":0,"limit":null,"killed":0,"output":"MESSAGE"}'
    sed -n 's/^nonce \\(.*\\)/{"end":true,"nonce":"\\1",}/p' "$plan"
else
    for box in . ../..; do [[ ! -f $box/.true-runner ]] || exec "$box/.true-runner" "$@"; done
fi
"""
"""A runner whose compiler fails so many times on a file."""


def lacking(job: Job, file: str, times: int) -> Job:
    """The same job on a machine that has no process left for the compiler of a file, so many times."""
    message = "g++: fatal error: cannot execute `cc1plus`: vfork: Resource temporarily unavailable"
    script = LACKING.replace("FILE", file).replace("TIMES", str(times)).replace("MESSAGE", message)
    return with_other_runner(job, script.encode())


@pytest.mark.parametrize("file", ["graders/sum.cpp", "checker.cpp"])
def test_a_machine_that_recovers(boxes: Boxes, file: str) -> None:
    """The known good program shows that it has recovered, and then the other one is compiled again."""
    job = pair_job(boxes, with_checker('int main() { puts("1"); }'), SUM)
    assert judged_job(boxes, lacking(job, file, times=1))[:2] == ("AC", 1.0)


def test_a_compilation_that_always_fails(boxes: Boxes) -> None:
    """If the known good program compiles, the submission is the reason, whatever the messages say."""
    verdict, score, message = judged_job(boxes, lacking(pair_job(boxes, PLAIN, SUM), "graders/sum.cpp", times=99))
    assert (verdict, score) == ("CE", 0.0)
    assert "Resource temporarily unavailable" in message


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("mv", "correct_output.txt"),  # without an answer, the score would be what the program prints
        ("mv", "checker"),  # without a checker, the outputs would be compared
        ("chmod", "*/checker"),
        ("mkdir", "*/submission"),  # without its files, the submission would not compile
        ("mv", "*/graders/sum.cpp"),
        ("cp", "*/graders/sum.h"),
        ("sed", "-n"),
    ],
)
def test_a_command_that_fails(boxes: Boxes, command: str, file: str) -> None:
    """As if it was killed, or the disk was full. The program is not judged without the file: the job is repeated."""
    code = '#include "sum.h"\nint main() { puts("1"); }'
    problem = PLAIN if file == "correct_output.txt" else with_checker('int main() { puts("1"); }')
    headers = (SourceFile(path="graders/sum.h", content=b"#include <cstdio>\n"),)
    job = pair_job(boxes, dataclasses.replace(problem, headers=headers), code)
    fails = f'{command}() {{ for each; do [[ $each != {file} ]] || return 1; done; command {command} "$@"; }}\n'
    job = with_script(job, lambda script: script.replace(b"set -u\n", b"set -u\n" + fails.encode(), 1))
    execution = boxes.execute(job)
    assert execution.compile is not None
    assert (execution.compile.code, execution.run.code, execution.run.stdout) == (0, 2, "")
    assert re.search("cannot be (moved|copied)|can be made|does not run", execution.run.stderr)
    with pytest.raises(TransientError):
        scripts_answer.require_judged(execution)


@pytest.mark.parametrize("problem", [PLAIN, with_checker('int main() { puts("1"); }')], ids=["submission", "checker"])
def test_compilations_that_take_too_long_in_total(boxes: Boxes, problem: Problem) -> None:
    """The machine is too busy. `run` reports it: if the server ended the compile stage, clients would see a compile
    error.
    """
    hurried = b"set -u\nIOI_EVAL_COMPILE_S=0\n"
    job = pair_job(boxes, problem, SUM)
    execution = boxes.execute(with_script(job, lambda script: script.replace(b"set -u\n", hurried, 1)))
    assert execution.compile is not None
    assert (execution.compile.code, execution.run.code, execution.run.stdout) == (0, 2, "")
    assert "this machine is too busy" in execution.run.stderr
    with pytest.raises(TransientError):
        scripts_answer.require_judged(execution)


@pytest.mark.parametrize(("size", "judges"), [(8 << 20, False), (64 << 20, True)], ids=["full", "not full"])
def test_a_full_disk(boxes: Boxes, tmp_path: Path, size: int, judges: bool) -> None:
    """It is no evidence against the program."""
    assert boxes.target.isolation is Isolation.FULL  # so there are user namespaces
    place(pair_job(boxes, PLAIN, SUM), tmp_path)
    script = f"""
        mount --bind {tmp_path} /srv
        mount -t tmpfs -o size={size} tmpfs /mnt
        mount -t tmpfs -o size=1M tmpfs /tmp
        cp -r /srv/. /mnt && cd /mnt && head -c 8M /dev/zero > rest || true
        bash compile > /tmp/out && bash run
    """
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )
    execution = Execution(run=Stage(stdout=done.stdout, stderr=done.stderr, code=done.returncode))
    if judges:
        scripts_answer.require_judged(execution)
    else:
        with pytest.raises(TransientError):
            scripts_answer.require_judged(execution)


def with_script(job: Job, change: Callable[[bytes], bytes]) -> Job:
    """The same job with a changed compile script."""
    (script,) = (content_of(file.content) for file in job.files if file.name == "compile")
    return with_file(job, "compile", change(script))


def place(job: Job, directory: Path) -> None:
    """Put a job's files into a directory, as in a box."""
    for file in job.files:
        path = directory / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content_of(file.content))


def test_without_isolation_the_runner_does_not_judge(boxes: Boxes) -> None:
    """If the runner refuses, there is no score and no verdict."""
    job = pair_job(boxes, PLAIN, SUM)
    files = tuple(
        dataclasses.replace(
            file, content=b'#!/bin/sh\necho \'{"fault":"isolation","explanation":"none here"}\'; exit 3\n'
        )
        if file.name == "runner"
        else file
        for file in job.files
    )
    execution = boxes.execute(dataclasses.replace(job, files=files))
    assert (execution.run.stdout, execution.run.code) == ("", 2)
    assert "none here" in execution.run.stderr
    with pytest.raises(TransientError):
        scripts_answer.require_judged(execution)


def test_a_job_without_the_runner_is_not_judged(boxes: Boxes) -> None:
    """Only the runner can judge."""
    job = pair_job(boxes, PLAIN, SUM, CASE)
    files = tuple(file for file in job.files if file.name != "runner")
    assert "there is no runner" in str(fault(boxes, dataclasses.replace(job, files=files)))


def test_a_compile_script_that_ends_early_reports_no_compile_error(tmp_path: Path) -> None:
    """As if bash could not fork, which ends a script with code 254 (after 15 s, in which it tries again)."""
    (tmp_path / "graders").mkdir()
    (tmp_path / "graders/grader_config.json").write_text("{}")
    (tmp_path / "ending").write_text("read() { exit 254; }\n")
    stages = [
        subprocess.run(
            ["bash"], input=boxfiles.read(name), env=environment, cwd=tmp_path, capture_output=True, check=False
        )
        for name, environment in (("compile", {"BASH_ENV": "ending"}), ("run", {}))
    ]
    assert [(stage.returncode, stage.stdout) for stage in stages] == [(0, b""), (2, b"")]


def test_an_output_that_cannot_be_decoded_is_no_score(tmp_path: Path) -> None:
    """If the program prints its score, and the disk is full: bash keeps what `base64` reads in a file."""
    judge = tmp_path / ".judge.x"
    judge.mkdir()
    (judge / "input.txt").touch()
    (judge / "settings").write_text(
        "task_type=Batch has_checker=0 isolation=none processes=1 time_limit_us=1000000 memory_limit=1 libraries=()\n"
        "base64() { return 1; }\n"
    )
    (judge / "runner").write_text(
        '#!/bin/bash\nread -r _ nonce < <(grep ^nonce plan)\necho \'{"test":0,"verdict":null,"output":"aGk="}\'\n'
        'echo \'{"end":true,"nonce":"\'"$nonce"\'","lines":1,"sum":""}\'\n'
    )
    (judge / "runner").chmod(0o755)
    run = subprocess.run(["bash"], input=boxfiles.read("run"), cwd=tmp_path, capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"the output cannot be decoded" in run.stderr
