"""Starts the programs of the fault tests as forks of a process that has imported them, because imports take long."""

from __future__ import annotations

import asyncio
import functools
import importlib
import multiprocessing
import os
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext

_PROGRAMS = ("stub_piston", "fault_proxy")


@functools.cache
def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"tests.faults.{name}" for name in _PROGRAMS])
    return context


class ForkedProgram:
    """A running program of this directory.

    Args:
        name: its module.
        arguments: its command line.
    """

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = _server().Process(target=_run, args=(name, tuple(arguments), theirs), daemon=True)
        self._process.start()
        theirs.close()

    def first_line(self) -> str:
        """The line that it prints when it is ready."""
        with os.fdopen(os.dup(self._ours.fileno()), "rb", buffering=0) as output:
            return output.readline().decode()

    def poll(self) -> int | None:
        """Its exit code; `None` while it runs."""
        return self._process.exitcode

    def wait(self) -> int | None:
        """Wait until it ends. Returns its exit code."""
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()
        self._ours.close()


def _run(name: str, arguments: Sequence[str], output: Connection) -> None:
    """Run the program in this process. Its stdin and stdout are connected to the test, and are closed when it ends."""
    os.dup2(output.fileno(), 0)
    os.dup2(output.fileno(), 1)
    output.close()
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.argv[:] = [name, *arguments]
    asyncio.run(importlib.import_module(f"tests.faults.{name}").main())
