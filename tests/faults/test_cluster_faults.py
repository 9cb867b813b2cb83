"""A cluster with faults of networks and proxies: no answer is wrong, lost or duplicated."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import time
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from ioi_eval.cli import sandboxes
from ioi_eval.errors import (
    ExhaustedError,
    SandboxError,
    TransportError,
    UnavailableError,
)
from ioi_eval.events import Events
from ioi_eval.model import Retries, StageLimits
from ioi_eval.programs import with_retries
from ioi_eval.sandbox.piston import cluster as cluster_module
from ioi_eval.sandbox.piston import wire, workers
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.http_client import HttpClient, Sending
from ioi_eval.sandbox.piston.job_end import AnswerLostError
from ioi_eval.sandbox.piston.wire import Body
from tests.events.listener import Listener
from tests.faults.stub_jobs import (
    HARMLESS,
    QUICK_S,
    TRANSIENT,
    all_slots_work,
    arm,
    counts,
    echo,
    fails,
    proxied,
    run_all,
    until,
    with_cluster,
)

pytestmark = pytest.mark.usefixtures("short_requests")


@pytest.mark.parametrize("fault", TRANSIENT + HARMLESS)
def test_each_fault_alone(start: Any, fault: str) -> None:
    """Jobs that meet a fault get the same answers as without it."""
    _, proxy = proxied(start, faults=fault, first=3)

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        answers = await run_all(cluster, [echo(str(number), padding=100_000) for number in range(12)], 2)
        assert [answer.run.stdout for answer in answers] == [str(number) for number in range(12)]
        await all_slots_work(cluster, 2)

    with_cluster(proxy.urls, use, max_requests_per_endpoint=2, patience_s=QUICK_S)
    assert counts(proxy.urls[0], "faults")[fault] == 3


@pytest.mark.parametrize("fault", ["reset-before", "truncate", "html-502", "null", "not-json"])
def test_a_worker_is_explored_although_every_third_request_is_lost(start: Any, fault: str) -> None:
    """Only the lost requests are sent again, so what was found out before is not lost too."""
    _, proxy = proxied(start, faults=fault, every=3)
    counts(proxy.urls[0], "arm")

    async def use(cluster: PistonCluster) -> None:
        answers = await run_all(cluster, [echo(str(number)) for number in range(6)], 1)
        assert [answer.run.stdout for answer in answers] == [str(number) for number in range(6)]

    with_cluster(proxy.urls, use)
    assert counts(proxy.urls[0], "faults")[fault] >= 3


@pytest.mark.parametrize(("fault", "least_s"), [("limited", 0.0), ("limited-1s", 2.0)])
def test_a_job_that_a_limit_of_requests_refuses_waits(start: Any, fault: str, least_s: float) -> None:
    """It waits as long as its only worker says, no other job is sent meanwhile, and the refusals cost it no attempt: it
    has only one."""
    _, proxy = proxied(start, faults=fault, first=2)

    async def use(cluster: PistonCluster) -> float:
        await arm(proxy)
        begun = time.monotonic()
        answers = await run_all(cluster, [replace(echo(text), retries=Retries(left=0)) for text in "abcde"], 5)
        assert [answer.run.stdout for answer in answers] == [*"abcde"]
        return time.monotonic() - begun

    assert with_cluster(proxy.urls, use) >= least_s
    assert counts(proxy.urls[0], "faults") == {"requests": 7, fault: 2}


def test_a_check_that_a_limit_of_requests_refuses(start: Any) -> None:
    """The worker is alive: it gets jobs again."""
    _, proxy = proxied(start, faults="limited", first=1, **{"limits-checks": 1})

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        assert [answer.run.stdout for answer in await run_all(cluster, [echo("x")], 1)] == ["x"]

    with_cluster(proxy.urls, use)


def test_a_limit_of_requests_that_never_ends(start: Any) -> None:
    """The run ends when no job was begun for as long as jobs may wait, with the server's message. It is no JE."""
    _, proxy = proxied(start, faults="limited", every=1)

    async def use(cluster: PistonCluster) -> SandboxError:
        await arm(proxy)
        return await fails(cluster, echo("x"))

    error = with_cluster(proxy.urls, use, patience_s=0.5)
    assert type(error) is UnavailableError
    assert "Requests limited to 1 per 200ms" in str(error)


