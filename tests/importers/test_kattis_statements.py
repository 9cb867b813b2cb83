"""What Kattis and DOMjudge packages state about submissions, beyond directories with the name of a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers import cms, kattis
from ioi_eval.importers.kattis import import_package
from ioi_eval.importers.kattis_expectations import _matches
from ioi_eval.importers.task import ImportedTask
from ioi_eval.problems.submissions import submission_from_row
from tests.importers.kattis_packages import PASS_FAIL, SCORING, package, read
from tests.importers.packages import loaded
from tests.small_problems import checker_of, manager_of

NEW = {
    "problem.yaml": "problem_format_version: 2025-09\nname: x\nlimits: {time_limit: 1}\n",
    **{f"data/secret/{test}.{end}": "1\n" for test in ("1", "2") for end in ("in", "ans")},
    "submissions/accepted/a.py": "print(1)\n",
    "submissions/rejected/b.py": "print(2)\n",
    "submissions/brute_force/c.py": "print(3)\n",
    "submissions/time_limit_exceeded/d.py": "print(4)\n",
    "submissions/other/e.py": "print(5)\n",
}
GROUPS = {
    **{name: text for name, text in NEW.items() if not name.startswith("data/secret/")},
    "problem.yaml": "problem_format_version: 2025-09\nname: x\ntype: scoring\nlimits: {time_limit: 1}\n",
    **{f"data/secret/{name}/1.{end}": "1\n" for name in ("one", "two") for end in ("in", "ans")},
    **{f"data/secret/{name}/test_group.yaml": "max_score: 50\n" for name in ("one", "two")},
}
ALL_BUT_AC = "WA,TLE,RE,MLE,SV,OLE"


def stated(task: ImportedTask) -> dict[str, Any]:
    """The statements about each submission: of the whole, of subtasks, of points."""
    return {
        row["label"]: (row["expected"], row["expected_subtasks"], row.get("expected_total"))
        for row in task.solution_rows
    }


def test_default_directories(tmp_path: Path) -> None:
    """`rejected` and `brute_force` are statements too. Another directory is not."""
    found = {name: subtasks for name, (_, subtasks, _) in stated(read(tmp_path, NEW)).items()}
    assert found == {
        "accepted/a.py": {"all": "AC"},
        "rejected/b.py": {"all": "WA,TLE,RE,MLE,SV"},
        "brute_force/c.py": {"all": "TLE,RE,MLE,SV"},
        "time_limit_exceeded/d.py": {"all": "TLE"},
        "other/e.py": None,
    }


def test_the_worst_verdict_of_a_scoring_package_is_no_statement(tmp_path: Path) -> None:
    """It has a verdict for each group, whichever tests are judged."""
    task = read(tmp_path, SCORING, **{"submissions/time_limit_exceeded/slow.c": "int main;\n"})
    assert stated(task)["time_limit_exceeded/slow.c"][0] == "TLE"


@pytest.mark.parametrize(
    ("settings", "late"), [("on_reject: continue\n", "TLE,OLE,WA"), ("on_reject: break\n", "TLE"), ("", "TLE")]
)
def test_the_worst_verdict_of_all_tests(tmp_path: Path, settings: str, late: str) -> None:
    """If all tests are judged, a directory states their worst verdict. Here the first rejected one counts."""
    submissions = {"time_limit_exceeded/old.c": "// @EXPECTED_RESULTS@: TLE\n", "run_time_error/a.c": "int main;\n"}
    changes = {"data/testdata.yaml": settings, **{f"submissions/{name}": text for name, text in submissions.items()}}
    expected = {label: by[1] for label, by in stated(read(tmp_path, PASS_FAIL, **changes)).items()}
    assert expected["time_limit_exceeded/slow.py"] == {"all": late}
    assert expected["time_limit_exceeded/old.c"] == {"all": "TLE"}
    crashes = "RE,MLE,SV,TLE,OLE,WA" if "," in late else "RE,MLE,SV"
    assert expected["run_time_error/a.c"] == {"all": crashes}
    first = {"data/testdata.yaml": f"{settings}grader_flags: first_error\n"}
    assert stated(read(tmp_path / "first", PASS_FAIL, **first))["time_limit_exceeded/slow.py"][1] == {"all": "TLE"}


@pytest.mark.parametrize("version", ["legacy", "2025-09"])
def test_a_directory_s_verdict_that_is_one_of_several(tmp_path: Path, version: str) -> None:
    """As in DOMjudge it counts alone. In directories with other names the tag counts."""
    tag = "// @EXPECTED_RESULTS@: WRONG-ANSWER, timelimit, CORRECT\nint main;\n"
    directories = {"accepted": "AC", "wrong_answer": "WA", "time_limit_exceeded": "TLE"}
    files = {f"submissions/{name}/tagged.c": tag for name in (*directories, "rejected", "mixed")}
    task = read(tmp_path, PASS_FAIL, **{"problem.yaml": f"problem_format_version: {version}\n"}, **files)
    expected = {label.partition("/")[0]: by[:2] for label, by in stated(task).items() if label.endswith("/tagged.c")}
    alone: dict[str, tuple[Any, ...]] = {name: (None, {"all": word}) for name, word in directories.items()}
    alone["accepted"] = (MODEL_SOLUTION, {"all": "AC"})
    assert expected == {**alone, **dict.fromkeys(("rejected", "mixed"), (None, {"all": "WA,TLE,AC"}))}


def test_tags_in_several_files(tmp_path: Path) -> None:
    """As in DOMjudge the first file with a tag counts. Several tags in one file leave what the directory states."""
    files = {
        **{f"same/{name}.cpp": "// @EXPECTED_RESULTS@: TIMELIMIT\n" for name in ("a", "main")},
        **{"other/a.cpp": "int a;\n", "other/b.cpp": "// @EXPECTED_RESULTS@: TIMELIMIT\n"},
        "other/main.cpp": "// @EXPECTED_RESULTS@: RUN-ERROR\n",
        "twice.cpp": "// @EXPECTED_RESULTS@: TIMELIMIT\n// @EXPECTED_RESULTS@: RUN-ERROR\n",
    }
    submissions = {
        f"submissions/{directory}/{name}": text
        for directory in ("wrong_answer", "mixed")
        for name, text in files.items()
    }
    expected = {label: by[1] for label, by in stated(read(tmp_path, PASS_FAIL, **submissions)).items()}
    for directory, of_directory in (("wrong_answer", {"all": "WA"}), ("mixed", None)):
        assert expected[f"{directory}/same"] == expected[f"{directory}/other"] == {"all": "TLE"}
        assert expected[f"{directory}/twice.cpp"] == of_directory


def test_tags_in_small_letters(tmp_path: Path) -> None:
    """As DOMjudge and BAPCtools read them."""
    files = {"submissions/mixed/a.py": "# @expected_results@:  accepted,time_limit_exceeded, no-output\nprint(1)\n"}
    assert stated(read(tmp_path, PASS_FAIL, **files))["mixed/a.py"][:2] == (None, {"all": "AC,TLE,WA"})
    scored = read(tmp_path / "b", SCORING, **{"submissions/mixed/b.c": "// @expected_score@: 30\nint main;\n"})
    assert stated(scored)["mixed/b.c"][2] == 30


def test_rejected_in_old_packages(tmp_path: Path) -> None:
    """If no file states more."""
    task = read(tmp_path, PASS_FAIL, **{"submissions/rejected/r.cpp": "int main() {}\n"})
    assert stated(task)["rejected/r.cpp"][1] == {"all": ALL_BUT_AC}


@pytest.mark.parametrize(
    ("text", "label", "verdicts"),
    [
        ("other: {permitted: [AC]}", "other/e.py", "AC"),
        ("other/*: {permitted: [AC, TLE], required: [TLE]}", "other/e.py", "TLE"),
        ("other/e.{py,cpp}: {required: [WA, RTE]}", "other/e.py", "WA,TLE,RE,MLE,SV"),
        ("'{other,more}/e.*': {permitted: [WA]}", "other/e.py", "WA"),
        ("oth*: {permitted: [AC, WA]}", "other/e.py", "AC,WA"),
        ("other/f*: {permitted: [AC, WA]}", "other/e.py", None),
        ("e.py: {permitted: [AC, WA]}", "other/e.py", None),
        ("time_limit_exceeded: {permitted: [AC, WA, TLE]}", "time_limit_exceeded/d.py", "WA,TLE"),
        ("time_limit_exceeded/*: {permitted: [AC, TLE, RTE], required: [RTE, TLE]}", "time_limit_exceeded/d.py", "TLE"),
        ("rejected/b.py: {permitted: [AC, WA]}", "rejected/b.py", "WA"),
    ],
)
def test_submissions_yaml(tmp_path: Path, text: str, label: str, verdicts: str | None) -> None:
    """Every matching pattern applies. A pattern for a default directory replaces the directory's statement."""
    found = stated(read(tmp_path, NEW, **{"submissions/submissions.yaml": f"{text}\n"}))[label][1]
    assert found == (None if verdicts is None else {"all": verdicts})


