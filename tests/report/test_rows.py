"""Results as rows."""

from __future__ import annotations

import datetime
import decimal
import json
from dataclasses import replace
from typing import Any

import orjson
import pandas as pd
import pytest

from ioi_eval.config import Unscored
from ioi_eval.model import (
    CompileOutcome,
    SourceFile,
    Submission,
    Subtask,
    TestOutcome,
    Verdict,
)
from ioi_eval.report.groups import Grouping
from ioi_eval.report.result_values import name_columns, submission_of
from ioi_eval.report.rows import (
    CONTEST_RESULT_COLUMNS,
    JudgedSubmission,
    ResultColumns,
    refused_row,
    result_row,
    to_json,
)
from ioi_eval.report.schema_check import wrong_value
from ioi_eval.report.totals import distinct_outcomes, judge_error
from ioi_eval.scores import submission_result
from tests.small_problems import small_problem

PROBLEM = small_problem(
    subtasks=(Subtask(name="a", points=33.33, tests=("1", "2")), Subtask(name="b", points=66.67, tests=("2", "3"))),
)
COMPILED = CompileOutcome(verdict=None)


def judged(scores: str, compiled: CompileOutcome = COMPILED) -> JudgedSubmission:
    """A submission with these scores of the tests. `?` is a judge error."""
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
    return JudgedSubmission(problem=PROBLEM, submission=submission, fingerprint="f", result=result)


def test_almost_right_is_not_solved() -> None:
    """The reference rounds 0.9999 to 1.0. Here the score is the unrounded minimum."""
    row = result_row({}, judged("0.9999 1 1"), target_subtask="a")
    assert row["target_subtask_score"] == 0.9999
    assert row["target_subtask_status"] == "PA"
    assert row["all_subtasks_results"][0]["weighted_score"] == 33.33


def test_the_total_is_rounded_once() -> None:
    """From the unrounded sum: 0.5 × 33.33 + 0.5 × 66.67 is 50, and not 16.66 + 33.34 for example."""
    row = result_row({}, judged("0.5 0.5 0.5"), target_subtask=None)
    assert row["all_subtasks_points"] == row["total_score"] == 50.0
    assert row["target_subtask_score"] is None


@pytest.mark.parametrize(("unscored", "blank", "total"), [(Unscored.NULL, None, None), (Unscored.ZERO, 0.0, 33.33)])
def test_a_missing_score_is_null_or_zero(unscored: Unscored, blank: float | None, total: float | None) -> None:
    """By `unscored`. The verdict is JE in both cases."""
    one = judged("1 1 ?")
    row = ResultColumns.of(one, unscored=unscored).row({}, one, target_subtask="b", reason="")
    assert (row["target_subtask_score"], row["total_score"], row["verdict"]) == (blank, total, "JE")
    assert row["error"] == "test 3: checker crashed"
    assert row["all_subtasks_results"][1]["test_results"][1]["score"] is None


def test_a_zero_decides_over_a_je() -> None:
    """A decided subtask has a score and no error."""
    one = judged("? 0 1")
    assert one.result.score == 0
    assert judge_error(one.result) is None


@pytest.mark.parametrize(
    ("verdict", "compiles", "score"), [(Verdict.CE, False, 0), (Verdict.NC, False, 0), (Verdict.JE, None, None)]
)
def test_whether_the_code_compiles(verdict: Verdict, compiles: bool | None, score: float | None) -> None:
    """True, false, or null if it is not known."""
    outcome = judged("", CompileOutcome(verdict=verdict, message="words"))
    row = result_row({"generation": "I do not know."}, outcome, target_subtask="a")
    assert (row["code_compiles"], row["total_score"], row["compile_message"]) == (compiles, score, "words")
    assert row["target_subtask_status"] == verdict
    expected = "JE" if verdict is Verdict.JE else "SKIPPED"
    assert {t["status"] for s in row["all_subtasks_results"] for t in s["test_results"]} == {expected}


def test_every_kind_of_row_has_the_same_columns() -> None:
    """Tables need that."""
    columns = {*CONTEST_RESULT_COLUMNS, "uuid"}
    assert result_row({"uuid": "u"}, judged("1 1 1"), target_subtask=None).keys() == columns - {"tests_id"}
    assert refused_row({"uuid": "u"}, "unknown problem").keys() == columns


