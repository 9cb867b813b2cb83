"""TPS task directories: rows with a verdict for each subtask, and the messages for directories without tests."""

from __future__ import annotations

import os
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.task import ImportedTask
from ioi_eval.importers.tps import import_package
from ioi_eval.model import Batch, Communication, ProcessIO, ScoreType, SourceFile, Submission, TaskType, WhiteDiff
from ioi_eval.problems.submissions import check_fits
from tests.importers.packages import loaded, write_package
from tests.small_problems import checker_of, manager_of

META = {"name": "sum", "code": "sum", "title": "Sum", "memory_limit": 256, "time_limit": 1.0, "type": "Batch"}
SUBTASKS: dict[str, Any] = {
    "subtask_sensitive_validators": ["validator.cpp {subtask}"],
    "subtasks": {
        "full": {"index": 2, "score": 80, "validators": []},
        "samples": {"index": 0, "score": 0, "validators": []},
        "small": {"index": 1, "score": 20, "validators": []},
    },
}
SOLUTIONS = {
    "main.cpp": {"verdict": "model_solution"},
    "slow.cpp": {"verdict": "time_limit", "except": {"samples": "correct", "small": "correct"}},
    "half.py": {"verdict": "partially_correct"},
}
FOLDER: dict[str, Any] = {
    "problem.json": META,
    "subtasks.json": SUBTASKS,
    "solutions.json": SOLUTIONS,
    "tests/mapping": "samples 0-01\nsmall 0-01\nsmall 1-01\nfull 0-01\nfull 1-01\nfull big-01\n",
    "tests/gen_summary": "# summary",
    **{f"tests/{name}.in": f"{name}\n" for name in ("0-01", "1-01", "big-01")},
    **{f"tests/{name}.out": "1\n" for name in ("0-01", "1-01", "big-01")},
    "grader/cpp/grader.cpp": '#include "sum.h"',
    "grader/cpp/sum.h": "int sum();",
    "grader/java/grader.java": "class grader {}",
    "checker/checker.cpp": '#include "testlib.h"',
    "checker/testlib.h": "x",
    "checker/Makefile": "all:",
    "solution/main.cpp": '#include "sum.h"',
    "solution/slow.cpp": "slow",
    "solution/half.py": "half",
    "statement/index.md": "# Sum",
    "public/cpp/sum.cpp": "int sum() {}",
}
COMMUNICATION: dict[str, Any] = {
    "problem.json": {**META, "type": "Communication", "num_processes": 2, "grader_name": "stub"},
    **{"grader/cpp/grader.cpp": None, "grader/cpp/stub.cpp": '#include "sum.h"', "grader/manager.cpp": "manager"},
}


def folder(tmp_path: Path, **changes: Any) -> Path:
    """A task directory. A change to `None` leaves the file out."""
    return write_package(tmp_path / "sum", {**FOLDER, **changes})


def read(tmp_path: Path, **changes: Any) -> ImportedTask:
    """Import a task directory with changes."""
    return import_package(folder(tmp_path, **changes), year=2022, day="day1")


def test_files_that_belong_to_no_test_are_noted(tmp_path: Path) -> None:
    """An output without its input shows that a test is missing. TPS's own files are not named."""
    assert not [note for note in read(tmp_path / "complete").notes if "belong to no test" in note]
    task = read(tmp_path / "lacking", **{"tests/2-01.out": "1\n"})
    assert "left out, because they belong to no test: tests/2-01.out" in task.notes


def test_a_manager_has_the_files_that_it_includes(tmp_path: Path) -> None:
    """`make` compiles it where it is. Whatever the endings of these files are; no others."""
    includes = '#include "table.inc"\n'
    files = {"grader/manager.cpp": includes, "grader/table.inc": "1, 2\n", "grader/other.inc": ""}
    manager = manager_of(loaded(tmp_path, read(tmp_path, **{**COMMUNICATION, **files})))
    paths = {file.path for file in manager.files}
    assert "graders/table.inc" in paths
    assert "graders/other.inc" not in paths


