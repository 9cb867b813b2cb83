"""Time limits that are multiplied by a scale."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ioi_eval.errors import InputError
from ioi_eval.model import Batch, Problem, ProblemKey
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.time_scale import read_time_scale, scaled, scaled_set

PROBLEM = Problem(
    key=ProblemKey(year=2024, id="x"),
    name="X",
    method=Batch(),
    time_limit_s=2.0,
    memory_limit_bytes=1 << 28,
    subtasks=(),
    tests={},
    cxx_std="gnu++17",
)


def test_the_scale_is_stored_with_the_limit() -> None:
    """The official limit is time_limit_s / time_scale."""
    once = scaled(PROBLEM, 1.5)
    assert (once.time_limit_s, once.time_scale) == (3.0, 1.5)
    assert (scaled(once, 2.0).time_limit_s, scaled(once, 2.0).time_scale) == (6.0, 3.0)
    assert scaled(PROBLEM, 1.0) is PROBLEM


def test_all_problems_of_a_set_are_scaled() -> None:
    """Problems that cannot be judged stay listed."""
    wrong = {ProblemKey(year=2024, id="y"): InputError("no tests")}
    found = scaled_set(ProblemSet(problems={PROBLEM.key: PROBLEM}, unusable=wrong), 0.5)
    assert found.problems[PROBLEM.key].time_limit_s == 1.0
    assert found.unusable == wrong


@pytest.mark.parametrize(
    ("limit_s", "scale", "words"),
    [(0.004, 0.1, r"0\.0004 s; .* \(0\.004 s, scaled by 0\.1\)"), (2000.0, 100.0, "200000 s; ")],
)
def test_a_scaled_limit_that_the_runner_does_not_accept_is_an_error(limit_s: float, scale: float, words: str) -> None:
    """Such a problem cannot be judged, and the message has the limit."""
    problem = replace(PROBLEM, time_limit_s=limit_s)
    found = scaled_set(ProblemSet(problems={problem.key: problem}, unusable={}), scale)
    assert not found.problems
    assert re.search(f"^problem 2024/x: time_limit is {words}", str(found.unusable[problem.key]))


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1000", "0.01", "slow", ""])
def test_invalid_scales(text: str) -> None:
    """The message has the given text."""
    with pytest.raises(InputError, match=r"--time-scale .*must be auto, or a number from 0\.1 to 100"):
        read_time_scale(text)


def test_valid_scales() -> None:
    """Any decimal number in the range."""
    assert [read_time_scale(text) for text in ("1", "0.1", "1.25", "1e2")] == [1.0, 0.1, 1.25, 100.0]
