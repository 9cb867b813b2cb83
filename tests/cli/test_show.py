"""`ioi-eval show`: submissions of a real run, of both families; wrong calls and unusual texts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.showing import contest_rules
from ioi_eval.report import result_values
from ioi_eval.report.result_files import result_rows
from tests.apps_rows import ROWS, ZERO
from tests.cli.addition import NARROW, PROBLEMS, RIGHT, TESTS, Start, Write, submission_row
from tests.forked_commands import ForkedCommands
from tests.small_results import apps_row, contest_row, refused, write_results

SHOUTS = RIGHT.replace("main() {", 'main() { fputs("\\33[2J bad\\n", stderr); puts("\\33]0;mine\\7");')


@pytest.fixture(scope="module")
def scored(commands: ForkedCommands, environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a task, a dump, and the results of a run in `out`."""
    directory = tmp_path_factory.mktemp("scored")
    dump = (
        submission_row("right"), submission_row("narrow", NARROW), submission_row("shouts", SHOUTS),
        submission_row("typo", RIGHT.replace(";", "")), submission_row("prose", None, generation=["no"]),
    )  # fmt: skip
    for name, rows in (("problems", PROBLEMS), ("tests", TESTS), ("dump", dump)):
        (directory / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    assert commands.run("score", "dump.jsonl", *sources, cwd=directory, env=environment).returncode == 0
    return directory


@pytest.fixture
def judged(scored: Path, start: Start, tmp_path: Path) -> Start:
    """`ioi-eval show out …` in a copy of that directory."""
    shutil.copytree(scored, tmp_path, dirs_exist_ok=True)
    return lambda *arguments, **other: start("show", "out", *arguments, **other)


def test_a_submission_is_shown_with_its_first_difference(judged: Start, tmp_path: Path) -> None:
    """Program, subtasks, tests with limits, and input. Its output is shown only after `--rerun`."""
    listed = judged()
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[1:4:2] for line in listed.stdout.splitlines()[2:]] == [
        ["right", "100"], ["narrow", "0"], ["shouts", "0"], ["typo", "0"], ["prose/0", "0"],
    ]  # fmt: skip
    assert judged("--verdict", "CE").stdout.count("typo") == 1
    shown = judged("narrow")
    assert shown.returncode == 0, shown.stderr
    assert "2024/add  narrow: WA, 0 of 100 points" in shown.stdout
    assert "   2  int main() {" in shown.stdout
    assert " of 1 s" in shown.stdout
    assert " of 256 MiB" in shown.stdout
    assert "Input (13 bytes):\n  | 3000000000 4\n" in shown.stdout
    assert "Expected (11 bytes):\n  | 3000000004\n" in shown.stdout
    assert "--rerun judges the program again" in shown.stderr
    before = (tmp_path / "out" / "results.jsonl").read_bytes()
    shown = judged("narrow", "--rerun")
    assert shown.returncode == 0, shown.stderr
    assert 'First difference: line 1: expected "3000000004", found "-1294967292"' in shown.stdout
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == before
    right = judged("right", "--rerun", "--test", "0-01")
    assert "No difference except for blanks." in right.stdout
    typo = judged("typo", "--rerun")
    assert "Compiler:\n" in typo.stdout
    assert "error: expected" in typo.stdout
    assert "No program.\n\nWhy:\n  | no code found" in judged("prose/0").stdout
    odd = judged("shouts", "--rerun")
    assert "\x1b" not in odd.stdout
    assert "\\x1b]0;mine\\x07" in odd.stdout
    assert "\\x1b[2J bad" in odd.stdout


def test_how_to_see_an_output_that_is_not_kept(judged: Start) -> None:
    """The option that keeps it depends on the verdict. A test that was not run has no output, and no advice."""
    assert "(`score --keep failing` stores it); --rerun" in judged("narrow", "--test", "1-01").stderr
    assert "(`score --keep all` stores it); --rerun" in judged("right", "--test", "0-01").stderr
    skipped = judged("typo", "--test", "0-01")
    assert "SKIPPED" in skipped.stdout
    assert "--rerun" not in skipped.stderr


def test_a_je_with_score_0_has_no_score(judged: Start, write: Write, tmp_path: Path) -> None:
    """With `--unscored-as zero` rows have a 0 for JE, and a rerun that is JE again was another score."""
    rows = list(result_rows(tmp_path / "out"))
    write("out/results.jsonl", *({**row, "verdict": "JE", "total_score": 0.0} for row in rows))
    assert "it was JE with no score, and is AC with 100.0 now" in judged("right", "--rerun").stderr


