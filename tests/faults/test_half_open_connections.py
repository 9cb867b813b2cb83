"""A machine loses power during a job, or its server is suspended: no answer and no end of file arrives."""

from __future__ import annotations

import asyncio
import signal
import socket
from typing import Any

import pytest

from ioi_eval.sandbox.piston import endpoint_state, workers
from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.faults.stub_jobs import QUICK_S, echo, until


def test_every_connection_has_keepalive(start: Any) -> None:
    """TCP keepalive is on for each connection with jobs, and detects a dead one within 30 seconds."""

    async def run() -> list[tuple[int, int]]:
        async with PistonCluster(start("stub_piston.py", "--count", "2").urls) as cluster:
            await until(lambda: cluster.busy() == (0, 2))
            target = cluster.targets()[0]
            await asyncio.gather(*(cluster.execute(echo("x"), target) for _ in range(6)))
            found = []
            for transport in [each for each in cluster._client.connections.requests if not each.is_closing()]:
                connection = transport.get_extra_info("socket")
                idle, pause, number = (
                    connection.getsockopt(socket.IPPROTO_TCP, option)
                    for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
                )
                is_on = connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                found.append((is_on, idle + pause * number))
            return found

    found = asyncio.run(run())
    assert len(found) >= 2
    assert all(is_on and seconds <= 30 for is_on, seconds in found)


@pytest.mark.usefixtures("short_requests")
def test_a_server_that_left_the_list_stops_answering(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slurm suspends a worker: it leaves the list and keeps its connections open. Its job runs on another server."""
    monkeypatch.setattr(endpoint_state, "CHECK_AFTER_S", 0.2)
    monkeypatch.setattr(endpoint_state, "ABANDON_AFTER_S", 0.5)
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    stops, other = start("stub_piston.py"), start("stub_piston.py")
    listed = [*stops.urls, *other.urls]

    async def endpoints() -> list[str]:
        return listed

    async def run() -> None:
        async with PistonCluster(endpoints, patience_s=QUICK_S) as cluster:
            await until(lambda: cluster.busy() == (0, 2))
            target = cluster.targets()[0]
            stops.process.send_signal(signal.SIGSTOP)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(cluster.execute(echo(str(n)), target)) for n in range(2)]
                await asyncio.sleep(0)
                assert cluster.busy() == (2, 2)  # one job on each server
                listed[:] = other.urls
                await until(lambda: cluster.targets()[0].slots == 1)
            assert [task.result().run.stdout for task in tasks] == ["0", "1"]

    try:
        asyncio.run(run())
    finally:
        stops.process.send_signal(signal.SIGCONT)