def test_score_type_is_kept(tmp_path: Path) -> None:
    """Some contests state one for their CMS. GroupMul is not read as GroupMin, and another one is refused."""
    task = read(tmp_path, **{"problem.json": {**META, "score_type": "GroupMul"}})
    assert loaded(tmp_path, task).score_type is ScoreType.GROUP_MUL
    with pytest.raises(UnsupportedError, match="score type 'GroupMax' is not supported"):
        read(tmp_path, **{"problem.json": {**META, "score_type": "GroupMax"}})
    with pytest.raises(UnsupportedError, match="GroupThreshold needs thresholds"):
        read(tmp_path, **{"problem.json": {**META, "score_type": "GroupThreshold"}})


@pytest.mark.parametrize(("stated", "before", "newer"), [({}, 2, 2), ({"score_precision": 3}, 3, 1)])
def test_the_precision_of_points(tmp_path: Path, stated: dict[str, int], before: int, newer: int) -> None:
    """Newer versions of TPS, whose scripts are in the directory, state the decimals of a score from 0 to 1."""
    changes: dict[str, Any] = {"problem.json": {**META, **stated}}
    assert read(tmp_path, **changes).problem_rows[0]["score_precision"] == before
    changes["scripts/internal/problem_model.py"] = ""
    assert read(tmp_path, **changes).problem_rows[0]["score_precision"] == newer


def test_the_precision_of_points_if_tasks_share_their_scripts(tmp_path: Path) -> None:
    """The directory of a task then has a link to them, which leads out of it."""
    where = folder(tmp_path, **{"problem.json": {**META, "score_precision": 3}})
    write_package(tmp_path / "commons", {"internal/problem_model.py": ""})
    os.symlink("../commons", where / "scripts")
    assert import_package(where, year=2022).problem_rows[0]["score_precision"] == 1


def test_the_standard_of_cpp(tmp_path: Path) -> None:
    """Newer versions of TPS state one, by default gnu++20; with older ones the standard is that of the year."""
    assert loaded(tmp_path, read(tmp_path)).cxx_std == "gnu++17"
    newer = read(tmp_path / "newer", **{"scripts/internal/problem_model.py": ""})
    assert loaded(tmp_path / "newer", newer).cxx_std == "gnu++20"
    task = read(tmp_path, **{"problem.json": {**META, "cpp_std": "gnu++20"}})
    assert loaded(tmp_path, task).cxx_std == "gnu++20"


def test_a_task_with_a_code_and_no_name(tmp_path: Path) -> None:
    """A variant of TPS, and its loader for CMS, read the `code`."""
    meta = {key: value for key, value in META.items() if key != "name"}
    assert read(tmp_path, **{"problem.json": meta}).key.id == "sum"


def test_other_names_of_verdicts(tmp_path: Path) -> None:
    """Newer versions of TPS accept short names, in upper or lower case. Its exporter writes the full ones."""
    stated = {
        "main.cpp": {"verdict": "Model"},
        "slow.cpp": {"verdict": "TLE", "except": {"samples": "AC", "small": "wrong_answer"}},
        "half.py": {"verdict": "sv"},
    }
    task = read(tmp_path, **{"solutions.json": stated})
    assert [row["label"] for row in task.solution_rows] == [
        "model_solution/main.cpp",
        "time_limit/slow.cpp",
        "security_violation/half.py",
    ]
    expected = {"00-samples": "correct", "01-small": "incorrect", "02-full": "time_limit"}
    assert task.solution_rows[1]["expected_subtasks"] == expected


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("accepted", "correct"),
        ("partial", "partially_correct"),
        ("wa", "incorrect"),
        ("time_limit_exceeded", "time_limit"),
        ("mle", "memory_limit"),
        ("run_time_error", "runtime_error"),
        ("proto_viol", "protocol_violation"),
        ("fail", "failed"),
        ("rt_tle", "time_limit_and_runtime_error"),
    ],
)
def test_another_name_of_each_verdict(tmp_path: Path, name: str, full: str) -> None:
    """A solution with a name that is not known would be left out."""
    task = read(tmp_path, **{"solutions.json": {"slow.cpp": {"verdict": name}}})
    assert [row["label"] for row in task.solution_rows] == [f"{full}/slow.cpp"]


