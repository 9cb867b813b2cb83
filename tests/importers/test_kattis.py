"""Problem packages of Kattis and DOMjudge: the rows they become, and what is refused."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis import import_package
from ioi_eval.model import Batch, CheckerProtocol, Tokens
from tests.importers.kattis_packages import MIB, PASS_FAIL, SCORING, package, read, stated
from tests.importers.packages import as_zip, loaded
from tests.small_problems import checker_of


def test_pass_fail_package_is_one_subtask(tmp_path: Path) -> None:
    """Samples come first. The flags of the default validator, DOMjudge's time limit and the format's
    defaults are used.
    """
    task = read(tmp_path, PASS_FAIL)
    problem = loaded(tmp_path, task)
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("all", 1.0, ("sample/1", "secret/02", "secret/10"))
    ]
    assert (problem.key.id, problem.name, problem.time_limit_s) == ("sums", "A Different Sum", 2.5)
    assert (problem.memory_limit_bytes, problem.output_limit_bytes) == (256 * MIB, 8 * MIB)
    assert problem.code_limit_bytes == MIB // 4
    assert problem.method == Batch(check=Tokens(args=("float_tolerance", "1e-6")))


@pytest.mark.parametrize(("year", "standard"), [(2023, "gnu++17"), (2024, "gnu++20")])
def test_the_standard_of_the_year(tmp_path: Path, year: int, standard: str) -> None:
    """A program with its own function `ssize` and `using namespace std` does not compile as C++20."""
    task = import_package(package(tmp_path, PASS_FAIL), year=year)
    assert loaded(tmp_path, task).cxx_std == standard


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data/secret/testdata.yaml": "grader_flags: accept_if_any_accepted\n"}, "data/secret has accept_if_any_acc"),
        ({"data/sample/testdata.yaml": "grader_flags: always_accept\n"}, "data/sample has always_accept"),
        ({"data/testdata.yaml": "grading: custom\n", "graders/g.py": "print('AC 1')\n"}, "data has grading 'custom'"),
        ({"data/testdata.yaml": "grader_flags: lenient\n"}, "the grader flag 'lenient' of data is not supported"),
    ],
)
def test_flags_that_accept_more_are_refused(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """If a grader accepts submissions that fail a test, a pass-fail problem has no set of tests that all must pass."""
    with pytest.raises(UnsupportedError, match=re.escape(words)):
        read(tmp_path, PASS_FAIL, **changes)


def test_flags_that_change_nothing_are_read(tmp_path: Path) -> None:
    """Flags that choose which error is reported, that add points, or that apply to a single test."""
    changes = {
        "data/secret/testdata.yaml": "grader_flags: first_error max\n",
        "data/sample/testdata.yaml": "grader_flags: accept_if_any_accepted\n",
    }
    assert [row["subtask"] for row in read(tmp_path, PASS_FAIL, **changes).problem_rows] == ["all"]


def test_ignored_samples_count_only_with_on_reject_break(tmp_path: Path) -> None:
    """Source: the format's `ignore_sample`. Without `on_reject: break`, secret data is judged after a
    rejected sample.
    """
    secret = ["secret/02", "secret/10"]
    for policy, subtasks in (
        ("continue", [("sample", 0, ["sample/1"]), ("all", 1, secret)]),
        ("break", [("all", 1, ["sample/1", *secret])]),
    ):
        flags = {"data/testdata.yaml": f"grader_flags: ignore_sample\non_reject: {policy}\n"}
        task = read(tmp_path / policy, PASS_FAIL, **flags)
        assert [(row["subtask"], row["score"], row["test_names"]) for row in task.problem_rows] == subtasks
        assert stated(task)["accepted/good.c"] == {"all": "AC"}
    counted = {"data/testdata.yaml": "on_reject: continue\ngrader_flags:\n"}
    rows = read(tmp_path / "counted", PASS_FAIL, **counted).problem_rows
    assert [row["test_names"] for row in rows] == [["sample/1", *secret]]
    alone = {name: None for name in PASS_FAIL if name.startswith("data/secret")}
    flags = {"data/testdata.yaml": "grader_flags: ignore_sample\non_reject: continue\n"}
    task = read(tmp_path / "alone", PASS_FAIL, **alone, **flags)
    assert [row["test_names"] for row in task.problem_rows] == [["sample/1"]]
    assert "there is no test in data/secret/: only the samples are judged" in "".join(task.notes)


def test_tests_that_were_not_generated_are_missing(tmp_path: Path) -> None:
    """BAPCtools makes secret tests from `generators/generators.yaml`. Without them most wrong programs would be AC."""
    alone: dict[str, str | None] = {name: None for name in PASS_FAIL if name.startswith("data/secret")}
    with pytest.raises(InputError, match="there is no test in data/secret/: the tests are missing; generate them"):
        read(tmp_path, PASS_FAIL, **alone, **{"generators/generators.yaml": "data: {}\n"})


def test_verdicts_come_from_directories_and_tags(tmp_path: Path) -> None:
    """DOMjudge's tag has precedence over the directory. Several files in one language are one program; others are left
    out.
    """
    task = read(tmp_path, PASS_FAIL)
    assert stated(task) == {
        "accepted/good.c": {"all": "AC"},
        "accepted/headed": {"all": "AC"},
        "accepted/three": {"all": "AC"},
        "run_time_error/crash/main.cpp": {"all": "RE,MLE,SV"},
        "time_limit_exceeded/slow.py": {"all": "TLE"},
        "wrong_answer/bad.cc": {"all": "RE,MLE,SV,TLE"},
    }
    rows = {row["label"]: row for row in task.solution_rows}
    assert rows["accepted/good.c"]["language"] == "c"
    assert list(rows["accepted/three"]["source_files"]) == ["main.py", "a.py"]
    assert rows["accepted/headed"]["source_files"] == {"a.cc": '#include "b.hpp"\n', "b.hpp": ""}
    assert rows["accepted/headed"]["code"] is None
    assert [note for note in task.notes if "left out" in note] == [
        "submissions/mixed/sums.h is left out: it is a header alone",
        "submissions/mixed/two is left out: it is several files",
        "left out, as they are in other languages: accepted/good.rb",
    ]


def test_programs_in_other_languages_are_counted(tmp_path: Path) -> None:
    """A note has their number and the first of their names. Files of Git and of editors are not submissions."""
    others = {f"submissions/accepted/{number:02}.rb": "puts 1\n" for number in range(12)}
    hidden = {f"submissions/accepted/{name}": "" for name in (".gitkeep", ".vscode/settings.json")}
    task = read(tmp_path, PASS_FAIL, **others, **hidden)
    (note,) = [note for note in task.notes if "other languages" in note]
    named = ", ".join(f"accepted/{number:02}.rb" for number in range(10))
    assert note == f"left out, as they are in other languages: {named} and 3 more"


@pytest.mark.parametrize("folder", ["bad", "invalid_inputs", "invalid_answer", "invalid_outputs", "valid_output"])
def test_data_that_tests_the_package_is_left_out(tmp_path: Path, folder: str) -> None:
    """Recognised by the names that the format and BAPCtools use."""
    rows = read(tmp_path, PASS_FAIL, **{f"data/{folder}/no.in": "no answer"}).problem_rows
    assert rows == read(tmp_path / "without", PASS_FAIL).problem_rows


def test_tests_beside_directories_of_tests(tmp_path: Path) -> None:
    """They are judged in the order of the names of files and directories, as by Kattis's own tools."""
    names = ("secret/a/1", "secret/a/b/1", "secret/05/1")
    task = read(tmp_path, PASS_FAIL, **{f"data/{name}.{end}": "1\n" for name in names for end in ("in", "ans")})
    assert task.problem_rows[0]["test_names"] == [
        *("sample/1", "secret/02", "secret/05/1", "secret/10", "secret/a/1", "secret/a/b/1")
    ]


