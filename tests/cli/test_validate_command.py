"""`ioi-eval validate`: agreements, disagreements with their evidence, wrong statements."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.addition import COMMAND, NARROW, PROBLEMS, RIGHT, SLOW, TESTS, Ended, Start, Write, submission_row
from tests.cli.ended_early import ended_after_a_result


@pytest.fixture
def validate(start: Start, write: Write) -> Start:
    """Run `ioi-eval validate` on solutions to the task."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)

    def run(*rows: Mapping[str, Any], options: Sequence[str] = ()) -> Ended:
        solutions = write("solutions.jsonl", *rows)
        sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
        return start("validate", solutions, *sources, *options)

    return run


def test_a_wrong_standard_is_refused(validate: Start) -> None:
    """Before anything is judged."""
    ended = validate(submission_row("a", expected="correct"), options=("--std", "c++ten"))
    assert ended.returncode == 2
    assert "'c++ten' is not a C++ standard" in ended.stderr


def test_an_unfinished_record_of_the_journal_is_named(validate: Start, tmp_path: Path) -> None:
    """The last run was killed while it wrote."""
    row = submission_row("a", expected="correct")
    assert "dropped" not in validate(row).stderr
    with (tmp_path / "out" / "journal").open("ab") as journal:
        journal.write(b"a part of a record")
    ended = validate(row)
    assert ended.returncode == 0, ended.stderr
    assert "(18 bytes) dropped: the last run was stopped while writing" in ended.stderr


def test_statements_that_are_true(validate: Start, tmp_path: Path) -> None:
    """For subtasks, for the whole, and for the total. Without an id the label names the solution."""
    labelled = {
        "year": 2024,
        "problem_id": "add",
        "label": "correct/a.cpp",
        "code": RIGHT,
        "expected": "model_solution",
    }
    ended = validate(
        labelled,
        submission_row("narrow", NARROW, expected_subtasks={"00-samples": "AC", "01-full": "WA"}, expected_total=0),
        submission_row("slow", SLOW, expected_subtasks={"00-samples": "FAILED"}, expected="time_limit"),
        submission_row("silent", RIGHT + "\n"),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "All 5 statements agree." in ended.stdout
    assert "Left out, because no verdict is stated: 1 solution (2024/add, silent)." in ended.stdout
    values = json.loads((tmp_path / "out" / "validation.json").read_text())
    assert values["problems"] == {"2024/add": {"solutions": 3, "statements": 5, "agreements": 5}}
    assert "All 5 statements agree." in (tmp_path / "out" / "validation.md").read_text()
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    assert [(row["label"], row["all_subtasks_points"]) for row in rows][:2] == [
        ("correct/a.cpp", 100.0),
        ("narrow", 0.0),
    ]


def test_disagreements_come_with_their_evidence(validate: Start, tmp_path: Path) -> None:
    """Test, verdict, time, memory and the checker's message. The exit code is 1."""
    ended = validate(
        submission_row("narrow", NARROW, expected_subtasks={"00-samples": "AC", "01-full": "TLE"}, expected_total=50),
        submission_row("right", RIGHT, expected="time_limit"),
        submission_row("partial", RIGHT, expected_total=[0.000001, 99.98]),
    )
    assert ended.returncode == 1
    assert "2024/add, narrow, subtask 01-full: stated TLE, seen WA\n  test 1-01: WA, 0.0" in ended.stdout
    assert "MiB" in ended.stdout
    assert "2024/add, narrow, (total): stated 50 points, seen 0 points" in ended.stdout
    assert "2024/add, right, (whole): stated time_limit, seen 00-samples AC, 01-full AC" in ended.stdout
    assert "2024/add, partial, (total): stated 0.000001 to 99.98 points, seen 100 points" in ended.stdout
    assert "4 of 5 statements disagree." in ended.stdout
    assert "| 2024/add | narrow | 01-full | TLE | WA | test 1-01" in (tmp_path / "out" / "validation.md").read_text()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"expected": "excellent"}, "row 1: unknown expectation 'excellent'"),
        ({"expected_subtasks": {"09-none": "AC"}}, "names 09-none, but problem 2024/add has the subtasks 00-samples"),
        ({"expected_subtasks": "AC"}, "row 1: expected_subtasks must be an object"),
        ({}, "states nothing to compare with"),
    ],
    ids=["label", "subtask", "shape", "nothing"],
)
def test_invalid_statements_are_refused(validate: Start, other: Mapping[str, Any], words: str) -> None:
    """Before anything is judged."""
    ended = validate(submission_row("a", **other))
    assert ended.returncode == 2
    assert words in ended.stderr


