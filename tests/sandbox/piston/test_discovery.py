"""Explorations of endpoints that cannot serve or do not answer, and what is reported of them."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from ioi_eval.errors import InputError, IoiEvalError, SandboxError, TransientError
from ioi_eval.sandbox.piston import discovery, probing, workers
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.discovery import Prober, UnsuitableWorkerError
from ioi_eval.sandbox.piston.http_client import HttpClient, Reply
from ioi_eval.sandbox.piston.pool import Pool
from ioi_eval.sandbox.piston.wire import InstalledStarter, Starter
from ioi_eval.sandbox.piston.workers import WorkerGroups, WorkerList
from tests.sandbox.piston.test_workers import WORKER, at

RUNTIMES = [{"language": "bash", "version": "5.2.0", "aliases": ["sh"]}]
PAGE = "<html>\n  <p>no such\n  page</p>\n</html>\n"


async def runtimes(_: web.Request) -> web.Response:
    """Answer like Piston."""
    return web.json_response(RUNTIMES)


async def no_box(_: web.Request) -> web.Response:
    """Answer like Piston when it cannot make a box (recorded: `path_dir_conflict`)."""
    return web.Response(status=500)


async def page(_: web.Request) -> web.Response:
    """Answer like a web server that is not Piston."""
    return web.Response(status=404, text=PAGE)


async def refusals(*applications: web.Application) -> tuple[list[int], str]:
    """The ports of servers, and the error message of a cluster of these servers."""
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
    """The message has each endpoint once, with its reason, in one line."""
    boxless, stranger = web.Application(), web.Application()
    boxless.router.add_get("/api/v2/runtimes", runtimes)
    boxless.router.add_post("/api/v2/execute", no_box)
    stranger.router.add_route("*", "/{path:.*}", page)
    ports, words = asyncio.run(refusals(boxless, stranger))
    expected = {
        f"http://127.0.0.1:{ports[0]}/api/v2: HTTP 500: the server could not start a process or make a box "
        "(is its disk full?)",
        f"http://127.0.0.1:{ports[1]}/api/v2: not a Piston server: HTTP 404: a web page",
        "check host, port and path (that of the API is usually /api/v2)",
    }
    assert expected == set(words.removeprefix("no endpoint can be used: ").split("; "))


def test_the_message_about_many_endpoints_is_short() -> None:
    """It has the reasons of five, and how many others there are."""
    with pytest.raises(IoiEvalError) as refused:
        asyncio.run(PistonCluster([f"http://127.0.0.1:{port}" for port in range(1, 8)]).__aenter__())
    words = str(refused.value)
    assert words.count("no connection") == 5
    assert words.endswith("; 2 more (`ioi-eval cluster status` lists all)")


def test_endpoints_can_be_one_string() -> None:
    """Endpoints can be one string, as in `PISTON_ENDPOINTS`. It is not taken as a sequence of characters."""

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


class Client:
    """A client of servers that list their runtimes and refuse jobs. Those named `silent` do not answer."""

    time = staticmethod(time.monotonic)

    async def get(self, url: URL, *, within_s: float) -> Any:
        """List the runtimes, or do not answer."""
        assert within_s
        if url.host == "silent":
            await asyncio.Event().wait()
        return Reply(status=200, body=b'[{"language": "bash", "version": "5.2.0"}]')

    async def post(self, *_: Any, **__: Any) -> Any:
        """Refuse a job."""
        raise SandboxError("takes no jobs")


def test_silent_endpoints_do_not_delay_others() -> None:
    """Endpoints that do not answer only keep a connection, however many they are. So others are explored."""

    async def scenario() -> None:
        prober: Any = Prober(Client())  # type: ignore[arg-type]
        silent = [asyncio.create_task(prober.explore(URL("http://silent:2000/api/v2"))) for _ in range(200)]
        await asyncio.sleep(0)
        with pytest.raises(SandboxError, match="takes no jobs"):
            await prober.explore(URL("http://answers:2000/api/v2"))
        assert not any(task.done() for task in silent)
        for task in silent:
            task.cancel()
        await asyncio.wait(silent)

    asyncio.run(scenario())


def measure_by(monkeypatch: pytest.MonkeyPatch, body: Callable[[URL], Awaitable[int | None]]) -> list[str]:
    """Let workers of one kind return enough, and accept requests as long as `body` says.

    Returns:
        A list of the measurements that are made, with the worker's host.
    """
    made: list[str] = []

    async def probe(*_: Any) -> Any:
        return WORKER.installed, WORKER.report

    async def measure_output(_: Prober, url: URL, __: Any) -> int:
        made.append(f"output {url.host}")
        return 4 << 20

    async def measure_body(_: Prober, url: URL, __: Any) -> int | None:
        made.append(f"body {url.host}")
        return await body(url)

    monkeypatch.setattr(Prober, "_probe", probe)
    monkeypatch.setattr(Prober, "_measure_output", measure_output)
    monkeypatch.setattr(Prober, "_measure_body", measure_body)
    return made


async def size_of(prober: Prober, host: str) -> int | type[UnsuitableWorkerError] | None:
    """The request size of a worker, or the type of the error if it is unsuitable."""
    try:
        return (await prober.explore(URL(f"http://{host}:2000/api/v2"))).max_body_bytes
    except UnsuitableWorkerError as error:
        return type(error)


def test_a_measurement_that_does_not_end_delays_no_other_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of the same kind is measured, and joins."""

    async def body(url: URL) -> int:
        if url.host == "hangs":
            await asyncio.Event().wait()
        return 48 << 20

    measure_by(monkeypatch, body)

    async def scenario() -> None:
        prober = Prober(Client())  # type: ignore[arg-type]
        hanging = asyncio.create_task(prober.explore(URL("http://hangs:2000/api/v2")))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            assert (await prober.explore(URL("http://answers:2000/api/v2"))).max_body_bytes == 48 << 20
        hanging.cancel()
        await asyncio.wait([hanging])

    asyncio.run(scenario())


