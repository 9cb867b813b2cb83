"""What several processes that share the tests make only once: a directory for it, and a lock for making it.

The runner, the known good program and programs of tests, which take minutes to compile in sum, are also kept for later
test runs of the same checkout, under a hash of sources, flags and compiler.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from ioi_eval import boxfiles, shipped
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cache_directory import delete_unused
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.jobs.recipes import known_good_key
from ioi_eval.model import JobFile
from ioi_eval.new_files import new_file
from ioi_eval.programs import Builder
from ioi_eval.sandbox.local import scripts
from ioi_eval.sandbox.local.compiler import detect
from ioi_eval.sandbox.local.sandbox import LocalSandbox

KEPT = Path(__file__).resolve().parent.parent / ".pytest_cache" / "compiled"
"""What later test runs use, too. A file that was not used for two weeks is deleted."""


_GRADERS = Path(__file__).resolve().parent.parent / "graders"

STANDARDS = ("gnu++17", "gnu++20")
"""In which most programs of the tests are compiled."""


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
def first_alone(directory: Path) -> Iterator[None]:
    """The first of several processes enters alone. The others wait until it has left, and then enter together.

    Args:
        directory: the same one for all of these processes. It is locked, and not changed.
    """
    lock = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield
    finally:
        os.close(lock)


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
    """Put the runner of the embedded sandbox into a cache, and the known good program in the usual standards. They are
    compiled now, or by an earlier test run. If one of them does not compile here, the tests report that.
    """
    with contextlib.suppress(SandboxError, SetupError):
        try:
            kept = asyncio.run(_build(KEPT))
        except SetupError:  # of another user, perhaps
            asyncio.run(_build(cache))
            return
        for path in (path for key in kept for path in KEPT.glob(f"artifacts/*/{key}.*")):
            there = cache / path.relative_to(KEPT)
            for directory in (there.parent.parent, there.parent):
                directory.mkdir(mode=0o755, exist_ok=True)
            shutil.copy2(path, there)
        delete_unused(KEPT.glob("artifacts/*/*"))


async def _build(cache: Path) -> list[str]:
    """Build what a cache lacks, and return the keys."""
    store = ArtifactStore(cache)
    async with LocalSandbox(slots=1) as sandbox:
        (target,) = sandbox.targets()
        builder = Builder(sandbox, store, Policy())
        await builder.runner(target)
        keys = [known_good_key(target.toolchain, std) for std in STANDARDS]
        for std, key in zip(STANDARDS, keys, strict=True):
            if not store.holds(key):
                await builder.checks.require_working_compiler(std, target)
    return [runner_key(target.toolchain), *keys]


def use_kept_stage_runner() -> None:
    """Functions of this process need not compile the stage runner (`graders/stages.cpp`): it is compiled now, or was by
    an earlier process. Without a compiler, nothing changes.
    """
    with contextlib.suppress(SetupError, OSError):
        toolchain = detect("g++")
        flags = boxfiles.STATIC_FLAGS if toolchain.static else boxfiles.FLAGS
        path = KEPT / _digest(flags, [_GRADERS / "stages.cpp", _GRADERS / "runner"], Path())
        KEPT.mkdir(mode=0o755, parents=True, exist_ok=True)
        with turn(path):
            if not path.exists():
                with new_file(path, durable=False) as file:
                    file.write(asyncio.run(scripts.compile_stage_runner(toolchain, None)))
            os.utime(path)
        stage_runner = JobFile(name=shipped.STAGE_RUNNER, content=path.read_bytes(), executable=True)
        scripts._stage_runners.known[toolchain] = stage_runner


def compiled(target: Path, arguments: Sequence[str], sources: Iterable[Path], cwd: Path | None = None) -> Path:
    """The program that `g++` makes with these arguments, made by the first process that needs it, or by an earlier test
    run.

    Args:
        target: its path.
        arguments: all except `-o` and the target.
        sources: files and directories that contain everything of the checkout that the compiler may read.
        cwd: the directory to which these and the arguments are relative, if they are.

    Raises:
        subprocess.CalledProcessError: the compiler refuses it, with its message.
    """

    def compile_(new: Path) -> None:
        command = ["g++", *arguments, "-o", str(new)]
        subprocess.run(command, check=True, cwd=cwd, stderr=subprocess.PIPE, text=True)

    return kept(target, arguments, sources, compile_, cwd)


def kept(
    target: Path,
    arguments: Sequence[str],
    sources: Iterable[Path],
    make: Callable[[Path], None],
    cwd: Path | None = None,
) -> Path:
    """A file that depends on these arguments, sources and the compiler only; otherwise like `compiled`.

    Args:
        target, arguments, sources, cwd: as there.
        make: writes a new file at a path. If it raises, nothing is kept.
    """
    with turn(target):
        if not target.exists():
            new = target.with_name(f"{target.name}.new")
            earlier = KEPT / _digest(arguments, sources, cwd or Path())
            try:
                shutil.copyfile(earlier, new)
                os.utime(earlier)
            except OSError:
                make(new)
                with contextlib.suppress(OSError):
                    _keep(new, earlier)
            new.chmod(0o755)
            new.rename(target)
    return target


def _keep(program: Path, kept: Path) -> None:
    kept.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    delete_unused(kept.parent.glob("program-*"))
    with new_file(kept, durable=False) as file:
        file.write(program.read_bytes())


def _digest(arguments: Sequence[str], sources: Iterable[Path], cwd: Path) -> str:
    """The name of a program: a hash of the compiler, its arguments, and the names and contents of files."""
    digest = hashlib.sha256("\0".join((detect("g++").fingerprint, *arguments)).encode())
    for source in sources:
        below = sorted(path.relative_to(cwd / source) for path in (cwd / source).rglob("*"))
        for path in (source, *(source / each for each in below)):
            if (cwd / path).is_file():
                content = (cwd / path).read_bytes()
                digest.update(f"\0{path}\0{len(content)}\0".encode() + content)
    return f"program-{digest.hexdigest()}"


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
