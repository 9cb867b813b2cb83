"""Script jobs in real boxes: they behave as on Piston, and scripts cannot leave the box."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import resource
import secrets
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from ioi_eval import shipped
from ioi_eval.errors import RejectedError, TransientError
from ioi_eval.model import Execution, Isolation, Job, JobFile, JobKind, Stage, StageLimits
from ioi_eval.sandbox.local import scripts
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.local.scripts import commands, run_in_box
from ioi_eval.slots import Once
from ioi_eval.toolchain import Toolchain
from tests.full_isolation import full_isolation
from tests.sandbox.marked_processes import processes_with

STAGES = Path(__file__).resolve().parents[3] / "graders" / "stages.cpp"
WIDE = StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=1 << 30, output_bytes=1 << 20)


def script_job(
    run: str,
    compile: str | None = None,
    *,
    limits: StageLimits = WIDE,
    files: dict[str, bytes] | None = None,
    args: tuple[str, ...] = (),
) -> Job:
    """A job of scripts that are not trusted."""
    contents = {"run": run.encode()} | ({} if compile is None else {"compile": compile.encode()}) | (files or {})
    return Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content) for name, content in contents.items()),
        args=args,
        compile_limits=limits,
        run_limits=limits,
    )


def test_each_stage_has_its_own_limits() -> None:
    """Without limits for compiling, those of the run apply to both."""
    narrow = replace(WIDE, cpu_ms=1_000)
    job = replace(script_job("", ""), compile_limits=narrow)
    assert [(each.stage, each.limits) for each in commands(job)] == [("compile", narrow), ("run", WIDE)]
    assert {each.limits for each in commands(replace(job, compile_limits=None))} == {WIDE}


class Boxes:
    """One sandbox for all tests, and its event loop."""

    def __init__(self, runner: asyncio.Runner, sandbox: LocalSandbox) -> None:
        self.runner = runner
        self.sandbox = sandbox
        (self.target,) = sandbox.targets()

    def execute(self, job: Job) -> Execution:
        """Execute a job."""
        return self.runner.run(self.sandbox.execute(job, self.target))

    def run(self, script: str, limits: StageLimits = WIDE) -> Stage:
        """The run stage of a job without a compile stage."""
        return self.execute(script_job(script, limits=limits)).run


@pytest.fixture(scope="module")
def boxes() -> Iterator[Boxes]:
    """A sandbox with full isolation."""
    with full_isolation() as (runner, sandbox):
        yield Boxes(runner, sandbox)


def test_scripts_are_killed_first_if_memory_runs_out(boxes: Boxes) -> None:
    """The kernel kills them before other processes of this machine, such as the server."""
    assert boxes.run("cat /proc/self/oom_score_adj").stdout == "1000\n"


def test_stages_share_the_box_and_keep_their_streams_apart(boxes: Boxes) -> None:
    """`run` reads a file that `compile` made. Each stage has its own stdout and stderr. `run` gets its arguments, and
    an empty stdin.
    """
    job = script_job(
        'cat made; cat; printf "<%s>" "$@"; echo rerr >&2',
        "echo made here > made; echo cout; echo cerr >&2; cat",
        args=("a b", ""),
    )
    execution = boxes.execute(job)
    assert execution.compile is not None
    assert (execution.compile.stdout, execution.compile.stderr, execution.compile.code) == ("cout\n", "cerr\n", 0)
    assert (execution.run.stdout, execution.run.stderr) == ("made here\n<a b><>", "rerr\n")
    assert (execution.run.code, execution.run.signal, execution.run.status, execution.run.message) == (
        0,
        None,
        None,
        None,
    )


def test_inherited_signals_do_not_reach_scripts(boxes: Boxes, tmp_path: Path) -> None:
    """If its parent ignores and blocks signals, the stage runner still learns how a stage ends, and a signal ends it.

    (`boxes` has found out that namespaces can be made here.)
    """
    program = tmp_path / "stages"
    subprocess.run(["g++", "-std=c++17", "-o", program, STAGES], check=True)
    box = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    box += ["env", "--ignore-signal", "--block-signal"]
    endings = {"exit 3": {"code": 3, "signal": 0}, "kill -TERM $$; sleep 60": {"code": 0, "signal": 15}}
    for command, ending in endings.items():
        words = ["run", "60000", "60000", str(1 << 30), "1000", "-1", "3", "bash", "-c", command]
        done = subprocess.run([*box, program, *words], capture_output=True, timeout=120, check=True)
        ended = orjson.loads(done.stdout.splitlines()[0])
        assert {name: ended[name] for name in ending} == ending
        assert ended["limit"] is None


def test_a_long_output_is_read_in_a_thread(boxes: Boxes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is the same as if it were decoded at once, also if it is not UTF-8. Reading 100 MB takes 0.3 s."""
    read, in_loop = scripts._execution, []

    def watched(answer: bytes) -> Execution:
        in_loop.append(asyncio._get_running_loop() is not None)
        return read(answer)

    monkeypatch.setattr(scripts, "_execution", watched)
    some = "a\\xe2\\x82\\xac\\xf0\\x9f\\xff\\xc3"  # no power of two in length: pieces end within characters
    script = f"yes $'{some}' | head -c 3000001; printf '{some}' >&2"
    run = boxes.run(script, StageLimits(wall_ms=60_000, cpu_ms=60_000, output_bytes=1 << 22))
    line = b"a\xe2\x82\xac\xf0\x9f\xff\xc3"
    whole = (line + b"\n") * 3_000_000
    assert run.stdout == whole[:3_000_001].decode("utf-8", "replace")
    assert run.stderr == line.decode("utf-8", "replace")
    boxes.run("echo short")
    assert in_loop == [False, True]


