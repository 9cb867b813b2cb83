"""Workers of a cluster that crash, hang, come back, change, or refuse: no job is lost, and each reason is reported."""

from __future__ import annotations

import asyncio
import re
import signal
from dataclasses import replace
from typing import Any

import httpx
import pytest

from ioi_eval.errors import (
    InputError,
    OversizedError,
    RejectedError,
    SetupError,
    TargetLostError,
    TransportError,
    UnavailableError,
)
from ioi_eval.events import Events
from ioi_eval.model import Execution, Retries, StageLimits
from ioi_eval.sandbox.piston import endpoint_state, pool, workers
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.wire import Runtime
from tests.events.listener import Listener
from tests.faults.stub_jobs import (
    LIMITS,
    QUICK_S,
    all_slots_work,
    arm,
    attempt,
    counts,
    echo,
    fails,
    proxied,
    run_all,
    until,
    with_cluster,
)

pytestmark = pytest.mark.usefixtures("short_requests")


def test_a_server_dies_and_comes_back(start: Any) -> None:
    """Jobs of a killed server are retried on another one. After its restart, the server gets jobs again."""
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
    names = [event["event"] for event in listener.told if str(dies.ports[0]) in event["endpoint"]]
    assert [name for name in names if name != "job_retried"] == ["worker_joined", "worker_lost", "worker_joined"]


def test_all_servers_die(start: Any) -> None:
    """Without a server, jobs wait for `patience_s` and end with UnavailableError and its reason, also those that were
    never sent. After a restart, jobs run again."""
    stub = start("stub_piston.py", "--count", "2")

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        await cluster.execute(echo("before"), target)
        stub.kill()
        async with asyncio.TaskGroup() as group:
            ended = [group.create_task(fails(cluster, echo("x"))) for _ in range(5)]
        assert {type(task.result()) for task in ended} == {UnavailableError}
        reason = re.compile(r"available for 3 s; .*at last: http://127.0.0.1:\d+/.*: no connection")
        assert all(reason.search(str(task.result())) for task in ended)
        back = start("stub_piston.py", "--port", str(stub.ports[0]))
        while isinstance(answer := await attempt(cluster, echo("after")), UnavailableError):  # noqa: ASYNC110
            await asyncio.sleep(0.1)  # patience is used up: jobs fail at once until a check is answered
        assert isinstance(answer, Execution)
        assert answer.run.stdout == "after"
        assert counts(back.urls[0], "stub")["executed"] >= 1

    with_cluster(stub.urls, use, patience_s=QUICK_S)


def test_all_servers_break_their_jobs(start: Any) -> None:
    """If workers answer checks but break jobs, a job that was never sent also ends with the reason."""
    _, proxy = proxied(start, faults="empty-500", rate=1)

    async def use(cluster: PistonCluster) -> None:
        await arm(proxy)
        async with asyncio.TaskGroup() as group:
            ended = [group.create_task(fails(cluster, echo("x"))) for _ in range(5)]
        assert all("HTTP 500: the server could not start a process" in str(task.result()) for task in ended)
        assert UnavailableError in {type(task.result()) for task in ended}

    with_cluster(proxy.urls, use, patience_s=0.1)


