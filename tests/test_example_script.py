"""The example script for the Python API works as documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import evaluate_generations
import pytest

from ioi_eval import sample
from ioi_eval.report.result_files import result_rows

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "evaluate_generations.py"


def test_the_example_scores_a_dump_and_names_what_it_does_not_judge(tmp_path: Path, cache: Path) -> None:
    """A program in an unsupported language is listed as not judged and has no score 0. So is a row
    without a problem.
    """
    right = (sample.tasks() / "berths" / "solutions" / "model_solution" / "heap.cpp").read_text()
    rows = (
        {"uuid": "right", "problem_id": "berths", "code": right},
        {"uuid": "snake", "problem_id": "berths", "code": "print(1)", "language": "python"},
        {"uuid": "lost", "problem_id": "nowhere", "code": right},
    )
    dump = tmp_path / "dump.jsonl"
    dump.write_text("".join(json.dumps({"year": sample.YEAR, **row}) + "\n" for row in rows))
    command = [sys.executable, str(SCRIPT), str(dump), str(sample.problems()), str(sample.tests()), "scores"]
    expected = "2026/berths\t100\nnot judged\t2\nresults\tscores/results.jsonl\n"
    environment = {**os.environ, "IOI_EVAL_CACHE": str(cache)}
    judged = []
    for _ in range(2):
        answer = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert (answer.returncode, answer.stdout) == (1, expected), answer.stderr
        judged.append(json.loads((tmp_path / "scores" / "summary.json").read_text())["this_run"]["judged"])
    assert judged == [1, 0], "the second run resumes"
    verdicts = [row["verdict"] for row in result_rows(tmp_path / "scores")]
    assert verdicts == ["AC", None, None]
    assert "row 2: a submission in Python 3 is not supported for 2026/berths" in answer.stderr
    assert "row 3: unknown problem 2026/nowhere" in answer.stderr


def test_without_arguments_it_scores_the_sample_s_dump(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results go into `evaluation`. The sample's scores are tested with the demo."""
    given = []

    async def evaluate(*arguments: str | Path) -> int:
        given.append(arguments)
        return 1

    monkeypatch.setattr(evaluate_generations, "evaluate", evaluate)
    monkeypatch.setattr(sys, "argv", [str(SCRIPT)])
    assert evaluate_generations.main() == 1
    sources = (str(path) for path in (sample.dump(), sample.problems(), sample.tests()))
    assert given == [(*sources, Path("evaluation"))]


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_that_was_asked_for_is_no_error(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is printed to stdout, and the exit code is 0. With a wrong number of arguments it is an error."""
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), option])
    assert evaluate_generations.main() == 0
    printed = capsys.readouterr()
    assert "DUMP PROBLEMS TESTS" in printed.out
    assert printed.err == ""
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "dump.jsonl"])
    assert evaluate_generations.main() == 2
    assert "DUMP PROBLEMS TESTS" in capsys.readouterr().err


def test_a_wrong_path_is_one_message(tmp_path: Path, cache: Path) -> None:
    """A wrong path is the most likely first error of a user with their own data."""
    command = [sys.executable, str(SCRIPT), str(tmp_path / "no.jsonl"), str(sample.problems()), str(sample.tests())]
    environment = {**os.environ, "IOI_EVAL_CACHE": str(cache)}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 2
    assert answer.stderr == f"there is no file or directory {tmp_path / 'no.jsonl'}; check the path\n"


def test_it_says_what_to_activate_where_the_package_is_not_installed(tmp_path: Path) -> None:
    """Started with the system's Python, the script continues with the environment's Python, or names it. The same holds
    for the other scripts.
    """
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    helps = {SCRIPT.name: "DUMP PROBLEMS TESTS", "tests_runner.py": "DATASETS", "fidelity_table.py": "--out DIR"}
    for name, words in helps.items():
        command = [str(environment / "bin" / "python"), str(SCRIPT.with_name(name)), "--help"]
        missing = {**os.environ, "IOI_EVAL_VENV": str(tmp_path / "none")}
        answer = subprocess.run(command, env=missing, capture_output=True, text=True, check=False)
        assert answer.returncode == 1
        assert f"quickstart once, which makes {tmp_path / 'none'}, or activate the environment" in answer.stderr
        there = {**os.environ, "IOI_EVAL_VENV": sys.prefix}
        answer = subprocess.run(command, env=there, capture_output=True, text=True, check=False)
        assert "does not have ioi_eval" not in answer.stderr
        assert words in answer.stdout + answer.stderr