def test_failed_compilation_is_both_stages(boxes: Boxes) -> None:
    """If `compile` fails, the run stage is a copy of it, as on Piston."""
    execution = boxes.execute(script_job("echo never", "echo no >&2; exit 3"))
    assert execution.run == execution.compile
    stage = execution.run
    assert (stage.code, stage.status, stage.message) == (3, "RE", "Exited with error status 3")
    assert (stage.stdout, stage.stderr) == ("", "no\n")


def test_a_signal_of_the_script_is_not_an_exit_code(boxes: Boxes) -> None:
    """A script killed by a signal has no exit code. If its child is killed, its exit code is 128 + n."""
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
    """A script over a limit gets SIGKILL and the status of the limit. Its output is kept up to the output limit."""
    bounds = StageLimits(**({"wall_ms": 60_000, "cpu_ms": 60_000} | limits))
    stage = boxes.run(script, limits=bounds)
    assert (stage.code, stage.signal, stage.status, stage.message) == (None, "SIGKILL", status, message)
    assert stage.stdout.startswith("early\n")
    assert max(len(stage.stdout), len(stage.stderr)) <= bounds.output_bytes


def test_memory_limit_kills_the_largest_process(boxes: Boxes) -> None:
    """As with a memory limit of a control group, the largest process is killed, and the script runs on."""
    limits = StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=100 << 20)
    stage = boxes.run("tail /dev/zero; echo tail $?", limits=limits)
    assert stage.stdout == "tail 137\n"
    assert stage.memory_bytes is not None
    assert stage.memory_bytes > 100 << 20


def test_cpu_time_counts_the_whole_box(boxes: Boxes) -> None:
    """The CPU time includes that of children, also of those whose parent has ended."""
    busy = "for ((i = 0; i < 200000; i++)); do :; done"
    one = boxes.run(busy).cpu_ms
    three = boxes.run(f"({busy}); (({busy}) & ) ; {busy}; sleep 2").cpu_ms
    assert one is not None
    assert three is not None
    assert three > 1.8 * one


def test_no_process_survives_a_stage(boxes: Boxes) -> None:
    """A daemon of the compile stage does not run in the run stage, and no daemon survives the job."""
    mark = f"mark-{secrets.token_hex(8)}"
    daemon = f"(setsid bash -c 'exec -a {mark} sleep 1000' > /dev/null 2>&1 &)"
    execution = boxes.execute(script_job(f"ls -d /proc/[0-9]*; {daemon}", f"{daemon}; sleep 0.2"))
    assert execution.run.stdout.startswith("/proc/1\n")
    assert len(execution.run.stdout.split()) == 2  # the stage runner and the script
    assert processes_with(mark) == []


def test_a_child_that_holds_stdout_does_not_delay_the_answer(boxes: Boxes) -> None:
    """The stage ends with the script, even if a child still holds stdout open."""
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
def test_scripts_cannot_access_the_stage_runner(boxes: Boxes, attempt: str) -> None:
    """A script cannot write to the stage runner's channel, read its data, or stop it."""
    stage = boxes.run(f"({attempt}) 2> /dev/null > /dev/null && echo reached; exit 7")
    assert (stage.stdout, stage.code, stage.status) == ("", 7, "RE")


def test_a_forged_answer_is_only_output(boxes: Boxes) -> None:
    """A line on stdout that looks like the stage runner's answer is treated as output."""
    line = (
        '{"stage":"run","code":0,"signal":0,"limit":null,"cpu_us":0,"wall_us":0,"memory_bytes":0,"stdout":0,"stderr":0}'
    )
    stage = boxes.run(f"echo '{line}'; exit 9")
    assert (stage.code, stage.stdout) == (9, line + "\n")


