"""Which value of a result file disagrees with its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.cli.reporting import remake
from ioi_eval.report.schema_check import schema_named, wrong_value
from tests.small_results import apps_row, contest_row, write_results

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed (a development dependency)")

VALUES: tuple[Any, ...] = (None, True, -1, 1.5e9 + 0.5, "AC", [0], {})
FAMILIES = {"result": contest_row("a", 1.0, 0.5), "apps-result": apps_row("a", True, False)}


def lines(directory: Path, family: str) -> dict[str, dict[str, Any]]:
    """The last line of each file of a run, by the name of its schema."""
    write_results(directory, [deepcopy(FAMILIES[family])], inputs={("2024/nile", "0"): b"7\n"})
    remake([directory], None, "uuid")
    files = {family: "results.jsonl", "tests": "tests.jsonl", "input": "inputs.jsonl"}
    found = {name: json.loads((directory / file).read_text().splitlines()[-1]) for name, file in files.items()}
    return {**found, "summary": json.loads((directory / "summary.json").read_text())}


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*above, key)
        yield from places(item, (*above, key))


def edited(value: dict[str, Any], place: tuple[Any, ...], new: object) -> dict[str, Any]:
    """A copy in which a value is replaced."""
    copy = deepcopy(value)
    inner: Any = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = new
    return copy


def as_strict(schema: Any) -> Any:
    """The schema, without what is not checked: further keys."""
    if isinstance(schema, dict):
        return {key: as_strict(item) for key, item in schema.items() if (key, item) != ("additionalProperties", False)}
    return [as_strict(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("family", FAMILIES)
def test_the_rows_of_tests_have_every_column(family: str) -> None:
    """Those of `tests/small_results.py`, so that each column is edited below. `write_results` adds `tests_id`."""
    lacking = {*schema_named(family)["required"]} - {"tests_id", *FAMILIES[family]}
    assert not lacking, "the rows of tests/small_results.py lack these columns"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_edit_is_judged_as_by_jsonschema(tmp_path: Path, family: str) -> None:
    """Each value of each file is replaced by values of all types. The message begins with the place of the edit."""
    for name, values in lines(tmp_path, family).items():
        assert wrong_value(name, values) is None
        validator = jsonschema_rs.Draft202012Validator(as_strict(schema_named(name)))
        for place in places(values):
            for new in VALUES:
                changed = edited(values, place, new)
                wrong = wrong_value(name, changed)
                assert (wrong is None) == validator.is_valid(changed), (name, place, new, wrong)
                assert wrong is None or wrong.startswith(str(place[0])), (name, place, new, wrong)


def test_missing_keys_and_numbers_that_are_none() -> None:
    """Columns that earlier versions did not write may be missing. NaN is no number, and 1.0 no integer."""
    assert wrong_value("result", {"verdict": "AC"}) is None
    assert wrong_value("input", {}) == "it lacks problem"
    subtask = {"subtask": "a", "points": 5, "score": 1.0, "status": "AC"}
    assert wrong_value("result", {"all_subtasks_results": [subtask]}) == "all_subtasks_results[0] lacks problem"
    assert wrong_value("result", {"all_subtasks_results": [subtask]}, partial=True) is None
    assert wrong_value("result", {"cpu_s": float("nan")}) == "cpu_s is NaN, and must be of type number or null"
    assert wrong_value("apps-result", {"passed": 1.0}) == "passed is 1.0, and must be of type integer or null"
