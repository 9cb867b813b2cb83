"""What a run leaves: `results.jsonl`, `tests.jsonl`, `summary.json`, `report.md`, made from the journal.

Each is written under another name and then renamed, so that a reader sees the old one or the new one, whole.
"""

from __future__ import annotations

import json
import math
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ioi_eval.errors import ODD_DATA, SetupError, own_fault
from ioi_eval.model import Keep, SubmissionResult, Verdict
from ioi_eval.pipeline.intake import OWN_FAULT, Intake, Refused
from ioi_eval.pipeline.ledger import Found, Ledger
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.window import Candidate
from ioi_eval.report import compact
from ioi_eval.report.frame import RESULTS, TESTS
from ioi_eval.report.groups import Grouping
from ioi_eval.report.rows import JudgedSubmission, ResultColumns, Unscored, refused_row
from ioi_eval.report.summary import Summary
from ioi_eval.report.totals import Totals

_KNOWN = 4096  # results whose parts are kept: about 4 kB each
_PRINTABLE_BITS = 2000  # Source: Python's limit of digits, which is 4,300 by default and can be set to 640


def write_results(
    directory: Path,
    intake: Intake,
    ledger: Ledger[SubmissionResult],
    progress: Progress,
    *,
    unscored: Unscored = Unscored.NULL,
    grouping: Grouping | None = None,
    keep: Keep = Keep.FAILING,
) -> Summary:
    """Write a row for every row of the dump that was judged or refused, in the dump's order.

    The dump is read again, so that memory does not grow with it.

    Args:
        directory: where `results.jsonl` goes.
        intake: the dump's rows, as they were judged.
        ledger: what became of them.
        progress: is told of every row.
        unscored: what stands for scores that are not known.
        grouping: by which columns of the dump they are added up for each group too.
        keep: of which tests there is the beginning of the output, as far as it came back.

    Returns:
        What the results come to.

    Raises:
        SetupError: they cannot be written.
    """
    summary = Summary(unusable=intake.problems.unusable, grouping=grouping)
    with replacing(directory / RESULTS) as file, replacing(directory / TESTS) as tests_file:
        parts = _Parts(TestLines(tests_file, keep), unscored)
        for entry in intake.entries(whole_rows=True, standing=ledger.standing):
            progress.advance("")
            if isinstance(entry, Refused):
                summary.refuse(entry.kind, entry.message, entry.row.values)
                file.write(_refused_line(entry))
                continue
            candidate = entry.candidate
            found = ledger.find(candidate)
            if found is None:
                summary.postpone(entry.row.values)
                continue
            try:
                judged, columns = parts.of(candidate, found)
                line = to_json(columns.row(entry.row.values, judged, target_subtask=entry.target_subtask))
                summary.add(judged, entry.row.values, target_subtask=entry.target_subtask)
            except ODD_DATA as error:
                words = str(entry.row.error(own_fault(error, "writing its result")))
                summary.refuse(OWN_FAULT, words, entry.row.values)
                line = _unjudged_line({}, words)
            file.write(line)
    return summary


class TestLines:
    """The lines of `tests.jsonl`, each written once.

    Args:
        file: what they are written to.
        keep: which of them have the beginning of the program's output.
    """

    __test__ = False

    def __init__(self, file: BinaryIO, keep: Keep = Keep.FAILING) -> None:
        self._file, self._keep = file, keep
        self._written: set[str] = set()

    def name(self, line: Mapping[str, Any]) -> str | None:
        """The name of a line, which stands in the file then; `None` where there is no test."""
        tests = [test if self._keeps(test) else _without_output(test) for test in line[compact.TEST_RESULTS]]
        name, body = compact.named({**line, compact.TEST_RESULTS: tests}, to_json)
        if name and name not in self._written:
            self._written.add(name)
            self._file.write(body)
        return name or None

    def _keeps(self, test: Mapping[str, Any]) -> bool:
        if "output" not in test:
            return True
        return self._keep.keeps(passed=test["status"] == Verdict.AC if "status" in test else bool(test.get("passed")))