def test_the_test_that_gave_the_verdict_is_shown(start: Start, tmp_path: Path) -> None:
    """Also by `export --to junit`. An earlier test has half of the score."""
    row = contest_row("x", 0.5, 0.0)
    write_results(tmp_path / "out", [row], {"options": {}})
    shown = start("show", "out", "x")
    assert "Test 1-01: WA," in shown.stdout, shown.stderr
    assert start("export", "out", "--to", "junit", "--out", "junit.xml").returncode == 0
    assert "test 1-01: WA," in (tmp_path / "junit.xml").read_text()


def test_outputs_that_a_checker_judges_are_not_compared(start: Start, write: Write, tmp_path: Path) -> None:
    """In both families: the checker may accept an output that differs from the official one."""
    row = contest_row("x", 0.0, problem_id="add")
    row["all_subtasks_results"][0]["test_results"][0]["output"] = "4\n"
    for files in ([], [["checker/checker.cpp", "int main() {}\n"]]):
        write("problems.jsonl", *(dict(problem, grader_files=files) for problem in PROBLEMS))
        summary = {"options": {"problems": "problems.jsonl", "tests": str(write("tests.jsonl", *TESTS))}}
        write_results(tmp_path / "out", [deepcopy(row)], summary)
        shown = start("show", "out", "x").stdout
        assert ("First difference: line 1" in shown, "has a checker of its own" in shown) == (not files, bool(files))
    dataset = write("apps.jsonl", {**ROWS[0], "problem_id": 17})
    for judged_by in ("tokens", "checker:checker.cpp"):
        write_results(tmp_path / "apps", [apps_row("a", False, judged_by=judged_by)], {"judged_by": judged_by})
        shown = start("show", "apps", "a", "--dataset", dataset).stdout
        assert ("First difference: line 1" in shown) == (judged_by == "tokens")


def test_a_rerun_has_the_rules_of_the_run() -> None:
    """Except the time scale, by which the problem's limits are multiplied already. Old summaries lack some options."""
    rules = ContestRules(std="gnu++20", python="python3.12", time_scale="2", near_limit_repeats=5)
    assert contest_rules(rules.as_dict()) == replace(rules, time_scale="1")
    assert contest_rules({}) == ContestRules()


def test_wrong_calls_say_what_to_do(judged: Start, start: Start, write: Write, tmp_path: Path) -> None:
    """No results, unknown submission or test, several submissions with one name. If the problems are gone, it is no
    error.
    """
    for arguments, words in (
        (("nobody",), "has no submission nobody; `ioi-eval show out` lists them"),
        (("prose",), "has no submission prose. Did you mean 'prose/0'?"),
        (("right", "--test", "9"), "has no test 9; it has 0-01, 1-01"),
        (("right", "--problem", "nile"), "has no submission right of problem nile"),
        (("--rerun",), "name it"),
        (("right", "--verdict", "AC"), "--verdict lists submissions, and right is one: leave out one of them"),
        (("--verdict", "ac"), "no such verdict 'ac'. Did you mean 'AC'?"),
        (("--problem", "ad"), "has no submission to the problem ad. Did you mean 'add'?"),
        (("--problem", "nile"), "has no submission to the problem nile; `ioi-eval show out` lists all"),
        (("--problem", "2023/add"), "has no submission to the problem 2023/add. Did you mean '2024/add'?"),
    ):
        ended = judged(*arguments)
        assert ended.returncode == 2, ended.stdout
        assert words in ended.stderr
    ended = start("show", "nowhere")
    assert (ended.returncode, "does not exist" in ended.stderr) == (2, True)
    (tmp_path / "problems.jsonl").rename(tmp_path / "moved.jsonl")
    ended = judged("narrow")
    assert ended.returncode == 0
    assert "cannot be read, so only what the results have of its tests is shown" in ended.stderr
    assert "Input (13 bytes):\n  | 3000000000 4\n" in ended.stdout
    assert "Expected" not in ended.stdout
    ended = judged("narrow", "--rerun")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "--rerun needs the problem, which cannot be read: there is no file" in ended.stderr
    assert "paths are relative to the directory of the run: start show there, or name its sources with" in ended.stderr
    assert "relative" not in judged("narrow", "--problems", "nowhere.jsonl").stderr
    (tmp_path / "out" / "inputs.jsonl").unlink()
    assert "Input" not in judged("narrow").stdout, "of an earlier version"
    assert "Input (13 bytes)" in judged("narrow", "--problems", "moved.jsonl").stdout
    results = tmp_path / "out" / "results.jsonl"
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    write("out/results.jsonl", *rows, rows[0])
    ended = judged("right")
    assert (ended.returncode, "1 more row with this id and problem, not shown (line 6)" in ended.stderr) == (0, True)
    write("out/results.jsonl", *rows, {**rows[0], "problem_id": "other"})
    ended = judged("right")
    assert (ended.returncode, "of 2024/add, 2024/other: add --problem" in ended.stderr) == (2, True)
    write("out/results.jsonl", {"a": 1})
    assert "line 1: this is not a row of results" in judged().stderr


