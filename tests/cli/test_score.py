"""`ioi-eval score`: real programs, compiled and run, and every kind of bad input with its message."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.report.result_files import load_results
from tests.cli.addition import (
    ASKS,
    COMMAND,
    ENDS,
    NARROW,
    PROBLEMS,
    RIGHT,
    SLOW,
    TESTS,
    Start,
    Write,
    problem_row,
    submission_row,
)
from tests.cli.ended_early import ended_after_a_result

Results = Callable[[], list[dict[str, Any]]]


def test_rows_without_a_problem_are_no_submissions_to_one(score: Start, write: Write) -> None:
    """The first line counts them separately."""
    ended = score(write("dump.jsonl", submission_row("right"), {**submission_row("lost"), "problem_id": None}))
    assert "1 submission to 1 problem, 1 row without a problem; reading problems and tests" in ended.stderr


def test_a_dump_is_scored(score: Start, write: Write, results: Results, tmp_path: Path) -> None:
    """AC, WA, TLE, CE, no code, a copy: table, results, summary and report are right, and the exit code is 0."""
    dump = write(
        "dump.jsonl",
        submission_row("right"),
        submission_row("narrow", NARROW, subtask="01-full"),
        submission_row("slow", SLOW),
        submission_row("typo", RIGHT.replace(";", "")),
        submission_row("prose", None, generation="I would add the numbers."),
        submission_row("fenced", None, generation=f"So:\n```cpp\n{RIGHT}```\n"),
    )
    ended = score(dump)
    assert ended.returncode == 0, ended.stderr
    assert [(r["uuid"], r["verdict"], r["total_score"]) for r in results()] == [
        ("right", "AC", 100), ("narrow", "WA", 0), ("slow", "TLE", 0), ("typo", "CE", 0), ("prose", "NC", 0),
        ("fenced", "AC", 100),
    ]  # fmt: skip
    by_id = {row["uuid"]: row for row in results()}
    assert by_id["narrow"]["all_subtasks_results"][0]["status"] == "AC"
    assert (by_id["narrow"]["target_subtask_score"], by_id["narrow"]["target_subtask_status"]) == (0, "WA")
    assert "error: expected" in by_id["typo"]["compile_message"]
    assert by_id["fenced"]["extraction"] == "fence:cpp"
    assert "2024/add" in ended.stdout
    assert "6 of 6 submissions scored" in ended.stdout
    assert "out/report.md" in ended.stdout
    assert "embedded sandbox: isolation" in ended.stderr
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["options"]["dump"] == str(dump)
    assert load_results(tmp_path / "out")["total_score"].sum() == 200


def test_reasons_for_missing_programs_are_printed(score: Start, start: Start, write: Write, results: Results) -> None:
    """Rows without code have no points. The notes of the run and the message of each row say why."""
    python = "print(sum(map(int, input().split())))\n"
    dump = write(
        "dump.jsonl",
        submission_row("python", None, generation=f"```python\n{python}```\n"),
        submission_row("cut", None, generation=f"```cpp\n{RIGHT}"),
        submission_row("talk", None, messages=[{"role": "assistant", "content": f"```py\n{python}```\n"}]),
        submission_row("bare", python),
        submission_row("stated", None, language="Python", generation=f"```cpp\n{RIGHT}```\n"),
    )
    ended = score(dump)
    assert ended.returncode == 0, ended.stderr
    wrong = "a block is tagged as Python 3, but the row is judged as C++ (the row has no `language`)"
    assert f"  2 without code (NC): {wrong}, such as 'python'\n" in ended.stdout
    cut = "the text ends inside a block that is not closed (was the generation cut off?)"
    assert f"  1 without code (NC): {cut}, such as 'cut'\n" in ended.stdout
    assert (
        "1 with a compile error (CE): the program looks like Python 3, but the row is judged as C++ (" in ended.stdout
    )
    stated = "a block is tagged as C++, but the row is judged as Python 3 (its `language`)"
    messages = [row["compile_message"] for row in results()]
    assert [messages[index] for index in (0, 1, 2, 4)] == [
        f"no code found: {why}" for why in (wrong, cut, wrong, stated)
    ]
    assert wrong in start("show", "out", "talk").stdout
    assert start("report", "out").returncode == 0
    assert score(dump).stdout.count("such as") == 4


def test_misspelled_columns_are_in_the_notes_of_results(score: Start, write: Write, tmp_path: Path) -> None:
    """Lines at the start of a long run are lost. Another language, say, changes all scores."""
    row = submission_row("a")
    dump = write("dump.jsonl", row | {"languages": "cpp"})
    write("tests.jsonl", *({**test, "checker_arg": ""} for test in TESTS))
    words = [
        "of the dump, column languages is not read. Did you mean language?",
        "problem 2024/add: column checker_arg is not read. Did you mean checker_args?",
    ]
    for _ in range(2):  # the second run finds the same results
        assert score(dump).returncode == 0
        assert json.loads((tmp_path / "out" / "summary.json").read_text())["notes"] == words


def test_doubtful_rows_are_named_before_anything_is_judged(score: Start, write: Write) -> None:
    """After hours of judging it is too late. A dry run names them too."""
    dump = write("dump.jsonl", submission_row("a"))
    checker = [["checker/checker.cpp", "int main() {}"]]
    write("problems.jsonl", problem_row("01-full", 100, "0-01", "1-01", time_limit=1000, grader_files=checker))
    write("tests.jsonl", *({**test, "test_output": None} for test in TESTS))
    ended = score(dump, "--dry-run")
    assert ended.returncode == 0
    note = "problem 2024/add: the time limit is 1000 s; if milliseconds were meant, state seconds"
    assert f"ioi-eval: problems.jsonl: {note}\n" in ended.stderr
    note = "problem 2024/add: its tests have no test_output, so its checker gets an empty answer"
    assert f"ioi-eval: tests.jsonl: {note}\n" in ended.stderr


def test_what_is_said_about_a_source_is_said_once(score: Start, tmp_path: Path) -> None:
    """A source that is opened again says it again."""
    import datasets

    rows = datasets.Dataset.from_list([submission_row("a")])
    datasets.DatasetDict({"train": rows, "test": rows}).save_to_disk(str(tmp_path / "dump"))
    ended = score("dump", "--dry-run")
    assert ended.returncode == 0
    assert ended.stderr.count("only the split train is read, not test") == 1


def test_a_header_that_the_problem_lacks_is_noted(score: Start, start: Start, write: Write, tmp_path: Path) -> None:
    """The column of the problem's files may have another name; then every program that includes the header is CE."""
    dump = write("dump.jsonl", *(submission_row(name, f'#include "add.h"\n{RIGHT}// {name}') for name in "ab"))
    row = problem_row("01-full", 100, "0-01", "1-01", graders=[["graders/add.h", ""]])
    write("problems.jsonl", {column: value for column, value in row.items() if column != "grader_files"})
    note = "2 with a compile error (CE): the program includes add.h, which its problem does not have in the column "
    ended = score(dump)
    assert f"  {note}grader_files, such as 'a'\n" in ended.stdout
    (tmp_path / "out" / "summary.json").unlink()
    assert start("report", "out").returncode == 0
    assert f"- {note}" in (tmp_path / "out" / "report.md").read_text()


