"""The directory of a job is removed afterwards, even if its process was killed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ioi_eval.errors import TransientError
from ioi_eval.sandbox.local import work_directories
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.local.work_directories import sweep, work_directory

HOLD = """
import os, sys
from ioi_eval.sandbox.local.work_directories import work_directory
with work_directory() as directory:
    (directory / "left").write_text("something")
    print(directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for temporary files of this test, in which no directory counts as new."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(work_directories, "_NEW_S", 0.0)
    return tmp_path


def test_a_directory_is_removed_with_its_contents(temporary_directory: Path) -> None:
    """A very deep tree and a directory without permissions are removed too."""
    with work_directory() as directory:
        (directory / "secret").mkdir()
        (directory / "secret" / "file").write_text("x")
        (directory / "secret").chmod(0)
        here = os.open(directory, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("deep", dir_fd=here)
            below = os.open("deep", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
    assert list(temporary_directory.iterdir()) == []


def test_the_directory_of_a_killed_process_is_removed(temporary_directory: Path) -> None:
    """The directory of a running process is kept. After `kill -9`, the next process removes it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary_directory)},
    )
    assert holder.stdout is not None
    directory = Path(holder.stdout.readline().strip())
    sweep()
    assert (directory / "left").exists()
    holder.kill()
    holder.communicate()
    sweep()
    assert not directory.exists()


def test_opening_a_sandbox_removes_what_killed_processes_have_left(temporary_directory: Path) -> None:
    """So temporary files of killed runs do not fill the disk."""

    async def enter() -> None:
        async with LocalSandbox(slots=1):
            pass

    (temporary_directory / "ioi-eval-job-left").mkdir()
    asyncio.run(enter())
    assert list(temporary_directory.iterdir()) == []


def test_another_users_directory_leads_nowhere(temporary_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another user replaces a directory by a link while it is removed, nothing changes where the link leads."""
    left = temporary_directory / "ioi-eval-job-left"
    left.mkdir()
    if os.geteuid() == 0:
        os.chown(left, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    precious = temporary_directory / "precious"
    precious.mkdir()
    (precious / "file").touch(mode=0o400)

    def replace_by_link(path: Path) -> None:
        path.rename(temporary_directory / "moved")
        path.symlink_to(precious)
        raise OSError

    monkeypatch.setattr(shutil, "rmtree", replace_by_link)
    sweep()
    assert (precious / "file").stat().st_mode & 0o777 == 0o400


def test_a_new_directory_is_kept(temporary_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new directory without a lock is kept, because its process may be about to lock it."""
    monkeypatch.setattr(work_directories, "_NEW_S", 60.0)
    (temporary_directory / "ioi-eval-job-new").mkdir()
    sweep()
    assert (temporary_directory / "ioi-eval-job-new").is_dir()


def test_a_directory_that_cannot_be_made_is_a_transient_error(temporary_directory: Path) -> None:
    """If the directory cannot be made, the job gets TransientError and can be repeated."""
    temporary_directory.rmdir()
    with (
        pytest.raises(TransientError, match=f"cannot be made in {temporary_directory}: No such file"),
        work_directory(),
    ):
        pass


def test_a_file_system_without_owners(temporary_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where root cannot give the directory to the box's user (VFAT, NFS), the message says where and why."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "chown", refuse)
    message = f"cannot be made in {temporary_directory}: Operation not permitted"
    with pytest.raises(TransientError, match=message), work_directory(70_000):
        pass
    assert list(temporary_directory.iterdir()) == []


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Meanwhile this process can open nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_descriptors_no_directory_is_left(temporary_directory: Path) -> None:
    """A directory that cannot be locked is removed again."""
    with no_descriptors(), pytest.raises(TransientError, match="Too many open files"), work_directory():
        pass
    assert list(temporary_directory.iterdir()) == []


def test_a_directory_that_cannot_be_removed_is_left_for_later(temporary_directory: Path) -> None:
    """If neither Python nor another program can remove it, this is no error of the job."""
    with contextlib.ExitStack() as stack, work_directory() as directory:
        (directory / "left").touch()
        stack.enter_context(no_descriptors())
    assert (directory / "left").exists()
    sweep()
    assert not directory.exists()


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A function that makes locks fail with an error. New directories are not spared either."""

    def fail_with(number: int) -> None:
        def fail(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(fcntl, "flock", fail)
        monkeypatch.setattr(work_directories, "_NEW_S", 0.0)

    return fail_with


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_system_without_locks(temporary_directory: Path, no_locks: Callable[[int], None], number: int) -> None:
    """Jobs run there too. What a killed process has left stays, because nobody knows whether it is in use."""
    no_locks(number)
    with work_directory() as directory:
        sweep()
        assert directory.is_dir()
    assert list(temporary_directory.iterdir()) == []


def test_a_lock_that_fails(temporary_directory: Path, no_locks: Callable[[int], None]) -> None:
    """Another process could remove the directory while the job runs, so the job is repeated."""
    no_locks(errno.ENOLCK)
    with pytest.raises(TransientError, match=f"cannot be locked in {temporary_directory}: No locks"), work_directory():
        pass
    assert list(temporary_directory.iterdir()) == []