def run_with_all_faults(start: Any, jobs: int) -> None:
    """Run many jobs with a mixture of all faults: each job gets its own answer, and no slot is lost or duplicated."""
    servers, slots = 3, 4
    stub, proxy = proxied(start, servers=servers, faults=",".join(TRANSIENT + HARMLESS), rate=0.05, seed=11)

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        work = [echo(str(number), delay_ms=5, padding=number % 5 * 20_000) for number in range(jobs)]
        answers = await run_all(cluster, work, 2 * servers * slots)
        assert [answer.run.stdout for answer in answers] == [str(number) for number in range(jobs)]
        await all_slots_work(cluster, servers * slots)

    listener = Listener()
    with_cluster(proxy.urls, use, max_requests_per_endpoint=slots, events=Events([listener]))
    done = counts(proxy.urls[0], "faults")
    assert sum(done.values()) - done["requests"] > 0.03 * jobs, "faults occurred"
    assert done["requests"] <= 1.15 * (jobs + 2 * servers * slots), "retries are within the budget"
    retried = [told["message"] for told in listener.told if told["event"] == "job_retried"]
    most = [counts(url, "stub")["max_running"] for url in stub.urls]
    assert max(most) <= slots, f"a server got more jobs at once than slots; retried: {retried}"


def test_a_start_without_answers_says_what_it_waits_for(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker answers checks, but runs no job."""
    told: list[str] = []
    monkeypatch.setattr(sandboxes, "SILENT_S", 0.1)
    monkeypatch.setattr(sandboxes, "tell", lambda *lines: told.extend(lines))
    _, proxy = proxied(start, faults="hang", every=1)
    counts(proxy.urls[0], "arm")

    async def enter() -> None:
        async with sandboxes.opened(sandboxes.SandboxOptions(endpoints=proxy.urls[0])):
            pytest.fail("there is no worker")

    async def run() -> None:
        opening = asyncio.create_task(enter())
        async with asyncio.timeout(60):
            await until(lambda: bool(told))
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)

    asyncio.run(run())
    assert told == [f"no worker can be used yet; waiting, for some minutes at most, for {proxy.urls[0]}/api/v2"]


def test_a_cluster_without_workers_says_so_and_when_one_is_back(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While jobs wait for it. A worker that is back at once is not mentioned."""
    told: list[str] = []
    monkeypatch.setattr(sandboxes, "LOST_S", 0.1)
    monkeypatch.setattr(sandboxes, "tell", lambda *lines: told.extend(lines))
    server = start("stub_piston.py")

    async def run() -> None:
        options = sandboxes.SandboxOptions(endpoints=server.urls[0], patience=60)
        async with asyncio.timeout(60), sandboxes.opened(options) as entered:
            cluster = entered.sandbox
            assert isinstance(cluster, PistonCluster)
            del told[:]
            server.kill()
            job = asyncio.create_task(run_all(cluster, [echo("x")], 1))
            await until(lambda: bool(told))
            assert told == ["no worker can be used now; waiting up to 60 s for one"]
            start("stub_piston.py", "--port", str(server.ports[0]))
            await job
            assert told[1:] == ["a worker can be used again"]

    asyncio.run(run())


def test_a_list_of_endpoints_that_cannot_be_read_again_is_mentioned(
    start: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A line has the reason, once for each reason."""
    told: list[str] = []
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    monkeypatch.setattr(sandboxes, "tell", lambda *lines: told.extend(lines))
    server, path, listener = start("stub_piston.py"), tmp_path / "endpoints", Listener()

    def write(text: str) -> None:
        new = path.with_name("new")
        new.write_text(f"{text}\n")
        new.rename(path)

    def failures() -> int:
        return sum(event["event"] == "endpoints_unreadable" for event in listener.told)

    async def run() -> None:
        options, events = sandboxes.SandboxOptions(endpoints=f"file:{path}"), Events([listener])
        async with asyncio.timeout(60), sandboxes.opened(options, events=events):
            del told[:]
            for number, text in enumerate(["http://127.0.0.1:notaport", "", "http://127.0.0.1:notaport"], 1):
                write(text)
                await until(lambda: failures() == number)  # noqa: B023 - called before the next number

    write(server.urls[0])
    asyncio.run(run())
    wrong, empty = told
    begin = "the list of endpoints could not be read again, and the same workers are used: "
    assert wrong.startswith(begin)
    assert "http://127.0.0.1:notaport" in wrong
    assert empty.startswith(begin)
    assert str(path) in empty


def test_a_mixture_of_faults(start: Any) -> None:
    """600 jobs; one request in twenty has a fault."""
    run_with_all_faults(start, 600)


@pytest.mark.full
def test_a_mixture_of_faults_at_length(start: Any) -> None:
    """10,000 jobs; one request in twenty has a fault."""
    run_with_all_faults(start, 10_000)


def test_idle_connections_that_the_server_closed(start: Any) -> None:
    """If the server closed an idle connection, no job fails, and each job is sent once."""
    _, proxy = proxied(start, faults="delay", idle=0.05)

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        for number in range(20):
            job = replace(echo(str(number)), retries=Retries(left=0))
            answer = await cluster.execute(job, cluster.targets()[0])
            assert answer.run.stdout == str(number)
            await asyncio.sleep(0.001 * number**2 / 4)

    with_cluster(proxy.urls, use)
    assert counts(proxy.urls[0], "faults")["requests"] == 20


def test_retries_are_reported(start: Any) -> None:
    """Each retry is an event with the server and the reason."""
    _, proxy = proxied(start, faults="truncate", first=3)
    listener = Listener()

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        await run_all(cluster, [echo(str(number)) for number in range(6)], 1)

    with_cluster(proxy.urls, use, patience_s=QUICK_S, events=Events([listener]))
    retried = [event for event in listener.told if event["event"] == "job_retried"]
    assert [event["attempt"] for event in retried] == [1, 2, 3]
    assert {event["endpoint"] in event["message"] for event in retried} == {True}


def test_no_answer_within_the_deadline(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request without an answer ends at the job's deadline, and is retried."""
    monkeypatch.setattr(wire, "SERVER_QUEUE_S", (0.0, 0.0))
    _, proxy = proxied(start, faults="hang", first=1)
    job = replace(echo("x"), run_limits=StageLimits(wall_ms=100, cpu_ms=100))

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        assert (await cluster.execute(job, cluster.targets()[0])).run.stdout == "x"

    with_cluster(proxy.urls, use)
    assert counts(proxy.urls[0], "faults")["hang"] == 1


def test_a_job_without_an_answer_is_reported_while_it_is_waited_for(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, when its own limits are over. It may wait on the server for much longer before it is sent again."""
    monkeypatch.setattr(wire, "SERVER_QUEUE_S", (3.0, 3.0))
    monkeypatch.setattr(cluster_module, "_SLACK_S", 2.0)
    _, proxy = proxied(start, faults="hang", first=1)
    job = replace(echo("x"), run_limits=StageLimits(wall_ms=100, cpu_ms=100))
    listener = Listener()

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        assert (await cluster.execute(job, cluster.targets()[0])).run.stdout == "x"

    with_cluster(proxy.urls, use, events=Events([listener]))
    overdue, retried = (event for event in listener.told if event["event"].startswith("job_"))
    assert (overdue["event"], retried["event"]) == ("job_overdue", "job_retried")
    assert overdue["endpoint"] == retried["endpoint"]
    assert 2 < overdue["seconds"] < 5


def test_job_that_waits_for_another_client_does_not_count_as_lost(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clients use a server with one slot: the job of one waits while the other's runs, and is not sent again."""
    monkeypatch.setattr(wire, "SERVER_QUEUE_S", (0.0, 900.0))
    monkeypatch.setattr(cluster_module, "_SLACK_S", 0.0)
    stub = start("stub_piston.py", "--slots", "1")
    short = replace(echo("short"), run_limits=StageLimits(wall_ms=100, cpu_ms=100))
    listener = Listener()

    async def use(first: PistonCluster) -> None:
        async with PistonCluster(stub.urls, events=Events([listener])) as second:
            other = asyncio.create_task(first.execute(echo("long", delay_ms=2_000), first.targets()[0]))
            await asyncio.sleep(0.2)
            assert (await second.execute(short, second.targets()[0])).run.stdout == "short"
            assert (await other).run.stdout == "long"

    with_cluster(stub.urls, use)
    assert [event["event"] for event in listener.told] == ["worker_joined", "job_overdue"]
    assert counts(stub.urls[0], "stub")["max_running"] == 1


def test_cancelled_at_any_moment(start: Any) -> None:
    """Jobs are cancelled while they wait, send or receive: no slot is lost."""
    stub = start("stub_piston.py", "--count", "2")
    rng = random.Random(5)

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 4))
        target = cluster.targets()[0]

        async def impatient() -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(rng.uniform(0.0, 0.2)):
                    await cluster.execute(echo("x", delay_ms=rng.randrange(50), alone=rng.random() < 0.1), target)

        for _ in range(6):
            async with asyncio.TaskGroup() as group:
                for _ in range(40):
                    group.create_task(impatient())
        await all_slots_work(cluster, 4)

    with_cluster(stub.urls, use, max_requests_per_endpoint=2, patience_s=QUICK_S)


def test_a_job_without_an_answer_is_sent_six_times(start: Any) -> None:
    """The retries of all layers together are limited to six requests. The error names all workers."""
    _, proxy = proxied(start, servers=2, faults="empty-500", rate=1)

    async def ask(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 2))
        await arm(proxy)
        target = cluster.targets()[0]
        with pytest.raises(ExhaustedError, match=r"tried 6 times, on .*; at last: .*HTTP 500") as raised:
            await with_retries(lambda retries: cluster.execute(replace(echo("1"), retries=retries), target))
        assert all(url.removesuffix("/api/v2") in str(raised.value) for url in proxy.urls)

    with_cluster(proxy.urls, ask)
    assert counts(proxy.urls[0], "faults")["requests"] == 6


