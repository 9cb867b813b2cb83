"""The pool with a simulated clock: endpoints that fail, become silent, recover, change or are removed."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from ioi_eval.errors import UnavailableError
from ioi_eval.sandbox.piston.endpoint_state import (
    ABANDON_AFTER_S,
    CHECK_AFTER_S,
    LONGEST_PAUSE_S,
    Availability,
    Endpoint,
    EndpointState,
    Group,
    Machine,
)
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.pool import CHECKS_PER_S, TICK_S, Pool
from tests.sandbox.pool_world import PATIENCE_S, World, names


def test_a_refused_connection_ends_the_service_at_once() -> None:
    """A job that gets no connection goes to another endpoint at once, and the first one gets no more jobs."""
    world = World(2)
    world.dead.add("w0")
    request = world.request()
    assert names([request]) == ["w0"]
    world.retry(request, JobEnd.NOT_SERVED)
    assert names([request]) == ["w1"]
    assert not request.is_retry, "no server has started the job"
    world.request()
    assert len(world.running) == 1, "nothing else is sent to the dead endpoint"


def test_an_endpoint_that_comes_back_is_used_again() -> None:
    """It is checked at growing intervals. When it answers, it gets one job, and after that job all its slots."""
    world = World(1, slots=3)
    world.dead.add("w0")
    world.release(world.request(), JobEnd.NOT_SERVED)
    world.until(40.0)
    pauses = [after - before for (before, _), (after, _) in zip(world.checks, world.checks[1:], strict=False)]
    assert len(pauses) >= 3
    assert all(0.25 <= pause <= LONGEST_PAUSE_S + TICK_S for pause in pauses)
    assert pauses[-1] > 2 * pauses[0]
    world.dead.clear()
    world.until(world.now + LONGEST_PAUSE_S + TICK_S)
    requests = [world.request() for _ in range(4)]
    assert world.running == requests[:1], "one job first"
    world.release(requests[0])
    assert world.running == requests[1:]


def test_a_server_that_answers_checks_and_breaks_jobs() -> None:
    """It gets one job after each interval, and the intervals grow."""
    world = World(1)
    sent = []
    while world.now < 300.0:
        request = world.request()
        if request.holds_slot:
            sent.append(world.now)
            world.release(request, JobEnd.BROKEN)
        else:
            world.release(request, JobEnd.CANCELLED)
        world.until(world.now + 0.1)
    assert len(sent) < 25
    assert sent[-1] - sent[-2] > 14.0


def test_a_job_that_gets_no_connection_fails_when_patience_runs_out() -> None:
    """Although its endpoint answers each check. An attempt that a server got begins anew."""
    world = World(1)
    request = world.request()

    def attempt(end: JobEnd) -> None:
        while not request.holds_slot:
            world.until(world.now + TICK_S)
        world.now += 1.0
        world.retry(request, end)

    while world.now < PATIENCE_S / 2:
        attempt(JobEnd.NOT_SERVED)
    attempt(JobEnd.BROKEN)
    begun = world.now
    while request.failure is None:
        attempt(JobEnd.NOT_SERVED)
    assert begun + PATIENCE_S <= world.now <= begun + PATIENCE_S + 2 * LONGEST_PAUSE_S
    assert type(request.failure) is UnavailableError


def test_two_endpoints_that_refuse_a_job_do_not_end_it_without_patience() -> None:
    """With no patience at all, a job still reaches the third, which takes it."""
    world = World(3)
    world.pool = Pool(patience_s=0.0, rng=random.Random(7))
    for number in range(3):
        world.pool.add(Endpoint(url=f"w{number}", machine=f"m{number}", group="g"), 0.0)
    request = world.request()
    for _ in range(2):
        world.retry(request, JobEnd.NOT_SERVED)
    assert names([request]) == ["w2"]


def endpoint_state() -> EndpointState:
    """An endpoint in service."""
    endpoint = Endpoint(url="w0", machine="m0", group="g")
    return EndpointState(endpoint, Group("g", 0.0), Machine(), 0.0)


def test_the_third_broken_answer_ends_the_service() -> None:
    """Single broken answers do not end an endpoint's service; three in a row do."""
    state, rng = endpoint_state(), random.Random(1)
    broken, answered, cancelled = JobEnd.BROKEN, JobEnd.ANSWERED, JobEnd.CANCELLED
    for end in (broken, broken, answered, broken, cancelled, broken):
        state.job_ended(end, 0.0, rng)
        assert state.availability is Availability.TRUSTED
    state.job_ended(broken, 0.0, rng)
    assert state.availability is Availability.PAUSED


def test_an_endpoint_whose_answers_are_of_no_use_is_paused_for_long() -> None:
    """It answers checks and jobs, so it would be in service again after half a second."""
    world = World(2)
    request = world.request()
    assert names([request]) == ["w0"]
    world.release(request)
    world.pool.pause("w0", world.now)
    world.pool.pause("forgotten", world.now)
    world.until(world.now + LONGEST_PAUSE_S / 2 - TICK_S)
    assert names([world.request()]) == ["w1"]
    waiting = world.request()
    assert waiting not in world.running
    world.until(world.now + LONGEST_PAUSE_S)
    assert names([waiting]) == ["w0"]


