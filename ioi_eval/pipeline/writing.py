"""Writes the files of a run: `results.jsonl`, `tests.jsonl`, `inputs.jsonl`, `summary.json`, `report.md`.

Each is written under another name and then renamed, so that a reader sees the whole old file or the whole new one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ioi_eval.errors import ODD_DATA, SetupError
from ioi_eval.model import Keep, Verdict
from ioi_eval.new_files import new_file
from ioi_eval.report import compact
from ioi_eval.report.inputs import TextPart, input_line
from ioi_eval.report.result_files import REPORT, SUMMARY
from ioi_eval.report.rows import to_json


class TestLines:
    """The lines of `tests.jsonl` and `inputs.jsonl`, each written once.

    Args:
        inputs: the beginnings of inputs are written to it: of the test that gave each program its verdict.
    """

    __test__ = False

    def __init__(self, file: BinaryIO, inputs: BinaryIO, keep: Keep = Keep.FAILING) -> None:
        self._file, self._inputs, self._keep = file, inputs, keep
        self._written: set[str] = set()
        self._inputs_written: set[tuple[str, str]] = set()

    def write(
        self, line: Mapping[str, Any], problem: str, input_of: Callable[[str], TextPart], *, deciding: str | None
    ) -> str | None:
        """Write a line if the file does not have it yet; and the input of one of its tests.

        Args:
            line: of the tests of a program.
            deciding: the test that gave its verdict, of which the input is kept; `None` if no test failed.
            input_of: returns the beginning of a test's input.

        Returns:
            The line's `tests_id`; `None` if it has no test.
        """
        self._write_input(deciding, problem, input_of)
        tests = [test if self._keeps(test) else _without_output(test) for test in line[compact.TEST_RESULTS]]
        tests_id, body = compact.line_with_id({**line, compact.TEST_RESULTS: tests}, to_json)
        if tests_id and tests_id not in self._written:
            self._written.add(tests_id)
            self._file.write(body)
        return tests_id or None

    def _write_input(self, test: str | None, problem: str, input_of: Callable[[str], TextPart]) -> None:
        if test is None or self._keep is Keep.NONE or (problem, test) in self._inputs_written:
            return
        self._inputs_written.add((problem, test))
        try:
            line = to_json(input_line(problem, test, input_of(test)))
        except (OSError, *ODD_DATA):  # The cache was deleted or is damaged. The result is written without the input.
            return
        self._inputs.write(line)

    def _keeps(self, test: Mapping[str, Any]) -> bool:
        if "output" not in test:
            return True
        return self._keep.keeps(passed=test["status"] == Verdict.AC if "status" in test else bool(test.get("passed")))


def _without_output(test: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in test.items() if name != "output"}


def write_summary(directory: Path, values: Mapping[str, Any], report: str) -> None:
    """Write `summary.json`, and as `report.md` the same in Markdown."""
    write_text(directory / SUMMARY, json.dumps(values, indent=2, ensure_ascii=False, default=str) + "\n")
    write_text(directory / REPORT, report)


def write_text(path: Path, text: str) -> None:
    """Write a file, as `replacing` does. Lone surrogates, which names may contain, become question marks."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", "replace"))


@contextmanager
def replacing(path: Path, *, advice: str = "") -> Iterator[BinaryIO]:
    """A file that replaces the one at `path` once it is whole and on the disk. Only one process writes it.

    Args:
        advice: what to do if it cannot be written; by default, to run the command again. If there is a journal, it is
            named, because it has the results.

    Raises:
        SetupError: it cannot be written; the old file stays.
    """
    try:
        with new_file(path, one_writer=True) as file:
            yield file
    except OSError as error:
        journal = path.with_name("journal")
        kept = f"The results are in {journal}; fix" if journal.is_file() else "Fix"
        advice = advice or f"{kept} the cause and run the same command again"
        raise SetupError(f"{path} cannot be written: {error.strerror}. {advice}") from error
