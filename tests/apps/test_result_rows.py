"""The result rows of a dump of Python programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.dump_reader import AppsDumpReader, JudgeableSample
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.result_rows import RESULT_COLUMNS, judged_columns, refused_row, result_row
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.result_store import RecordedResult
from ioi_eval.rows import open_source
from tests.apps_rows import DOUBLE, ROWS, write_rows

THEIRS: dict[str, Any] = {"passed": 1, "total": 1, "resolved": True, "score": 1.0, "verdict": "AC", "codes": [True]}
"""What a dump has that is made of somebody's results."""


def row_of(entry: object, found: RecordedResult[AppsResult]) -> dict[str, Any]:
    """The row of an entry."""
    if isinstance(entry, Refused):
        return refused_row(entry)
    assert isinstance(entry, JudgeableSample)
    return result_row(entry, found)


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """The rows that are written of these, each judged WA if it can be judged."""

    def write(*rows: dict[str, Any]) -> list[dict[str, Any]]:
        catalog = load_catalog(open_source(write_rows(tmp_path / "apps.jsonl", ROWS)))
        dump = open_source(write_rows(tmp_path / "dump.jsonl", rows))
        found = RecordedResult(result=AppsResult(problem="0", verdict=Verdict.WA, passed=0, total=3))
        entries = AppsDumpReader(dump, catalog, fingerprints=lambda *_: ("f",)).entries(whole_rows=True)
        return [row_of(entry, found) for entry in entries]

    return write


@pytest.mark.parametrize("problem", [0, 3, 99], ids=["judged", "broken problem", "unknown problem"])
def test_what_others_found_is_no_result(written: Any, problem: int) -> None:
    """It goes on under another name, above all in the row of a program that was not judged at all."""
    plain, row = written(*({"problem_id": problem, "code": DOUBLE, "model": "m", **more} for more in ({}, THEIRS)))
    assert {name: row[f"dump_{name}"] for name in THEIRS} == THEIRS
    assert {name: row[name] for name in THEIRS} == {name: plain[name] for name in THEIRS}
    assert row["resolved"] is (False if problem == 0 else None)
    assert (row["model"], row["code"], row["problem_id"]) == ("m", DOUBLE, plain["problem_id"])


def test_results_of_an_earlier_judging_are_replaced(written: Any) -> None:
    """A results file can be judged again: what was found the first time is neither kept nor taken over."""
    first, refused = written({"problem_id": 0, "code": DOUBLE}, {"problem_id": 99, "code": DOUBLE})
    again, unknown = written(first | {"resolved": True}, refused | {"resolved": True})
    assert (again["resolved"], unknown["resolved"]) == (False, None)
    assert not [name for name in {**again, **unknown} if name.startswith("dump_")]


def test_columns_of_results_are_named(written: Any) -> None:
    """Of what is written, `RESULT_COLUMNS` is all that is not the dump's or the problem's, whatever became of a row."""
    judged, refused = written({"problem_id": 0, "code": DOUBLE}, {"problem_id": 99, "code": DOUBLE})
    assert judged.keys() == {*RESULT_COLUMNS, "problem_id", "instance_id", "difficulty", "code"}
    assert refused.keys() == {*RESULT_COLUMNS, "problem_id", "code"}


@pytest.mark.parametrize("near", [(), (1,)])
def test_times_near_the_limit_are_marked(near: tuple[int, ...]) -> None:
    """The test, and the program: another machine may say something else."""
    tests = tuple(
        TestOutcome(test=str(n), verdict=Verdict.AC, score=1.0, message="", near_limit=n in near) for n in range(2)
    )
    row = judged_columns(AppsResult(problem="0", verdict=Verdict.AC, passed=2, total=2, tests=tests))
    assert row["near_limit"] is bool(near)
    assert [test["near_limit"] for test in row["test_results"]] == [n in near for n in range(2)]