@pytest.mark.parametrize("ending", [".cpp", ".cc", ".C", ".cxx", ".c++"])
def test_endings_of_validators(tmp_path: Path, ending: str) -> None:
    """All that problemtools takes for C++."""
    files = {"problem.yaml": "validation: custom\n", f"output_validators/v/v{ending}": "int main() {}\n"}
    assert checker_of(loaded(tmp_path, read(tmp_path, PASS_FAIL, **files))).source.path == "checker/checker.cpp"


def test_validator_becomes_the_checker(tmp_path: Path) -> None:
    """With its headers, and with the files that are compiled together with each submission."""
    changes = {
        "problem.yaml": "validation: custom\nvalidator_flags: strict\n",
        "output_validators/check/validate.cc": '#include "validate.h"\nint main() {}\n',
        "output_validators/check/validate.h": "// tools\n",
        "output_validators/validate.ctd.template": "",
        "include/cpp/library.cpp": '#include "library.h"\n',
        "include/cpp/library.h": "int f();\n",
        "include/cpp/table.txt": "1 2\n",
    }
    task = read(tmp_path, PASS_FAIL, **changes)
    problem = loaded(tmp_path, task)
    assert "left out: include/cpp/table.txt; submissions in C++ get headers and a source" in task.notes
    checker = checker_of(problem)
    assert (checker.protocol, checker.args) == (CheckerProtocol.KATTIS, ("strict",))
    assert [file.name for file in checker.files] == ["validate.h"]
    assert {test.full_score for test in problem.tests.values()} == {0}, "a score.txt changes no pass-fail verdict"
    assert [file.path for file in (*problem.linked, *problem.headers)] == ["graders/grader.cpp", "graders/library.h"]
    of_old = {"output_validators/check/validate.c": "int main(void) {}\n", "output_validators/check/validate.cc": None}
    old = loaded(tmp_path / "c", read(tmp_path / "c", PASS_FAIL, **{**changes, **of_old}))
    assert checker_of(old).source.path == "checker/checker.c"


