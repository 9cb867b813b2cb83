"""Tests are cut into jobs that keep every limit of a sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_model import make_problem, names

from ioi_eval.engine.packing import bundles
from ioi_eval.errors import InputError
from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.model import Blob, TestCase


def planned(tests: str) -> tuple[PlannedTest, ...]:
    """Tests of a plan; where they stand does not matter here."""
    return tuple(PlannedTest(test=test, at=((0, 0),)) for test in tests)


@pytest.mark.parametrize(
    ("limits", "cut"),
    [
        ({}, "abcdefgh"),
        ({"max_tests": 3}, "abc def gh"),
        ({"max_tests": 8}, "abcdefgh"),
        ({"max_bytes": 20}, "ab cd ef gh"),
        ({"max_bytes": 29}, "ab cd ef gh"),
        ({"max_bytes": 5}, "a b c d e f g h"),
        ({"max_wall_ms": 900, "wall_ms_per_test": 300}, "abc def gh"),
        ({"max_wall_ms": 100, "wall_ms_per_test": 300}, "a b c d e f g h"),
        ({"max_tests": 2, "max_wall_ms": 900, "wall_ms_per_test": 300}, "ab cd ef gh"),
        ({"max_tests": 5, "max_bytes": 40}, "abcd efgh"),
    ],
)
def test_bundles_keep_every_limit(limits: dict[str, int], cut: str) -> None:
    """No bundle is over a limit, but for a single test that is too large by itself."""
    made = bundles(make_problem("a"), planned("abcdefgh"), **limits)
    assert " ".join(names(bundle) for bundle in made) == cut


def test_bundles_count_what_lies_on_disk() -> None:
    """Blobs count with their size, and a missing answer with none."""
    problem = make_problem("a")
    blob = Blob(path=Path("/nowhere"), size=90, sha256="")
    large = replace(problem, tests={**problem.tests, "b": TestCase(name="b", input=blob, answer=None)})
    made = bundles(large, planned("abc"), max_bytes=100)
    assert " ".join(names(bundle) for bundle in made) == "ab c"


def test_bundles_of_nothing_and_with_room_for_nothing() -> None:
    """No tests make no bundle; room for no test is refused rather than taken for all or none."""
    assert bundles(make_problem("a"), ()) == ()
    with pytest.raises(InputError, match="at most -1 tests"):
        bundles(make_problem("a"), planned("a"), max_tests=-1)


@given(st.text("abcdefgh", max_size=30), st.integers(1, 9), st.integers(1, 50))
def test_bundles_lose_nothing_and_keep_the_order(tests: str, max_tests: int, max_bytes: int) -> None:
    """Put together again, the bundles are the plan."""
    made = bundles(make_problem("a"), planned(tests), max_tests=max_tests, max_bytes=max_bytes)
    assert sum(made, ()) == planned(tests)
    assert all(len(bundle) <= max_tests and (len(bundle) == 1 or 10 * len(bundle) <= max_bytes) for bundle in made)
