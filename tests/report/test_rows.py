"""Results as rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

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
from ioi_eval.report.rows import (
    OUR_COLUMNS,
    REFERENCE_COLUMNS,
    Judged,
    Unscored,
    distinct_outcomes,
    judge_error,
    refused_row,
    result_row,
)
from ioi_eval.scores import submission_result

PROBLEM = Problem(
    key=ProblemKey(year=2024, id="nile"),
    name="Nile",
    task_type=TaskType.BATCH,
    time_limit_s=1,
    memory_limit_bytes=1 << 28,
    subtasks=(Subtask(name="a", points=33.33, tests=("1", "2")), Subtask(name="b", points=66.67, tests=("2", "3"))),
    tests={name: TestCase(name=name, input=b"", answer=b"") for name in "123"},
    cxx_std="gnu++20",
)
COMPILED = CompileOutcome(verdict=None)


def judged(scores: str, compiled: CompileOutcome = COMPILED) -> Judged:
    """A submission with these scores of the tests; `?` is a judge error."""
    outcomes = {
        name: TestOutcome(
            test=name,
            verdict=Verdict.JE if score is None else Verdict.AC if score == 1 else Verdict.PA if score else Verdict.WA,
            score=score,
            message="checker crashed" if score is None else "",
        )
        for name, score in zip("123", [None if s == "?" else float(s) for s in scores.split()], strict=False)
    }
    submission = Submission(id="u", problem=PROBLEM.key, code="int main() {}", extraction="fence:cpp")
    result = submission_result(PROBLEM, submission, compiled, outcomes)
    return Judged(problem=PROBLEM, submission=submission, fingerprint="f", result=result)


def test_almost_right_is_not_solved() -> None:
    """The reference rounds 0.9999 to 1.0; the score here is the minimum as it is."""
    row = result_row({}, judged("0.9999 1 1"), target_subtask="a")
    assert row["target_subtask_score"] == 0.9999
    assert row["target_subtask_status"] == "PA"
    assert row["all_subtasks_results"][0]["weighted_score"] == 33.33


def test_the_total_is_rounded_once() -> None:
    """From the unrounded sum: 0.5 × 33.33 + 0.5 × 66.67 is 50, not 16.66 + 33.34 or so."""
    row = result_row({}, judged("0.5 0.5 0.5"), target_subtask=None)
    assert row["all_subtasks_points"] == row["total_score"] == 50.0
    assert row["target_subtask_score"] is None


@pytest.mark.parametrize(("unscored", "blank", "total"), [(Unscored.NULL, None, None), (Unscored.ZERO, 0.0, 33.33)])
def test_what_is_not_known_is_null_or_zero_as_asked(
    unscored: Unscored, blank: float | None, total: float | None
) -> None:
    """And the verdict says JE in both cases."""
    row = result_row({}, judged("1 1 ?"), target_subtask="b", unscored=unscored)
    assert (row["target_subtask_score"], row["total_score"], row["verdict"]) == (blank, total, "JE")
    assert row["error"] == "test 3: checker crashed"
    assert row["all_subtasks_results"][1]["test_results"][1]["score"] is None


def test_a_zero_beats_a_judge_error() -> None:
    """What is decided has a score and no error."""
    one = judged("? 0 1")
    assert one.result.score == 0
    assert judge_error(one.result) is None


@pytest.mark.parametrize(
    ("verdict", "compiles", "score"), [(Verdict.CE, False, 0), (Verdict.NC, False, 0), (Verdict.JE, None, None)]
)
def test_whether_the_code_compiles(verdict: Verdict, compiles: bool | None, score: float | None) -> None:
    """Yes, no, or we do not know."""
    row = result_row({}, judged("", CompileOutcome(verdict=verdict, message="words")), target_subtask="a")
    assert (row["code_compiles"], row["total_score"], row["compile_message"]) == (compiles, score, "words")
    assert row["target_subtask_status"] == verdict
    assert {t["status"] for s in row["all_subtasks_results"] for t in s["test_results"]} == {"SKIPPED"}


def test_every_kind_of_row_has_the_same_columns() -> None:
    """Tables want that."""
    columns = {*REFERENCE_COLUMNS, *OUR_COLUMNS, "uuid"}
    assert result_row({"uuid": "u"}, judged("1 1 1"), target_subtask=None).keys() == columns
    assert refused_row({"uuid": "u"}, "unknown problem").keys() == columns


def test_a_test_of_several_subtasks_counts_once() -> None:
    """For CPU time and system calls; one that was skipped somewhere but ran elsewhere did run."""
    result = judged("0 1 1").result
    assert [s.tests[1 - n].verdict for n, s in enumerate(result.subtasks)] == [Verdict.SKIPPED, Verdict.AC]
    assert sorted(outcome.test for outcome in distinct_outcomes(result)) == ["1", "2", "3"]


def test_the_judged_code_is_in_the_row() -> None:
    """As it was extracted, and mended if that was asked for."""
    one = judged("1 1 1")
    mended = replace(one, submission=replace(one.submission, fixes=("includes",)))
    row = result_row({"generation": "```cpp\nint main() {}\n```"}, mended, target_subtask=None)
    assert (row["code"], row["extraction"], row["fixes"]) == ("int main() {}", "fence:cpp", ["includes"])
