"""The pool with a simulated clock: which job gets which endpoint, and when jobs wait."""

from __future__ import annotations

from ioi_eval.errors import ExhaustedError, UnavailableError
from ioi_eval.sandbox.piston.endpoint_state import Endpoint
from ioi_eval.sandbox.piston.job_end import JobEnd
from tests.sandbox.pool_world import PATIENCE_S, World, names


def test_load_is_spread() -> None:
    """Each endpoint gets a job before any gets a second. The one that was idle for longest comes first."""
    world = World(3, slots=2)
    requests = [world.request() for _ in range(6)]
    assert names(requests) == ["w0", "w1", "w2", "w0", "w1", "w2"]
    waiting = world.request()
    assert not waiting.holds_slot
    world.release(requests[1])
    assert names([waiting]) == ["w1"], "the waiting job took the free slot"


def test_only_the_job_with_the_slot_is_woken() -> None:
    """Only the job that gets a slot is woken."""
    world = World(1)
    first, second, third = (world.request() for _ in range(3))
    woken = []
    second.wake = lambda: woken.append(second)
    third.wake = lambda: woken.append(third)
    world.release(first)
    assert woken == [second]


def test_first_come_first_served() -> None:
    """Waiting jobs get slots in the order of their arrival. A retry keeps its place in this order."""
    world = World(1)
    first, second, third = (world.request() for _ in range(3))
    world.release(first, JobEnd.BROKEN)
    assert world.running == [second]
    world.pool.retry(first, world.now, may_have_started=True)
    world.release(second)
    assert world.running == [first]
    world.release(first)
    assert world.running == [third]


def test_a_retry_goes_to_another_endpoint() -> None:
    """A retried job goes to another endpoint than before, unless there is only one."""
    world = World(3)
    request = world.request()
    for _ in range(2):
        failed_by = request.last_endpoint
        world.retry(request)
        assert request.holds_slot
        assert request.last_endpoint != failed_by
    single = World(1)
    request = single.request()
    single.retry(request)
    assert single.running == [request]


def test_alone_on_the_machine() -> None:
    """A job that must run alone waits until a machine is idle. No other job runs on that machine, on any port."""
    world = World(4, slots=2, machines=2)
    others = [world.request() for _ in range(4)]
    alone = world.request(is_alone=True)
    granted_at_once = alone.holds_slot
    assert not granted_at_once
    later = [world.request() for _ in range(2)]
    assert all(request.holds_slot for request in later), "the other machine goes on"
    machines = {request.state.machine for request in later if request.state}
    assert len(machines) == 1
    for request in others:
        if request.state and request.state.machine not in machines:
            world.release(request)
    assert alone.holds_slot
    assert alone.state is not None
    assert alone.state.machine not in machines
    crowd = [world.request() for _ in range(10)]
    assert {request.state.machine for request in crowd if request.state} <= machines
    before = len(world.running)
    world.release(alone)
    assert len(world.running) == before - 1 + 4, "its slots are free again"


def test_a_job_that_runs_alone_takes_an_idle_machine() -> None:
    """A job that must run alone takes a machine that becomes idle, also if another machine is reserved."""
    world = World(2)
    slow, quick = world.request(), world.request()
    alone = world.request(is_alone=True)
    world.release(quick)
    if not alone.holds_slot:
        world.release(slow)
    assert alone.holds_slot


def test_a_job_that_runs_alone_takes_the_first_idle_machine() -> None:
    """Whichever of two machines becomes idle first gets the job; the other one is not reserved any more."""
    for number in range(2):
        world = World(2)
        busy = [world.request(), world.request()]
        alone = world.request(is_alone=True)
        world.release(busy[number])
        assert names([alone]) == [f"w{number}"]
        assert not world.request().holds_slot, "the other machine still runs its own job"
        assert world.request("g", is_alone=True).holds_slot is False


def test_jobs_that_run_alone_share_a_reserved_machine() -> None:
    """The second job that must run alone takes the same machine after the first, before other jobs. The other machine
    is not reserved any more.
    """
    world = World(2)
    busy = [world.request(), world.request()]
    first, second = world.request(is_alone=True), world.request(is_alone=True)
    others = [world.request() for _ in range(3)]
    world.release(busy[0])
    (quiet,) = [request for request in (first, second) if request.holds_slot]
    assert quiet.state is not None
    machine = quiet.state.machine
    world.release(quiet)
    (following,) = [request for request in (first, second) if request.holds_slot]
    assert following.state is not None
    assert following.state.machine is machine
    assert not any(request.holds_slot for request in others)
    world.release(busy[1])
    assert len([request for request in others if request.holds_slot]) == 1, "that machine is not reserved any more"
    world.release(following)
    assert len([request for request in others if request.holds_slot]) == 2


