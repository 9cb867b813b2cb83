"""The pool in virtual time: endpoints that fail, fall silent, recover, change or leave."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ioi_eval.sandbox.circuit import Circuit, CircuitPolicy, End, Standing
from ioi_eval.sandbox.pool_terms import Check
from ioi_eval.sandbox.roster import Endpoint
from tests.sandbox.pool_world import POLICY, World, names


def test_a_refused_connection_puts_an_endpoint_out_at_once() -> None:
    """A dead endpoint costs the one job that found it dead, which goes elsewhere without a wait."""
    world = World(2)
    world.dead.add("w0")
    claim = world.claim()
    assert names([claim]) == ["w0"]
    world.leave(claim, End.UNREACHED)
    following = world.again(claim)
    assert following is not None
    assert names([following]) == ["w1"]
    world.claim()
    assert len(world.held) == 1, "nothing else is sent to the dead endpoint"


def test_an_endpoint_that_comes_back_is_used_again() -> None:
    """It is checked after ever longer rests, gets one job when it answers, and all its slots after that job."""
    world = World(1, slots=3)
    world.dead.add("w0")
    world.leave(world.claim(), End.UNREACHED)
    world.until(40.0)
    rests = [after - before for (before, _), (after, _) in zip(world.checks, world.checks[1:], strict=False)]
    assert len(rests) >= 3
    assert all(0.25 <= rest <= POLICY.circuit.most_rest_s for rest in rests)
    assert rests[-1] > 2 * rests[0]
    world.dead.clear()
    world.until(world.now + POLICY.circuit.most_rest_s)
    claims = [world.claim() for _ in range(4)]
    assert world.held == claims[:1], "one job first"
    world.leave(claims[0])
    assert world.held == claims[1:]


def test_a_server_that_answers_checks_and_breaks_jobs() -> None:
    """It costs one job a rest, and its rests grow."""
    world = World(1)
    sent = []
    while world.now < 300.0:
        claim = world.claim()
        if claim in world.held:
            sent.append(world.now)
            world.leave(claim, End.BROKEN)
        else:
            world.leave(claim, End.UNTRIED)
        world.until(world.now + 0.1)
    assert len(sent) < 25
    assert sent[-1] - sent[-2] > 14.0


def test_broken_answers_are_borne_twice() -> None:
    """Random faults do not put an endpoint out; three in a row do."""
    circuit = Circuit(CircuitPolicy(), random.Random(1))
    for end in (End.BROKEN, End.BROKEN, End.ANSWERED, End.BROKEN, End.UNTRIED, End.BROKEN):
        circuit.ended(end, 0.0)
        assert circuit.standing is Standing.IN
    circuit.ended(End.BROKEN, 0.0)
    assert circuit.standing is Standing.OUT


@pytest.mark.parametrize("end", [End.UNREACHED, End.SILENT, End.OVERLOADED])
def test_what_puts_an_endpoint_out_at_once(end: End) -> None:
    """No connection, no answer in time, or its own word that it is too busy."""
    circuit = Circuit(CircuitPolicy(), random.Random(1))
    circuit.ended(end, 0.0)
    assert circuit.standing is Standing.OUT


def test_a_silent_death_is_noticed_within_five_seconds() -> None:
    """An endpoint that dies under its job without a word fails the check in passing, and is out."""
    world = World(2, slots=2)
    claims = [world.claim() for _ in range(2)]
    world.dead.add("w0")
    world.until(5.0)
    assert "w0" in {name for _, name in world.checks}
    assert world.pool.in_service("g") == 1
    assert not world.aborted
    assert set(names([world.claim() for _ in range(4)])) == {"w1"}
    assert claims[0] in world.held, "its job goes on: being out is a suspicion"
    world.until(5.0 + POLICY.abandon_s + 2 * POLICY.circuit.most_rest_s)
    assert claims[0] in world.aborted


def test_long_jobs_are_looked_after_less_and_less() -> None:
    """While an endpoint answers checks, they come ever more rarely; and an idle one is not checked at all."""
    world = World(2)
    world.claim()
    world.until(300.0)
    times = [when for when, name in world.checks if name == "w0"]
    assert times[0] == pytest.approx(POLICY.quiet_s)
    assert 5 <= len(times) <= 15
    assert {name for _, name in world.checks} == {"w0"}


def test_a_busy_endpoint_that_changes_is_looked_after() -> None:
    """Its check in passing found other runtimes: it enters anew, with its job, and is checked again and again."""
    world = World(1)
    claim = world.claim()
    world.now = 10.0
    assert [type(action) for action in world.pool.turn(world.now)] == [Check]
    world.obey(world.pool.add(Endpoint(name="w0", machine="m0", group="other"), world.now))
    world.dead.add("w0")
    world.until(10.0 + 2 * POLICY.abandon_s + 2 * POLICY.circuit.most_rest_s)
    assert {name for when, name in world.checks if when > 10.0} == {"w0"}
    assert set(world.aborted) == {claim}


def test_checks_in_passing_are_rationed() -> None:
    """A thousand quiet endpoints are not asked in one second."""
    world = World(1000)
    for _ in range(1000):
        world.claim()
    world.until(30.0)
    by_second: dict[int, int] = {}
    for when, _ in world.checks:
        by_second[int(when)] = by_second.get(int(when), 0) + 1
    assert max(by_second.values()) == POLICY.checks_per_s
    assert len({name for _, name in world.checks}) == 1000, "everybody's turn comes"


def test_our_own_lateness_blames_nobody() -> None:
    """A check or connection that failed because this process was late puts no endpoint out, and is no repetition."""
    world = World(1, slots=2)
    first, second = world.claim(), world.claim()
    world.now = 10.0
    (check,) = [action for action in world.pool.turn(world.now) if isinstance(action, Check)]
    world.obey(world.pool.checked(check.endpoint.name, None, world.now))
    assert world.pool.in_service("g") == 1
    world.leave(first, End.LATE)
    following = world.again(first)
    assert following in world.held
    assert following is not None
    assert (following.attempt, following.retry) == (1, False)
    world.leave(second, End.UNREACHED)
    world.now = 20.0
    (check,) = [action for action in world.pool.turn(world.now) if isinstance(action, Check)]
    world.obey(world.pool.checked(check.endpoint.name, None, world.now))
    assert world.pool.in_service("g") == 0, "what was out stays out"


def test_darkness_ends_in_an_error() -> None:
    """With no endpoint left jobs wait for the stated time, then all expire; later ones at once, until one returns."""
    world = World(1)
    world.dead.add("w0")
    world.leave(world.claim(), End.UNREACHED)
    waiting = [world.claim(), world.claim(alone=True)]
    world.until(POLICY.patience_s - 0.01)
    assert not world.expired
    world.until(POLICY.patience_s)
    assert [expire.claim for expire in world.expired] == waiting
    assert all(expire.is_dark for expire in world.expired)
    world.claim()
    assert len(world.expired) == 3
    world.dead.clear()
    world.until(world.now + 31.0)
    assert world.claim() in world.held


def test_a_group_that_never_had_an_endpoint_is_dark() -> None:
    """Its claims wait for the stated time too, as an endpoint may yet appear."""
    world = World()
    claims = [world.claim(), world.claim()]
    world.until(30.0)
    world.obey(world.pool.add(Endpoint(name="late", machine="late", group="g"), world.now))
    assert world.held == claims[:1]
    world.until(1000.0)
    assert not world.expired


def test_endpoints_come_and_go() -> None:
    """A new endpoint serves at once; one that is removed ends its job and gets no more; then it may return."""
    world = World(1)
    first, second = world.claim(), world.claim()
    added = Endpoint(name="w9", machine="m9", group="g")
    world.obey(world.pool.add(added, world.now))
    assert names([second]) == ["w9"]
    world.obey(world.pool.remove("w0", world.now))
    third = world.claim()
    world.leave(first)
    assert third not in world.held
    world.obey(world.pool.add(Endpoint(name="w0", machine="m0", group="g"), world.now))
    assert names([third]) == ["w0"]


def test_an_endpoint_may_change_its_group() -> None:
    """A worker whose packages changed serves another group, its running job notwithstanding."""
    world = World(1, slots=2)
    running = world.claim()
    world.obey(world.pool.add(replace(Endpoint(name="w0", machine="m0", group="other", slots=2)), world.now))
    assert (world.pool.in_service("g"), world.pool.in_service("other")) == (0, 1)
    claims = []
    for _ in range(3):
        claim, actions = world.pool.claim("other", world.now)
        world.obey(actions)
        claims.append(claim)
    assert [claim in world.held for claim in claims] == [True, False, False]
    world.leave(running)
    assert [claim in world.held for claim in claims] == [True, True, False]
