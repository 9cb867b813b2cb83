"""Results as `report.html` needs them: a small object for each row, with the row's position on disk.

A run may have a hundred thousand rows with models' texts. So a row is read once, the values for charts and table are
kept in a few hundred bytes, and its program is read again if it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.errors import ODD_DATA, InputError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import Verdict
from ioi_eval.problems.first_rows import FIRST
from ioi_eval.report.compact import TEST_RESULTS, TESTS_ID, WithTests, tests_of_line
from ioi_eval.report.groups import Grouping, group_name, grouping_by_model
from ioi_eval.report.inputs import input_offsets
from ioi_eval.report.result_files import TESTS, line_at, lines_of, not_a_result_row, summary_of, wrong_file
from ioi_eval.report.result_sets import Family, ResultSet, family_of, first_row, has_column, id_column_of
from ioi_eval.report.result_values import NamedRow, day_of, problem_name_of, total_of, with_our_columns
from ioi_eval.report.texts import distinct_line, printable
from ioi_eval.selection import points_in_subtask, sum_of_points

DATE_COLUMNS = ("problem_date", "contest_date", "release_date", "date")
"""Columns with the date when a problem was published. Source: LiveCodeBench has `contest_date`."""

GROUP = "group"
"""The column that a report of several directories adds to rows."""

_NAME_CHARS = 120  # characters of an id, a model or a problem that a page shows
_SHARE_DIGITS = 7  # of a share on the page


@fast_dataclass
class PageRow:
    """A row of results, without large values.

    Args:
        directory: the position of its directory among those of the report.
        offset, number: the position of its line in `results.jsonl` in bytes, and the number of the line, from 1.
        model: the name of its group, by the columns of `--by`: by default the model. Empty if there is none.
        problem: `2024/nile`; for APPS the id.
        verdict: the submission's verdict; empty for a row that was refused.
        score: points, or for APPS the share of tests passed; `None` if unknown.
        parts: points in each subtask, not rounded, in the problem's order; for APPS only the score. 0 if unknown.
        time_s, memory_bytes: the most that a test took; `None` if nothing ran.
        original: the id of the submission with the same program whose result it has; `None` if it is not a copy.
        targeted: whether it was written for one subtask.
        details_key: a hash; rows with the same hash show the same details. Empty for none.
    """

    directory: int
    offset: int
    number: int
    id: str
    model: str
    problem: str
    verdict: str
    score: float | None
    parts: tuple[float, ...]
    time_s: float | None
    memory_bytes: int | None
    near_limit: bool
    original: str | None
    targeted: bool
    details_key: str


@dataclass(slots=True, kw_only=True)
class PageProblem:
    """A problem, as described by rows and summaries.

    Args:
        name: its title; empty if unknown.
        bucket: the year, or for APPS the difficulty.
        day: the contest day; empty if unknown.
        date: when it was published, as text that sorts by date; empty if unknown.
        subtasks: names and points, in the problem's order; none for APPS.
        precision: decimals of a submission's points; for APPS of its score.
        time_limit_s, memory_limit_bytes: `None` if no summary has them.
    """

    name: str = ""
    bucket: str = ""
    day: str = ""
    date: str = ""
    subtasks: tuple[tuple[str, float], ...] = ()
    precision: int = _SHARE_DIGITS
    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None

    @property
    def full_marks(self) -> float:
        """The points of all subtasks; 1 for APPS, where the score is a share."""
        return sum_of_points(points for _, points in self.subtasks) if self.subtasks else 1.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        size = self.memory_limit_bytes
        return {
            "name": self.name,
            "bucket": self.bucket,
            "date": self.date,
            "points": self.full_marks if self.subtasks else 0.0,
            "subtasks": self.subtasks,
            "time": self.time_limit_s,
            "memory": None if size is None else round(size / 2**20, 1),
        }


class PageResults(ResultSet):
    """The results in a directory, as a page reads them: with the position of each row on disk.

    Args:
        index: the position of the directory among those of the report.
        id_column: the column that names a submission, in results that have it; by default that of the run.
        by: the columns to group by, if the user named them; else those of the summary (possibly none), or, if it has
            no entry for them, the column that names the model.
    """

    def __init__(self, directory: Path, index: int, id_column: str | None, by: tuple[str, ...] | None) -> None:
        summary, family = summary_of(directory, allow_damaged=True), Family.CONTEST
        first = first_row(directory)
        if first is not None:
            family = family_of(first, directory)
        elif "judged_by" in summary:
            family = Family.APPS
        if id_column is None or not has_column(directory, id_column):
            id_column = id_column_of(summary)
        super().__init__(directory=directory, family=family, summary=summary, id_column=id_column)
        self.index = index
        columns = summary.get("by") if by is None else by
        if isinstance(columns, list | tuple):
            self.grouping = Grouping(columns=tuple(map(str, columns)))
        else:
            rows = (row for _, _, row in lines_of(self.path) if isinstance(row, dict))
            self.grouping = grouping_by_model(islice(rows, FIRST))
        self.problems: dict[str, PageProblem] = {}
        self.tests = _tests_by_id(directory / TESTS)
        self.inputs = {(shown_name(of), test): offset for (of, test), offset in input_offsets(directory).items()}

    def page_rows(self) -> Iterator[PageRow]:
        """Read all rows in order; afterwards `problems` is complete."""
        for number, offset, row in lines_of(self.path):
            try:
                yield self._page_row(with_our_columns(row), offset, number)
            except ODD_DATA as error:
                raise not_a_result_row(self.path, number, error) from error
        self._learn_from_summary()

    def named_rows(self) -> Iterator[NamedRow]:
        """All rows, one at a time; rows for APPS also with their tests."""
        for row in self.rows():
            yield self.name_of(row)[1], self._with_tests(row) if self.family is Family.APPS else row

    def row_with_tests(self, row: PageRow) -> dict[str, Any]:
        """A row, read again, with its tests; one of the reference gets our columns too."""
        try:
            whole: dict[str, Any] = with_our_columns(self._with_tests(line_at(self.path, row.offset)))
            return whole
        except ODD_DATA as error:
            wrong = wrong_file(self.directory)
            raise InputError(wrong) if wrong else not_a_result_row(self.path, row.number, error) from error

    def _with_tests(self, row: dict[str, Any]) -> dict[str, Any]:
        known = self.tests.get(row.get(TESTS_ID) or "")
        lines = {} if known is None else dict([tests_of_line(line_at(self.directory / TESTS, known[0]))])
        return WithTests(lines).row(row)

    def _page_row(self, row: dict[str, Any], offset: int, number: int) -> PageRow:
        is_contest = self.family is Family.CONTEST
        problem, submission = map(shown_name, self.name_of(row, otherwise=f"line {number}"))
        subtasks = row["all_subtasks_results"] or [] if is_contest else []
        if row["verdict"] is not None and problem not in self.problems:
            self.problems[problem] = PageProblem(
                bucket=shown_name(problem_name_of(row)[0] if is_contest else row.get("difficulty") or "unknown"),
                day=_title(day_of(row, None)) if is_contest else "",
                date=_date(row),
                subtasks=tuple((shown_name(subtask["subtask"]), float(subtask["points"])) for subtask in subtasks),
                precision=subtasks[0]["score_precision"] if subtasks else _SHARE_DIGITS,
            )
        score = total_of(row) if is_contest else row["score"]
        time_s, memory = self._peaks(row, subtasks)
        return PageRow(
            directory=self.index,
            offset=offset,
            number=number,
            id=submission,
            model=group_name(self.grouping.columns, self.grouping.labels(row)),
            problem=problem,
            verdict=row["verdict"] or "",
            score=score,
            parts=tuple(map(points_in_subtask, subtasks)) if is_contest else (score or 0.0,),
            time_s=time_s,
            memory_bytes=memory,
            near_limit=bool(row["near_limit"]),
            original=None if row["duplicate_of"] is None else shown_name(row["duplicate_of"]),
            targeted=bool(row.get("target_subtask")),
            details_key=_details_key(row),
        )

    def _peaks(self, row: dict[str, Any], subtasks: Iterable[dict[str, Any]]) -> tuple[float | None, int | None]:
        """The most time and memory of a test. In results of the reference, the subtasks have the tests."""
        if TESTS_ID in row:
            return self.tests.get(row[TESTS_ID] or "", (0, None, None))[1:]
        return _peaks_of([test for subtask in subtasks for test in subtask.get(TEST_RESULTS) or ()])

    def _learn_from_summary(self) -> None:
        """Add what rows do not have: titles, days (the reference's rows have them), limits. For APPS all problems have
        the same limits."""
        if self.family is Family.APPS:
            for problem in self.problems.values():
                problem.time_limit_s = _number(self.options.get("time_limit_s"))
                problem.memory_limit_bytes = self.options.get("memory_limit_bytes")
        for name, entry in self.known_problems.items():
            if (known := self.problems.get(shown_name(name))) is not None:
                known.name = _title(entry.get("name"))
                known.day = _title(entry.get("day")) or known.day
                known.time_limit_s = _number(entry.get("time_limit_s"))
                known.memory_limit_bytes = entry.get("memory_limit_bytes")


def _details_key(row: dict[str, Any]) -> str:
    """A hash of the details that are shown. Equal programs may differ in details: judging failed once, --no-dedupe was
    given, or they were written for different subtasks."""
    if not row["fingerprint"]:
        return ""
    names = _DETAIL_COLUMNS_WITHOUT_PROGRAM if row["verdict"] == Verdict.NC else _DETAIL_COLUMNS
    return blake2b(orjson.dumps(list(map(row.get, names))), digest_size=12).hexdigest()


_DETAIL_COLUMNS = ("fingerprint", "verdict", TESTS_ID, "target_subtask", "extraction", "language", "target", "error")
_DETAIL_COLUMNS_WITHOUT_PROGRAM = (*_DETAIL_COLUMNS, "generation", "code", "compile_message", "message")
"""Without a program the fingerprint is that of an empty one, and the text and the reason are shown."""


def _tests_by_id(path: Path) -> dict[str, tuple[int, float | None, int | None]]:
    """For each `tests_id`: where its line begins, and the most time and memory that a test took."""
    by_id: dict[str, tuple[int, float | None, int | None]] = {}
    for number, offset, values in lines_of(path):
        try:
            by_id[values[TESTS_ID]] = (offset, *_peaks_of(values[TEST_RESULTS]))
        except (KeyError, TypeError, AttributeError) as error:
            text = wrong_file(path.parent) or f"{path}, line {number}: these are not tests of results"
            raise InputError(text) from error
    return by_id


def _peaks_of(tests: Sequence[dict[str, Any]]) -> tuple[float | None, int | None]:
    times = [value for test in tests if (value := test.get("time_s")) is not None]
    sizes = [value for test in tests if (value := test.get("memory_bytes")) is not None]
    return max(times, default=None), max(sizes, default=None)


def shown_name(value: object) -> str:
    """A name as the page shows it. Problems and submissions are identified by it, so different names differ."""
    return distinct_line(str(value), length=_NAME_CHARS)


def _title(value: object) -> str:
    return printable(str(value or ""), length=_NAME_CHARS)


def _date(row: dict[str, Any]) -> str:
    """A problem's date as text that sorts by date; the year if there is no date."""
    for column in DATE_COLUMNS:
        value = row.get(column)
        if isinstance(value, str) and value[:4].isdigit():
            return printable(value[:10])
    year = row.get("year")
    return str(year) if isinstance(year, int) and 1900 < year < 3000 else ""


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
