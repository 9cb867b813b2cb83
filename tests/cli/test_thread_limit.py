"""A command on a machine that lets it start no more threads."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMAND = """
import asyncio, concurrent.futures.thread, os, resource, sys
from ioi_eval.cli.exits import command

async def work():
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(print))

if os.geteuid() == 0:
    os.setuid(65_500)  # the limit does not apply to root
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))

@command
def run():
    if sys.argv[1] == "group":
        asyncio.new_event_loop().run_until_complete(work())
    else:
        asyncio.run(work())

try:
    run()
except Exception as error:
    print(error.exit_code)
"""


@pytest.mark.parametrize("kind", ["group", "plain"])
def test_a_command_that_may_start_no_threads(kind: str) -> None:
    """There is a message with what to do, exit code 2, and no traceback."""
    words = [sys.executable, "-c", COMMAND, kind]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "2\n", done
    assert "this command may start no more threads: raise the limit" in done.stderr
    assert "Docker before 20.10.10 forbids clone3" in done.stderr
    assert "Traceback" not in done.stderr
