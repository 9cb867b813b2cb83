"""Machines and containers that limit or lack something that judging needs, in real namespaces and control groups."""

from __future__ import annotations

import _thread
import asyncio
import itertools
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ioi_eval import boxfiles
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.engine.run_jobs import MAX_TESTS
from ioi_eval.errors import SetupError
from ioi_eval.jobs.compile import trusted_limits
from ioi_eval.sandbox.least_limits import LEAST_CPU_S, LEAST_FILE_BYTES
from ioi_eval.sandbox.local import inherited_limits as module
from ioi_eval.sandbox.local.inherited_limits import inherited_limits, limit_of_threads_for_apps
from ioi_eval.sandbox.local.machine_limit import MachineLimit, narrowed_by
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests import unprivileged

MIB = 1 << 20

ENTER = """
import asyncio, sys
from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local.sandbox import LocalSandbox

async def enter():
    try:
        async with LocalSandbox(slots=2) as sandbox:
            print("entered", *[limit.describe() for limit in sandbox.limits])
    except SetupError as error:
        print("refused:", error)

asyncio.run(enter())
"""


def output_of_entering_under(
    script: str, *, prefix: tuple[str, ...] = ("unshare", "--mount"), **environment: str
) -> str:
    """The output of a process that enters a sandbox after a shell script has changed its namespaces."""
    words = [*prefix, "sh", "-ec", f'{script}; exec "$@"', "sh", sys.executable, "-c", ENTER]
    environment = {**os.environ, **environment}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=environment)
    if not done.stdout:
        assert "Traceback" not in done.stderr, done.stderr
        pytest.skip(f"cannot be tested here: {done.stderr.strip()[-200:]}")
    return done.stdout


@pytest.mark.root
def test_without_proc() -> None:
    """Without /proc, the sandbox is refused, and the message names /proc."""
    message = output_of_entering_under("umount --lazy /proc")
    assert message.startswith("refused: "), message
    assert "/proc: it is not mounted" in message


def test_a_process_that_ignores_the_end_of_children() -> None:
    """It would get no exit codes, so the sandbox is refused."""
    message = output_of_entering_under('set -- env --ignore-signal=CHLD "$@"', prefix=())
    assert message.startswith("refused: "), message
    assert "SIGCHLD: this process ignores it" in message


@pytest.mark.root
def test_without_devices() -> None:
    """Without devices, as in an empty chroot, the message names those that are missing."""
    message = output_of_entering_under("mount -t tmpfs none /dev")
    assert "/dev/null: it cannot be opened (No such file or directory)" in message
    assert "/dev/urandom: " in message


@pytest.mark.root
def test_files_in_place_of_devices() -> None:
    """A file in place of /dev/null would keep what a program writes for the next one, so the sandbox is refused."""
    message = output_of_entering_under("mount -t tmpfs none /dev; touch /dev/null; mknod -m 666 /dev/urandom c 1 9")
    assert "/dev/null: it is a file, not a device" in message
    assert "/dev/urandom" not in message


@pytest.mark.root
def test_devices_that_only_root_may_use() -> None:
    """Programs are never root, so they could not use these."""
    script = "mount -t tmpfs none /dev; mknod -m 644 /dev/null c 1 3; mknod -m 600 /dev/urandom c 1 9"
    message = output_of_entering_under(script)
    assert "/dev/null: ordinary users may not use it (its mode is 644)" in message
    assert "/dev/urandom: ordinary users may not use it (its mode is 600)" in message


@pytest.mark.root
def test_a_directory_for_temporary_files_without_room(tmp_path: Path) -> None:
    """A directory with too little space or too few inodes is refused: the message has the size and what to set."""
    mount = "mount -t tmpfs -o size={size} none {where}"
    message = output_of_entering_under(mount.format(size="1m", where=tmp_path), TMPDIR=str(tmp_path))
    assert f"temporary files: 1 MiB are free in {tmp_path}; jobs need " in message
    assert "set TMPDIR" in message
    for enough in ("1g", "0"):  # 0: without a limit
        message = output_of_entering_under(mount.format(size=enough, where=tmp_path), TMPDIR=str(tmp_path))
        assert message.startswith("entered"), message
    message = output_of_entering_under(f"{mount.format(size='1g,nr_inodes=50', where=tmp_path)}", TMPDIR=str(tmp_path))
    assert "more files fit into" in message


