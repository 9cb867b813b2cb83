"""A group loses its endpoints while others have some: its waiting jobs soon get an error that says so."""

from __future__ import annotations

from ioi_eval.errors import SandboxError, TargetLostError, UnavailableError
from ioi_eval.sandbox.piston.endpoint_state import Endpoint
from ioi_eval.sandbox.piston.pool import LOST_AFTER_S, TICK_S
from tests.sandbox.pool_world import PATIENCE_S, World


def two_groups() -> World:
    """A pool with an endpoint in each of two groups."""
    world = World()
    for name in ("old", "new"):
        world.pool.add(Endpoint(url=f"w-{name}", machine=name, group=name), 0.0)
    return world


def failures(world: World) -> list[type[SandboxError]]:
    """What those who waited in vain were told."""
    return [type(request.failure) for request in world.failed if request.failure is not None]


def test_another_group_in_service_shortens_the_wait() -> None:
    """Its jobs fail after `LOST_AFTER_S`, new ones at once; those of the other group are served."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.request("old")
    world.until(LOST_AFTER_S - TICK_S)
    assert failures(world) == []
    world.until(LOST_AFTER_S)
    assert failures(world) == [TargetLostError]
    world.request("old")
    assert failures(world) == [TargetLostError] * 2
    assert world.request("new").holds_slot


def test_with_no_group_in_service_all_wait_for_as_long_as_they_may() -> None:
    """When the other group loses its endpoints too, the long patience holds, and ends the run."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.request("old")
    world.until(5.0)
    world.pool.remove("w-new", world.now)
    world.until(PATIENCE_S - TICK_S)
    assert failures(world) == []
    world.until(PATIENCE_S)
    assert failures(world) == [UnavailableError]


def test_a_group_that_comes_later_shortens_the_wait_from_then_on() -> None:
    """Whoever has waited for long already is told as soon as there is somewhere to go."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.pool.remove("w-new", 0.0)
    world.request("old")
    world.until(30.0)
    assert failures(world) == []
    world.pool.add(Endpoint(url="w-new", machine="new", group="new"), 30.0)
    world.until(30.0 + TICK_S)
    assert failures(world) == [TargetLostError]


def test_a_group_that_comes_back_serves_those_who_waited() -> None:
    """Within that time nothing is lost."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    request = world.request("old")
    world.until(9.0)
    world.pool.add(Endpoint(url="w-old", machine="old", group="old"), world.now)
    assert request.holds_slot
    world.until(100.0)
    assert failures(world) == []


def test_those_who_can_go_nowhere_else_wait_on() -> None:
    """Workers of one kind restart while another kind, which may not judge this, is in service: nothing is lost."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    free, bound = world.request("old"), world.request("old", is_only=True)
    world.until(20.0)
    assert world.failed == [free]
    late = world.request("old", is_only=True)
    assert late.failure is None
    world.pool.add(Endpoint(url="w-old", machine="old", group="old", slots=2), world.now)
    assert world.running == [bound, late]


def test_patience_ends_with_another_group_in_service_too() -> None:
    """After as long as jobs wait for all endpoints they fail, and later ones at once."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.request("old", is_only=True)
    world.until(PATIENCE_S - TICK_S)
    assert failures(world) == []
    world.until(PATIENCE_S)
    assert failures(world) == [TargetLostError]
    world.request("old", is_only=True)
    assert failures(world) == [TargetLostError] * 2