def test_submissions_yaml_of_groups(tmp_path: Path) -> None:
    """Groups that are subtasks, points, and statements that cannot be compared."""
    text = """
other/e.py:
  secret/{one,three}: {permitted: [AC]}
  secret/tw*: {permitted: [AC, TLE], required: [TLE]}
  score: 50
rejected:
  score: [10, 40]
  message: too slow
accepted/a.py:
  secret/*/1: {permitted: [AC]}
  model_solution: true
"""
    task = read(tmp_path, GROUPS, **{"submissions/submissions.yaml": text})
    found = stated(task)
    assert found["other/e.py"] == (None, {"one": "AC", "two": "TLE"}, (50.0, 50.0))
    assert found["rejected/b.py"] == ("WA,TLE,RE,MLE,SV", None, (10.0, 40.0))
    assert found["accepted/a.py"] == ("model_solution", {"one": "AC", "two": "AC"}, None)
    assert any("rejected/b.py: what submissions.yaml states of message is not compared" in note for note in task.notes)
    assert any("accepted/a.py: what submissions.yaml states of secret/*/1" in note for note in task.notes)


def test_submissions_yaml_of_groups_that_are_no_subtasks(tmp_path: Path) -> None:
    """A pass-fail package has one subtask for all groups."""
    files = {**GROUPS, "problem.yaml": NEW["problem.yaml"], "data/secret/one/test_group.yaml": None}
    text = "other/e.py:\n  secret/one: {permitted: [AC]}\n"
    task = read(tmp_path, files, **{"data/secret/two/test_group.yaml": None, "submissions/submissions.yaml": text})
    assert stated(task)["other/e.py"] == (None, None, None)
    assert "submissions/other/e.py: what submissions.yaml states of secret/one is not compared" in task.notes