def test_files_that_sources_include(tmp_path: Path) -> None:
    """They keep their paths, also if they end with `.inc`; other files are left out, with a note.

    Without them no validator, or no submission, was compiled.
    """
    changes = {
        "problem.yaml": "validation: custom\n",
        "output_validators/check/validate.cc": '#include "lib/all.h"\nint main() {}\n',
        "output_validators/check/lib/all.h": '#include "table.inc"\n#include "part.tpp"\n',
        "output_validators/check/lib/table.inc": "int table;\n",
        "output_validators/check/lib/part.tpp": "int part;\n",
        "output_validators/check/words.txt": "word\n",
        "output_validators/check/README.md": "why\n",
        "include/cpp/runner.cpp": '#include "lib/y.h"\n#include "table.inc"\n',
        "include/cpp/lib/y.h": "int y;\n",
        "include/cpp/table.inc": "int table;\n",
    }
    task = read(tmp_path, PASS_FAIL, **changes)
    problem = loaded(tmp_path, task)
    assert [file.path.removeprefix("checker/") for file in checker_of(problem).files] == [
        "lib/all.h",
        "lib/part.tpp",
        "lib/table.inc",
    ]
    assert [file.path for file in (*problem.linked, *problem.headers)] == [
        "graders/grader.cpp",
        "graders/lib/y.h",
        "graders/table.inc",
    ]
    assert [note.rpartition(": ")[2] for note in task.notes if "left out, as a validator" in note] == [
        "output_validators/check/words.txt"
    ]
    script = {"output_validator/v/check.py": "exit(42)\n", "output_validator/v/words.txt": "word\n"}
    beside = read(tmp_path / "b", PASS_FAIL, **{"problem.yaml": "validation: custom\n"}, **script)
    assert any(note.endswith("that it includes: output_validator/v/words.txt") for note in beside.notes)


@pytest.mark.parametrize("kind", ["Batch", "Interactive"])
def test_an_included_header_without_a_source(tmp_path: Path, kind: str) -> None:
    """It needs no grader, also if it is called like the problem. Such packages were refused."""
    changes = {"include/cpp/sums.h": "inline int f() { return 1; }\n"}
    if kind == "Interactive":
        changes |= {"problem.yaml": "validation: custom interactive\n", "output_validators/a.cpp": "int main() {}\n"}
    problem = loaded(tmp_path, read(tmp_path, PASS_FAIL, **changes))
    assert problem.task_type == kind
    assert (problem.linked, [file.path for file in problem.headers]) == ((), ["graders/sums.h"])


def test_flags_of_a_named_validator(tmp_path: Path) -> None:
    """Before 2023 a group may give the validator's name with its flags."""
    check = {"problem.yaml": "validation: custom\n", "output_validators/check.py": "import sys\nsys.exit(42)\n"}
    flags = {"data/secret/testdata.yaml": "output_validator_flags: {name: check, flags: strict 7}\n"}
    problem = loaded(tmp_path, read(tmp_path, PASS_FAIL, **check, **flags))
    assert {name: test.checker_args for name, test in problem.tests.items()} == {
        **{"sample/1": (), "secret/02": ("strict", "7"), "secret/10": ("strict", "7")}
    }


@pytest.mark.parametrize(
    ("changes", "noted"),
    [
        ({"data/testdata.yaml": "output_validator_args: [float_tolerance, '1e-6']\n"}, ""),
        ({"data/testdata.yaml": "output_validator_args: float_tolerance 1e-6\n"}, ""),
        ({"data/testdata.yaml": "output_validator_args: []\n"}, ""),
        ({"data/secret/testdata.yaml": "output_validator_args: [case_sensitive]\n"}, "of data/secret is not read"),
        ({"data/test_group.yaml": "output_validator_args: 1\n"}, "of data/sample, data/secret is not read"),
    ],
)
def test_arguments_of_a_later_version(tmp_path: Path, changes: dict[str, str], noted: str) -> None:
    """BAPCtools exports `output_validator_args` also to packages of the old version, in which nothing reads them.

    It writes those of `data/` to `validator_flags` too; the validator got both.
    """
    task = read(tmp_path, PASS_FAIL, **changes)
    assert {test.checker_args for test in loaded(tmp_path, task).tests.values()} == {()}
    notes = [note for note in task.notes if "output_validator_args" in note]
    assert bool(notes) == bool(noted)
    assert noted in "".join(notes)


