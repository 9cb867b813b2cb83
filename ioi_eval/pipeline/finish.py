"""What a run leaves: `results.jsonl`, `summary.json`, `report.md`, made from the journal.

Each is written under another name and then renamed, so that a reader sees the old one or the new one, whole.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ioi_eval.errors import ODD_DATA, SetupError, own_fault
from ioi_eval.model import SubmissionResult
from ioi_eval.pipeline.intake import OWN_FAULT, Intake, Refused
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.progress import Progress
from ioi_eval.report.rows import Judged, Unscored, refused_row, result_row
from ioi_eval.report.summary import Summary

_PRINTABLE_BITS = 2000  # Source: Python's limit of digits, which is 4,300 by default and can be set to 640


def write_results(
    directory: Path,
    intake: Intake,
    ledger: Ledger[SubmissionResult],
    progress: Progress,
    *,
    unscored: Unscored = Unscored.NULL,
) -> Summary:
    """Write a row for every row of the dump that was judged or refused, in the dump's order.

    The dump is read again, so that memory does not grow with it.

    Args:
        directory: where `results.jsonl` goes.
        intake: the dump's rows, as they were judged.
        ledger: what became of them.
        progress: is told of every row.
        unscored: what stands for scores that are not known.

    Returns:
        What the results come to.

    Raises:
        SetupError: they cannot be written.
    """
    summary = Summary(unusable=intake.problems.unusable)
    with replacing(directory / "results.jsonl") as file:
        for entry in intake.entries(whole_rows=True, standing=ledger.standing):
            progress.advance("")
            if isinstance(entry, Refused):
                summary.refused.add(entry.kind, entry.message)
                file.write(_refused_line(entry))
                continue
            candidate = entry.candidate
            found = ledger.find(candidate)
            if found is None:
                summary.pending += 1
                continue
            judged = Judged(
                problem=candidate.problem,
                submission=candidate.submission,
                fingerprint=candidate.fingerprint,
                result=replace(found.result, submission=candidate.submission.id),
                duplicate_of=found.duplicate_of,
            )
            try:
                row = result_row(entry.row.values, judged, target_subtask=entry.target_subtask, unscored=unscored)
                line = to_json(row)
                summary.add(judged, entry.row.values, target_subtask=entry.target_subtask)
            except ODD_DATA as error:
                words = str(entry.row.error(own_fault(error, "writing its result")))
                summary.refused.add(OWN_FAULT, words)
                line = to_json(refused_row({}, words))
            file.write(line)
    return summary


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
        return to_json(refused_row(entry.row.values, entry.message))
    except ODD_DATA:
        return to_json(refused_row({}, entry.message))


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of the one at `path` once it is whole and on the disk.

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
        if path.with_name("journal").is_file():
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
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
