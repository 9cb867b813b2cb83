"""The reports of an exploration about endpoints that cannot serve."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from ioi_eval.errors import InputError, IoiEvalError
from ioi_eval.sandbox.piston.cluster import PistonCluster

RUNTIMES = [{"language": "bash", "version": "5.2.0", "aliases": ["sh"]}]
PAGE = "<html>\n  <p>no such\n  page</p>\n</html>\n"


async def runtimes(_: web.Request) -> web.Response:
    """As Piston."""
    return web.json_response(RUNTIMES)


async def no_box(_: web.Request) -> web.Response:
    """As Piston where it cannot make a box (recorded: `path_dir_conflict`)."""
    return web.Response(status=500)


async def page(_: web.Request) -> web.Response:
    """As a web server that knows nothing of Piston."""
    return web.Response(status=404, text=PAGE)


async def refusals(*applications: web.Application) -> tuple[list[int], str]:
    """Ports of servers, and how a cluster of them is refused."""
    runners = [web.AppRunner(application) for application in applications]
    try:
        for runner in runners:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
        ports = [runner.addresses[0][1] for runner in runners]
        with pytest.raises(IoiEvalError) as refused:
            await PistonCluster([f"http://127.0.0.1:{port}" for port in ports]).__aenter__()
        return ports, str(refused.value)
    finally:
        for runner in runners:
            await runner.cleanup()


def test_every_endpoint_is_named_with_its_reason() -> None:
    """Once, and in one line: who has fifty workers looks for the one."""
    boxless, stranger = web.Application(), web.Application()
    boxless.router.add_get("/api/v2/runtimes", runtimes)
    boxless.router.add_post("/api/v2/execute", no_box)
    stranger.router.add_route("*", "/{path:.*}", page)
    ports, words = asyncio.run(refusals(boxless, stranger))
    told = {
        f"http://127.0.0.1:{ports[0]}/api/v2: HTTP 500: the server could not start a process or make a box",
        f"http://127.0.0.1:{ports[1]}/api/v2: not a Piston server: HTTP 404: a web page",
    }
    assert set(words.removeprefix("no endpoint can be used: ").split("; ")) == told


def test_one_url_is_enough() -> None:
    """Or a text as in `PISTON_ENDPOINTS`: its letters are not a list of servers."""

    async def refused(text: str) -> str:
        with pytest.raises(IoiEvalError) as error:
            await PistonCluster(text).__aenter__()
        return str(error.value)

    assert "http://127.0.0.1:9/api/v2" in asyncio.run(refused("http://127.0.0.1:9"))
    both = asyncio.run(refused("http://127.0.0.1:9,127.0.0.1:10"))
    assert "http://127.0.0.1:9/api/v2" in both
    assert "http://127.0.0.1:10/api/v2" in both
    with pytest.raises(InputError, match="no Piston endpoint is named"):
        PistonCluster(" ")