def test_rows_of_a_directory(tmp_path: Path) -> None:
    """Subtasks are named and ordered by their index, as in TPS's exporter. Memory limits are in MiB."""
    task = read(tmp_path)
    assert [(row["subtask"], row["score"], row["test_names"]) for row in task.problem_rows] == [
        ("00-samples", 0, ["0-01"]),
        ("01-small", 20, ["0-01", "1-01"]),
        ("02-full", 80, ["0-01", "1-01", "big-01"]),
    ]
    row = task.problem_rows[0]
    assert (row["name"], row["memory_limit"], row["statement"]) == ("Sum", 256 * 1024 * 1024, "# Sum")
    assert row["starting_code"] == "int sum() {}"
    assert task.notes == ()


def test_expected_verdicts_per_subtask(tmp_path: Path) -> None:
    """One verdict for all subtasks and exceptions, with the subtask names of the rows."""
    rows = {row["label"]: row for row in read(tmp_path).solution_rows}
    assert rows["time_limit/slow.cpp"]["expected_subtasks"] == {
        "00-samples": "correct",
        "01-small": "correct",
        "02-full": "time_limit",
    }
    assert rows["model_solution/main.cpp"]["expected"] == "model_solution"
    assert set(rows["model_solution/main.cpp"]["expected_subtasks"].values()) == {"model_solution"}
    assert rows["partially_correct/half.py"]["language"] == "python"


@pytest.mark.parametrize("other", [None, "checker/checker.rs"])
def test_a_missing_checker_is_an_error(tmp_path: Path, other: str | None) -> None:
    """Otherwise outputs would silently be compared with those of the model solution."""
    changes = {"checker/checker.cpp": None, **({} if other is None else {other: "fn main() {}"})}
    with pytest.raises(InputError, match=r"there is no checker/checker\.cpp; .* set has_checker to false"):
        read(tmp_path, **changes)


def test_a_checker_may_be_a_script(tmp_path: Path) -> None:
    """TPS runs it too; that of C++ counts if both are there."""
    script = {"checker/checker.py": "print(1)\n"}
    problem = loaded(tmp_path, read(tmp_path, **{"checker/checker.cpp": None}, **script))
    checker = checker_of(problem)
    assert (checker.source.path, checker.source.content[:2]) == ("checker/checker.py", b"#!")
    own = {"checker/checker.cpp": None, "checker/checker.py": "#!/usr/bin/env pypy3\nprint(1)\n"}
    problem = loaded(tmp_path / "own", read(tmp_path / "own", **own))
    assert checker_of(problem).source.content.decode() == own["checker/checker.py"]
    problem = loaded(tmp_path / "both", read(tmp_path / "both", **script))
    assert checker_of(problem).source.path == "checker/checker.cpp"


def test_written_rows_give_the_same_problem(tmp_path: Path) -> None:
    """A Batch task with grader and checker."""
    problem = loaded(tmp_path, read(tmp_path))
    assert [file.path for file in problem.linked] == ["graders/grader.cpp"]
    assert [file.path for file in problem.headers] == ["graders/sum.h"]
    assert problem.checker is not None
    assert problem.cxx_std == "gnu++17"


