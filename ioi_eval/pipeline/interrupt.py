"""Ctrl-C: the first one lets the run write its results and end, the second one ends it immediately.

The same holds for SIGTERM, which schedulers send before they kill, and for SIGHUP, which a terminal sends when it is
closed. If `nohup` started the run, SIGHUP is ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from typing import Any

from ioi_eval.errors import first_own_error

EXIT_CODE = 130  # as in shells, for SIGINT
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Runs work that a signal may end early."""

    def __init__(self) -> None:
        self._work: asyncio.Task[None] | None = None
        self._count = 0

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Handle the signals while the context is entered; outside the main thread, do nothing.

        Afterwards the earlier handlers are restored: with those of `asyncio.run` or a notebook, Ctrl-C cancels a task.
        """
        loop = asyncio.get_running_loop()
        installed = []
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            for number in SIGNALS:
                before = signal.getsignal(number)
                if number is signal.SIGHUP and before is signal.SIG_IGN:
                    continue
                loop.add_signal_handler(number, self._interrupt)
                installed.append((number, before))
        try:
            yield
        finally:
            for number, before in installed:
                loop.remove_signal_handler(number)
                signal.signal(number, before or signal.SIG_DFL)

    async def run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Run the work to its end, or until a signal. Returns whether a signal ended it.

        An error of ours that it raises is taken out of the exception groups of task groups.
        """
        self._work = asyncio.ensure_future(work)
        try:
            await asyncio.wait([self._work])
        except asyncio.CancelledError:
            self._work.cancel()
            await asyncio.wait([self._work])
            raise
        if self._work.cancelled():
            return True
        error = self._work.exception()
        if error is not None:
            raise first_own_error(error)
        return False

    def _interrupt(self) -> None:
        self._count += 1
        if self._count > 1:
            os._exit(EXIT_CODE)  # the journal is whole at any moment, and the boxes die with this process
        if self._work is not None:
            self._work.cancel()
        with contextlib.suppress(OSError):  # of a terminal that is closed
            print("\nInterrupted: writing what is there. Ctrl-C again ends immediately.", file=sys.stderr, flush=True)
