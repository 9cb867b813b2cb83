"""Results as a data frame."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from ioi_eval.errors import InputError
from ioi_eval.report import compact
from ioi_eval.report.result_files import load_results


def test_results_become_a_frame(tmp_path: Path) -> None:
    """One row for each submission, in order. A missing score is NaN, not 0."""
    rows = [{"uuid": "a", "total_score": 100.0, "fixes": []}, {"uuid": "b", "total_score": None, "fixes": ["includes"]}]
    (tmp_path / "results.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    frame = load_results(tmp_path)
    assert list(frame["uuid"]) == ["a", "b"]
    assert frame["total_score"].isna().tolist() == [False, True]
    assert frame["total_score"].mean() == 100
    assert list(frame) == ["uuid", "total_score", "fixes"]
    assert list(load_results(tmp_path / "results.jsonl")["uuid"]) == ["a", "b"]


def test_edited_row_that_is_nested_deeply_is_read(tmp_path: Path) -> None:
    """Such a value is not shared between rows."""
    deep = "[" * 900 + "]" * 900
    (tmp_path / "results.jsonl").write_text('{"uuid": "a", "extra": ' + deep + "}\n")
    assert list(load_results(tmp_path)["uuid"]) == ["a"]


def test_a_lack_of_memory_is_not_a_damaged_file(tmp_path: Path) -> None:
    """Nobody should delete a file because this machine has too little memory for it."""
    (tmp_path / "results.jsonl").write_text('{"uuid": "' + "x" * (40 << 20) + '"}\n')
    code = (
        "import resource, sys\n"
        "from ioi_eval.errors import SetupError\n"
        "from ioi_eval.report.result_files import result_rows\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + (256 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
        "try:\n"
        "    list(result_rows(sys.argv[1]))\n"
        "except SetupError as error:\n"
        "    print(error)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.endswith("results.jsonl, line 1 cannot be read: there is not enough memory\n")


def test_an_incomplete_run_gives_a_warning(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """It has the counts, at the caller's line. Complete runs and runs without a readable summary give none."""
    (tmp_path / "results.jsonl").write_bytes(orjson.dumps({"uuid": "a", "total_score": 100.0}) + b"\n")
    summary = tmp_path / "summary.json"
    for content in (b"{", b"[]", b'{"submissions": 3}', b'{"submissions": {"pending": 0, "rows": 1}}'):
        summary.write_bytes(content)
        load_results(tmp_path)
    assert not recwarn.list
    for pending, rows, words in (
        (348, 500, "348 of 500 submissions are still to be judged; submissions without code are judged first"),
        (1, 1, "1 of 1 submission is still to be judged"),
        (2, None, "complete: 2 submissions are still"),
    ):
        summary.write_bytes(orjson.dumps({"options": {}, "submissions": {"pending": pending, "rows": rows}}))
        with pytest.warns(UserWarning, match=words) as caught:
            load_results(tmp_path / "results.jsonl")
        assert caught[0].filename == __file__


def test_missing_results_are_an_error(tmp_path: Path) -> None:
    """The message says which command writes results. Damaged ones are an error too."""
    with pytest.raises(InputError, match=f"`ioi-eval apps score` with --out {tmp_path} writes it"):
        load_results(tmp_path)
    for name in ("results.jsonl", "tests.jsonl"):
        (tmp_path / "results.jsonl").write_text("{}\n")
        (tmp_path / name).write_text("{not json\n")
        with pytest.raises(InputError, match=f"{name}, line 1 cannot be read: .*repeat the command that wrote it"):
            load_results(tmp_path)


SUBTASKS: list[dict[str, Any]] = [
    {"subtask": "01", "score": 0.5, "points": 40, "test_results": ["a", "b"]},
    {"subtask": "02", "score": 0.0, "points": 60, "test_results": ["a", "b", "c"]},
]
TESTS: dict[str, dict[str, Any]] = {
    name: {
        "test_name": name, "score": score, "status": status, "feedback": "", "time_s": time_s, "wall_time_s": None,
        "memory_bytes": None, "exit_code": 0, "signal": None, "limit": None, "near_limit": False, "reran": False,
        "attempted": [], "stderr": "",
    }
    for name, score, status, time_s in (("a", 1.0, "AC", 0.25), ("b", 0.5, "PA", None), ("c", None, "JE", 0.0))
}  # fmt: skip