def test_a_request_size_that_is_not_found_out_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next worker of the same kind is measured: the first, or a proxy, may have failed at that moment."""
    found = [None, 48 << 20, None]

    async def body(_: URL) -> int | None:
        return found.pop(0)

    measure_by(monkeypatch, body)

    async def scenario() -> list[Any]:
        prober = Prober(Client())  # type: ignore[arg-type]
        return [await size_of(prober, f"w{number}") for number in range(3)]

    assert asyncio.run(scenario()) == [None, 48 << 20, 48 << 20]


@pytest.mark.parametrize("is_restarted", [True, False])
def test_the_best_package_is_examined_again_before_another_is_used(
    monkeypatch: pytest.MonkeyPatch, is_restarted: bool
) -> None:
    """The worker may be restarted with other limits after its best package was refused for its limits."""

    async def probe(_: Prober, __: URL, installed: InstalledStarter) -> Any:
        return installed, WORKER.report

    async def measure_body(_: Prober, __: URL, installed: InstalledStarter) -> int:
        examined.append(installed.starter)
        is_limited = installed.starter is Starter.IOI_EVAL and (len(examined) == 1 or not is_restarted)
        return 100 << 10 if is_limited else 48 << 20

    class Both(Client):
        async def get(self, *_: Any, **__: Any) -> Any:
            listed = b'[{"language": "bash", "version": "5.2.0"}, {"language": "ioi_eval", "version": "1.0.0"}]'
            return Reply(status=200, body=listed)

    examined: list[Starter] = []
    measure_by(monkeypatch, lambda _: asyncio.sleep(0, 0))
    monkeypatch.setattr(Prober, "_probe", probe)
    monkeypatch.setattr(Prober, "_measure_body", measure_body)
    worker = asyncio.run(Prober(Both()).explore(WORKER.url))  # type: ignore[arg-type]
    assert worker.installed.starter is (Starter.IOI_EVAL if is_restarted else Starter.BASH)
    assert examined == [Starter.IOI_EVAL, Starter.BASH, Starter.IOI_EVAL]


@pytest.mark.parametrize("small", [100 << 10, 4 << 20])
def test_a_request_size_that_is_too_small_is_assumed_of_no_other_worker(
    monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    """One worker of eight is behind a proxy with a limit. The others are measured until one accepts enough."""

    async def body(url: URL) -> int:
        await asyncio.sleep(0.01)  # the first four are measured at once
        return small if url.host == "w3" else 48 << 20

    made = measure_by(monkeypatch, body)

    async def scenario() -> list[Any]:
        prober = Prober(Client())  # type: ignore[arg-type]
        first = await asyncio.gather(*(size_of(prober, f"w{number}") for number in range(8)))
        again = await size_of(prober, "w3")
        assert again == first[3]
        return first

    limited = UnsuitableWorkerError if small < 1 << 20 else small
    assert asyncio.run(scenario()) == [*[48 << 20] * 3, limited, *[48 << 20] * 4]
    assert made.count("body w3") == 2
    assert not [f"body w{number}" for number in range(4, 8) if f"body w{number}" in made]
    assert "output w3" not in made  # the answers of w0 were long enough


def test_a_worker_is_measured_until_it_accepts_as_much_as_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its limit is lowered during a run, and raised again. Neither changes what is assumed for a new worker."""
    sizes = {"a": 48 << 20, "b": 48 << 20}

    async def body(url: URL) -> int:
        return sizes[str(url.host)]

    measure_by(monkeypatch, body)

    async def scenario() -> None:
        prober = Prober(Client())  # type: ignore[arg-type]
        assert await size_of(prober, "a") == 48 << 20
        sizes["a"] = 100 << 10
        prober.measure_again(URL("http://a:2000/api/v2"))
        assert await size_of(prober, "a") is UnsuitableWorkerError
        assert await size_of(prober, "b") == 48 << 20
        assert await size_of(prober, "a") is UnsuitableWorkerError
        sizes["a"] = 48 << 20
        assert await size_of(prober, "a") == 48 << 20

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("limit", "sizes", "expected"),
    [
        (100 << 10, [1 << 20], 102_400),
        (3 << 20, [1 << 20, 48 << 20, 16 << 20, 4 << 20], 1 << 20),
        (20 << 20, [1 << 20, 48 << 20, 16 << 20], 16 << 20),
        (64 << 20, [1 << 20, 48 << 20], 48 << 20),
    ],
)
def test_a_request_size_costs_little_where_it_is_small(limit: int, sizes: list[int], expected: int) -> None:
    """The smallest request is sent first. A thousand workers that refuse it may be measured every 30 s."""
    sent: list[int] = []

    class Limited:
        time = staticmethod(time.monotonic)

        async def is_too_large(self, *_: Any, **__: Any) -> bool:
            return False

        async def post(self, _: URL, sending: Any, **__: Any) -> Reply:
            (packed,) = sending._value.segments
            sent.append(len(gzip.decompress(packed)))
            return Reply(status=413 if sent[-1] > limit else 200, body=b"{}")

    prober = Prober(Limited())  # type: ignore[arg-type]
    assert asyncio.run(prober._measure_body(WORKER.url, WORKER.installed)) == expected
    assert sent == sizes


