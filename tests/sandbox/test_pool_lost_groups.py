"""A group that loses its endpoints while others have some: who waits for it is told soon, and told that."""

from __future__ import annotations

import random

from ioi_eval.sandbox.pool import Pool
from ioi_eval.sandbox.pool_terms import Action, Expire, Grant, PoolPolicy
from ioi_eval.sandbox.roster import Endpoint

POLICY = PoolPolicy(patience_s=60.0, lost_after_s=10.0)


def two_groups() -> Pool:
    """A pool with an endpoint in each of two groups."""
    pool = Pool(POLICY, rng=random.Random(1))
    for name in ("old", "new"):
        pool.add(Endpoint(name=f"w-{name}", machine=name, group=name), 0.0)
    return pool


def expired(actions: list[Action]) -> list[tuple[str, bool, bool]]:
    """Who waited in vain, and in what light."""
    return [(a.claim.group.name, a.is_dark, a.is_light_elsewhere) for a in actions if isinstance(a, Expire)]


def run_until(pool: Pool, when: float) -> list[Action]:
    """What the pool says until then, by itself."""
    actions: list[Action] = []
    while (due := pool.next_due()) is not None and due <= when:
        actions += pool.turn(due)
    return [*actions, *pool.turn(when)]


def test_light_elsewhere_shortens_the_wait() -> None:
    """Its claims expire after `lost_after_s`, new ones at once; those of the other group are served."""
    pool = two_groups()
    pool.remove("w-old", 1.0)
    pool.claim("old", 2.0)
    assert expired(run_until(pool, 10.9)) == []
    assert expired(run_until(pool, 11.0)) == [("old", True, True)]
    _, actions = pool.claim("old", 12.0)
    assert expired(actions) == [("old", True, True)]
    _, actions = pool.claim("new", 12.0)
    assert [type(action) for action in actions] == [Grant]


def test_in_the_dark_everywhere_all_wait_for_as_long_as_they_may() -> None:
    """When the other group goes dark too, there is nowhere to go: the long patience holds, and ends the run."""
    pool = two_groups()
    pool.remove("w-old", 1.0)
    pool.claim("old", 2.0)
    pool.remove("w-new", 5.0)
    assert expired(run_until(pool, 60.9)) == []
    assert expired(run_until(pool, 61.0)) == [("old", True, False)]


def test_light_that_comes_later_shortens_the_wait_from_then_on() -> None:
    """Whoever has waited for long already is told as soon as there is somewhere to go."""
    pool = two_groups()
    pool.remove("w-old", 0.0)
    pool.remove("w-new", 0.0)
    pool.claim("old", 1.0)
    assert expired(run_until(pool, 30.0)) == []
    assert expired(pool.add(Endpoint(name="w-new", machine="new", group="new"), 30.0)) == [("old", True, True)]


def test_a_group_that_comes_back_serves_those_who_waited() -> None:
    """Within that time nothing is lost."""
    pool = two_groups()
    pool.remove("w-old", 1.0)
    claim, _ = pool.claim("old", 2.0)
    assert expired(run_until(pool, 9.0)) == []
    assert pool.add(Endpoint(name="w-old", machine="old", group="old"), 9.0) == [Grant(claim)]
    assert expired(run_until(pool, 100.0)) == []


def test_those_who_can_go_nowhere_else_wait_on() -> None:
    """Workers of one kind restart while another kind, which may not judge this, is in service: nothing is lost."""
    pool = two_groups()
    pool.remove("w-old", 1.0)
    pool.claim("old", 2.0)
    patient, _ = pool.claim("old", 3.0, patient=True)
    assert expired(run_until(pool, 20.0)) == [("old", True, True)], "the other one"
    late, actions = pool.claim("old", 20.0, patient=True)
    assert actions == []
    assert pool.add(Endpoint(name="w-old", machine="old", group="old", slots=2), 21.0) == [Grant(patient), Grant(late)]


def test_patience_ends_with_light_elsewhere_too() -> None:
    """After as long as claims wait for all endpoints they expire, and later ones at once."""
    pool = two_groups()
    pool.remove("w-old", 1.0)
    pool.claim("old", 2.0, patient=True)
    assert expired(run_until(pool, 60.9)) == []
    assert expired(run_until(pool, 61.0)) == [("old", True, True)]
    assert expired(pool.claim("old", 62.0, patient=True)[1]) == [("old", True, True)]
