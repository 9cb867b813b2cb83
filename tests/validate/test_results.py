"""Another judge's results compared with ours: points at its precision, its statuses, and its rule for subtasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.config import Unscored
from ioi_eval.errors import InputError, NotReadWarning, RowError
from ioi_eval.model import (
    CompileOutcome,
    Submission,
    SubmissionResult,
    Verdict,
)
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.row import Row
from ioi_eval.report.rows import JudgedSubmission, ResultColumns, result_row
from ioi_eval.validate.results import STATUSES, Difference, differences, read_as, stated_result, was_refused
from ioi_eval.validate.statements import read_solutions
from tests.row_files import Rows
from tests.scored import judge, outcome, result_of, sampled_problem

PROBLEM = sampled_problem(33, 67)
SUBMISSION = Submission(id="s", problem=PROBLEM.key, code="x")


def ours(*verdicts: str, **messages: str) -> SubmissionResult:
    """Our result with these verdicts of the three tests, all of them run."""
    outcomes = {
        name: outcome(name, v, message=messages.get(f"m{name}", "")) for name, v in zip("123", verdicts, strict=True)
    }
    return result_of(PROBLEM, outcomes, keep_all=True)


def theirs(*subtasks: Mapping[str, Any], **columns: Any) -> Row:
    """A row of the reference's results."""
    return Row(source="results", number=7, values={"all_subtasks_results": list(subtasks), **columns})


def found(row: Row, result: SubmissionResult) -> list[Difference | None]:
    """The differences between them, one entry for each statement."""
    return list(differences(stated_result(row, PROBLEM), result))


def sub(status: str, tests: Mapping[str, str] | None = None, name: str = "02", **other: Any) -> dict[str, Any]:
    """The entry of a subtask. Tests that are not given were skipped."""
    results = [] if tests is None else [{"test_name": n, "status": s, "score": 0.0} for n, s in tests.items()]
    return {"subtask": name, "status": status, **({} if tests is None else {"test_results": results}), **other}


def test_points_statuses_and_total_are_statements() -> None:
    """Each is counted. For each difference the stated and the observed value is reported."""
    row = theirs(
        sub("AC", name="00-samples", weighted_score=0.0),
        sub("PA", name="01", weighted_score=16.5),
        sub("TLE", weighted_score=67.0),
        all_subtasks_points=83.5,
    )
    assert stated_result(row, PROBLEM).statements == 7
    differing = [one for one in found(row, ours("AC", "PA", "WA", m3="Output isn't correct")) if one is not None]
    assert [(one.subtask.subtask if one.subtask else None, one.stated, one.seen) for one in differing] == [
        ("02", "67 points", "0 points"),
        ("02", "TLE", "WA"),
        (None, "83.5 points", "16.5 points"),
    ]


def test_points_are_compared_at_the_stated_precision() -> None:
    """A weighted score is compared to the last digit; a rounded score times the points, and a sum of rounded scores,
    less precisely.
    """
    third = judge(PROBLEM, 1 / 3, 1 / 3, 1 / 3, keep_all=True)
    entries: list[tuple[dict[str, Any], bool]] = [
        ({"weighted_score": 22.33}, True),
        ({"weighted_score": 22.34}, False),
        ({"score": 0.33, "points": 67}, True),
        ({"score": 0.32, "points": 67}, False),
        ({"score": 0.0, "points": 67}, False),
        ({"weighted_score": 67 / 3 + 0.0049}, True),
        ({"weighted_score": 67 / 3 - 0.0049}, True),
        ({"weighted_score": 67 / 3 + 0.0051}, False),
        ({"weighted_score": 67 / 3 - 0.0051}, False),
    ]
    for entry, agrees in entries:
        (one,) = found(theirs(sub("SKIPPED", **entry)), third)
        assert (one is None) == agrees, entry
    for total, agrees in ((33.33, True), (33.34, True), (33.4, False)):
        (one,) = found(theirs(all_subtasks_points=total), third)
        assert (one is None) == agrees, total
    for incomplete in ({"score": 0.0}, {"points": 67}):
        assert found(theirs(sub("SKIPPED", **incomplete)), third) == []