@pytest.mark.parametrize("arguments", [("--workers", "1"), ("right", "--isolation", "reduced"), ("--endpoints", "x")])
def test_options_of_the_sandbox_need_rerun(judged: Start, arguments: tuple[str, ...]) -> None:
    """Without it no program runs."""
    ended = judged(*arguments)
    assert ended.returncode == 2
    assert f"{arguments[-2]} has an effect only with --rerun: add --rerun, or leave it out" in ended.stderr


def test_options_of_the_sandbox_may_be_in_the_file(judged: Start, tmp_path: Path) -> None:
    """They are meant for calls with `--rerun`."""
    (tmp_path / "ioi-eval.toml").write_text('[show]\nworkers = 1\nisolation = "reduced"\n')
    assert judged("right").returncode == 0


def test_a_program_for_apps_is_shown(start: Start, write: Write) -> None:
    """Its output on the failing test is in the results. Input and expected output are in the data set."""
    write("apps.jsonl", *ROWS)
    write("dump.jsonl", {"problem_id": 1, "uuid": "zero", "code": ZERO})
    assert start("apps", "score", "dump.jsonl", "--dataset", "apps.jsonl", "--out", "out").returncode == 0
    shown = start("show", "out", "zero")
    assert shown.returncode == 0, shown.stderr
    assert "1  zero: WA, 1/4 tests" in shown.stdout
    assert "Input" in shown.stdout
    assert "First difference: line 1: expected" in shown.stdout
    again = start("show", "out", "zero", "--rerun", "--isolation", "reduced")
    assert again.returncode == 0, again.stderr
    without_times = [re.sub(r"\d+\.\d+", "", text) for text in (shown.stdout, again.stdout)]
    assert without_times[0] == without_times[1]
    assert "programs are run by" in again.stderr
    write("dump.jsonl", {"problem_id": 2, "uuid": "called", "code": "def twice(n):\n    return n\n"})
    assert start("apps", "score", "dump.jsonl", "--dataset", "apps.jsonl", "--out", "out").returncode == 0
    write("moved.jsonl", *ROWS)
    write("apps.jsonl", {**ROWS[0], "problem_id": 99})
    assert "Expected (3 bytes)" in start("show", "out", "called", "--dataset", "moved.jsonl").stdout
    assert "Input (3 bytes):\n  | [1]\n" in start("show", "out", "called").stdout
    ended = start("show", "out", "called", "--rerun")
    assert (ended.returncode, "--rerun needs the problem" in ended.stderr) == (2, True)


def test_results_that_lack_what_a_rerun_needs(start: Start, write: Write, tmp_path: Path) -> None:
    """The names of the sources, or the program."""
    write("apps.jsonl", {**ROWS[0], "problem_id": 17})
    write_results(tmp_path / "contest", [contest_row("a", 1.0)])
    write_results(tmp_path / "apps", [apps_row("a", True), apps_row("b", True, code=None)], {"judged_by": "lines"})
    for arguments, words in (
        (("contest", "a"), "the results do not name its sources"),
        (("apps", "a"), "the results do not name its data set"),
        (("apps", "b", "--dataset", "apps.jsonl"), "--rerun needs a program, and this result has none"),
    ):
        ended = start("show", *arguments, "--rerun")
        assert (ended.returncode, words in ended.stderr) == (2, True), ended.stderr


LONG = "print('x' * 100000)"


def test_a_problem_whose_id_has_a_slash_is_found(start: Start, tmp_path: Path) -> None:
    """Only the year before the first one is not part of the id."""
    out = write_results(tmp_path / "out", [contest_row("a", 1.0, problem_id="day/1")])
    for problem in ("day/1", "2024/day/1"):
        ended = start("show", out, "--problem", problem)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert start("show", out, "--problem", "1").returncode == 2


