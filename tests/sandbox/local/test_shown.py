"""Which files of this machine a box shows."""

from __future__ import annotations

import asyncio
import os
import pwd
from pathlib import Path

import pytest

from ioi_eval.errors import RejectedError
from ioi_eval.model import Job, JobKind, StageLimits
from ioi_eval.sandbox.local.confinement import why_not_shown
from ioi_eval.sandbox.local.sandbox import LocalSandbox

HOME = pwd.getpwuid(os.getuid()).pw_dir

TOO_MUCH = (
    *(
        "/",
        "//",
        "/.",
        "/opt/x/../..",
        "/proc/self/root",
        "/proc",
        "/sys/x",
        "/dev/shm",
        "/etc",
        "/tmp",
        "/var",
        "/home",
    ),
    *("/home/me", "/home/me/.", "/root", "/usr", "/bin", "/box", "/opt", "/var/tmp", "opt/python", HOME),
)


@pytest.mark.parametrize("path", TOO_MUCH)
def test_directories_with_more_than_an_interpreter_are_refused(path: str) -> None:
    """The root directory, homes, shared directories and those of the kernel are refused, in each spelling."""
    assert path in why_not_shown(path)


@pytest.mark.parametrize("path", ["/opt/py", "/venv", "/home/me/venv", "/tmp/venv", "/usr/lib/python3", "/opt/python"])
def test_directories_of_an_interpreter_are_accepted(path: str) -> None:
    """A directory that only an interpreter uses is accepted, also if it does not exist."""
    assert why_not_shown(path) == ""


def test_a_link_is_judged_by_its_target(tmp_path: Path) -> None:
    """A link to a refused directory is refused. The message has the link and its target."""
    link = tmp_path / "link"
    link.symlink_to("/")
    assert why_not_shown(str(link)).startswith(f"{link} (/) is not shown")


def test_the_sandbox_refuses_such_a_job() -> None:
    """The sandbox refuses a job that is to see such a directory, before it starts anything."""
    job = Job(
        kind=JobKind.RUNNER, files=(), run_limits=StageLimits(wall_ms=1, cpu_ms=1), sees=("/venv", "/", "/etc")
    )  # fmt: skip

    async def run() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            await sandbox.execute(job, sandbox.targets()[0])

    with pytest.raises(RejectedError, match=r"^/ is not shown.*; /etc is not shown"):
        asyncio.run(run())