def test_a_script_that_limits_the_stage_runner_gets_no_answer(boxes: Boxes) -> None:
    """`prlimit` can limit the stage runner, which has the same user id. Then there is no answer: TransientError."""
    job = script_job("prlimit --pid 1 --nofile=0:0 && sleep 5; exit 0")
    with pytest.raises(TransientError, match="no answer"):
        boxes.execute(job)


def test_the_box_shows_nothing_of_this_machine(boxes: Boxes, tmp_path: Path) -> None:
    """A script cannot read our files or this package, use the network, or write to the system."""
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


def test_crashes_start_no_core_handler(boxes: Boxes) -> None:
    """The limit on core files is 1 byte: with 0 the kernel still pipes a core to a program of the machine."""
    assert boxes.run("grep -F 'core file' /proc/self/limits").stdout.split()[-3:] == ["1", "1", "bytes"]


def test_files_of_any_depth_and_mode(boxes: Boxes) -> None:
    """Directories are made, contents are exact, and only files that the job marks are executable."""
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
def test_names_outside_of_the_box_are_refused(boxes: Boxes, name: str) -> None:
    """File names outside of the box are refused with RejectedError."""
    with pytest.raises(RejectedError, match="cannot be the name"):
        boxes.execute(script_job("true", files={name: b"x"}))


def test_a_file_and_a_directory_of_one_name_are_refused(boxes: Boxes) -> None:
    """A file and a directory with the same name are refused with bwrap's message."""
    with pytest.raises(RejectedError, match="cannot be placed"):
        boxes.execute(script_job("true", files={"a": b"x", "a/b": b"y"}))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a limit that applies to boxes and not to this process")
def test_a_box_that_cannot_be_made_is_a_transient_error(boxes: Boxes) -> None:
    """If no further process can be started, the job gets TransientError and can be repeated."""
    boxes.run("true")  # compiles the stage runner
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
    try:
        with pytest.raises(TransientError, match=r"the box gave no answer .*Resource temporarily unavailable"):
            boxes.run("true")
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def test_too_few_descriptors_for_the_stage_runner_are_our_failure(boxes: Boxes) -> None:
    """If it cannot be opened for the first job, the job gets TransientError and can be repeated."""
    boxes.run("true")  # a checkout ships no stage runner: compile it for this process while descriptors are left
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with full_isolation() as (runner, sandbox), contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        with contextlib.suppress(OSError):
            while True:
                stack.callback(os.close, os.dup(0))
        with pytest.raises(TransientError, match="a job's files cannot be opened: Too many open files"):
            runner.run(sandbox.run_commands(commands(script_job("true")), ()))


def test_reduced_isolation_runs_no_scripts_of_others() -> None:
    """Scripts that are not trusted are refused with the reason: without namespaces they are not confined."""

    async def inside() -> None:
        async with LocalSandbox(slots=1, strongest=Isolation.REDUCED) as sandbox:
            (target,) = sandbox.targets()
            with pytest.raises(RejectedError, match="need isolation 'full'"):
                await sandbox.execute(script_job("true"), target)

    asyncio.run(inside())


def test_cancellation_leaves_nothing_behind(boxes: Boxes) -> None:
    """If the caller is cancelled, all processes of the box are killed, and the slot is free."""
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


def test_the_stage_runner_is_compiled_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another sandbox with the same compiler uses it too."""
    compiled: list[Toolchain] = []

    async def counting(toolchain: Toolchain, uid: int | None) -> bytes:
        compiled.append(toolchain)
        return await compile_stage_runner(toolchain, uid)

    compile_stage_runner = scripts.compile_stage_runner
    monkeypatch.setattr(scripts, "compile_stage_runner", counting)
    monkeypatch.setattr(scripts, "_stage_runners", Once())
    monkeypatch.setattr(shipped, "content_for", lambda *_: None)
    for _ in range(2):
        with full_isolation() as (runner, sandbox):
            assert Boxes(runner, sandbox).execute(script_job("echo here")).run.stdout == "here\n"
    assert len(compiled) == 1


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most until the test's timeout."""
    while not holds():  # noqa: ASYNC110 (another process decides it)
        await asyncio.sleep(0.02)


def test_cancelling_the_trial_of_a_shipped_stage_runner_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the caller is cancelled while a shipped stage runner is tried, its descriptor is closed."""
    toolchain = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)

    def memory_files() -> list[str]:
        links = (Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
        return [link.name for link in links if link.is_symlink() and "memfd" in str(link.readlink())]

    async def give_up() -> None:
        before = memory_files()
        task = asyncio.create_task(run_in_box((), (), toolchain, uid=None))

        def program(*_: str) -> bytes:
            task.cancel()  # takes effect at the next await: while the stage runner starts
            return b"#!/bin/sh\nexec sleep 1000\n"

        monkeypatch.setattr(shipped, "content_for", program)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert memory_files() == before

    asyncio.run(give_up())
