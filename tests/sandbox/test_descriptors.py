"""A job's files as descriptors."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

_STARTS_ONE = """
import os, subprocess, sys
from ioi_eval.sandbox.descriptors import sealed
with open("/usr/bin/true", "rb") as file:
    descriptor = sealed(file.read(), executable=True)
subprocess.run([f"/proc/self/fd/{descriptor}"], pass_fds=(descriptor,), check=True)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
def test_programs_start_where_memory_files_are_not_executable_by_default() -> None:
    """A hardened system (`vm.memfd_noexec=1`) starts those that were meant to be started when they were made."""
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