@pytest.mark.parametrize(
    ("status", "verdicts"),
    [
        ("AC", {"AC"}),
        ("PA", {"PA"}),
        ("WA", {"WA"}),
        ("TLE", {"TLE", "OLE"}),
        ("MLE", {"MLE"}),
        ("RE", {"RE", "MLE", "SV", "OLE"}),
        ("CE", {"CE"}),
        ("unheard of", set()),
    ],
)
def test_verdicts_of_each_status(status: str, verdicts: set[str]) -> None:
    """The inverse of the module's table. Every verdict is tried."""
    assert {str(v) for v in Verdict if status in read_as(v, "Output isn't correct")} == verdicts


def test_other_messages_may_be_a_runtime_error_in_the_reference() -> None:
    """The reference recognises a wrong answer only by CMS's standard messages."""
    assert read_as(Verdict.WA, "Output isn't correct: too many calls") == ("WA",)
    assert set(read_as(Verdict.WA, "Protocol Violation")) == {"WA", "RE"}
    assert found(theirs(sub("RE")), ours("AC", "AC", "WA", m3="Protocol Violation")) == [None]
    assert found(theirs(sub("RE")), ours("AC", "AC", "WA", m3="Output isn't correct")) != [None]
    for verdict in (Verdict.AC, Verdict.PA, Verdict.TLE):
        assert "RE" not in read_as(verdict, "Protocol Violation")


def test_the_reference_s_subtask_status_is_that_of_its_worst_test() -> None:
    """It may know a later test from another subtask, and then skips the earlier ones, so its status can differ from our
    verdict.
    """
    result = ours("AC", "TLE", "WA", m3="Output isn't correct")
    assert result.subtasks[2].verdict is Verdict.TLE
    assert found(theirs(sub("WA", {"2": "SKIPPED", "3": "WA"})), result) == [None]
    assert found(theirs(sub("WA", {"2": "TLE", "3": "WA"})), result) == [None]
    assert found(theirs(sub("TLE", {"2": "TLE", "3": "SKIPPED"})), result) == [None]
    (one,) = found(theirs(sub("WA", {"2": "WA", "3": "SKIPPED"})), result)
    assert one is not None
    assert (one.stated, one.seen, one.test) == ("WA", "TLE", "2")
    (one,) = found(theirs(sub("WA")), result)  # without its tests only our own verdict is known
    assert one is not None


def test_a_status_with_two_readings_agrees_in_either() -> None:
    """A program over its memory limit is MLE or RE in the reference. With a wrong answer, the worst status may be RE or
    WA.
    """
    result = ours("AC", "MLE", "WA", m3="Output isn't correct")
    tests = {"2": "x", "3": "x"}
    assert found(theirs(sub("RE", tests)), result) == [None]
    assert found(theirs(sub("WA", tests)), result) == [None]
    assert found(theirs(sub("MLE", tests)), result) != [None]
    assert found(theirs(sub("AC", tests)), result) != [None]


def test_a_status_that_the_reference_does_not_have() -> None:
    """It agrees with no verdict of ours."""
    for verdict in ("AC", "WA"):
        (one,) = found(theirs(sub("IE", {"2": "AC", "3": "IE"})), ours("AC", "AC", verdict))
        assert one is not None
        assert (one.stated, one.seen) == ("IE", verdict)


def test_je_and_skipped_are_no_statements() -> None:
    """They neither agree nor disagree. Nor do nulls, which our own results have for a JE."""
    row = theirs(sub("SKIPPED", {"2": "SKIPPED", "3": "SKIPPED"}, weighted_score=None), all_subtasks_points=None)
    assert found(row, ours("AC", "AC", "AC")) == []
    full = theirs(sub("WA", {"2": "WA"}, weighted_score=0.0), all_subtasks_points=0.0)
    assert found(full, ours("AC", "JE", "AC")) == []
    assert found(theirs(sub("WA")), ours("AC", "JE", "AC")) == []
    later = ours("AC", "WA", "JE")
    assert later.subtasks[2].verdict is Verdict.WA
    assert found(theirs(sub("RE", {"2": "WA", "3": "RE"})), later) == []


