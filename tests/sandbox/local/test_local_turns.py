"""The embedded sandbox prepares a box while others run, and runs as many jobs at once as it has slots."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import ioi_eval
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import RejectedError, TransientError, TransportError
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs import recipes
from ioi_eval.jobs.runner_answer import CompileAnswer, compile_answer
from ioi_eval.model import Blob, Execution, Isolation, Job, JobFile, JobKind, StageLimits
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.confinement import PACKAGE_DIRECTORY
from ioi_eval.sandbox.local.sandbox import LocalSandbox, _box_uid, has_ended, uids_of_boxes
from tests.forks import in_a_fork
from tests.sandbox.marked_processes import processes_with

POLICY = Policy(compile=CompileLimits(), least_isolation=Isolation.REDUCED)
NONCE = secrets.token_hex(16)
SPAN = "date +%s%N; sleep 0.4; date +%s%N"


@asynccontextmanager
async def entered(cache: Path, **options: object) -> AsyncIterator[tuple[LocalSandbox, Target, Blob]]:
    """A sandbox, its target, and the runner for it."""
    async with LocalSandbox(**options) as sandbox:  # type: ignore[arg-type]
        (target,) = sandbox.targets()
        yield sandbox, target, await Builder(sandbox, ArtifactStore(cache), POLICY).runner(target)


def job(runner: Blob, script: str, *artifacts: str, alone: bool = False) -> Job:
    """A job whose only step is a script."""
    step = recipes.Step(argv=("sh", "-c", script))
    recipe = recipes.Recipe(what="test", steps=(step,), artifacts=artifacts, sees_system=True)
    return compiling.compile_job(recipe, runner, POLICY.compile, POLICY.least_isolation, nonce=NONCE, alone=alone)


def compile_answer_of(execution: Execution) -> CompileAnswer:
    """The runner's answer to a compile job."""
    return compile_answer(execution.run, NONCE, execution.returned, least=Isolation.NONE)


def spans(executions: list[Execution]) -> list[tuple[int, int]]:
    """Begin and end of each script in ns, in order of time."""
    outputs = [compile_answer_of(execution).steps[0].output.split() for execution in executions]
    return sorted((int(begun), int(ended)) for begun, ended in outputs)


def max_at_once(intervals: list[tuple[int, int]]) -> int:
    """The maximum number of intervals that overlap."""
    changes = sorted([(begun, 1) for begun, _ in intervals] + [(ended, -1) for _, ended in intervals])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


@pytest.mark.parametrize("strongest", [Isolation.FULL, Isolation.REDUCED])
@pytest.mark.parametrize("slots", [1, 2])
def test_slots_limit_the_jobs_at_once(cache: Path, slots: int, strongest: Isolation) -> None:
    """As many jobs run at once as there are slots. One more box is prepared, whose job has not started."""

    async def scenario() -> tuple[list[Execution], int]:
        async with entered(cache, slots=slots, strongest=strongest) as (sandbox, target, runner):
            tasks = [asyncio.ensure_future(sandbox.execute(job(runner, SPAN), target)) for _ in range(2 * slots + 1)]
            ready = 0
            while not all(task.done() for task in tasks):
                ready = max(ready, len(boxes()))
                await asyncio.sleep(0.02)
            return [task.result() for task in tasks], ready

    executions, ready = asyncio.run(scenario())
    assert max_at_once(spans(executions)) == slots
    assert ready == slots + 1


def boxes() -> set[str]:
    """The process ids of the present boxes, which are children of this process."""
    return {pid for pid in processes_with("--wait") if _parent(pid) == os.getpid()}


def wait_for_boxes(count: int) -> None:
    """Wait until there are this many boxes."""
    begun = time.monotonic()
    while len(boxes()) < count:
        assert time.monotonic() < begun + 60
        time.sleep(0.02)