def test_problems_of_apps_name_the_other_command(score: Start, write: Write) -> None:
    """The message names `apps score`."""
    dump = write("dump.jsonl", submission_row("a"))
    apps = write("apps.jsonl", {"problem_id": 0, "input_output": "{}", "difficulty": "interview"})
    ended = score(dump, "--problems", apps)
    assert ended.returncode == 2
    assert "apps.jsonl, row 1: this is a problem in the format of APPS: use ioi-eval apps score" in ended.stderr


def test_a_missing_path_in_the_form_of_a_hub_name(score: Start, write: Write, tmp_path: Path) -> None:
    """A message says that the Hub is asked, because without a network the answer takes long."""
    ended = score("dumps/mistyped", env={"HF_HUB_OFFLINE": "1"})
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "ioi-eval: there is no file or directory dumps/mistyped; asking the Hugging Face Hub ("
    )
    (tmp_path / "dumps").mkdir()
    write("dumps/dump", submission_row("a"))
    assert "the Hub" not in score("dumps/dump", "--dry-run").stderr


def test_a_second_run_judges_nothing(score: Start, write: Write, tmp_path: Path) -> None:
    """Rows that were added to the dump are judged, and no others."""
    dump = write("dump.jsonl", submission_row("a"))
    assert score(dump).returncode == 0
    first = (tmp_path / "out" / "results.jsonl").read_bytes()
    assert score(dump).returncode == 0
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == first
    write("dump.jsonl", submission_row("a"), submission_row("b", NARROW))
    assert score(dump).returncode == 0
    run = json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]
    assert (run["resumed"], run["judged"]) == (1, 1)