def test_only_rows_of_ours_can_be_refused() -> None:
    """Another judge's row without a verdict has statements, which would not be compared."""
    judged = JudgedSubmission(problem=PROBLEM, submission=SUBMISSION, fingerprint="f", result=ours("AC", "AC", "AC"))
    of_ours = result_row({}, judged, target_subtask=None)
    for values, refused in ((of_ours, False), ({**of_ours, "verdict": None}, True)):
        assert was_refused(Row(source="ours", number=1, values=values)) is refused
    assert not was_refused(theirs(sub("AC"), verdict=None))


def test_a_score_of_je_is_no_statement_if_it_is_written_as_0() -> None:
    """With `score --unscored-as zero` a subtask that we failed to judge has 0 points, which was compared."""
    judged = JudgedSubmission(problem=PROBLEM, submission=SUBMISSION, fingerprint="f", result=ours("AC", "AC", "JE"))
    values = ResultColumns.of(judged, unscored=Unscored.ZERO).row({}, judged, target_subtask=None, reason="")
    assert (values["verdict"], values["all_subtasks_points"]) == ("JE", 33.0)
    row = Row(source="ours", number=1, values=values)
    assert stated_result(row, PROBLEM).statements == 4  # the points and the status of the other two subtasks
    assert found(row, ours("AC", "AC", "AC")) == [None] * 4


def test_programs_that_do_not_compile() -> None:
    """CE is compared. Without code the reference skips all tests and gives no points."""
    for verdict, status in ((Verdict.CE, "CE"), (Verdict.NC, "SKIPPED")):
        result = result_of(PROBLEM, {}, compiled=CompileOutcome(verdict=verdict))
        row = theirs(sub(status, {"2": status, "3": "SKIPPED"}, weighted_score=0.0), all_subtasks_points=0)
        assert all(one is None for one in found(row, result))
    result = result_of(PROBLEM, {}, compiled=CompileOutcome(verdict=Verdict.CE))
    assert found(theirs(sub("WA", {"2": "WA"})), result) != [None]


def test_our_own_results_agree_only_with_themselves() -> None:
    """Their statuses are our verdicts: MLE is not RE."""
    results = [ours("AC", "PA", "MLE"), ours("AC", "OLE", "SV"), ours("WA", "RE", "TLE"), ours("AC", "AC", "AC")]
    for one in results:
        judged = JudgedSubmission(problem=PROBLEM, submission=SUBMISSION, fingerprint="f", result=one)
        row = Row(source="ours", number=1, values=result_row({}, judged, target_subtask=None))
        stated = stated_result(row, PROBLEM)
        assert stated.statements == 7
        for other in results:
            assert all(d is None for d in differences(stated, other)) == (other is one)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (theirs(sub("AC", name="09")), "names 09, but problem 2024/nile has the subtasks 00-samples, 01, 02"),
        (theirs("AC"), "entry 1 of all_subtasks_results is not an object"),  # type: ignore[arg-type]
        (theirs({"status": "AC"}), "subtask is missing"),
        (theirs(sub("AC", weighted_score="7")), "weighted_score is '7'; it must be a finite number"),
        (theirs(sub("AC", test_results=["AC"])), "test_results holds 'AC'; it must hold objects only"),
        (Row(source="results", number=7, values={}), "all_subtasks_results is missing"),
    ],
)
def test_results_in_another_form_are_errors(row: Row, words: str) -> None:
    """The message has row and column."""
    with pytest.raises(RowError, match=r"results, row 7: ") as caught:
        stated_result(row, PROBLEM)
    assert words in str(caught.value)


def test_statuses_are_in_the_order_of_the_reference() -> None:
    """From the worst to the best: the reference uses `min` over them."""
    assert STATUSES == ("CE", "RE", "WA", "MLE", "TLE", "PA", "AC")


# ---------------------------------------------------------------------------------------- reading


KNOWN = ProblemSet(problems={PROBLEM.key: PROBLEM}, unusable={})
BASE = {"year": 2024, "problem_id": "nile", "code": "int main() {}"}
STATED = {"all_subtasks_results": [sub("AC", weighted_score=67.0)], "all_subtasks_points": 100.0}


