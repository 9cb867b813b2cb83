"""How often jobs are sent again: the limit for each job, and the budget of all jobs."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import ExhaustedError, RejectedError, TransportError
from ioi_eval.model import Retries
from ioi_eval.model.job import RETRIES
from ioi_eval.sandbox.piston.job_end import JobEnd
from ioi_eval.sandbox.piston.retries import (
    FLOOR,
    SHARE,
    WINDOW_S,
    RetryBudget,
    backoff_s,
    exhausted,
)


def test_a_job_has_a_fixed_number_of_retries() -> None:
    """After `RETRIES` retries no more are allowed."""
    retries = Retries()
    assert [retries.take() for _ in range(RETRIES + 2)] == [True] * RETRIES + [False] * 2


def test_the_wait_before_a_retry_doubles() -> None:
    """The wait doubles with each retry, and is reduced by a random part of at most half."""
    waits = [backoff_s(number, random.Random(number)) for number in range(1, RETRIES + 1)]
    assert 0.1 <= waits[0] <= 0.2
    assert 0.2 <= waits[1] <= 0.4
    assert 1.6 <= waits[-1] <= 3.2


def test_the_error_names_all_workers_that_were_tried() -> None:
    """The error has the number of attempts for each worker. A final refusal is returned unchanged."""
    error = exhausted(Retries(tried=["w1", "w2", "w1"]), TransportError("w1: reset"))
    assert isinstance(error, ExhaustedError)
    assert str(error).startswith("the job was tried 3 times, on w1 (2 times), w2,")
    assert str(error).endswith("at last: w1: reset")
    refusal = RejectedError("no")
    assert exhausted(Retries(tried=["w1"]), refusal) is refusal


def fail(budget: RetryBudget, now: float) -> None:
    """A retry is sent, and fails."""
    budget.begin(now, is_retry=True)
    budget.end(now, now, JobEnd.BROKEN, is_retry=True)


def test_a_small_run_may_retry_a_few() -> None:
    """With few requests, `FLOOR` retries a minute may fail."""
    budget = RetryBudget()
    for _ in range(FLOOR):
        assert budget.allows_retry(0.0)
        fail(budget, 0.0)
    assert not budget.allows_retry(59.9)
    assert budget.is_used_up(59.9)
    assert budget.allows_retry(61.0)


def test_a_large_run_may_retry_a_tenth() -> None:
    """After a thousand requests, a hundred retries may fail, until the requests are older than a minute."""
    budget = RetryBudget()
    for _ in range(1000):
        budget.begin(10.0, is_retry=False)
    allowed = 0
    while budget.allows_retry(30.0):
        fail(budget, 30.0)
        allowed += 1
    assert allowed == 100
    assert not budget.allows_retry(71.0)


def test_retries_that_are_answered_do_not_count() -> None:
    """While they run they count, but the budget is not used up."""
    budget = RetryBudget()
    for _ in range(FLOOR):
        budget.begin(0.0, is_retry=True)
    assert not budget.allows_retry(0.0)
    assert not budget.is_used_up(0.0)
    budget.end(0.0, 3.0, JobEnd.ANSWERED, is_retry=True)
    assert budget.allows_retry(3.0)


def test_retries_that_were_cancelled_do_not_count() -> None:
    """The caller gave them up, so nothing is known about the workers."""
    budget = RetryBudget()
    for _ in range(FLOOR):
        budget.begin(0.0, is_retry=True)
    for _ in range(FLOOR):
        budget.end(0.0, 3.0, JobEnd.CANCELLED, is_retry=True)
    assert budget.allows_retry(3.0)


def test_a_request_that_was_never_sent_does_not_count() -> None:
    """An attempt without a connection counts neither as request nor as retry, also if that is known later."""
    budget = RetryBudget()
    for _ in range(10 * FLOOR + 10):
        budget.begin(0.0, is_retry=False)
    for _ in range(FLOOR + 1):
        budget.begin(0.0, is_retry=True)
    assert not budget.allows_retry(3.0)
    budget.end(0.0, 3.0, JobEnd.NOT_SERVED, is_retry=True)
    assert budget.allows_retry(3.0)
    budget.end(0.0, 3.0, JobEnd.NOT_SERVED, is_retry=False)
    assert not budget.allows_retry(3.0)
    budget.end(0.0, 500.0, JobEnd.NOT_SERVED, is_retry=False)


@given(
    events=st.lists(
        st.tuples(st.floats(min_value=0.0, max_value=20.0), st.integers(0, 40), st.integers(0, 12)), max_size=40
    )
)
def test_the_bound_holds_for_the_minute_before_every_retry(events: list[tuple[float, int, int]]) -> None:
    """At all times, failed retries are at most a share of the last minute's first requests, or the floor."""
    budget = RetryBudget()
    now = 0.0
    log: list[tuple[float, bool]] = []
    for wait, requests, wishes in events:
        now += wait
        for is_retry in [False] * requests + [True] * wishes:
            if is_retry and not budget.allows_retry(now):
                continue
            if is_retry:
                fail(budget, now)
            else:
                budget.begin(now, is_retry=False)
            log.append((now, is_retry))
            if is_retry:
                recent = [kind for when, kind in log if now - WINDOW_S < when]
                assert sum(recent) <= max(FLOOR, SHARE * (len(recent) - sum(recent)))
