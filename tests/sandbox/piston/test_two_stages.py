"""Jobs with two stages on servers with one stage: the joined script runs in a real bash, and its answer is read."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from ioi_eval.errors import TransportError
from ioi_eval.model import Execution, Job, JobFile, JobKind, Stage, StageLimits
from ioi_eval.sandbox.piston import two_stages

MIB = 1 << 20


def job(compile: str, run: str, *, run_ms: int = 60_000) -> Job:
    """A job with these scripts, and this time limit of the second."""
    return Job(
        kind=JobKind.SCRIPTS,
        files=tuple(
            JobFile(name=name, content=text.encode())
            for name, text in {"compile": compile, "run": run, "input.txt": "in\n"}.items()
        ),
        compile_limits=StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=4 * MIB, output_bytes=1000),
        run_limits=StageLimits(wall_ms=run_ms, cpu_ms=60_000, memory_bytes=MIB, output_bytes=1000),
    )


UUTILS = """#!/bin/bash
/usr/bin/timeout "$@"
code=$?
[ $code = 137 ] && exit 124
exit $code
"""
"""`timeout` with the exit code that uutils has after a kill."""


def execute_as_one(directory: Path, job: Job, *args: str, stdin: str = "") -> Execution:
    """Run the joined job as the package `bash` does. Returns its execution with two stages."""
    for file in two_stages.as_one_stage(job).files:
        assert isinstance(file.content, bytes)
        (directory / file.name).write_bytes(file.content)
    done = subprocess.run(
        ["bash", "run", *args], cwd=directory, input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    return two_stages.split_stages(Execution(run=Stage(stdout=done.stdout, stderr=done.stderr, code=0)))


def test_both_stages(tmp_path: Path) -> None:
    """`run` finds the files of `compile`, and gets arguments and stdin. Each stage has its own streams."""
    found = execute_as_one(
        tmp_path, job("cat; echo made > made; echo told", 'cat made input.txt -; echo "$@" >&2'), "a b", stdin="said"
    )
    assert found.compile == Stage(stdout="told\n", stderr="", code=0)
    assert found.run == Stage(stdout="made\nin\nsaid", stderr="a b\n", code=0)


def test_run_does_not_start_after_a_failed_compile_stage(tmp_path: Path) -> None:
    """If `compile` fails, the run stage is a copy of it, as on Piston."""
    found = execute_as_one(tmp_path, job("echo error >&2; exit 3", "touch ran"))
    assert found.compile == found.run == Stage(stdout="", stderr="error\n", code=3)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("run", "run_ms"), [("exec sleep 600", 300), ("head -c 2000 /dev/zero", 60_000)])
def test_a_limit_of_one_stage(tmp_path: Path, run: str, run_ms: int) -> None:
    """Only the stage over its limit has SIGKILL."""
    found = execute_as_one(tmp_path, job("true", run, run_ms=run_ms))
    assert found.compile is not None
    assert found.compile.code == 0
    assert (found.run.code, found.run.signal) == (None, "SIGKILL")


def test_a_time_limit_with_the_timeout_of_uutils(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The `timeout` of uutils, as in Ubuntu 26.04, gives the same result."""
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "timeout").write_text(UUTILS)
    (commands / "timeout").chmod(0o755)
    monkeypatch.setenv("PATH", str(commands), prepend=os.pathsep)
    found = execute_as_one(tmp_path, job("true", "exec sleep 600", run_ms=300))
    assert (found.run.code, found.run.signal) == (None, "SIGKILL")


@pytest.mark.parametrize("code", [124, 137])
def test_an_exit_code_that_looks_like_a_kill(tmp_path: Path, code: int) -> None:
    """Exit codes 124 and 137 before the time limit are ordinary exit codes."""
    assert execute_as_one(tmp_path, job("true", f"exit {code}")).run.code == code


def test_limits_of_the_joined_job() -> None:
    """The wall clock limit is more than the sum of both stages; the memory limit is the larger one."""
    both = two_stages.as_one_stage(job("", ""))
    assert two_stages.has_two_stages(job("", ""))
    assert two_stages.was_joined(both)
    assert not two_stages.was_joined(job("", ""))
    assert both.compile_limits is None
    assert both.run_limits.wall_ms > 120_000
    assert both.run_limits.memory_bytes == 4 * MIB
    unlimited = dataclasses.replace(job("", ""), compile_limits=StageLimits(wall_ms=1, cpu_ms=1))
    assert two_stages.as_one_stage(unlimited).run_limits.memory_bytes is None


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "compile 0\n\n\n",
        "compile 0\n\n\nrun 0\n",
        "compile 0\n\n\nrun x\n\n\n",
        "compile 0\n\n\nrun 0\n!\n\n",
        "compile 0\n\n\nrun 0\n\n\nrun2 0\n\n\n",
        "noise\n",
    ],
)
def test_an_incomplete_answer_is_a_transport_error(stdout: str) -> None:
    """An incomplete answer raises TransportError, so the job is repeated."""
    with pytest.raises(TransportError):
        two_stages.split_stages(Execution(run=Stage(stdout=stdout, stderr="", code=0)))