def test_results_are_matched_by_label_or_id() -> None:
    """A solution with a label is matched by it. Results without a solution are counted."""
    solutions = Rows({**BASE, "label": "correct/a.cpp"}, {**BASE, "uuid": "u1"}, {**BASE, "uuid": "u2"})
    results = Rows(
        {**BASE, **STATED, "uuid": "x", "label": "correct/a.cpp"},
        {**BASE, **STATED, "uuid": "u1"},
        {**BASE, **STATED, "uuid": "u9"},
        {**BASE, **STATED, "uuid": "u1", "problem_id": "tree"},
    )
    stated = read_solutions(solutions, KNOWN, against=results)
    assert [(one.name, one.statements) for one in stated.solutions] == [("correct/a.cpp", 3), ("u1", 3)]
    assert (stated.unstated, stated.unmatched) == (["2024/nile, u2"], 1)


def test_a_named_column_comes_before_the_label() -> None:
    """Labels need not be unique. A row without that column has its label as its name."""
    labelled = {**BASE, **STATED, "label": "brute force"}
    results = Rows({**labelled, "uuid": "u1"}, {**labelled, "uuid": "u2"}, {**labelled, "label": "u3"})
    with pytest.raises(RowError, match="there are two results of brute force for 2024/nile"):
        read_solutions(results, KNOWN, against=results)
    stated = read_solutions(results, KNOWN, id_column="uuid", against=results)
    assert [(solution.name, solution.statements) for solution in stated.solutions] == [("u1", 3), ("u2", 3), ("u3", 3)]


def test_a_solution_without_a_name_is_refused() -> None:
    """The message names both columns, because either is enough."""
    rows = Rows({**BASE, "uuid": "u", "expected": "correct"}, {**BASE, "uuid": None, "expected": "correct"})
    for wanted in (None, "uuid"):
        (refused,) = read_solutions(rows, KNOWN, id_column=wanted).refused
        assert refused.startswith("rows, row 2: the solution has no name: label and uuid are missing or null; the row")


def test_a_misspelled_statement_is_named() -> None:
    """The solution would be compared with its other statements only."""
    row = {**BASE, "uuid": "u", "expected": "correct", "expected_subtask": {}}
    with pytest.warns(NotReadWarning, match=r"rows: column expected_subtask is not read.*expected_subtasks\?$"):
        read_solutions(Rows(row), KNOWN)


def test_empty_texts_state_nothing() -> None:
    """A table made from a CSV file has them for empty cells."""
    empty = {"label": "", "expected": "", "expected_subtasks": "", "expected_total": ""}
    stated = read_solutions(Rows({**BASE, "uuid": "u", **empty}, {**BASE, "uuid": "v", "expected": "AC"}), KNOWN)
    assert (stated.unstated, [solution.name for solution in stated.solutions]) == (["2024/nile, u"], ["v"])


def test_rows_that_cannot_be_judged_and_state_nothing_are_left_out() -> None:
    """Packages have solutions in Java and Pascal. If nothing is stated about one, nothing is missing without it."""
    java = {**BASE, "language": "java", "label": "a.java"}
    stated = read_solutions(Rows(java, {**BASE, "label": "b.cpp", "expected": "AC"}), KNOWN)
    assert (stated.unstated, stated.refused) == (["rows, row 1 (a.java)"], [])
    stated = read_solutions(Rows({**java, "expected": "AC"}), KNOWN)
    assert (stated.unstated, len(stated.refused)) == ([], 1)
    with pytest.raises(InputError, match="states nothing to compare with"):
        read_solutions(Rows(java), KNOWN)


def test_odd_values_are_errors_of_their_rows() -> None:
    """An integer beyond all floats, points that nothing can have, and a conversation that is nested too deeply."""
    for total in ([0, 10**400], "full", {"least": 0}):
        with pytest.raises(RowError, match="expected_total must be points, or a list of two"):
            read_solutions(Rows({**BASE, "uuid": "u", "expected_total": total}), KNOWN)
    with pytest.raises(RowError, match="expected_total has the most points before the least"):
        read_solutions(Rows({**BASE, "uuid": "u", "expected_total": [80, 20]}), KNOWN)
    nested = json.loads("[" * 900 + "]" * 900)
    row = {**BASE, "uuid": "u", "code": None, "messages": nested, "expected": "correct"}
    (refused,) = read_solutions(Rows(row), KNOWN).refused
    assert "messages is nested too deeply" in refused


