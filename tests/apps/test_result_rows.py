"""The result rows of a dump of Python programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.dump_reader import AppsDumpReader
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.result_rows import APPS_RESULT_COLUMNS, judged_columns, refused_row, result_row
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.pipeline.result_store import RecordedResult
from ioi_eval.report.groups import Grouping
from ioi_eval.report.result_values import submission_of
from ioi_eval.rows import open_source
from tests.apps_rows import DOUBLE, ROWS, write_rows

THEIRS: dict[str, Any] = {"passed": 1, "total": 1, "resolved": True, "score": 1.0, "verdict": "AC", "codes": [True]}
"""What a dump has that is made of somebody's results."""


def row_of(entry: object, found: RecordedResult[AppsResult]) -> dict[str, Any]:
    """The row of an entry."""
    if isinstance(entry, Refused):
        return refused_row(entry)
    assert isinstance(entry, Judgeable)
    return result_row(entry, found, reason="")


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """The result rows for these dump rows. Each is judged WA if it can be judged."""

    def write(*rows: dict[str, Any]) -> list[dict[str, Any]]:
        catalog = load_catalog(open_source(write_rows(tmp_path / "apps.jsonl", ROWS)))
        dump = open_source(write_rows(tmp_path / "dump.jsonl", rows))
        found = RecordedResult(result=AppsResult(verdict=Verdict.WA, passed=0, total=3))
        entries = AppsDumpReader(dump, catalog, fingerprints=lambda *_: ("f",)).entries(whole_rows=True)
        return [row_of(entry, found) for entry in entries]

    return write


@pytest.mark.parametrize("problem", [0, 3, 99], ids=["judged", "broken problem", "unknown problem"])
def test_result_columns_of_a_dump_are_renamed(written: Any, problem: int) -> None:
    """Otherwise a row that was not judged would show another program's result as ours."""
    plain, row = written(*({"problem_id": problem, "code": DOUBLE, "model": "m", **more} for more in ({}, THEIRS)))
    assert {name: row[f"dump_{name}"] for name in THEIRS} == THEIRS
    assert {name: row[name] for name in THEIRS} == {name: plain[name] for name in THEIRS}
    assert row["resolved"] is (False if problem == 0 else None)
    assert (row["model"], row["code"], row["problem_id"]) == ("m", DOUBLE, plain["problem_id"])


@pytest.mark.parametrize("problem", [0, 99], ids=["judged", "unknown problem"])
def test_a_column_with_a_similar_name_is_not_read(written: Any, problem: int) -> None:
    """Only `dump_<name>` of a result column is the dump's column; `cpu_s` is a result column only of contests."""
    names = {"uuid": "a1", "dump_uuid": "x", "cpu_s": 1, "dump_cpu_s": 2, "score": "old", "dump_score": "older"}
    [row] = written({"problem_id": problem, "code": DOUBLE, **names})
    assert submission_of(row, "uuid") == "a1"
    assert Grouping(columns=("cpu_s", "score", "dump_score")).labels(row) == ("1", "old", "older")


def test_the_id_of_a_problem_is_a_text_in_every_row(written: Any) -> None:
    """Otherwise a table of the results has two groups for one problem: of `0` and of `"0"`."""
    rows = written(
        {"problem_id": 0, "code": DOUBLE}, {"problem_id": 0, "messages": "no list"}, {"problem_id": 99, "code": DOUBLE}
    )
    assert [(row["problem_id"], row["error"] is None) for row in rows] == [("0", True), ("0", False), ("99", False)]


def test_no_row_looks_like_a_result_of_a_contest(written: Any) -> None:
    """A dump may have been made from such results. Readers know them by one of their columns."""
    for row in written(*({"problem_id": n, "code": DOUBLE, "all_subtasks_results": True} for n in (0, 99))):
        assert "all_subtasks_results" not in row
        assert row["dump_all_subtasks_results"] is True


def test_results_of_an_earlier_judging_are_replaced(written: Any) -> None:
    """A results file can be judged again. The earlier results are neither kept nor renamed."""
    first, refused = written({"problem_id": 0, "code": DOUBLE}, {"problem_id": 99, "code": DOUBLE})
    again, unknown = written(first | {"resolved": True}, refused | {"resolved": True})
    assert (again["resolved"], unknown["resolved"]) == (False, None)
    assert not [name for name in {**again, **unknown} if name.startswith("dump_")]


def test_results_of_a_row_with_several_programs_can_be_judged_again(written: Any) -> None:
    """Each has an id of its own, in the column of ids too."""
    results = written({"problem_id": 0, "uuid": "a", "code": [DOUBLE, None], "generation": ["x", "y"]})
    assert [(row["uuid"], row["generation"]) for row in results] == [("a/0", "x"), ("a/1", "y")]
    assert [row["submission"] for row in written(*results)] == ["a/0", "a/1"]


def test_result_columns_are_complete(written: Any) -> None:
    """`APPS_RESULT_COLUMNS` has all written columns that are not the dump's or the problem's, for every kind of row."""
    judged, refused = written({"problem_id": 0, "code": DOUBLE}, {"problem_id": 99, "code": DOUBLE})
    assert judged.keys() == {*APPS_RESULT_COLUMNS, "problem_id", "instance_id", "difficulty", "code"}
    assert refused.keys() == {*APPS_RESULT_COLUMNS, "problem_id", "code"}


@pytest.mark.parametrize("near", [(), (1,)])
def test_times_near_the_limit_are_marked(near: tuple[int, ...]) -> None:
    """The test and the program are marked, because another machine may give another verdict."""
    tests = tuple(
        TestOutcome(test=str(n), verdict=Verdict.AC, score=1.0, message="", near_limit=n in near) for n in range(2)
    )
    row = judged_columns(AppsResult(verdict=Verdict.AC, passed=2, total=2, tests=tests))
    assert row["near_limit"] is bool(near)
    assert [test["near_limit"] for test in row["test_results"]] == [n in near for n in range(2)]
