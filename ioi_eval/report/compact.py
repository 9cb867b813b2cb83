"""Stores tests separately from rows: equal tests are written once, and default values are left out. Pure.

With the tests of each subtask written out, a row has 12 kB. So a row of `results.jsonl` has only a `tests_id`, which
names a line of `tests.jsonl`. That line has each test of the row once, and for each subtask the positions of its tests
in this list. The `tests_id` is a hash of the line, so rows with equal tests share a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson

TESTS_ID, TEST_RESULTS, SUBTASKS = "tests_id", "test_results", "subtasks"
_ID_BYTES = 12

_CONTEST: Mapping[str, Any] = {
    "score": None, "feedback": "", "time_s": None, "wall_time_s": None, "memory_bytes": None, "exit_code": None,
    "signal": None, "limit": None, "near_limit": False, "reran": False, "attempted": [], "stderr": "",
}  # fmt: skip
_APPS: Mapping[str, Any] = {
    "passed": None, "time_s": None, "wall_s": None, "memory_bytes": None, "near_limit": False, "reran": False,
    "message": "",
}  # fmt: skip


def without_tests(subtasks: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The subtasks of a row (`all_subtasks_results`) without tests; and the line for their tests, without its id."""
    tests: list[dict[str, Any]] = []
    positions: dict[str, int] = {}
    table: dict[str, list[int]] = {}
    for subtask in subtasks:
        numbers = table[subtask["subtask"]] = []
        for test in subtask[TEST_RESULTS]:
            text = repr(test)
            if text not in positions:
                positions[text] = len(tests)
                tests.append(compact(test, _CONTEST))
            numbers.append(positions[text])
    without = [{name: value for name, value in each.items() if name != TEST_RESULTS} for each in subtasks]
    return without, {SUBTASKS: table, TEST_RESULTS: tests}


def apps_line(tests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The line for the tests of a program for APPS, without its id."""
    return {TEST_RESULTS: [compact(test, _APPS) for test in tests]}


def compact(test: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A test without the values that are equal to those in `defaults`."""
    return {name: value for name, value in test.items() if name not in defaults or value != defaults[name]}


def line_with_id(line: Mapping[str, Any], to_json: Any) -> tuple[str, bytes]:
    """The `tests_id` of a line, and the line as JSON with it (by `to_json`); both empty if there is no test."""
    if not line[TEST_RESULTS]:
        return "", b""
    body: bytes = to_json(dict(line))
    tests_id = blake2b(body, digest_size=_ID_BYTES).hexdigest()
    return tests_id, b'{"%b":"%b",%b' % (TESTS_ID.encode(), tests_id.encode(), body[1:])


class WithTests:
    """Puts tests back into rows, from lines that `tests_of_line` read. Rows with the same tests share the objects."""

    def __init__(self, lines: Mapping[str, Mapping[str, Any]]) -> None:
        self._lines = lines
        self._known: dict[tuple[str, bytes], Sequence[dict[str, Any]]] = {}

    def lacks(self, row: Mapping[str, Any]) -> bool:
        """Whether a row names tests that are not there. Without any line there is no such file, which is no fault."""
        return bool(self._lines and row.get(TESTS_ID)) and row[TESTS_ID] not in self._lines

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of `results.jsonl` with its tests; those of the reference have their tests already."""
        if TESTS_ID not in row:
            return row
        tests_id = row.pop(TESTS_ID) or ""
        line = self._lines.get(tests_id)
        if "all_subtasks_results" not in row:
            row[TEST_RESULTS] = [] if line is None else line[TEST_RESULTS]
            return row
        subtasks = row["all_subtasks_results"]
        key = tests_id, orjson.dumps(subtasks)
        if key not in self._known:
            table = {} if line is None else line[SUBTASKS]
            self._known[key] = [{**subtask, TEST_RESULTS: table.get(subtask["subtask"], [])} for subtask in subtasks]
        row["all_subtasks_results"] = self._known[key]
        return row


def tests_of_line(values: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The `tests_id` of a line of `tests.jsonl`, and its tests with the default values; for contests by subtask."""
    defaults, order = (_CONTEST, _CONTEST_ORDER) if SUBTASKS in values else (_APPS, _APPS_ORDER)
    tests = [{**dict.fromkeys(order), **defaults, **test} for test in values[TEST_RESULTS]]
    if SUBTASKS not in values:
        return values[TESTS_ID], {TEST_RESULTS: tests}
    return values[TESTS_ID], {SUBTASKS: {n: [tests[p] for p in positions] for n, positions in values[SUBTASKS].items()}}


_CONTEST_ORDER = ("test_name", "score", "status", *(name for name in _CONTEST if name != "score"))
_APPS_ORDER = ("test", "verdict", *_APPS)