def test_communication_directory(tmp_path: Path) -> None:
    """Stub and manager get the paths that they have in an export. A checker counts only if it is stated."""
    others = {"grader/notes.txt": "", "grader/lib/tool.cpp": "", "grader/py/tool.py": ""}
    task = read(tmp_path, **COMMUNICATION, **others)
    assert sorted(dict(task.problem_rows[0]["grader_files"])) == [
        "graders/grader_config.json",
        "graders/manager.cpp",
        "graders/stub.cpp",
        "graders/sum.h",
    ]
    problem = loaded(tmp_path, task)
    assert problem.method == Communication(manager=manager_of(problem), processes=2)
    assert [file.path for file in problem.linked] == ["graders/stub.cpp"]
    meta = {**COMMUNICATION["problem.json"], "has_checker": True}
    problem = loaded(tmp_path, read(tmp_path, **{**COMMUNICATION, "problem.json": meta}))
    assert problem.method.check == checker_of(problem)


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"grader/py/grader.py": "import sum"}, "grader"), ({**COMMUNICATION, "grader/py/stub.py": "import sum"}, "stub")],
)
def test_graders_of_other_languages(tmp_path: Path, changes: dict[str, Any], name: str) -> None:
    """Each language has its directory. The files that submissions are linked with are included, as in an export."""
    others = {f"grader/c/{name}.c": '#include "sum.h"', "grader/py/sum.py": "an example", "grader/java/stub.java": "x"}
    problem = loaded(tmp_path, read(tmp_path, **{**changes, **others}))
    assert {file.path for file in problem.linked} == {f"graders/{name}{ending}" for ending in (".c", ".cpp", ".py")}
    assert [file.path for file in problem.headers] == ["graders/sum.h"]


@pytest.mark.parametrize("without_checker", [{"has_checker": False}, {"ignore_checker": True}])
def test_grader_and_checker_can_be_switched_off(tmp_path: Path, without_checker: dict[str, bool]) -> None:
    """Without a grader a submission stands alone; without a checker outputs are compared."""
    meta = {**META, "has_grader": False, **without_checker}
    problem = loaded(tmp_path, read(tmp_path, **{"problem.json": meta, "solution/main.cpp": "int main() {}"}))
    assert problem.linked == ()
    assert problem.method == Batch(check=WhiteDiff())


def test_notes(tmp_path: Path) -> None:
    """Solutions without a statement or in no known language, and samples without tests."""
    solutions = {**SOLUTIONS, "old": {"verdict": "correct"}}
    mapping = "small 1-01\nfull 1-01\nfull big-01\n"
    task = read(tmp_path, **{"solution/old.cpp": "x", "solutions.json": solutions, "tests/mapping": mapping})
    notes = "\n".join(task.notes)
    assert "solution/old.cpp" in notes
    assert "left out, because their endings are of no known language: old" in notes
    assert "the subtask samples, worth nothing, has no tests and is left out" in notes
    assert "1 tests are in no subtask and are left out: 0-01" in notes
    assert [row["subtask"] for row in task.problem_rows] == ["01-small", "02-full"]
    left_out = ", ".join(f"solution/{number:02}.cpp" for number in range(10))
    many = read(tmp_path / "many", **{f"solution/{number:02}.cpp": "x" for number in range(12)})
    assert f"left out, because solutions.json states no verdicts for them: {left_out} and 2 more" in many.notes
    without = read(tmp_path / "other", **{"solutions.json": None})
    assert "there is no solutions.json" in "\n".join(without.notes)


def test_a_solution_without_a_verdict(tmp_path: Path) -> None:
    """Only its exceptions are stated. It has the label that TPS's exporter gives it."""
    slow = {"except": {"full": "time_limit"}}
    task = read(tmp_path, **{"solutions.json": {"main.cpp": {"verdict": None}, "slow.cpp": slow}})
    assert {row["label"]: (row["expected"], row["expected_subtasks"]) for row in task.solution_rows} == {
        "unknown_verdict/main.cpp": (None, None),
        "unknown_verdict/slow.cpp": (None, {"02-full": "time_limit"}),
    }


