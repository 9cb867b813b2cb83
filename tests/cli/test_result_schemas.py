"""The files that runs write agree with the schemas in `ioi_eval/report/schemas/`, for both families."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.report.result_files import wrong_file
from tests.apps_rows import DOUBLE, ROWS, write_rows
from tests.cli.addition import ASKS, NARROW, RIGHT, Start, Write, submission_row

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed (a development dependency)")

SCHEMAS = Path(__file__).resolve().parents[2] / "ioi_eval" / "report" / "schemas"


def faults(name: str, value: object) -> list[str]:
    """How a value violates the schema with this name."""
    validator = jsonschema_rs.Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def check(out: Path, kind: str, verdicts: set[str]) -> None:
    """All files of a run agree with the schemas, and a row without one of our columns does not."""
    rows = list(lines(out / "results.jsonl"))
    assert {str(row["verdict"]) for row in rows} == verdicts
    for row in rows:
        assert not faults(kind, row)
        assert faults(kind, {**row, "verdict": "FINE"})
    required = json.loads((SCHEMAS / f"{kind}.json").read_text(encoding="utf-8"))["required"]
    for name in required:
        assert faults(kind, {key: value for key, value in rows[0].items() if key != name}), name
    for tests in lines(out / "tests.jsonl"):
        assert not faults("tests", tests)
        assert faults("tests", {**tests, "colour": "blue"})
    inputs = list(lines(out / "inputs.jsonl"))
    assert inputs
    for given in inputs:
        assert not faults("input", given)
        assert all(faults("input", {key: given[key] for key in given if key != name}) for name in given)
    assert not faults("summary", json.loads((out / "summary.json").read_text(encoding="utf-8")))
    assert wrong_file(out) is None


def test_contests(score: Start, write: Write, tmp_path: Path) -> None:
    """AC, WA, CE, no code, a refused system call, and an unknown problem."""
    write(
        "dump.jsonl",
        submission_row("right"), submission_row("narrow", NARROW), submission_row("asks", ASKS),
        submission_row("typo", RIGHT.replace(";", "")), submission_row("prose", None, generation="no"),
        submission_row("lost") | {"problem_id": "nowhere"},
    )  # fmt: skip
    ended = score("dump.jsonl", "--keep", "all")
    assert ended.returncode == 1, ended.stderr
    check(tmp_path / "out", "result", {"AC", "WA", "CE", "NC", "None"})


@pytest.mark.parametrize("options", [(), ("--compat", "eval-protocol")], ids=["ours", "eval-protocol"])
def test_apps(start: Start, tmp_path: Path, options: tuple[str, ...]) -> None:
    """AC, WA and no code, by our rules and by another grader's."""
    write_rows(tmp_path / "problems.jsonl", ROWS)
    dump = [
        {"uuid": name, "problem_id": ROWS[0]["problem_id"], "code": code}
        for name, code in (("right", DOUBLE), ("wrong", "print(0)"), ("typo", "print("), ("nothing", None))
    ]
    (tmp_path / "dump.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dump))
    ended = start("apps", "score", "dump.jsonl", "--dataset", "problems.jsonl", "--out", "out", *options)
    assert ended.returncode in (0, 1), ended.stderr
    rows = {str(row["verdict"]) for row in lines(tmp_path / "out" / "results.jsonl")}
    check(tmp_path / "out", "apps-result", rows)
    assert "AC" in rows
