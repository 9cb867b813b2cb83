"""The order in which test files are run."""

from __future__ import annotations

from tests.ordering import LONGEST, TESTS, rank


def test_the_longest_come_first() -> None:
    """Each listed file exists, and all others come after them."""
    ranks = [rank(TESTS / name) for name in LONGEST]
    assert ranks == sorted(set(ranks))
    assert rank(TESTS / "test_ordering.py") > max(ranks)
    assert [name for name in LONGEST if not (TESTS / name).is_file()] == []