def _parent(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives boxes their own user ids")
def test_each_box_has_its_own_user_id() -> None:
    """User ids of boxes differ, also for a thousand processors, and differ from those of another process."""
    uids = [_box_uid(box) for box in range(1100)]
    assert len(set(uids)) == len(uids)
    assert all(uid is not None and 0x70000000 <= uid < 1 << 31 for uid in uids)
    assert in_a_fork(lambda: set(uids).isdisjoint(map(_box_uid, range(1100))))


@pytest.mark.parametrize(
    ("uid_map", "expected"),
    [
        ("         0          0 4294967295\n", (0x70000000, 1 << 16, 1 << 12)),
        ("0 100000 65536\n", (32768, 63, 512)),
        ("0 1000 1\n1 100000 65536\n", (32769, 63, 512)),
        ("0 1000 1\n", (0x70000000, 1 << 16, 1 << 12)),  # no ids for boxes: root is refused elsewhere
    ],
    ids=["a machine", "a container", "Podman without root", "one user"],
)
def test_user_ids_of_boxes(uid_map: str, expected: tuple[int, int, int]) -> None:
    """The user ids of boxes exist in the container's map, and `nobody` is not among them."""
    first, processes, boxes = uids_of_boxes(uid_map)
    assert (first, processes, boxes) == expected
    assert first > 65535 or first + processes * boxes <= 65534


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="not root, or no unshare")
def test_root_of_a_container_with_65536_user_ids() -> None:
    """Boxes get user ids in a container with 65,536 of them, as in Podman without root or Kubernetes with
    `hostUsers: false`.
    """
    code = "from ioi_eval.sandbox.local.sandbox import _box_uid, _require_other_users as r; r(); print(_box_uid(0))"
    shell = 'echo ready; read -r mapped; exec "$@"'
    words = ["unshare", "--user", "sh", "-c", shell, "sh", sys.executable, "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            pytest.skip("no user namespace can be made here")
        for kind in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}/{kind}").write_text("0 0 65536\n")
        uid, _ = process.communicate("mapped\n", timeout=60)
    assert 32768 <= int(uid) < 65534


def test_no_other_box_exists_while_a_job_runs_alone(cache: Path) -> None:
    """While a job runs alone, there is no other box, not even a prepared one, because its time is measured."""

    async def scenario() -> tuple[list[Execution], int, int]:
        async with entered(cache, slots=2) as (sandbox, target, runner):
            jobs = [job(runner, SPAN, alone=number == 2) for number in range(5)]
            tasks = [asyncio.ensure_future(sandbox.execute(one, target)) for one in jobs]
            max_boxes = 0
            while not tasks[2].done():
                if all(task.done() for number, task in enumerate(tasks) if number != 2):  # other jobs may run before it
                    max_boxes = max(max_boxes, len(boxes()))
                await asyncio.sleep(0.02)
            done = [await task for task in tasks]
            return done, max_boxes, len(boxes())

    executions, max_boxes, left = asyncio.run(scenario())
    (alone,) = spans(executions[2:3])
    others = spans([*executions[:2], *executions[3:]])
    assert all(ended <= alone[0] or begun >= alone[1] for begun, ended in others)
    assert (max_boxes, left) == (1, 0)


def test_a_job_that_waits_for_our_own_work_to_run_alone_keeps_no_others_waiting() -> None:
    """Tests may be read for minutes meanwhile, and a few other jobs are not all that there are."""
    limits = StageLimits(wall_ms=20_000, cpu_ms=20_000)
    script = Job(kind=JobKind.SCRIPTS, files=(JobFile(name="run", content=b":"),), run_limits=limits, trusted=True)
    ended: list[str] = []

    async def scenario() -> None:
        async with LocalSandbox(slots=2, strongest=Isolation.REDUCED) as sandbox:
            (target,) = sandbox.targets()

            async def run(name: str, *, alone: bool = False) -> None:
                await sandbox.execute(replace(script, alone=alone), target)
                ended.append(name)

            async with asyncio.TaskGroup() as group, sandbox.own_work():
                group.create_task(run("alone", alone=True))
                await asyncio.wait_for(asyncio.gather(*(run("other") for _ in range(30))), 60)

    asyncio.run(scenario())
    assert ended == [*["other"] * 30, "alone"]