@pytest.mark.parametrize("first_line", ["", "#! /usr/env/python3\n", "#!/opt/pypy3\n"])
def test_python_validator_is_a_script(tmp_path: Path, first_line: str) -> None:
    """It gets an interpreter line if it has none, or if the named interpreter may be missing here."""
    script = f"{first_line}import sys\nsys.exit(42)\n"
    changes = {"problem.yaml": "validation: custom\n", "output_validator/check.py": script}
    problem = loaded(tmp_path, read(tmp_path, PASS_FAIL, **changes))
    assert checker_of(problem).source.content == b"#!/usr/bin/env python3\nimport sys\nsys.exit(42)\n"


def test_a_second_validator_is_refused(tmp_path: Path) -> None:
    """Kattis accepts an output if all validators do. One of them may be in a language that is not supported."""
    two = {"output_validators/check.cpp": "int main() {}\n", "output_validators/other.java": "class other {}\n"}
    with pytest.raises(UnsupportedError, match=r"the output validator is output_validators/check\.cpp, .*other\.java"):
        read(tmp_path, PASS_FAIL, **{"problem.yaml": "validation: custom\n"}, **two)


def test_python_2_validator_is_refused(tmp_path: Path) -> None:
    """Otherwise every submission would be JE."""
    changes = {"problem.yaml": "validation: custom\n", "output_validator/check.py": "print 'x'\n"}
    with pytest.raises(UnsupportedError, match=r"output_validator/check\.py is Python 2, which is not supported"):
        read(tmp_path, PASS_FAIL, **changes)


@pytest.mark.parametrize(
    ("files", "changes", "words"),
    [
        (PASS_FAIL, {"problem.yaml": None}, "not a problem package in the Kattis format"),
        (PASS_FAIL, {"problem.yaml": "a: [\n"}, "problem.yaml is not YAML"),
        (PASS_FAIL, {"problem.yaml": "- a\n"}, "holds no named values"),
        (PASS_FAIL, {".timelimit": None}, "--time-limit"),
        (PASS_FAIL, {".timelimit": "soon"}, "'soon' is not a number of seconds"),
        (PASS_FAIL, {"data/secret/02.ans": None}, "data/secret/02.in has no data/secret/02.ans"),
        (PASS_FAIL, {"data/secret/02.in": None}, "data/secret/02.ans has no data/secret/02.in"),
        (PASS_FAIL, {"data/other/1.in": "", "data/other/1.ans": ""}, "data/other; only sample/ and secret/"),
        (PASS_FAIL, {name: None for name in PASS_FAIL if name.startswith("data/")}, "the tests are missing"),
        (
            SCORING,
            {name: None for name in SCORING if name.endswith((".in", ".ans")) and "secret" in name},
            "in data/secret/",
        ),
        (PASS_FAIL, {"problem.yaml": "validator_flags: float_tolerance\n"}, "float_tolerance is followed by nothing"),
        (
            PASS_FAIL,
            {"data/secret/testdata.yaml": "output_validator_flags: float_tolernace 1e-6\n"},
            "data/secret/02: the comparison of tokens has no flag 'float_tolernace'",
        ),
        (
            PASS_FAIL,
            {"problem.yaml": "validator_flags: [strict]\n"},
            "problem.yaml: the flags of the output validator are [",
        ),
        (
            SCORING,
            {"data/secret/testdata.yaml": "on_reject: grade\n"},
            "on_reject of data/secret is 'grade'; it must be",
        ),
        (PASS_FAIL, {"problem.yaml": "validation: custom\n"}, "there is no output validator"),
        (
            PASS_FAIL,
            {
                "problem.yaml": "validation: custom\n",
                **{f"output_validator{end}/v.cpp": "int main() {}" for end in ("", "s")},
            },
            "an output validator in output_validators and in output_validator; one is supported",
        ),
        (
            PASS_FAIL,
            {
                "problem.yaml": "validation: custom\n",
                **{f"output_validators/{name}/v.cpp": "int main() {}" for name in ("a", "b")},
            },
            "sums has several output validators; one is supported",
        ),
        (
            PASS_FAIL,
            {f"include/cpp/{name}.cpp": "" for name in ("a", "b")},
            "include/cpp/a.cpp, include/cpp/b.cpp are compiled with every submission in C++; one source is supported",
        ),
        (
            PASS_FAIL,
            {"domjudge-problem.ini": "externalid = 'a sum'\n"},
            "'a sum' cannot be a problem's id; rename the package",
        ),
    ],
)
def test_invalid_packages(
    tmp_path: Path, files: dict[str, str | None], changes: dict[str, str | None], words: str
) -> None:
    """The message has the fault and its place."""
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, files, **changes)


