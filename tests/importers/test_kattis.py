"""Problem packages of Kattis and DOMjudge: the rows they become, and what is refused by name."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis import import_package
from ioi_eval.importers.rows_out import write_rows
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import CheckerProtocol, Problem
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source

MIB = 1024 * 1024
GROUP = "accept_score: {}\nrange: 0 {}\ngrader_flags: min\non_reject: break\n"
PASS_FAIL: dict[str, str | None] = {
    "problem.yaml": "name: A Different Sum\nvalidator_flags: float_tolerance 1e-6\nlimits:\n  memory: 256\n",
    ".timelimit": "2.5\n",
    **{f"data/{name}.{end}": f"{name}\n" for name in ("sample/1", "secret/02", "secret/10") for end in ("in", "ans")},
    "data/secret/02.hint": "not a test",
    "submissions/accepted/good.c": "int main(void) { return 0; }\n",
    "submissions/wrong_answer/bad.cc": "// @EXPECTED_RESULTS@: RUN-ERROR, TIMELIMIT\nint main() {}\n",
    "submissions/time_limit_exceeded/slow.py": "while 1: pass\n",
    "submissions/run_time_error/crash/main.cpp": "int main() { return 1; }\n",
    "submissions/run_time_error/crash/notes.txt": "why",
    "submissions/mixed/two/a.cpp": "",
    "submissions/mixed/two/b.cpp": "",
    "submissions/accepted/good.rb": "puts 1",
}
SCORING: dict[str, str | None] = {
    "problem.yaml": "type: scoring\n",
    "domjudge-problem.ini": "timelimit = '1.5'\nshort-name='groups'\n",
    "data/testdata.yaml": "on_reject: continue\nrange: 0 100\ngrader_flags: ignore_sample\n",
    "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\noutput_validator_flags: fast\n",
    "data/secret/one/testdata.yaml": GROUP.format(30, 30),
    "data/secret/two/testdata.yaml": GROUP.format(70, 70),
    **{
        f"data/{name}.{end}": "1\n"
        for name in ("sample/1", "secret/one/1", "secret/two/1", "secret/two/2")
        for end in ("in", "ans")
    },
    "submissions/accepted/all.cpp": "int main() {}\n",
    "submissions/partially_accepted/half.cpp": "// @EXPECTED_GRADES@ AC RTE\nint main() {}\n",
}


def package(tmp_path: Path, files: dict[str, str | None], **changes: str | None) -> Path:
    """A package as a folder; a change of `None` leaves a file out."""
    where = tmp_path / "sums"
    for name, content in {**files, **changes}.items():
        if content is not None:
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            (where / name).write_text(content)
    return where


def read(tmp_path: Path, files: dict[str, str | None], **changes: str | None) -> ImportedTask:
    """Import a package with changes."""
    return import_package(package(tmp_path, files, **changes), year=2026)


def loaded(tmp_path: Path, task: ImportedTask) -> Problem:
    """The problem that comes back from the written rows."""
    written = write_rows([task], tmp_path / "rows")
    found = load_problems(open_source(written.problems), open_source(written.tests), BlobStore(tmp_path / "cache"))
    assert not found.unusable
    return found.problems[task.key]


def stated(task: ImportedTask) -> dict[str, Any]:
    """What is stated of each solution."""
    return {row["label"]: row["expected_subtasks"] or row["expected"] for row in task.solution_rows}


def test_pass_fail_package_is_one_subtask(tmp_path: Path) -> None:
    """Samples come first; the default validator's flags, DOMjudge's time limit and the format's defaults hold."""
    task = read(tmp_path, PASS_FAIL)
    problem = loaded(tmp_path, task)
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("all", 1.0, ("sample/1", "secret/02", "secret/10"))
    ]
    assert (problem.key.id, problem.name, problem.time_limit_s) == ("sums", "A Different Sum", 2.5)
    assert (problem.memory_limit_bytes, problem.output_limit_bytes) == (256 * MIB, 8 * MIB)
    assert problem.checker_protocol is CheckerProtocol.TOKENS
    assert problem.checker_args == ("float_tolerance", "1e-6")


def test_verdicts_come_from_folders_and_tags(tmp_path: Path) -> None:
    """DOMjudge's tag stands above the folder; a program of several files is left out, and said so."""
    task = read(tmp_path, PASS_FAIL)
    assert stated(task) == {
        "accepted/good.c": {"all": "AC"},
        "run_time_error/crash/main.cpp": {"all": "RE,MLE,SV"},
        "time_limit_exceeded/slow.py": {"all": "TLE"},
        "wrong_answer/bad.cc": {"all": "RE,MLE,SV,TLE"},
    }
    assert {row["label"]: row["language"] for row in task.solution_rows}["accepted/good.c"] == "c"
    assert [note for note in task.notes if "left out" in note] == [
        "submissions/mixed/two is left out: it is several files",
        "1 submissions in other languages are left out: accepted/good.rb",
    ]