def test_a_run_that_began_again_is_continued_without_that_option(score: Start, write: Write) -> None:
    """The same command would begin again once more, and lose what was judged. A line says so if something is left."""
    dump = write("dump.jsonl", submission_row("a", None))
    assert "leave out" not in score(dump, "--no-resume").stderr
    dump = write("dump.jsonl", submission_row("a", None), submission_row("b", language="Ada"))
    assert "leave out" not in score(dump).stderr
    ended = score(dump, "--no-resume")
    assert ended.returncode == 1
    assert "to continue, leave out --no-resume" in ended.stderr


def test_keep_programs_avoids_compilations(score: Start, write: Write, tmp_path: Path) -> None:
    """A second run into another directory compiles nothing and says so."""
    codes = {"right": RIGHT, "narrow": NARROW, "wrong": "int x"}
    write("dump.jsonl", *(submission_row(name, f"{code}// {tmp_path}\n") for name, code in codes.items()))
    for options, words in (
        ((), None),
        (("--keep-programs", "1"), "0 kept from earlier runs, 3 more"),
        (("--keep-programs", "1"), "3 kept from earlier runs, 0 more"),
    ):
        ended = score("dump.jsonl", "--no-resume", *options)
        assert ended.returncode == 0, ended.stderr
        assert ("compilations: " in ended.stderr) == (words is not None)
        assert words is None or words in ended.stderr
        summary = json.loads((tmp_path / "out" / "summary.json").read_text())
        assert [summary["verdicts"][name] for name in ("AC", "WA", "CE")] == [1, 1, 1]
    assert summary["this_run"]["cpu_s"]["compile"] == 0


def test_suspicious_programs_are_listed_without_judging_again(score: Start, write: Write, tmp_path: Path) -> None:
    """Programs that were killed for a call are first, then those with refused calls. Other programs are not listed."""
    dump = write("dump.jsonl", submission_row("honest"), submission_row("asks", ASKS), submission_row("ptrace", ENDS))
    assert "forbidden" not in score(dump).stdout
    ended = score(dump, "--suspicious")
    assert ended.returncode == 0, ended.stderr
    list_text = ended.stdout.partition("2 submissions tried forbidden calls, 1 of them with no honest use (SV):")[2]
    listed = [line.split() for line in list_text.splitlines() if "2024/add" in line]
    assert listed == [["ptrace", "2024/add", "SV", "1", "ptrace", "1"], ["asks", "2024/add", "AC", "0", "socket", "2"]]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["suspicious"], summary["this_run"]["judged"]) == (2, 0)
    assert summary["attempted"] == {"socket": 1, "ptrace": 1}
    write("dump.jsonl", submission_row("honest"))
    assert "No submission tried a forbidden call." in score(dump, "--suspicious").stdout


def test_a_dry_run_says_what_would_be_judged_and_writes_nothing(score: Start, write: Write, tmp_path: Path) -> None:
    """The result directory is not created either."""
    dump = write("dump.jsonl", submission_row("a"), submission_row("b"), submission_row("c", SLOW))
    ended = score(dump, "--dry-run")
    assert ended.returncode == 0
    assert ended.stdout.splitlines()[2].split() == ["2024/add", "2", "1", "0"]
    assert "is not read" not in ended.stderr
    assert not (tmp_path / "out").exists()
    dump = write("dump.jsonl", *(submission_row(name, langauge="python", other=1) for name in "ab"))
    lines = score(dump, "--dry-run").stderr.splitlines()
    assert lines.count(f"ioi-eval: {dump}: column langauge is not read. Did you mean language?") == 1
    dump = write("dump.jsonl", submission_row("a", programming_language="python"))
    words = "column programming_language is not read. Did you mean language?"
    assert words in score(dump, "--dry-run").stderr
    ended = score(dump, "--dry-run", "--push-to-hub", "results")
    assert ended.returncode == 2
    assert "results is not the name of a data set to push results to: it has the form owner/name" in ended.stderr


def test_a_dry_run_says_what_is_wrong_with_the_journal(score: Start, write: Write, tmp_path: Path) -> None:
    """As the run would."""
    dump = write("dump.jsonl", submission_row("a"))
    assert score(dump).returncode == 0
    with (tmp_path / "out" / "journal").open("ab") as journal:
        journal.write(b"a part of a record")
    ended = score(dump, "--dry-run")
    assert ended.returncode == 0
    assert "(18 bytes) dropped: the last run was stopped while writing" in ended.stderr


