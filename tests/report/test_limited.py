"""What counts where only 50 submissions do."""

from __future__ import annotations

import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.model import (
    CompileOutcome,
    Problem,
    ProblemKey,
    Submission,
    Subtask,
    TaskType,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.report.limited import LightRow, limited_score
from ioi_eval.report.rows import Judged, result_row
from ioi_eval.scores import submission_result
from ioi_eval.selection import select, selected_score

PROBLEM = Problem(
    key=ProblemKey(year=2024, id="nile"),
    name="Nile",
    task_type=TaskType.BATCH,
    time_limit_s=1,
    memory_limit_bytes=1 << 28,
    subtasks=tuple(Subtask(name=f"{n}", points=n * 33.33, tests=(f"{n}",)) for n in range(4)),
    tests={f"{n}": TestCase(name=f"{n}", input=b"", answer=b"") for n in range(4)},
    cxx_std="gnu++20",
)

scores = st.sampled_from([0.0, 0.25, 0.3333, 0.9999, 1.0, None])
metadata = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "completion_tokens": st.integers(0, 9),
        "usage": st.fixed_dictionaries({"output_tokens": st.integers(0, 9)}),
    },
)
submissions = st.lists(
    st.tuples(
        st.lists(scores, min_size=4, max_size=4),
        st.sampled_from([None, None, None, Verdict.CE, Verdict.NC]),
        st.sampled_from(["0", "1", "2", "3", "elsewhere", None]),
        metadata,
        st.text(max_size=5),
    ),
    max_size=60,
)


def pair(
    of_tests: list[float | None], compiled: Verdict | None, target: str | None, meta: Any, generation: str
) -> tuple[dict[str, Any], LightRow]:
    """The same submission as a whole row and as a light one."""
    outcomes = {
        f"{n}": TestOutcome(
            test=f"{n}", verdict=Verdict.JE if s is None else Verdict.AC if s == 1 else Verdict.PA, score=s
        )
        for n, s in enumerate(of_tests)
    }
    submission = Submission(id="u", problem=PROBLEM.key, code="x")
    result = submission_result(PROBLEM, submission, CompileOutcome(verdict=compiled), outcomes)
    row = {"metadata": meta, "generation": generation}
    judged = Judged(problem=PROBLEM, submission=submission, fingerprint="f", result=result)
    return result_row(row, judged, target_subtask=target), LightRow(row, PROBLEM, result, target)


@given(submissions)
def test_light_rows_are_chosen_like_whole_ones(made: list[Any]) -> None:
    """Nothing that the choice depends on is lost."""
    pairs = [pair(*one) for one in made]
    whole, light = [one[0] for one in pairs], [one[1] for one in pairs]
    for limit in (5, 50):
        assert select(light, limit) == select(whole, limit)
    assert limited_score(light) == selected_score(whole, select(whole))


def test_a_light_row_is_light() -> None:
    """However long the generation was, and however many tests there were."""
    _, row = pair([1.0] * 4, None, "3", None, "x" * 10**6)
    held = sum(sys.getsizeof(getattr(row, name)) for name in ("_scores", "_length"))
    assert sys.getsizeof(row) + held < 300
