"""The solutions of the sample contest have their stated scores with the small judge of conftest.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from tests.sample.made import tasks

Rows = Callable[[Path], list[dict[str, Any]]]
Judges = Callable[[str], Any]

SOLUTIONS = [json.loads(line) for line in sample.solutions().open(encoding="utf-8")]


def _is_first_of_its_kind(row: dict[str, Any]) -> bool:
    """Whether no other solution of the problem in the same directory comes before it."""
    kind = row["label"].rpartition("/")[0]
    same = (other for other in SOLUTIONS if other["problem_id"] == row["problem_id"])
    return next(other for other in same if other["label"].rpartition("/")[0] == kind) is row


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=f"{row['problem_id']}/{row['label']}",
            marks=() if _is_first_of_its_kind(row) else pytest.mark.full,
        )
        for row in SOLUTIONS
    ],
)
def test_solution_has_its_stated_score(row: dict[str, Any], judges: Judges) -> None:
    """The verdict of each subtask, and the total. Without `--full`, one solution of each kind is judged:
    `tests/test_scorer.py` and `tests/cli/test_demo.py` judge all of them with the product.
    """
    # A program that only waits uses no processor time, so the wall-clock limit of this judge has to end it.
    patience = {"patience_s": 3.0} if row["label"] == "time_limit/waits-for-more.cpp" else {}
    results = judges(row["problem_id"]).judge(row["code"], **patience)

    found = {subtask: result.verdict for subtask, result in results.items()}
    for subtask, stated in row["expected_subtasks"].items():
        if stated == "FAILED" and found[subtask] not in ("AC", "PA"):
            found[subtask] = "FAILED"
    assert found == row["expected_subtasks"], results
    points = [subtask["score"] for subtask in tasks()[row["problem_id"]].settings["subtasks"]]
    total = sum(result.score * most for result, most in zip(results.values(), points, strict=True))
    assert round(total, 2) == row["expected_total"]


def test_every_source_is_listed() -> None:
    """`problem.json` states the score of every file below `solutions/`, and of no other."""
    for task in tasks().values():
        there = {str(path.relative_to(task.folder / "solutions")) for path in task.folder.glob("solutions/*/*")}
        assert there == set(task.settings["solutions"])


def test_solutions_end_in_every_way() -> None:
    """Each problem has solutions with full marks, that are partial or wrong, slow, over memory, crashing, and with
    compile errors.
    """
    for task in tasks().values():
        verdicts = {v for row in SOLUTIONS if row["problem_id"] == task.id for v in row["expected_subtasks"].values()}
        assert verdicts >= {"AC", "WA", "TLE", "MLE", "RE", "CE"}, task.id
        assert verdicts & {"PA", "OLE"}, task.id
        model = [
            row for row in SOLUTIONS if row["label"].startswith("model_solution/") and row["problem_id"] == task.id
        ]
        assert [row["expected_total"] for row in model] == [100]


def test_a_solution_fails_in_one_way_only() -> None:
    """So the verdict of a submission does not depend on which of two failures is worse."""
    for row in SOLUTIONS:
        assert len(set(row["expected_subtasks"].values()) - {"AC", "PA"}) <= 1, row["label"]


@pytest.mark.parametrize("problem_id", ["berths", "buoys"])
def test_official_outputs_get_full_marks(problem_id: str, judges: Judges, rows: Rows) -> None:
    """The answers computed in Python satisfy the C++ checker, or white-diff."""
    judge = judges(problem_id)
    for name, test in judge.tests.items():
        (judge.scratch / "input").write_text(test["test_input"])
        (judge.scratch / "answer").write_text(test["test_output"])
        (judge.scratch / "output").write_text(test["test_output"])
        assert judge.check(judge.scratch / "output").verdict == "AC", name


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        (b"4\n0 1 2 0\n", "AC"),
        (b"  4 3\t1 0\n\n1", "AC"),
        (b"4\n0 1 2 3\n", "PA"),
        (b"4\n0 0 1 2\n", "WA"),
        (b"4\n0 1 2\n", "WA"),
        (b"4\n0 1 2 0 0\n", "WA"),
        (b"4\n0 1 2 4\n", "WA"),
        (b"4\n0 1 2 -1\n", "WA"),
        (b"4\n0 1 2 99999999999999999999\n", "WA"),
        (b"99999999999999999999\n0 1 2 0\n", "WA"),
        (b"4\n0 1 2 0x0\n", "WA"),
        (b"3\n0 1 2\n", "WA"),
        (b"\0\xff\n", "WA"),
        (b"", "WA"),
    ],
)
def test_checker_of_berths(output: bytes, verdict: str, judges: Judges) -> None:
    """Any output gives a score and no crash of the checker."""
    judge = judges("berths")
    test = judge.tests["0-01"]
    (judge.scratch / "input").write_text(test["test_input"])
    (judge.scratch / "answer").write_text(test["test_output"])
    (judge.scratch / "output").write_bytes(output)
    assert judge.check(judge.scratch / "output").verdict == verdict


NOISE = {
    "no blanks": "std::string(1 << 20, 'x')",
    "no answer": "std::string(1 << 20, ' ')",
    "numbers": '"? 0 99999999999\\n"',
    "zeros": "std::string(1 << 20, '\\0')",
    "two answers": '"! 1 2\\n! 1 2\\n"',
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_manager_of_lamps_accepts_any_input(noise: str, judges: Judges) -> None:
    """Anything that a submission sends gives a zero with a message, and no crash of the manager."""
    judge = judges("lamps")
    code = f"""
        #include "lamps.h"
        #include <cstdio>
        #include <cstdlib>
        #include <string>
        std::vector<int> find_dark(int, int) {{
            const std::string noise = {noise};
            std::fwrite(noise.data(), 1, noise.size(), stdout);
            std::fflush(stdout);
            std::_Exit(0);
        }}
    """
    assert judge.compile(code) is None
    result = judge.run("0-01")
    assert (result.verdict, result.score) == ("WA", 0)
    assert result.words.startswith("Output isn't correct: ")


def test_the_paths_exist() -> None:
    """Every path that the package gives exists."""
    files = (sample.problems(), sample.tests(), sample.solutions(), sample.dump(), sample.dump_expected())
    assert all(path.is_file() for path in files)
    assert {path.name for path in sample.tasks().iterdir()} >= {task.id for task in tasks().values()}