def test_a_server_that_stops_answering(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped server keeps its connections open. After failed checks its job runs on another server."""
    monkeypatch.setattr(endpoint_state, "CHECK_AFTER_S", 0.2)
    monkeypatch.setattr(endpoint_state, "ABANDON_AFTER_S", 0.5)
    stops, other = start("stub_piston.py"), start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 2))  # the second may join a moment after the first
        target = cluster.targets()[0]
        stops.process.send_signal(signal.SIGSTOP)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(cluster.execute(echo(str(n)), target)) for n in range(2)]
            await asyncio.sleep(0)
            assert cluster.busy() == (2, 2)  # one job on each server
        assert [task.result().run.stdout for task in tasks] == ["0", "1"]

    try:
        with_cluster([*stops.urls, *other.urls], use, max_requests_per_endpoint=1, patience_s=QUICK_S)
    finally:
        stops.process.send_signal(signal.SIGCONT)


def test_a_refusal_is_final_and_has_the_servers_message(start: Any) -> None:
    """A job that the server refuses fails at once with the server's message, and its slot is free again."""
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


def test_a_worker_that_lost_a_package(start: Any) -> None:
    """A worker that comes back with other packages belongs to another target. Another worker does its jobs."""
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


@pytest.mark.parametrize("setting", ["--limit=run_timeout=1000", "--body=100000"])
def test_a_worker_comes_back_with_lower_limits(start: Any, setting: str) -> None:
    """The job that it refuses is done by another worker. It is explored again, and gets no more jobs."""
    stays, changes = start("stub_piston.py"), start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        await until(lambda: cluster.targets()[0].slots == 2)
        changes.kill()
        start("stub_piston.py", "--port", str(changes.ports[0]), setting)
        while not cluster.unusable or "no connection" in str(cluster.unusable):
            found = await asyncio.gather(*(cluster.execute(echo("x", padding=200_000), target) for _ in range(4)))
            assert {execution.run.stdout for execution in found} == {"x"}
        assert f"{changes.urls[0]}/api/v2" in cluster.unusable

    with_cluster([*stays.urls, *changes.urls], use, patience_s=QUICK_S)


def test_a_worker_whose_limit_is_lowered_and_raised(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is used again. A new worker of the same kind is used meanwhile.

    If it is restarted just between the examinations of its two packages, it is used with the second one: as another
    target.
    """
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    stays, changes, joins = start("stub_piston.py"), start("stub_piston.py"), start("stub_piston.py")
    listed = [*stays.urls, *changes.urls]

    async def endpoints() -> list[str]:
        return listed

    async def run() -> None:
        async with PistonCluster(endpoints, patience_s=QUICK_S) as cluster:
            await until(lambda: cluster.targets()[0].slots == 2)
            changes.kill()
            small = start("stub_piston.py", "--port", str(changes.ports[0]), "--body=100000")
            while "request size" not in str(cluster.unusable):
                await run_all(cluster, [echo("x", padding=200_000) for _ in range(4)], 4)
            listed.extend(joins.urls)
            await until(lambda: cluster.targets()[0].slots == 2)
            assert "request size" in str(cluster.unusable)
            small.kill()
            start("stub_piston.py", "--port", str(changes.ports[0]))
            await until(lambda: sum(target.slots for target in cluster.targets()) == 3)

    asyncio.run(run())


def test_many_workers_come_back_with_lower_limits(start: Any) -> None:
    """A job finds the only worker that still allows it, however many refuse it before."""
    stays, changes = start("stub_piston.py"), start("stub_piston.py", "--count", "5")

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 6))
        last = Retries()
        while last.tried[-1:] != [f"{stays.urls[0]}/api/v2"]:  # then each other one is preferred
            await cluster.execute(replace(echo("x"), retries=last), cluster.targets()[0])
        changes.kill()
        for port in changes.ports:
            start("stub_piston.py", "--port", str(port), "--limit=run_timeout=1000")
        assert (await cluster.execute(echo("y"), cluster.targets()[0])).run.stdout == "y"

    with_cluster([*stays.urls, *changes.urls], use, patience_s=QUICK_S)


def test_limits_are_lowered_where_a_job_was_tried_before(start: Any) -> None:
    """The job still finds the only worker that allows it: the first refusal of each other one does not count."""
    stays, changes = start("stub_piston.py"), start("stub_piston.py", "--count", "5")

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 6))
        last = Retries(tried=[f"{url}/api/v2" for url in changes.urls])
        while last.tried[-1] != f"{stays.urls[0]}/api/v2":  # then each other one is preferred
            await cluster.execute(replace(echo("x"), retries=last), cluster.targets()[0])
        changes.kill()
        for port in changes.ports:
            start("stub_piston.py", "--port", str(port), "--limit=run_timeout=1000")
        assert (await cluster.execute(replace(echo("y"), retries=last), cluster.targets()[0])).run.stdout == "y"

    with_cluster([*stays.urls, *changes.urls], use, patience_s=QUICK_S)


def uninstall(url: str) -> None:
    """Remove our package from a worker."""
    httpx.request("DELETE", f"{url}/api/v2/packages", json={"language": "ioi_eval", "version": "1.0.0"})


def test_our_package_is_uninstalled_during_a_run(start: Any) -> None:
    """A job finds the only worker that still has it. If none has it, jobs fail with the reason and what to do."""
    stub = start("stub_piston.py", "--count", "5", "--packages", "ioi_eval")

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 5))
        target, first = cluster.targets()[0], Retries()
        async with asyncio.TaskGroup() as group:
            group.create_task(cluster.execute(replace(echo("y", delay_ms=2_000), retries=first), target))
            await until(lambda: bool(first.tried))
            keeps = first.tried[0].removesuffix("/api/v2")
            for url in set(stub.urls) - {keeps}:
                await asyncio.to_thread(uninstall, url)
            answer = await cluster.execute(echo("x"), target)
        assert answer.run.stdout == "x"
        await asyncio.to_thread(uninstall, keeps)
        for _ in range(2):
            failure = await fails(cluster, echo("x"))
            assert isinstance(failure, UnavailableError)
            assert re.search(r"ioi_eval-1.0.0 runtime is unknown|none of these packages is installed", str(failure))
            assert str(failure).endswith("`ioi-eval cluster install` installs our packages")
        assert failure.__cause__ is None, "it was not sent any more"

    with_cluster(stub.urls, use, patience_s=QUICK_S)


def test_a_job_with_only_one_target_waits_for_it(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All workers of a target restart. A job with `is_only` waits; another ends with TargetLostError."""
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


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "stays-silent"])
def test_jobs_do_not_wait_for_a_silent_worker(start: Any, monkeypatch: pytest.MonkeyPatch, answers: bool) -> None:
    """Jobs run on the other worker. The silent one joins when it answers; leaving the cluster does not wait for it."""
    monkeypatch.setattr(workers, "JOIN_S", 0.05)
    works, silent = start("stub_piston.py"), start("stub_piston.py")
    silent.process.send_signal(signal.SIGSTOP)

    async def use(cluster: PistonCluster) -> None:
        assert cluster.silent == [f"{silent.urls[0]}/api/v2"]
        assert cluster.targets()[0].slots == 1
        (answer,) = await run_all(cluster, [echo("x")], 1)
        assert answer.run.stdout == "x"
        if answers:
            silent.process.send_signal(signal.SIGCONT)
            await until(lambda: cluster.targets()[0].slots == 2)
            assert not cluster.silent

    try:
        with_cluster([*works.urls, *silent.urls], use)
    finally:
        silent.process.send_signal(signal.SIGCONT)


