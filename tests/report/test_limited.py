"""The score if only 50 submissions count."""

from __future__ import annotations

import math
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.model import (
    CompileOutcome,
    Problem,
    Submission,
    SubmissionResult,
    Verdict,
)
from ioi_eval.report.groups import Grouping
from ioi_eval.report.result_sets import open_results
from ioi_eval.report.result_values import light_row
from ioi_eval.report.rows import JudgedSubmission, result_row
from ioi_eval.report.selection_table import selection_table
from ioi_eval.report.summary import ProblemTally
from ioi_eval.selection import ResultRow, SelectionMethod, reasoning_length, select, selected_score
from tests.scored import make_problem, outcomes, result_of
from tests.small_results import contest_row, write_results

PROBLEM = make_problem(*((number * 33.33, f"{number}") for number in range(4)))

scores = st.sampled_from([0.0, 0.25, 0.3333, 0.9999, 1.0, None])
metadata = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "completion_tokens": st.integers(0, 9) | st.just(math.nan),
        "usage": st.fixed_dictionaries({"output_tokens": st.integers(0, 9)}),
    },
)
submissions = st.lists(
    st.tuples(
        st.lists(scores, min_size=4, max_size=4),
        st.sampled_from([None, None, None, Verdict.CE, Verdict.NC, Verdict.JE]),
        st.sampled_from(["00", "01", "02", "03", "elsewhere", None]),
        metadata,
        st.text(max_size=5),
    ),
    max_size=60,
)


def result_for(made: Any) -> SubmissionResult:
    """The result of a submission with these scores of the tests, or with this verdict of the compilation."""
    of_tests, compiled = made[:2]
    found = outcomes("0123", *(Verdict.JE if score is None else score for score in of_tests))
    return result_of(PROBLEM, found, compiled=CompileOutcome(verdict=compiled), submission="u")


def light(row: dict[str, Any], problem: Problem, result: SubmissionResult, target: str | None) -> ResultRow:
    """A light row of a result."""
    compiled = result.compile.verdict
    return light_row(
        compiles=None if compiled is Verdict.JE else compiled is None,
        target_subtask=target,
        subtasks=[
            (each.subtask, each.points, each.score, problem.score_precision, each.weighted_score, each.verdict)
            for each in result.subtasks
        ],
        length=reasoning_length(row),
    )


def pair(
    of_tests: list[float | None], compiled: Verdict | None, target: str | None, meta: Any, generation: str
) -> tuple[dict[str, Any], ResultRow]:
    """The row of a submission in the results, and its light row."""
    result = result_for((of_tests, compiled))
    submission = Submission(id="u", problem=PROBLEM.key, code="x")
    row = {"metadata": meta, "generation": generation}
    judged = JudgedSubmission(problem=PROBLEM, submission=submission, fingerprint="f", result=result)
    return result_row(row, judged, target_subtask=target), light(row, PROBLEM, result, target)


@given(submissions)
def test_light_rows_are_selected_like_result_rows(made: list[Any]) -> None:
    """They have all that the selection depends on."""
    pairs = [pair(*one) for one in made]
    whole, short = [one[0] for one in pairs], [one[1] for one in pairs]
    for limit in (5, 50):
        assert select(short, limit) == select(whole, limit)


@given(submissions)
def test_the_score_of_the_selection_is_rounded_once(made: list[Any]) -> None:
    """Like the total of all submissions. It is at most that total."""
    rows = [pair(*one)[1] for one in made]
    chosen = ProblemTally(problem=PROBLEM)
    selected = select(rows)
    for index in selected:
        chosen.add("u", result_for(made[index]), rows[index])
    assert selected_score(rows, selected) == chosen.sum_of_best_subtasks


def test_a_score_that_was_rounded_to_1_is_not_solved() -> None:
    """In results of the reference it is PA; the subtask keeps its turns."""
    result = result_for(([1.0] * 4, None))
    nearly = replace(result, subtasks=tuple(replace(subtask, verdict=Verdict.PA) for subtask in result.subtasks))
    wrong = result_for(([1.0, 0.0, 0.0, 0.0], None))
    others = [light({}, PROBLEM, wrong, target) for target in ("02", "03", "02")]
    assert select([light({}, PROBLEM, nearly, "03"), *others]) == (0, 1, 2, 3)
    assert select([light({}, PROBLEM, result, "03"), *others]) == (0, 2, 1, 3)  # solved: the rest fills up


def test_thirds_add_up_to_the_whole() -> None:
    """Three times 33.335 is 100. Rounded first, each would be rounded up."""
    problem = make_problem((33.335, "0"), (33.335, "1"), (33.33, "2"))
    result = result_of(problem, outcomes("012", 1.0, 1.0, 1.0), submission="u")
    assert selected_score([light({}, problem, result, None)]) == 100.0


def test_a_light_row_is_small() -> None:
    """For any length of the generation and any number of tests. Equal results and lengths are shared."""
    (_, row), (_, other) = (pair([1.0] * 4, None, "03", None, "x" * 10**6) for _ in range(2))
    assert sys.getsizeof(row) + sys.getsizeof(row["all_subtasks_results"]) < 300
    assert row["metadata"] is other["metadata"]
    pairs = zip(row["all_subtasks_results"], other["all_subtasks_results"], strict=True)
    assert all(first is second for first, second in pairs)


def test_choosing_takes_little_memory(tmp_path: Path) -> None:
    """Rows share their equal results in subtasks: of 2,000 rows with 20 subtasks, the results alone had 16 MB."""
    rows = [contest_row(f"u{number}", *([number % 2, 1.0] * 10)) for number in range(2000)]
    results = open_results(write_results(tmp_path, rows))
    del rows
    tracemalloc.start()
    try:
        methods = [SelectionMethod.ROUND_ROBIN]
        (group,) = selection_table(results, methods, limit=50, seeds=1, grouping=Grouping(), standings=[])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert group["problems"][0]["scores"][SelectionMethod.ROUND_ROBIN].value == 1000
    assert peak < 8_000_000