def test_results_can_be_used_as_solutions() -> None:
    """They have the programs too. A row without a year is for 2024."""
    row = {**BASE, **STATED, "uuid": "u"}
    row.pop("year")
    rows = Rows(row)
    (solution,) = read_solutions(rows, KNOWN, against=rows).solutions
    assert solution.submission.code == BASE["code"]
    assert solution.statements == 3


def test_results_that_match_nothing_are_an_error() -> None:
    """The message says how they are matched. Two results of one solution are an error."""
    with pytest.raises(InputError, match="matched by year, problem_id and name"):
        read_solutions(Rows({**BASE, "uuid": "a"}), KNOWN, against=Rows({**BASE, **STATED, "uuid": "b"}))
    own = Rows({**BASE, "uuid": "a", "expected": "correct"})
    for named in ("b", "a"):
        known = {**BASE, **STATED, "uuid": named, "problem_id": "nile" if named == "b" else "tree"}
        with pytest.raises(InputError, match="rows has no results of the solutions in rows; they are matched by"):
            read_solutions(own, KNOWN, against=Rows(known))
    twice = Rows({**BASE, **STATED, "uuid": "a"}, {**BASE, **STATED, "uuid": "a"})
    with pytest.raises(RowError, match=r"row 2: there are two results of a for 2024/nile"):
        read_solutions(twice, KNOWN, against=twice)


def test_rows_that_score_refused_state_nothing() -> None:
    """They may have no id, no problem, or the id of another row. The other rows of these results are compared."""
    refused: dict[str, Any] = {"verdict": None, "all_subtasks_results": [], "fingerprint": None, "duplicate_of": None}
    results = Rows(
        {**BASE, **STATED, "uuid": "a", "verdict": "AC", "fingerprint": "f", "duplicate_of": None},
        {**BASE, **refused, "uuid": "a"},
        {**BASE, **refused, "uuid": None},
        {**BASE, **refused, "uuid": "b", "problem_id": None},
    )
    (solution,) = read_solutions(Rows({**BASE, "uuid": "a"}), KNOWN, against=results).solutions
    assert (solution.name, solution.statements) == ("a", 3)


def test_an_id_column_with_the_name_of_a_result_column() -> None:
    """Results have it as `dump_<name>`, and something else in the column itself."""
    marks = {"fingerprint": "f", "duplicate_of": None}
    results = Rows({**BASE, **STATED, **marks, "dump_target": "a", "target": "local"})
    for solutions in (Rows({**BASE, "target": "a"}), results):
        (solution,) = read_solutions(solutions, KNOWN, id_column="target", against=results).solutions
        assert (solution.name, solution.submission.id, solution.statements) == ("a", "a", 3)


def test_a_column_with_a_similar_name_is_no_id() -> None:
    """Only columns with the name of a result column are renamed in results."""
    solutions = Rows({**BASE, "uuid": "a", "dump_uuid": "x"}, {**BASE, "uuid": "b", "dump_uuid": "x"})
    results = Rows({**BASE, **STATED, "uuid": "a", "dump_uuid": "x"}, {**BASE, **STATED, "uuid": "b", "dump_uuid": "x"})
    found = read_solutions(solutions, KNOWN, against=results).solutions
    assert [(solution.name, solution.statements) for solution in found] == [("a", 3), ("b", 3)]


def test_difference_of_points_names_the_first_test_that_differs() -> None:
    """It is the place to look for the reason."""
    row = theirs(sub("AC", {"2": "AC", "3": "AC"}, weighted_score=67.0))
    first, second = found(row, ours("AC", "AC", "WA", m3="Output isn't correct"))
    assert first is not None
    assert second is not None
    assert (first.test, second.test) == ("3", "3")
    assert replace(first, test=None).seen == "0 points"


def test_a_row_that_was_not_judged_has_no_statements() -> None:
    """Tables have nulls in such rows."""
    row = Row(source="results", number=7, values={"all_subtasks_results": None, "all_subtasks_points": None})
    assert stated_result(row, PROBLEM).statements == 0
