"""A time limit that is derived from a package's own accepted solutions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from warnings import catch_warnings

import pytest

from ioi_eval.errors import InputError
from ioi_eval.importers.kattis import import_package
from ioi_eval.importers.task import ImportedTask
from ioi_eval.validate.time_limit import with_measured_limit
from tests.importers.packages import write_package

pytestmark = pytest.mark.usefixtures("kept_in_the_cache")

BUSY = '#include <ctime>\n#include <cstdio>\nint main() { while (clock() < 300000) {} puts("1"); }\n'
PACKAGE: dict[str, str | None] = {
    "problem.yaml": "name: x\n",
    "data/secret/1.in": "1\n",
    "data/secret/1.ans": "1\n",
    "submissions/accepted/fast.py": "print(1)\n",
    "submissions/accepted/busy.cpp": BUSY,
    "submissions/accepted/other.java": "class other {}\n",
    "submissions/wrong_answer/slower.cpp": BUSY.replace("300000", "600000"),
}


def imported(tmp_path: Path, **changes: str | None) -> ImportedTask:
    """The package, imported with `derive`."""
    return import_package(write_package(tmp_path / "x", {**PACKAGE, **changes}), year=2025, derive=True)


def limit(task: ImportedTask) -> float:
    """The limit, which is the same in all its rows."""
    (found,) = {row["time_limit"] for row in task.problem_rows}
    assert isinstance(found, float)
    return found


@pytest.mark.parametrize(
    ("limits", "least", "resolution", "slowest"),
    [
        ("", 2, 1, "2 submissions (2025/x/accepted/busy.cpp, "),
        ("limits: {time_multiplier: 10}\n", 3, 1, "2 submissions (2025/x/accepted/busy.cpp, "),
        ("problem_format_version: 2025-09\n", 2, 1, "3 submissions (2025/x/wrong_answer/slower.cpp, "),
        (
            "problem_format_version: 2025-09\n"
            "limits: {time_multipliers: {ac_to_time_limit: 4}, time_resolution: 0.25}\n",
            2.5,
            0.25,
            "3 submissions (2025/x/wrong_answer/slower.cpp, ",
        ),
    ],
)
def test_the_limit_is_the_slowest_time_multiplied(
    tmp_path: Path, limits: str, least: float, resolution: float, slowest: str
) -> None:
    """The slowest takes 0.3 s of CPU time by its own clock, of which the runner may subtract some milliseconds. Since
    format 2023, a solution that is not accepted but must be in time counts too, and takes 0.6 s.
    """
    task = imported(tmp_path, **{"problem.yaml": f"name: x\n{limits}"})
    assert task.timing is not None
    with catch_warnings(action="error"):
        measured = with_measured_limit(task)
    assert measured.timing is None
    for notes in (task.notes, measured.notes):  # the limit of the measurement is long
        assert not any("milliseconds" in note for note in notes)
    assert least <= limit(measured) < 6 * least  # on a busy machine measured times can be longer, but not shorter
    assert limit(measured) / resolution == round(limit(measured) / resolution)
    assert f"times the slowest of {slowest}" in measured.notes[-1]


def test_solutions_that_may_be_late_do_not_count(tmp_path: Path) -> None:
    """As submissions.yaml says, in any directory. A solution in `accepted/` that must be wrong need not be accepted."""
    stated = "wrong_answer: {permitted: [AC, WA, TLE]}\naccepted: {permitted: [WA], required: [WA]}\n"
    changes = {"problem.yaml": "problem_format_version: 2025-09\nname: x\n", "submissions/submissions.yaml": stated}
    wrong = {"submissions/accepted/busy.cpp": BUSY.replace("300000", "1000").replace('"1"', '"2"')}
    others = {"submissions/accepted/fast.py": "print(2)\n", "submissions/accepted/other.java": None}
    task = imported(tmp_path, **changes, **wrong, **others)
    assert task.timing is not None
    assert task.timing.accepted == frozenset()
    assert task.timing.in_time == {"accepted/busy.cpp", "accepted/fast.py"}
    assert limit(with_measured_limit(task)) == 1


def test_solutions_stated_for_some_groups_only_do_not_count(tmp_path: Path) -> None:
    """They may fail or be late in the other groups."""
    groups: dict[str, str | None] = {
        "problem.yaml": "problem_format_version: 2025-09\nname: x\ntype: scoring\n",
        **dict.fromkeys(("data/secret/1.in", "data/secret/1.ans")),
        "submissions/submissions.yaml": "mixed/half.py: {secret/one: {permitted: [AC]}}\n"
        "mixed/all.py: {'secret/*': {permitted: [AC]}}\n",
        "submissions/mixed/half.py": "print(1)\n",
        "submissions/mixed/all.py": "print(input())\n",
        "submissions/accepted/busy.cpp": None,
        "submissions/accepted/fast.py": "print(input())\n",
        "submissions/wrong_answer/slower.cpp": None,
    }
    for name, answer in (("one", "1"), ("two", "2")):
        group = f"data/secret/{name}"
        groups |= {f"{group}/test_group.yaml": "max_score: 50\n", f"{group}/1.in": answer, f"{group}/1.ans": answer}
    task = imported(tmp_path, **groups)
    assert task.timing is not None
    assert task.timing.accepted == task.timing.in_time == {"accepted/fast.py", "accepted/other.java", "mixed/all.py"}
    assert "the slowest of 2 submissions" in with_measured_limit(task).notes[-1]


@pytest.mark.parametrize(
    "changes",
    [
        {".timelimit": "7\n"},
        {"domjudge-problem.ini": "timelimit = '7'\n"},
        {"problem.yaml": "problem_format_version: 2025-09\nname: x\nlimits: {time_limit: 7}\n"},
    ],
)
def test_a_stated_limit_is_used(tmp_path: Path, changes: dict[str, str]) -> None:
    """No solution is judged."""
    task = imported(tmp_path, **changes)
    assert with_measured_limit(task) is task
    assert limit(task) == 7


def test_a_wrong_accepted_solution_is_an_error(tmp_path: Path) -> None:
    """The message names it."""
    task = imported(tmp_path, **{"submissions/accepted/wrong.py": "print(2)\n"})
    with pytest.raises(InputError, match=r"accepted/wrong\.py should be accepted, but is WA within 60 s"):
        with_measured_limit(task)


def test_an_accepted_solution_that_the_validator_gives_no_points(tmp_path: Path) -> None:
    """Its verdict is WA, but it counts, as on Kattis: the validator gives scores, and accepts the output with 0."""
    scoring = {
        "problem.yaml": "name: x\ntype: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nopen(sys.argv[3] + 'score.txt', 'w').write('0')\nexit(42)\n",
        "data/secret/testdata.yaml": "grader_flags: min\naccept_score: 50\nrange: 0 50\n",
    }
    task = imported(tmp_path, **scoring, **{"submissions/wrong_answer/slower.cpp": None})
    assert "the slowest of 2 submissions" in with_measured_limit(task).notes[-1]


def test_a_failing_validator_is_explained(tmp_path: Path) -> None:
    """It gives no verdict. The message says how it ended."""
    broken = {"problem.yaml": "name: x\nvalidation: custom\n", "output_validators/check.py": "raise SystemExit(3)\n"}
    with pytest.raises(InputError, match=r"is JE within 60 s in subtask all \(secret/1: checker: exit code 3"):
        with_measured_limit(imported(tmp_path, **broken))


def test_a_solution_in_a_language_without_a_grader(tmp_path: Path) -> None:
    """It cannot be judged, so it does not count. A directory with one file counts, like a file."""
    inside = {"submissions/accepted/busy.cpp": None, "submissions/accepted/folder/busy.cpp": BUSY}
    task = imported(tmp_path, **{"include/cpp/grader.cpp": "int linked;\n"}, **inside)
    assert "the slowest of 1 submission (2025/x/accepted/folder/busy.cpp, " in with_measured_limit(task).notes[-1]


def test_accepted_in_one_group(tmp_path: Path) -> None:
    """If one accepted group is enough, such a solution counts too, and a note names it. If it is late,
    it is an error.
    """
    groups: dict[str, str | None] = {
        "problem.yaml": "name: x\ntype: scoring\n",
        "data/testdata.yaml": "on_reject: continue\ngrader_flags: ignore_sample\n",
        "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n",
        **dict.fromkeys(("data/secret/1.in", "data/secret/1.ans")),
    }
    for name, answer in (("one", "1"), ("two", "2")):
        group = f"data/secret/{name}"
        flags = {f"{group}/testdata.yaml": "grader_flags: min\naccept_score: 50\n"}
        groups |= {**flags, f"{group}/{name}.in": f"{answer}\n", f"{group}/{name}.ans": f"{answer}\n"}
    gone = dict.fromkeys(f"submissions/{name}" for name in ("accepted/busy.cpp", "wrong_answer/slower.cpp"))
    programs = {"submissions/accepted/fast.py": "print(input())\n", "submissions/accepted/half.py": "print(1)\n"}
    task = imported(tmp_path, **groups, **gone, **programs)
    assert with_measured_limit(task).notes[-1].endswith("; accepted in some subtasks only: 2025/x/accepted/half.py")
    late = "if input() == '2':\n    while True: pass\nprint(1)\n"
    all_of_them = {**groups, **gone, **programs, "submissions/accepted/half.py": late}
    with pytest.raises(InputError, match=r"half\.py should be accepted, but is TLE within 0\.5 s in subtask two"):
        with_measured_limit(_quick(imported(tmp_path / "late", **all_of_them)))
    again = {f"data/secret/two/{end}": "3\n" for end in ("x.in", "x.ans")}
    # its group is WA because of the earlier test
    late_later = {"submissions/accepted/half.py": late.replace("'2'", "'3'")}
    with pytest.raises(InputError, match=r"half\.py should be accepted, but is TLE within 0\.5 s in subtask two"):
        with_measured_limit(_quick(imported(tmp_path / "later", **{**all_of_them, **again, **late_later})))
    strict = {**groups, "data/secret/testdata.yaml": "grader_flags: first_error\n"}
    with pytest.raises(InputError, match=r"half\.py should be accepted, but is WA"):
        with_measured_limit(imported(tmp_path / "strict", **{**strict, **gone, **programs}))


def _quick(task: ImportedTask) -> ImportedTask:
    """Solutions are measured with a limit of half a second instead of a minute."""
    return replace(task, problem_rows=tuple({**row, "time_limit": 0.5} for row in task.problem_rows))


@pytest.mark.parametrize("others", [[], ["accepted/other.java"], ["accepted/other.java", "wrong_answer/slower.cpp"]])
def test_without_a_usable_solution(tmp_path: Path, others: list[str]) -> None:
    """Only one in another language, only a wrong one, or none."""
    gone = ["accepted/fast.py", "accepted/busy.cpp", *others]
    task = imported(tmp_path, **{f"submissions/{name}": None for name in gone})
    with pytest.raises(InputError, match="has no accepted submission in a language that is judged"):
        with_measured_limit(task)


def test_a_multiplier_of_zero_is_not_an_absent_one(tmp_path: Path) -> None:
    """The default would be used."""
    with pytest.raises(InputError, match=r"time_multipliers in problem\.yaml is 0"):
        imported(
            tmp_path, **{"problem.yaml": "problem_format_version: 2025-09\nname: x\nlimits: {time_multipliers: 0}\n"}
        )


@pytest.mark.parametrize("value", ["0.5", "fast", ".inf", "true"])
def test_invalid_multipliers(tmp_path: Path, value: str) -> None:
    """They must be at least 1."""
    with pytest.raises(InputError, match=r"time_multiplier in problem\.yaml is"):
        imported(tmp_path, **{"problem.yaml": f"name: x\nlimits: {{time_multiplier: {value}}}\n"})
    new = f"problem_format_version: 2025-09\nname: x\nlimits: {{time_multipliers: {{ac_to_time_limit: {value}}}}}\n"
    with pytest.raises(InputError, match=r"ac_to_time_limit of time_multipliers in problem\.yaml is"):
        imported(tmp_path, **{"problem.yaml": new})
