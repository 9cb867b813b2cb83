"""Runs Hugging Face's client for Piston: `ioi_client.py CHECKOUT URL SLOTS`, with an interpreter that has aiohttp.

A task is a subtask with its tests, and a program: the arguments of its `score_subtask`. Its result is the list of the
statuses of the tests. Up to SLOTS requests run at a time, possibly all tests. The client waits for answers without a
limit.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import aiohttp
from answering import answer


async def statuses(url: str, slots: int, subtask: dict[str, Any], code: str) -> list[str]:
    """Score a program with a new client."""
    score_subtask = importlib.import_module("scoring").score_subtask
    client_of = importlib.import_module("piston_client").PistonClient
    waiting = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(timeout=waiting, connector=aiohttp.TCPConnector(limit=slots)) as session:
        client = client_of(f"{url}/api/v2", session, max_requests_per_endpoint=slots)
        result = await score_subtask(client, subtask, code, test_batch_size=len(subtask["test_names"]))
    return [each.status for each in result.test_results]


def main() -> None:
    """Answer tasks."""
    _, checkout, url, slots = sys.argv
    sys.path.insert(0, str(Path(checkout) / "run_tests"))
    datasets = ModuleType("datasets")  # the tests come with the task
    datasets.load_dataset = None  # type: ignore[attr-defined]
    sys.modules.setdefault("datasets", datasets)
    answer(lambda task: asyncio.run(statuses(url, int(slots), task["subtask"], task["code"])))


if __name__ == "__main__":
    main()