def test_submissions_yaml_states_python_2(tmp_path: Path) -> None:
    """The program itself may look like Python 3."""
    task = read(tmp_path, NEW, **{"submissions/submissions.yaml": "other/e.py: {language: python2}\n"})
    assert "other/e.py" not in stated(task)
    assert "submissions/other/e.py is left out: submissions.yaml says that it is Python 2" in task.notes


TWO = {f"submissions/other/two/{name}": "" for name in ("main.py", "run.py", "z.py")}


def test_the_entry_point_of_a_program_with_several_files(tmp_path: Path) -> None:
    """This file comes first and is started. The default is `main.py`. In C and C++ there is no choice."""
    others = ("three/a.cpp", "three/b.cpp", "four/a.c", "four/b.c", "five/a.rs", "five/run.rs")
    files = {**TWO, **{f"submissions/other/{name}": "" for name in others}}
    names = {"two": "run.py", "three": "x", "four": "x", "five": "run.rs", "e.py": "e.py"}
    text = "".join(f"other/{program}: {{entrypoint: {name}}}\n" for program, name in names.items())
    for written, first in ((text, "run.py"), ("{}\n", "main.py")):
        task = read(tmp_path / first, NEW, **files, **{"submissions/submissions.yaml": written})
        found = {row["label"]: list(row.get("source_files", ())) for row in task.solution_rows}
        assert found["other/two"] == sorted(["main.py", "run.py", "z.py"], key=lambda name: name != first)
        assert (found["other/three"], found["other/four"]) == (["a.cpp", "b.cpp"], ["a.c", "b.c"])
        assert found["other/e.py"] == []
        assert found["other/five"] == (["run.rs", "a.rs"] if written == text else ["a.rs", "run.rs"])


@pytest.mark.parametrize(
    ("files", "entry", "words"),
    [
        (TWO, "none.py", r"names none\.py as the entry point of other/two, which has no such file; .* main\.py, run"),
        (
            {f"submissions/other/two/{name}": "" for name in ("main.rs", "run.rs")},
            "run.rs",
            r"names run\.rs as the entry point of other/two, which is not supported beside a main\.rs",
        ),
    ],
)
def test_entry_points_that_cannot_be_started(tmp_path: Path, files: dict[str, str], entry: str, words: str) -> None:
    """They are refused, so that no other file is started silently."""
    with pytest.raises((InputError, UnsupportedError), match=words):
        read(tmp_path, NEW, **files, **{"submissions/submissions.yaml": f"other/two: {{entrypoint: {entry}}}\n"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("accepted: 5", "accepted is 5; it must be a mapping of names to values"),
        ("other: {permitted: [OK]}", "permitted is \\['OK'\\]"),
        ("other: {required: []}", r"required is \[\]"),
        (
            "other: {permitted: [AC], required: [WA]}",
            "its permitted and required lists together allow no verdict; correct them",
        ),
        ("other: {score: high}", "score is 'high'"),
        ("other: {score: [1, high]}", "score is 'high'"),
        ("other: {score: [1, 2, 3]}", r"score is \[1, 2, 3\]; it must be one number or two"),
        ("other: {score: [80, 20]}", r"by score \[80, 20\] no points are possible; correct it"),
        ("accepted: {score: [80, 100]}\naccepted/*: {score: 20}", r"by score \[80, 100\] and 20 no points"),
        (f"other: {{score: 1{'0' * 400}}}", "score is 10{400}; it must be a number"),
        ("'" + "{a,b}" * 20 + "': {}", "stands for more than 10000 patterns"),
    ],
)
def test_invalid_submissions_yaml(tmp_path: Path, text: str, words: str) -> None:
    """The message has the place."""
    with pytest.raises(InputError, match=words):
        read(tmp_path, GROUPS, **{"submissions/submissions.yaml": f"{text}\n"})


