"""What several processes that share the tests make only once: a directory for it, and a lock for making it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError
from ioi_eval.programs import Builder
from ioi_eval.sandbox.local.sandbox import LocalSandbox


def shared_directory(factory: pytest.TempPathFactory) -> Path:
    """A directory of this test run, the same for all of its processes."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextlib.contextmanager
def turn(path: Path) -> Iterator[None]:
    """Hold the lock for making a path: only one process at a time makes it."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def shared_open_directory(name: Path) -> Iterator[Path]:
    """A directory that all users may read, for the processes that share the tests. The last process deletes it.

    Args:
        name: a file in their shared directory, which other users cannot enter. It contains the new directory's path.
    """
    users = name.with_name(f"{name.name}.users")
    with users.open("w") as using:
        with turn(name):
            fcntl.flock(using, fcntl.LOCK_SH)
            if not name.exists():
                directory = tempfile.mkdtemp(prefix=f"ioi-eval-{name.name}-")
                os.chmod(directory, 0o755)
                new = name.with_name(f"{name.name}.new")
                new.write_text(directory)
                new.rename(name)  # a process that is killed before this leaves no incomplete file under that name
        yield Path(name.read_text())
    with turn(name), users.open("w") as using, contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(using, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(name.read_text())
        name.unlink()


def made_once(path: Path, make: Callable[[Path], None]) -> Path:
    """A directory, made by the first process that needs it."""
    with turn(path):
        if not path.exists():
            new = path.with_name(f"{path.name}.new")
            new.mkdir(mode=0o755, exist_ok=True)
            make(new)
            new.rename(path)
    return path


def put_runner(cache: Path) -> None:
    """Compile the runner of the embedded sandbox into a cache. If it does not work here, the tests report that."""
    with contextlib.suppress(SandboxError, SetupError):
        asyncio.run(_build_runner(cache))


async def _build_runner(cache: Path) -> None:
    async with LocalSandbox(slots=1) as sandbox:
        await Builder(sandbox, ArtifactStore(cache), Policy()).runner(sandbox.targets()[0])


def copy_cache(cache: Path, to: Path, *, owner: int | None = None) -> Path:
    """Copy the contents of a cache into another one, which is created if it is absent.

    Args:
        cache: the source; nobody changes it meanwhile.
        to: the other cache.
        owner: the user who gets the files; `None` leaves them to the user who runs the tests.
    """
    to.mkdir(mode=0o755, exist_ok=True)
    for path in cache.glob("artifacts/*/*"):
        there = to / path.relative_to(cache)
        for directory in (there.parent.parent, there.parent):
            directory.mkdir(mode=0o755, exist_ok=True)
        shutil.copy2(path, there)
    if owner is not None:
        for path in (to, *to.rglob("*")):
            os.chown(path, owner, owner)
    return to