@pytest.mark.usefixtures("short_requests")
@pytest.mark.parametrize("status", [502, 503])
def test_a_failure_while_the_request_size_is_measured(status: int) -> None:
    """A server that is busy, or a proxy that has lost it, for a moment, is asked again."""
    failed: list[int] = []

    async def execute(request: web.Request) -> web.Response:
        await request.read()
        if failed or "Content-Encoding" not in request.headers:
            return web.json_response({})
        failed.append(status)
        return web.Response(status=status, text=PAGE)

    async def scenario() -> int | None:
        application = web.Application(client_max_size=0)
        application.router.add_post("/api/v2/execute", execute)
        server = web.AppRunner(application)
        await server.setup()
        try:
            await web.TCPSite(server, "127.0.0.1", 0).start()
            url = URL(f"http://127.0.0.1:{server.addresses[0][1]}/api/v2")
            async with HttpClient() as client:
                return await Prober(client)._measure_body(url, WORKER.installed)
        finally:
            await server.cleanup()

    assert asyncio.run(scenario()) == max(probing.BODY_LADDER)
    assert failed == [status]


@pytest.mark.usefixtures("short_requests")
def test_a_probe_that_gets_the_answer_to_another_request() -> None:
    """It is sent again. The message does not name the limit of answers, although the probe's did not arrive."""
    sent: list[str] = []
    another = {"stdout": "begin\tf00d\t\nend\tf00d\t\n", "stderr": "", "code": 0, "signal": None}

    async def execute(request: web.Request) -> web.Response:
        sent.append(await request.text())
        return web.json_response({"run": another})

    application = web.Application(client_max_size=0)
    application.router.add_get("/api/v2/runtimes", runtimes)
    application.router.add_post("/api/v2/execute", execute)
    _, message = asyncio.run(refusals(application))
    assert message.endswith("this is the answer to another request: was it mixed up by a proxy?")
    assert len(sent) > 1
    assert len(set(sent)) == 1