@pytest.mark.parametrize("ending", ["zip", "kpp"])
def test_the_id_of_an_archive(tmp_path: Path, ending: str) -> None:
    """It is the archive's name without the ending, which may be `.kpp` in this format."""
    where = as_zip(tmp_path / f"sums.{ending}", {name: text or "" for name, text in PASS_FAIL.items()})
    assert import_package(where, year=2026).key.id == "sums"


def test_linked_tests(tmp_path: Path) -> None:
    """Groups share tests by links. In a directory links are followed; in an archive they are an error, because tests
    would be missing.
    """
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


@pytest.mark.parametrize("kind", ["directory", "zip", "tar"])
def test_answers_that_no_submission_may_print(tmp_path: Path, kind: str) -> None:
    """They are noted, with the setting that allows them. A validator of the package may accept less than an answer."""
    note = r"1 answers are longer than a submission's output may be (8,388,608 bytes): data/secret/02.ans;"
    long = {"data/secret/02.ans": "1" * 8 * MIB + "\n", "data/secret/10.ans": "1" * 8 * MIB}

    def notes(**changes: str | None) -> str:
        where = package(tmp_path, PASS_FAIL, **long, **changes)
        if kind != "directory":
            where = Path(shutil.make_archive(str(where), kind, where.parent, where.name))
        return "".join(import_package(where, year=2026).notes)

    assert note in notes()
    assert "a submission's output" not in notes(**{"problem.yaml": "name: x\nlimits:\n  output: 9\n"})
    validated = {"problem.yaml": "name: x\nvalidation: custom\n", "output_validators/v.cpp": "int main() {}\n"}
    assert "a submission's output" not in notes(**validated)


@pytest.mark.parametrize(
    ("stated", "noted"),
    [
        ("limts:\n  memory: 64\n", "limts in problem.yaml is not read. Did you mean limits?"),
        ("Type: scoring\n", "Type in problem.yaml is not read. Did you mean type?"),
        ("type:\ntyp: scoring\n", "typ in problem.yaml is not read. Did you mean type?"),
        ("limits:\n  memory: 64\nlimit: 3\n", ""),
        ("output_validator_flags: x\ncredits: x\nversion: 3\nlibraries: x\n1: 2\n", ""),
    ],
)
def test_misspelled_keys_are_noted(tmp_path: Path, stated: str, noted: str) -> None:
    """A package with `limts` gets the default of 2 GiB of memory, and one with `typ: scoring` is not scored."""
    notes = read(tmp_path, PASS_FAIL, **{"problem.yaml": f"name: x\n{stated}"}).notes
    assert [note for note in notes if "is not read" in note] == ([noted] if noted else [])


def test_limits_without_effect_are_noted(tmp_path: Path) -> None:
    """They are misspelled, or guarantee more to validators and compilers than they get here."""
    stated = "  memory_limit: 256\n  validation_time: 30\n  validation_memory: 2048\n  compilation_time: 10.5\n"
    notes = "".join(read(tmp_path / "1", PASS_FAIL, **{"problem.yaml": f"name: x\nlimits:\n{stated}"}).notes)
    assert "limits that the format does not have are not read: memory_limit, in problem.yaml" in notes
    assert "guarantee, in seconds and MiB: compilation_time 10.5 (here 10)" in notes
    assert "validation_time" not in notes
    own = {"problem.yaml": f"validation: custom\nlimits:\n{stated}", "output_validators/v.cpp": "int main() {}\n"}
    assert "validation_time 30 (here 10)" in "".join(read(tmp_path / "2", PASS_FAIL, **own).notes)
    all_known = "time_multiplier: 2\n  time_safety_margin: 2\n  memory: 64\n  output: 9\n  validation_output: 9\n"
    assert read(tmp_path / "3", PASS_FAIL, **{"problem.yaml": f"name: x\nlimits:\n  {all_known}"}).notes == (
        read(tmp_path / "4", PASS_FAIL).notes
    )
