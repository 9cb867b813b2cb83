"""`ioi-eval serve` as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.sandbox.served import Served


@contextmanager
def command(cache: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`ioi-eval serve` as a process of its own, and the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from ioi_eval.cli.main import main; main()", "serve", "--port", "0", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"IOI_EVAL_CACHE": str(cache)},
    )
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "serving Piston API v2 at " in line:
                break
        yield process, said
    finally:
        process.kill()
        process.wait()


def test_the_command_binds_loopback_and_ends_on_sigterm(served: Served, cache: Path) -> None:
    """It tells its address, answers there, and SIGTERM ends it with exit code 0."""
    with command(cache, "--workers", "1") as (process, said):
        address = said.split("serving Piston API v2 at ")[1].split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert "can be reached" not in said
        assert httpx.get(f"{address}/runtimes").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_the_command_says_when_it_is_open_to_others(served: Served, cache: Path) -> None:
    """Bound to more than loopback it says so before it serves."""
    with command(cache, "--host", "0.0.0.0", "--public", "--workers", "1") as (_, said):
        assert "0.0.0.0 can be reached from other machines" in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_the_command_is_not_open_to_others_by_accident(host: str, cache: Path) -> None:
    """An address that others can reach is a mistake until the user says that it is meant."""
    words = [sys.executable, "-c", "from ioi_eval.cli.main import main; main()", "serve", "--port", "0", "--host", host]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "add --public" in done.stderr