@pytest.mark.parametrize("tag", ["@EXPECTED_RESULTS@: SOMETIMES", "@EXPECTED_GRADES@ AC BAD"])
def test_an_unknown_verdict_leaves_its_submission_out(tmp_path: Path, tag: str) -> None:
    """The problem can be judged without it; a note says what is wrong."""
    task = read(tmp_path, SCORING, **{"submissions/mixed/x.cpp": f"// {tag}\nint main() {{}}\n"})
    assert "mixed/x.cpp" not in stated(task)
    word = tag.rpartition(" ")[2]
    assert f"left out: submissions/mixed/x.cpp expects {word!r}, which is not a verdict" in task.notes


def test_patterns_with_many_stars_are_fast() -> None:
    """Also if they do not match."""
    assert not _matches("*a" * 5_000 + "b", "a" * 10_000)
    assert _matches("*a" * 5_000, "a" * 10_000)
    assert _matches("x*y*z", "x12y34z")
    assert not _matches("x*y*z", "xyyz1")


def test_partly_accepted_is_neither_all_nor_nothing(tmp_path: Path) -> None:
    """The points are between these, unless the submission states its points."""
    files = {
        "submissions/partially_accepted/some.cpp": "int main() {}\n",
        "submissions/partially_accepted/points.cpp": "// @EXPECTED_SCORE@: 30\nint main() {}\n",
        "submissions/partially_accepted/long.cpp": f"// @EXPECTED_SCORE@: {'9' * 5000}\nint main() {{}}\n",
        "submissions/partially_accepted/half.cpp": None,
    }
    found = stated(read(tmp_path, SCORING, **files))
    assert found["partially_accepted/long.cpp"][2] == (1e-6, 100 - 1e-6)
    assert found["partially_accepted/some.cpp"][2] == (1e-6, 100 - 1e-6)
    assert found["partially_accepted/points.cpp"][2] == 30


NO_SAMPLES: dict[str, str | None] = {"data/sample/1.in": None, "data/sample/1.ans": None}


@pytest.mark.parametrize(
    ("flags", "least"),
    [
        ({"data/secret/testdata.yaml": "grader_flags: always_accept\n"}, 0),
        ({"data/testdata.yaml": "grader_flags: accept_if_any_accepted\n"}, 0),
        ({"data/testdata.yaml": "grader_flags: accept_if_any_accepted ignore_sample\n"}, 1e-6),
        ({"data/secret/testdata.yaml": "grader_flags: accept_if_any_accepted\n"}, 1e-6),
        ({"data/testdata.yaml": "grader_flags: sum\n"}, 1e-6),
        ({"data/testdata.yaml": "grader_flags: accept_if_any_accepted\n", **NO_SAMPLES}, 1e-6),
        (
            {
                "data/testdata.yaml": "grader_flags: accept_if_any_accepted\n",
                **NO_SAMPLES,
                "data/sample/testdata.yaml": "grader_flags: sum\n",
            },
            1e-6,
        ),
    ],
)
def test_partly_accepted_without_points(tmp_path: Path, flags: dict[str, str | None], least: float) -> None:
    """The format requires that the submission is accepted. Some packages accept one that has no points, for example
    because it passes the samples, if there are any.
    """
    files = {"submissions/partially_accepted/some.cpp": "int main() {}\n"}
    total = stated(read(tmp_path, SCORING, **files, **flags))["partially_accepted/some.cpp"][2]
    assert isinstance(total, tuple)
    assert total[0] == least


def test_accepted_can_mean_one_group(tmp_path: Path) -> None:
    """In an old package with this flag, several groups, and no directory for partially accepted submissions."""
    any_group = {"data/secret/testdata.yaml": "grader_flags: accept_if_any_accepted\n"}
    of_some = {"submissions/partially_accepted/half.cpp": None}
    label = "accepted/all.cpp"
    files = {"submissions/accepted/all.cpp": "int main() {}\n"}
    task = read(tmp_path / "a", SCORING, **files, **any_group, **of_some)
    assert stated(task)[label] == (None, None, (1e-6, 100))
    assert any("(as one in submissions/accepted/ with @EXPECTED_GRADES@ would be)" in note for note in task.notes)
    always = {"data/secret/testdata.yaml": "grader_flags: always_accept\n"}
    assert stated(read(tmp_path / "d", SCORING, **files, **always, **of_some))[label] == (None, None, (0, 100))
    all_groups = {**of_some, "data/secret/testdata.yaml": "grader_flags: first_error\n"}
    one_group = {**of_some, **any_group, **dict.fromkeys(path for path in SCORING if "secret/two/" in path)}
    for name, changes in (("b", any_group), ("c", all_groups), ("e", one_group)):
        expected, by_subtask, total = stated(read(tmp_path / name, SCORING, **files, **changes))[label]
        assert (expected, set(by_subtask.values()), total) == ("model_solution", {"AC"}, None)


