"""The blob store: entries are complete, stored once, and undamaged, also with several writers at the same time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import SetupError


def entries(cache: Path) -> list[Path]:
    """Every file below the cache except the store's secret."""
    return sorted(path for path in cache.rglob("*") if path.is_file() and path.name != ".secret")


@pytest.mark.parametrize("content", [b"", b"3\n", b"\0\xff" * 700_000])
def test_equal_contents_make_one_entry(tmp_path: Path, content: bytes) -> None:
    """A file of mode 644."""
    store = BlobStore(tmp_path / "cache")
    blob = store.put(content)
    assert store.put(bytes(bytearray(content))) == blob
    assert blob.sha256 == hashlib.sha256(content).hexdigest()
    assert blob.size == len(content)
    assert blob.path.read_bytes() == content
    assert entries(tmp_path) == [blob.path]
    assert blob.path.stat().st_mode & 0o777 == 0o644


def test_names_cannot_be_guessed(tmp_path: Path) -> None:
    """A program that knows the content of an answer cannot compute the name of its file."""
    blob = BlobStore(tmp_path / "one").put(b"YES\n")
    other = BlobStore(tmp_path / "two").put(b"YES\n")
    assert blob.sha256 == other.sha256
    assert blob.path.name != other.path.name
    assert blob.sha256 not in {blob.path.name, other.path.name}
    assert (tmp_path / "one" / "blobs" / ".secret").stat().st_mode & 0o777 == 0o600


def test_damaged_secret_is_refused(tmp_path: Path) -> None:
    """With an empty or truncated secret, names could be guessed."""
    BlobStore(tmp_path).put(b"YES\n")
    (tmp_path / "blobs" / ".secret").write_bytes(b"")
    with pytest.raises(SetupError, match=r"\.secret is damaged; delete"):
        BlobStore(tmp_path).put(b"NO\n")


def test_entry_is_used_again_not_rewritten(tmp_path: Path) -> None:
    """A later store over the same directory uses the entry and does not write the file again."""
    first = BlobStore(tmp_path).put(b"data")
    inode = first.path.stat().st_ino
    assert BlobStore(tmp_path).put(b"data").path.stat().st_ino == inode


@pytest.mark.parametrize("cut", [b"", b"01234"])
def test_truncated_entry_is_written_again(tmp_path: Path, cut: bytes) -> None:
    """An entry that was cut short by a crash is recognised by its size and replaced."""
    BlobStore(tmp_path).put(b"0123456789").path.write_bytes(cut)
    assert BlobStore(tmp_path).put(b"0123456789").path.read_bytes() == b"0123456789"


@pytest.mark.parametrize("at", [0, 1_500_000, 3_000_000])
def test_entry_that_does_not_match_its_hash_is_refused(tmp_path: Path, at: int) -> None:
    """An entry of the right size with a changed byte is damaged or manipulated. It is named in the error
    and not used.
    """
    right = bytes(3_000_001)
    blob = BlobStore(tmp_path).put(right)
    blob.path.write_bytes(right[:at] + b"x" + right[at + 1 :])
    with pytest.raises(SetupError, match=f"{blob.path} does not match its hash.*delete"):
        BlobStore(tmp_path).put(right)


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_cache_that_others_may_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    """Whoever can write to the cache could replace an expected output."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs").chmod(mode)
    with pytest.raises(SetupError, match=r"others may write .*chmod go-w"):
        BlobStore(tmp_path)


def test_loose_umask_does_not_make_a_loose_cache(tmp_path: Path) -> None:
    """Directories and entries are writable by their owner only, whatever the umask."""
    previous = os.umask(0)
    try:
        blob = BlobStore(tmp_path / "a" / "cache").put(b"x" * 10)
        BlobStore(tmp_path / "a" / "cache")
    finally:
        os.umask(previous)
    for path in (blob.path, blob.path.parent, blob.path.parent.parent, tmp_path / "a" / "cache"):
        assert path.stat().st_mode & 0o022 == 0, path


def test_cache_in_place_of_a_file_says_so(tmp_path: Path) -> None:
    """If the cache path is a file, the message says what to do."""
    (tmp_path / "cache").write_text("")
    with pytest.raises(SetupError, match=r"cannot be made.*IOI_EVAL_CACHE to one of yours"):
        BlobStore(tmp_path / "cache")


def test_processes_that_write_at_once_agree(tmp_path: Path) -> None:
    """Four processes put the same values in different orders. Each value is stored once, complete."""
    script = """
import random, sys
from pathlib import Path
from ioi_eval.blobs import BlobStore
store = BlobStore(Path(sys.argv[1]))
order = list(range(40))
random.Random(sys.argv[2]).shuffle(order)
for n in order:
    blob = store.put(b"%d" % n * (1 + 5000 * n))
    assert blob.path.stat().st_size == blob.size
"""
    running = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(seed)]) for seed in range(4)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0, 0]
    kept = entries(tmp_path)
    assert len(kept) == 40
    store = BlobStore(tmp_path)
    assert {store.put(b"%d" % n * (1 + 5000 * n)).path for n in range(40)} == set(kept)
    assert entries(tmp_path) == kept


def test_full_disk_is_an_error_that_says_so(tmp_path: Path) -> None:
    """On a real file system of 64 KiB, the error says that no space is left. No part of the value stays."""
    script = """
import sys
from pathlib import Path
from ioi_eval.blobs import BlobStore
from ioi_eval.errors import SetupError
store = BlobStore(Path(sys.argv[1]) / "cache")
try:
    store.put(b"x" * 1_000_000)
except SetupError as error:
    print(error)
print([path.name for path in Path(sys.argv[1]).rglob("*") if path.is_file() and path.name != ".secret"])
"""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    mount = f'mount -t tmpfs -o size=64k,mode=755 none {tmp_path} && exec {sys.executable} -c "$0" {tmp_path}'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    if done.returncode != 0 and "unshare" in done.stderr:
        pytest.skip("no user namespaces")
    words, left = done.stdout.splitlines()
    assert "no room for test data" in words
    assert "IOI_EVAL_CACHE" in words
    assert left == "[]"


def test_entry_of_a_deleted_cache_is_written_again_at_the_same_path(tmp_path: Path) -> None:
    """An existing reference to the entry stays valid, because the path is the same."""
    store = BlobStore(tmp_path / "cache")
    blob = store.put(b"1 2\n")
    shutil.rmtree(tmp_path / "cache")
    assert store.put(b"1 2\n") == blob
    assert blob.path.read_bytes() == b"1 2\n"