THEIRS = {
    "target_subtask_score": 1.0,
    "target_subtask_status": "AC",
    "code_compiles": True,
    "all_subtasks_points": 100.0,
    "all_subtasks_results": [{"subtask": "a", "score": 1.0}],
    "verdict": "AC",
}
"""What a dump has that is made of somebody's results."""


def test_result_columns_of_a_dump_are_renamed() -> None:
    """Otherwise a row that was not judged would show another program's result as ours."""
    theirs = {"code": "int main() {}", "target_subtask": "a"}
    refused = refused_row({"uuid": "u", **theirs, **THEIRS}, "unknown problem")
    assert {name: refused[f"dump_{name}"] for name in THEIRS} == THEIRS
    assert [refused[name] for name in THEIRS] == [None, None, None, None, [], None]
    assert {name: refused[name] for name in theirs} == theirs
    row = result_row({"uuid": "u", **THEIRS}, judged("0 0 0"), target_subtask=None)
    assert (row["all_subtasks_points"], row["dump_all_subtasks_points"]) == (0.0, 100.0)


def test_no_column_of_the_dump_is_lost() -> None:
    """If the dump has a column with the new name of another one, it gets a new name itself."""
    dump = {"dump_verdict": 1, "verdict": 2, "dump_dump_verdict": 3, "dump_code": 4, "dump_error": 5}
    row = result_row(dump, judged("1 1 1"), target_subtask=None)
    renamed = {"dump_verdict": 2, "dump_dump_verdict": 1, "dump_dump_dump_verdict": 3, "dump_code": 4, "dump_error": 5}
    assert {name: value for name, value in row.items() if name.startswith("dump_")} == renamed
    assert [Grouping(columns=(name,)).labels(row) for name in dump] == [("1",), ("2",), ("3",), ("4",), ("5",)]


SIMILAR = {"uuid": "a1", "dump_uuid": None, "model": "o3", "dump_model": "x", "m.n": "y", "dump_m.n": "x"}
"""Columns of a dump of which none has the name of a result column, so that results do not rename them."""


@pytest.mark.parametrize("is_judged", [True, False], ids=["judged", "refused"])
def test_a_column_with_a_similar_name_is_not_read(is_judged: bool) -> None:
    """Only `dump_<name>` of a result column is the dump's column; `score` is a result column only for APPS."""
    dump = {**SIMILAR, "score": 1, "dump_score": 2, "verdict": "old", "dump_verdict": "older"}
    row = result_row(dump, judged("1 1 1"), target_subtask=None) if is_judged else refused_row(dump, "unknown problem")
    assert submission_of({name: row[name] for name in name_columns("uuid") if name in row}, "uuid") == "a1"
    by = Grouping(columns=("model", "m.n", "score", "verdict", "dump_verdict"))
    read = {name: row[name] for name in by.needed if name in row}
    assert by.labels(dump) == by.labels(read) == ("o3", "y", "1", "old", "older")


def test_results_of_an_earlier_judging_are_replaced() -> None:
    """A results file can be judged again. A row that is refused then has no score left."""
    earlier = result_row({"uuid": "u"}, judged("1 1 1"), target_subtask="a")
    refused = refused_row(earlier, "unknown problem")
    assert refused == refused_row({"uuid": "u", "code": "int main() {}", "target_subtask": "a"}, "unknown problem")


def test_a_test_of_several_subtasks_counts_once() -> None:
    """For CPU time and system calls. A test that was skipped in one subtask and ran in another counts as run."""
    result = judged("0 1 1").result
    assert [s.tests[1 - n].verdict for n, s in enumerate(result.subtasks)] == [Verdict.SKIPPED, Verdict.AC]
    assert sorted(outcome.test for outcome in distinct_outcomes(result)) == ["1", "2", "3"]


def test_the_judged_code_is_in_the_row() -> None:
    """As it was extracted, and with added includes if that was requested."""
    one = judged("1 1 1")
    mended = replace(one, submission=replace(one.submission, fixes=("includes",)))
    row = result_row({"generation": "```cpp\nint main() {}\n```"}, mended, target_subtask=None)
    assert (row["code"], row["extraction"], row["fixes"]) == ("int main() {}", "fence:cpp", ["includes"])


