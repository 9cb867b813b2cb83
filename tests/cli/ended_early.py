"""A command that is ended by a signal while it works."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cli.addition import Ended


def ended_after_a_result(
    command: Sequence[str], journal: Path, environment: Mapping[str, str], cwd: Path, by: signal.Signals
) -> Ended:
    """Start a command, and send a signal to all its processes as soon as its journal has a result."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while process.poll() is None and not (journal.exists() and b" r " in journal.read_bytes()):
            time.sleep(0.01)
        assert process.poll() is None, "it was done before it could be ended"
        os.killpg(process.pid, by)
        output, errors = process.communicate()
    finally:
        process.kill()
        process.wait()
    return Ended(command, process.returncode, output, errors)
