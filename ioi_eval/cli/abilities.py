"""Which profiles each worker supports, and why not the others: every worker is explored for both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ioi_eval.errors import SandboxError, SetupError
from ioi_eval.model import Profile
from ioi_eval.sandbox.findings import NOT_BY_DEFAULT
from ioi_eval.sandbox.piston.discovery import Prober, Worker
from ioi_eval.sandbox.piston.wire import Starter

if TYPE_CHECKING:
    from yarl import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """Whether a worker supports each profile: many tests per job, judged by the runner (bundled), and one (classic).

    Args:
        bundled, classic: what was found out about it in this profile; `None` if it does not support it.
        why_not: why it does not, for each profile that it does not support; or why it is not used all the same.
    """

    url: str
    bundled: Worker | None
    classic: Worker | None
    why_not: tuple[str, ...]

    @property
    def is_usable(self) -> bool:
        """Whether a run uses this worker that forces neither a profile nor an isolation; the doctor decides in the same
        way.

        A worker that can run our package in the classic profile only is not used: what `bundled` lacks should be fixed.
        """
        return self.bundled is not None


async def abilities(urls: Sequence[str]) -> list[Abilities]:
    """Explore all workers, many at once; the results are in the order given."""
    from ioi_eval.sandbox.piston.http_client import HttpClient

    async with HttpClient() as client:
        probers = Prober(client, Profile.BUNDLED), Prober(client, Profile.CLASSIC)
        async with asyncio.TaskGroup() as group:
            tasks = [[group.create_task(_explored(prober, prober.address(url))) for prober in probers] for url in urls]
    found = []
    for url, pair in zip(urls, tasks, strict=True):
        (bundled, no_bundled), (classic, no_classic) = (task.result() for task in pair)
        has_own_scripts = classic is not None and classic.installed.starter is Starter.CMS_IOI
        not_by_default = f"cms_ioi: {NOT_BY_DEFAULT}" if bundled is None and has_own_scripts else ""
        why_not = tuple(filter(None, (no_bundled, no_classic, not_by_default)))
        found.append(Abilities(url=url, bundled=bundled, classic=classic, why_not=why_not))
    return found


async def _explored(prober: Prober, url: URL) -> tuple[Worker | None, str]:
    """What was found out about a worker, or why it does not support the profile."""
    try:
        return await prober.explore(url), ""
    except (SandboxError, SetupError) as error:
        return None, str(error).removeprefix(f"{url}: ").removeprefix(f"{url}/runtimes: ")
