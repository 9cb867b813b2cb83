"""Tests are divided into jobs that respect every limit of a sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.engine.judging import PlannedTests
from ioi_eval.engine.packing import fitting
from ioi_eval.errors import InputError
from ioi_eval.jobs.run_job import JobBounds, JobTest, PlannedTest
from ioi_eval.model import Blob
from tests.judging_model import names

TESTS = {name: JobTest(input=b"12345", answer=b"67890") for name in "abcdefgh"}


def planned(tests: str) -> tuple[PlannedTest, ...]:
    """Planned tests. Their positions in subtasks do not matter here."""
    return tuple(PlannedTest(test=test, at=((0, 0),)) for test in tests)


def jobs(
    pending: PlannedTests,
    tests: dict[str, JobTest] = TESTS,
    *,
    max_tests: int = 1000,
    max_bytes: int | None = None,
    max_wall_ms: int | None = None,
) -> list[PlannedTests]:
    """The successive jobs for tests that take at most 300 ms each."""
    cut: list[PlannedTests] = []
    room = JobBounds(tests=1000, test_bytes=max_bytes, wall_ms=max_wall_ms)
    while pending:
        cut.append(fitting(pending, tests, room, max_tests=max_tests, wall_ms_per_test=300))
        pending = pending[len(cut[-1]) :]
    return cut


@pytest.mark.parametrize(
    ("limits", "cut"),
    [
        ({}, "abcdefgh"),
        ({"max_tests": 3}, "abc def gh"),
        ({"max_tests": 8}, "abcdefgh"),
        ({"max_bytes": 20}, "ab cd ef gh"),
        ({"max_bytes": 29}, "ab cd ef gh"),
        ({"max_bytes": 5}, "a b c d e f g h"),
        ({"max_wall_ms": 900}, "abc def gh"),
        ({"max_wall_ms": 100}, "a b c d e f g h"),
        ({"max_tests": 2, "max_wall_ms": 900}, "ab cd ef gh"),
        ({"max_tests": 5, "max_bytes": 40}, "abcd efgh"),
    ],
)
def test_jobs_keep_every_limit(limits: dict[str, Any], cut: str) -> None:
    """No job exceeds a limit, except a job with a single test that is too large by itself."""
    assert " ".join(map(names, jobs(planned("abcdefgh"), **limits))) == cut


def test_blobs_count_with_their_size() -> None:
    """A missing answer counts 0 bytes. A submitted output counts too."""
    blob = Blob(path=Path("/nowhere"), size=85, sha256="")
    tests = {**TESTS, "b": JobTest(input=blob, output=b"12345")}
    assert " ".join(map(names, jobs(planned("abc"), tests, max_bytes=100))) == "ab c"


def test_the_program_counts() -> None:
    """Its size is subtracted before the tests are packed."""
    room = JobBounds(tests=8, test_bytes=40, wall_ms=None)
    cut = fitting(planned("abcd"), TESTS, room, max_tests=8, wall_ms_per_test=1, taken_bytes=15)
    assert names(cut) == "ab"


def test_a_negative_number_of_tests_is_refused() -> None:
    """It must not be taken for "all tests" or "no tests"."""
    with pytest.raises(InputError, match="at most -1 tests"):
        jobs(planned("a"), max_tests=-1)


@given(st.text("abcdefgh", max_size=30), st.integers(1, 9), st.integers(1, 50))
def test_nothing_is_lost_and_the_order_is_kept(tests: str, max_tests: int, max_bytes: int) -> None:
    """The jobs joined together are the plan."""
    made = jobs(planned(tests), max_tests=max_tests, max_bytes=max_bytes)
    assert sum(made, ()) == planned(tests)
    assert all(len(one) <= max_tests and (len(one) == 1 or 10 * len(one) <= max_bytes) for one in made)