def test_groups_become_subtasks(tmp_path: Path) -> None:
    """Each group is worth its minimum; samples are shown and worth nothing; grades are stated by group."""
    task = read(tmp_path, SCORING)
    problem = loaded(tmp_path, task)
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("sample", 0.0, ("sample/1",)),
        ("one", 30.0, ("secret/one/1",)),
        ("two", 70.0, ("secret/two/1", "secret/two/2")),
    ]
    assert (problem.key.id, problem.time_limit_s) == ("groups", 1.5)
    assert problem.tests["secret/two/2"].checker_args == ("fast",)
    assert problem.tests["sample/1"].checker_args == ()
    assert stated(task) == {
        "accepted/all.cpp": {"one": "AC", "two": "AC"},
        "partially_accepted/half.cpp": {"one": "AC", "two": "RE,MLE,SV"},
    }


def test_sum_of_tests_is_a_subtask_a_test(tmp_path: Path) -> None:
    """Where a group breaks at the first rejection, a test counts only if all before it were accepted."""
    flags = {"data/secret/two/testdata.yaml": "accept_score: 35\non_reject: break\ngrader_flags: ''\n"}
    problem = loaded(tmp_path, read(tmp_path, SCORING, **flags))
    assert [(one.name, one.points, one.tests) for one in problem.subtasks[2:]] == [
        ("secret/two/1", 35.0, ("secret/two/1",)),
        ("secret/two/2", 35.0, ("secret/two/1", "secret/two/2")),
    ]
    going_on = flags["data/secret/two/testdata.yaml"].replace("break", "continue")
    problem = loaded(tmp_path, read(tmp_path / "b", SCORING, **{"data/secret/two/testdata.yaml": going_on}))
    assert [one.tests for one in problem.subtasks[2:]] == [("secret/two/1",), ("secret/two/2",)]


def test_validator_becomes_the_checker(tmp_path: Path) -> None:
    """With its headers, and what is compiled together with each submission."""
    changes = {
        "problem.yaml": "validation: custom\nvalidator_flags: strict\n",
        "output_validators/check/validate.cc": '#include "validate.h"\nint main() {}\n',
        "output_validators/check/validate.h": "// tools\n",
        "include/cpp/library.cpp": '#include "library.h"\n',
        "include/cpp/library.h": "int f();\n",
    }
    problem = loaded(tmp_path, read(tmp_path, PASS_FAIL, **changes))
    assert problem.checker is not None
    assert problem.checker_protocol is CheckerProtocol.KATTIS
    assert problem.checker_args == ("strict",)
    assert [file.name for file in problem.checker_files] == ["validate.h"]
    assert [file.path for file in (*problem.linked, *problem.headers)] == ["graders/grader.cpp", "graders/library.h"]


def test_python_validator_is_a_script(tmp_path: Path) -> None:
    """It gets the first line that makes it one."""
    changes = {"problem.yaml": "validation: custom\n", "output_validator/check.py": "import sys\nsys.exit(42)\n"}
    problem = loaded(tmp_path, read(tmp_path, PASS_FAIL, **changes))
    assert problem.checker is not None
    assert problem.checker.content.startswith(b"#!/usr/bin/env python3\nimport sys\n")


