"""Who belongs to a cluster: workers are found, explored, taken in, looked at again, and let go.

    the list of endpoints ──► Scout: what each can ──► Fleet: which are alike ──► Pool: in service

The list is asked again and again, as workers come and go. One that cannot be used is put down with the reason, and
looked at again; one whose runtimes have changed is explored anew, as it may serve another group then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from ioi_eval.errors import InputError, SandboxError, SetupError, TransientError, UnavailableError
from ioi_eval.sandbox.circuit import End
from ioi_eval.sandbox.discovery import Scout
from ioi_eval.sandbox.endpoints import Source, endpoints_now
from ioi_eval.sandbox.fleet import Fleet
from ioi_eval.sandbox.pool import Pool
from ioi_eval.sandbox.pool_terms import Action

if TYPE_CHECKING:
    from yarl import URL


class Membership:
    """Keeps fleet and pool up to date with what the endpoints are.

    Args:
        source: names the endpoints, or is asked for them.
        scout: explores workers.
        fleet: the workers in use.
        pool: is told who is in service.
        obey: does what the pool wants then.

    Attributes:
        unusable: the endpoints that are not used now, and why.
    """

    def __init__(
        self, source: Source, scout: Scout, fleet: Fleet, pool: Pool, *, obey: Callable[[list[Action]], None]
    ) -> None:
        self.unusable: dict[str, SandboxError | SetupError] = {}
        self._source = source
        self._scout = scout
        self._fleet = fleet
        self._pool = pool
        self._obey = obey
        self._time = asyncio.get_running_loop().time

    def require_any(self) -> None:
        """See that there is a worker.

        Raises:
            SetupError: no endpoint can be used; with the reason of each.
            UnavailableError: none of them answers.
        """
        if self._fleet.workers:
            return
        words = f"no endpoint can be used: {'; '.join(map(str, self.unusable.values())) or 'none was named'}"
        silent = self.unusable and all(isinstance(error, TransientError) for error in self.unusable.values())
        error = UnavailableError(words) if silent else SetupError(words)
        error.add_note("`ioi-eval doctor --endpoints …` tries each and says what to do")
        raise error

    async def look_around(self) -> None:
        """Ask for the endpoints; take in those that are new, or could not be used before; let go those that left."""
        from yarl import URL

        wanted = dict.fromkeys(await endpoints_now(self._source))
        for name in [name for name in (*self._fleet.workers, *self.unusable) if name not in wanted]:
            self.unusable.pop(name, None)
            self._remove(name)
        async with asyncio.TaskGroup() as explorations:
            for name in wanted:
                if name not in self._fleet.workers:
                    explorations.create_task(self._explore(URL(name)))

    async def keep_looking(self, every_s: float) -> None:
        """Look around again and again."""
        while True:
            await asyncio.sleep(every_s)
            # a list that cannot be had for a moment, or is being edited, changes nothing
            with contextlib.suppress(SandboxError, SetupError, InputError):
                await self.look_around()

    async def check(self, name: str) -> None:
        """Find out for the pool whether an endpoint lives, and still is what it was."""
        worker = self._fleet.workers.get(name)
        alive: bool | None = False
        if worker is not None:
            try:
                alive = await self._scout.runtimes(worker.url) == worker.runtimes
                if alive:
                    self.unusable.pop(name, None)  # it could not be explored when its runtimes had changed for a while
                elif await self._explore(worker.url):
                    return
            except (SandboxError, SetupError) as error:
                alive = None if getattr(error, "end", None) is End.LATE else False
        self._obey(self._pool.checked(name, alive, self._time()))

    async def _explore(self, url: URL) -> bool:
        """Find out what an endpoint can, and take it into service; or put down why it cannot be used."""
        name = str(url)
        try:
            worker = await self._scout.explore(url)
        except (SandboxError, SetupError) as error:
            self.unusable[name] = error
            if isinstance(error, SetupError):
                self._remove(name)
            return False
        self.unusable.pop(name, None)
        self._obey(self._pool.add(self._fleet.enter(worker), self._time()))
        return True

    def _remove(self, name: str) -> None:
        self._fleet.drop(name)
        self._obey(self._pool.remove(name, self._time()))
