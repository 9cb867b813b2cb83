"""A machine loses power during a job: its connections are dead, but no end of file arrives."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston.cluster import PistonCluster

ECHO = Job(
    kind=JobKind.SCRIPTS,
    files=(JobFile(name="run", content=b":\n"), JobFile(name="echo", content=b"x")),
    run_limits=StageLimits(wall_ms=2_000, cpu_ms=2_000),
)


def test_every_connection_has_keepalive(start: Any) -> None:
    """TCP keepalive is on for each connection with jobs, and detects a dead one within 30 seconds."""

    async def run() -> list[tuple[int, int]]:
        async with PistonCluster(start("stub_piston.py", "--count", "2").urls) as cluster:
            target = cluster.targets()[0]
            await asyncio.gather(*(cluster.execute(ECHO, target) for _ in range(6)))
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