def test_a_selection_without_solutions_lists_the_problems(validate: Start, write: Write) -> None:
    """The solutions state something, but none of them is selected. A problem that does not exist is refused."""
    row = submission_row("a", expected="correct")
    ended = validate(row, options=["--problem", "2023/add", "--problem", "add"])
    assert ended.returncode == 2
    assert "problems.jsonl has no problem 2023/add; it has 2024/add" in ended.stderr
    write("problems.jsonl", *PROBLEMS, {**PROBLEMS[0], "year": 2023})
    ended = validate(row, options=["--problem", "2023/add"])
    assert ended.returncode == 2
    assert "has no row for --problem 2023/add; it has 2024/add (1)" in ended.stderr


def test_a_wrong_file_is_refused_before_judging(start: Start, validate: Start) -> None:
    """As in `score`: with the columns, and what to do, not once for each row."""
    ended = validate({"problem_id": "add", "expected": "correct"})
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no row has source_files or code or" in ended.stderr
    assert "are SOLUTIONS and --problems or --tests swapped?" in ended.stderr
    ended = validate({"problem_id": "add", "code": RIGHT, "expected": "correct"})
    assert "no row has label or uuid" in ended.stderr


def test_no_resume_without_a_journal_is_refused(start: Start, write: Write) -> None:
    """It would have no effect."""
    solutions = write("solutions.jsonl", submission_row("a", expected="correct"))
    ended = start("validate", solutions, "--problems", "problems.jsonl", "--tests", "tests.jsonl", "--no-resume")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--no-resume is about the journal in --out, and none was given: leave --no-resume out" in ended.stderr


def test_an_out_that_cannot_be_written_is_refused_before_judging(validate: Start, write: Write) -> None:
    """As in `score`."""
    write("out")
    ended = validate(submission_row("a", expected="correct"))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "is not a directory; choose another --out" in ended.stderr


def test_rows_that_cannot_be_judged_are_no_agreement(validate: Start) -> None:
    """They are listed separately, with their names, and the exit code is 1."""
    ended = validate(
        submission_row("a", expected="correct"),
        submission_row("b", problem_id="ad", expected="correct"),
        submission_row("c", language="pascal", expected="correct"),
    )
    assert ended.returncode == 1
    assert "row 2 (b): unknown problem 2024/ad" in ended.stdout
    assert "row 3 (c): its language is pascal" in ended.stdout
    assert "0 of 1 statements disagree; not judged: 2 solutions." in ended.stdout


def test_comparison_with_existing_results(validate: Start, start: Start, write: Write, score: Start) -> None:
    """Our own results agree. Results of another program are compared by their statuses and points."""
    dump = write("dump.jsonl", submission_row("narrow", NARROW), submission_row("right", RIGHT))
    assert score(dump).returncode == 0
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    ended = start("validate", "--against", "out/results.jsonl", *sources)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "All 10 statements agree." in ended.stdout
    wrong = {"subtask": "01-full", "weighted_score": 100.0, "status": "AC", "test_results": []}
    stated: dict[str, Any] = {"all_subtasks_points": 100.0, "all_subtasks_results": [wrong]}
    theirs = write("theirs.jsonl", submission_row("narrow", NARROW, **stated), submission_row("other", **stated))
    ended = start("validate", dump, "--against", theirs, *sources)
    assert ended.returncode == 1
    assert "2024/add, narrow, subtask 01-full: stated 100 points, seen 0 points\n  test 1-01: WA" in ended.stdout
    assert "2024/add, narrow, subtask 01-full: stated AC, seen WA" in ended.stdout
    assert "2024/add, narrow, (total): stated 100 points, seen 0 points" in ended.stdout
    assert "1 stated result without a solution: year, problem_id and name" in ended.stdout
    ended = start("validate", dump, "--against", "out", *sources)
    assert ended.returncode == 0, ended.stderr
    ended = start("validate", *sources)
    assert ended.returncode == 2
    assert "give SOLUTIONS, or --against RESULTS" in ended.stderr