@pytest.mark.parametrize("lost", [3, 6])
def test_lost_and_unusable_answers_share_one_limit(start: Any, lost: int) -> None:
    """If some answers are lost and the others cannot be used, a job is sent six times in all."""
    _, proxy = proxied(start, faults="empty-500", first=lost)

    async def ask(cluster: PistonCluster) -> None:
        await arm(proxy)
        target = cluster.targets()[0]

        async def read(retries: Retries) -> None:
            await cluster.execute(replace(echo("1"), retries=retries), target)
            raise TransportError("this answer is of no use")

        with pytest.raises(SandboxError):
            await with_retries(read)

    with_cluster(proxy.urls, ask)
    assert counts(proxy.urls[0], "faults")["requests"] == 6


@pytest.mark.parametrize("closes", [True, False], ids=["closed connection", "deadline"])
def test_a_job_is_freed_when_its_answer_is_lost(closes: bool) -> None:
    """Without the garbage collector, which runs rarely while a cluster is entered: jobs have megabytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        if closes:
            writer.close()
        await reader.read()

    async def scenario() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server, HttpClient() as client:
            url = URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/execute")
            sending = Sending(Body(segments=(b"{}",), size=2, max_run_s=0.0), 60.0 if closes else 0.2, client)
            job = weakref.ref(sending)
            with contextlib.suppress(AnswerLostError):
                await client.post(url, sending, max_bytes=100)
            del sending
            await asyncio.sleep(0)  # the connection is closed
            assert job() is None

    gc.collect()
    gc.disable()
    try:
        asyncio.run(scenario())
    finally:
        gc.enable()
