"""`--log-file`: each line agrees with the schema, from the first event to the last, however a run ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.apps_rows import DOUBLE, ROWS, write_rows
from tests.cli.addition import COMMAND, NARROW, PROBLEMS, RIGHT, TESTS, Start, Write, problem_row, submission_row
from tests.schemas import jsonschema_rs

SCHEMA = Path(__file__).resolve().parents[2] / "ioi_eval" / "report" / "schemas" / "event.json"

CHECKER = '#include <cstdio>\nint main() { puts("1.0"); }\n'
CRASHES = "int main() { __builtin_trap(); }\n"


def events(path: Path) -> list[dict[str, Any]]:
    """The events in a file, checked with the schema if `jsonschema-rs` is installed."""
    logged: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if jsonschema_rs is not None:
        validator = jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
        for event in logged:
            assert not [error.message[:500] for error in validator.iter_errors(event)], event
            assert list(validator.iter_errors({**event, "colour": "blue"}))
    return logged


def of_kinds(logged: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """The events of these kinds."""
    return [event for event in logged if event["event"] in names]


def test_a_contest(score: Start, write: Write, tmp_path: Path) -> None:
    """A right program, a wrong one, a copy, and a row for an unknown problem; then a larger dump."""
    rows = [
        submission_row("right"), submission_row("narrow", NARROW), submission_row("again"),
        submission_row("prose", None, generation="no"), submission_row("lost") | {"problem_id": "nowhere"},
    ]  # fmt: skip
    write("dump.jsonl", *rows)
    ended = score("dump.jsonl", "--log-file", "log.jsonl")
    assert ended.returncode == 1, ended.stderr
    logged = events(tmp_path / "log.jsonl")
    assert [event["event"] for event in logged[:2]] == ["run_begins", "judging_begins"]
    assert [event["event"] for event in logged[-3:]] == ["progress", "summary", "run_ends"]
    assert logged[0]["command"] == "ioi-eval score"
    assert logged[0]["options"]["dump"] == "dump.jsonl"
    assert (logged[1]["rows"], logged[1]["problems"]) == (5, 1)
    judged = {event["submission"]: event for event in of_kinds(logged, "submission_judged")}
    assert {name: (event["verdict"], event["score"], event["tests"]) for name, event in judged.items()} == {
        "right": ("AC", 100.0, 2), "narrow": ("WA", 0.0, 2), "prose": ("NC", 0.0, 0),
    }  # fmt: skip
    assert {event["problem"] for event in judged.values()} == {"add"}
    assert judged["right"]["seconds"] > 0
    assert [event["submission"] for event in of_kinds(logged, "submission_copied")] == ["again"]
    assert "nowhere" in of_kinds(logged, "row_refused")[0]["message"]
    assert logged[-3] | {"tests": 4, "done": 5, "copies": 1, "refused": 1, "judged": 2} == logged[-3]
    assert logged[-3]["verdicts"] == {"AC": 1, "WA": 1, "NC": 1}
    assert logged[-2]["submissions"]["rows"] == 5
    assert logged[-1]["exit_code"] == 1

    write("dump.jsonl", *rows[:4], submission_row("new", RIGHT + "\n"))
    assert score("dump.jsonl", "--log-file", "log.jsonl").returncode == 0
    logged = [event for event in events(tmp_path / "log.jsonl") if event["run"] != logged[0]["run"]]
    assert [event["submission"] for event in of_kinds(logged, "submission_judged")] == ["new"]
    assert logged[-3] | {"resumed": 4, "judged": 1, "done": 5} == logged[-3]
    assert logged[-1]["exit_code"] == 0


def test_a_checker_that_is_compiled_and_crashes(start: Start, write: Write, tmp_path: Path) -> None:
    """The compilation of the checker is an event. The reason for a missing score is in the events."""
    row = problem_row("01-full", 100, "0-01", grader_files=[["checker/checker.cpp", CRASHES + f"// {tmp_path}\n"]])
    write("problems.jsonl", row)
    write("tests.jsonl", *TESTS)
    write("dump.jsonl", submission_row("right"))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    ended = start("score", "dump.jsonl", *sources, "--log-file", "out/log.jsonl")
    assert ended.returncode == 1, ended.stderr
    logged = events(tmp_path / "out" / "log.jsonl")
    preparing, prepared = of_kinds(logged, "problem_preparing", "problem_prepared")
    assert preparing["program"] == prepared["program"] == "checker"
    assert prepared["problem"] == "2024/add"
    assert prepared["error"] is None
    (error,) = of_kinds(logged, "judge_error")
    assert error["submission"] == "right"
    assert "checker" in error["message"]
    assert (
        of_kinds(logged, "submission_judged")[0] | {"verdict": "JE", "score": None}
        == of_kinds(logged, "submission_judged")[0]
    )


def test_a_program_that_was_never_started_has_run_no_test(start: Start, write: Write, tmp_path: Path) -> None:
    """The checker does not compile, so all tests are JE."""
    row = problem_row("01-full", 100, "0-01", grader_files=[["checker/checker.cpp", "int main( {}\n"]])
    write("problems.jsonl", row)
    write("tests.jsonl", *TESTS)
    write("dump.jsonl", submission_row("right"))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    assert start("score", "dump.jsonl", *sources, "--log-file", "log.jsonl").returncode == 1
    (judged,) = of_kinds(events(tmp_path / "log.jsonl"), "submission_judged")
    assert (judged["verdict"], judged["tests"]) == ("JE", 0)


def test_apps(start: Start, tmp_path: Path) -> None:
    """The score is the share of passed tests."""
    write_rows(tmp_path / "problems.jsonl", ROWS)
    dump = [
        {"uuid": name, "problem_id": ROWS[0]["problem_id"], "code": code}
        for name, code in (("right", DOUBLE), ("wrong", "print(0)"))
    ]
    (tmp_path / "dump.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dump))
    command = ("apps", "score", "dump.jsonl", "--dataset", "problems.jsonl", "--out", "out")
    ended = start(*command, "--log-file", "log.jsonl")
    assert ended.returncode == 0, ended.stderr
    logged = events(tmp_path / "log.jsonl")
    judged = {event["submission"]: event for event in of_kinds(logged, "submission_judged")}
    assert {name: event["verdict"] for name, event in judged.items()} == {"right": "AC", "wrong": "WA"}
    assert (judged["right"]["score"], judged["wrong"]["score"]) == (1.0, 0.0)
    assert logged[-2]["verdicts"] == {"AC": 1, "WA": 1}
    assert logged[-2]["difficulties"]["all"]["strict_accuracy"]["value"] == 0.5


def test_validation(start: Start, write: Write, tmp_path: Path) -> None:
    """`validate` writes the same events, with another summary."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("solutions.jsonl", submission_row("a", expected="correct"), submission_row("b", NARROW, expected="correct"))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    ended = start("validate", "solutions.jsonl", *sources, "--log-file", "log.jsonl")
    assert ended.returncode == 1, ended.stderr
    logged = events(tmp_path / "log.jsonl")
    assert {event["submission"]: event["verdict"] for event in of_kinds(logged, "submission_judged")} == {
        "a": "AC",
        "b": "WA",
    }
    assert logged[-2]["event"] == "progress"
    assert logged[-1]["exit_code"] == 1