def test_a_program_for_a_data_set_with_limits_is_shown(start: Start, write: Write, tmp_path: Path) -> None:
    """The run has said that they are not used, and named its options for limits, which `show` does not have."""
    dataset = write("apps.jsonl", {**ROWS[0], "problem_id": 17, "time_limit": "2.0 seconds"})
    out = write_results(tmp_path / "out", [apps_row("a", True)], {"judged_by": "tokens"})
    ended = start("show", out, "a", "--dataset", dataset)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_rerun_shows_more_of_an_output_than_results_keep(start: Start, write: Write, tmp_path: Path) -> None:
    """Results have 500 bytes of a long line, and `show` says that they are cut off. If the verdict differs this time,
    it says so.
    """
    write("apps.jsonl", *ROWS)
    write("dump.jsonl", {"problem_id": 1, "uuid": "long", "code": LONG})
    assert start("apps", "score", "dump.jsonl", "--dataset", "apps.jsonl", "--out", "out").returncode == 0
    assert "Output:\n  | xxxx" in start("show", "out", "long").stdout
    (row,) = map(json.loads, (tmp_path / "out" / "results.jsonl").read_text().splitlines())
    write("out/results.jsonl", {**row, "verdict": "AC"})
    again = start("show", "out", "long", "--rerun")
    assert "it was AC with 0, and is WA with 0 now" in again.stderr
    assert "(65536 characters)" in again.stdout


@pytest.mark.parametrize(
    ("keep", "kept"), [("none", []), ("inputs", []), ("failing", ["narrow"]), ("all", ["right", "narrow"])]
)
def test_outputs_are_kept_as_requested(keep: str, kept: list[str], start: Start, write: Write, tmp_path: Path) -> None:
    """For contests: 4 KiB of each output are shown without `--rerun`. A later call may leave them out again."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("dump.jsonl", submission_row("right"), submission_row("narrow", NARROW))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    assert start("score", "dump.jsonl", *sources, "--keep", keep).returncode == 0
    found = [
        row["uuid"]
        for row in result_rows(tmp_path / "out")
        if any("output" in t for t in result_values.tests_of(row).values())
    ]
    assert found == kept
    inputs = [{"problem": "2024/add", "test": "1-01", "bytes": 13, "input": "3000000000 4\n"}]
    assert kept_inputs(tmp_path) == ([] if keep == "none" else inputs)
    shown = start("show", "out", "narrow")
    words = 'First difference: line 1: expected "3000000004", found "-1294967292"'
    assert (words in shown.stdout) == ("narrow" in kept)
    if keep == "all":
        assert start("score", "dump.jsonl", *sources).returncode == 0
        assert b'"output"' not in (tmp_path / "out" / "tests.jsonl").read_bytes()
        assert kept_inputs(tmp_path) == inputs, "by default too"
        assert "--rerun judges the program again" in start("show", "out", "narrow").stderr


def kept_inputs(directory: Path) -> list[dict[str, object]]:
    """The lines of `inputs.jsonl`."""
    return [json.loads(line) for line in (directory / "out" / "inputs.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("keep", "kept"), [("none", 0), ("inputs", 0), ("failing", 3), ("all", 4)])
def test_outputs_of_apps_are_kept_as_requested(
    keep: str, kept: int, start: Start, write: Write, tmp_path: Path
) -> None:
    """The journal has all of them, so with another choice nothing is judged again."""
    write("apps.jsonl", *ROWS)
    write("dump.jsonl", {"problem_id": 1, "uuid": "zero", "code": ZERO})
    call = ("apps", "score", "dump.jsonl", "--dataset", "apps.jsonl", "--out", "out", "--no-progress")
    assert start(*call).returncode == 0
    assert start(*call, "--keep", keep).returncode == 0
    (row,) = result_rows(tmp_path / "out")
    assert sum("output" in test for test in row["test_results"]) == kept
    inputs = [{"problem": "1", "test": "1", "bytes": 2, "input": "1\n"}]
    assert kept_inputs(tmp_path) == ([] if keep == "none" else inputs)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]["judged"] == 0


def test_results_of_other_programs(start: Start, write: Write, tmp_path: Path) -> None:
    """Years as floats or texts, and unknown verdicts."""
    rows = [
        contest_row("a", 1.0, year=2024.0),
        contest_row("b", 0.5, year="abc", verdict="A\x1b]0;title\x07C"),
        refused("c", "unknown problem 2024/none", year=2024, problem_id="none"),
    ]
    summary = {
        "options": {"problems": str(write("problems.jsonl", *PROBLEMS)), "tests": str(write("tests.jsonl", *TESTS))}
    }
    write_results(tmp_path / "out", rows, summary)
    assert "2024/nile  a: AC" in start("show", "out", "a", "--problem", "2024/nile").stdout
    for arguments in ((), ("b",)):
        ended = start("show", "out", *arguments)
        assert ended.returncode == 0, ended.stderr
        assert "\x1b" not in ended.stdout
    ended = start("show", "out", "c")
    assert "unknown problem 2024/none" in ended.stdout
    assert ended.stderr == "", "a row that was refused needs no problem"
    ended = start("show", "out", "c", "--rerun")
    assert ended.returncode == 2
    assert "problems.jsonl has no problem 2024/none; it has 2024/add; name" in ended.stderr