def test_new_workers_join_while_another_is_silent(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a silent worker is explored, the list of endpoints is read again: workers can join and leave."""
    monkeypatch.setattr(workers, "JOIN_S", 0.05)
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    works, silent, joins = start("stub_piston.py"), start("stub_piston.py"), start("stub_piston.py")
    listed = [*works.urls, *silent.urls]
    silent.process.send_signal(signal.SIGSTOP)

    async def endpoints() -> list[str]:
        return listed

    async def run() -> None:
        async with PistonCluster(endpoints, patience_s=QUICK_S) as cluster:
            assert cluster.silent
            listed.extend(joins.urls)
            await until(lambda: cluster.targets()[0].slots == 2)
            listed.remove(works.urls[0])
            await until(lambda: cluster.targets()[0].slots == 1)
            assert cluster.silent

    try:
        asyncio.run(run())
    finally:
        silent.process.send_signal(signal.SIGCONT)


def test_workers_come_and_go(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of endpoints is read periodically: new workers join, and those that left it get no more jobs."""
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.05)
    first, second = start("stub_piston.py"), start("stub_piston.py")
    listed = list(first.urls)

    async def endpoints() -> list[str]:
        return listed

    async def run() -> None:
        async with PistonCluster(endpoints, patience_s=QUICK_S) as cluster:
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


