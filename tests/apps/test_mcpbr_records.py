"""The exact form of mcpbr's records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.dump_reader import AppsCandidate, AppsDumpReader
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.result_rows import counted_record, error_record, row_message, sample_record
from ioi_eval.model import Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.pipeline.dump_reader import Judgeable
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row
from ioi_eval.rows import open_source
from tests.apps_rows import DOUBLE, write_rows


def problem(column: object, name: int = 157) -> AppsProblem:
    """A row."""
    return apps_problem(Row(source="test", number=1, values={"problem_id": name, "input_output": column}), 0)


SOUND = problem({"inputs": ["1"] * 5, "outputs": ["1"] * 5})


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (
            3,
            '{"instance_id": "apps_157", "resolved": false, "passed": 3, "total": 5, "pass_rate": 0.6}',
        ),
        (5, '{"instance_id": "apps_157", "resolved": true, "passed": 5, "total": 5, "pass_rate": 1.0}'),
        (0, '{"instance_id": "apps_157", "resolved": false, "passed": 0, "total": 5, "pass_rate": 0.0}'),
    ],
)
def test_judged(passed: int, text: str) -> None:
    """A task is resolved if all tests pass. Keys are in mcpbr's order."""
    assert json.dumps(counted_record(SOUND, passed, 5)) == text


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (None, "No test cases provided"),
        ("", "No test cases provided"),
        ("{", "Could not parse test cases"),
        ({"inputs": [], "outputs": []}, "Empty test cases"),
        ({"inputs": ["1", "2"], "outputs": ["1"]}, "its input_output has 2 inputs and 1 output"),
    ],
)
def test_rows_that_cannot_be_judged(column: object, words: str) -> None:
    """The error texts are mcpbr's. Where it would judge a broken row, the text is ours."""
    row = problem(column, 999)
    assert row_message(row.fault, row.reason) == words
    assert error_record(row, words) == {"instance_id": "apps_999", "resolved": False, "error": words}


def program_for(tmp_path: Path, inputs: list[str]) -> Judgeable[AppsCandidate]:
    """A program of a dump, for a problem without outputs."""
    column = json.dumps({"inputs": inputs, "outputs": []})
    problems = write_rows(tmp_path / "apps.jsonl", [{"problem_id": 1, "input_output": column}])
    catalog = load_catalog(open_source(problems), why_unusable=lambda _: "")
    dump = open_source(write_rows(tmp_path / "dump.jsonl", [{"problem_id": 1, "code": DOUBLE}]))
    (entry,) = AppsDumpReader(dump, catalog, fingerprints=lambda *_: ("f",)).entries(whole_rows=True)
    assert isinstance(entry, Judgeable)
    return entry


@pytest.mark.parametrize("inputs", [[], ["1"]])
def test_a_program_that_another_grader_judges_without_a_test(tmp_path: Path, inputs: list[str]) -> None:
    """With LiveCodeBench's rules it passes. Its record has mcpbr's error; if there were inputs it was an empty text."""
    result = AppsResult(verdict=Verdict.AC, passed=0, total=0, judged_by="livecodebench")
    assert sample_record(program_for(tmp_path, inputs), result) == {
        "instance_id": "apps_1", "resolved": False, "error": "Empty test cases", "judged_by": "livecodebench",
    }  # fmt: skip


def test_solution_that_could_not_be_written(tmp_path: Path) -> None:
    """The message is cut as in mcpbr."""
    entry = program_for(tmp_path, [])
    refused = replace(entry.candidate.submission, refused="x" * 1000)
    entry = replace(entry, candidate=replace(entry.candidate, submission=refused))
    found = sample_record(entry, AppsResult(verdict=Verdict.CE, passed=0, total=0))
    assert found["error"] == "Failed to write solution: " + "x" * 500