@pytest.mark.parametrize(("lost", "expected"), [(1, 0), (2, 1)])
def test_an_answer_that_is_incomplete_once_says_nothing_of_a_limit(lost: int, expected: int) -> None:
    """The probe was killed, or the end of its answer was lost: it is sent again before less is assumed."""
    sent: list[int] = []

    class Losing:
        time = staticmethod(time.monotonic)

        async def post(self, _: URL, sending: Any, **__: Any) -> Reply:
            text = b"".join(sending._value.segments).decode()
            nonce, size = re.findall(r"tell end (\w+)", text)[0], int(json.loads(text)["args"][0])
            sent.append(size)
            end = "" if len(sent) <= lost else f"end\t{nonce}\t\n"
            stage = {"stdout": f"begin\t{nonce}\t\n{'x' * size}\n{end}", "stderr": "", "code": 0, "signal": None}
            return Reply(status=200, body=json.dumps({"run": stage}).encode())

    prober = Prober(Losing())  # type: ignore[arg-type]
    size = probing.OUTPUT_LADDER[expected]
    assert asyncio.run(prober._measure_output(WORKER.url, WORKER.installed)) == size
    assert sent == [probing.OUTPUT_LADDER[0]] * 2 + [size] * expected


def test_a_measurement_that_fails_ends_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """If one measurement fails, the other is cancelled. It would send megabytes during the next exploration."""
    ended: list[str] = []

    async def output(*_: Any) -> int:
        raise TransientError("reset")

    async def body(*_: Any) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("body")
        return 0

    monkeypatch.setattr(Prober, "_measure_output", output)
    monkeypatch.setattr(Prober, "_measure_body", body)

    async def scenario() -> None:
        with pytest.raises(TransientError, match="reset"):
            await Prober(Client())._find_sizes(WORKER.url, WORKER.installed, ())  # type: ignore[arg-type]
        assert ended == ["body"]

    asyncio.run(scenario())


def test_an_endpoint_that_leaves_the_list_while_it_is_explored_is_not_used() -> None:
    """An endpoint that was removed may belong to another cluster now. The one that stays is used."""
    listed, found = ["http://a:2000", "http://b:2000"], asyncio.Event()

    class Slow:
        address = staticmethod(URL)

        async def explore(self, url: URL) -> discovery.Worker:
            await found.wait()
            return at(WORKER, str(url.host))

    async def scenario() -> None:
        async def endpoints() -> list[str]:
            return [f"{url}/api/v2" for url in listed]

        groups, pool = WorkerGroups(1), Pool(patience_s=1.0, rng=random.Random(0))
        time = asyncio.get_running_loop().time
        known = WorkerList(endpoints, Slow(), groups, pool, time=time, start=asyncio.create_task)  # type: ignore[arg-type]
        await known.refresh()
        await asyncio.sleep(0)
        listed.remove("http://a:2000")
        await known.refresh()
        found.set()
        await known.wait_for_workers()
        assert list(groups.used) == list(pool._endpoints) == ["http://b:2000/api/v2"]
        assert not known.unusable

    asyncio.run(scenario())


def test_a_run_does_not_wait_until_all_busy_workers_have_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """They answer one after another, so there is never a pause. Those that answer later are used then."""
    monkeypatch.setattr(workers, "JOIN_S", 0.1)
    urls = [f"http://w{number}:2000/api/v2" for number in range(500)]
    turns = asyncio.Lock()

    class Busy:
        address = staticmethod(URL)

        async def explore(self, url: URL) -> discovery.Worker:
            async with turns:
                await asyncio.sleep(0.01)
            return at(WORKER, str(url.host))

    async def scenario() -> None:
        groups, pool = WorkerGroups(1), Pool(patience_s=1.0, rng=random.Random(0))
        time = asyncio.get_running_loop().time
        known = WorkerList(urls, Busy(), groups, pool, time=time, start=asyncio.create_task)  # type: ignore[arg-type]
        await known.refresh()
        await known.wait_for_workers()
        assert groups.used
        assert known.silent
        await asyncio.gather(*known._exploring.values())
        assert len(groups.used) == len(urls)

    asyncio.run(scenario())


@pytest.mark.parametrize("value", ["Bearer x\n", "x\0", None])
def test_a_header_that_cannot_be_sent(value: Any) -> None:
    """It is refused at once, with its name and without its value: a token, with the line break of its file."""
    with pytest.raises(InputError, match=r"the header .Authorization. is not one line of text; [^x]*$"):
        HttpClient({"Authorization": value})
