"""Which files of this machine a box shows."""

from __future__ import annotations

import asyncio
import os
import pwd
from pathlib import Path

import pytest

from ioi_eval.errors import RejectedError
from ioi_eval.model import Job, JobKind, StageLimits
from ioi_eval.sandbox.local.confinement import refusal_to_show
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
def test_what_holds_more_than_an_interpreter_is_refused(path: str) -> None:
    """A root, a home, what everybody uses, what the kernel makes; however it is spelt."""
    assert path in refusal_to_show(path)


@pytest.mark.parametrize("path", ["/opt/py", "/venv", "/home/me/venv", "/tmp/venv", "/usr/lib/python3", "/opt/python"])
def test_an_interpreter_has_a_place_of_its_own(path: str) -> None:
    """That is shown, be it there or not."""
    assert refusal_to_show(path) == ""


def test_a_link_is_as_wide_as_what_it_leads_to(tmp_path: Path) -> None:
    """And is named with it."""
    link = tmp_path / "link"
    link.symlink_to("/")
    assert refusal_to_show(str(link)).startswith(f"{link} (/) is not shown")


def test_the_sandbox_refuses_such_a_job() -> None:
    """Before anything is started."""
    job = Job(
        kind=JobKind.RUNNER, files=(), run_limits=StageLimits(wall_ms=1, cpu_ms=1), sees=("/venv", "/", "/etc")
    )  # fmt: skip

    async def run() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            await sandbox.execute(job, sandbox.targets()[0])

    with pytest.raises(RejectedError, match=r"^/ is not shown.*; /etc is not shown"):
        asyncio.run(run())
