"""Machines and containers that limit or lack something, tested in real namespaces and control groups."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local.inherited_limits import inherited_limits
from ioi_eval.sandbox.local.machine_limit import MachineLimit, narrowing
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


def entered_under(script: str, *, prefix: tuple[str, ...] = ("unshare", "--mount"), **environment: str) -> str:
    """What a sandbox says when it is entered by a process that a shell started after it had changed its namespaces."""
    words = [*prefix, "sh", "-ec", f'{script}; exec "$@"', "sh", sys.executable, "-c", ENTER]
    environment = {**os.environ, **environment}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=environment)
    if not done.stdout:
        assert "Traceback" not in done.stderr, done.stderr
        pytest.skip(f"cannot be tried here: {done.stderr.strip()[-200:]}")
    return done.stdout


@pytest.mark.root
def test_without_proc() -> None:
    """What everything here reads is named before anything reads it."""
    said = entered_under("umount --lazy /proc")
    assert said.startswith("refused: "), said
    assert "/proc: it is not mounted" in said


@pytest.mark.root
def test_without_devices() -> None:
    """As in a chroot that nobody has furnished."""
    said = entered_under("mount -t tmpfs none /dev")
    assert "/dev/null: it cannot be opened (No such file or directory)" in said
    assert "/dev/urandom: " in said


@pytest.mark.root
def test_a_directory_for_temporary_files_without_room(tmp_path: Path) -> None:
    """A tiny one is refused, with what is there and what to set; a large one is not."""
    mount = "mount -t tmpfs -o size={size} none {where}"
    said = entered_under(mount.format(size="1m", where=tmp_path), TMPDIR=str(tmp_path))
    assert f"temporary files: 1 MiB are free in {tmp_path}; jobs need " in said
    assert "set TMPDIR" in said
    said = entered_under(mount.format(size="1g", where=tmp_path), TMPDIR=str(tmp_path))
    assert said.startswith("entered"), said
    said = entered_under(f"{mount.format(size='1g,nr_inodes=50', where=tmp_path)}", TMPDIR=str(tmp_path))
    assert "more files fit into" in said


@pytest.mark.root
def test_a_root_directory_that_is_read_only(tmp_path: Path) -> None:
    """Nowhere can a temporary file be made: a message, not a traceback."""
    said = entered_under(
        "mount --make-rprivate /; for at in /tmp /var/tmp /; do mount --bind -o ro $at $at; done; cd /"
    )
    assert "temporary files: none can be made" in said, said


@pytest.mark.root
def test_shared_memory_is_not_needed() -> None:
    """A container's /dev/shm may be as small as it likes."""
    script = "mount -t tmpfs -o size=4k none /dev/shm; head -c 4096 /dev/zero > /dev/shm/full"
    assert entered_under(script).startswith("entered")


@pytest.mark.root
def test_a_kernel_that_executes_no_memory_files() -> None:
    """Set for a PID namespace, and for good."""
    script = "echo 2 > /proc/sys/vm/memfd_noexec"
    said = entered_under(script, prefix=("unshare", "--pid", "--fork", "--mount-proc"))
    assert "executable memory files: none can be made" in said
    assert "vm.memfd_noexec" in said


@pytest.fixture
def group(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A control group of the test's own, with the controller that it names."""
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
def test_the_memory_of_a_container(group: Path) -> None:
    """256 MiB do not let a compiler work; 600 MiB let programs of up to 344 be judged, and that is said."""
    limit = next(path for name in ("memory.max", "memory.limit_in_bytes") if (path := group / name).exists())
    join = f"echo $$ > {group}/cgroup.procs"
    limit.write_text(str(256 * MIB))
    said = entered_under(join, prefix=())
    assert "refused: " in said
    assert "memory: this container has 256 MiB; compiling needs up to 512 MiB" in said
    limit.write_text(str(600 * MIB))
    said = entered_under(join, prefix=())
    assert said.startswith("entered memory: this container has 600 MiB; a program that finds none left is JE"), said


@pytest.mark.root
@pytest.mark.parametrize("group", ["pids"], indirect=True)
def test_the_processes_of_a_container(group: Path) -> None:
    """Found by starting some: too few for two jobs, and how many fit."""
    (group / "pids.max").write_text("100")
    said = entered_under(f"echo $$ > {group}/cgroup.procs", prefix=())
    assert "2 jobs at once need 160 with the threads of their programs" in said
    assert "or give score, validate or serve the option --workers 1" in said


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
        (resource.RLIMIT_FSIZE, 100 * MIB, "file size: 100 MiB at most"),
        (resource.RLIMIT_CPU, 30, "CPU time: 30 s"),
    ],
)
def test_an_ordinary_user_is_told_the_same(number: int, value: int, words: str) -> None:
    """Its own processes count for its limit on processes, so that is tried."""
    with unprivileged.private_directory():
        assert words in unprivileged.call(_entered_with, number, value)


def test_here_nothing_is_started_for_good() -> None:
    """To look for limits leaves no thread behind."""
    before = len(os.listdir("/proc/self/task"))
    inherited_limits(slots=2)
    for _ in range(1000):
        if len(os.listdir("/proc/self/task")) <= before:
            return
        os.sched_yield()
    pytest.fail("threads are left")


def test_only_what_fails_programs_counts_for_outcomes() -> None:
    """A fingerprint must not change with what changes no verdict."""
    common = {"measured": "so much", "needed": "more", "advice": "raise it", "refuses": False}
    limits = [MachineLimit(what="stack", fails=True, **common), MachineLimit(what="memory", **common)]  # type: ignore[arg-type]
    assert narrowing(limits) == "stack so much"
    assert narrowing(()) == ""
