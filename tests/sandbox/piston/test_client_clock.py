"""The client's clock: it advances with the time, but never far without a sweep."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.sandbox.piston.client_clock import SWEEP_S, ClientClock

INTERVALS = st.lists(st.tuples(st.floats(0.0, 3600.0), st.booleans()))


@given(begin=st.floats(0.0, 1e6), steps=INTERVALS)
def test_it_advances_by_one_interval_a_sweep_at_most(begin: float, steps: list[tuple[float, bool]]) -> None:
    """It never goes back, nor faster than the time. A late sweep counts as one interval, and knows the one before."""
    clock, now, last, at_sweep = ClientClock(begin), begin, 0.0, 0.0
    for passed, is_sweep in steps:
        now += passed
        if is_sweep:
            assert clock.sweep(now) == at_sweep
        time = clock.time(now)
        assert last <= time <= now - begin + 1e-6
        assert time <= at_sweep + SWEEP_S
        last, at_sweep = time, time if is_sweep else at_sweep


def test_without_delays_it_is_the_time() -> None:
    """Sweeps that are in time change nothing."""
    clock = ClientClock(0.0)
    for number in range(1, 9):
        clock.sweep(number / 16)
    assert clock.time(9 / 16) == 9 / 16
