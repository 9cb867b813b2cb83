"""How many repetitions are allowed, second by second."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.sandbox.budget import FLOOR, SHARE, WINDOW_S, Ration, RetryBudget


def test_a_small_run_may_repeat_a_few() -> None:
    """Without a tenth to speak of, the floor holds, and it is refilled when the minute is over."""
    budget = RetryBudget()
    for _ in range(FLOOR):
        assert budget.allows_retry(0.0)
        budget.count(0.0, retry=True)
    assert not budget.allows_retry(59.9)
    assert budget.allows_retry(61.0)


def test_a_large_run_may_repeat_a_tenth() -> None:
    """Of a thousand requests a hundred may be repeated, until those requests are more than a minute old."""
    budget = RetryBudget()
    for _ in range(1000):
        budget.count(10.0, retry=False)
    allowed = 0
    while budget.allows_retry(30.0):
        budget.count(30.0, retry=True)
        allowed += 1
    assert allowed == 100
    assert not budget.allows_retry(71.0)


def test_what_never_left_is_taken_back() -> None:
    """An attempt without a connection counts neither way, also when that is known only seconds later."""
    budget = RetryBudget()
    for _ in range(FLOOR):
        budget.count(0.0, retry=True)
    budget.count(3.0, retry=False)
    assert not budget.allows_retry(3.0)
    budget.take_back(0.0, retry=True)
    assert budget.allows_retry(3.0)
    budget.take_back(500.0, retry=True)


@given(
    events=st.lists(
        st.tuples(st.floats(min_value=0.0, max_value=20.0), st.integers(0, 40), st.integers(0, 12)), max_size=40
    )
)
def test_the_bound_holds_for_the_minute_before_every_repetition(events: list[tuple[float, int, int]]) -> None:
    """Whatever the times, repetitions stay within the share of the last minute's first requests, or the floor."""
    budget = RetryBudget()
    now = 0.0
    log: list[tuple[float, bool]] = []
    for wait, requests, wishes in events:
        now += wait
        for retry in [False] * requests + [True] * wishes:
            if retry and not budget.allows_retry(now):
                continue
            budget.count(now, retry=retry)
            log.append((now, retry))
            if retry:
                recent = [kind for when, kind in log if now - WINDOW_S < when]
                assert sum(recent) <= max(FLOOR, SHARE * (len(recent) - sum(recent)))


def test_a_ration_is_by_the_second() -> None:
    """So many in each second, and what was not taken is not kept."""
    ration = Ration(2)
    assert [ration.take(when) for when in (0.0, 0.5, 0.9, 1.0, 1.1, 1.2, 9.0)] == [
        True, True, False, True, True, False, True,
    ]  # fmt: skip