def test_fix_includes(score: Start, write: Write, results: Results) -> None:
    """The results record it, and the program is judged again."""
    grader = '#include "add.h"\n' + RIGHT.replace("a + b", "add(a, b)")
    files = [["graders/add.h", "long long add(long long a, long long b);\n"], ["graders/grader.cpp", grader]]
    write("problems.jsonl", *(dict(row, grader_files=files) for row in PROBLEMS))
    code = "long long add(long long a, long long b) { vector<long long> v = {a, b}; return v[0] + v[1]; }\n"
    dump = write("dump.jsonl", submission_row("a", code))
    older = ("--std", "gnu++17")  # in which all headers of the standard library take half the time
    assert score(dump, *older).returncode == 0
    assert results()[0]["verdict"] == "CE"
    assert score(dump, *older, "--fix-includes").returncode == 0
    assert (results()[0]["verdict"], results()[0]["fixes"]) == ("AC", ["includes"])


def test_the_standard_can_be_chosen(score: Start, write: Write, results: Results) -> None:
    """With `--std`; an invalid one is refused."""
    dump = write("dump.jsonl", submission_row("a", f"{RIGHT}static_assert(__cplusplus < 201703L);\n"))
    assert score(dump).returncode == 0
    assert results()[0]["verdict"] == "CE"
    assert score(dump, "--std", "gnu++14").returncode == 0
    assert results()[0]["verdict"] == "AC"
    ended = score(dump, "--std", "gnu++99")
    assert ended.returncode == 2
    assert "gnu++99" in ended.stderr


@pytest.mark.parametrize("missing", ["dump", "problems", "tests"])
def test_a_missing_file_is_named(start: Start, write: Write, tmp_path: Path, missing: str) -> None:
    """Before anything is written."""
    files = {"dump": submission_row("a"), "problems": PROBLEMS[0], "tests": TESTS[0]}
    for name, row in files.items():
        if name != missing:
            write(f"{name}.jsonl", row)
    ended = start("score", "dump.jsonl", "--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    assert ended.returncode == 2
    assert f"there is no file or directory {missing}.jsonl" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"uuid": "x", ', "row 2: is not JSON"),
        (b"[1, 2]\n", "row 2: is a list; it must be an object with columns"),
        (b'{"uuid": "\xff"}\n', "row 2: is not valid UTF-8"),
    ],
    ids=["torn", "list", "encoding"],
)
def test_an_unreadable_row_ends_the_call(score: Start, write: Write, tmp_path: Path, line: bytes, words: str) -> None:
    """The message names the line. Nothing is judged."""
    dump = write("dump.jsonl", submission_row("a"))
    dump.write_bytes(dump.read_bytes() + line)
    ended = score(dump)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert not (tmp_path / "out").exists()


def test_an_empty_dump_is_named(score: Start, write: Write) -> None:
    """The message names the dump, which has no rows."""
    ended = score(write("dump.jsonl"))
    assert ended.returncode == 2
    assert "dump.jsonl is empty: it has no rows" in ended.stderr


def test_rows_that_cannot_be_judged_are_listed(score: Start, write: Write, results: Results) -> None:
    """Missing columns (with the existing ones), unknown problem and year, duplicate ids: exit code 1. The other rows
    are scored.
    """
    rows: list[Mapping[str, Any]] = [
        submission_row("good"),
        {"uuid": "b", "code": RIGHT},
        {"year": 2024, "problem_id": "add", "code": RIGHT, "name": "c"},
        {"year": 2024, "problem_id": "add", "uuid": "d", "text": "?"},
        submission_row("e", problem_id="ad"),
        submission_row("f", year=2019),
        submission_row("good", NARROW),
        submission_row("g", problem_id="Add"),
        submission_row("h", problem_id="2024/add"),
    ]
    dump = write("dump.jsonl", *rows)
    ended = score(dump)
    assert ended.returncode == 1
    for words in (
        f"problem_id is missing (a text is needed); the row has: uuid, code:\n  {dump}, row 2\n",
        "uuid is missing; the row has: year, problem_id, code, name. Name another with --id-column "
        f"(id_column= in Python):\n  {dump}, row 3\n",
        "the row has no program: it needs one of the columns code, generation, messages, source_files or "
        f"(submitted outputs) outputs or files; its columns are: year, problem_id, uuid, text:\n  {dump}, row 4\n",
        f"1 not judged: unknown problem 2024/ad: it is not in --problems:\n  {dump}, row 5\n",
        "unknown problem 2019/add: it is not in --problems. Did you mean 2024/add?\n",
        "unknown problem 2024/Add: it is not in --problems. Did you mean 2024/add?\n",
        "unknown problem 2024/2024/add: it is not in --problems. Did you mean 2024/add?\n",
        "row 7: uuid 'good' of problem 2024/add is already in row 1",
        "1 of 9 submissions scored",
    ):
        assert words in ended.stdout
    assert [row["total_score"] for row in results()] == [100, *[None] * 8]
    assert score("dump.jsonl", "--limit", "1").returncode == 0


