"""A sandbox for synchronous callers; it stays open until the process ends.

Opening a sandbox takes tenths of a second, and a reward function is called for every answer of a model. So the first
call opens one, in a thread with its own event loop, and all later calls, from any thread, share it. The caller's event
loop is not used. A forked process does not have this thread, and opens its own sandbox.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from ioi_eval import shipped
from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.settings import AppsSettings, read_checker
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Environment
from ioi_eval.errors import InputError, SandboxError
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.model import Isolation
from ioi_eval.model.apps import AppsProblem
from ioi_eval.sandbox.local.sandbox import LocalSandbox

T = TypeVar("T")

_log = logging.getLogger("ioi_eval")


class Background:
    """An embedded sandbox in its own thread; arguments as of `background`."""

    def __init__(self, least_isolation: Isolation, slots: int | None = None) -> None:
        environment = Environment.read()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ioi-eval sandbox", daemon=True)
        self._thread.start()
        self._artifacts = ArtifactStore(environment.cache)
        self._sandbox = LocalSandbox(slots=slots, least_isolation=least_isolation, compiler=environment.compiler)
        self._executors: dict[AppsSettings, AppsExecutor] = {}
        self._lock = threading.Lock()
        try:
            self._wait(self._sandbox.__aenter__)
        except BaseException:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()  # it has descriptors, and a trainer that calls again may have no garbage collector
            raise
        if self._must_compile_runner():
            _log.warning(
                "first, the judge's own program (the runner) is compiled: 6 to 10 s of processor time, once for each"
                " compiler"
            )
        atexit.register(self.close)

    def score(self, problem: AppsProblem, code: str, settings: AppsSettings) -> AppsResult:
        """Judge one program, and wait for it; raises as `AppsExecutor.score`."""
        executor = self._executor(settings)
        return self._wait(lambda: executor.score(problem, code))

    @property
    def is_running(self) -> bool:
        """Whether its thread runs: not in a forked process, where the loop looks as if it were running."""
        return self._thread.is_alive()

    @property
    def slots(self) -> int:
        """How many jobs run at once."""
        return self._sandbox.busy()[1]

    def close(self) -> None:
        """Close the sandbox, and stop what runs in it. Does nothing in a forked process."""
        if self.is_running and self._loop.is_running():
            self._wait(self._stop)
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def _stop(self) -> None:
        """Cancel what runs, and wait for the end of its processes: a box that is being made outlives this process."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others)
        await self._sandbox.__aexit__(None, None, None)

    def _must_compile_runner(self) -> bool:
        """Whether the first program waits until the runner is compiled."""
        toolchains = [target.toolchain for target in self._sandbox.targets() if not target.has_own_scripts]
        return any(
            shipped.content_for(shipped.RUNNER, toolchain.machine) is None
            and not self._artifacts.holds(runner_key(toolchain))
            for toolchain in toolchains
        )

    def _executor(self, settings: AppsSettings) -> AppsExecutor:
        """The executor for these settings; a new one if the checker's file has changed."""
        with self._lock:
            executor = self._executors.get(settings)
            if executor is None or executor.checker != read_checker(settings):
                executor = AppsExecutor(self._sandbox, artifacts=self._artifacts, settings=settings)
                self._executors[settings] = executor
            return executor

    def _wait(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        running = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return running.result()
        except CancelledError as error:  # in a daemon thread, as Python waits for the others before it calls `close`
            raise SandboxError("not judged: this process ends") from error
        except BaseException:
            running.cancel()  # Ctrl-C in the calling thread: the result is not needed any more
            raise


_opening = threading.Lock()
_opened: dict[Isolation, Background] = {}


def _free_in_fork() -> None:
    """Make a new lock in a forked process: a thread of the parent may hold the old one, and never releases it there."""
    global _opening  # noqa: PLW0603 - a lock that another thread holds cannot be released, only replaced
    _opening = threading.Lock()


os.register_at_fork(after_in_child=_free_in_fork)


def background(least_isolation: Isolation, slots: int | None = None) -> Background:
    """This process's sandbox that accepts this isolation.

    It runs `slots` jobs at once; with `None` as many as the open sandbox, else one for each processor.
    """
    with _opening:
        known = _opened.get(least_isolation)
        if known is None or not known.is_running:
            known = _opened[least_isolation] = Background(least_isolation, slots)
        if slots not in (None, known.slots):
            raise InputError(
                f"slots is {slots}, and an earlier call opened the sandbox with {known.slots}; give the same or none"
            )
        return known
