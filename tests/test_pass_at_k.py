"""pass@k: the share of draws that contain a correct sample."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.estimates import pass_at_each_k

SMALL = [(n, c, k) for n in range(1, 7) for c in range(n + 1) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "c", "k"), SMALL)
def test_pass_at_k_is_the_share_of_draws_with_a_correct_sample(n: int, c: int, k: int) -> None:
    """The estimator is the exact share of k-subsets that contain a correct sample."""
    draws = list(combinations([True] * c + [False] * (n - c), k))
    expected = Fraction(sum(map(any, draws)), len(draws))
    assert pass_at_each_k([(n, c)], (k,)) == {k: [pytest.approx(float(expected), abs=1e-12)]}


def test_pass_at_k_known_values() -> None:
    """Values from the closed form, at sizes where binomials overflow a float."""
    assert pass_at_each_k([(200, 10)], (1,)) == {1: [pytest.approx(0.05)]}
    expected = 1 - Fraction(math.comb(190_000, 100), math.comb(200_000, 100))
    assert pass_at_each_k([(200_000, 10_000)], (100,)) == {100: [pytest.approx(float(expected), rel=1e-9)]}


def test_pass_at_k_needs_k_samples_everywhere() -> None:
    """If a problem has fewer than k samples, or there is no problem, there is no pass@k."""
    assert pass_at_each_k([(2, 1), (4, 0)], (1, 2, 3)) == {1: [0.5, 0.0], 2: [1.0, 0.0]}
    assert pass_at_each_k([], (1,)) == {}


@pytest.mark.parametrize(("counts", "k"), [([(3, 1)], 0), ([(3, 1)], -1), ([(3, 4)], 1), ([(3, -1)], 1)])
def test_pass_at_k_refuses_impossible_arguments(counts: list[tuple[int, int]], k: int) -> None:
    """Impossible counts and k below 1 raise an error."""
    with pytest.raises(InputError):
        pass_at_each_k(counts, (2, k))


@given(st.lists(st.tuples(st.integers(5, 300), st.floats(0, 1)), min_size=1, max_size=8))
def test_pass_at_k_is_a_probability_that_grows_with_k(drawn: list[tuple[int, float]]) -> None:
    """The value does not fall as k grows, and stays in [0, 1] in spite of rounding errors."""
    counts = [(n, round(n * share)) for n, share in drawn]
    for values in zip(*pass_at_each_k(counts, range(1, 6)).values(), strict=True):
        assert len(values) == 5
        assert list(values) == sorted(values)
        assert all(0.0 <= value <= 1.0 for value in values)
