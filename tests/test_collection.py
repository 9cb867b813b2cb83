"""What the tests are called: several processes that run parts of them must agree on the names."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def collecting(seed: str) -> subprocess.Popen[str]:
    """A process that prints the names of all tests."""
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "--full", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_names_of_tests_do_not_change_from_process_to_process() -> None:
    """No time of day in them (gzip's header has one), no order of a set, no address."""
    first = collecting("1")
    time.sleep(1.1)
    second = collecting("2")
    names = [{line for line in process.communicate()[0].splitlines() if "::" in line} for process in (first, second)]
    assert len(names[0]) > 1000
    assert names[0] ^ names[1] == set()