@pytest.mark.root
@pytest.mark.parametrize(
    ("mib", "result", "said"),
    [(60, "refused", "jobs need 64 MiB"), (200, "entered", "need up to 256 MiB"), (300, "entered", "")],
)
def test_without_namespaces_the_files_of_all_jobs_need_room(tmp_path: Path, mib: int, result: str, said: str) -> None:
    """With less than jobs may use, the message says what happens, and how many jobs fit."""
    script = f"mount -t tmpfs -o size={mib}m none {tmp_path}; mount --bind /dev/null $(command -v bwrap || mktemp)"
    message = output_of_entering_under(script, TMPDIR=str(tmp_path))
    assert message.startswith(result), message
    assert ("temporary files: " in message, "--workers 1" in message) == (bool(said), bool(said))
    assert said in message


@pytest.mark.root
def test_a_root_directory_that_is_read_only(tmp_path: Path) -> None:
    """If no temporary file can be made, there is a message, not a traceback."""
    message = output_of_entering_under(
        "mount --make-rprivate /; for at in /tmp /var/tmp; do mount --bind -o ro $at $at; done\n"
        "mount -o remount,bind,ro /"
    )
    assert "temporary files: none can be made" in message, message


@pytest.mark.root
def test_shared_memory_is_not_needed() -> None:
    """A sandbox can be entered with a full /dev/shm of 4 KiB."""
    script = "mount -t tmpfs -o size=4k none /dev/shm; head -c 4096 /dev/zero > /dev/shm/full"
    assert output_of_entering_under(script).startswith("entered")


@pytest.mark.root
def test_a_kernel_that_executes_no_memory_files() -> None:
    """With `vm.memfd_noexec=2`, set in a PID namespace, the sandbox is refused."""
    script = "echo 2 > /proc/sys/vm/memfd_noexec"
    message = output_of_entering_under(script, prefix=("unshare", "--pid", "--fork", "--mount-proc"))
    assert "executable memory files: none can be made" in message
    assert "vm.memfd_noexec" in message


@pytest.mark.root
def test_a_kernel_that_counts_reserved_memory(tmp_path: Path) -> None:
    """With `vm.overcommit_memory=2` (here a file in its place) a line says so, because correct programs may fail."""
    (tmp_path / "2").write_text("2\n", encoding="utf-8")
    message = output_of_entering_under(f"mount --bind {tmp_path}/2 /proc/sys/vm/overcommit_memory")
    assert message.startswith("entered reserved memory: all programs together may reserve only what this machine has")
    assert "sysctl vm.overcommit_memory=0" in message


