"""Which submission is judged next."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from ioi_eval.journal import keys_of
from ioi_eval.model import Problem
from ioi_eval.pipeline.window import CODE_BYTES, ROWS, Candidate, Window
from tests.pipeline.scripted import NILE, TREE

Program: TypeAlias = Candidate[Problem, str]


def candidate(name: str, problem: Problem = NILE, code: str = "int main() {}") -> Program:
    """A waiting submission."""
    return Candidate(
        problem=problem,
        submission=code,
        problem_key=problem.key,
        id=name,
        size=len(code),
        max_s=problem.time_limit_s * len(problem.tests),
        fingerprint=name,
        keys=keys_of(problem.key, name, name),
    )


def taken(window: Window[Program]) -> list[str]:
    """All waiting submissions, in the order of judging."""
    names = []
    while (one := window.take()) is not None:
        names.append(one.id)
    return names


def test_without_measured_times_limits_decide() -> None:
    """The longest possible time of all tests decides. Equal ones are taken in order of arrival."""
    window = Window[Program]()
    slow = replace(TREE, time_limit_s=10)
    for one in (candidate("a"), candidate("b"), candidate("slow", slow)):
        window.put(one)
    assert taken(window) == ["slow", "a", "b"]


def test_measured_times_have_precedence_over_limits() -> None:
    """A problem with a generous limit is not necessarily slow."""
    window = Window[Program]()
    generous = replace(TREE, time_limit_s=100)
    window.put(candidate("generous", generous))
    window.put(candidate("a"))
    window.observe(generous.key, 0.5)
    window.observe(generous.key, 1.5)
    window.observe(NILE.key, 1.25)
    assert window.expected_s(candidate("x", generous)) == 1.0
    assert taken(window) == ["a", "generous"]


def has_room(window: Window[Program]) -> bool:
    """Whether there is space now."""
    return not window.full


def test_a_window_is_limited_by_rows_and_by_bytes() -> None:
    """Programs of megabytes fill it as many rows do. One program always fits."""
    window = Window[Program]()
    assert has_room(window)
    window.put(candidate("large", code="x" * CODE_BYTES))
    assert not has_room(window)
    assert window.take() is not None
    assert has_room(window)
    for number in range(ROWS):
        assert has_room(window)
        window.put(candidate(str(number)))
    assert not has_room(window)
