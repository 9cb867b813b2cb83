"""The problems' packages of a server, for use from its event loop: a slow repository does not block the server.

Installing a package may take minutes, and a repository may be silent. So installing and removing, reading the
repository's index, and listing what is installed each have their own thread, apart from the threads that parse
requests. One package is changed at a time: other changes are refused meanwhile, and the client should retry.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ioi_eval.sandbox.piston.wire import Runtime
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
from ioi_eval.sandbox.serve.request import Refusal

_T = TypeVar("_T")
_WITHIN_S = 900.0  # 20 GB, as much as `cluster install` puts on a worker by default, at 22 MB a second


class ServedPackages:
    """A server's packages.

    Args:
        packages: the installed packages.
        within_s: how long a request waits for a change, or for the repository, in seconds.
    """

    def __init__(self, packages: InstalledPackages, *, within_s: float = _WITHIN_S) -> None:
        self.packages = packages
        self._within_s = within_s
        self._looks, self._listings, self._changes = (
            ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("runtimes", "repository", "packages")
        )
        self._listing: Future[list[tuple[Runtime, str, str]]] | None = None
        self._change: Future[Runtime] | None = None

    async def runtimes(self) -> tuple[Runtime, ...]:
        """The packages that are installed now: another server that shares the directory may have changed them."""
        return await asyncio.wrap_future(self._looks.submit(self.packages.runtimes))

    async def listed(self) -> list[Runtime]:
        """The packages of the repository; requests that come while it is read get the same answer.

        Raises:
            Refusal: the repository cannot be read, or not in time.
        """
        if self._listing is None or self._listing.done():
            self._listing = self._listings.submit(self.packages.listed)
        return [each for each, _, _ in await self._end_of(self._listing, "reading the package repository")]

    async def install(self, language: str, version: str) -> Runtime:
        """Install a package of the repository.

        Raises:
            Refusal: it cannot be installed; another one is being changed; or it takes too long, and continues.
        """
        return await self._changed(self.packages.install, language, version)

    async def uninstall(self, language: str, version: str) -> Runtime:
        """Remove a package.

        Raises:
            Refusal: it is not installed; another one is being changed; or it takes too long, and continues.
        """
        return await self._changed(self.packages.uninstall, language, version)

    def close(self) -> None:
        """Start no more work."""
        for each in (self._looks, self._listings, self._changes):
            each.shutdown(wait=False, cancel_futures=True)

    async def _changed(self, change: Callable[[str, str], Runtime], language: str, version: str) -> Runtime:
        if self._change is not None and not self._change.done():
            raise Refusal(503, {"message": "a package is being installed or removed here; ask again when that is done"})
        self._change = self._changes.submit(change, language, version)
        return await self._end_of(self._change, f"changing {language}")

    async def _end_of(self, work: Future[_T], what: str) -> _T:
        """Wait for the result. The work continues after the deadline, as a thread cannot be stopped."""
        try:
            async with asyncio.timeout(self._within_s):
                return await asyncio.shield(asyncio.wrap_future(work))
        except TimeoutError:
            message = f"{what} takes longer than {self._within_s:g} s, and continues; check that the repository answers"
            raise Refusal(503, {"message": message}) from None
