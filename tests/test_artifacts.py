"""The artifact store: an entry is built once, and checked against its hash before each use."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ioi_eval import artifacts
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import SetupError


def test_concurrent_requests_build_once(tmp_path: Path) -> None:
    """Concurrent requests for the same entry wait for one build."""
    builds = []

    async def build() -> bytes:
        builds.append(1)
        await asyncio.sleep(0)
        return b"program"

    async def ask() -> list[bytes]:
        store = ArtifactStore(tmp_path)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(store.ensure("ab12", build)) for _ in range(20)]
        return [task.result().path.read_bytes() for task in tasks]

    assert asyncio.run(ask()) == [b"program"] * 20
    assert len(builds) == 1


def test_entry_survives_the_process_and_is_executable(tmp_path: Path) -> None:
    """A second store over the same directory builds nothing."""

    async def build() -> bytes:
        return b"program"

    async def never() -> bytes:
        raise AssertionError("built again")

    asyncio.run(ArtifactStore(tmp_path).ensure("cd34-linked0.o", build))
    blob = asyncio.run(ArtifactStore(tmp_path).ensure("cd34-linked0.o", never))
    assert blob.size == 7
    assert blob.path.stat().st_mode & 0o777 == 0o755


def test_entry_with_another_mode_gets_its_own_again(tmp_path: Path) -> None:
    """A runner that the user of a box may not start is of no use, for example after a copy without modes."""

    async def build() -> bytes:
        return b"program"

    blob = asyncio.run(ArtifactStore(tmp_path).ensure("ab12", build))
    for mode in (0o644, 0o700, 0o000):
        blob.path.chmod(mode)
        assert asyncio.run(ArtifactStore(tmp_path).ensure("ab12", build)) == blob
        assert blob.path.stat().st_mode & 0o777 == 0o755


def test_failed_build_leaves_nothing_and_may_be_repeated(tmp_path: Path) -> None:
    """A build that raises is not remembered."""
    store = ArtifactStore(tmp_path)

    async def fail() -> bytes:
        raise SetupError("no compiler")

    async def build() -> bytes:
        return b"late"

    with pytest.raises(SetupError, match="no compiler"):
        asyncio.run(store.ensure("ef56", fail))
    assert asyncio.run(store.ensure("ef56", build)).size == 4


def test_replaced_entry_is_refused(tmp_path: Path) -> None:
    """An entry whose content does not match its hash is an error that names it."""

    async def build() -> bytes:
        return b"checker"

    blob = asyncio.run(ArtifactStore(tmp_path).ensure("aa00", build))
    blob.path.write_bytes(b"forged!")
    with pytest.raises(SetupError, match="does not match its hash"):
        asyncio.run(ArtifactStore(tmp_path).ensure("aa00", build))


def test_entry_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """The message names the file and says what to do."""

    async def build() -> bytes:
        return b"checker"

    blob = asyncio.run(ArtifactStore(tmp_path).ensure("aa00", build))
    blob.path.unlink()
    blob.path.mkdir()
    with pytest.raises(SetupError, match=f"{blob.path} cannot be read: Is a directory; delete"):
        asyncio.run(ArtifactStore(tmp_path).ensure("aa00", build))


def test_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """In a world-writable cache, other users could replace a checker."""
    tmp_path.chmod(0o777)
    with pytest.raises(SetupError, match="others may write"):
        ArtifactStore(tmp_path)


def test_loose_umask_does_not_make_a_loose_cache(tmp_path: Path) -> None:
    """Under umask 002, group and others still cannot write to the directories that the store creates."""
    import os

    previous = os.umask(0o002)
    try:
        ArtifactStore(tmp_path / "new" / "cache")
        ArtifactStore(tmp_path / "new" / "cache")
    finally:
        os.umask(previous)
    assert (tmp_path / "new" / "cache").stat().st_mode & 0o022 == 0


def test_entry_of_a_deleted_cache_is_built_again(tmp_path: Path) -> None:
    """The cache is deleted while a run continues. The entry is built again."""
    store = ArtifactStore(tmp_path / "cache")

    async def build() -> bytes:
        return b"program"

    first = asyncio.run(store.ensure("ab12", build))
    shutil.rmtree(tmp_path / "cache")
    again = asyncio.run(store.ensure("ab12", build))
    assert again == first
    assert again.path.read_bytes() == b"program"


async def compiled() -> bytes:
    """A build."""
    return b"program"


@contextmanager
def being_built(cache: Path, key: str) -> Iterator[int]:
    """Another process builds an entry; yields what has locked it."""
    directory = cache / "artifacts" / key[:2]
    directory.mkdir(mode=0o755)
    lock = os.open(directory / f".{key}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield lock
    finally:
        os.close(lock)


def test_two_processes_build_once(tmp_path: Path) -> None:
    """The second process waits, without blocking its event loop, and takes the entry of the first."""

    async def never() -> bytes:
        raise AssertionError("built again")

    async def ask() -> bytes:
        store = ArtifactStore(tmp_path)
        with being_built(tmp_path, "ab12") as lock:
            task = asyncio.create_task(store.ensure("ab12", never))
            await asyncio.sleep(0.2)
            assert not task.done()
            ArtifactStore(tmp_path).put("ab12", b"program")
            fcntl.flock(lock, fcntl.LOCK_UN)
            return (await task).path.read_bytes()

    assert asyncio.run(ask()) == b"program"


def test_other_entries_do_not_wait(tmp_path: Path) -> None:
    """The build of an entry may need another one."""
    store = ArtifactStore(tmp_path)
    with being_built(tmp_path, "ab12"):
        assert asyncio.run(asyncio.wait_for(store.ensure("ab34", compiled), 10)).size == 7


def test_process_that_does_not_end_its_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be stopped. Others build the entry themselves after a while."""
    monkeypatch.setattr(artifacts, "_LONGEST_WAIT_S", 0.1)
    store = ArtifactStore(tmp_path)
    with being_built(tmp_path, "ab12"):
        assert asyncio.run(store.ensure("ab12", compiled)).size == 7


def test_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, each process builds the entry."""

    def refuse(_lock: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("ioi_eval.artifacts.fcntl.flock", refuse)
    assert asyncio.run(ArtifactStore(tmp_path).ensure("ab12", compiled)).size == 7


def test_lock_is_released(tmp_path: Path) -> None:
    """After a build that failed too, and its file does not remain."""
    store = ArtifactStore(tmp_path)

    async def fail() -> bytes:
        raise SetupError("no compiler")

    with pytest.raises(SetupError, match="no compiler"):
        asyncio.run(store.ensure("ab12", fail))
    assert list(tmp_path.rglob("*.lock")) == []
    blob = asyncio.run(ArtifactStore(tmp_path).ensure("ab12", compiled))
    assert list(blob.path.parent.iterdir()) == [blob.path]
