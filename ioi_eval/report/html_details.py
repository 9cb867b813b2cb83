"""Programs and tests inside `report.html`: as many as fit, and some of every group, problem and verdict.

A page should have at most 5 MB, but the programs of ten thousand submissions have more. (They get at least 1.5 MB,
however large the table is.) So rows are added in turns: the first of each group, problem and verdict, then the second,
and so on, until the page is full. For the other rows, the page gives the line in `results.jsonl`. Programs for the same
problem are similar, so they are compressed together, in blocks that a browser unpacks one at a time.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from gzip import compress
from typing import Any

import orjson

from ioi_eval.config import KEPT_INPUT_BYTES
from ioi_eval.model import Verdict
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.html_rows import PageResults, PageRow
from ioi_eval.report.result_files import INPUTS, line_at
from ioi_eval.report.result_values import (
    NOT_FAILED,
    deciding_test_name,
    message_of_test,
    name_of_test,
    points_of_subtask,
    tests_of,
)

CODE_CHARS, TEXT_CHARS, MESSAGE_CHARS, MAX_TESTS = 60_000, 4_000, 600, 200
"""The most characters of a program, of a compiler's message, of another message or an output; the most tests shown."""

_BLOCK_BYTES = 200_000  # bytes of JSON: unpacked in some milliseconds
_BATCH_ROWS = 512  # are sorted by problem before they are packed
_PLAIN_BYTES = 20_000  # bytes of JSON up to which compression does not pay
_GZIP_LEVEL = 9

_CAUSES = ("exit_code", "signal", "limit")
_OUTPUTS = ("output", "stderr")

_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that are invisible or reorder others (Source: the "Trojan Source" attacks, arXiv 2111.00169), and the
"tags" with which texts for models are hidden."""

Packed = tuple[str, str]
"""How a block is packed (`json`, or `gzip` in base64), and its text."""


def packed(values: object, *, plain: int = _PLAIN_BYTES) -> Packed:
    """A value as text for a `<script>` element, which nothing in it can end; JSON of up to `plain` bytes is not
    compressed."""
    body = orjson.dumps(values)
    if len(body) <= plain:
        return "json", body.decode().replace("<", "\\u003c")
    return "gzip", b64encode(compress(body, _GZIP_LEVEL, mtime=0)).decode()


def _batches(rows: Sequence[PageRow], groups: Mapping[tuple[int, str], int]) -> Iterator[list[int]]:
    """The positions of all rows in the order in which they are packed, some hundred at a time, sorted by problem. Rows
    come in turns: in the first turn the first row of each group, problem and verdict."""
    counts: Counter[tuple[int, str, str]] = Counter()
    turns = []
    for row in rows:
        kind = groups[row.directory, row.model], row.problem, row.verdict
        turns.append(counts[kind])
        counts[kind] += 1
    order = sorted(range(len(rows)), key=turns.__getitem__)
    for start in range(0, len(order), _BATCH_ROWS):
        yield sorted(order[start : start + _BATCH_ROWS], key=lambda index: (rows[index].problem, index))


class Details:
    """Packs the details of single submissions that a page shows, from the results of each directory, into at most
    `room` characters of blocks and inputs together; the inputs get at most a quarter."""

    def __init__(self, results: Sequence[PageResults], room: int) -> None:
        self._results, self._room, self._input_room = results, room, room // 4
        self._inputs: dict[str, int] = {}
        self.blocks: list[Packed] = []
        self.positions: dict[int, tuple[int, int]] = {}
        self._waiting: list[dict[str, Any]] = []
        self._size = 0
        self._known: dict[tuple[int, str], tuple[int, int]] = {}

    def fill(self, rows: Sequence[PageRow], groups: Mapping[tuple[int, str], int]) -> None:
        """Pack rows until there is no more room; then `positions` has the block of each row, and its index there."""
        for batch in _batches(rows, groups):
            for index in batch:
                self._add(index, rows[index])
                if self._size >= _BLOCK_BYTES and not self._pack():
                    return
        if self._waiting:
            self._pack()

    @property
    def inputs(self) -> Packed:
        """The beginnings of the inputs of failed tests, each once."""
        return packed(list(self._inputs))

    def _add(self, row_index: int, row: PageRow) -> None:
        """Add a row. Copies of a program share their details."""
        key = row.directory, row.details_key
        if not row.details_key or key not in self._known:
            detail = detail_of(self._results[row.directory], row)
            if (text := detail.get("input")) is not None:
                detail["input"] = self._input_index(text)
            self._known[key] = len(self.blocks), len(self._waiting)
            self._waiting.append(detail)
            self._size += len(orjson.dumps(detail))
        self.positions[row_index] = self._known[key]

    def _input_index(self, text: str) -> int:
        """The index of an input among all inputs; -1 if there is no more room."""
        if text not in self._inputs:
            size = len(orjson.dumps(text))
            if self._input_room < size:
                return -1
            self._input_room -= size
            self._room -= size
            self._inputs[text] = len(self._inputs)
        return self._inputs[text]

    def _pack(self) -> bool:
        """Make a block of the waiting rows. False if there is no room for it: then they are not on the page."""
        block = packed(self._waiting)
        if len(block[1]) > self._room:
            self.positions = {row: at for row, at in self.positions.items() if at[0] < len(self.blocks)}
            return False
        self._room -= len(block[1])
        self.blocks.append(block)
        self._waiting, self._size = [], 0
        return True


def detail_of(results: PageResults, row: PageRow) -> dict[str, Any]:
    """The details of a submission on the page, without empty values."""
    values = results.row_with_tests(row)
    has_program = row.verdict != Verdict.NC  # else nothing ran, and neither tests nor subtasks have details
    subtasks = values.get("all_subtasks_results") or [] if has_program else []
    tests = tests_of(values) if has_program else {}
    deciding = deciding_test_name({**values, "verdict": row.verdict}) if has_program else None
    names = list(tests)
    if len(names) > MAX_TESTS:  # the deciding one first, then other failed ones
        names = sorted(names, key=lambda name: (name != deciding, tests[name]["status"] in NOT_FAILED))[:MAX_TESTS]
    detail = {
        "code": _cut(values.get("code"), CODE_CHARS),
        "language": _cut(values.get("language"), MESSAGE_CHARS),
        "extraction": _cut(values.get("extraction"), MESSAGE_CHARS),
        "compiler": _cut(values.get("compile_message"), TEXT_CHARS),
        "error": _cut(values.get("error"), TEXT_CHARS),
        "message": _cut(values.get("message"), TEXT_CHARS),
        "target": _cut(values.get("target_subtask"), MESSAGE_CHARS),
        "judged": _cut(values.get("target"), MESSAGE_CHARS),
        "text": "" if has_program else _both_ends(values.get("generation"), TEXT_CHARS),
        "subtasks": [
            [
                _cut(subtask["subtask"], MESSAGE_CHARS),
                subtask["status"],
                points_of_subtask(subtask),
                subtask["points"],
                _counts([tests[name_of_test(test)]["status"] for test in subtask.get(TEST_RESULTS) or ()]),
            ]
            for subtask in subtasks
        ],
        "input": _input(results, row.problem, deciding),
        "tests": [_test(name, tests[name], decides=name == deciding) for name in names],
        "more": len(tests) - len(names),
    }
    return {name: value for name, value in detail.items() if value}


def _counts(verdicts: Sequence[str]) -> list[int]:
    """Of a subtask's tests: how many are accepted, how many it has, and how many are not counted."""
    return [verdicts.count("AC"), len(verdicts), verdicts.count("SKIPPED")]


