"""Names in reports: of verdicts, and of problems and submissions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ioi_eval.model import Verdict
from ioi_eval.report.result_values import VERDICT_NAMES, problem_of, submission_of, with_our_columns

DOCS = Path(__file__).parents[2] / "docs" / "verdicts.md"


def test_documentation_has_the_same_verdict_names() -> None:
    """Each verdict has a line with its name in the table of `docs/verdicts.md`, and no other line exists."""
    listed = re.findall(r"^\| ([A-Z]+) \| ([a-z ]+) \| .+ \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(listed) == VERDICT_NAMES
    assert len(listed) == len(Verdict)


def test_a_row_that_names_no_problem_or_submission() -> None:
    """Such a row was refused. A problem may be called None."""
    assert problem_of({"problem_id": None}) == problem_of({}) == ("2024", "–")
    assert problem_of({"year": 2025.0, "problem_id": "None"}) == ("2025", "None")
    assert (submission_of({}, "uuid"), submission_of({"uuid": 7.0}, "uuid")) == ("–", "7")


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
