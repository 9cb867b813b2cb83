"""The problems of a run on disk: only the needed ones are stored, and each is found by its id."""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.catalog import Catalog, load_catalog, problem_digest, read_excluded
from ioi_eval.errors import InputError, NotReadWarning, SetupError
from ioi_eval.problems.apps import read_rows
from ioi_eval.problems.apps_selection import ProblemSelection
from ioi_eval.rows import open_source
from tests.apps_rows import ROWS, apps_row, doubling, write_rows


def load(tmp_path: Path, rows: Any = ROWS, **options: Any) -> Catalog:
    """The catalog of rows."""
    return load_catalog(open_source(write_rows(tmp_path / "apps.jsonl", rows)), **options)


def test_a_stored_problem_is_equal_to_the_one_read(tmp_path: Path) -> None:
    """Tests, ids and faults are the same, in any order and repeatedly."""
    catalog = load(tmp_path)
    expected = {one.id: one for one in read_rows(open_source(tmp_path / "apps.jsonl"), range(len(ROWS)))}
    assert list(catalog.entries) == list(expected)
    for problem in [*reversed(expected), *expected]:
        assert catalog.problem(problem) == expected[problem]
    assert [catalog.problem(name) for name in catalog.entries] == list(expected.values())
    assert [one.unusable != "" for one in catalog.entries.values()] == [False, False, False, True, True, True]
    assert catalog.entries["2"].instance_id == "apps_2"


def test_unselected_problems_are_known_but_not_listed(tmp_path: Path) -> None:
    """Not selected: problems that the dump does not need, that the selection leaves out, or that the list excludes."""
    catalog = load(
        tmp_path,
        needed={"0", "1", "2", "nowhere"},
        selection=ProblemSelection(difficulties=("introductory", "Interview")),
        excluded=["apps_1"],
    )
    assert list(catalog.entries) == ["0"]
    assert catalog.knows("2")
    assert not catalog.knows("nowhere")
    assert list(load(tmp_path, needed=set()).entries) == []


def test_a_difficulty_that_no_row_has_is_refused(tmp_path: Path) -> None:
    """Also if the dump needs only some of the problems."""
    with pytest.raises(InputError, match="no problem of difficulty trivial"):
        load(tmp_path, needed={"0"}, selection=ProblemSelection(difficulties=("trivial",)))


def test_integers_of_any_size_are_stored(tmp_path: Path) -> None:
    """Also integers that Python refuses to print."""
    row = apps_row(0, [], [])
    row["input_output"] = '{"fn_name": "f", "inputs": [[1]], "outputs": [%s]}' % ("9" * 5000)
    catalog = load(tmp_path, [row])
    (test,) = catalog.problem("0").tests
    assert test.expected == 10**5000 - 1


