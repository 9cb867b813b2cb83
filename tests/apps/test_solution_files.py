"""Dumps that are files with programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.dump_reader import survey
from ioi_eval.apps.solution_files import open_dump
from ioi_eval.errors import InputError, NotReadWarning
from tests.apps_rows import DOUBLE, write_rows


def found(path: Path, *ids: str) -> list[tuple[str, str]]:
    """The problem and the program of each row."""
    return [(row.values["problem_id"], row.values["code"]) for row in open_dump(str(path), ids).iterate()]


def test_the_problem_of_a_file(tmp_path: Path) -> None:
    """It is the one that was named, otherwise the one in the name of the file's directory; otherwise it is unknown."""
    path = tmp_path / "solution.py"
    path.write_text(DOUBLE)
    assert found(path, "apps_42") == [("42", DOUBLE)]
    assert found(tmp_path, "42") == [("42", DOUBLE)]
    for ids in ((), ("1", "2")):
        with pytest.raises(InputError, match=r"solution.py is for one problem: name it with -t ID, once"):
            found(path, *ids)
    folder = tmp_path / "apps_7"
    folder.mkdir()
    (folder / "solution.py").write_bytes(b"\xef\xbb\xbf" + DOUBLE.encode())
    assert found(folder / "solution.py") == found(folder) == [("7", DOUBLE)]


def test_a_directory_of_solutions(tmp_path: Path) -> None:
    """In the form that mcpbr's agents write."""
    for name in ("10", "apps_2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solution.py").write_text(name)
    assert found(tmp_path) == [("10", "10"), ("2", "apps_2")]
    assert survey(open_dump(str(tmp_path), ())) == {"10": 1, "2": 1}
    assert open_dump(str(tmp_path), ()).describe().endswith(" (2 files solution.py)")
    (tmp_path / "padded" / "0010").mkdir(parents=True)
    (tmp_path / "padded" / "0010" / "solution.py").write_text("10")
    assert found(tmp_path / "padded") == [("10", "10")]
    assert open_dump(str(tmp_path / "padded"), ()).describe().endswith(" (1 file solution.py)")


def test_folders_without_a_solution_are_named(tmp_path: Path) -> None:
    """An agent that wrote no program has no score there. If no folder has one, the folder is a data set."""
    for name in ("10", "11", "apps_2"):
        (tmp_path / name).mkdir()
    (tmp_path / "10" / "solution.py").write_text("10")
    with pytest.warns(NotReadWarning, match=r"no solution.py in 11, apps_2, so nothing is scored for these$"):
        assert found(tmp_path) == [("10", "10")]
    (tmp_path / "10" / "solution.py").rename(tmp_path / "10" / "rows.jsonl")
    assert open_dump(str(tmp_path), ()).describe() == f"{tmp_path} (1 files)"


def test_a_solution_beside_directories_with_solutions(tmp_path: Path) -> None:
    """It is the dump if its problem is named, and no directory is for that; else nobody knows what is meant."""
    (tmp_path / "backup").mkdir()
    for directory in (tmp_path, tmp_path / "backup"):
        (directory / "solution.py").write_text(f"# {directory.name}")
    (row,) = open_dump(str(tmp_path), ["42"]).rows(None)
    assert row.values == {"problem_id": "42", "code": f"# {tmp_path.name}"}
    for ids in ([], ["backup"], ["42", "43"]):
        with pytest.raises(InputError, match=r"is beside directories with a solution.py; score it apart"):
            open_dump(str(tmp_path), ids)


def test_two_solutions_of_one_problem_are_refused(tmp_path: Path) -> None:
    """None of them is ignored silently. The message names both."""
    for name in ("42", "apps_42"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solution.py").write_text(name)
    with pytest.raises(InputError, match=r"/42/solution.py and .*/apps_42/solution.py are for the same problem"):
        found(tmp_path)


def test_a_row_that_cannot_be_read_counts_as_one(tmp_path: Path) -> None:
    """It is refused when it is read. The other rows are judged."""
    nested = "[" * 900 + "]" * 900
    path = tmp_path / "d.jsonl"
    path.write_text(f'{{"problem_id": 1, "code": {nested}}}\n{{"problem_id": 1, "code": "x"}}\n')
    assert survey(open_dump(str(path), ())) == {"1": 2}


def test_rows_are_counted_by_problem(tmp_path: Path) -> None:
    """Rows without a problem are counted too."""
    rows: list[dict[str, Any]] = [{"problem_id": 1}, {"problem_id": "apps_1"}, {"instance_id": "apps_2"}, {"x": 1}]
    path = write_rows(tmp_path / "d.jsonl", [{**row, "code": "x"} for row in rows])
    assert survey(open_dump(str(path), ())) == {"1": 2, "2": 1, None: 1}
    with pytest.raises(InputError, match="there is no file or directory"):
        open_dump(str(tmp_path / "no.jsonl"), ())


def test_a_data_set_is_refused_as_a_dump(tmp_path: Path) -> None:
    """If the files are swapped, the call ends, also if a row after the first ones has a program."""
    rows = [{"problem_id": n, "question": "?", "solutions": "[]"} for n in range(100)]
    path = write_rows(tmp_path / "apps.jsonl", [*rows, {"problem_id": 100, "code": "x"}])
    with pytest.raises(InputError) as raised:
        survey(open_dump(str(path), ()))
    assert str(raised.value) == (
        f"{path}: none of the first 100 rows has code or generation or messages; the columns are: problem_id, "
        "question, solutions. Call the column that holds the programs `generation` (a model's text), `messages` (a "
        "conversation) or `code` (the program itself). Or are DUMP and --dataset swapped?"
    )
    write_rows(path, [{"code": "x"}])
    with pytest.raises(InputError, match="no row has problem_id or instance_id; the columns are: code"):
        survey(open_dump(str(path), ()))


def test_programs_with_other_names_are_not_found(tmp_path: Path) -> None:
    """The message says what to call them. Beside rows they do not matter."""
    (tmp_path / "42.py").write_text(DOUBLE)
    with pytest.raises(InputError, match=r"To score its programs, call them ID/solution.py$"):
        open_dump(str(tmp_path), ())
    write_rows(tmp_path / "rows.jsonl", [{"problem_id": 42, "code": DOUBLE}])
    assert open_dump(str(tmp_path), ()).describe() == f"{tmp_path} (1 files)"
