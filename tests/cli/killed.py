"""A command that is killed while it works."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def killed_after_a_result(command: Sequence[str], journal: Path, environment: Mapping[str, str], cwd: Path) -> None:
    """Start a command, and kill it as soon as its journal has a result."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=quiet, stderr=quiet)
    try:
        while process.poll() is None and not (journal.exists() and b" r " in journal.read_bytes()):
            time.sleep(0.01)
        assert process.poll() is None, "it was done before it could be killed"
    finally:
        process.kill()
        process.wait()