def test_sources_that_are_no_submissions_are_noted(tmp_path: Path) -> None:
    """They are in no directory that states a verdict."""
    task = read(tmp_path, PASS_FAIL, **{"submissions/old.cpp": "int main() {}\n", "submissions/README": ""})
    assert "left out, as they are in no directory of submissions/: submissions/old.cpp" in task.notes
    assert not any(row["label"].endswith("old.cpp") for row in task.solution_rows)


PYTHON_2 = {
    "shebang": "#!/usr/bin/env python2\nprint(1)\n",
    "print": "n = 1\nfor i in range(n):\n    print 'x', i\n",
    "except": "try:\n    pass\nexcept ValueError, e:\n    pass\n",
}
PYTHON_3 = {
    "words": '"""\nprint "x" was how it was written\n"""\nprint(1)\n',
    "mended": "#!/usr/bin/env python3\nprint (1)\n",
    "started": '#!/usr/bin/env python3\n"""\nprint "x" was how it was written\n"""\nprint(1)\n',
    "once": '# python2 had\n"""\nprint "x"\n"""\nprint(1)\n',
    "broken": "print(1\n",
}


def test_python_2_is_noted(tmp_path: Path) -> None:
    """Such a solution would be CE and disagree."""
    sources = {f"submissions/accepted/{name}.py": text for name, text in (PYTHON_2 | PYTHON_3).items()}
    task = read(tmp_path, PASS_FAIL, **sources)
    labels = {row["label"] for row in task.solution_rows}
    assert {f"accepted/{name}.py" for name in PYTHON_3} <= labels
    for name in PYTHON_2:
        assert f"accepted/{name}.py" not in labels
        assert f"submissions/accepted/{name}.py is left out: it is Python 2" in task.notes


CONSTANTS = """problem_format_version: 2025-09
name: x
limits: {time_limit: 1}
constants:
  n: 5
  word: abc
  big: {value: 5000000, tex: '5,000,000'}
"""


def test_constants_are_replaced(tmp_path: Path) -> None:
    """In validators, included files and submissions. Test data and unknown names are not changed."""
    sequences = "{{n}} {{word}} {{big}} {{big.tex}} {{big.value}} {{none}} {{n.none}} {{ n }}\n"
    files = {
        "problem.yaml": CONSTANTS,
        "submissions/accepted/a.py": f"# {sequences}",
        "output_validator/v.py": f"# {sequences}",
        "include/cpp/h.h": f"// {sequences}",
        "data/secret/1.in": sequences,
    }
    task = read(tmp_path, NEW, **files)
    values = "5 abc 5000000 5,000,000 5000000 {{none}} {{n.none}} {{ n }}\n"
    texts = dict(task.problem_rows[0]["grader_files"])
    assert texts["checker/checker.py"].endswith(f"# {values}")
    assert texts["graders/h.h"] == f"// {values}"
    assert next(row["code"] for row in task.solution_rows if row["label"] == "accepted/a.py") == f"# {values}"
    assert next(task.tests())["test_input"] == sequences


@pytest.mark.parametrize(
    "text",
    [
        "constants: 5",
        "constants: {1x: 5}",
        "constants: {a: [1]}",
        "constants: {a: {tex: 1}}",
        "constants: {a: true}",
    ],
)
def test_invalid_constants(tmp_path: Path, text: str) -> None:
    """The message has the constant."""
    with pytest.raises(InputError, match="constant"):
        read(tmp_path, NEW, **{"problem.yaml": f"{NEW['problem.yaml']}{text}\n"})


def test_domjudge_settings_alone_are_enough(tmp_path: Path) -> None:
    """`problem.yaml` may be missing."""
    settings = "short-name = sums\nname = 'Sums'\ntimelimit = '2.5'\n"
    files = {**PASS_FAIL, "problem.yaml": None, ".timelimit": None}
    task = read(tmp_path, files, **{"domjudge-problem.ini": settings})
    row = task.problem_rows[0]
    assert (row["id"], row["name"], row["time_limit"], row["checker_protocol"]) == ("sums", "Sums", 2.5, "tokens")
    assert len(list(task.tests())) == 3