def _without_output(test: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in test.items() if name != "output"}


class _Parts:
    """What rows of the same result share, worked out once for those that were met last."""

    def __init__(self, tests: TestLines, unscored: Unscored) -> None:
        self._tests, self._unscored = tests, unscored
        self._known: OrderedDict[int, tuple[Totals, ResultColumns]] = OrderedDict()

    def of(self, candidate: Candidate, found: Found[SubmissionResult]) -> tuple[JudgedSubmission, ResultColumns]:
        """A submission with its result, and the columns that are of the result alone."""
        known = None if found.offset is None else self._known.get(found.offset)
        judged = JudgedSubmission(
            problem=candidate.problem,
            submission=candidate.submission,
            fingerprint=candidate.fingerprint,
            result=found.result,
            duplicate_of=found.duplicate_of,
            known=Totals.of(found.result) if known is None else known[0],
        )
        if known is not None:
            return judged, known[1]
        whole = ResultColumns.of(judged, unscored=self._unscored)
        shown, line = compact.without_tests(whole.reference["all_subtasks_results"])
        columns = whole.sharing(orjson.Fragment(to_json({"": shown})[4:-2]), self._tests.name(line))
        if found.offset is not None:
            self._known[found.offset] = judged.totals, columns
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return judged, columns


def write_summary(directory: Path, values: Mapping[str, Any], report: str) -> None:
    """Write `summary.json` and `report.md`.

    Args:
        directory: where they go.
        values: what results come to, as plain values.
        report: the same in Markdown.

    Raises:
        SetupError: they cannot be written.
    """
    with replacing(directory / "summary.json") as file:
        file.write(json.dumps(values, indent=2, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n")
    with replacing(directory / "report.md") as file:
        file.write(report.encode("utf-8", "replace"))


def _refused_line(entry: Refused) -> bytes:
    """The line of a row that was not judged: with the message alone where its own columns cannot be written."""
    try:
        return _unjudged_line(entry.row.values, entry.message)
    except ODD_DATA:
        return _unjudged_line({}, entry.message)


def _unjudged_line(values: Mapping[str, Any], message: str) -> bytes:
    return to_json({**refused_row(values, message), "tests_id": None})


@contextmanager
def replacing(path: Path, *, advice: str = "") -> Iterator[BinaryIO]:
    """A file that takes the place of the one at `path` once it is whole and on the disk.

    Args:
        path: where it goes.
        advice: what to do where it cannot be written; by default where what was judged is.

    Raises:
        SetupError: the disk is full or refuses; the old file stays.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb", buffering=1 << 20) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if advice:
            pass
        elif path.with_name("journal").is_file():
            advice = f"What was judged is in {path.with_name('journal')}; mend that and run the same command again"
        else:
            advice = f"{path.with_name('journal')} is gone too: run the same command again, to judge all anew"
        raise SetupError(f"{path} cannot be written: {error.strerror}. {advice}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def to_json(row: dict[str, Any]) -> bytes:
    """A row as a line of JSON, whatever a table held (dates, decimals, bytes, huge integers, NaN, which is null).

    A file's name, which messages quote, may be no UTF-8: what is none of it becomes a question mark.
    """
    try:
        return orjson.dumps(row, default=_plain, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # an integer beyond 64 bits, or a text that is no UTF-8
        return json.dumps(_printable(row), default=_plain, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


_MOST_NESTED = 100


def _printable(value: Any, left: int = _MOST_NESTED) -> Any:
    """The value, with words for integers that Python refuses to print and for what is nested deeper than anybody reads,
    and null for what JSON has no number for."""
    if left == 0 and isinstance(value, dict | list | tuple):
        return f"(nested more than {_MOST_NESTED} deep)"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _printable(item, left - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(item, left - 1) for item in value]
    return f"(an integer of {value.bit_length()} bits)" if _is_long(value) else value


def _is_long(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() > _PRINTABLE_BITS


def _plain(value: object) -> object:
    if isinstance(value, orjson.Fragment):
        return orjson.loads(orjson.dumps(value))
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
