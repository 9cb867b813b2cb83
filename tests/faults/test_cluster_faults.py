"""A cluster under everything that networks, proxies and dying servers do: no answer is wrong, lost or doubled."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import signal
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.errors import (
    ExhaustedError,
    RejectedError,
    SandboxError,
    SetupError,
    TargetLostError,
    TransportError,
    UnavailableError,
)
from ioi_eval.events import Events
from ioi_eval.model import Execution, Job, JobFile, JobKind, Retries, StageLimits
from ioi_eval.programs import repeated
from ioi_eval.sandbox import cluster as cluster_module
from ioi_eval.sandbox import endpoint_state, pool, workers
from ioi_eval.sandbox.cluster import PistonCluster
from ioi_eval.sandbox.wire import Runtime
from tests.events.listener import Listener

LIMITS = StageLimits(wall_ms=2_000, cpu_ms=2_000)
QUICK_S = 3.0  # how long jobs wait for a server that a test has killed
TRANSIENT = (
    "reset-before", "reset-in", "reset-after", "reset-answer", "truncate", "empty-500", "html-500", "html-502",
    "busy", "lie", "null", "not-json",
)  # fmt: skip
HARMLESS = ("delay", "close-after")


def echo(text: str, *, delay_ms: int = 0, alone: bool = False, padding: int = 0) -> Job:
    """A job whose answer is known: a stub server returns this text."""
    files = [
        JobFile(name="run", content=b"cat echo\n"),
        JobFile(name="echo", content=text.encode()),
        JobFile(name="delay_ms", content=str(delay_ms).encode()),
        JobFile(name="padding", content=b"0" * padding),
    ]
    return Job(kind=JobKind.SCRIPTS, files=tuple(files), run_limits=LIMITS, alone=alone)


def counts(url: str, path: str) -> dict[str, int]:
    """What a program says that it has done."""
    with urllib.request.urlopen(f"{url}/{path}", timeout=10) as answer:
        found: dict[str, int] = json.load(answer)
    return found


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    while not holds():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)


def with_cluster(urls: list[str], use: Callable[[PistonCluster], Awaitable[Any]], **settings: Any) -> Any:
    """Run something against a cluster of these servers."""

    async def run() -> Any:
        async with PistonCluster(urls, **settings) as cluster:
            return await use(cluster)

    return asyncio.run(run())


async def arm(proxy: Any) -> None:
    """Let the faults begin: after the exploration."""
    await asyncio.to_thread(counts, proxy.urls[0], "arm")


async def run_all(cluster: PistonCluster, jobs: list[Job], at_once: int) -> list[Execution]:
    """Execute jobs, some at a time; the answers in the jobs' order."""
    target = cluster.targets()[0]
    answers: dict[int, Execution] = {}
    rest = iter(enumerate(jobs))

    async def work() -> None:
        for number, job in rest:
            assert number not in answers
            answers[number] = await cluster.execute(job, target)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())
    return [answers[number] for number in range(len(jobs))]


async def all_slots_work(cluster: PistonCluster, slots: int) -> None:
    """As many jobs as slots run at the same time: none was lost, and none doubled (the servers count)."""
    answers = await run_all(cluster, [echo(str(number), delay_ms=100) for number in range(2 * slots)], 2 * slots)
    assert [answer.run.stdout for answer in answers] == [str(number) for number in range(2 * slots)]


def proxied(start: Any, *, servers: int = 1, **options: Any) -> tuple[Any, Any]:
    """Servers, and a proxy in front of them that lets the exploration through."""
    stub = start("stub_piston.py", "--count", str(servers))
    arguments = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return stub, start("fault_proxy.py", "--upstream", json.dumps(stub.ports), *arguments)


@pytest.mark.parametrize("fault", TRANSIENT + HARMLESS)
def test_each_fault_alone(start: Any, fault: str) -> None:
    """Jobs that meet a fault are answered in the end as if there had been none."""
    _, proxy = proxied(start, faults=fault, first=3)

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        answers = await run_all(cluster, [echo(str(number), padding=100_000) for number in range(12)], 2)
        assert [answer.run.stdout for answer in answers] == [str(number) for number in range(12)]
        await all_slots_work(cluster, 2)

    with_cluster(proxy.urls, use, max_requests_per_endpoint=2, patience_s=QUICK_S)
    assert counts(proxy.urls[0], "faults")[fault] == 3