def test_a_validator_with_only_domjudge_settings(tmp_path: Path) -> None:
    """DOMjudge uses it. If `problem.yaml` does not name it, Kattis does not, and a note says so."""
    check = {"output_validators/check.py": "import sys\nsys.exit(42)\n"}
    files = {**PASS_FAIL, **check, "problem.yaml": None, ".timelimit": None}
    settings = "short-name = sums\ntimelimit = 1\nspecial_compare = 'on_the_server'\n"
    assert read(tmp_path, files, **{"domjudge-problem.ini": settings}).problem_rows[0]["checker_protocol"] == "kattis"
    task = read(tmp_path / "kattis", PASS_FAIL, **check)
    assert task.problem_rows[0]["checker_protocol"] == "tokens"
    assert [note for note in task.notes if note.startswith("the package's output validator is not used")]


@pytest.mark.parametrize(("key", "default"), [("special_compare", "compare"), ("special_run", "run")])
def test_programs_of_a_domjudge_server(tmp_path: Path, key: str, default: str) -> None:
    """They are refused: they are not in the package, and replace its own programs."""
    advice = r"remove the line \(problem.yaml needs validator_flags"  # without them, numbers would be compared as words
    with pytest.raises(UnsupportedError, match=f"names {key} 'floats', a program of a DOMjudge server.*{advice}"):
        read(tmp_path, PASS_FAIL, **{"domjudge-problem.ini": f"{key} = 'floats'\n"})
    with pytest.raises(UnsupportedError, match="a program of a DOMjudge server"):
        read(tmp_path / "section", PASS_FAIL, **{"domjudge-problem.ini": f"[DOMJudge]\n{key} = floats\n"})
    read(tmp_path / "default", PASS_FAIL, **{"domjudge-problem.ini": f"{key} = '{default}'\n"})


def test_a_program_of_a_domjudge_server_is_named_if_the_validator_is_missing(tmp_path: Path) -> None:
    """DOMjudge exports such packages. The message said that the package was not complete, and there is no other one."""
    custom = {"problem.yaml": "validation: custom\n", "domjudge-problem.ini": "special_compare = 'floats'\n"}
    with pytest.raises(UnsupportedError, match="names special_compare 'floats', a program of a DOMjudge server"):
        read(tmp_path, PASS_FAIL, **custom)
    read(tmp_path / "own", PASS_FAIL, **custom, **{"output_validators/check.py": "import sys\nsys.exit(42)\n"})


def test_comments_in_domjudges_settings_are_no_values(tmp_path: Path) -> None:
    """Behind a value with or without quotes; in quotes `;` is a part of the value."""
    settings = "; ours\ntimelimit = 3 ; seconds\nname = 'Sums; all' ; title\nexternalid=sum;id\n"
    row = read(tmp_path, {**NEW, "problem.yaml": None}, **{"domjudge-problem.ini": settings}).problem_rows[0]
    assert (row["time_limit"], row["name"], row["id"]) == (3, "Sums; all", "sum")


def test_domjudges_settings_are_read_as_by_php(tmp_path: Path) -> None:
    """The last of two values counts, lines may be indented, and other lines are ignored. Such files were refused."""
    settings = "[problem]\n  name = 'Sums'\n\ttimelimit = 3\ntimelimit=4\nTimelimit = 5\nour problem\n# timelimit = 6\n"
    row = read(tmp_path, {**NEW, "problem.yaml": None}, **{"domjudge-problem.ini": settings}).problem_rows[0]
    assert (row["time_limit"], row["name"]) == (4, "Sums")


def test_a_letter_of_a_contest_is_no_id(tmp_path: Path) -> None:
    """Problems of two contests may both be A there: the rows of the second one replaced those of the first."""
    row = read(tmp_path, PASS_FAIL, **{"domjudge-problem.ini": "short-name = A\n"}).problem_rows[0]
    assert row["id"] == "sums"


def test_a_type_without_a_value_is_pass_fail(tmp_path: Path) -> None:
    """As if the line were not there. The package was refused."""
    kinds: tuple[Mapping[str, str | None], ...] = (PASS_FAIL, NEW)
    for number, files in enumerate(kinds):
        text = "".join(line for line in (files["problem.yaml"] or "").splitlines(True) if not line.startswith("type:"))
        row = read(tmp_path / str(number), files, **{"problem.yaml": f"{text}type:\n"}).problem_rows[0]
        assert row["score"] == 1


def test_very_many_braces_are_refused(tmp_path: Path) -> None:
    """The import ended with a stack trace."""
    text = f"? '{'{a}' * 2000}'\n: {{permitted: [AC]}}"
    with pytest.raises(InputError, match="has more than 20 pairs of braces"):
        read(tmp_path, NEW, **{"submissions/submissions.yaml": f"{text}\n"})