def test_an_endpoint_that_is_paused_already_is_paused_for_long() -> None:
    """It has just failed a job, so it would be checked after half a second; another endpoint is in service."""
    world = World(2)
    request = world.request()
    world.release(request, JobEnd.TIMED_OUT)
    assert world.pool.in_service("g") == 1
    world.pool.pause("w0", world.now)
    world.until(world.now + LONGEST_PAUSE_S / 2 - TICK_S)
    assert world.pool.in_service("g") == 1
    world.until(world.now + LONGEST_PAUSE_S)
    assert world.pool.in_service("g") == 2


def test_the_only_endpoint_in_service_is_not_paused() -> None:
    """No other one could do better, and its users wait for its answer."""
    world = World(2)
    world.pool.pause("w0", world.now)
    world.pool.pause("w1", world.now)
    assert names([world.request()]) == ["w1"]


@pytest.mark.parametrize("end", [JobEnd.NOT_SERVED, JobEnd.TIMED_OUT, JobEnd.OVERLOADED])
def test_what_ends_the_service_at_once(end: JobEnd) -> None:
    """Service ends at once if there is no connection, no answer in time, or the server is overloaded."""
    state = endpoint_state()
    state.job_ended(end, 0.0, random.Random(1))
    assert state.availability is Availability.PAUSED


@pytest.mark.parametrize("end", [JobEnd.NOT_SERVED, JobEnd.OVERLOADED])
def test_a_pause_is_as_long_as_the_server_asks(end: JobEnd) -> None:
    """But not longer than the longest, and not shorter than without such a wish. Of several, the longest counts."""
    for asked_s, *later_s, pause_s in ((20.0, 20.0), (20.0, 5.0, 20.0), (5.0, 20.0, 20.0), (math.inf, 60.0)):
        state = endpoint_state()
        for wait_s in (asked_s, *later_s):
            state.job_ended(end, 100.0, random.Random(1), asked_wait_s=wait_s)
        assert state.check_due == 100.0 + pause_s
    state.job_ended(end, 100.0, random.Random(1), asked_wait_s=0.0)
    assert state.check_due == 160.0


def test_a_silent_endpoint_is_detected_within_five_seconds() -> None:
    """An endpoint that becomes silent during a job fails a check, and is out of service."""
    world = World(2, slots=2)
    requests = [world.request() for _ in range(2)]
    world.dead.add("w0")
    world.until(5.0)
    assert "w0" in {name for _, name in world.checks}
    assert world.pool.in_service("g") == 1
    assert not world.abandoned
    assert set(names([world.request() for _ in range(4)])) == {"w1", None}
    assert requests[0].holds_slot, "its job continues: the endpoint may still answer"
    world.until(5.0 + ABANDON_AFTER_S + 2 * LONGEST_PAUSE_S)
    assert requests[0] in world.abandoned


def test_checks_become_rarer_during_long_jobs() -> None:
    """While a busy endpoint answers checks, the intervals grow. An idle one is not checked."""
    world = World(2)
    world.request()
    world.until(300.0)
    times = [when for when, name in world.checks if name == "w0"]
    assert CHECK_AFTER_S <= times[0] <= CHECK_AFTER_S + TICK_S
    assert 5 <= len(times) <= 15
    assert {name for _, name in world.checks} == {"w0"}


def test_a_busy_endpoint_that_changes_is_still_checked() -> None:
    """If a check finds other runtimes, the endpoint joins another group, keeps its job, and is still checked."""
    world = World(1)
    request = world.request()
    world.now = 10.0
    assert world.tick() == ["w0"]
    world.pool.add(Endpoint(url="w0", machine="m0", group="other"), world.now)
    world.dead.add("w0")
    world.until(10.0 + 2 * ABANDON_AFTER_S + 2 * LONGEST_PAUSE_S)
    assert {name for when, name in world.checks if when > 10.0} == {"w0"}
    assert set(world.abandoned) == {request}


def test_checks_per_second_are_limited() -> None:
    """A thousand silent endpoints are checked at a limited rate, and each is checked in the end."""
    world = World(1000)
    for _ in range(1000):
        world.request()
    world.until(30.0)
    by_second = Counter(int(when) for when, _ in world.checks)
    assert max(by_second.values()) == CHECKS_PER_S
    assert len({name for _, name in world.checks}) == 1000, "each endpoint is checked"