def _input(results: PageResults, problem: str, test: str | None) -> str:
    """The beginning of a test's input and its size, from the results; empty if they do not have it."""
    offset = results.inputs.get((problem, test or ""))
    if offset is None:
        return ""
    line = line_at(results.directory / INPUTS, offset)
    more = f"… ⟨{line['bytes']:,} bytes in all⟩" if line["bytes"] > KEPT_INPUT_BYTES else ""
    return visible(str(line["input"]) or "(empty)") + more


def _test(name: str, test: Mapping[str, Any], *, decides: bool) -> dict[str, Any]:
    """A test with the details that are shown: one that did not fail has no message. `decides`: it gave the verdict."""
    verdict = test["status"]
    entry: dict[str, Any] = {"name": _cut(name, MESSAGE_CHARS), "verdict": verdict}
    if (seconds := test.get("time_s")) is not None:
        entry["time"] = round(seconds, 3)
    if (size := test.get("memory_bytes")) is not None:
        entry["memory"] = mebibytes(size)
    if decides:
        entry["decides"] = True
    if test.get("near_limit"):
        entry["near"] = True
    if verdict not in NOT_FAILED:
        fields = (*_CAUSES, "score") if verdict == "PA" else _CAUSES
        entry |= {name: value for name in fields if (value := test.get(name)) is not None}
        if message := message_of_test(test):
            entry["message"] = _cut(message, MESSAGE_CHARS)
        entry |= {n: _cut(test[n], MESSAGE_CHARS, where=" in the results") for n in _OUTPUTS if test.get(n)}
    return entry


def mebibytes(size: int) -> float:
    """A size as shown: in MiB, with three digits."""
    return float(f"{size / 2**20:.3g}")


def _cut(value: object, most: int, *, where: str = "") -> str:
    """The text, cut to that length, without invisible characters; states how much was cut, and `where` that is.

    Results have only the beginning of an output and of stderr.
    """
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    if len(text) <= most and text.isascii() and text.isprintable():
        return text
    return visible(text[:most]) + f"… ⟨{len(text) - most:,} characters more{where}⟩" * (len(text) > most)


def _both_ends(value: object, most: int) -> str:
    """Beginning and end of a long text: the end often shows why it has no program, for example that it breaks off."""
    if not isinstance(value, str) or len(value) <= most:
        return _cut(value, most)
    half = most // 2
    return f"{visible(value[:half])}… ⟨{len(value) - 2 * half:,} characters left out⟩ …{visible(value[-half:])}"


def visible(text: str) -> str:
    """The text with a code point in place of each character that is invisible or reorders others."""
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)
