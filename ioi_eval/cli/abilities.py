"""Which profiles each worker supports, and why not the others: every worker is explored for both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ioi_eval.errors import SandboxError, SetupError
from ioi_eval.sandbox.piston.discovery import Prober, Worker
from ioi_eval.sandbox.piston.wire import Starter

if TYPE_CHECKING:
    from yarl import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """Whether a worker supports a profile.

    Args:
        worker: what was found out about it; `None` if it does not.
        why_not: why it does not; empty if it does.
    """

    worker: Worker | None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """Whether a worker supports each profile: many tests a job, judged by the runner (bundled), and one (classic)."""

    url: str
    bundled: Ability
    classic: Ability

    @property
    def is_usable(self) -> bool:
        """Whether a run that forces no profile uses this worker; the doctor decides in the same way.

        A worker that can run our package in the classic profile only is not used: what `bundled` lacks should be fixed.
        """
        has_own_scripts = self.classic.worker is not None and self.classic.worker.installed.starter is Starter.CMS_IOI
        return self.bundled.worker is not None or has_own_scripts


async def abilities(urls: Sequence[str]) -> list[Abilities]:
    """Explore all workers, many at once; the results are in the order given."""
    from ioi_eval.sandbox.piston.http_client import HttpClient

    async with HttpClient() as client:
        probers = Prober(client, "bundled"), Prober(client, "classic")
        async with asyncio.TaskGroup() as group:  # the probers limit how many run at once
            tasks = [[group.create_task(_ability(prober, prober.address(url))) for prober in probers] for url in urls]
        return [
            Abilities(url=url, bundled=bundled.result(), classic=classic.result())
            for url, (bundled, classic) in zip(urls, tasks, strict=True)
        ]


async def _ability(prober: Prober, url: URL) -> Ability:
    try:
        return Ability(worker=await prober.explore(url))
    except (SandboxError, SetupError) as error:
        return Ability(worker=None, why_not=str(error).removeprefix(f"{url}: ").removeprefix(f"{url}/runtimes: "))
