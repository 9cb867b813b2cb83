"""How each sandbox must execute a job: the contract of `ioi_eval/sandbox/__init__.py`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import LostDataError, RejectedError
from ioi_eval.model import Content, Execution, Isolation, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox import Sandbox, Target

T = TypeVar("T")
Entering = Callable[..., Any]
LIMITS = StageLimits(wall_ms=30_000, cpu_ms=30_000, memory_bytes=1 << 30)


def with_sandbox(entering: Entering, use: Callable[[Sandbox, Target], Awaitable[T]]) -> T:
    """Enter the sandbox and call a function with its first target. Returns the function's result."""

    async def scenario() -> T:
        async with entering() as sandbox:
            return await use(sandbox, sandbox.targets()[0])

    return asyncio.run(scenario())


def scripts(run: str, files: dict[str, Content] | None = None, **changes: object) -> Job:
    """A job of bash scripts."""
    contents: dict[str, Content] = {"run": run.encode(), **(files or {})}
    limits = {"run_limits": LIMITS, "compile_limits": LIMITS if "compile" in contents else None, **changes}
    listed = tuple(JobFile(name=name, content=content) for name, content in contents.items())
    return Job(kind=JobKind.SCRIPTS, files=listed, **limits)  # type: ignore[arg-type]


def skip_without_scripts(target: Target) -> None:
    """Skip if the target does not run a job's scripts: `cms_ioi` runs its own, and others need full isolation."""
    if target.has_own_scripts:
        pytest.skip("the cms_ioi package runs its own scripts only")
    if target.name == "local" and target.isolation is not Isolation.FULL:
        pytest.skip("scripts need full isolation in the embedded sandbox")


def execute(entering: Entering, job: Job) -> Execution:
    """The execution of a job of scripts. Skips the test if the target does not run them."""

    async def use(sandbox: Sandbox, target: Target) -> Execution:
        skip_without_scripts(target)
        return await sandbox.execute(job, target)

    return with_sandbox(entering, use)


def test_targets(entering: Entering) -> None:
    """A sandbox has at least one target, with slots, a profile and a compiler version."""

    async def use(sandbox: Sandbox, target: Target) -> None:
        assert target in sandbox.targets()
        assert target.slots >= 1
        assert target.profile in {"bundled", "classic"}
        assert target.toolchain.version

    with_sandbox(entering, use)


def test_output_and_exit_code(entering: Entering) -> None:
    """stdout and stderr come back separately. A program that fails is an execution, not an error."""
    run = execute(entering, scripts("printf 'to stdout\\n'; printf 'to stderr\\n' >&2; exit 7")).run
    assert (run.stdout, run.stderr, run.code, run.signal) == ("to stdout\n", "to stderr\n", 7, None)


def test_arguments_and_input(entering: Entering) -> None:
    """Arguments arrive unchanged, also empty or unusual ones. Standard input is empty."""
    job = scripts('printf "%s|" "$@"; cat', args=("a b", "", "$x", "é"))
    assert execute(entering, job).run.stdout == "a b||$x|é|"


def test_files_arrive_as_they_are(entering: Entering, blobs: BlobStore) -> None:
    """Files arrive unchanged: text, binary, empty, in directories, from memory and from disk. Modes are kept."""
    contents: dict[str, Content] = {
        "text": b"no newline at the end",
        "bytes": bytes(range(256)) * 40,
        "empty": b"",
        "sub/there": b"one level down\r\n",
        "from disk": blobs.put(b"0123456789abcdef\n" * 20_000),
    }
    job = scripts("sha256sum text bytes empty sub/there 'from disk'; ./tool", contents)
    tool = JobFile(name="tool", content=b"#!/bin/bash\necho started\n", executable=True)
    run = execute(entering, replace(job, files=(*job.files, tool))).run
    raw = {
        name: content if isinstance(content, bytes) else content.path.read_bytes() for name, content in contents.items()
    }
    expected = [f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in raw.items()]
    assert run.stdout.splitlines() == [*expected, "started"]


