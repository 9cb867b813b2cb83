"""Script jobs in real boxes: they work as Piston's users expect, and scripts cannot break out."""

from __future__ import annotations

import asyncio
import hashlib
import os
import resource
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ioi_eval import shipped
from ioi_eval.errors import RejectedError, TransientError
from ioi_eval.model import Execution, Isolation, Job, JobFile, JobKind, Stage, StageLimits
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.local.scripts import ScriptBoxes
from ioi_eval.toolchain import Toolchain
from tests.full_isolation import full_isolation
from tests.sandbox.marked_processes import processes_with

WIDE = StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=1 << 30, output_bytes=1 << 20)


def script_job(
    run: str,
    compile: str | None = None,
    *,
    limits: StageLimits = WIDE,
    files: dict[str, bytes] | None = None,
    args: tuple[str, ...] = (),
    stdin: bytes = b"",
) -> Job:
    """A job of scripts, as it comes from somebody we do not know."""
    contents = {"run": run.encode()} | ({} if compile is None else {"compile": compile.encode()}) | (files or {})
    return Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content) for name, content in contents.items()),
        args=args,
        stdin=stdin,
        compile_limits=limits,
        run_limits=limits,
    )


class Boxes:
    """One sandbox for all tests, and the loop that it lives in."""

    def __init__(self, runner: asyncio.Runner, sandbox: LocalSandbox) -> None:
        self.runner = runner
        self.sandbox = sandbox
        (self.target,) = sandbox.targets()

    def execute(self, job: Job) -> Execution:
        """Run a job to its end."""
        return self.runner.run(self.sandbox.execute(job, self.target))

    def run(self, script: str, limits: StageLimits = WIDE) -> Stage:
        """The run stage of a job that has no other."""
        return self.execute(script_job(script, limits=limits)).run


@pytest.fixture(scope="module")
def boxes() -> Iterator[Boxes]:
    """A sandbox with full isolation."""
    with full_isolation() as (runner, sandbox):
        yield Boxes(runner, sandbox)


def test_stages_share_the_box_and_keep_their_streams_apart(boxes: Boxes) -> None:
    """`compile` leaves a file that `run` reads; four streams, arguments and standard input arrive unmixed."""
    job = script_job(
        'cat made; cat; printf "<%s>" "$@"; echo rerr >&2',
        "echo made here > made; echo cout; echo cerr >&2; cat",
        args=("a b", ""),
        stdin=b"typed\n",
    )
    execution = boxes.execute(job)
    assert execution.compile is not None
    assert (execution.compile.stdout, execution.compile.stderr, execution.compile.code) == ("cout\n", "cerr\n", 0)
    assert (execution.run.stdout, execution.run.stderr) == ("made here\ntyped\n<a b><>", "rerr\n")
    assert (execution.run.code, execution.run.signal, execution.run.status, execution.run.message) == (
        0,
        None,
        None,
        None,
    )


def test_failed_compilation_is_both_stages(boxes: Boxes) -> None:
    """As on Piston: where `compile` fails, `run` is a copy of it."""
    execution = boxes.execute(script_job("echo never", "echo no >&2; exit 3"))
    assert execution.run == execution.compile
    stage = execution.run
    assert (stage.code, stage.status, stage.message) == (3, "RE", "Exited with error status 3")
    assert (stage.stdout, stage.stderr) == ("", "no\n")


def test_a_script_s_own_signal_is_no_exit_code(boxes: Boxes) -> None:
    """The script's death by a signal has code null; that of a child is the script's exit code 128 + n."""
    killed = boxes.run("kill -SEGV $$")
    assert (killed.code, killed.signal, killed.status, killed.message) == (
        None,
        "SIGSEGV",
        "SG",
        "Caught fatal signal 11",
    )
    assert boxes.run("bash -c 'kill -KILL $$'").code == 137