def test_another_id_column(score: Start, write: Write, results: Results) -> None:
    """Numbers are accepted as ids. Those beyond 64 bits, like `uuid.int`, are texts in the results, so that they stay
    different.
    """
    ids = [7, 2**100, 2**100 + 1]
    rows = [{"year": 2024, "problem_id": "add", "code": RIGHT, "sample": value} for value in ids]
    assert score(write("dump.jsonl", *rows), "--id-column", "sample").returncode == 0
    assert [result["sample"] for result in results()] == [7, str(2**100), str(2**100 + 1)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (problem_row("00-samples", 100, "0-01", "9-99"), "9-99"),
        (problem_row("00-samples", 100, "0-01", task_type="ThreeSteps"), "ThreeSteps"),
    ],
    ids=["absent test", "task type"],
)
def test_an_unsupported_problem_is_not_judged(
    score: Start, write: Write, results: Results, row: Mapping[str, Any], words: str
) -> None:
    """The message has the reason. The submissions have no score instead of 0. Other problems are judged."""
    whole = [dict(problem, id="sum") for problem in PROBLEMS]
    write("problems.jsonl", row, *whole)
    write("tests.jsonl", *TESTS, *(dict(test, problem_id="sum") for test in TESTS))
    ended = score(write("dump.jsonl", submission_row("a"), submission_row("b", problem_id="sum")))
    assert ended.returncode == 1, ended.stderr
    assert words in ended.stdout
    assert [(row["verdict"], row["total_score"]) for row in results()] == [(None, None), ("AC", 100)]


def test_a_program_of_5_mb_is_not_compiled(score: Start, write: Write, results: Results) -> None:
    """It is CE with the limit in the message, and the other rows are scored."""
    dump = write("dump.jsonl", submission_row("huge", RIGHT + "// " + "x" * 5_000_000), submission_row("b"))
    ended = score(dump)
    assert ended.returncode == 0
    assert [row["verdict"] for row in results()] == ["CE", "AC"]
    assert "at most 100,000" in results()[0]["compile_message"]


def test_no_compiler_is_a_set_up_error(score: Start, write: Write) -> None:
    """The message says what to install."""
    ended = score(write("dump.jsonl", submission_row("a")), env={"CXX": "/nonexistent/g++"})
    assert ended.returncode == 2
    assert "/nonexistent/g++" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_without_bwrap_full_isolation_is_refused(score: Start, write: Write, tmp_path: Path) -> None:
    """Reduced isolation is marked in the results. With `--isolation full` the run is refused. With `--isolation none`
    the first line does not promise more: whether Landlock works is known only when the first program starts.
    """
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("g++", "setpriv", "as", "ld", "bash", "true"):
        path = shutil.which(name)
        if path:
            (commands / name).symlink_to(path)
    dump = write("dump.jsonl", submission_row("a"))
    ended = score(dump, "--isolation", "full", env={"PATH": str(commands)})
    assert ended.returncode == 2
    assert "isolation 'full' is not available on this machine: bwrap is missing" in ended.stderr
    assert not (tmp_path / "out").exists()
    ended = score(dump, env={"PATH": str(commands)})
    assert "not full isolation: bwrap is missing (Debian, Ubuntu: apt install bubblewrap)" in ended.stderr
    assert "This is enough" in ended.stderr
    assert "isolation reduced, g++" in ended.stderr
    if ended.returncode == 0:
        assert json.loads((tmp_path / "out" / "summary.json").read_text())["isolation"] == {"reduced": 1}
    else:  # this machine has no Landlock either
        assert ended.returncode in (1, 2)
    ended = score(dump, "--isolation", "none", env={"PATH": str(commands)})
    assert "isolation reduced or none (results say which), g++" in ended.stderr