def test_which_time_limit_counts(tmp_path: Path) -> None:
    """That of problem.yaml, as in DOMjudge and problemtools. A .timelimit must be the same."""
    settings = {"domjudge-problem.ini": "timelimit = 3\n", "problem.yaml": "limits: {time_limit: 4.0}\n"}
    row = read(tmp_path, PASS_FAIL, **settings, **{".timelimit": None}).problem_rows[0]
    assert row["time_limit"] == 4.0
    with pytest.raises(InputError, match=r"the time limit is 4\.0 in problem\.yaml and 2\.5 in \.timelimit"):
        read(tmp_path / "b", PASS_FAIL, **settings)
    with pytest.raises(InputError, match=r"the time limit is 3 in domjudge-problem\.ini and 2\.5 in \.timelimit"):
        read(tmp_path / "c", PASS_FAIL, **{"domjudge-problem.ini": "timelimit = 3\n"})
    given = import_package(package(tmp_path / "d", PASS_FAIL, **settings), year=2026, time_limit_s=1)
    assert given.problem_rows[0]["time_limit"] == 1


def test_included_files_replace_a_submission_s_own(tmp_path: Path) -> None:
    """A directory may have copies of them, which must not be linked twice."""
    copies = {f"submissions/accepted/{name}": "// copied\n" for name in ("one/grader.cpp", "one/x.h", "two/grader.cpp")}
    own = dict.fromkeys(("submissions/accepted/one/sum.cpp", "submissions/accepted/two/a.cpp"), "int f();\n")
    included = {"include/cpp/grader.cpp": "// judge\n", "include/cpp/x.h": ""}
    task = read(tmp_path, NEW, **copies, **own, **included, **{"submissions/accepted/two/b.cpp": ""})
    found = {row["label"]: (row["code"], row.get("source_files")) for row in task.solution_rows}
    assert found["accepted/one/sum.cpp"] == ("int f();\n", None)
    assert found["accepted/two"] == (None, {"a.cpp": "int f();\n", "b.cpp": ""})
    copies = {f"submissions/accepted/three/{name}": "x = 0\n" for name in ("main.py", "include.py")}
    task = read(tmp_path / "python", NEW, **copies, **{"include/python3/include.py": "x = 1\n"})
    (row,) = (row for row in task.solution_rows if row["label"] == "accepted/three/main.py")
    assert row["source_files"] == {"main.py": "x = 0\n", "include.py": "x = 1\n"}


def test_submissions_in_python_beside_a_grader_in_cpp_are_left_out(tmp_path: Path) -> None:
    """They would be judged without a grader."""
    files = {"include/cpp/grader.cpp": "// judge\n", "include/python3/main.py": "import a\n"}
    task = read(tmp_path, NEW, **files, **{"submissions/accepted/sum.cpp": "int f();\n"})
    assert {row["language"] for row in task.solution_rows} == {"cpp"}
    assert any("a.py is left out: the package has a grader in C++" in note for note in task.notes)


def test_files_included_in_python_are_beside_each_submission(tmp_path: Path) -> None:
    """They are files of the submission. A directory for another language is left out."""
    files = {"include/python3/include.py": "x = 1\n", "include/cpp/include.h": "", "include/c/include.h": ""}
    task = read(tmp_path, NEW, **files, **{"submissions/accepted/two/a.py": "", "submissions/accepted/two/main.py": ""})
    found = {row["label"]: (row["code"], list(row.get("source_files", ()))) for row in task.solution_rows}
    assert found["accepted/a.py"] == (None, ["a.py", "include.py"])
    assert found["accepted/two"] == (None, ["main.py", "a.py", "include.py"])
    assert any("have include.py in source_files; others need it" in note for note in task.notes)
    assert any("include/c is left out" in note for note in task.notes)
    main = read(tmp_path / "main", NEW, **{"include/python3/main.py": "import a\n"})
    assert list({row["label"]: row for row in main.solution_rows}["accepted/a.py"]["source_files"]) == [
        "main.py",
        "a.py",
    ]
    default = {"include/default/include.py": "x = 1\n", "include/default/data.txt": ""}
    assert "source_files" in read(tmp_path / "default", NEW, **default).solution_rows[0]


def test_files_for_all_languages_are_used_beside_those_for_one(tmp_path: Path) -> None:
    """A file for one language replaces a file for all. Source: problemtools, `Includes`."""
    default = {f"include/default/{name}": "default\n" for name in ("a.hpp", "b.hpp", "a.py", "b.py")}
    own = {"include/cpp/b.hpp": "cpp\n", "include/cpp/grader.cpp": '#include "a.hpp"\nint main() {}\n'}
    problem = loaded(tmp_path, read(tmp_path, NEW, **default, **own))
    headers = {file.name: file.content for file in problem.headers}
    assert headers == {"a.hpp": b"default\n", "b.hpp": b"cpp\n"}
    assert [file.name for file in problem.linked] == ["grader.cpp"]
    task = read(tmp_path / "python", NEW, **default, **{"include/python3/b.py": "python3\n"})
    files = {row["label"]: row.get("source_files", {}) for row in task.solution_rows}["accepted/a.py"]
    assert files["b.py"] == "python3\n"