def test_ctrl_c_keeps_the_results_so_far(write: Write, environment: Mapping[str, str], tmp_path: Path) -> None:
    """The exit code is 130, and the results so far are compared. Solutions that were not judged are counted, and not as
    agreements.
    """
    quick = submission_row("quick", expected="incorrect")
    slow = (submission_row(str(number), f"{SLOW}// {number}\n", expected="time_limit") for number in range(40))
    solutions = write("solutions.jsonl", quick, *slow)
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    sources = ["--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out", "--workers", "1", "--progress"]
    child = subprocess.Popen(
        [*COMMAND, "validate", str(solutions), *sources],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=dict(environment),
        start_new_session=True,
    )
    assert isinstance(child.stderr, io.BufferedReader)
    seen = b""
    try:
        while b"AC 1" not in seen:
            piece = child.stderr.read1(4096)
            assert piece, seen
            seen += piece
        os.killpg(child.pid, signal.SIGINT)
        output, _ = child.communicate()
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 130
    assert b"2024/add, quick, (whole): stated incorrect, seen" in output
    assert b"solutions still to be judged" in output
    values = json.loads((tmp_path / "out" / "validation.json").read_bytes())
    assert 1 <= values["problems"]["2024/add"]["solutions"] == 41 - values["pending"] < 41
    assert not values["agrees"]


def test_a_killed_validation_is_resumed(validate: Start, tmp_path: Path, environment: Mapping[str, str]) -> None:
    """Existing results are kept, even if the statements have changed meanwhile. With `--no-resume` all solutions are
    judged again.
    """
    slow = "#include <unistd.h>\nint main() {{ usleep(200000); return {}; }}\n"
    programs = [submission_row(str(n), slow.format(n + 1), expected="time_limit") for n in range(6)]
    (tmp_path / "solutions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in programs))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out", "--workers", "1")
    journal = tmp_path / "out" / "journal"
    command = [*COMMAND, "validate", "solutions.jsonl", *sources]
    ended_after_a_result(command, journal, environment, tmp_path, signal.SIGKILL)
    judged = journal.read_bytes().count(b" r ")
    assert 0 < judged < 6
    second = validate(*({**row, "expected": "runtime_error"} for row in programs))
    assert second.returncode == 0, second.stdout + second.stderr
    assert journal.read_bytes().count(b" r ") == 6
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    assert [(row["label"], row["verdict"]) for row in rows] == [(str(n), "RE") for n in range(6)]
    assert validate(programs[0], options=["--no-resume"]).returncode == 1
    assert journal.read_bytes().count(b" r ") == 1


def test_results_of_a_score_are_not_replaced(validate: Start, score: Start, write: Write, tmp_path: Path) -> None:
    """Nor does `score` replace results of `validate`: both write `results.jsonl`."""
    dump = write("dump.jsonl", submission_row("right"))
    assert score(dump).returncode == 0
    kept = (tmp_path / "out" / "results.jsonl").read_bytes()
    ended = validate(submission_row("right", expected="correct"))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--out out holds results of ioi-eval score, which this would replace; choose another --out" in ended.stderr
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == kept
    (tmp_path / "out").rename(tmp_path / "scored")
    assert validate(submission_row("right", expected="correct")).returncode == 0
    ended = score(dump)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "holds results of ioi-eval validate" in ended.stderr


def test_a_report_does_not_change_whose_results_these_are(
    validate: Start, start: Start, score: Start, write: Write
) -> None:
    """`report` writes a `summary.json` beside `validation.json`. The directory is still one of `validate`."""
    solution = submission_row("right", expected="correct")
    assert validate(solution).returncode == 0
    assert start("report", "out").returncode == 0
    assert validate(solution).returncode == 0
    ended = score(write("dump.jsonl", submission_row("right")))
    assert ended.returncode == 2
    assert "--out out holds results of ioi-eval validate, which this would replace" in ended.stderr
