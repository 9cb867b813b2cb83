"""The rows of a dump: the ids of their submissions, and which rows are refused or not selected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.dump_reader import AppsDumpReader, ProblemUnusable, survey
from ioi_eval.pipeline.dump_reader import Judgeable, Refused
from ioi_eval.problems.apps_selection import ProblemSelection
from ioi_eval.rows import open_source
from tests.apps_rows import DOUBLE, ROWS, write_rows


@pytest.fixture
def dump_reader(tmp_path: Path) -> Any:
    """A reader of these rows."""

    def read(*rows: dict[str, Any], selection: ProblemSelection | None = None, **options: Any) -> AppsDumpReader:
        catalog = load_catalog(open_source(write_rows(tmp_path / "apps.jsonl", ROWS)), selection=selection)
        dump = open_source(write_rows(tmp_path / "dump.jsonl", rows))
        return AppsDumpReader(dump, catalog, fingerprints=lambda problem, one: (f"{problem}:{one.code}",), **options)

    return read


def names(dump_reader: AppsDumpReader) -> list[str]:
    """The ids of the submissions."""
    return [entry.candidate.submission.id for entry in dump_reader.entries() if isinstance(entry, Judgeable)]


def test_ids_of_submissions(dump_reader: Any) -> None:
    """The row's own id, with the number of the sample. Otherwise the position among the problem's samples, the same in
    each run.
    """
    rows = [
        {"problem_id": 0, "uuid": "a", "code": DOUBLE},
        {"problem_id": 0, "uuid": "b", "code": ["1", "2"]},
        {"problem_id": 1, "code": ["1", "2"]},
        {"problem_id": 0, "code": "x"},
    ]
    read = dump_reader(*rows)
    assert names(read) == ["a", "b/0", "b/1", "1/0", "1/1", "0/3"]
    assert names(read) == names(read)
    assert names(dump_reader({"problem_id": 0, "n": 7, "code": "x"}, id_column="n")) == ["7"]


def test_rows_that_cannot_be_judged_are_refused_with_the_reason(dump_reader: Any) -> None:
    """Unknown problems, rows without a program, repeated ids, problems whose own rows are broken."""
    rows = [
        {"problem_id": 99, "code": "x"},
        {"code": "x"},
        {"problem_id": 0, "uuid": "a", "code": "x"},
        {"problem_id": 0, "uuid": "a", "code": "y"},
        {"problem_id": 3, "code": "x"},
        {"problem_id": 0},
    ]
    entries = list(dump_reader(*rows).entries())
    assert [type(entry) for entry in entries] == [Refused, Refused, Judgeable, Refused, ProblemUnusable, Refused]
    words = [entry.message for entry in entries if isinstance(entry, Refused)]
    for found, expected in zip(
        words,
        (
            "unknown problem 99: it is not in ",
            "row 2: problem_id is missing",
            "uuid 'a' of problem 0 is already in row 3",
            "row 5: problem 3 cannot be judged: its input_output has 2 inputs and 1 output",
            "row 6: the row has no program: it needs one of the columns code, generation, messages",
        ),
        strict=True,
    ):
        assert expected in found


def test_each_program_of_a_row_is_refused(dump_reader: Any) -> None:
    """There are as many entries as the survey counted, each with its own id and program."""
    rows = [{"problem_id": n, "uuid": f"a{n}", "code": ["x", "y"]} for n in (0, 3, 99)]
    read = dump_reader(*rows)
    entries = list(read.entries())
    kinds = [Judgeable] * 2 + [ProblemUnusable] * 2 + [Refused] * 2
    assert [type(entry) for entry in entries] == kinds
    expected = [(f"a{n}/{number}", code) for n in (0, 3, 99) for number, code in enumerate("xy")]
    assert [(entry.row.values["uuid"], entry.row.values["code"]) for entry in entries] == expected
    assert sum(survey(read.source).values()) == len(entries)


def test_rows_for_unselected_problems_are_counted(dump_reader: Any) -> None:
    """They are neither judged nor refused."""
    rows = [{"problem_id": n, "code": "x"} for n in (0, 1, 2, 0)]
    read = dump_reader(*rows, selection=ProblemSelection(ids=("0",)))
    assert names(read) == ["0/0", "0/1"]
    assert read.skipped_rows == 2