@pytest.mark.parametrize("trusted", [True, False])
def test_scripts_and_runner_jobs_share_the_slots(cache: Path, trusted: bool) -> None:
    """Scripts and jobs of the runner use the same slots. While a job runs alone, no job of either kind runs."""
    script = Job(
        kind=JobKind.SCRIPTS,
        files=(JobFile(name="run", content=SPAN.encode()),),
        run_limits=StageLimits(wall_ms=60_000, cpu_ms=60_000),
        trusted=trusted,
    )

    async def scenario() -> list[Execution]:
        async with entered(cache, slots=2) as (sandbox, target, runner):
            if not trusted and target.isolation is not Isolation.FULL:
                pytest.skip(f"no full isolation here: {sandbox.why_not_full}")
            await sandbox.execute(script, target)  # the first one compiles the stage runner
            compiled = job(runner, SPAN)
            jobs = [script, script, script, compiled, replace(script, alone=True), compiled, script, script]
            tasks = [asyncio.ensure_future(sandbox.execute(one, target)) for one in jobs]
            return [await task for task in tasks]

    executions = asyncio.run(scenario())
    times = [
        execution.run.stdout if number not in (3, 5) else compile_answer_of(execution).steps[0].output
        for number, execution in enumerate(executions)
    ]
    intervals = [(int(begun), int(ended)) for begun, ended in map(str.split, times)]
    alone = intervals.pop(4)
    assert max_at_once(intervals) == 2
    assert all(ended <= alone[0] or begun >= alone[1] for begun, ended in intervals)


def test_only_the_runners_end_line_ends_the_answer(cache: Path) -> None:
    """Only the runner's end line ends the answer. Output of a program cannot look like it."""

    async def scenario() -> Execution:
        async with entered(cache, slots=1) as (sandbox, target, runner):
            return await sandbox.execute(job(runner, """printf 'a\\n{"end":true,"nonce":""}\\n'"""), target)

    execution = asyncio.run(scenario())
    assert compile_answer_of(execution).steps[0].output == 'a\n{"end":true,"nonce":""}\n'
    stdout = execution.run.stdout.encode()
    assert has_ended(bytearray(stdout))
    assert not any(has_ended(bytearray(stdout[:length])) for length in range(len(stdout)))


def test_wall_clock_starts_when_the_job_has_a_slot(cache: Path) -> None:
    """A box may wait for a slot for longer than the job's wall clock limit."""

    async def scenario() -> Execution:
        async with entered(cache, slots=1) as (sandbox, target, runner):
            first = asyncio.ensure_future(sandbox.execute(job(runner, "sleep 5"), target))
            await asyncio.sleep(0.1)
            short = job(runner, "echo done")
            short = replace(short, run_limits=replace(short.run_limits, wall_ms=4_500))
            second = await sandbox.execute(short, target)
            await first
            return second

    execution = asyncio.run(scenario())
    assert compile_answer_of(execution).steps[0].output == "done\n"
    assert execution.run.wall_ms is not None
    assert execution.run.wall_ms < 4_500


def test_cancelled_jobs_leave_no_box(cache: Path) -> None:
    """Jobs that are cancelled while they run or wait leave no box, and the slot is free."""

    async def scenario() -> tuple[set[str], Execution]:
        async with entered(cache, slots=1) as (sandbox, target, runner):
            first = asyncio.ensure_future(sandbox.execute(job(runner, "sleep 600"), target))
            second = asyncio.ensure_future(sandbox.execute(job(runner, "sleep 600"), target))
            await asyncio.to_thread(wait_for_boxes, 2)
            for task in (second, first):
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            return boxes(), await sandbox.execute(job(runner, "echo still here"), target)

    left, execution = asyncio.run(scenario())
    assert left == set()
    assert compile_answer_of(execution).steps[0].output == "still here\n"