def test_subtasks_by_regular_expression(tmp_path: Path) -> None:
    """If there is no mapping, but every subtask has an expression."""
    expressions = {"samples": "0", "small": "[01]-", "full": ".*"}
    subtasks: dict[str, dict[str, Any]] = {
        name: {**meta, "regex": expressions[name]} for name, meta in SUBTASKS["subtasks"].items()
    }
    task = read(tmp_path, **{"tests/mapping": None, "subtasks.json": {"subtasks": subtasks}})
    assert [len(row["test_names"]) for row in task.problem_rows] == [1, 2, 3]
    subtasks["small"]["regex"] = "["
    with pytest.raises(InputError, match=r"subtask small: '\[' is not a regular expression"):
        read(tmp_path, **{"tests/mapping": None, "subtasks.json": {"subtasks": subtasks}})


def test_a_regular_expression_selects_a_test_without_an_input(tmp_path: Path) -> None:
    """The package is not complete: slow programs got full marks, because the large inputs were not there."""
    stated = {name: {**meta, "regex": ".*"} for name, meta in SUBTASKS["subtasks"].items()}
    changes = {"tests/mapping": None, "subtasks.json": {"subtasks": stated}, "tests/big-01.in": None}
    words = r"test big-01 .*has an output, but there is no tests/big-01.in \(1 of 3 are missing\); generate them"
    with pytest.raises(InputError, match=words):
        read(tmp_path, **changes)