@pytest.mark.root
def test_a_run_can_be_resumed_after_a_full_disk(score: Start, write: Write, tmp_path: Path) -> None:
    """The file system is real: first too small, then large enough."""
    out = tmp_path / "out"
    out.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(out)], check=False).returncode:
        pytest.skip("may not mount a file system here")
    try:
        dump = write("dump.jsonl", *(submission_row(str(n), f"{RIGHT}// {n}\n") for n in range(6)))
        ended = score(dump)
        assert ended.returncode == 2
        assert "No space left on device" in ended.stderr
        assert "Traceback" not in ended.stderr
        subprocess.run(["mount", "-o", "remount,size=1m", str(out)], check=True)
        ended = score(dump)
        assert ended.returncode == 0, ended.stderr
        assert json.loads((out / "summary.json").read_text())["this_run"]["resumed"] > 0
    finally:
        subprocess.run(["umount", str(out)], check=True)


def test_a_run_can_be_resumed_after_ctrl_c(
    score: Start, write: Write, results: Results, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """The exit code is 130. The results so far are written and are not judged again, and none of them was changed by
    the interrupt.
    """
    dump = write("dump.jsonl", submission_row("quick"), *(submission_row(str(n), f"{SLOW}// {n}\n") for n in range(40)))
    sources = ["--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out", "--workers", "1"]
    command, journal = [*COMMAND, "score", str(dump), *sources], tmp_path / "out" / "journal"
    ended = ended_after_a_result(command, journal, environment, tmp_path, signal.SIGINT)
    assert ended.returncode == 130, ended.stderr
    assert "Interrupted: writing what is there" in ended.stderr
    assert "still to be judged: repeat the command of the run" in ended.stdout
    done = len(results())
    assert 1 <= done < 41
    assert f"Interrupted: the numbers are of the {done} of 41 submissions judged so far" in ended.stdout
    assert {row["verdict"] for row in results()} <= {"AC", "TLE"}
    planned = score(dump, "--dry-run").stdout.splitlines()[2].split()
    assert planned == ["2024/add", str(41 - done), "0", str(done)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workers", "0"], "--workers"),
        (["--workers", "999999999"], "--workers"),
        (["--keep-programs", "1e300"], "--keep-programs"),
        (["--limit", "-1"], "--limit"),
        (["--isolation", "strong"], "strong"),
        (["--unscored-as", "one"], "no such value 'one'; there are: null, zero"),
        (["--problem", "nil"], "has no row for --problem nil; it has 2024/add (1)"),
        (["--year", "1999"], "has no row for --year 1999"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_a_wrong_call_has_exit_code_2(
    score: Start, write: Write, tmp_path: Path, arguments: list[str], words: str
) -> None:
    """The message names the mistake, and nothing is written."""
    ended = score(write("dump.jsonl", submission_row("a")), *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert not (tmp_path / "out").exists()


def test_groups_over_several_dumps(score: Start, write: Write, tmp_path: Path) -> None:
    """Results are grouped by model by default, by other columns with `--by`. A dump that is named twice or an unknown
    column is refused.
    """
    one = write("one.jsonl", submission_row("a", model="m1", temperature=0), submission_row("b", model="m1"))
    two = write("two.jsonl", submission_row("c", NARROW, model="m2", temperature=1))
    ended = score(one, two)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [(g["name"], g["pass_at_k"]["1"]) for g in summary["groups"]] == [("m1", 1.0), ("m2", 0.0)]
    assert "## model: m2" in (tmp_path / "out" / "report.md").read_text()
    assert score(one, two, "--by", "temperature,model").returncode == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["this_run"]["judged"] == 0
    assert [group["group"]["temperature"] for group in summary["groups"]] == ["0", "1", "(none)"]
    assert score(one, two, "--by", "none").returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["groups"] == []
    (tmp_path / "folder").mkdir()
    inner = write("folder/three.jsonl", submission_row("d"))
    for arguments, words in (
        ((tmp_path / "folder", inner), "folder, whose files are all read; give each dump once"),
        ((one, "--by", "prompt"), "--by prompt: no row has"),
        ((one, one), "is named twice"),
    ):
        ended = score(*arguments)
        assert ended.returncode == 2
        assert words in ended.stderr