def mixture(start: Any, jobs: int) -> None:
    """Many jobs under a mixture of all faults: every answer is its job's, none is lost or doubled, no slot either."""
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
    assert sum(done.values()) - done["requests"] > 0.03 * jobs, "the faults did befall"
    assert done["requests"] <= 1.15 * (jobs + 2 * servers * slots), "repetitions stayed within the budget"
    repeated = [told["message"] for told in listener.told if told["event"] == "job_repeated"]
    most = [counts(url, "stub")["most_running"] for url in stub.urls]
    assert max(most) <= slots, f"no server got more than its slots; repeated: {repeated}"


def test_a_mixture_of_faults(start: Any) -> None:
    """One request in twenty goes wrong, in all ways."""
    mixture(start, 600)


@pytest.mark.full
def test_a_mixture_of_faults_at_length(start: Any) -> None:
    """The same with 10,000 jobs."""
    mixture(start, 10_000)


def test_idle_connections_that_the_server_closed(start: Any) -> None:
    """A connection that died while it was idle costs nothing: each job is sent once, and none fails."""
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


def test_a_server_dies_and_comes_back(start: Any) -> None:
    """Killed in mid-run, a server costs its own jobs a repetition; restarted, it is used again. All that is told."""
    stays, dies = start("stub_piston.py"), start("stub_piston.py")
    listener = Listener()

    async def use(cluster: PistonCluster) -> None:
        jobs = [echo(str(number), delay_ms=50) for number in range(120)]
        async with asyncio.TaskGroup() as group:
            flood = group.create_task(run_all(cluster, jobs, 6))
            await until(lambda: counts(dies.urls[0], "stub")["executed"] >= 10)
            dies.kill()
        assert [answer.run.stdout for answer in flood.result()] == [str(number) for number in range(120)]
        back = start("stub_piston.py", "--port", str(dies.ports[0]))
        while counts(back.urls[0], "stub")["executed"] < 5:
            await run_all(cluster, [echo("x", delay_ms=20) for _ in range(8)], 8)
        assert cluster.busy() == (0, 6)

    events = Events([listener])
    with_cluster([*stays.urls, *dies.urls], use, max_requests_per_endpoint=3, patience_s=QUICK_S, events=events)
    told = [event["event"] for event in listener.told if str(dies.ports[0]) in event["endpoint"]]
    assert [name for name in told if name != "job_repeated"] == ["worker_joined", "worker_lost", "worker_joined"]


def test_repetitions_are_told(start: Any) -> None:
    """Each, with the server and the reason."""
    _, proxy = proxied(start, faults="truncate", first=3)
    listener = Listener()

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        await run_all(cluster, [echo(str(number)) for number in range(6)], 1)

    with_cluster(proxy.urls, use, patience_s=QUICK_S, events=Events([listener]))
    repeated = [event for event in listener.told if event["event"] == "job_repeated"]
    assert [event["attempt"] for event in repeated] == [1, 2, 3]
    assert {event["endpoint"] in event["message"] for event in repeated} == {True}


def test_all_servers_die(start: Any) -> None:
    """With no server left, jobs wait for the stated time and end in the error that ends a run; later it goes on."""
    stub = start("stub_piston.py", "--count", "2")

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        await cluster.execute(echo("before"), target)
        stub.kill()
        async with asyncio.TaskGroup() as group:
            ended = [group.create_task(fails(cluster, echo("x"))) for _ in range(5)]
        assert {type(task.result()) for task in ended} == {UnavailableError}
        assert "available for 3 s" in str(ended[0].result())
        back = start("stub_piston.py", "--port", str(stub.ports[0]))
        while isinstance(answer := await attempt(cluster, echo("after")), UnavailableError):  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # dark for too long already: it fails at once, until a check is answered
        assert isinstance(answer, Execution)
        assert answer.run.stdout == "after"
        assert counts(back.urls[0], "stub")["executed"] >= 1

    with_cluster(stub.urls, use, patience_s=QUICK_S)


async def attempt(cluster: PistonCluster, job: Job) -> Execution | SandboxError:
    """An execution, or the error."""
    try:
        return await cluster.execute(job, cluster.targets()[0])
    except SandboxError as error:
        return error


async def fails(cluster: PistonCluster, job: Job) -> SandboxError:
    """The error that a job ends in."""
    outcome = await attempt(cluster, job)
    assert isinstance(outcome, SandboxError)
    return outcome


