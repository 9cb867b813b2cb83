"""Names in reports: of verdicts, and of problems and submissions."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import Verdict
from ioi_eval.report.result_values import (
    VERDICT_NAMES,
    deciding_test_name,
    problem_name_of,
    share_of,
    submission_of,
    with_our_columns,
)
from tests.small_results import apps_row, contest_row

DOCS = Path(__file__).parents[2] / "docs" / "verdicts.md"


def test_documentation_has_the_same_verdict_names() -> None:
    """Each verdict has a line with its name in the table of `docs/verdicts.md`, and no other line exists."""
    listed = re.findall(r"^\| ([A-Z]+) \| ([a-z ]+) \| .+ \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(listed) == VERDICT_NAMES
    assert len(listed) == len(Verdict)


def graded(verdict: str | None, **subtasks: tuple[str, str]) -> dict[str, Any]:
    """A row of results: for each subtask its verdict, and the verdicts of its tests with their scores."""
    return contest_row("x", verdict=verdict) | {
        "all_subtasks_results": [
            {
                "status": status,
                "test_results": [
                    {"test_name": f"{name}-{number}", "status": each, "score": float(score) if score else None}
                    for number, (each, _, score) in enumerate(test.partition(":") for test in tests.split())
                ],
            }
            for name, (status, tests) in subtasks.items()
        ]
    }


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (graded("WA", a=("WA", "AC:1 PA:0.5 WA:0 SKIPPED")), "a-2"),
        (graded("WA", a=("PA", "AC:1 PA:0.5 PA:0.2 PA:0.2"), b=("WA", "PA:0.1 WA:0"), c=("WA", "WA:0")), "b-1"),
        (graded("PA", a=("PA", "AC:1 PA:0.5 PA:0.2 PA:0.2"), b=("AC", "AC:1")), "a-2"),
        (graded("RE", a=("TLE", "TLE:0 SKIPPED"), b=("RE", "RE:0")), "b-0"),
        (graded(None, a=("AC", "AC:1"), b=("TLE", "TLE:0"), c=("WA", "WA:0")), "b-0"),
        (graded("WA", a=("WA", "PA:0.2 PA:0.8 PA:0.3")), "a-1"),  # GroupThreshold
        (graded("WA", a=("WA", "RE:0 WA:0.4")), "a-1"),  # GroupThreshold
        (graded("JE", a=("JE", "PA:0.2 JE: AC:1")), "a-1"),
        (graded("AC", a=("AC", "PA:0.2 AC:1")), None),  # GroupThreshold
        (graded("CE", a=("CE", "SKIPPED SKIPPED")), None),
        (graded("WA"), None),
        (apps_row("x", True, False, False), "1"),
        (apps_row("x", True), None),
        (apps_row("x", False, verdict="RE"), "0"),
    ],
)
def test_the_deciding_test_is_the_one_that_gave_the_verdict(row: dict[str, Any], name: str | None) -> None:
    """Not the first that failed: before it there may be tests with a part of the score, and other subtasks."""
    assert deciding_test_name(row) == name


def test_a_row_that_names_no_problem_or_submission() -> None:
    """Such a row was refused. A problem may be called None."""
    assert problem_name_of({"problem_id": None}) == problem_name_of({}) == ("2024", "–")
    assert problem_name_of({"year": 2025.0, "problem_id": "None"}) == ("2025", "None")
    assert [problem_name_of({"year": year})[0] for year in ("", [1], math.inf)] == ["2024", "[1]", "inf"]
    assert [submission_of(row, "uuid") for row in ({}, {"uuid": 7.0}, {"uuid": 7.5})] == ["–", "7", "7.5"]


@pytest.mark.parametrize(
    ("row", "share"),
    [
        ({"verdict": "WA", "passed": 1, "total": 4}, 0.25),
        ({"verdict": "AC", "passed": 0, "total": 0}, 1.0),  # a grader judged a row without tests
        ({"verdict": "WA", "passed": 0, "total": 0}, 0.0),
        ({"verdict": "WA", "passed": None, "total": 4}, None),
        ({"verdict": "JE", "passed": 0, "total": 4}, None),
        ({"verdict": None, "passed": None, "total": None}, None),
        (contest_row("x", 1.0, 0.5), 0.75),
        (contest_row("x", 1.0, 0.5) | {"verdict": "JE"}, None),
        (contest_row("x", 1.0) | {"all_subtasks_results": []}, None),
        (contest_row("x", 1.0) | {"total_score": None}, None),
    ],
)
def test_the_share_of_a_row(row: dict[str, Any], share: float | None) -> None:
    """Of the tests, or of the points. A score that is not known is no 0."""
    assert share_of(row) == share


@pytest.mark.parametrize(
    ("statuses", "verdict", "compiles"),
    [
        (("SKIPPED", "SKIPPED"), "NC", False),
        (("CE", "CE"), "CE", False),
        (("AC", "SKIPPED"), "SKIPPED", True),
        (("AC", "WA"), "WA", True),
        (("AC", "AC"), "AC", True),
    ],
)
def test_the_verdict_of_a_row_of_the_reference(statuses: tuple[str, ...], verdict: str, compiles: bool) -> None:
    """It has no verdict, and in earlier versions no `code_compiles`. All its subtasks are SKIPPED if it has no code."""
    row = {
        "year": 2024,
        "problem_id": "nile",
        "all_subtasks_results": [
            {"subtask": name, "points": 50, "score": float(status == "AC"), "status": status}
            for name, status in zip("ab", statuses, strict=True)
        ],
    }
    found = with_our_columns(row)
    assert (found["verdict"], found["code_compiles"]) == (verdict, compiles)
    assert type(found["verdict"]) is str, "the page counts rows by it, in JSON"
    assert found["total_score"] == 50 * statuses.count("AC")
    assert found["error"] is None


def test_what_a_row_of_the_reference_states_is_kept() -> None:
    """Its points are not computed from its rounded scores. Without subtasks it has no verdict, and says why."""
    subtask = {"subtask": "a", "points": 50, "score": 0.33, "weighted_score": 16.67, "status": "PA"}
    stated = {"code_compiles": False, "all_subtasks_points": 16.66}
    found = with_our_columns({"all_subtasks_results": [subtask], **stated})
    assert (found["code_compiles"], found["total_score"]) == (False, 16.66)
    assert with_our_columns({"all_subtasks_results": [subtask]})["total_score"] == 16.67
    for nothing in (None, ()):
        found = with_our_columns({"all_subtasks_results": nothing})
        assert (found["verdict"], found["error"]) == (None, "it has no results of subtasks")