def subtasks() -> list[dict[str, Any]]:
    """Subtasks with their tests."""
    return [{**one, "test_results": [TESTS[name] for name in one["test_results"]]} for one in SUBTASKS]


def write_results(directory: Path, rows: int = 3) -> None:
    """Rows with shared tests, one without tests, and an old one with its own tests."""
    shown, line = compact.without_tests(subtasks())
    name, body = compact.line_with_id(line, lambda value: orjson.dumps(value) + b"\n")
    same: dict[str, Any] = {"all_subtasks_results": shown, "tests_id": name, "code": "int x;"}
    written = [{"uuid": str(n), **same} for n in range(rows)]
    written.append({"uuid": "none", "all_subtasks_results": [], "tests_id": None, "error": "refused"})
    written.append({"uuid": "old", "all_subtasks_results": subtasks()})
    (directory / "results.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in written))
    (directory / "tests.jsonl").write_bytes(body)


def test_shared_tests_are_put_back(tmp_path: Path) -> None:
    """With the columns of the reference, in its order."""
    write_results(tmp_path)
    table = load_results(tmp_path)
    for place in (0, 1, 2, 4):
        assert json.dumps(table["all_subtasks_results"][place]) == json.dumps(subtasks())
    assert table["all_subtasks_results"][3] == []
    assert "tests_id" not in table
    assert table["all_subtasks_results"][0] is table["all_subtasks_results"][2]


def test_without_tests_and_with_few_columns(tmp_path: Path) -> None:
    """Columns that are not requested are left out. Values that rows share are in memory once."""
    write_results(tmp_path)
    table = load_results(tmp_path, tests=False)
    assert set(table) == {"uuid", "all_subtasks_results", "tests_id", "code", "error"}
    assert "test_results" not in table["all_subtasks_results"][0][0]
    assert table["all_subtasks_results"][0] is table["all_subtasks_results"][1]
    assert list(load_results(tmp_path, columns=["uuid", "error"])) == ["uuid", "error"]
    assert list(load_results(tmp_path, columns=["all_subtasks_results"])) == ["all_subtasks_results"]


def test_tests_that_are_not_in_their_file_are_an_error(tmp_path: Path) -> None:
    """A table in which some rows had no tests would be wrong. Without the file no row has them."""
    write_results(tmp_path)
    tests = (tmp_path / "tests.jsonl").read_bytes()
    (tmp_path / "tests.jsonl").write_bytes(tests.replace(b'"tests_id":"', b'"tests_id":"other'))
    with pytest.raises(InputError, match=r"line 1: tests\.jsonl does not have its tests"):
        load_results(tmp_path)
    assert len(load_results(tmp_path, tests=False)) == 5
    (tmp_path / "tests.jsonl").unlink()
    assert load_results(tmp_path)["all_subtasks_results"][0][0]["test_results"] == []


def test_a_column_that_no_row_has_is_an_error(tmp_path: Path) -> None:
    """It is probably misspelled. A table without rows has no columns, so any may be asked for."""
    write_results(tmp_path)
    with pytest.raises(InputError, match=r"no such column 'uid'\. Did you mean 'uuid'\?$"):
        load_results(tmp_path, columns=["code", "uid"])
    with pytest.raises(InputError, match="no such column 'tests'"):
        load_results(tmp_path, columns=["tests"], tests=False)
    (tmp_path / "results.jsonl").write_bytes(b"")
    assert load_results(tmp_path, columns=["uuid"]).empty


def test_tests_of_programs_for_apps(tmp_path: Path) -> None:
    """They are a separate column."""
    test: dict[str, Any] = {
        "test": 0, "verdict": "AC", "passed": True, "time_s": 0.5, "wall_s": None, "memory_bytes": 1,
        "near_limit": False, "reran": False, "message": "",
    }  # fmt: skip
    wrong = {**test, "verdict": "WA", "passed": False, "output": "0\n", "stderr": "", "code": -1}
    name, body = compact.line_with_id(compact.apps_line([test, wrong]), lambda value: orjson.dumps(value) + b"\n")
    (tmp_path / "results.jsonl").write_bytes(orjson.dumps({"submission": "a", "tests_id": name}) + b"\n")
    (tmp_path / "tests.jsonl").write_bytes(body)
    assert json.dumps(load_results(tmp_path)["test_results"][0]) == json.dumps([test, wrong])
    assert not {b"near_limit", b"reran", b"wall_s", b"message"} & set(re.findall(rb"\w+", body))
