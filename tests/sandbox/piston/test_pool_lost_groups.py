"""A group has no endpoints any more while other groups have some: its waiting jobs fail soon with TargetLostError."""

from __future__ import annotations

import random

import pytest

from ioi_eval.errors import SandboxError, TargetLostError, UnavailableError
from ioi_eval.sandbox.piston.endpoint_state import Endpoint
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.pool import LEAST_UNCONNECTED, LOST_AFTER_S, TICK_S, Pool
from tests.sandbox.pool_world import PATIENCE_S, World


def two_groups() -> World:
    """A pool with an endpoint in each of two groups."""
    world = World()
    for name in ("old", "new"):
        world.pool.add(Endpoint(url=f"w-{name}", machine=name, group=name), 0.0)
    return world


def failures(world: World) -> list[type[SandboxError]]:
    """The types of the errors of failed jobs."""
    return [type(request.failure) for request in world.failed if request.failure is not None]


def test_another_group_in_service_shortens_the_wait() -> None:
    """Jobs of the group fail after `LOST_AFTER_S`, new ones at once. Jobs of the other group get slots."""
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


def test_without_a_group_in_service_jobs_wait_for_patience() -> None:
    """If the other group has no endpoints either, jobs wait for the patience and end with UnavailableError."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.request("old")
    world.until(5.0)
    world.pool.remove("w-new", world.now)
    world.until(PATIENCE_S - TICK_S)
    assert failures(world) == []
    world.until(PATIENCE_S)
    assert failures(world) == [UnavailableError]


def test_a_group_that_appears_later_shortens_the_wait() -> None:
    """Jobs that have waited for longer than `LOST_AFTER_S` fail as soon as another group has an endpoint."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.pool.remove("w-new", 0.0)
    world.request("old")
    world.until(30.0)
    assert failures(world) == []
    world.pool.add(Endpoint(url="w-new", machine="new", group="new"), 30.0)
    world.until(30.0 + TICK_S)
    assert failures(world) == [TargetLostError]


def test_a_group_that_comes_back_serves_waiting_jobs() -> None:
    """If the group gets an endpoint within `LOST_AFTER_S`, its jobs get slots."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    request = world.request("old")
    world.until(9.0)
    world.pool.add(Endpoint(url="w-old", machine="old", group="old"), world.now)
    assert request.holds_slot
    world.until(100.0)
    assert failures(world) == []


def test_jobs_with_only_one_group_wait_on() -> None:
    """Jobs with `is_only` wait until their group is back, although another group is in service."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    free, bound = world.request("old"), world.request("old", is_only=True)
    world.until(20.0)
    assert world.failed == [free]
    late = world.request("old", is_only=True)
    assert late.failure is None
    world.pool.add(Endpoint(url="w-old", machine="old", group="old", slots=2), world.now)
    assert world.running == [bound, late]


def test_jobs_with_only_one_group_wait_at_most_for_patience() -> None:
    """Jobs with `is_only` fail after the patience, later ones at once, also if another group is in service."""
    world = two_groups()
    world.pool.remove("w-old", 0.0)
    world.request("old", is_only=True)
    world.until(PATIENCE_S - TICK_S)
    assert failures(world) == []
    world.until(PATIENCE_S)
    assert failures(world) == [TargetLostError]
    world.request("old", is_only=True)
    assert failures(world) == [TargetLostError] * 2


@pytest.mark.parametrize(("groups", "failure"), [(["old"], UnavailableError), (["old", "new"], TargetLostError)])
def test_a_group_in_service_that_accepts_no_job(groups: list[str], failure: type[SandboxError]) -> None:
    """The group itself is no other one that could judge the job."""
    pool, now = Pool(patience_s=PATIENCE_S, rng=random.Random(1)), 0.0
    for name in groups:
        pool.add(Endpoint(url=f"w-{name}", machine=name, group=name), now)
    request = pool.request("old", now)
    for _ in range(LEAST_UNCONNECTED):
        assert request.holds_slot
        pool.release(request, JobEnd.NOT_SERVED, now)
        now += PATIENCE_S
        for url in pool.tick(now):
            pool.check_ended(url, True, now)
        assert pool.in_service("old") == 1
        pool.retry(request, now, may_have_started=False)
    assert type(request.failure) is failure