def test_compile_stage(entering: Entering) -> None:
    """`run` finds the files that `compile` makes. If `compile` fails, the run stage has its exit code."""
    good = execute(entering, scripts("cat made", {"compile": b"echo compiling; echo made > made"}))
    assert good.compile is not None
    assert (good.compile.stdout, good.compile.code) == ("compiling\n", 0)
    assert good.run.stdout == "made\n"
    bad = execute(entering, scripts("echo never", {"compile": b"echo no >&2; exit 3"}))
    assert bad.compile is not None
    assert (bad.compile.code, bad.compile.stderr) == (3, "no\n")
    assert (bad.run.code, bad.run.stdout) == (3, "")


def test_wall_clock(entering: Entering) -> None:
    """A stage over its wall clock limit is killed: no exit code, and the signal SIGKILL."""
    run = execute(entering, scripts("sleep 600", run_limits=replace(LIMITS, wall_ms=1_000))).run
    assert (run.code, run.signal) == (None, "SIGKILL")


def test_output_limit(entering: Entering) -> None:
    """Output over the job's limit gets the status OL, whatever limit the sandbox has."""
    limits = replace(LIMITS, output_bytes=1_000)
    run = execute(entering, scripts("head -c 100000 /dev/zero | tr '\\0' x", run_limits=limits)).run
    assert (run.code, run.signal, run.status) == (None, "SIGKILL", "OL")
    assert len(run.stdout) <= 1_000


@pytest.mark.parametrize("name", ["../escape", "/etc/absolute", "a/../b", "", "a//b"])
def test_names_that_lead_out_of_the_box(entering: Entering, name: str) -> None:
    """File names outside of the box are refused with RejectedError."""

    async def use(sandbox: Sandbox, target: Target) -> None:
        if target.name == "local":
            skip_without_scripts(target)
        with pytest.raises(RejectedError, match="cannot be the name of a file"):
            await sandbox.execute(scripts("true", {name: b"x"}), target)

    with_sandbox(entering, use)


@pytest.mark.parametrize("trusted", [False, True])
def test_two_files_with_one_name(entering: Entering, trusted: bool) -> None:
    """A job that names a file twice is refused with RejectedError: it is not clear which of them it needs."""

    async def use(sandbox: Sandbox, target: Target) -> None:
        skip_without_scripts(target)
        job = scripts("cat a", {"a": b"first"}, trusted=trusted)
        with pytest.raises(RejectedError):
            await sandbox.execute(replace(job, files=(*job.files, JobFile(name="a", content=b"second"))), target)

    with_sandbox(entering, use)


def test_a_file_of_the_cache_that_is_gone(entering: Entering, tmp_path: Path) -> None:
    """A job that refers to a deleted file of the cache is a LostDataError: the caller makes the file again."""
    gone = BlobStore(tmp_path).put(b"x" * 70_000)
    gone.path.unlink()

    async def use(sandbox: Sandbox, target: Target) -> None:
        skip_without_scripts(target)
        with pytest.raises(LostDataError, match="is gone"):
            await sandbox.execute(scripts("cat data", {"data": gone}), target)

    with_sandbox(entering, use)


def test_many_at_once(entering: Entering) -> None:
    """More jobs than slots, some of them alone: each job gets its own answer."""

    async def use(sandbox: Sandbox, target: Target) -> list[Execution]:
        skip_without_scripts(target)
        async with asyncio.TaskGroup() as group:
            jobs = [scripts(f"sleep 0.0{number % 5}; echo {number}", alone=number % 9 == 0) for number in range(40)]
            tasks = [group.create_task(sandbox.execute(job, target)) for job in jobs]
        return [task.result() for task in tasks]

    assert [answer.run.stdout for answer in with_sandbox(entering, use)] == [f"{number}\n" for number in range(40)]


def test_cancelled_jobs_free_their_slots(entering: Entering) -> None:
    """After all running jobs are cancelled, a new job runs as usual."""

    async def use(sandbox: Sandbox, target: Target) -> Execution:
        skip_without_scripts(target)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(sandbox.execute(scripts("sleep 1"), target)) for _ in range(2 * target.slots)]
            await asyncio.sleep(0.2)
            for task in tasks:
                task.cancel()
        return await sandbox.execute(scripts("echo still here"), target)

    assert with_sandbox(entering, use).run.stdout == "still here\n"
