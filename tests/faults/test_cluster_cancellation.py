"""A job is cancelled at each of its awaits in turn: the slot is free again each time.

There is one endpoint with one slot, so the next job would wait without end if the slot were lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any

import pytest

from ioi_eval.errors import SandboxError
from ioi_eval.sandbox.piston import http_client
from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.faults.stub_jobs import TRANSIENT, all_slots_work, arm, echo, proxied, with_cluster

pytestmark = pytest.mark.usefixtures("short_requests")

MAX_UNCANCELLED = 5
"""After this number of consecutive attempts that end before their n-th await, there is no n-th await. The number of
awaits varies: a body that is encoded in a thread may be complete before the task waits for it."""


class CancelledAt:
    """Awaits a coroutine, and cancels the task at its n-th suspension.

    Args:
        number: the number of the suspension, from 1.
        coroutine: the coroutine.
    """

    def __init__(self, number: int, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.number = number
        self.coroutine = coroutine
        self.suspensions = 0

    def __await__(self) -> Generator[Any, Any, Any]:
        task = asyncio.current_task()
        assert task is not None
        steps = self.coroutine.__await__()
        sent: Any = None
        error: BaseException | None = None
        while True:
            try:
                future = steps.send(sent) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value
            self.suspensions += 1
            if self.suspensions == self.number:
                asyncio.get_running_loop().call_soon(task.cancel)
            sent, error = None, None
            try:
                sent = yield future
            except BaseException as thrown:  # noqa: BLE001 - passed on to the coroutine
                error = thrown


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("padding", [0, 3_000_000])
@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_cancelled_at_every_await(
    start: Any, monkeypatch: pytest.MonkeyPatch, rate: float, padding: int, alone: bool
) -> None:
    """Cancelled during encoding, connecting, sending, receiving, and before a retry; small and large bodies.

    Connections are not kept, so each attempt also waits for a connection.
    """
    monkeypatch.setattr(http_client, "IDLE_CONNECTION_S", 0.0)
    _, proxy = proxied(start, faults=",".join(TRANSIENT), rate=rate, seed=1)

    async def use(cluster: PistonCluster) -> int:
        target = cluster.targets()[0]
        await arm(proxy)
        cancelled = ended = 0
        padded = padding
        while ended < MAX_UNCANCELLED:
            number, padded = cancelled + 1, padded + 1
            job = echo("x", alone=alone, padding=padded)  # a new body each time, so it is encoded again
            attempt = CancelledAt(number, cluster.execute(job, target))
            ended += 1
            try:
                async with asyncio.timeout(20):
                    await asyncio.create_task(outcome(attempt))
            except asyncio.CancelledError:
                cancelled, ended = number, 0
            assert not any(state.running for state in cluster._pool._endpoints.values()), f"lost at await {number}"
        return cancelled

    assert with_cluster(proxy.urls, use, patience_s=0.5) >= (3 if padding else 1)


async def outcome(attempt: CancelledAt) -> Any:
    """Run the attempt. Returns its result, or its error."""
    try:
        return await attempt
    except SandboxError as error:
        return error


def test_all_slots_are_free_after_cancellations(start: Any) -> None:
    """Two endpoints with two slots each: after a cancellation at each await, four jobs can still run at once."""
    _, proxy = proxied(start, servers=2, faults="reset-after", rate=0.3, seed=3)

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        await arm(proxy)
        attempts = [CancelledAt(number, cluster.execute(echo("x", delay_ms=5), target)) for number in range(1, 60)]
        await asyncio.gather(*(outcome(attempt) for attempt in attempts), return_exceptions=True)
        await all_slots_work(cluster, 4)

    with_cluster(proxy.urls, use, max_requests_per_endpoint=2, patience_s=60.0)