def test_a_list_of_endpoints_that_cannot_be_read_again(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers of before are used on, an event names each reason once, and the list is read again later."""
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.01)
    first, second = start("stub_piston.py"), start("stub_piston.py")
    listed, reasons, reads = list(first.urls), ["unreadable"] * 3 + ["empty"] + [""] * 3 + ["unreadable"], 0

    async def endpoints() -> list[str]:
        nonlocal reads
        reads += 1
        if 1 < reads <= 1 + len(reasons) and reasons[reads - 2]:
            raise InputError(reasons[reads - 2])
        return listed

    listener = Listener()

    async def run() -> None:
        async with PistonCluster(endpoints, patience_s=QUICK_S, events=Events([listener])) as cluster:
            await until(lambda: reads > 1 + len(reasons))
            await run_all(cluster, [echo("x")], 1)
            listed.extend(second.urls)
            await until(lambda: cluster.targets()[0].slots == 2)

    asyncio.run(run())
    failures = [event["message"] for event in listener.told if event["event"] == "endpoints_unreadable"]
    assert failures == ["unreadable", "empty", "unreadable"]


def test_an_endpoint_that_answers_again_is_usable(start: Any) -> None:
    """A worker that could not be explored for a moment and is unchanged is not listed as unusable any more."""

    async def use(cluster: PistonCluster) -> None:
        (worker,) = cluster.workers
        assert cluster._list is not None
        cluster._list.unusable[str(worker.url)] = TransportError("its runtimes had changed, and it was gone")
        await cluster._list.check(str(worker.url))
        assert not cluster.unusable

    with_cluster(start("stub_piston.py").urls, use)


def test_a_problem_package_needs_no_exploration(start: Any) -> None:
    """A new package of a problem does not cause an exploration; any other new package does."""
    stub = start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        (worker,) = cluster.workers
        assert cluster._list is not None
        for language, is_explored in ((f"ioi_eval_problem_{'0' * 24}", False), ("gcc", True)):
            other = (*worker.runtimes, Runtime(language=language, version="1.0.0"))
            cluster._groups.used[str(worker.url)].worker = replace(worker, runtimes=other)
            before = counts(stub.urls[0], "stub")["executed"]
            await cluster._list.check(str(worker.url))
            assert (counts(stub.urls[0], "stub")["executed"] > before) is is_explored
            assert [each.runtimes for each in cluster.workers] == [worker.runtimes]

    with_cluster(stub.urls, use)


def test_more_output_than_the_job_allows(start: Any) -> None:
    """An answer over the job's own output limit gets the status OL, whatever its length."""
    stub = start("stub_piston.py")

    async def use(cluster: PistonCluster) -> None:
        for length in (1_001, 5_000_000):
            job = replace(echo("x" * length), run_limits=replace(LIMITS, output_bytes=1_000))
            run = (await cluster.execute(job, cluster.targets()[0])).run
            assert (run.status, run.signal, run.code) == ("OL", "SIGKILL", None)
            assert len(run.stdout) <= 1_000

    with_cluster(stub.urls, use)


def test_no_usable_worker(start: Any) -> None:
    """The error of a cluster without a usable worker has the reason for each worker."""
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


def test_a_job_that_only_another_target_accepts(start: Any) -> None:
    """If it is too large for the workers of its target, it can move to those of another one, if they accept more."""
    small = start("stub_piston.py", "--body", "1100000", "--count", "2")
    large = start("stub_piston.py", "--body", "4400000", "--packages", "bash")

    async def use(cluster: PistonCluster) -> None:
        await until(lambda: cluster.busy() == (0, 3))
        few, more = sorted(cluster.targets(), key=lambda target: target.max_body_bytes or 0)
        job = echo("x", padding=2_000_000)
        with pytest.raises(TargetLostError, match="raise its body limit"):
            await cluster.execute(job, few)
        with pytest.raises(OversizedError):
            await cluster.execute(job, replace(few, is_only=True))
        assert (await cluster.execute(job, more)).run.stdout == "x"
        with pytest.raises(OversizedError):
            await cluster.execute(echo("x", padding=5_000_000), more)

    with_cluster([*small.urls, *large.urls], use)