NO_TESTS: dict[str, Any] = {name: None for name in FOLDER if name.startswith("tests/")}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (NO_TESTS, "holds no tests/*.in: the tests are missing; generate them with `tps gen`"),
        ({"tests/big-01.out": None}, "1 of 3 tests have no output (tests/big-01.out, …); generate them"),
        ({"tests/mapping": None}, "there is no tests/mapping; generate them with `tps gen`"),
        (
            {
                "tests/mapping": None,
                "subtasks.json": {
                    "subtasks": {"one": {"index": 0, "score": 50, "regex": ".*"}, "two": {"index": 1, "score": 50}}
                },
            },
            "there is no tests/mapping; generate them with `tps gen`",
        ),
        ({"tests/mapping": "samples\n"}, "tests/mapping, line 1 is 'samples'; it must be a subtask and a test"),
        ({"tests/mapping": "\nhuge 0-01\n"}, "tests/mapping, line 2 names the subtask huge"),
        ({"tests/mapping": "full 9-99\n"}, "line 1 names the test 9-99, but there is no tests/9-99.in"),
        ({"tests/mapping": "samples 0-01\nfull 0-01\n"}, "tests/mapping gives the subtask small no tests"),
        ({"problem.json": {**META, "name": ""}}, "name is missing in problem.json"),
        ({"problem.json": {**META, "memory_limit": "256"}}, "memory_limit is '256' in problem.json"),
        ({"problem.json": {**META, "type_params": '{"x": 1}'}}, "type_params in problem.json is '{\"x\": 1}'"),
        ({"problem.json": {**META, "has_checker": "yes"}}, "has_checker is 'yes' in problem.json"),
        ({"subtasks.json": {"subtasks": {}}}, "subtasks.json states no subtasks"),
        ({"subtasks.json": {"subtasks": {"full": {"score": 1}}}}, "subtasks.json: index of full is None"),
        (
            {"subtasks.json": {"subtasks": {"full": {"index": 1}}}, "tests/mapping": "full 0-01"},
            "score of full is None",
        ),
        ({"subtasks.json": "{"}, "subtasks.json is not JSON"),
        ({"grader/cpp/grader.cpp": None}, "there is no grader/cpp/grader.cpp; if submissions stand alone"),
        ({"grader/cpp/sum.h": None}, "graders/grader.cpp includes sum.h"),
        ({**COMMUNICATION, "grader/manager.cpp": None}, "needs a manager"),
        ({"problem.json": {**META, "type": "BatchAndOutput"}}, "no task type 'BatchAndOutput'; import the CMS export"),
    ],
)
def test_incomplete_directories(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """The message has the directory, the file and the fault."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, **changes)
    assert words in str(caught.value)
    assert str(tmp_path / "sum") in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"solution/slow.cpp": None}, "there is no solution/slow.cpp (solutions.json names it)"),
        ({"solutions.json": {"main.cpp": {"verdict": "fine"}}}, "main.cpp: unknown expectation 'fine'"),
        ({"solutions.json": {"main.cpp": None}}, "main.cpp states no verdict"),
        ({"solutions.json": {"main.cpp": {"verdict": ["correct"]}}}, "main.cpp states no verdict"),
        (
            {"solutions.json": {"main.cpp": {"verdict": "correct", "except": {"huge": "incorrect"}}}},
            "main.cpp: an exception names the subtask huge, which is not in subtasks.json",
        ),
        (
            {"solutions.json": {"main.cpp": {"verdict": "correct", "except": {"full": "slow"}}}},
            "main.cpp: unknown expectation 'slow'",
        ),
    ],
)
def test_a_wrong_statement_leaves_its_solution_out(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """The task can be judged without this solution; a note says what is wrong."""
    task = read(tmp_path, **changes)
    named = {**FOLDER, **changes}["solutions.json"]
    assert len(task.solution_rows) == len(named) - 1
    assert [note for note in task.notes if note.startswith("left out: ") and words in note]


@pytest.mark.parametrize("link", ["checker/testlib.h", "grader/cpp/grader.cpp", "tests/0-01.in"])
def test_links_in_an_archive_are_named(tmp_path: Path, link: str) -> None:
    """TPS directories link `testlib.h` and other files to another repository. Links in an archive are not followed."""
    where = folder(tmp_path)
    (where / "gen").mkdir()
    for path in (where / link, where / "gen/Makefile"):
        path.unlink(missing_ok=True)
        path.symlink_to("../../elsewhere")
    packed = tmp_path / "sum.tar"
    with tarfile.open(packed, "w") as archive:
        archive.add(where, "sum")
    with pytest.raises(InputError) as caught:
        import_package(packed, year=2022)
    message = f"{packed}: {link} is a link; unpack the archive and import the directory"
    assert str(caught.value) == f"{message} [read as a TPS task directory]"


def test_exceptions_for_an_omitted_subtask(tmp_path: Path) -> None:
    """Samples without tests are stated like other subtasks."""
    task = read(tmp_path, **{"tests/mapping": "small 1-01\nfull 1-01\nfull big-01\n"})
    slow = next(row for row in task.solution_rows if row["label"] == "time_limit/slow.cpp")
    assert slow["expected_subtasks"] == {"01-small": "correct", "02-full": "time_limit"}


def test_two_steps_with_one_file_and_a_grader(tmp_path: Path) -> None:
    """CMS links two files with a manager. TPS links one file with its grader, and the program also runs twice."""
    problem = loaded(tmp_path, read(tmp_path, **{"problem.json": {**META, "type": "TwoSteps"}}))
    assert (problem.task_type, problem.method.processes) == (TaskType.TWO_STEPS, 2)
    assert [file.path for file in problem.linked] == ["graders/grader.cpp"]
    one = Submission(id="one", problem=problem.key, code="int f();")
    check_fits(one, problem)
    two = replace(one, sources=tuple(SourceFile(path=name, content=b"") for name in ("a.cpp", "b.cpp")))
    with pytest.raises(UnsupportedError, match=r"of 2 file\(s\) is not supported .* takes one, as it has a grader"):
        check_fits(two, problem)


def test_a_checker_is_used_whatever_the_parameters_say(tmp_path: Path) -> None:
    """CMS's loader of the exported task asks only whether there is a checker."""
    meta = {**META, "type_params": {"task_type_parameters_Batch_output_eval": "diff"}}
    task = read(tmp_path, **{"problem.json": meta})
    assert checker_of(loaded(tmp_path, task)).source.path == "checker/checker.cpp"
    assert any("checker/checker.cpp is used all the same" in note for note in task.notes)


def test_parameters_that_the_task_type_does_not_have_are_named(tmp_path: Path) -> None:
    """As in a CMS export."""
    params = {"task_type_parameters_Batch_input_filename": "a.in", "task_type_parameters_Batch_compilation": "grader"}
    task = read(tmp_path, **{"problem.json": {**META, "type_params": params}})
    assert f"left out, as Batch has no such parameters (type_params): {next(iter(params))}" in task.notes


def test_a_missing_submodule_is_named(tmp_path: Path) -> None:
    """IOI 2022 links `testlib.h` to a submodule."""
    where = folder(tmp_path, **{"checker/testlib.h": None})
    os.symlink("../../tps/problem-assets/testlib.h", where / "checker" / "testlib.h")
    with pytest.raises(InputError, match=r"checker/testlib\.h cannot be read: it is a link to \.\./\.\./tps/"):
        import_package(where, year=2022)


def test_other_formats_are_recognised(tmp_path: Path) -> None:
    """A missing directory and a CMS export have their own messages."""
    with pytest.raises(InputError, match="there is no package"):
        import_package(tmp_path / "absent", year=2022)
    (tmp_path / "problem.json").write_text('{"code": "sum", "task_type": "Batch"}')
    with pytest.raises(InputError, match="is a CMS export package; use `ioi-eval import cms`"):
        import_package(tmp_path, year=2022)
    (tmp_path / "problem.json").write_text('{"name": "sum", "task_type": "Batch"}')
    with pytest.raises(InputError, match=r"type is missing in problem\.json"):
        import_package(tmp_path, year=2022)


def test_communication_of_2017_has_fifos_and_a_checker(tmp_path: Path) -> None:
    """A stub from that year opens its FIFOs by name, and a checker judges the manager's output."""
    old = {"problem.json": {**META, "type": "Communication"}, "grader/manager.cpp": "manager"}
    stub = {"grader/cpp/grader.cpp": '#include "sum.h"\nint main(int argc, char** argv) { return argv[2][0]; }'}
    problem = loaded(tmp_path, read(tmp_path, **old, **stub))
    fifos = Communication(manager=manager_of(problem), process_io=ProcessIO.FIFO_IO, check=checker_of(problem))
    assert problem.method == fifos
    for later in ({"num_processes": 1}, {"has_checker": False}):
        meta = {**META, "type": "Communication", **later}
        assert loaded(tmp_path, read(tmp_path, **{**old, "problem.json": meta}, **stub)).method.check is None


@pytest.mark.parametrize(
    ("fields", "method"),
    [
        ({"num_processes": 2}, {"processes": 2, "process_io": ProcessIO.FIFO_IO}),
        ({"num_processes": 1, "user_io": "std_io"}, {"process_io": ProcessIO.STD_IO}),
        ({"type_params": {"task_type_parameters_Communication_user_io": "std_io"}}, {"process_io": ProcessIO.STD_IO}),
        ({"task_type_parameters": [3, "stub", "fifo_io"]}, {"processes": 3, "process_io": ProcessIO.FIFO_IO}),
    ],
)
def test_a_stub_that_opens_fifos(tmp_path: Path, fields: dict[str, Any], method: dict[str, Any]) -> None:
    """It has FIFOs also in a task of several processes, unless `problem.json` states that they are its stdin and
    stdout.
    """
    changes = {
        "problem.json": {**META, "type": "Communication", "has_checker": False, **fields},
        "grader/manager.cpp": "manager",
        "grader/cpp/grader.cpp": '#include "sum.h"\nint main(int argc, char** argv) { return argv[2][0]; }',
    }
    problem = loaded(tmp_path, read(tmp_path, **changes))
    assert problem.method == Communication(manager=manager_of(problem), **method)
