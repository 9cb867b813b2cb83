"""The samples still have the results in `golden/results.json`, in every sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.report.schema_check import schema_named
from tests.golden_results import cases, golden, portable

KEPT: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "results.json").read_text())
GOLDEN = {name: KEPT[case] if isinstance(case, str) else case for name, case in KEPT.items()}
"""By case; one that comes to the same as an earlier one is kept as the name of that."""


@pytest.mark.full
@pytest.mark.parametrize("name", GOLDEN)
def test_results_are_as_they_were(name: str) -> None:
    """Verdicts, scores, columns and exit codes: of both families, on this machine, on our server, and on stubs that
    refuse.

    If results change on purpose, the file is written again (`portable` of the output of `golden_results.py`), and
    CHANGELOG.md says so.
    """
    assert portable(golden(name, cases(None)[name])) == GOLDEN[name]


def test_the_golden_file_has_each_kind_of_case() -> None:
    """Both families, embedded, on our server and on stubs; each other grader that needs no numpy."""
    assert {name for name in cases(None) if "hendrycks" not in name} == set(GOLDEN)
    assert all(
        case["exit_code"] in (0, 2) and bool(case["rows"]) is (case["exit_code"] == 0) for case in GOLDEN.values()
    )


def test_the_golden_file_has_each_column() -> None:
    """Rows have the columns of the schema; `tests_id` becomes the tests when they are read. This needs no run."""
    for name, case in GOLDEN.items():
        schema = schema_named("result" if name.startswith("contest") else "apps-result")
        lacking = {*schema["required"]} - {"tests_id", *case["columns"]} if case["rows"] else set()
        assert not lacking, f"{name} in tests/golden/results.json; write it again with tests/golden_results.py"
