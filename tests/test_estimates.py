"""Confidence intervals and significance tests: known values, and properties for all inputs."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.estimates import Estimate, mcnemar, mean_estimates, random_numbers, sign_flip

FIRST_NUMBERS = [3504448212, 349997040, 82979092, 1755948933, 1181970347]
"""The first random numbers, in 32 bits. The page must draw the same (`test_page_intervals.py`)."""
BEFORE, AFTER = [0.0, 1.0, 0.4, 0.6, 0.3, 0.1], [0.1, 0.9, 0.4, 1.0, 0.6, 0.3]
"""The interval of the difference begins at 0; the mean of the drawn floats there is 2e-17."""
SHARES = st.lists(st.floats(0, 1), min_size=6, max_size=30)
COUNTS = st.integers(0, 500)


def test_random_numbers_are_fixed() -> None:
    """All versions draw the same numbers, from any position."""
    assert random_numbers(0, 5).tolist() == FIRST_NUMBERS
    assert random_numbers(3, 2).tolist() == FIRST_NUMBERS[3:]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_problems_have_no_interval(count: int) -> None:
    """Two problems with the same mean had an interval of width 0."""
    assert mean_estimates({"a": [0.25] * count}) == {"a": Estimate(value=0.25, low=None, high=None)}
    assert mean_estimates({}) == {}


def test_the_interval_of_a_coin_is_that_of_the_binomial() -> None:
    """100 shares, half of them 0 and half 1: the interval is 0.5 ± 1.96 × 0.05."""
    found = mean_estimates({"a": [0.0, 1.0] * 50})["a"]
    assert found.value == 0.5
    assert found.low == pytest.approx(0.402, abs=0.01)
    assert found.high == pytest.approx(0.598, abs=0.01)


def test_columns_are_of_the_same_problems() -> None:
    """Columns of different length are refused: their means would be over different problems."""
    with pytest.raises(ValueError, match="shape"):
        mean_estimates({"a": [0.0], "b": [0.0, 1.0]})


@settings(max_examples=20, deadline=None)
@given(SHARES)
def test_an_interval_lies_within_its_sample(shares: list[float]) -> None:
    """Its ends are means of drawn values. The same values give the same ends, in any order, and equal values give an
    interval of width 0.
    """
    found = mean_estimates({"a": shares, "b": [0.5] * len(shares)})
    low, high = found["a"].low, found["a"].high
    assert low is not None
    assert high is not None
    assert min(shares) - 1e-6 <= low <= high <= max(shares) + 1e-9
    assert low == pytest.approx(mean_estimates({"a": shares[::-1]})["a"].low)
    assert found["b"].low == pytest.approx(0.5)
    assert found["b"].high == pytest.approx(0.5)


def difference(before: list[float], after: list[float]) -> Estimate:
    """The mean of the differences per problem, as `compare` shows it."""
    return mean_estimates({"": [b - a for a, b in zip(before, after, strict=True)]})[""]


@settings(max_examples=20, deadline=None)
@given(SHARES)
def test_swapping_the_sides_changes_the_sign_of_a_difference(shares: list[float]) -> None:
    """The interval of B minus A is that of A minus B with opposite signs. A minus A is 0."""
    other = shares[::-1]
    there, back = difference(shares, other), difference(other, shares)
    assert (there.value, there.low, there.high) == pytest.approx(
        tuple(-end for end in (back.value, back.high or 0.0, back.low or 0.0))
    )
    itself = difference(shares, shares)
    assert (itself.value, itself.low, itself.high) == (0, 0, 0)


def test_pairs_of_problems_are_drawn_together() -> None:
    """If all problems gain the same amount, the interval has width 0, although the problems differ by far more."""
    found = difference([0.0, 0.5, 0.9] * 2, [0.1, 0.6, 1.0] * 2)
    assert found.low == pytest.approx(0.1)
    assert found.high == pytest.approx(0.1)


def test_an_end_at_0_is_exactly_0() -> None:
    """Whether an interval contains 0 does not depend on errors of floats."""
    assert difference(BEFORE, AFTER).low == 0


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0), ([0.0, 1e-12], 1.0), ([0.5] * 5, 0.0625), ([-0.5] * 6, 0.03125), ([0.1] * 6 + [0.0] * 20, 0.03125),
        ([0.3, -0.1, 0.2], 0.5), ([0.1] * 9 + [-0.1], 0.021484375), ([0.7] * 20, 2**-19),
        ([1.0] * 25 + [-1.0] * 15, math.erfc(10 / math.sqrt(80))),
    ],
)  # fmt: skip
def test_sign_flip_counts_all_assignments_of_signs(differences: list[float], p: float) -> None:
    """By hand: of ±1 ±2 ±3, four of eight sums are at least 4 from 0. Equal sizes have the p of McNemar's test."""
    assert sign_flip(differences) == pytest.approx(p, rel=1e-9)
    assert sign_flip([-value for value in differences[::-1]]) == pytest.approx(p, rel=1e-9)


def test_the_normal_distribution_is_near_the_exact_test() -> None:
    """The same differences with and without some that are too small to make a difference, but too many for the sums."""
    dice = random.Random(1)
    for shift in (0.0, 0.1, 0.2, 0.3):
        values = [dice.uniform(-1, 1) + shift for _ in range(18)]
        assert sign_flip([*values, *[1e-8] * 3]) == pytest.approx(sign_flip(values), abs=0.02)


@pytest.mark.parametrize(
    ("lost", "won", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (5, 0, 0.0625), (0, 6, 0.03125), (1, 9, 0.021484375)],
)  # fmt: skip
def test_mcnemar_has_the_values_of_the_binomial(lost: int, won: int, p: float) -> None:
    """Source: twice the tail of the binomial distribution with probability one half."""
    assert mcnemar(lost, won) == pytest.approx(p, rel=1e-9)


@settings(deadline=None)
@given(COUNTS, COUNTS)
def test_mcnemar_is_a_probability(lost: int, won: int) -> None:
    """p is in [0, 1], equal if wins and losses are swapped, and equal to the exact sums."""
    p = mcnemar(lost, won)
    assert 0 <= p <= 1
    assert p == mcnemar(won, lost)
    total, fewer = lost + won, min(lost, won)
    exact = sum(math.comb(total, n) for n in range(fewer + 1)) * 2 / 2**total
    assert p == pytest.approx(min(1.0, exact), rel=1e-9)


@settings(deadline=None)
@given(st.integers(0, 100), st.integers(0, 100))
def test_one_more_win_lowers_p(lost: int, more: int) -> None:
    """If there are at least as many wins as losses, p falls with each further win."""
    assert mcnemar(lost, lost + more + 1) <= mcnemar(lost, lost + more) + 1e-12