def test_files_come_back_by_descriptor_or_in_the_output(cache: Path) -> None:
    """Files come back unchanged under their names, by descriptor or in the output. A missing file does not."""
    script = "head -c 3000000 /dev/urandom > first; printf '\\000\\377' > second; : > empty"

    async def scenario() -> tuple[Execution, Execution]:
        async with entered(cache, slots=1) as (sandbox, target, runner):
            made = "; ".join(f"cat {name} | sha256sum" for name in ("first", "second", "empty"))
            one = job(runner, f"{script}; {made}", "first", "second", "empty", "missing")
            return await sandbox.execute(one, target), await sandbox.execute(replace(one, returns=()), target)

    for execution, max_boxes in zip(asyncio.run(scenario()), (True, False), strict=True):
        answer = compile_answer_of(execution)
        assert ("base64" in execution.run.stdout) is not max_boxes
        assert [len(content) for content in answer.artifacts.values()] == [3_000_000, 2, 0]
        assert list(answer.artifacts) == ["first", "second", "empty"]
        digests = [line.split()[0] for line in answer.steps[0].output.splitlines()]
        assert [hashlib.sha256(content).hexdigest() for content in answer.artifacts.values()] == digests


def test_an_incomplete_file_is_a_transport_error(cache: Path) -> None:
    """A returned file that is missing, or has another length, raises TransportError."""

    async def scenario() -> Execution:
        async with entered(cache, slots=1) as (sandbox, target, runner):
            return await sandbox.execute(job(runner, "echo hello > made", "made"), target)

    execution = asyncio.run(scenario())
    assert execution.returned == {"artifact0": b"hello\n"}
    for returned in ({}, {"artifact0": b"hell"}, {"artifact0": b"hello\n\n"}):
        with pytest.raises(TransportError):
            compile_answer(execution.run, NONCE, returned, least=Isolation.NONE)


def test_a_full_disk_fails_only_the_job_of_a_trusted_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk raises TransientError for this job. The next job runs as usual."""
    limits = StageLimits(wall_ms=10_000, cpu_ms=10_000, output_bytes=1 << 16)
    script = Job(kind=JobKind.SCRIPTS, files=(JobFile(name="run", content=b"echo"),), run_limits=limits, trusted=True)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def scenario() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            (target,) = sandbox.targets()
            monkeypatch.setattr(Path, "write_bytes", full)
            with pytest.raises(TransientError, match="cannot be put into"):
                await sandbox.execute(script, target)
            monkeypatch.undo()
            assert (await sandbox.execute(script, target)).run.stdout == "\n"

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["compile", "sub/there", "../above"])
def test_a_trusted_script_has_only_files_beside_it(name: str) -> None:
    """A `compile` file and directories are refused. (The first was not run, and the second was a TransientError.)"""
    limits = StageLimits(wall_ms=10_000, cpu_ms=10_000)
    files = (JobFile(name="run", content=b"echo"), JobFile(name=name, content=b"false"))
    script = Job(kind=JobKind.SCRIPTS, files=files, run_limits=limits, trusted=True)

    async def scenario() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            with pytest.raises(RejectedError, match=f"only `run` and files beside it, not {re.escape(name)}"):
                await sandbox.execute(script, sandbox.targets()[0])

    asyncio.run(scenario())


def test_boxes_hide_this_package() -> None:
    """The directory of the package is hidden, because it has the official outputs of the sample contest."""
    assert Path(ioi_eval.__file__).resolve().parent == PACKAGE_DIRECTORY


def test_other_tasks_run_while_the_machine_is_examined(tmp_path: Path) -> None:
    """A compiler that answers late, as on a busy machine, does not stop the caller's event loop."""
    compiler, may_answer = tmp_path / "g++", tmp_path / "may-answer"
    compiler.write_text(f'#!/bin/sh\nwhile [ ! -e {may_answer} ]; do sleep 0.05; done\nexec /usr/bin/g++ "$@"\n')
    compiler.chmod(0o755)

    async def answer() -> None:
        may_answer.touch()

    async def enter() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(answer())
            async with LocalSandbox(compiler=str(compiler)) as sandbox:
                assert sandbox.targets()[0].toolchain.command == str(compiler)

    asyncio.run(enter())