def test_jobs_fail_without_an_endpoint_in_service() -> None:
    """Without endpoints, jobs wait for the patience, then all fail. Later jobs fail at once, until one returns."""
    world = World(1)
    world.dead.add("w0")
    world.release(world.request(), JobEnd.NOT_SERVED)
    waiting = [world.request(), world.request(is_alone=True)]
    woken = []
    for request in waiting:
        request.wake = lambda request=request: woken.append(request)
    world.until(PATIENCE_S - TICK_S)
    assert not world.failed
    world.until(PATIENCE_S)
    assert world.failed == woken == waiting
    assert {type(request.failure) for request in world.failed} == {UnavailableError}
    world.request()
    assert len(world.failed) == 3
    world.dead.clear()
    world.until(world.now + LONGEST_PAUSE_S + TICK_S)
    assert world.request().holds_slot


def test_jobs_wait_for_a_group_that_never_had_an_endpoint() -> None:
    """Its jobs wait for the patience too, because an endpoint may still appear."""
    world = World()
    requests = [world.request(), world.request()]
    world.until(30.0)
    world.pool.add(Endpoint(url="late", machine="late", group="g"), world.now)
    assert world.running == requests[:1]
    world.until(1000.0)
    assert not world.failed


def test_endpoints_are_added_and_removed() -> None:
    """A new endpoint gets jobs at once. A removed one finishes its job and gets no more, until it is added again."""
    world = World(1)
    first, second = world.request(), world.request()
    world.pool.add(Endpoint(url="w9", machine="m9", group="g"), world.now)
    assert names([second]) == ["w9"]
    world.pool.remove("w0", world.now)
    third = world.request()
    world.release(first)
    assert not third.holds_slot
    world.pool.add(Endpoint(url="w0", machine="m0", group="g"), world.now)
    assert names([third]) == ["w0"]


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_removed_endpoint_is_checked_until_its_job_ends(is_alive: bool) -> None:
    """If it fails checks, its job is abandoned. Without jobs it is forgotten."""
    world = World(2)
    request = world.request()
    world.pool.remove("w0", world.now)
    world.dead.update(() if is_alive else ("w0",))
    world.until(2 * ABANDON_AFTER_S + 2 * LONGEST_PAUSE_S)
    assert set(world.abandoned) == (set() if is_alive else {request})
    assert world.request().last_endpoint == "w1", "it gets no more jobs"
    world.release(request, JobEnd.ANSWERED if is_alive else JobEnd.TIMED_OUT)
    ended = world.now
    world.until(ended + 2 * LONGEST_PAUSE_S)
    assert "w0" not in {name for when, name in world.checks if when > ended}


def test_an_endpoint_may_change_its_group() -> None:
    """An endpoint whose packages changed serves another group, also while an old job still runs."""
    world = World(1, slots=2)
    running = world.request()
    world.pool.add(Endpoint(url="w0", machine="m0", group="other", slots=2), world.now)
    assert (world.pool.in_service("g"), world.pool.in_service("other")) == (0, 1)
    requests = [world.request("other") for _ in range(3)]
    assert [request.holds_slot for request in requests] == [True, False, False]
    world.release(running)
    assert [request.holds_slot for request in requests] == [True, True, False]


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_job_that_gets_no_connection_waits_for_busy_workers_only(is_busy: bool) -> None:
    """An endpoint that answers checks refuses the job again and again. It fails only if no other endpoint works."""
    world = World(2)
    running = world.request()
    request = world.request()
    if not is_busy:
        world.release(running)
        world.pool.remove("w0", world.now)
    while world.now < 3 * PATIENCE_S and request.failure is None:
        if request.holds_slot:
            world.retry(request, JobEnd.NOT_SERVED)
        world.until(world.now + 1)
    assert (request.failure is None) is is_busy
    if is_busy:
        world.release(running)
        assert names([request]) == ["w0"]


@pytest.mark.parametrize(("end", "fails_after"), [(JobEnd.CANCELLED, PATIENCE_S), (JobEnd.ANSWERED, 1.5 * PATIENCE_S)])
def test_a_job_that_gets_no_connection_does_not_wait_for_ever_for_another_job(end: JobEnd, fails_after: float) -> None:
    """Another job ended meanwhile: cancelled, so it may have got no connection either; or answered, long ago."""
    world = World(2)
    running = world.request()
    request = world.request()
    while world.now < 3 * PATIENCE_S and request.failure is None:
        if running.holds_slot and world.now >= PATIENCE_S / 2:
            world.release(running, end)
            world.pool.remove("w0", world.now)
        if request.holds_slot:
            world.retry(request, JobEnd.NOT_SERVED)
        world.until(world.now + 1)
    assert isinstance(request.failure, UnavailableError)
    assert fails_after <= world.now < fails_after + 2 * LONGEST_PAUSE_S


def test_a_check_that_began_before_a_failure_does_not_count() -> None:
    """The server may have answered it before it lost the job."""
    pool = Pool(patience_s=PATIENCE_S, rng=random.Random(1))
    pool.add(Endpoint(url="w", machine="m", group="g"), 0.0)
    request = pool.request("g", 0.0)
    assert pool.tick(CHECK_AFTER_S) == ["w"]
    pool.release(request, JobEnd.TIMED_OUT, CHECK_AFTER_S)
    pool.check_ended("w", True, CHECK_AFTER_S)
    assert pool.in_service("g") == 0
