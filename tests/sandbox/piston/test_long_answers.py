"""An endless answer is a failure of the server, not of the client, and not of a program."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from ioi_eval.errors import InputError, TransportError
from ioi_eval.sandbox.piston.answer import cut_execution
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.discovery import Prober
from ioi_eval.sandbox.piston.http_client import HttpClient, Sending
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.piston.wire import Body

BODY = Body(segments=(b"{}",), size=2, max_run_s=0.0)


def with_long_answers(
    question: Callable[[Prober, URL], Awaitable[Any]], *, status: int = 200, beginning: bytes = b"x", ends: bool = False
) -> Any:
    """Call a function with a server whose answers have a `Content-Length` of 1 TiB. Returns its result.

    Args:
        question: the function.
        status: the answers' HTTP status.
        beginning: their first bytes.
        ends: whether the server closes the connection after these; else it goes on until the client closes it.
    """

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers={"Content-Length": str(1 << 40)})
        await response.prepare(request)
        await response.write(beginning)
        with contextlib.suppress(ConnectionError):
            while not ends:
                await response.write(bytes(1 << 20))
        if ends and request.transport is not None:
            request.transport.close()
        return response

    async def run() -> Any:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            async with HttpClient() as client:
                return await question(Prober(client), URL(f"http://127.0.0.1:{runner.addresses[0][1]}/api/v2"))
        finally:
            await runner.cleanup()

    return asyncio.run(run())


@pytest.mark.parametrize(
    "question",
    [lambda prober, url: prober.runtimes(url), lambda prober, url: prober._post(url, BODY)],
    ids=["check", "exploration"],
)
def test_an_answer_without_end(question: Callable[[Prober, URL], Awaitable[Any]]) -> None:
    """A check and an exploration end with AnswerLostError, and the endpoint counts as broken."""
    with pytest.raises(AnswerLostError, match="too long") as raised:
        with_long_answers(question)
    assert raised.value.end is JobEnd.BROKEN


@pytest.mark.parametrize(
    ("status", "beginning", "words"),
    [
        (200, b"<html><title>Welcome</title>", "too long, and not Piston's: a web page, 'Welcome'"),
        (200, b'{"error": "', "too long, and not Piston's"),
        (502, b"<html><title>Bad Gateway</title>", "HTTP 502: a web page, 'Bad Gateway'"),
        (200, b'{"run": {', ""),
    ],
)
def test_a_job_whose_answer_has_no_end(status: int, beginning: bytes, words: str) -> None:
    """Only an answer of Piston is over the limit on output, which can be a score of 0. Any other is an error."""

    async def execute(prober: Prober, url: URL) -> tuple[int, bytes]:
        reply = await prober._client.post(url, Sending(BODY, 60.0, prober._client), max_bytes=1 << 20)
        assert reply.is_cut
        return reply.status, reply.body

    reply = with_long_answers(execute, status=status, beginning=beginning)
    if words:
        with pytest.raises(TransportError, match=re.escape(words)):
            cut_execution(*reply)
    else:
        assert cut_execution(*reply).run.status == "OL"


def test_a_wrong_length_is_no_long_answer() -> None:
    """If the connection ends after the first bytes of an answer that should be long, the answer is lost."""

    async def execute(prober: Prober, url: URL) -> object:
        return await prober._client.post(url, Sending(BODY, 60.0, prober._client), max_bytes=1 << 20)

    with pytest.raises(AnswerLostError) as raised:
        with_long_answers(execute, beginning=b'{"run": {', ends=True)
    assert raised.value.end is JobEnd.BROKEN


def test_an_unknown_profile_opens_no_session() -> None:
    """A cluster with an invalid setting cannot be made, so it opens no session, which would have to be closed."""
    with pytest.raises(InputError, match="profile 'none'"):
        PistonCluster(["http://127.0.0.1:1"], profile="none")
