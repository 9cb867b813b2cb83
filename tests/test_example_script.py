"""The example of scoring through the Python API does what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from ioi_eval import sample

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "evaluate_generations.py"


def test_the_example_scores_a_dump_and_names_what_it_does_not_judge(tmp_path: Path) -> None:
    """A program in a language that the problem does not take is no 0, and neither is a row without a problem."""
    right = (sample.tasks() / "berths" / "solutions" / "model_solution" / "heap.cpp").read_text()
    rows = (
        {"uuid": "right", "problem_id": "berths", "code": right},
        {"uuid": "snake", "problem_id": "berths", "code": "print(1)", "language": "python"},
        {"uuid": "lost", "problem_id": "nowhere", "code": right},
    )
    dump = tmp_path / "dump.jsonl"
    dump.write_text("".join(json.dumps({"year": sample.YEAR, **row}) + "\n" for row in rows))
    command = [sys.executable, str(SCRIPT), str(dump), str(sample.problems()), str(sample.tests())]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (answer.returncode, answer.stdout) == (1, "2026/berths\t100\nnot judged\t2\n"), answer.stderr
    assert "row 2: a submission in Python is not supported for 2026/berths" in answer.stderr
    assert "row 3: there is no problem 2026/nowhere" in answer.stderr


def test_a_wrong_path_is_one_message(tmp_path: Path) -> None:
    """Whoever tries it on data of their own meets this first."""
    command = [sys.executable, str(SCRIPT), str(tmp_path / "no.jsonl"), str(sample.problems()), str(sample.tests())]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 2
    assert answer.stderr == f"there is no file or folder {tmp_path / 'no.jsonl'}; check the path\n"