@pytest.fixture
def group(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A control group for the test, with the controller of the parameter."""
    controller = request.param
    for root in (Path("/sys/fs/cgroup") / controller, Path("/sys/fs/cgroup")):
        path = root / f"ioi-eval-test-{os.getpid()}"
        try:
            path.mkdir()
        except OSError:
            continue
        if any(path.glob(f"{controller}.*max*")) or any(path.glob(f"{controller}.limit*")):
            yield path
            path.rmdir()
            return
        path.rmdir()
    pytest.skip(f"no control group with {controller} can be made here")


@pytest.mark.root
@pytest.mark.parametrize("group", ["memory"], indirect=True)
def test_the_memory_of_a_container(group: Path, cache: Path) -> None:
    """256 MiB are too little for a compiler, and are refused. 600 MiB are accepted, with a message about the effect."""
    limit = next(path for name in ("memory.max", "memory.limit_in_bytes") if (path := group / name).exists())
    join = f"echo $$ > {group}/cgroup.procs"
    limit.write_text(str(256 * MIB))
    message = output_of_entering_under(join, prefix=())
    assert "refused: " in message
    assert "memory: this container has 256 MiB; compiling needs up to 512 MiB" in message
    limit.write_text(str(600 * MIB))
    message = output_of_entering_under(join, prefix=())
    assert message.startswith("entered memory: this container has 600 MiB; a program that finds none left is JE"), (
        message
    )


@pytest.mark.root
@pytest.mark.parametrize("group", ["pids"], indirect=True)
def test_the_processes_of_a_container(group: Path, cache: Path) -> None:
    """The limit on processes is found by starting some. The message says that it is too small for two jobs."""
    (group / "pids.max").write_text("100")
    message = output_of_entering_under(f"echo $$ > {group}/cgroup.procs", prefix=())
    assert "2 jobs at once need 160 with the threads of their programs" in message
    assert "or give score, validate or serve the option --workers 1 (slots= in Python)" in message


MANY_THREADS = """
import sys
from pathlib import Path
from ioi_eval.apps.execution import AppsSettings
from ioi_eval.model import Isolation
from tests.python_box import row, score_all

start = "threading.Thread(target=event.wait, daemon=True).start()"
program = f"import threading\\nevent = threading.Event()\\nfor _ in range(300): {start}\\nprint(7)"
settings = AppsSettings(least_isolation=Isolation.REDUCED)
(result,) = score_all(Path(sys.argv[1]), [(row(["1"], ["7"]), program)], settings, Isolation.REDUCED)
print(result.verdict, result.message)
"""


@pytest.mark.root
@pytest.mark.parametrize("group", ["pids"], indirect=True)
def test_a_program_that_gets_no_more_threads_from_a_container(group: Path, cache: Path) -> None:
    """A program with 300 threads is AC. If the container allows 200 processes, it is JE and has no score."""
    for most, expected in (("max", "AC "), ("200", "JE this container's limit on processes was reached")):
        (group / "pids.max").write_text(most)
        enter = ["sh", "-ec", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
        words = [*enter, sys.executable, "-c", MANY_THREADS, str(cache)]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=120, check=True, cwd=Path(__file__).parents[3]
        )
        assert done.stdout.startswith(expected), done


MANY_PROCESSES = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.local.test_local_turns import compile_answer_of, entered, job

async def start() -> None:
    async with entered(Path(sys.argv[1]), slots=1) as (sandbox, target, runner):
        forks = job(runner, "while sleep 1000 & do :; done; exit 7")
        print(compile_answer_of(await sandbox.execute(forks, target)).steps[0].code)

asyncio.run(start())
"""


@pytest.mark.root
@pytest.mark.parametrize("group", ["pids"], indirect=True)
def test_a_compiler_that_gets_no_more_processes_from_a_container(group: Path, cache: Path) -> None:
    """Its failure counts: code that a compiler executes may start processes until the container allows no more."""
    (group / "pids.max").write_text("200")
    enter = ["sh", "-ec", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    words = [*enter, sys.executable, "-c", MANY_PROCESSES, str(cache)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True, cwd=Path(__file__).parents[3])
    assert int(done.stdout) > 0, done


def _entered_with(number: int, value: int) -> str:
    resource.setrlimit(number, (value, value))

    async def enter() -> str:
        try:
            async with LocalSandbox(slots=2) as sandbox:
                return f"entered {sandbox.targets()[0].narrowed}"
        except SetupError as error:
            return str(error)

    return asyncio.run(enter())


@pytest.mark.root
@pytest.mark.parametrize(
    ("number", "value", "words"),
    [
        (resource.RLIMIT_STACK, 8 * MIB, "stack: 8 MiB at most"),
        (resource.RLIMIT_STACK, 128 * MIB, "entered stack 128 MiB at most"),
        (resource.RLIMIT_AS, 2000 * MIB, "address space: 1.953 GiB at most"),
        (resource.RLIMIT_NOFILE, 256, "open files: 256 at once"),
        (resource.RLIMIT_NPROC, 60, "more can be started"),
        (resource.RLIMIT_NPROC, 0, "Docker, which before 20.10.10 forbids clone3"),
        (resource.RLIMIT_FSIZE, 100 * MIB, "file size: 100 MiB at most"),
        (resource.RLIMIT_CPU, 30, "CPU time: 30 s"),
    ],
)
def test_limits_of_an_ordinary_user(number: int, value: int, words: str) -> None:
    """An ordinary user gets a message for each limit. The limit on processes is tried: other processes count too.
    Fewer workers are advised only where one could run; here none can."""
    with unprivileged.private_directory():
        message = unprivileged.call(_entered_with, number, value)
    assert words in message
    assert "--workers" not in message


def test_jobs_that_wait_in_boxes_hold_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 16 slots there are 18 boxes: in two of them a job is ready, and has its files open."""
    getrlimit = resource.getrlimit

    def limited(number: int) -> tuple[int, int]:
        return (7000, 7000) if number == resource.RLIMIT_NOFILE else getrlimit(number)

    async def enter() -> list[str]:
        async with LocalSandbox(slots=16) as sandbox:
            return [limit.describe() for limit in sandbox.limits if limit.what == "open files"]

    monkeypatch.setattr(resource, "getrlimit", limited)
    (files,) = asyncio.run(enter())
    assert "16 jobs at once need up to 7328" in files


def test_threads_that_find_no_memory_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of threads some start and end without a call (`MemoryError`, which Python only prints)."""
    start, calls = _thread.start_new_thread, itertools.count()

    def start_every_other(call: Callable[[], None], _: tuple[()]) -> int:
        return start(call if next(calls) % 2 else lambda: None, ())

    monkeypatch.setattr(_thread, "start_new_thread", start_every_other)
    monkeypatch.setattr(module, "_ENDED_S", 0.05)
    assert module._startable(4, 8) == 8


def test_the_check_leaves_no_threads() -> None:
    """No thread that the check started is left."""
    before = len(os.listdir("/proc/self/task"))
    inherited_limits(slots=2, boxes=3)
    for _ in range(1000):
        if len(os.listdir("/proc/self/task")) <= before:
            return
        os.sched_yield()
    pytest.fail("threads are left")


def test_only_limits_that_fail_programs_are_in_the_fingerprint() -> None:
    """Limits that cannot change a verdict must not change a fingerprint."""
    common = {"measured": "so much", "needed": "more", "advice": "raise it", "is_fatal": False}
    limits = [MachineLimit(what="stack", changes_outcomes=True, **common), MachineLimit(what="memory", **common)]  # type: ignore[arg-type]
    assert narrowed_by(limits) == "stack so much"
    assert narrowed_by(()) == ""


def test_the_least_limits_are_what_jobs_need() -> None:
    """The numbers come from the runner, the compile limits and the engine, which this module cannot import."""
    numbers = boxfiles.read("runner/numbers.h").decode("utf-8")
    slack_mib = re.search(r"kFileSlackBytes = (\d+) << 20", numbers)
    fds = re.search(r"kLeastFds = (\d+)", numbers)
    threads = re.search(r"kSureThreads = (\d+)", numbers)
    backstop_s = re.search(r"ms / 1000 \+ (\d+)", boxfiles.read("runner/processes.h").decode("utf-8"))
    assert slack_mib is not None
    assert fds is not None
    assert threads is not None
    assert backstop_s is not None
    assert Policy().output_bytes + int(slack_mib[1]) * MIB == LEAST_FILE_BYTES
    assert trusted_limits(CompileLimits()).cpu_s + int(backstop_s[1]) == LEAST_CPU_S
    assert int(fds[1]) <= module._LEAST_FILES
    assert Policy().threads == int(threads[1])
    assert module._FILES_A_JOB == 3 * MAX_TESTS + 16
    assert AppsSettings().threads == module._APPS_THREADS


@pytest.mark.parametrize(
    ("user", "hard", "restricts"), [(0, 524, False), (0, 523, True), (9, 1540, False), (9, 1539, True)]
)
def test_jobs_of_an_ordinary_user_share_a_limit_on_processes(
    monkeypatch: pytest.MonkeyPatch, user: int, hard: int, *, restricts: bool
) -> None:
    """Programs for APPS may need more than all others. As root each box has a user of its own."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (hard, hard))
    monkeypatch.setattr(module, "processes_left", lambda: None)
    assert bool(limit_of_threads_for_apps(slots=3)) == restricts


@pytest.mark.parametrize(("user", "left", "restricts"), [(0, 1540, False), (0, 1539, True), (9, 1539, True)])
def test_all_jobs_share_the_processes_of_a_container(
    monkeypatch: pytest.MonkeyPatch, user: int, left: int, *, restricts: bool
) -> None:
    """Also as root, where boxes have different users."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    monkeypatch.setattr(module, "processes_left", lambda: left)
    limits = limit_of_threads_for_apps(slots=3)
    assert [(limit.measured, "--pids-limit" in limit.advice, limit.is_fatal) for limit in limits] == (
        [("1539 more in this container", True, False)] if restricts else []
    )
