"""The benchmark of the cluster's client: what it measures."""

from __future__ import annotations

import asyncio

from cluster_load import keep_requesting


def test_the_measurement_begins_when_each_caller_has_had_an_answer() -> None:
    """The answers that come before the slowest first answer do not count, and all later ones do."""
    callers, enough = 3, asyncio.Event()
    early = late = 0

    async def ask(number: int) -> None:
        nonlocal early, late
        if number == 0 and not late:
            await enough.wait()
            late = 1
            return
        await asyncio.sleep(0)
        if late:
            late += 1
        else:
            early += 1
        if early == 1_000:
            enough.set()

    figures = asyncio.run(keep_requesting(ask, callers, 0.2))
    assert early >= 1_000
    turns = 5  # until the measurement begins, and after it has ended
    assert late - turns * callers <= figures["requests"] <= late
