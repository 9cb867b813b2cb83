"""The public names for APPS in Python: the example of `docs/apps.md`, and plain dictionaries as rows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.apps import apps_problem
from ioi_eval.errors import RowError
from ioi_eval.model.apps import RowFault

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "apps.md"


def test_the_example_prints_what_its_page_states(cache: Path) -> None:
    """It uses the embedded sandbox, with the settings that it gives."""
    text = PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (stated,) = re.findall(r"^This prints `(.*?)`", text, re.MULTILINE)
    answer = subprocess.run(
        [sys.executable, "-c", example],
        env={**os.environ, "IOI_EVAL_CACHE": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (0, f"{stated}\n"), answer.stderr


def test_a_dictionary_is_a_row() -> None:
    """Its id is read as that of a data set's row; without one it is the index."""
    tests = '{"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"}'
    problem = apps_problem({"problem_id": "0007", "input_output": tests, "difficulty": "Interview"})
    assert (problem.id, problem.index, problem.fn_name, problem.difficulty) == ("0007", 0, "add", "interview")
    assert len(problem.tests) == 1
    assert apps_problem({"input_output": tests}, 5).id == "5"


def test_a_dictionary_without_tests_has_a_fault() -> None:
    """It says what is missing, and is no error."""
    problem = apps_problem({"question": "Add."})
    assert (problem.fault, problem.reason) == (RowFault.NO_TESTS, "the row has no tests: it has no input_output")


def test_an_id_that_cannot_be_read_is_named() -> None:
    """The message names the function, as there is no file."""
    with pytest.raises(RowError, match="apps_problem, row 1: problem_id"):
        apps_problem({"problem_id": ["a"], "input_output": "{}"})