def test_problems_larger_than_the_buffer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read from disk again."""
    monkeypatch.setattr("ioi_eval.apps.catalog._HELD_BYTES", 100)
    catalog = load(tmp_path)
    for problem in ("0", "1", "0", "2", "0"):
        assert catalog.problem(problem).id == problem


@pytest.mark.parametrize(
    "other",
    [
        doubling("1", (1, 2, 4)),
        doubling("1", (1, 2)),
        apps_row("1", ["1\n", "2\n", "3\n"], ["2\n", "4\n", "7\n"]),
        apps_row("1", ["1\n", "2\n", "3\n"], ["2\n", "4\n", ["6"]]),
        apps_row("1", [[1]], [2], fn_name="f"),
        apps_row("1", [[1]], [2], fn_name="g"),
        apps_row("1", [[1.0]], [2], fn_name="g"),
        apps_row("1", ["1\n"], []),
    ],
    ids=lambda row: row["input_output"],
)
def test_other_tests_have_another_digest(tmp_path: Path, other: dict[str, Any]) -> None:
    """Any difference in the tests counts. Title, difficulty and solutions do not."""
    rows = [doubling("1"), {**other, "problem_id": 2}, doubling(3, difficulty="x", solutions="[]", url="u")]
    first, second, third = load(tmp_path, rows).entries.values()
    assert first.digest != second.digest
    assert first.digest == third.digest


def test_digests_are_the_same_in_another_process(tmp_path: Path) -> None:
    """A resumed run must find earlier results. The digest is fixed here, because a change of the encoding would change
    it.
    """
    assert problem_digest(load(tmp_path, [doubling(1)]).problem("1"))[:16] == "7e57538f772062de"


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on file sizes simulates it. The message has the directory in which there is no space."""
    source = open_source(write_rows(tmp_path / "apps.jsonl", [apps_row(0, ["x" * 20_000], ["y"])]))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(SetupError, match=f"cannot be written to {tmp_path}: File too large; free some space there"):
            load_catalog(source, directory=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_directory_in_which_no_file_can_be_made(tmp_path: Path) -> None:
    """Space would not help there: another directory does."""
    source = open_source(write_rows(tmp_path / "apps.jsonl", [doubling(1)]))
    with pytest.raises(SetupError, match="cannot be written to /proc: No such file or directory; choose another --out"):
        load_catalog(source, directory=Path("/proc"))


def test_two_rows_with_one_id(tmp_path: Path) -> None:
    """They are refused if the run needs that problem."""
    with pytest.raises(InputError, match="both have the id 1"):
        load(tmp_path, [doubling(1), doubling("1")])
    assert list(load(tmp_path, [doubling(1), doubling(1), doubling(2)], needed={"2"}).entries) == ["2"]


def test_the_list_of_excluded_problems(tmp_path: Path) -> None:
    """One id a line, or rows of an audit. Some rows of an audit are remarks and exclude nothing."""
    path = tmp_path / "x"
    rows = [{"problem_id": "3"}, {"problem_id": 4, "reason": "\u2028"}, {"problem_id": "5", "exclude": False}]
    path.write_text("\ufeff3\n")  # some editors on Windows begin a file so
    assert read_excluded(path) == {"3"}
    path.write_text("# broken\napps_1\n 2 \n\n" + "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    assert read_excluded(path) == {"1", "2", "3", "4"}
    path.write_text("{")
    with pytest.raises(InputError, match="row 1: is not JSON"):
        read_excluded(path)
    path.write_text('{"id": 1}')
    with pytest.raises(InputError, match="row 1: problem_id is missing"):
        read_excluded(path)
    path.write_text('["1", "2"]')
    with pytest.raises(InputError, match="row 1: is a JSON list; give one id per line"):
        read_excluded(path)
    with pytest.raises(InputError, match=r"no, the list .* cannot be read: No such file or directory$"):
        read_excluded(tmp_path / "no")
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="cannot be read: 'utf-8' codec can't decode"):
        read_excluded(path)


def test_excluded_problems_that_do_not_exist(tmp_path: Path) -> None:
    """A line names them: a list in another form would exclude nothing."""
    with pytest.warns(NotReadWarning, match=r"--exclude names 2 problems that .*apps\.jsonl does not have: 0,, 77$"):
        load(tmp_path, excluded=["0,", "77", "apps_1"])


def test_a_dump_is_refused_as_a_data_set(tmp_path: Path) -> None:
    """It has the column of ids, with repeated ids, and no tests."""
    rows = [{"problem_id": 0, "code": "x"} for _ in range(40)]
    source = open_source(write_rows(tmp_path / "dump.jsonl", rows))
    with pytest.raises(InputError, match=r"there is no column input_output, .* columns are: problem_id, code"):
        load_catalog(source, needed=["0"])
    write_rows(tmp_path / "dump.jsonl", rows[:1])
    with pytest.raises(InputError, match=r"there is no column input_output.*Is it a dump"):
        load_catalog(source, needed=["0"])


def test_a_data_set_of_another_format_is_not_called_a_dump(tmp_path: Path) -> None:
    """LiveCodeBench has its tests in other columns, and no program."""
    source = open_source(write_rows(tmp_path / "lcb.jsonl", [{"question_id": "abc300_a", "public_test_cases": "[]"}]))
    with pytest.raises(InputError, match=r"the columns are: question_id, public_test_cases$"):
        load_catalog(source, needed=["0"])


@pytest.mark.parametrize(("ids", "named"), [(("0", "10"), "0000"), (("0000", "0010"), "0"), (("0", "00"), "00")])
def test_ids_with_leading_zeros(tmp_path: Path, ids: Sequence[str], named: str) -> None:
    """Some dumps pad their ids. An equal id has precedence. If several ids differ only by zeros, none is chosen."""
    source = open_source(write_rows(tmp_path / "apps.jsonl", [doubling(name) for name in ids]))
    catalog = load_catalog(source, needed=[named])
    expected = named if named in ids else ids[0]
    assert catalog.id_of(named) == expected
    assert expected in catalog.entries
    assert catalog.knows(named)
    assert expected not in load_catalog(source, excluded=[f"apps_{named}"]).entries
    ambiguous = load_catalog(open_source(write_rows(tmp_path / "two.jsonl", [doubling("0"), doubling("00")])))
    assert ambiguous.id_of("000") == "000"
    assert not ambiguous.knows("000")
    assert [catalog.id_of(name) for name in ("apps", "x0", "1")] == ["apps", "x0", "1"]
