"""The pool in virtual time: which job gets which endpoint, and when jobs wait."""

from __future__ import annotations

from ioi_eval.errors import ExhaustedError
from ioi_eval.sandbox.piston.endpoint_state import JobEnd
from tests.sandbox.pool_world import PATIENCE_S, World, names


def test_load_is_spread() -> None:
    """Every endpoint gets a job before any gets a second; what has rested longest comes first."""
    world = World(3, slots=2)
    requests = [world.request() for _ in range(6)]
    assert names(requests) == ["w0", "w1", "w2", "w0", "w1", "w2"]
    waiting = world.request()
    assert not waiting.holds_slot
    world.release(requests[1])
    assert names([waiting]) == ["w1"], "the waiting job took the slot that came free"


def test_who_waits_is_woken_once() -> None:
    """The job that got a slot is told, and no other one."""
    world = World(1)
    first, second, third = (world.request() for _ in range(3))
    woken = []
    second.wake = lambda: woken.append(second)
    third.wake = lambda: woken.append(third)
    world.release(first)
    assert woken == [second]


def test_first_come_first_served() -> None:
    """Jobs that wait are served in the order of their arrival, and a retry keeps its place."""
    world = World(1)
    first, second, third = (world.request() for _ in range(3))
    world.release(first, JobEnd.BROKEN)
    assert world.running == [second]
    world.pool.retry(first, world.now, may_have_worked=True)
    world.release(second)
    assert world.running == [first]
    world.release(first)
    assert world.running == [third]


def test_a_retry_goes_elsewhere() -> None:
    """The endpoint that failed a job is not asked again while another is free; but it is, if it is the only one."""
    world = World(3)
    request = world.request()
    for _ in range(2):
        failed_by = request.endpoint
        world.retry(request)
        assert request.holds_slot
        assert request.endpoint != failed_by
    lonely = World(1)
    request = lonely.request()
    lonely.retry(request)
    assert lonely.running == [request]


def test_alone_on_the_machine() -> None:
    """A job that must be alone waits for the last job on a machine, and keeps others away, also its other ports."""
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


def test_alone_moves_to_an_idle_machine() -> None:
    """A reservation does not hold on to a busy machine when another one falls idle."""
    world = World(2)
    slow, quick = world.request(), world.request()
    alone = world.request(is_alone=True)
    world.release(quick)
    if not alone.holds_slot:
        world.release(slow)
    assert alone.holds_slot


def test_alone_moves_whichever_machine_falls_idle() -> None:
    """It may have reserved either of them: the other one serves it too."""
    for number in range(2):
        world = World(2)
        busy = [world.request(), world.request()]
        alone = world.request(is_alone=True)
        world.release(busy[number])
        assert names([alone]) == [f"w{number}"]
        assert not world.request().holds_slot, "the machine that it left goes on with its own job"
        assert world.request("g", is_alone=True).holds_slot is False


def test_who_waits_to_be_alone_takes_over_the_quiet_machine() -> None:
    """Of two machines the one that is quiet already, though others wait for it; the other one goes on as it was."""
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
    assert len([request for request in others if request.holds_slot]) == 1, "nobody waits for that machine any more"
    world.release(following)
    assert len([request for request in others if request.holds_slot]) == 2


def test_alone_survives_the_death_of_its_machine() -> None:
    """A reserved machine that goes out of service is given up for another one."""
    world = World(2)
    first, second = world.request(), world.request()
    alone = world.request(is_alone=True)
    world.dead |= {"w0"}
    world.release(first, JobEnd.NOT_SERVED)
    world.release(second)
    assert names([alone]) == ["w1"]


def test_a_cancelled_reservation_frees_its_machine() -> None:
    """Who gives up waiting to be alone leaves the machine to the others."""
    world = World(1, slots=2)
    running = world.request()
    alone = world.request(is_alone=True)
    waiting = world.request()
    assert not waiting.holds_slot
    world.release(alone, JobEnd.CANCELLED)
    assert world.running == [running, waiting]


def test_retries_wait_for_the_budget() -> None:
    """When a whole cluster breaks jobs, retries stay within the budget; what is held back too long fails."""
    world = World(200)
    broken = [world.request() for _ in range(100)]
    for request in broken:
        world.release(request, JobEnd.BROKEN)
    for request in broken:
        world.pool.retry(request, world.now, may_have_worked=True)
    world.until(20.0)
    assert len(world.running) == 10
    world.until(20.0 + PATIENCE_S + 1.0)
    assert world.failed
    assert {type(request.failure) for request in world.failed} == {ExhaustedError}


def test_an_attempt_without_a_connection_is_no_retry() -> None:
    """A retried job that meets dead endpoints goes from one to the next, whatever the budget."""
    world = World(20)
    request = world.request()
    world.retry(request)
    for _ in range(15):
        assert request.holds_slot
        world.retry(request, JobEnd.NOT_SERVED)


def test_first_attempts_overtake_retries_that_are_held_back() -> None:
    """While retries wait for the budget, new jobs go on."""
    world = World(20)
    for _ in range(10):
        world.retry(world.request())
    world.until(15.0)
    assert len(world.running) < 10
    assert world.request().holds_slot


def test_releasing_twice_changes_nothing() -> None:
    """A second release of the same request frees no second slot."""
    world = World(1)
    request = world.request()
    for _ in range(3):
        world.release(request)
    assert [world.request().holds_slot for _ in range(2)] == [True, False]