def test_another_machine_is_reserved_if_one_fails() -> None:
    """If a reserved machine goes out of service, the job takes another one."""
    world = World(2)
    first, second = world.request(), world.request()
    alone = world.request(is_alone=True)
    world.dead |= {"w0"}
    world.release(first, JobEnd.NOT_SERVED)
    world.release(second)
    assert names([alone]) == ["w1"]


def test_a_cancelled_reservation_frees_its_machine() -> None:
    """If a job that waits to run alone is cancelled, its machine serves other jobs again."""
    world = World(1, slots=2)
    running = world.request()
    alone = world.request(is_alone=True)
    waiting = world.request()
    assert not waiting.holds_slot
    world.release(alone, JobEnd.CANCELLED)
    assert world.running == [running, waiting]


def test_retries_wait_for_the_budget() -> None:
    """If all endpoints break jobs, retries stay within the budget. Those that wait for too long fail."""
    world = World(200)
    broken = [world.request() for _ in range(100)]
    for request in broken:
        world.release(request, JobEnd.BROKEN)
    for request in broken:
        world.pool.retry(request, world.now, may_have_started=True)
    world.until(20.0)
    assert len(world.running) == 10
    for request in world.running:
        world.release(request, JobEnd.BROKEN)
    world.until(20.0 + PATIENCE_S + 1.0)
    assert world.failed
    assert {type(request.failure) for request in world.failed} == {ExhaustedError}
    assert "ioi-eval doctor" in str(world.failed[0].failure), "`cluster status` sends no job"


def test_all_connections_are_lost_at_once() -> None:
    """The jobs of all endpoints are sent again, some at a time, as long as their retries are answered."""
    world = World(200)
    for request in [world.request() for _ in range(200)]:
        world.retry(request)
    most = 0
    while world.running:
        most = max(most, len(world.running))
        world.until(world.now + PATIENCE_S / 2)
        for request in world.running:
            world.release(request)
    assert not world.failed
    assert not world.pool._groups["g"].in_order()
    assert most == 20, "a tenth"


def test_only_the_time_without_budget_counts_for_a_retry() -> None:
    """A retried job for which there was budget but no free slot waits on; it fails only if there is none for long."""
    world = World(1)
    world.pool.add(Endpoint(url="x", machine="mx", group="h", slots=1), world.now)

    def spend() -> None:
        while True:
            request = world.request("h")
            world.release(request)
            world.pool.retry(request, world.now, may_have_started=True)
            if not request.holds_slot:
                break
            world.release(request, JobEnd.BROKEN)
        world.release(request)

    spend()
    world.until(30.0)
    retried = world.request()
    world.release(retried)
    world.pool.retry(retried, world.now, may_have_started=True)
    other = world.request()
    assert [retried.holds_slot, other.holds_slot] == [False, True]
    world.until(62.0)  # the first retries are older than a minute
    spend()
    world.until(62.0 + PATIENCE_S)
    assert retried.failure is None
    world.until(62.0 + PATIENCE_S + 1.0)
    assert isinstance(retried.failure, ExhaustedError)


def test_an_attempt_without_a_connection_is_not_a_retry() -> None:
    """A retried job that gets no connection goes to the next endpoint, also if the budget is used up."""
    world = World(20)
    request = world.request()
    world.retry(request)
    for _ in range(15):
        assert request.holds_slot
        world.retry(request, JobEnd.NOT_SERVED)


def test_first_attempts_overtake_waiting_retries() -> None:
    """New jobs get slots while retries wait for the budget."""
    world = World(20)
    for _ in range(10):
        world.retry(world.request())
    world.until(15.0)
    assert len(world.running) < 10
    assert world.request().holds_slot


def test_releasing_twice_changes_nothing() -> None:
    """Releasing a request again does not free another slot."""
    world = World(1)
    request = world.request()
    for _ in range(3):
        world.release(request)
    assert [world.request().holds_slot for _ in range(2)] == [True, False]


def test_a_closed_pool_lets_no_job_wait() -> None:
    """Nobody calls `tick` any more: jobs that wait, those that ask later and those that are sent again fail."""
    world = World(1)
    runs, waits = world.request(), world.request()
    world.pool.close()
    assert waits in world.failed
    world.retry(runs)
    world.pool.remove("w0", world.now)
    later = world.request()
    assert world.failed == [runs, waits, later]
    assert {type(request.failure) for request in world.failed} == {UnavailableError}
    assert not world.running