def test_a_program_with_several_files_keeps_its_files() -> None:
    """Joined to one text it would be another program when the row is judged again."""
    one = judged("1 1 1")
    files = {"first.cpp": "int a;", "second.cpp": "int b;"}
    sources = tuple(SourceFile(path=name, content=text.encode()) for name, text in files.items())
    several = replace(one, submission=replace(one.submission, code="int a;\nint b;", sources=sources))
    for stated in (files, [list(file) for file in files.items()]):
        row = result_row({"code": stated}, several, target_subtask=None)
        assert row["code"] == stated
        assert wrong_value("result", {**row, "tests_id": None}) is None
    beside = result_row({"source_files": files, "code": None}, several, target_subtask=None)
    assert (beside["code"], beside["source_files"]) == ("int a;\nint b;", files)


@pytest.mark.parametrize(
    ("verdict", "limit", "expected"),
    [
        (Verdict.TLE, "idle", "idle"),
        (Verdict.TLE, None, "cpu"),
        (Verdict.MLE, None, "memory"),
        (Verdict.WA, None, None),
    ],
)
def test_the_exceeded_limit(verdict: Verdict, limit: str | None, expected: str | None) -> None:
    """Also if the program ended by itself a little late. Whether it was stopped before that is chance."""
    outcomes = {name: TestOutcome(test=name, verdict=verdict, score=0.0, limit=limit) for name in "123"}
    submission = Submission(id="u", problem=PROBLEM.key, code="x")
    result = submission_result(PROBLEM, submission, COMPILED, outcomes)
    row = result_row({}, replace(judged("0 0 0"), result=result), target_subtask=None)
    assert row["all_subtasks_results"][0]["test_results"][0]["limit"] == expected


def test_all_values_of_a_table_are_written() -> None:
    """Dates, decimals, bytes, keys that are no texts, integers beyond 64 bits: none of them may end a
    run after hours.
    """
    row: dict[Any, Any] = {"when": datetime.date(2024, 9, 1), "price": decimal.Decimal("1.5"), "raw": b"\xff\x41"}
    row[7] = "seven"
    assert json.loads(to_json(row)) == {"when": "2024-09-01", "price": "1.5", "raw": "�A", "7": "seven"}
    assert json.loads(to_json({**row, "big": 10**30}))["big"] == "1" + 30 * "0"
    assert json.loads(to_json({**row, "error": "d\udcff.jsonl, row 1"}))["error"] == "d?.jsonl, row 1"
    assert to_json(row).count(b"\n") == 1
    times = {"when": datetime.datetime(2024, 9, 1, 12), "exactly": pd.Timestamp("2024-09-01 12:00:00.000000001")}
    for number in (1, 10**30):
        written = json.loads(to_json({**times, "number": number}))
        assert written["when"] == "2024-09-01T12:00:00"
        assert written["exactly"] == "2024-09-01T12:00:00.000000001"


def test_integers_of_any_size_are_written() -> None:
    """Beyond 64 bits they are texts: readers would round them to doubles, and two ids could become one. Longer ones are
    not written whole. NaN and infinity are null.
    """
    for exact in (-(2**63), 2**64 - 1):
        assert orjson.loads(to_json({"a": exact, "b": float("nan")})) == {"a": exact, "b": None}
        assert orjson.loads(to_json({"a": exact, "b": 2**64})) == {"a": exact, "b": "18446744073709551616"}
    assert orjson.loads(to_json({"a": -(2**63) - 1})) == {"a": "-9223372036854775809"}
    assert orjson.loads(to_json({"a": [1 - 2**1023]})) == {"a": [str(1 - 2**1023)]}
    assert orjson.loads(to_json({"a": [-(2**1024)]})) == {"a": ["(an integer of 1025 bits)"]}
    row = {"a": True, "b": [{"c": 10**5000}], "d": "x", "e": [float("nan"), float("inf")]}
    assert to_json(row) == b'{"a": true, "b": [{"c": "(an integer of 16610 bits)"}], "d": "x", "e": [null, null]}\n'