@pytest.mark.parametrize(
    ("files", "changes", "words"),
    [
        (PASS_FAIL, {"problem.yaml": None}, "no problem package in the Kattis format"),
        (PASS_FAIL, {"problem.yaml": "a: [\n"}, "problem.yaml is not YAML"),
        (PASS_FAIL, {"problem.yaml": "- a\n"}, "holds no named values"),
        (PASS_FAIL, {".timelimit": None}, "--time-limit"),
        (PASS_FAIL, {".timelimit": "soon"}, "'soon' is no number of seconds"),
        (PASS_FAIL, {"data/secret/02.ans": None}, "data/secret/02.in has no data/secret/02.ans"),
        (PASS_FAIL, {"data/secret/02.in": None}, "data/secret/02.ans has no data/secret/02.in"),
        (PASS_FAIL, {"data/other/1.in": "", "data/other/1.ans": ""}, "data/other; only sample/ and secret/"),
        (PASS_FAIL, {name: None for name in PASS_FAIL if name.startswith("data/")}, "the tests are missing"),
        (PASS_FAIL, {"problem.yaml": "validator_flags: float_tolerance\n"}, "float_tolerance is followed by nothing"),
        (PASS_FAIL, {"problem.yaml": "validation: custom\n"}, "there is no output validator"),
        (PASS_FAIL, {"submissions/mixed/x.cpp": "// @EXPECTED_RESULTS@: SOMETIMES"}, "expects 'SOMETIMES'"),
        (SCORING, {"submissions/mixed/x.cpp": "// @EXPECTED_GRADES@ AC"}, "states 1 grades for 2 test groups"),
    ],
)
def test_bad_packages_are_named(
    tmp_path: Path, files: dict[str, str | None], changes: dict[str, str | None], words: str
) -> None:
    """Each says what is wrong and where."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, files, **changes)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem.yaml": "validation: custom multi-pass\n"}, "custom multi-pass"),
        ({"problem.yaml": "type: submit-answer\n"}, "submit-answer"),
        ({"problem.yaml": "type: scoring\ngrading:\n  objective: min\n"}, "the objective 'min'"),
        ({"data/secret/two/testdata.yaml": "grader_flags: max\n"}, "takes the max of its tests"),
        ({"data/secret/testdata.yaml": "grader_flags: min\n"}, "takes the min of its groups"),
        ({"data/secret/two/testdata.yaml": "grader_flags: median\n"}, "'median'"),
        ({"data/secret/two/testdata.yaml": "reject_score: 1\n"}, "reject_score"),
        ({"data/secret/two/testdata.yaml": "grading: custom\n"}, "'custom', by a program of its own"),
        ({"data/secret/3.in": "", "data/secret/3.ans": ""}, "both tests and groups"),
    ],
)
def test_what_no_minimum_can_express_is_refused(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """By name, before anything is scored."""
    with pytest.raises(UnsupportedError) as caught:
        read(tmp_path, SCORING, **changes)
    assert words in str(caught.value)


GRADER = """
import sys
worth = int([flag for flag in sys.argv if flag.startswith("worth=")][0][6:])
words = sys.stdin.read().split()
print("AC", {})
"""
RULES = {
    "the lowest, rounded down": ("int(min(map(float, words[1::2])) * worth)", None),
    "the sum": ("int(sum(map(float, words[1::2])) * worth)", "gives 90.0 for"),
    "the mean": ("int(sum(map(float, words[1::2])) / len(words[1::2]) * worth)", "the lowest score times 30"),
    "the last": ("int(float(words[-1]) * worth)", "the lowest score times 30"),
    "to the nearest": ("round(min(map(float, words[1::2])) * worth)", "gives 30.0 for [('AC', 0.999)]"),
    "no number": ("None", "gives None for full marks"),
}


@pytest.mark.parametrize("name", RULES)
def test_own_grader_is_tried(tmp_path: Path, name: str) -> None:
    """Its rule is taken over if it is the lowest score times the points, rounded down, and else refused."""
    rule, words = RULES[name]
    flags = {"data/secret/one/testdata.yaml": "grading: custom\ngrader_flags: min worth=30\n"}
    flags["data/secret/two/testdata.yaml"] = "grading: custom\ngrader_flags: min worth=70\n"
    changes = {
        **flags,
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        "graders/grader.py": GRADER.format(rule),
    }
    if words is not None:
        with pytest.raises(UnsupportedError) as caught:
            read(tmp_path, SCORING, **changes)
        assert words in str(caught.value)
        return
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0.0), ("one", 30.0), ("two", 70.0)]
    assert {test.score_steps for test in problem.tests.values()} == {0, 30, 70}


def test_scores_in_points_are_parts_of_the_group(tmp_path: Path) -> None:
    """Without a grader of its own a validator's score is in points, up to the group's."""
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert {name: test.full_score for name, test in problem.tests.items()} == {
        **{"sample/1": 1, "secret/one/1": 30, "secret/two/1": 70, "secret/two/2": 70}
    }
    changes["data/secret/one/testdata.yaml"] = "grader_flags: min\naccept_score: 30\nrange: 0 40\n"
    with pytest.raises(UnsupportedError, match="scores of its own within 0 40"):
        read(tmp_path / "b", SCORING, **changes)


def test_linked_tests_are_read_from_a_folder_and_missed_in_no_archive(tmp_path: Path) -> None:
    """Groups share tests by links: a folder's are followed, an archive's would be lost in silence."""
    where = package(tmp_path, SCORING, **{"submissions/partially_accepted/half.cpp": None})
    (where / "data/secret/three").symlink_to("two")
    problem = loaded(tmp_path, import_package(where, year=2026))
    assert problem.subtasks[-2].tests == ("secret/three/1", "secret/three/2")
    archive = tmp_path / "sums.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for name, content in SCORING.items():
            zipped.writestr(name, content or "")
        link = zipfile.ZipInfo("data/secret/three/1.in")
        link.external_attr = 0o120777 << 16
        zipped.writestr(link, "../two/1.in")
    with pytest.raises(InputError, match="is a link; unpack the archive"):
        import_package(archive, year=2026)
