"""Official outputs that show a failure of the model solution."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.errors import InputError
from tests.importers.kattis_packages import PASS_FAIL
from tests.importers.kattis_packages import read as read_kattis
from tests.importers.test_tps import read

CHECKER = "int main() { readBothSecrets(secret); readBothGraderResults(); }"
GOOD = {f"tests/{name}.out": "secret\nOK\nSV\n" for name in ("0-01", "big-01")}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("secret\nSV\nunexpected termination\n", "says SV, but the checker needs OK"),
        ("secret\nFAIL\n", "says FAIL"),
        ("secret\nPV\n", "says PV"),
        ("secret\nWA\n", "says WA"),
        ("secret\n", "does not say how the grader ended"),
        ("", "does not say how the grader ended"),
    ],
)
def test_output_of_a_failed_model_solution_is_refused(tmp_path: Path, output: str, words: str) -> None:
    """The checker would report a failure of the judge, and every solution would get 0."""
    task = read(tmp_path, **{"checker/checker.cpp": CHECKER, "tests/1-01.out": output, **GOOD})
    with pytest.raises(InputError) as caught:
        list(task.tests())
    assert f"{tmp_path / 'sum'}: tests/1-01.out {words}" in str(caught.value)
    assert "the model solution failed on this test" in str(caught.value)


def test_outputs_are_checked_only_if_the_checker_needs_it(tmp_path: Path) -> None:
    """Complete outputs are accepted, and any outputs if the checker does not need them to be complete."""
    good = {**GOOD, "tests/1-01.out": "secret\r\nOK"}
    assert len(list(read(tmp_path, **{"checker/checker.cpp": CHECKER, **good}).tests())) == 3
    assert len(list(read(tmp_path, **{"tests/1-01.out": "1\nSV\n"}).tests())) == 3


def test_empty_outputs_are_named_if_there_is_no_checker(tmp_path: Path) -> None:
    """If its generation failed, every correct program would get a wrong answer. A checker may need no output."""
    files = {"data/secret/10.ans": ""}
    (note,) = [note for note in read_kattis(tmp_path / "none", PASS_FAIL, **files).notes if "empty" in note]
    assert note.startswith("tests with an empty official output: secret/10; ")
    validated = {**files, "problem.yaml": "validation: custom\n", "output_validators/check.py": "exit(42)\n"}
    for task in (read_kattis(tmp_path / "own", PASS_FAIL, **validated), read_kattis(tmp_path / "full", PASS_FAIL)):
        assert not [note for note in task.notes if "empty" in note]
