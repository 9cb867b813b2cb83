"""The pool in virtual time: who gets which endpoint, and when jobs wait."""

from __future__ import annotations

from ioi_eval.sandbox.circuit import End
from ioi_eval.sandbox.roster import Claim
from tests.sandbox.pool_world import POLICY, World, names


def test_load_is_spread() -> None:
    """Every endpoint gets a job before any gets a second; what has rested longest comes first."""
    world = World(3, slots=2)
    claims = [world.claim() for _ in range(6)]
    assert names(claims) == ["w0", "w1", "w2", "w0", "w1", "w2"]
    assert world.claim() not in world.held
    world.leave(claims[1])
    world.leave(claims[4])
    assert names(world.held[-1:]) == ["w1"], "the waiting job took the slot that came free"


def test_first_come_first_served() -> None:
    """Jobs that wait are served in the order of their arrival, and a repetition keeps its place."""
    world = World(1)
    first, second, third = (world.claim() for _ in range(3))
    world.leave(first, End.BROKEN)
    repeated = world.again(first)
    assert repeated is not None
    assert world.held == [second]
    world.until(1.0)
    world.leave(second)
    assert world.held == [repeated]
    world.leave(repeated)
    assert world.held == [third]


def test_a_repetition_goes_elsewhere() -> None:
    """The endpoint that failed a job is not asked again while another is free; but it is, if it is the only one."""
    world = World(3)
    claim = world.claim()
    world.leave(claim, End.BROKEN)
    for _ in range(2):
        failed, following = claim, world.again(claim)
        assert following is not None
        claim = following
        world.until(world.now + 5.0)
        assert names([claim]) != names([failed])
        world.leave(claim, End.BROKEN)
    lonely = World(1)
    claim = lonely.claim()
    lonely.leave(claim, End.BROKEN)
    following = lonely.again(claim)
    lonely.until(5.0)
    assert lonely.held == [following]


def test_attempts_are_counted() -> None:
    """A job is sent six times at most; attempts that found no server do not count."""
    world = World(20)
    claim: Claim | None = world.claim()
    sent = 0
    while claim is not None:
        assert claim in world.held
        sent += 1
        end = End.UNREACHED if sent in {2, 3} else End.BROKEN
        world.leave(claim, end)
        claim = world.again(claim)
        world.until(world.now + 61.0)
    assert sent == POLICY.attempts + 2


def test_alone_on_the_machine() -> None:
    """A job that must be alone waits for the last job on a machine, and keeps others away, also its other ports."""
    world = World(4, slots=2, machines=2)
    others = [world.claim() for _ in range(4)]
    alone = world.claim(alone=True)
    assert alone not in world.held
    later = [world.claim() for _ in range(2)]
    assert all(claim in world.held for claim in later), "the other machine goes on"
    machines = {claim.endpoint.machine for claim in later if claim.endpoint}
    assert len(machines) == 1
    for claim in others:
        if claim.endpoint and claim.endpoint.machine not in machines:
            world.leave(claim)
    assert alone in world.held
    assert alone.endpoint is not None
    assert alone.endpoint.machine not in machines
    crowd = [world.claim() for _ in range(10)]
    assert {claim.endpoint.machine for claim in crowd if claim.endpoint} <= machines
    before = len(world.held)
    world.leave(alone)
    assert len(world.held) == before - 1 + 4, "its slots are free again"


def test_alone_moves_to_an_idle_machine() -> None:
    """A reservation does not hold on to a busy machine when another one falls idle."""
    world = World(2)
    slow, quick = world.claim(), world.claim()
    alone = world.claim(alone=True)
    world.leave(quick)
    if alone not in world.held:
        world.leave(slow)
    assert alone in world.held


def test_who_waits_to_be_alone_takes_over_the_quiet_machine() -> None:
    """Of two machines the one that is quiet already, though others wait for it; the other one goes on as it was."""
    world = World(2)
    busy = [world.claim(), world.claim()]
    first, second = world.claim(alone=True), world.claim(alone=True)
    others = [world.claim() for _ in range(3)]
    world.leave(busy[0])
    (quiet,) = [claim for claim in (first, second) if claim in world.held]
    assert quiet.endpoint is not None
    machine = quiet.endpoint.machine
    world.leave(quiet)
    (next_one,) = [claim for claim in (first, second) if claim in world.held]
    assert next_one.endpoint is not None
    assert next_one.endpoint.machine == machine
    assert not [claim for claim in others if claim in world.held]
    world.leave(busy[1])
    assert len([claim for claim in others if claim in world.held]) == 1, "nobody waits for that machine any more"
    world.leave(next_one)
    assert len([claim for claim in others if claim in world.held]) == 2


def test_alone_survives_the_death_of_its_machine() -> None:
    """A reserved machine that goes out is given up for another one."""
    world = World(2)
    first, second = world.claim(), world.claim()
    alone = world.claim(alone=True)
    world.dead |= {"w0"}
    world.leave(first, End.UNREACHED)
    world.leave(second)
    assert names([alone]) == ["w1"]


def test_repetitions_wait_for_the_budget() -> None:
    """When a whole cluster breaks jobs, repetitions stay within the budget; what waits for it too long expires."""
    world = World(200)
    failed = [world.claim() for _ in range(100)]
    for claim in failed:
        world.leave(claim, End.BROKEN)
    for claim in failed:
        world.again(claim)
    world.until(20.0)
    assert len(world.held) == 10
    world.until(20.0 + POLICY.patience_s + 1.0)
    assert world.expired
    assert not any(expire.is_dark for expire in world.expired)


def test_first_attempts_overtake_parked_repetitions() -> None:
    """While repetitions wait for the budget, new jobs go on."""
    world = World(20)
    for _ in range(10):
        claim = world.claim()
        world.leave(claim, End.BROKEN)
        world.again(claim)
    world.until(15.0)
    busy = len(world.held)
    assert busy < 10
    assert world.claim() in world.held


def test_leaving_twice_changes_nothing() -> None:
    """A second leave of the same claim frees no second slot."""
    world = World(1)
    claim = world.claim()
    for _ in range(3):
        world.leave(claim)
    assert [world.claim() in world.held for _ in range(2)] == [True, False]
