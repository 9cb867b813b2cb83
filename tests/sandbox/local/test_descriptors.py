"""Descriptors for the files of a job."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import RejectedError, SetupError, TransientError
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.local.descriptors import content_of, descriptors, returned_files
from ioi_eval.sandbox.local.sandbox import LocalSandbox

_STARTS_ONE = """
import os, subprocess, sys
from ioi_eval.sandbox.local.descriptors import sealed
with open("/usr/bin/true", "rb") as file:
    descriptor = sealed(file.read(), executable=True)
subprocess.run([f"/proc/self/fd/{descriptor}"], pass_fds=(descriptor,), check=True)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
def test_programs_start_with_memfd_noexec() -> None:
    """With `vm.memfd_noexec=1`, memory files that were created as executable still start."""
    hardened = 'echo 1 > /proc/sys/vm/memfd_noexec || exit 77; exec "$@"'
    done = subprocess.run(
        (
            *("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"),
            *("sh", "-c", hardened, "sh", sys.executable, "-c", _STARTS_ONE),
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no PID namespace with a rule of its own: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")


FILES = [JobFile(name=f"f{number}", content=b"x") for number in range(100)]


@contextmanager
def few_descriptors() -> Iterator[set[str]]:
    """Limits descriptors to 64, fewer than there are files. Yields the open descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        yield _open_descriptors()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _open_descriptors() -> set[str]:
    names = os.listdir("/proc/self/fd")
    return {
        name for name in names if os.path.exists(f"/proc/self/fd/{name}")
    }  # without the descriptor of the listing itself


@pytest.mark.parametrize(
    ("opening", "what"),
    [
        (descriptors(FILES), "a job's files"),
        (returned_files([file.name for file in FILES]), "the files for a job's output"),
    ],
    ids=["files", "returns"],
)
def test_too_few_descriptors_are_our_failure(opening: AbstractContextManager[dict[str, int]], what: str) -> None:
    """Too few descriptors raise TransientError, and all descriptors that were opened are closed."""
    with few_descriptors() as before:
        with pytest.raises(TransientError, match=f"{what} cannot be opened: Too many open files"):
            opening.__enter__()
        assert _open_descriptors() == before


def test_files_are_closed_at_the_end() -> None:
    """Files of the job can only be read. Returned files have all that was written. All are closed at the end."""
    before = _open_descriptors()
    with descriptors(FILES[:2]) as files, returned_files(["made"]) as returns:
        assert [os.pread(files[name], 9, 0) for name in ("f0", "f1")] == [b"x", b"x"]
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(files["f0"], b"y")
        os.write(returns["made"], b"some")
        os.write(returns["made"], b"thing")
        assert [content_of(returns["made"]), content_of(returns["made"])] == [b"something"] * 2
    assert _open_descriptors() == before


@pytest.mark.parametrize(
    "opening", [descriptors(FILES[:2] + FILES[:1]), returned_files(["f0", "f1", "f0"])], ids=["files", "returns"]
)
def test_two_files_with_one_name_are_refused(opening: AbstractContextManager[dict[str, int]]) -> None:
    """None is opened, and the message names only those two. (The first was opened too, and never closed.)"""
    before = _open_descriptors()
    with pytest.raises(RejectedError, match=r"these files twice: f0$"), opening:
        pass
    assert _open_descriptors() == before


def test_a_file_that_was_changed_is_our_failure(tmp_path: Path) -> None:
    """A test whose input was cut off on disk is not run with what is left of it."""
    blob = BlobStore(tmp_path).put(b"whole input")
    blob.path.write_bytes(b"whole")
    before = _open_descriptors()
    with pytest.raises(SetupError, match="has 5 bytes, not 11: it was changed"):
        descriptors([JobFile(name="in", content=blob)]).__enter__()
    assert _open_descriptors() == before


def test_the_runner_gets_the_names_of_files_as_words_of_a_plan() -> None:
    """A comma separates the files, and `%` begins an encoded byte: such characters of a name are encoded."""
    runner = JobFile(name="runner", content=b'#!/bin/sh\necho "$5"\n', executable=True)
    named = JobFile(name="a,b%41=c d.txt", content=b"")
    limits = StageLimits(wall_ms=60_000, cpu_ms=60_000)

    async def run() -> str:
        async with LocalSandbox(slots=1) as sandbox:
            job = Job(kind=JobKind.RUNNER, files=(runner, named), run_limits=limits)
            return (await sandbox.execute(job, sandbox.targets()[0])).run.stdout

    assert re.fullmatch(r"a%2Cb%2541%3Dc%20d\.txt=[0-9]+\n", asyncio.run(run()))
