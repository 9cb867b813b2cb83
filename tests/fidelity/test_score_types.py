"""Which tests run after a zero, for each score type, in a real box."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.model import ScoreType, Subtask

ECHO = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n << std::endl; return n == 9; }\n"


@pytest.mark.parametrize(
    ("score_type", "score", "verdicts"),
    [
        (ScoreType.GROUP_MIN, 0.0, ["AC", "WA", "SKIPPED", "SKIPPED"]),
        (ScoreType.GROUP_THRESHOLD, 0.0, ["AC", "WA", "SKIPPED", "SKIPPED"]),
        (ScoreType.SUM, 50.0, ["AC", "WA", "RE", "AC"]),
    ],
)
def test_what_runs_after_a_zero(
    full_bench: Any, problem_from: Any, score_type: ScoreType, score: float, verdicts: list[str]
) -> None:
    """With Sum, all tests run after a zero, also in the same box. With other score types, the rest is SKIPPED."""
    tests = {"a": (b"1", b"1"), "b": (b"2", b"0"), "c": (b"9", b"9"), "d": (b"3", b"3")}
    subtasks = (Subtask(name="all", points=100.0, tests=tuple(tests), threshold=1.0),)
    problem = replace(problem_from(tests), subtasks=subtasks, score_type=score_type)
    result = full_bench.result(problem, ECHO, exhaustive=False)
    assert result.score == score
    assert [test.verdict for test in result.subtasks[0].tests] == verdicts