@pytest.mark.parametrize(
    ("script", "limits", "status", "message"),
    [
        ("echo early; sleep 1000", {"wall_ms": 1000}, "TO", "Time limit exceeded (wall clock)"),
        ("echo early; while :; do :; done", {"cpu_ms": 500}, "TO", "Time limit exceeded"),
        (
            "echo early; (trap '' TERM INT; while :; do :; done) & while :; do :; done",
            {"cpu_ms": 500},
            "TO",
            "Time limit exceeded",
        ),
        ("echo early; yes", {"output_bytes": 100_000}, "OL", "stdout length exceeded"),
        ("echo early; yes >&2", {"output_bytes": 100_000}, "EL", "stderr length exceeded"),
        ("echo early; head -c 5000 /dev/zero", {"output_bytes": 1000}, "OL", "stdout length exceeded"),
    ],
)
def test_limits(boxes: Boxes, script: str, limits: dict[str, int], status: str, message: str) -> None:
    """Over a limit: SIGKILL with the status that names it; what was written before is there, and no more than that."""
    bounds = StageLimits(**({"wall_ms": 60_000, "cpu_ms": 60_000} | limits))
    stage = boxes.run(script, limits=bounds)
    assert (stage.code, stage.signal, stage.status, stage.message) == (None, "SIGKILL", status, message)
    assert stage.stdout.startswith("early\n")
    assert max(len(stage.stdout), len(stage.stderr)) <= bounds.output_bytes


def test_memory_limit_kills_the_largest_process(boxes: Boxes) -> None:
    """As in a full memory cgroup: the greedy process dies, and the script can say so."""
    limits = StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=100 << 20)
    stage = boxes.run("tail /dev/zero; echo tail $?", limits=limits)
    assert stage.stdout == "tail 137\n"
    assert stage.memory_bytes is not None
    assert stage.memory_bytes > 100 << 20


def test_cpu_time_counts_the_whole_box(boxes: Boxes) -> None:
    """CPU time of children is there, whether they were waited for or have lost their parent."""
    busy = "for ((i = 0; i < 200000; i++)); do :; done"
    one = boxes.run(busy).cpu_ms
    three = boxes.run(f"({busy}); (({busy}) & ) ; {busy}; sleep 2").cpu_ms
    assert one is not None
    assert three is not None
    assert three > 1.8 * one


def test_nothing_lives_between_or_after_the_stages(boxes: Boxes) -> None:
    """A daemon of the compile stage is not there in the run stage, and none of either outlives the job."""
    mark = f"mark-{secrets.token_hex(8)}"
    daemon = f"(setsid bash -c 'exec -a {mark} sleep 1000' > /dev/null 2>&1 &)"
    execution = boxes.execute(script_job(f"ls -d /proc/[0-9]*; {daemon}", f"{daemon}; sleep 0.2"))
    assert execution.run.stdout.startswith("/proc/1\n")
    assert len(execution.run.stdout.split()) == 2  # the keeper and the script
    assert processes_with(mark) == []


def test_a_child_that_holds_stdout_does_not_hold_the_answer(boxes: Boxes) -> None:
    """The stage is over when the script is over, not when its last child lets go of the pipe."""
    stage = boxes.run("(sleep 1000; echo late) & echo done")
    assert (stage.stdout, stage.code, stage.status) == ("done\n", 0, None)


@pytest.mark.parametrize(
    "attempt",
    [
        "echo '{}' > /proc/1/fd/1",
        "ls /proc/1/fd/ | grep .",
        "cat /proc/1/environ | grep .",
        "head -c 1 /proc/1/mem",
        "bash -c 'kill -KILL 1; kill -STOP 1; sleep 0.1; grep -q State:.T /proc/1/status'",
        "for fd in 3 4 5 6 7 8 9; do echo '{}' >&$fd && exit 0; done 2> /dev/null; exit 1",
        "unshare -Ur cat /proc/1/environ | grep .",
    ],
)
def test_the_keeper_is_out_of_reach(boxes: Boxes, attempt: str) -> None:
    """A script cannot write to the channel of the answer, look into the keeper, or stop it."""
    stage = boxes.run(f"({attempt}) 2> /dev/null > /dev/null && echo reached; exit 7")
    assert (stage.stdout, stage.code, stage.status) == ("", 7, "RE")


def test_a_forged_answer_is_only_output(boxes: Boxes) -> None:
    """What looks like the keeper's line on stdout is text like any other."""
    line = (
        '{"stage":"run","code":0,"signal":0,"limit":null,"cpu_us":0,"wall_us":0,"memory_bytes":0,"stdout":0,"stderr":0}'
    )
    stage = boxes.run(f"echo '{line}'; exit 9")
    assert (stage.code, stage.stdout) == (9, line + "\n")


def test_a_script_that_starves_the_keeper_gets_no_status(boxes: Boxes) -> None:
    """`prlimit` reaches the keeper, as it has the same user id: then there is no answer at all."""
    job = script_job("prlimit --pid 1 --nofile=0:0 && sleep 5; exit 0")
    with pytest.raises(TransientError, match="no answer"):
        boxes.execute(job)