def test_several_dumps(start: Start, write: Write, tmp_path: Path) -> None:
    """`run-tests` is one run. Each dump has its own beginning and summary."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("a.jsonl", submission_row("one"), submission_row("two", NARROW))
    write("b.jsonl", submission_row("one", None, generation="no"))
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--local_results_path", "out")
    ended = start("run-tests", "[ab].jsonl", *sources, "--log-file", "out/log.jsonl")
    assert ended.returncode == 0, ended.stderr
    logged = events(tmp_path / "out" / "log.jsonl")
    assert (logged[0]["command"], logged[0]["options"]["dumps"]) == ("ioi-eval run-tests", ["a.jsonl", "b.jsonl"])
    assert [(event["dump"], event["rows"]) for event in of_kinds(logged, "judging_begins")] == [
        ("a.jsonl", 2),
        ("b.jsonl", 1),
    ]
    judged = [(event["submission"], event["verdict"]) for event in of_kinds(logged, "submission_judged")]
    assert sorted(judged) == [("one", "AC"), ("one", "NC"), ("two", "WA")]
    assert [(event["out"], event["submissions"]["rows"]) for event in of_kinds(logged, "summary")] == [
        ("out/a", 2), ("out/b", 1),
    ]  # fmt: skip
    assert [event["done"] for event in of_kinds(logged, "progress")] == [2, 1]
    assert len({event["run"] for event in logged}) == 1
    assert (logged[-1]["event"], logged[-1]["exit_code"]) == ("run_ends", 0)


@pytest.mark.parametrize(
    "command",
    [("score", "a.jsonl", "--out", "out"), ("run-tests", "a.jsonl"), ("validate", "a.jsonl")],
    ids=lambda command: str(command[0]),
)
def test_an_unknown_tracker(start: Start, write: Write, tmp_path: Path, command: tuple[str, ...]) -> None:
    """All commands that judge contests take `--track`, and refuse an unknown service before they start."""
    write("a.jsonl", submission_row("one"))
    ended = start(*command, "--problems", "p.jsonl", "--tests", "t.jsonl", "--track", "mlflow")
    assert (ended.returncode, ended.stderr.count("--track mlflow is unknown; wandb and trackio")) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


HEEDS_INTERRUPTS = (
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])",
)
"""In front of a command: what is started in the background, as the tests may be, ignores Ctrl-C."""


def test_waiting_for_a_tracker_can_be_interrupted(write: Write, tmp_path: Path, environment: Mapping[str, str]) -> None:
    """At the end the command waits for a service that hangs, and says so. Ctrl-C ends the wait, and the results are
    complete.
    """
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("dump.jsonl", submission_row("right"))
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "trackio.py").write_text("import signal\ndef init(**options): signal.pause()\n")
    (packages / "wandb.py").write_text("def init(**options): pass\nlog, finish = print, print\n")
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
    run = subprocess.Popen(
        [*HEEDS_INTERRUPTS, *COMMAND, "score", "dump.jsonl", *sources, "--track", "trackio", "--track", "wandb"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(packages)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    stderr_lines: list[str] = []
    for line in run.stderr:
        stderr_lines.append(line)
        if "waiting until trackio has sent everything" in line:
            run.send_signal(signal.SIGINT)
            break
    _, rest = run.communicate()
    assert run.returncode == 0, (stderr_lines, rest)
    assert "may still be sending" in rest, (stderr_lines, rest)
    (process,) = re.findall(r"trackio may still be sending; it goes on without us \(process (\d+)\)", rest)
    os.kill(int(process), signal.SIGKILL)
    assert "wandb" not in rest, "only one Ctrl-C is needed"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["complete"], summary["verdicts"]) == (True, {"AC": 1})
    assert (tmp_path / "out" / "results.jsonl").read_text().count("\n") == 1


def test_the_last_event_of_a_wrong_call(score: Start, write: Write, tmp_path: Path) -> None:
    """It has the error."""
    write("dump.jsonl", submission_row("right"))
    ended = score("dump.jsonl", "--log-file", "log.jsonl", "--problem", "nile")
    assert ended.returncode == 2
    logged = events(tmp_path / "log.jsonl")
    assert [event["event"] for event in logged] == ["run_begins", "run_ends"]
    assert logged[-1]["exit_code"] == 2
    assert logged[-1]["error"] in ended.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [("/dev/full", "No space left on device"), ("dump.jsonl", "a file of another kind"), ("/proc/log", "No such file")],
)
def test_a_log_file_that_cannot_be_written(score: Start, write: Write, tmp_path: Path, name: str, words: str) -> None:
    """The error comes before anything is judged."""
    write("dump.jsonl", submission_row("right"))
    ended = score("dump.jsonl", "--log-file", name)
    assert ended.returncode == 2
    assert f"--log-file {name}" in ended.stderr
    assert words in ended.stderr
    assert not (tmp_path / "out").exists()