def test_an_empty_file_is_a_program(tmp_path: Path) -> None:
    """It is run or does not compile; as `code` it would be taken for a row without a program, which gets NC."""
    row = read(tmp_path, NEW, **{"submissions/accepted/a.py": "\n"}).solution_rows[0]
    assert (row["code"], row["source_files"]) == (None, {"a.py": "\n"})
    assert submission_from_row(row).source_files()[0].content == b"\n"


def test_python_has_a_second_ending(tmp_path: Path) -> None:
    """As in packages for DOMjudge; in a program of several files it becomes the usual one."""
    of_two = {f"submissions/accepted/two/{name}.py3": "x = 1\n" for name in ("main", "b")}
    task = read(
        tmp_path, NEW, **of_two, **{"submissions/accepted/a.py": None, "submissions/accepted/a.py3": "print(1)\n"}
    )
    rows = {row["label"]: row for row in task.solution_rows}
    assert (rows["accepted/a.py3"]["language"], rows["accepted/a.py3"]["code"]) == ("python", "print(1)\n")
    assert submission_from_row(rows["accepted/two"]).source_files()[0].name == "main.py"


BUILT = {
    "output_validator/v/build": "#!/bin/sh\nexec g++ -o run v.cpp\n",
    "output_validator/v/v.cpp": '#include "w.h"\nint main() {}\n',
    "output_validator/v/w.h": "// {{n}}\n",
    "output_validator/v/README.md": "how\n",
}


@pytest.mark.parametrize(("kind", "role"), [("pass-fail", "checker"), ("interactive", "interactor")])
def test_a_validator_built_by_a_script(tmp_path: Path, kind: str, role: str) -> None:
    """The script is the checker or the interactor, and all files of its directory are beside it."""
    kinds = {"problem.yaml": f"{NEW['problem.yaml']}type: {kind}\n"}
    task = read(tmp_path, NEW, **BUILT, **kinds)
    problem = loaded(tmp_path, task)
    program = checker_of(problem) if role == "checker" else manager_of(problem)
    assert program.source.path == f"{role}/build"
    assert sorted(file.path for file in program.files) == [f"{role}/{name}" for name in ("README.md", "v.cpp", "w.h")]
    (row,) = read(tmp_path / "b", NEW, **BUILT, **kinds, **{"output_validator/LICENSE.md": ""}).problem_rows
    assert row["grader_files"] == task.problem_rows[0]["grader_files"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"output_validator/v/run": "#!/bin/sh\n"}, "the script output_validator/v/run, which starts other files"),
        ({"output_validator/v/build": None, "output_validator/v/run": "#!/bin/sh\n"}, "which starts other files"),
        ({"output_validator/v/v.o": "\x7fELF\0"}, "output_validator/v/v.o is not text"),
        ({"output_validator/v/lib/a.h": ""}, "output_validator/v/lib/a.h lies in a directory beside"),
    ],
)
def test_scripts_that_cannot_build_are_refused(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """Rows can only contain texts in one directory."""
    with pytest.raises(UnsupportedError, match=words):
        read(tmp_path, NEW, **{**BUILT, **changes})


def test_refusals_name_the_format(tmp_path: Path) -> None:
    """The recognised or probable format."""
    with pytest.raises(UnsupportedError, match=r"\[read as a problem package in the Kattis format, version 2025-09\]"):
        read(tmp_path, NEW, **{"problem.yaml": "problem_format_version: 2025-09\ntype: submit-answer\n"})
    with pytest.raises(
        InputError, match=r"by its problem\.yaml it is a problem package in the Kattis format: use .*kattis"
    ):
        cms.import_package(tmp_path / "sums", year=2025)
    (tmp_path / "italian").mkdir()
    (tmp_path / "italian" / "task.yaml").write_text("name: x\n")
    with pytest.raises(
        InputError, match=r"by its task\.yaml it is a task in the Italian YAML format: use .*italian-yaml"
    ):
        kattis.import_package(tmp_path / "italian", year=2025)


def test_a_format_is_named_only_if_a_directory_has_its_marks(tmp_path: Path) -> None:
    """Any directory may have a `problem.json`. That of a CMS export or TPS task is beside its tests or subtasks."""
    (tmp_path / "nile").mkdir()
    (tmp_path / "nile" / "problem.json").write_text("{}")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "1.txt").write_text("1\n")
    with pytest.raises(InputError) as refused:
        kattis.import_package(tmp_path, year=2025)
    assert str(refused.value).endswith(
        "; nor is it of another format: it has no problem.yaml, info.toml, task.yaml, domjudge-problem.ini,"
        " problem.xml, and no problem.json beside tests or subtasks"
    )
    (tmp_path / "nile" / "subtasks.json").write_text("{}")
    with pytest.raises(InputError, match=r"by its problem\.json it is a CMS export package: use `ioi-eval import cms`"):
        kattis.import_package(tmp_path, year=2025)