def test_the_box_shows_nothing_of_this_machine(boxes: Boxes, tmp_path: Path) -> None:
    """Neither files of ours, nor the network, nor the package; the system is read-only."""
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    tmp_path.chmod(0o755)
    script = f"""
        cat {secret} && echo file
        ls -d /root /home /var /etc/passwd {Path(__file__).resolve().parents[3]} && echo directory
        (exec 3<> /dev/tcp/127.0.0.1/22) && echo network
        ls /sys/class/net && echo interfaces
        touch /usr/x /x /dev/x && echo writable
        grep -v -e Cap -e : /proc/self/status && echo
        grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo capable
        exit 0
    """
    assert boxes.run(script).stdout == ""


def test_files_of_any_depth_and_mode(boxes: Boxes) -> None:
    """Directories are made, content is exact, and only what the job says is executable."""
    content = bytes(range(256)) * 4096
    job = Job(
        kind=JobKind.SCRIPTS,
        files=(
            JobFile(name="run", content=b"sha256sum < a/b/c.bin; stat -c '%a %n' a/b/c.bin tool; ./tool"),
            JobFile(name="a/b/c.bin", content=content),
            JobFile(name="tool", content=b"#!/bin/sh\necho tool\n", executable=True),
        ),
        run_limits=WIDE,
    )
    expected = f"{hashlib.sha256(content).hexdigest()}  -\n644 a/b/c.bin\n755 tool\ntool\n"
    assert boxes.execute(job).run.stdout == expected


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "a//b", "", "nul\0"])
def test_names_that_lead_out_are_refused(boxes: Boxes, name: str) -> None:
    """No file of a job is placed anywhere but below the box."""
    with pytest.raises(RejectedError, match="cannot be the name"):
        boxes.execute(script_job("true", files={name: b"x"}))


def test_files_that_do_not_fit_are_refused(boxes: Boxes) -> None:
    """A file and a directory of one name: bwrap says no, and so do we, in its words."""
    with pytest.raises(RejectedError, match="cannot be placed"):
        boxes.execute(script_job("true", files={"a": b"x", "a/b": b"y"}))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a limit that holds for boxes and not for us")
def test_a_box_that_cannot_be_made_is_not_the_jobs_fault(boxes: Boxes) -> None:
    """The machine has no room for another process: that passes."""
    boxes.run("true")  # compiles what starts it
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
    try:
        with pytest.raises(TransientError, match=r"the box gave no answer .*Resource temporarily unavailable"):
            boxes.run("true")
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def test_reduced_isolation_runs_no_scripts_of_others() -> None:
    """Without namespaces nothing would keep a script from this machine: refused, with the reason."""

    async def inside() -> None:
        async with LocalSandbox(slots=1, strongest=Isolation.REDUCED) as sandbox:
            (target,) = sandbox.targets()
            with pytest.raises(RejectedError, match="need isolation 'full'"):
                await sandbox.execute(script_job("true"), target)

    asyncio.run(inside())


def test_cancellation_leaves_nothing_behind(boxes: Boxes) -> None:
    """When nobody waits for the answer any more, the whole box dies, and its slot is free."""
    mark = f"mark-{secrets.token_hex(8)}"

    async def inside() -> None:
        job = script_job(f"setsid bash -c 'exec -a {mark} sleep 1000'")
        task = asyncio.create_task(boxes.sandbox.execute(job, boxes.target))
        await eventually(lambda: processes_with(mark) != [])
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: processes_with(mark) == [])

    boxes.runner.run(inside())
    assert boxes.run("echo next").stdout == "next\n"


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; the test's own timeout is the bound."""
    while not holds():  # noqa: ASYNC110 (another process decides it)
        await asyncio.sleep(0.02)


def test_a_shipped_keeper_that_is_cancelled_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is tried, its caller may give up: no descriptor of it is left."""
    toolchain = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)

    def memory_files() -> list[str]:
        links = (Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
        return [link.name for link in links if link.is_symlink() and "memfd" in str(link.readlink())]

    async def give_up() -> None:
        boxes, before = ScriptBoxes(toolchain), memory_files()
        task = asyncio.create_task(boxes.run((), {}, uid=None))

        def program(*_: str) -> bytes:
            task.cancel()  # as soon as it waits for something: for the keeper to start
            return b"#!/bin/sh\nexec sleep 1000\n"

        monkeypatch.setattr(shipped, "program", program)
        with pytest.raises(asyncio.CancelledError):
            await task
        boxes.close()
        assert memory_files() == before

    asyncio.run(give_up())