def test_a_server_that_stops_answering(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is stopped, its connections open, is given up after its checks failed; its job runs elsewhere."""
    monkeypatch.setattr(endpoint_state, "CHECK_AFTER_S", 0.2)
    monkeypatch.setattr(endpoint_state, "ABANDON_AFTER_S", 0.5)
    stops, other = start("stub_piston.py"), start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(cluster.execute(echo(str(n), delay_ms=300), target)) for n in range(2)]
            await until(lambda: counts(other.urls[0], "stub")["most_running"] == 1)
            stops.process.send_signal(signal.SIGSTOP)
        assert [task.result().run.stdout for task in tasks] == ["0", "1"]

    try:
        with_cluster([*stops.urls, *other.urls], use, patience_s=QUICK_S)
    finally:
        stops.process.send_signal(signal.SIGCONT)


def test_no_answer_within_the_deadline(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is never answered ends at the job's own deadline, and is repeated."""
    monkeypatch.setattr(cluster_module, "SERVER_QUEUE_S", 0.0)
    _, proxy = proxied(start, faults="hang", first=1)
    job = replace(echo("x"), run_limits=StageLimits(wall_ms=100, cpu_ms=100))

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        assert (await cluster.execute(job, cluster.targets()[0])).run.stdout == "x"

    with_cluster(proxy.urls, use)
    assert counts(proxy.urls[0], "faults")["hang"] == 1


def test_cancelled_at_any_moment(start: Any) -> None:
    """Callers that go away, waiting or sending or being answered, take no slot with them."""
    stub = start("stub_piston.py", "--count", "2")
    rng = random.Random(5)

    async def use(cluster: PistonCluster) -> None:
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


def test_a_refusal_is_final_and_keeps_the_servers_words(start: Any) -> None:
    """What a server refuses for good is told with its words, at once, and the slot is free again."""
    stub = start("stub_piston.py", "--body", "1100000")
    too_long = replace(echo("x"), run_limits=StageLimits(wall_ms=61_000, cpu_ms=1_000))

    async def use(cluster: PistonCluster) -> None:
        assert cluster.targets()[0].max_body_bytes == 1 << 20
        refused = await fails(cluster, too_long)
        assert type(refused) is RejectedError
        assert "run_timeout cannot exceed the configured limit of 60000" in str(refused)
        assert stub.urls[0] in str(refused)
        assert "raise its body limit" in str(await fails(cluster, echo("x", padding=2_000_000)))
        await all_slots_work(cluster, 1)

    with_cluster(stub.urls, use)
    assert counts(stub.urls[0], "stub")["executed"] < 20


def test_a_package_that_went_away(start: Any) -> None:
    """A worker that comes back with other packages serves another target; its job is done by a worker that can."""
    stays, changes = start("stub_piston.py"), start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        assert len(cluster.targets()) == 1
        changes.kill()
        start("stub_piston.py", "--port", str(changes.ports[0]), "--packages", "bash")
        while len(cluster.targets()) == 1:
            answers = [cluster.execute(echo(str(number)), target) for number in range(3)]
            assert [(await answer).run.stdout for answer in answers] == ["0", "1", "2"]
        assert {target.slots for target in cluster.targets()} == {1}
        assert (await cluster.execute(echo("x"), cluster.targets()[1])).run.stdout == "x"

    with_cluster([*stays.urls, *changes.urls], use, patience_s=QUICK_S)


def test_a_job_that_can_go_nowhere_else_waits_for_its_kind(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While all workers of a kind restart and others serve, it waits; one that could go elsewhere is told to."""
    monkeypatch.setattr(pool, "LOST_AFTER_S", 0.1)
    stays, restarts = start("stub_piston.py", "--packages", "bash"), start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        target = next(target for target in cluster.targets() if "bash" not in target.name)
        restarts.kill()
        with pytest.raises(TargetLostError):
            await cluster.execute(echo("x"), target)
        waiting = asyncio.ensure_future(cluster.execute(echo("x"), replace(target, is_only=True)))
        await asyncio.to_thread(start, "stub_piston.py", "--port", str(restarts.ports[0]))
        assert (await waiting).run.stdout == "x"

    with_cluster([*stays.urls, *restarts.urls], use, patience_s=60.0)


def test_workers_come_and_go(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of endpoints is asked again and again: new workers serve, those that left get no more jobs."""
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    first, second = start("stub_piston.py"), start("stub_piston.py")
    listed = list(first.urls)

    async def tell() -> list[str]:
        return listed

    async def run() -> None:
        async with PistonCluster(tell, patience_s=QUICK_S) as cluster:
            listed.extend([*second.urls, "http://127.0.0.1:1"])
            await until(lambda: cluster.targets()[0].slots == 2 and bool(cluster.unusable))
            assert list(cluster.unusable) == ["http://127.0.0.1:1/api/v2"]
            listed[:] = second.urls
            await until(lambda: cluster.targets()[0].slots == 1)
            before = counts(first.urls[0], "stub")["executed"]
            await run_all(cluster, [echo("x") for _ in range(5)], 2)
            assert counts(first.urls[0], "stub")["executed"] == before
            assert not cluster.unusable

    asyncio.run(run())


def test_an_endpoint_that_answers_again_is_usable(start: Any) -> None:
    """One that could not be explored for a moment, and is what it was, is not told as unusable for ever."""

    async def use(cluster: PistonCluster) -> None:
        (worker,) = cluster.workers
        assert cluster._list is not None
        cluster._list.unusable[str(worker.url)] = TransportError("its runtimes had changed, and it was gone")
        await cluster._list.check(str(worker.url))
        assert not cluster.unusable

    with_cluster(start("stub_piston.py").urls, use)


def test_a_new_problem_is_only_noted(start: Any) -> None:
    """A worker is not explored anew for a problem's package, as it is for any other."""
    stub = start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        (worker,) = cluster.workers
        assert cluster._list is not None
        for language, is_explored in ((f"ioi_eval_problem_{'0' * 24}", False), ("gcc", True)):
            other = (*worker.runtimes, Runtime(language=language, version="1.0.0"))
            cluster._groups.workers[str(worker.url)] = replace(worker, runtimes=other)
            before = counts(stub.urls[0], "stub")["executed"]
            await cluster._list.check(str(worker.url))
            assert (counts(stub.urls[0], "stub")["executed"] > before) is is_explored
            assert [each.runtimes for each in cluster.workers] == [worker.runtimes]

    with_cluster(stub.urls, use)


def test_more_output_than_the_job_allows(start: Any) -> None:
    """An answer over the job's own limit is the output limit, however long it is."""
    stub = start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        for length in (1_001, 5_000_000):
            job = replace(echo("x" * length), run_limits=replace(LIMITS, output_bytes=1_000))
            run = (await cluster.execute(job, cluster.targets()[0])).run
            assert (run.status, run.signal, run.code) == ("OL", "SIGKILL", None)
            assert len(run.stdout) <= 1_000

    with_cluster(stub.urls, use)


def test_nothing_can_be_used(start: Any) -> None:
    """A cluster without a usable worker says why, of each."""
    small = start("stub_piston.py", "--output", "1024")
    wrong = start("stub_piston.py", "--packages", "none")
    urls = [*small.urls, *wrong.urls, "http://127.0.0.1:1"]
    with pytest.raises(SetupError) as raised:
        with_cluster(urls, lambda cluster: cluster.targets())  # type: ignore[arg-type,return-value]
    words = str(raised.value)
    assert "set PISTON_OUTPUT_MAX_SIZE" in words
    assert "none of these packages is installed: ioi_eval, bash, cms_ioi" in words
    assert "http://127.0.0.1:1/api/v2/runtimes: no connection" in words
    assert "ssl" not in words


def test_a_job_that_nobody_answers_is_sent_as_often_as_it_may_be_and_no_more(start: Any) -> None:
    """Repetition is in one place: who asks for a lost answer again does not begin it anew. All workers are named."""
    _, proxy = proxied(start, servers=2, faults="empty-500", rate=1)

    async def ask(cluster: PistonCluster) -> None:
        await arm(proxy)
        target = cluster.targets()[0]
        with pytest.raises(ExhaustedError, match=r"tried 6 times, on .*; at last: .*HTTP 500") as raised:
            await repeated(lambda retries: cluster.execute(replace(echo("1"), retries=retries), target))
        assert all(url.removesuffix("/api/v2") in str(raised.value) for url in proxy.urls)

    with_cluster(proxy.urls, ask)
    assert counts(proxy.urls[0], "faults")["requests"] == 6


@pytest.mark.parametrize("lost", [3, 6])
def test_lost_and_useless_answers_share_one_bound(start: Any, lost: int) -> None:
    """Where some answers are lost on the way and the others are of no use, a job is sent six times all the same."""
    _, proxy = proxied(start, faults="empty-500", first=lost)

    async def ask(cluster: PistonCluster) -> None:
        await arm(proxy)
        target = cluster.targets()[0]

        async def read(retries: Retries) -> None:
            await cluster.execute(replace(echo("1"), retries=retries), target)
            raise TransportError("this answer is of no use")

        with pytest.raises(SandboxError):
            await repeated(read)

    with_cluster(proxy.urls, ask)
    assert counts(proxy.urls[0], "faults")["requests"] == 6
