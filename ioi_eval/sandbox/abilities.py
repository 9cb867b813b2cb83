"""Which profile each worker can do, and why not the other: every worker is explored for each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ioi_eval.errors import SandboxError, SetupError
from ioi_eval.sandbox.discovery import Scout, Worker

if TYPE_CHECKING:
    from yarl import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Ability:
    """Whether a worker can do a profile.

    Args:
        worker: with what; `None` if it cannot.
        why_not: why; empty if it can.
    """

    worker: Worker | None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What a worker can do.

    Args:
        url: the base of its API.
        bundled: many tests a job, judged by the runner.
        classic: one test a job.
    """

    url: str
    bundled: Ability
    classic: Ability


async def abilities(urls: Sequence[str]) -> list[Abilities]:
    """Explore all workers, many at once; in the order given."""
    from yarl import URL

    from ioi_eval.sandbox.http_client import HttpClient

    async with HttpClient() as client:
        scouts = Scout(client, "bundled"), Scout(client, "classic")
        async with asyncio.TaskGroup() as group:  # the scouts themselves bound how many are under way
            tasks = [[group.create_task(_ability(scout, URL(url))) for scout in scouts] for url in urls]
        return [
            Abilities(url=url, bundled=bundled.result(), classic=classic.result())
            for url, (bundled, classic) in zip(urls, tasks, strict=True)
        ]


async def _ability(scout: Scout, url: URL) -> Ability:
    try:
        return Ability(worker=await scout.explore(url))
    except (SandboxError, SetupError) as error:
        return Ability(worker=None, why_not=str(error).removeprefix(f"{url}: ").removeprefix(f"{url}/runtimes: "))
