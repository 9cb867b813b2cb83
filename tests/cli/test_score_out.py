"""`--out`: where results of `ioi-eval score` may be written, and what they may replace."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.addition import (
    NARROW,
    RIGHT,
    Start,
    Write,
    submission_row,
)
from tests.small_results import contest_row, write_results

Results = Callable[[], list[dict[str, Any]]]


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_out_that_cannot_be_a_directory(score: Start, write: Write, tmp_path: Path, dry: list[str]) -> None:
    """The error comes before anything is read or judged, also with `--dry-run`."""
    (tmp_path / "out").write_text("a file")
    ended = score(write("dump.jsonl", submission_row("a")), *dry)
    assert ended.returncode == 2
    assert f"out: {tmp_path / 'out'} is not a directory; choose another --out" in ended.stderr


def test_out_cannot_be_inside_the_dump(score: Start, write: Write, tmp_path: Path) -> None:
    """All files of a directory are read, so the next run would take the results for submissions."""
    write("dump.jsonl", submission_row("a"))
    ended = score(".")
    assert ended.returncode == 2
    assert "--out out lies in ., all files of which are read" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["results.jsonl", "tests.jsonl", "inputs.jsonl"])
def test_files_that_no_run_has_written_are_not_replaced(score: Start, write: Write, tmp_path: Path, name: str) -> None:
    """For example results of huggingface/ioi, or the tests of an import. Nothing is judged."""
    dump = write("dump.jsonl", submission_row("a", NARROW))
    (tmp_path / "out").mkdir()
    write(f"out/{name}", {"mine": 1})
    for dry in ([], ["--dry-run"]):
        ended = score(dump, *dry)
        assert ended.returncode == 2
        assert f"--out out: no run of ioi-eval has written out/{name}, which this would replace; move" in ended.stderr
    assert (tmp_path / "out" / name).read_text() == '{"mine": 1}\n'
    (tmp_path / "out" / name).unlink()
    assert score(dump).returncode == 0


def test_a_report_does_not_make_results_ours(score: Start, start: Start, write: Write, tmp_path: Path) -> None:
    """`report` writes a `summary.json` beside results of others. Results of a run without its journal are ours."""
    dump = write("dump.jsonl", submission_row("a", NARROW))
    out = write_results(tmp_path / "out", [contest_row("a", 1.0)])
    kept = (out / "results.jsonl").read_bytes()
    assert start("report", "out").returncode == 0
    ended = score(dump)
    assert (ended.returncode, (out / "results.jsonl").read_bytes()) == (2, kept)
    assert "no run of ioi-eval has written out/results.jsonl" in ended.stderr
    out.rename(tmp_path / "others")
    assert score(dump).returncode == 0
    (out / "journal").unlink()
    assert score(dump).returncode == 0


@pytest.mark.parametrize("option", ["--problems", "--tests"])
def test_no_file_is_made_inside_problems_or_tests(score: Start, write: Write, tmp_path: Path, option: str) -> None:
    """The next run would read it as problems or tests, and refuse it. Nothing is judged."""
    dump = write("dump.jsonl", submission_row("a"))
    (tmp_path / "data").mkdir()
    name = f"{option.removeprefix('--')}.jsonl"
    (tmp_path / name).rename(tmp_path / "data" / name)
    ended = score(dump, option, "data", "--out", "data/out")
    assert ended.returncode == 2
    assert "--out data/out lies in data, all files of which are read" in ended.stderr
    assert not (tmp_path / "data" / "out").exists()
    ended = score(dump, option, "data", "--log-file", "data/log.jsonl")
    assert ended.returncode == 2
    assert "--log-file data/log.jsonl lies in data, all files of which are read" in ended.stderr
    assert not (tmp_path / "data" / "log.jsonl").exists()


def test_a_file_that_is_read_is_not_replaced(score: Start, write: Write, tmp_path: Path) -> None:
    """Imported tests are in `tests.jsonl` too, and a dump may be called `results.jsonl`. A link is found as well."""
    dump = write("dump.jsonl", submission_row("a", NARROW))
    kept = (tmp_path / "tests.jsonl").read_bytes()
    (tmp_path / "link.jsonl").symlink_to("tests.jsonl")
    for tests in ("tests.jsonl", "link.jsonl"):
        ended = score(dump, "--tests", tests, "--out", ".")
        assert ended.returncode == 2
        assert f"--out .: {tests} is read by this command, whose results would replace it" in ended.stderr
    dump.rename(tmp_path / "results.jsonl")
    ended = score("results.jsonl", "--out", tmp_path, "--dry-run")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert (tmp_path / "tests.jsonl").read_bytes() == kept
    assert not (tmp_path / "journal").exists()


def test_a_dump_without_the_needed_columns_replaces_nothing(score: Start, write: Write, tmp_path: Path) -> None:
    """The message lists all columns, so that a user whose ids are in `sample` finds it. It also asks whether files were
    swapped.
    """
    row = {"year": 2024, "problem_id": "add", "code": RIGHT, "sample": 7, "temperature": 0.7}
    dump = write("dump.jsonl", row, row | {"sample": 8})
    assert score(dump, "--id-column", "sample").returncode == 0
    kept = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for arguments, words in (
        ([dump], f"{dump}: none of the first 2 rows has uuid; the columns are: year, problem_id, code, sample, "
         "temperature. Each row needs an id: add uuid, or name the column that contains it with --id-column\n"),
        ([write("null.jsonl", row | {"uuid": None, "code": None}), "--id-column", "sample"], "null.jsonl: no row has "
         "source_files or code or generation or messages or outputs or files (code is null there); the columns are: "
         "year, problem_id, code, sample, temperature, uuid. Call "),
        ([write("prompt.jsonl", row | {"code": None, "response": RIGHT, "messages": [{"role": "user", "content": ""}]}),
         "--id-column", "sample"], "prompt.jsonl: no row has source_files or code or generation or messages or outputs "
         "or files (code and messages are null, or only the prompt, there); the columns are: "),
        ([write("ids.jsonl", row | {"uid": "a"})], "ids.jsonl: no row has uuid, or uuid is misspelled as "
         "uid; the columns are: "),
        (["tests.jsonl", "--dry-run"], "has source_files or code or generation or messages or outputs or files; the "
         "columns are: year, day, problem_name, problem_id, test_name, test_input, test_output. Call "
         "the column that holds the programs `generation` (a model's text), `messages` (a conversation) or `code` (the "
         "program itself). Or are "
         "DUMP and --problems or --tests swapped?\n"),
    ):  # fmt: skip
        ended = score(*arguments)
        assert ended.returncode == 2
        assert words in ended.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == kept


def test_unknown_problems_replace_nothing(score: Start, write: Write, tmp_path: Path) -> None:
    """A call is refused if `--problem` names an unknown problem, or if all problems of the dump are unknown. Single
    unknown problems are refused row by row.
    """
    dump = write("dump.jsonl", submission_row("a"), submission_row("b", problem_id="sub"))
    assert score(dump).returncode == 1
    kept = (tmp_path / "out" / "results.jsonl").read_bytes()
    for arguments, words in (
        ([dump, "--problem", "2024/sub", "--problem", "add"], "does not have --problem 2024/sub; it has 2024/add\n"),
        ([write("other.jsonl", submission_row("c", year=2019))], f"does not have any problem of {tmp_path}/other.jsonl,"
         " which asks for 2019/add; it has 2024/add\n"),
        ([write("lost.jsonl", {"problem_id": "ad", "uuid": "c", "code": RIGHT})], f"does not have any problem of "
         f"{tmp_path}/lost.jsonl, which asks for 2024/ad (rows without `year` are for 2024); it has 2024/add\n"),
    ):  # fmt: skip
        ended = score(*arguments)
        assert ended.returncode == 2
        assert f"problems.jsonl {words}" in ended.stderr
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == kept


def test_a_dump_is_refused_if_no_row_names_its_problem_correctly(score: Start, write: Write) -> None:
    """The message says what is wrong with the first row."""
    ended = score(write("years.jsonl", submission_row("a", year="IOI 2024"), submission_row("b", year="2024.5")))
    assert ended.returncode == 2
    assert ended.stderr.endswith("years.jsonl, row 1: year is 'IOI 2024'; it must be a whole number\n")


def test_replacing_results_of_another_dump_is_announced(
    score: Start, start: Start, write: Write, tmp_path: Path
) -> None:
    """For the same dump there is no message. A summary that `report` made from results alone does not name the dump."""
    first = write("first.jsonl", submission_row("a", NARROW))
    assert score(first).returncode == 0
    assert "will be replaced" not in score(first).stderr
    ended = score(write("second.jsonl", submission_row("b", NARROW)))
    assert f"the results of {first} in out will be replaced by those of" in ended.stderr
    assert "second.jsonl\n" in ended.stderr
    (tmp_path / "out" / "summary.json").unlink()
    assert start("report", "out").returncode == 0
    assert f"the results that are in out will be replaced by those of {first}\n" in score(first).stderr


def test_a_warning_if_fewer_results_replace_more(score: Start, write: Write, results: Results) -> None:
    """With `--limit` or `--problem`. A call for as many rows or more has no message, and restores all results without
    judging.
    """
    dump = write("dump.jsonl", submission_row("a", NARROW), submission_row("b", NARROW))
    assert "will be replaced" not in score(dump).stderr
    whole = results()
    assert (
        "ioi-eval: the results of 2 rows in out will be replaced by those of 1; the journal keeps all, and the "
        "command without --limit restores them\n"
    ) in score(dump, "--limit", "1").stderr
    assert len(results()) == 1
    ended = score(dump, "--problem", "2024/add")
    assert "will be replaced" not in ended.stderr
    assert results() == whole
    write("dump.jsonl", submission_row("a", NARROW))
    ended = score(dump, "--problem", "2024/add")
    assert "the results of 2 rows in out will be replaced by those of 1\n" in ended.stderr


def test_rows_without_a_result_cannot_be_replaced(score: Start, write: Write, tmp_path: Path) -> None:
    """An earlier run was stopped: its summary counts the rows that it did not judge, too."""
    dump = write("dump.jsonl", submission_row("a", NARROW), submission_row("b", NARROW))
    score(dump, "--limit", "1")
    path = tmp_path / "out" / "summary.json"
    summary = json.loads(path.read_text())
    summary["submissions"] |= {"rows": 2, "pending": 1}
    summary["options"]["limit"] = None
    path.write_text(json.dumps(summary))
    assert "will be replaced" not in score(dump, "--limit", "1").stderr


def test_two_runs_into_one_directory_are_refused(score: Start, write: Write, tmp_path: Path) -> None:
    """The second run says which process is writing there."""
    from ioi_eval.journal import Journal

    with Journal(tmp_path / "out", options={}):
        ended = score(write("dump.jsonl", submission_row("a")))
    assert ended.returncode == 2
    assert f"process {os.getpid()} on" in ended.stderr
    assert score("dump.jsonl").returncode == 0
