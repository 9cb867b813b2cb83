"""Problems from rows: right rows become complete problems. An error is reported with its problem and
affects no other.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import DoubtfulDataWarning, InputError, NotReadWarning, RowError, UnsupportedError
from ioi_eval.model import (
    Batch,
    Blob,
    CheckerProtocol,
    Communication,
    Content,
    Interactive,
    JudgeProgram,
    ProblemKey,
    ProcessIO,
    SourceFile,
    Subtask,
    WhiteDiff,
)
from ioi_eval.problems import testcases
from ioi_eval.problems.ioi import ProblemSet, load_problems
from ioi_eval.rows import open_source
from tests.small_problems import checker_of, manager_of

Rows = list[dict[str, Any]]
KEY = ProblemKey(year=2024, id="sum")
BATCH_FILES = [
    ["checker/checker.cpp", "int main() {}"],
    ["graders/grader.cpp", '#include "sum.h"'],
    ["graders/sum.h", "int sum(int, int);"],
    ["graders/grader_config.json", '{"task_type": "Batch", "code": "sum", "time_limit": 1.0}'],
]
NAMED_FILES = ["graders/grader_config.json", '{"task_type_parameters": ["alone", ["a.in", "a.out"], "comparator"]}']
COMMUNICATION = {
    "task_type": "Communication",
    "grader_files": [["graders/stub.cpp", "x"], ["graders/sum.h", "x"], ["graders/manager.cpp", "x"]],
}


def problem_row(**changes: Any) -> dict[str, Any]:
    """A row as in `open-r1/ioi`."""
    row = {
        **{"year": 2024, "name": "Sum", "id": "sum", "day": "practice", "subtask": "01-small", "statement": "Add."},
        **{"score": 40, "time_limit": 1.0, "memory_limit": 2147483648, "score_precision": 2, "task_type": "Batch"},
        **{"test_names": ["1-01", "1-02"], "starting_code": "", "grader_files": BATCH_FILES, "problem": "Add."},
    }
    return {**row, **changes}


def test_row(name: str, **changes: Any) -> dict[str, Any]:
    """A row as in `open-r1/ioi-test-cases`."""
    row = {
        **{"year": 2024, "day": "practice", "problem_name": "Sum", "problem_id": "sum", "test_name": name},
        **{"test_input": "1 2\n", "test_output": "3\n"},
    }
    return {**row, **changes}


test_row.__test__ = False  # type: ignore[attr-defined]


def load(tmp_path: Path, problems: Rows, tests: Rows, **options: Any) -> ProblemSet:
    """Load rows through real files."""
    for name, rows in (("p.jsonl", problems), ("t.jsonl", tests)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    sources = [open_source(tmp_path / name) for name in ("p.jsonl", "t.jsonl")]
    return load_problems(sources[0], sources[1], BlobStore(tmp_path / "cache"), **options)


@pytest.mark.parametrize("wrong", ["open-r1/ioi", Path("rows.jsonl"), [{"id": "sum"}]])
def test_a_path_is_not_a_source(tmp_path: Path, wrong: Any) -> None:
    """The message says how to make it one."""
    (tmp_path / "p.jsonl").write_text(json.dumps(problem_row()) + "\n")
    right = open_source(tmp_path / "p.jsonl")
    for problems, tests in ((wrong, right), (right, wrong)):
        with pytest.raises(InputError, match=r"is not a source of rows; open it first: ioi_eval.open_source\(path\)"):
            load_problems(problems, tests, BlobStore(tmp_path / "cache"))


def load_one(tmp_path: Path, **changes: Any) -> ProblemSet:
    """Load the problem *sum* with these changes and all its tests."""
    return load(tmp_path, [problem_row(**changes)], [test_row("1-01"), test_row("1-02")])


def why_not(tmp_path: Path, **changes: Any) -> InputError:
    """The reason why the problem *sum* with these changes is unusable."""
    found = load_one(tmp_path, **changes)
    assert not found.problems
    return found.unusable[KEY]


def content_of(content: Content | None) -> bytes | None:
    """The bytes of a value, in memory or on disk."""
    return content.path.read_bytes() if isinstance(content, Blob) else content


def test_rows_of_a_problem_become_its_subtasks(tmp_path: Path) -> None:
    """All columns are used, in the order of the rows. A test in several subtasks is stored once."""
    second = problem_row(subtask="02-full", score=60, test_names=["2-01", "1-01"])
    tests = [test_row("2-01"), test_row("1-01"), test_row("unused"), test_row("1-02", test_output="")]
    problem = load(tmp_path, [problem_row(), second], tests).problems[KEY]
    assert problem.subtasks == (
        Subtask(name="01-small", points=40, tests=("1-01", "1-02")),
        Subtask(name="02-full", points=60, tests=("2-01", "1-01")),
    )
    assert set(problem.tests) == {"1-01", "1-02", "2-01"}
    assert (problem.name, problem.day, problem.time_limit_s) == ("Sum", "practice", 1.0)
    assert (problem.memory_limit_bytes, problem.score_precision) == (2147483648, 2)
    assert [file.path for file in problem.linked] == ["graders/grader.cpp"]
    checker = SourceFile(path="checker/checker.cpp", content=b"int main() {}")
    assert problem.method == Batch(check=JudgeProgram(source=checker, protocol=CheckerProtocol.CMS))
    assert content_of(problem.tests["1-02"].answer) == b""
    assert problem.notes == ()


def test_without_official_outputs_a_checker_gets_an_empty_answer(tmp_path: Path) -> None:
    """Some checkers need none, so the problem is judged; but the column may have another name, as a warning says."""
    rows: list[dict[str, Any]] = [test_row("1-01"), test_row("1-02")]
    for row in rows:
        row["answer"] = row.pop("test_output")
    words = "its tests have no test_output, so its checker gets an empty answer"
    columns = "; the rows of tests have: year, day, problem_name, problem_id, test_name, test_input, answer"
    nulls = [row | {"test_output": None} for row in rows]
    for tests, note in ((rows, words + columns), (nulls, words)):
        with pytest.warns(DoubtfulDataWarning) as warned:
            problem = load(tmp_path, [problem_row()], tests).problems[KEY]
        assert [str(one.message) for one in warned] == [f"{tmp_path}/t.jsonl: problem 2024/sum: {note}"]
        assert (problem.tests["1-01"].answer, problem.notes) == (None, (note,))
    files = [["interactor/interactor.cpp", "x"]]
    with pytest.warns(DoubtfulDataWarning, match="so its interactor gets an empty answer; the rows"):
        load(tmp_path, [problem_row(task_type="Interactive", grader_files=files)], rows)
    with warnings.catch_warnings(action="error"):  # a manager gets none
        assert load(tmp_path, [problem_row(**COMMUNICATION)], rows).problems[KEY].notes == ()
    bare = [pair for pair in BATCH_FILES if not str(pair[0]).startswith("checker/")]
    error = load(tmp_path, [problem_row(grader_files=bare)], rows).unusable[KEY]
    assert str(error).endswith(f"add checker/checker.cpp to grader_files, or test_output to the tests{columns}")


def test_official_outputs_of_some_tests_only(tmp_path: Path) -> None:
    """The checker would reject right outputs of the others without a word. Empty outputs can be meant."""
    names = ["1-01", "1-02", "1-03"]
    rows = [test_row(name, test_output=output) for name, output in zip(names, ("3\n", None, None), strict=True)]
    error = load(tmp_path, [problem_row(test_names=names)], rows).unusable[KEY]
    assert "problem 2024/sum: the test 1-02 has no test_output (nor 1 more), but other tests have one;" in str(error)
    rows[1] |= {"test_output": ""}
    rows[2] |= {"test_output": ""}
    assert load(tmp_path, [problem_row(test_names=names)], rows).problems[KEY].notes == ()


@pytest.mark.parametrize("column", ["checker_args", "validator_flags"])
def test_checker_may_have_arguments(tmp_path: Path, column: str) -> None:
    """A list, or words in one text, under our name or Kattis's. Without a checker they are ignored."""
    for value, expected in (("float_tolerance 1e-6", ("float_tolerance", "1e-6")), (["a b", ""], ("a b", ""))):
        assert checker_of(load_one(tmp_path, **{column: value}).problems[KEY]).args == expected
    assert checker_of(load_one(tmp_path).problems[KEY]).args == ()
    without = load_one(tmp_path, checker_protocol="white-diff", **{column: "x"}).problems[KEY]
    assert without.method == Batch(check=WhiteDiff())


def test_communication_has_its_own_parameters(tmp_path: Path) -> None:
    """Processes, FIFOs and arguments come from the configuration. The row's column has precedence."""
    prefix = "task_type_parameters_Communication_"
    config = {f"{prefix}num_processes": 2, f"{prefix}user_io": "fifo_io", f"{prefix}manager_args": "a b"}
    files = [*COMMUNICATION["grader_files"], ["graders/grader_config.json", json.dumps(config)]]
    changes = {**COMMUNICATION, "grader_files": files}
    manager = JudgeProgram(
        source=SourceFile(path="graders/manager.cpp", content=b"x"),
        files=(SourceFile(path="graders/sum.h", content=b"x"),),
        args=("a", "b"),
    )
    method = load_one(tmp_path, **changes).problems[KEY].method
    assert method == Communication(manager=manager, processes=2, process_io=ProcessIO.FIFO_IO, check=None)
    for stated, args in ((["x y"], ("x y",)), ("x y", ("x", "y")), ([], ())):
        assert manager_of(load_one(tmp_path, **changes, manager_args=stated).problems[KEY]).args == args


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, (2, ProcessIO.FIFO_IO)),
        ({"num_processes": 1}, (1, ProcessIO.FIFO_IO)),
        ({"user_io": "std_io"}, (2, ProcessIO.STD_IO)),
        ({"manager_args": "a b"}, (1, ProcessIO.FIFO_IO)),
    ],
)
def test_sources_show_what_the_configuration_omits(
    tmp_path: Path, config: dict[str, Any], expected: tuple[int, ProcessIO]
) -> None:
    """As in *stations* of IOI 2020, whose stub does nothing without its three arguments. What is stated counts."""
    stated = {f"task_type_parameters_Communication_{key}": value for key, value in config.items()}
    files = [
        ["graders/stub.cpp", 'int main(int argc, char** argv) { fopen(argv[1], "r"), fopen(argv[2], "a"); }'],
        ["graders/manager.cpp", 'int main(int argc, char** argv) { fopen(argv[3], "r"), fopen(argv[4], "a"); }'],
        ["graders/grader_config.json", json.dumps(stated)],
    ]
    method = load_one(tmp_path, task_type="Communication", grader_files=files).problems[KEY].method
    assert isinstance(method, Communication)
    assert (method.processes, method.process_io) == expected


@pytest.mark.parametrize("shown", ['registerManager("a", 999, argc, argv)', "fopen(argv[130], 0)"])
def test_a_manager_that_shows_too_many_processes_is_an_error(tmp_path: Path, shown: str) -> None:
    """The configuration can state another number."""
    files = [["graders/stub.cpp", "x"], ["graders/manager.cpp", shown]]
    words = (
        "num_processes is not stated; the number that graders/manager.cpp shows is (999|65); at most 64 are possible"
    )
    assert re.search(words, str(why_not(tmp_path, task_type="Communication", grader_files=files)))
    stated = json.dumps({"task_type_parameters_Communication_num_processes": 2})
    files.append(["graders/grader_config.json", stated])
    assert load_one(tmp_path, task_type="Communication", grader_files=files).problems[KEY]


def test_an_interactor_talks_to_one_process(tmp_path: Path) -> None:
    """Parameters of Communication in the configuration have no effect, except the arguments, which the flags follow."""
    prefix = "task_type_parameters_Communication_"
    config = {f"{prefix}num_processes": 2, f"{prefix}user_io": "fifo_io", f"{prefix}manager_args": "a"}
    files = [["interactor/interactor.cpp", "x"], ["graders/grader_config.json", json.dumps(config)]]
    problem = load_one(tmp_path, task_type="Interactive", grader_files=files, validator_flags="b").problems[KEY]
    source = SourceFile(path="interactor/interactor.cpp", content=b"x")
    interactor = JudgeProgram(source=source, protocol=CheckerProtocol.KATTIS, args=("a", "b"))
    assert problem.method == Interactive(manager=interactor, check=None)


def test_checker_after_the_manager(tmp_path: Path) -> None:
    """A checker of a Communication task judges the manager's output, unless the row says otherwise."""
    files = [*COMMUNICATION["grader_files"], ["checker/checker.cpp", "x"]]
    changes = {**COMMUNICATION, "grader_files": files}
    checker = JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=b"x"))
    assert load_one(tmp_path, **changes).problems[KEY].method.check == checker
    assert load_one(tmp_path, **changes, checker_after_manager=False).problems[KEY].method.check is None
    assert "checker_after_manager is true" in str(why_not(tmp_path, **COMMUNICATION, checker_after_manager=True))


def test_without_a_checker_outputs_are_compared(tmp_path: Path) -> None:
    """White-diff is used, as in CMS, if there is no checker, or if the row or the configuration requests it."""
    bare = [pair for pair in BATCH_FILES if not str(pair[0]).startswith("checker/")]
    diff = json.dumps({"task_type_parameters_Batch_output_eval": "diff"})
    for changes in (
        {"grader_files": bare},
        {"checker_protocol": "white-diff"},
        {"grader_files": [*bare, ["checker/old.cpp", "x"]], "checker_protocol": "white-diff"},
        {"grader_files": [*BATCH_FILES[:3], ["graders/grader_config.json", diff]]},
    ):
        assert load_one(tmp_path, **changes).problems[KEY].method == Batch(check=WhiteDiff())
    without_files = load_one(tmp_path, grader_files=[]).problems[KEY]
    assert without_files.linked == ()
    tests = [test_row("1-01", test_output=""), test_row("1-02", test_output="")]
    error = load(tmp_path, [problem_row(grader_files=bare)], tests).unusable[KEY]
    assert "no checker, and its tests have no test_output to compare with; add checker/checker.cpp to" in str(error)


def test_flags_of_a_test_are_checked(tmp_path: Path) -> None:
    """An unknown flag would make every submission JE."""
    tests = [test_row("1-01", checker_args=["case_sensitive"]), test_row("1-02", checker_args=["case_sensetive"])]
    rows = [problem_row(grader_files=[], checker_protocol="tokens", test_names=["1-01", "1-02"])]
    (error,) = load(tmp_path, rows, tests).unusable.values()
    assert "test 1-02: the comparison of tokens has no flag 'case_sensetive'" in str(error)


@pytest.mark.parametrize(
    ("year", "changes", "std"),
    [
        (2023, {}, "gnu++17"),
        (2024, {}, "gnu++20"),
        (2024, {"cxx_std": "c++17"}, "c++17"),
    ],
)
def test_standard(tmp_path: Path, year: int, changes: dict[str, Any], std: str) -> None:
    """It is that of the year, unless the row has its own."""
    problems = [problem_row(year=year, **changes)]
    tests = [test_row(name, year=year) for name in ("1-01", "1-02")]
    (problem,) = load(tmp_path, problems, tests).problems.values()
    assert problem.cxx_std == std


def test_missing_final_newlines_are_added_and_counted(tmp_path: Path) -> None:
    """Data sets of the Hub have lost them. Empty values stay empty."""
    tests = [test_row("1-01", test_input="1 2", test_output="3"), test_row("1-02", test_input="4\n5", test_output="")]
    problem = load(tmp_path, [problem_row()], [*tests, *tests]).problems[KEY]  # each counts once
    assert content_of(problem.tests["1-01"].input) == b"1 2\n"
    assert content_of(problem.tests["1-01"].answer) == b"3\n"
    assert content_of(problem.tests["1-02"].input) == b"4\n5\n"
    assert content_of(problem.tests["1-02"].answer) == b""
    assert problem.notes == ("final newline added to 2 inputs and 1 output",)


def test_a_repeated_test_is_the_same_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row may be there twice, also if the second comes when no more small contents are kept in memory."""
    monkeypatch.setattr(testcases, "_INLINE_TOTAL", 1)
    tests = [test_row("1-01", test_input="7", test_output="7", as_is=True)] * 2
    problem = load(tmp_path, [problem_row()], [*tests, test_row("1-02")]).problems[KEY]
    assert content_of(problem.tests["1-01"].answer) == b"7"


def test_no_newline_is_added_to_a_test_as_is(tmp_path: Path) -> None:
    """A program may depend on it: reading until the end of file gives one more, empty line."""
    tests = [test_row("1-01", test_input="1 2", test_output="3", as_is=True), test_row("1-02")]
    problem = load(tmp_path, [problem_row()], tests).problems[KEY]
    assert (content_of(problem.tests["1-01"].input), content_of(problem.tests["1-01"].answer)) == (b"1 2", b"3")
    assert problem.notes == ()


def test_large_values_are_stored_on_disk(tmp_path: Path) -> None:
    """The bytes are the same, and equal values are one file. Small values stay in memory."""
    large = "ü 12345\n" * 10_000
    tests = [test_row("1-01", test_input=large), test_row("1-02", test_input=large)]
    problem = load(tmp_path, [problem_row()], tests).problems[KEY]
    first, second = (problem.tests[name].input for name in ("1-01", "1-02"))
    assert isinstance(first, Blob)
    assert first == second
    assert content_of(first) == large.encode()
    assert problem.tests["1-01"].answer == b"3\n"


def test_small_values_do_not_fill_memory(tmp_path: Path) -> None:
    """Small tests beyond a total of 16 MiB are stored on disk too."""
    names = [str(n) for n in range(5000)]
    tests = [test_row(name, test_input=f"{name} " + "x" * 4000) for name in names]
    problem = load(tmp_path, [problem_row(test_names=names)], tests).problems[KEY]
    inline = sum(len(case.input) for case in problem.tests.values() if isinstance(case.input, bytes))
    assert 15_000_000 < inline <= 16 * 1024 * 1024
    assert content_of(problem.tests["4999"].input) == b"4999 " + b"x" * 4000 + b"\n"


def test_problems_are_identified_by_year_and_id(tmp_path: Path) -> None:
    """The same id in two years is two problems, each with its own tests. Filters select by both."""
    problems = [problem_row(year=2023), problem_row(), problem_row(id="max")]
    tests = [test_row(name, year=year) for year in (2023, 2024) for name in ("1-01", "1-02")]
    tests += [test_row(name, problem_id="max", test_output="2\n") for name in ("1-01", "1-02")]
    everything = load(tmp_path, problems, tests)
    assert [str(key) for key in everything.problems] == ["2023/sum", "2024/sum", "2024/max"]
    assert list(load(tmp_path, problems, tests, years=[2024]).problems) == list(everything.problems)[1:]
    assert [str(key) for key in load(tmp_path, problems, tests, ids=["sum"]).problems] == ["2023/sum", "2024/sum"]


def test_problems_with_a_similar_id_are_found(tmp_path: Path) -> None:
    """Ids with other case, with blanks around them, or in another year; also among problems that were not selected."""
    problems = [problem_row(year=2023), problem_row()]
    tests = [test_row(name, year=year) for year in (2023, 2024) for name in ("1-01", "1-02")]
    for asked in (["sum"], ["Sum"]):
        loaded = load(tmp_path, problems, tests, ids=asked)
        similar = loaded.similar_to(ProblemKey(year=2024, id="Sum"))
        assert [str(key) for key in similar] == ["2024/sum", "2023/sum"]
        for name in (" Sum\n", "su_m", "s-um"):
            assert similar == loaded.similar_to(ProblemKey(year=2024, id=name))
    assert loaded.similar_to(ProblemKey(year=2024, id="max")) == ()


def test_an_error_affects_only_its_problem(tmp_path: Path) -> None:
    """The error is stored with its problem."""
    problems = [problem_row(), problem_row(id="bad", time_limit=0), problem_row(id="untested")]
    found = load(tmp_path, problems, [test_row("1-01"), test_row("1-02")])
    assert list(found.problems) == [KEY]
    assert [key.id for key in found.unusable] == ["bad", "untested"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time_limit": 0}, "time_limit is 0; it must be a number of CPU seconds above 0"),
        ({"time_limit": -1.5}, "time_limit is -1.5"),
        ({"time_limit": float("inf")}, "time_limit is inf; it must be a finite number"),
        ({"time_limit": "1"}, "time_limit is '1'"),
        ({"time_limit": None, "grader_files": BATCH_FILES[:3]}, "gives a time_limit"),
        ({"time_limit": float("nan"), "grader_files": BATCH_FILES[:3]}, "gives a time_limit"),
        ({"memory_limit": 256}, "memory_limit is 256; it must be a number of bytes"),
        ({"memory_limit": None}, "gives a memory_limit"),
        ({"memory_limit": 10**30}, "memory_limit is 1000.*; it must be a whole number of less than 64 bits"),
        ({"memory_limit": 10**17}, "memory_limit is 100000000000000000; at most 70368744177664 is possible"),
        ({"output_limit": 10**17}, "output_limit is 100000000000000000; at most 70368744177664 is possible"),
        ({"time_limit": 1e300}, r"time_limit is 1e\+300 s; it must be from 0.001 to 86400 s"),
        ({"time_limit": 0.0004}, "time_limit is 0.0004 s; it must be from 0.001 to 86400 s"),
        (
            {"memory_limit": None, "grader_files": [["graders/grader_config.json", '{"memory_limit": 256}']]},
            "memory_limit is 256; it must be a number of bytes, 1 MiB or more",
        ),
        (
            {"memory_limit": None, "grader_files": [["graders/grader_config.json", '{"memory_limit": 1e300}']]},
            "memory_limit is 1000.*; at most 70368744177664 is possible",
        ),
        ({"passes": 0}, "passes is 0; it must be a number from 1 to"),
        ({"score_precision": -1}, "score_precision is -1"),
        ({"output_limit": 0}, "output_limit is 0; it must be a number of bytes above 0"),
        ({"score": -5}, "worth -5 points; a subtask must be worth 0 or more"),
        ({"score": 1e308}, r"worth 1e\+308 points; a subtask must be worth 0 or more, and at most 10\^9"),
        ({"score": None}, "score is null"),
        ({"task_type": "TwoSteps", "grader_files": BATCH_FILES[:1]}, "TwoSteps needs a manager that is linked"),
        ({"score_type": "GroupThreshold"}, "GroupThreshold needs a number in the column threshold"),
        ({"threshold": 1.5}, "threshold is 1.5; it must be a score above 0 and at most 1"),
        ({"test_names": []}, "subtask 01-small has no tests"),
        ({"test_names": None}, "test_names is null"),
        ({"test_names": ["1-01", "1-01"], "score_type": "GroupMul"}, "test 1-01 twice, and both count; name it once"),
        ({"subtask": None}, "subtask is null"),
        ({"task_type": None, "grader_files": []}, r"gives a task_type \(Batch, Communication, "),
        ({"cxx_std": "c++2049"}, "is not a C\\+\\+ standard"),
        (
            {"grader_files": BATCH_FILES[:1] + BATCH_FILES[2:]},
            "no graders/grader.cpp, though there is a header .*; add it",
        ),
        ({"grader_files": [["grader.cpp", "x"]]}, "grader.cpp, where nothing uses it; call it graders/grader.cpp"),
        ({"grader_files": [["graders/stub.cc", "x"]]}, "stub.cc, where nothing uses it; call it graders/stub.cpp"),
        ({"grader_files": [["checkers/checker.cpp", "x"]]}, "nothing uses it; call it checker/checker.cpp, or set"),
        ({"grader_files": [["checker/check.cpp", "x"]]}, "holds checker/check.cpp, where nothing uses it"),
        ({"grader_files": [["chk.cpp", "x"]]}, "holds chk.cpp, where nothing uses it; call it checker/checker.cpp"),
        (
            {"grader_files": [["checker/checker.rs", "x"]]},
            "nothing uses it; write it in C\\+\\+, C, Python or shell, or",
        ),
        ({"grader_files": [["graders/check.py", "x"]]}, "nothing uses it; call it checker/checker.py, or"),
        ({"grader_files": [["sub/Checker.py", "x"]]}, "nothing uses it; call it checker/checker.py, or"),
        (
            {"grader_files": [["checker/checker.py", "print(1)"]]},
            "checker/checker.py is neither .* nor a script that begins with #!; .* first line #!/usr/bin/env python3",
        ),
        ({"grader_files": [["checker/checker.sh", "#!/bin/sh\r\n"]]}, "its first line ends with a carriage return"),
        ({"grader_files": [["checker/checker", "\x7fELF"]]}, "checker/checker is neither C\\+\\+ or C source"),
        (
            {
                "checker_protocol": "testlib",
                "grader_files": [*BATCH_FILES, ["checker/testlib.h", "void registerChecker(string name, int argc) {}"]],
            },
            "checker/testlib.h is the variant of the IOI, .* accept every output; set checker_protocol to cms",
        ),
        (
            {**COMMUNICATION, "grader_files": [["graders/stub.cpp", "x"], ["manager/manager.py", "x"]]},
            "manager.py is ne",
        ),
        (
            {"task_type": "Interactive", "grader_files": [["interactor/interactor.sh", "exit 42"]]},
            "interactor/interactor.sh is neither .* first line #!/bin/sh",
        ),
        ({"grader_files": [["grader/stub.cpp", "x"]]}, "nothing uses it; call it graders/stub.cpp"),
        ({"grader_files": [BATCH_FILES[0], ["sum.h", "x"]]}, "nothing uses it; call it graders/sum.h"),
        ({"grader_files": [["../x", "y"]]}, "only paths inside the problem"),
        ({"grader_files": {"graders/grader.cpp": "x"}}, "is an object; it must be a list of pairs"),
        ({"grader_files": "text"}, "grader_files is 'text'"),
        ({"checker_protocol": "testlib", "grader_files": BATCH_FILES[1:]}, "no checker/checker.cpp, though"),
        ({**COMMUNICATION, "grader_files": COMMUNICATION["grader_files"][:2]}, "needs a manager"),
        ({**COMMUNICATION, "grader_files": COMMUNICATION["grader_files"][1:]}, "no graders/stub.cpp, though"),
    ],
)
def test_errors_that_make_a_problem_unusable(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """The message has the problem or row. Such a problem never gives 0 points."""
    error = why_not(tmp_path, **changes)
    with pytest.raises(InputError, match=words):
        raise error
    assert isinstance(error, RowError) or f"problem 2024/sum ({tmp_path}/p.jsonl, row 1): " in str(error)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("memory_limit", "json gives a memory_limit, or memory_limit is misspelled as memory-limit"),
        ("grader_files", "grader_files holds no graders/manager.cpp, or grader_files is misspelled as grader-files"),
        ("test_names", "test_names is missing (a list is needed), or test_names is misspelled as test-names"),
    ],
)
def test_a_misspelled_column_of_a_problem_is_named(tmp_path: Path, column: str, words: str) -> None:
    """So is the file. Without the column the problem may lack something else, which the message says."""
    row = problem_row(**COMMUNICATION)
    row[column.replace("_", "-")] = row.pop(column)
    error = str(load(tmp_path, [row], [test_row("1-01"), test_row("1-02")]).unusable[KEY])
    assert words in error
    assert f"{tmp_path}/p.jsonl, row 1" in error


INTERACTIVE: dict[str, Any] = {
    "task_type": "Interactive",
    "grader_files": [["interactor/interactor.py", "print()"]],
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task_type": "ThreeSteps"}, "ThreeSteps"),
        (
            {"score_type": "GroupSum"},
            "): score_type 'GroupSum' is not supported; GroupMin, GroupMul, GroupThreshold, Sum",
        ),
        ({"checker_protocol": "polygon"}, "checker_protocol 'polygon' is not supported; cms, testlib"),
        ({**COMMUNICATION, "checker_protocol": "white-diff"}, "white-diff is for tasks without a manager"),
        (
            {**INTERACTIVE, "checker_protocol": "tokens"},
            "tokens is for tasks without a manager or interactor",
        ),
        (
            {**INTERACTIVE, "checker_protocol": "cms"},
            "checker_protocol cms is not for Interactive tasks; kattis and testlib are",
        ),
        (
            {
                **INTERACTIVE,
                "checker_protocol": "kattis",
                "grader_files": [*INTERACTIVE["grader_files"], ["checker/checker.py", "print()"]],
            },
            "a checker after an interactor is supported with checker_protocol testlib only",
        ),
        ({"passes": 2}, "more than one pass is supported for Batch with checker_protocol kattis only"),
        (
            {"passes": 2, "checker_protocol": "kattis", "grader_files": [BATCH_FILES[0], NAMED_FILES]},
            "more than one pass is supported only if programs use standard input and output",
        ),
        (
            {"grader_files": [BATCH_FILES[0], ["graders/grader.cpp", "// fork()\nint main() { execv (path, argv); }"]]},
            "graders/grader.cpp starts a program (execv), which is not supported",
        ),
        (
            {"grader_files": [BATCH_FILES[0], ["graders/grader.py", "import os\nos.execlpe(path, name, {})\n"]]},
            "graders/grader.py starts a program (execlpe), which is not supported",
        ),
    ],
)
def test_unsupported_features_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """They are refused and not judged wrongly, and are distinguished from errors in rows."""
    error = why_not(tmp_path, **changes)
    assert isinstance(error, UnsupportedError)
    assert words in str(error)
    assert "problem 2024/sum" in str(error)


@pytest.mark.parametrize(
    "wrong", [{"score_type": "GroupSum"}, {"task_type": "x"}, {"checker_protocol": "x"}, {"cxx_std": "x"}]
)
def test_the_message_names_the_wrong_row_once(tmp_path: Path, wrong: dict[str, str]) -> None:
    """Not the problem's first row, and not twice."""
    rows = [problem_row(), problem_row(subtask="02-full", **wrong)]
    error = load(tmp_path, rows, [test_row("1-01"), test_row("1-02")]).unusable[KEY]
    assert str(error).startswith(f"problem 2024/sum ({tmp_path}/p.jsonl, row 2): ")
    assert str(error).count("p.jsonl") == 1


def test_a_grader_may_have_functions_with_names_of_system_calls(tmp_path: Path) -> None:
    """A member, or a `fork` with arguments, starts no program."""
    grader = "int fork(int node);\nint main() { return tree.fork() + version->popen(1) + fork(2) + execvalue(3); }"
    rows = [problem_row(grader_files=[BATCH_FILES[0], ["graders/grader.cpp", grader]])]
    assert KEY in load(tmp_path, rows, [test_row("1-01"), test_row("1-02")]).problems


def test_the_problem_on_the_page_of_formats_is_complete(tmp_path: Path) -> None:
    """Its rows can be judged as they are."""
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    problems, tests, *_ = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    read = [[json.loads(line) for line in block.splitlines()] for block in (problems, tests)]
    (problem,) = load(tmp_path, *read).problems.values()
    assert [(each.points, each.tests) for each in problem.subtasks] == [(30, ("a",)), (70, ("a", "b"))]


def test_missing_tests_are_named(tmp_path: Path) -> None:
    """With problem, subtask, test, and the number of further ones."""
    rows = [problem_row(), problem_row(subtask="02-full", test_names=["1-01", "2-01", "2-02"])]
    error = load(tmp_path, rows, [test_row("1-01"), test_row("1-02")]).unusable[KEY]
    assert f"problem 2024/sum: subtask 02-full names the test 2-01, which is not in {tmp_path}/t.jsonl" in str(error)
    assert "(nor 1 more test)" in str(error)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"test_input": None}, "test 1-02 has no test_input"),
        ({"test_input": 12}, "test_input is 12; it must be a text"),
        (
            {"test_name": "1-01", "test_output": "4\n"},
            "test 1-01 occurs twice, with different contents; keep one of its rows",
        ),
        ({"full_score": 10**9 + 1}, "full_score is 1000000001; it must be a whole number from 0 to 10^9"),
        ({"score_steps": -1}, "score_steps is -1; it must be a whole number from 0 to 10^9"),
        ({"step_rounding": "up"}, "step_rounding is 'up'; it must be one of down, "),
        ({"score_table": [[3, 1], [3, 0]]}, "score_table must be a list of [score, points], whole numbers from 0"),
        ({"score_table": [3, 1]}, "score_table must be a list of [score, points]"),
        ({"score_table": [[3, 0.5]]}, "score_table must be a list of [score, points]"),
        ({"score_table": "3:1"}, "score_table must be a list of [score, points]"),
        ({"score_table": [[3, 5]], "full_score": 4}, "score_table gives 5 points, more than the full_score of 4"),
    ],
)
def test_tests_that_cannot_be_used(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """A test without input, or two different rows of one test, make its problem unusable."""
    tests = [test_row("1-01"), test_row("1-02", **changes), test_row("1-02")]
    assert words in str(load(tmp_path, [problem_row()], tests).unusable[KEY])


def test_a_misspelled_column_of_a_test_is_named(tmp_path: Path) -> None:
    """Its problem cannot be judged."""
    row = test_row("1-01")
    row["testinput"] = row.pop("test_input")
    error = load(tmp_path, [problem_row()], [row]).unusable[KEY]
    assert "test 1-01 has no test_input, or test_input is misspelled as testinput; the row has" in str(error)


def test_misspelled_optional_columns_are_named(tmp_path: Path) -> None:
    """The problem is judged without them, and nobody would notice."""
    problem, case = problem_row(), test_row("1-01") | {"checker_arg": "x"}
    rows = [problem | {"Cxx-std": "gnu++20", "output_limits": 1, "own": 1}]
    with pytest.warns(NotReadWarning) as warned:
        loaded = load(tmp_path, rows, [test_row("1-01"), test_row("1-02")])
    words = (
        "column output_limits is not read. Did you mean output_limit?",
        "column Cxx-std is not read. Did you mean cxx_std?",
    )
    assert tuple(str(one.message).partition(": ")[2] for one in warned) == words
    assert loaded.problems[KEY].notes == words  # results have them when nobody sees the warnings any more
    with pytest.warns(NotReadWarning, match=r"t\.jsonl: column checker_arg is not read. Did you mean checker_args\?"):
        loaded = load(tmp_path, [problem], [case, test_row("1-02")])
    assert loaded.problems[KEY].notes == ("column checker_arg is not read. Did you mean checker_args?",)


def test_repeated_tests_count_once(tmp_path: Path) -> None:
    """Shards may overlap."""
    tests = [test_row("1-01"), test_row("1-02"), test_row("1-01")]
    assert list(load(tmp_path, [problem_row()], tests).problems) == [KEY]


@pytest.mark.parametrize("score_type", [{}, {"score_type": "GroupThreshold", "threshold": 0.5}])
def test_a_test_that_a_subtask_names_twice(tmp_path: Path, score_type: dict[str, Any]) -> None:
    """TPS's exporter lists a test once for each way in which a subtask includes it. The score is the same."""
    problem = load_one(tmp_path, test_names=["1-02", "1-01", "1-02"], **score_type).problems[KEY]
    assert problem.subtasks[0].tests == ("1-02", "1-01")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"time_limit": 2.0}, "time_limit"),
        ({"memory_limit": 2**30}, "memory_limit"),
        ({"grader_files": BATCH_FILES[:3]}, "grader_files"),
        ({"cxx_std": "gnu++17"}, "cxx_std"),
    ],
)
def test_rows_of_a_problem_must_agree(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    """Different limits of one problem are an error, different titles are not."""
    rows = [problem_row(), problem_row(subtask="02-full", name="Summe", **changes)]
    error = load(tmp_path, rows, [test_row("1-01"), test_row("1-02")]).unusable[KEY]
    assert str(error).endswith(f"p.jsonl, row 2: {field} differs from that of the problem's first row")


def test_repeated_subtasks_are_an_error(tmp_path: Path) -> None:
    """For example if rows were concatenated twice."""
    error = load(tmp_path, [problem_row(), problem_row()], [test_row("1-01")]).unusable[KEY]
    assert "row 2: subtask 01-small occurs twice" in str(error)


@pytest.mark.parametrize("limit", [60, 1000])
def test_a_time_limit_that_may_be_in_milliseconds_is_noted(tmp_path: Path, limit: float) -> None:
    """It is read as seconds. The summary of a run has the note; a warning comes before hours of judging."""
    assert load_one(tmp_path, time_limit=59.9, grader_files=BATCH_FILES[:3]).problems[KEY].notes == ()
    with pytest.warns(DoubtfulDataWarning) as warned:
        (note,) = load_one(tmp_path, time_limit=limit, grader_files=BATCH_FILES[:3]).problems[KEY].notes
    assert note == f"the time limit is {limit} s; if milliseconds were meant, state seconds"
    assert [str(one.message) for one in warned] == [f"{tmp_path}/p.jsonl: problem 2024/sum: {note}"]


def test_the_row_s_limits_have_precedence(tmp_path: Path) -> None:
    """A note has the difference. If the row has no limit, the configuration's is used."""
    config = json.dumps({"time_limit": 5.0, "memory_limit": 2147483648, "code": "SUM"})
    files = [*BATCH_FILES[:3], ["graders/grader_config.json", config]]
    problem = load_one(tmp_path, grader_files=files).problems[KEY]
    assert problem.time_limit_s == 1.0
    assert problem.notes == ("the row's time_limit (1.0) is used, and grader_config.json's (5.0) is ignored",)
    problem = load_one(tmp_path, grader_files=files, time_limit=None, memory_limit=None).problems[KEY]
    assert (problem.time_limit_s, problem.memory_limit_bytes) == (5.0, 2147483648)


@pytest.mark.parametrize(
    ("problems", "tests", "words"),
    [
        ([problem_row(year=None)], [test_row("1-01")], r"p\.jsonl, row 1: year is null"),
        ([problem_row(id="")], [test_row("1-01")], r"p\.jsonl, row 1: id is ''"),
        ([problem_row()], [test_row("1-01"), {"year": 2024}], r"t\.jsonl, row 2: problem_id is missing .*has: year"),
        ([], [test_row("1-01")], r"p\.jsonl is empty"),
        ([problem_row()], [], r"t\.jsonl is empty"),
    ],
)
def test_rows_without_a_problem_end_the_run(tmp_path: Path, problems: Rows, tests: Rows, words: str) -> None:
    """Such a row cannot be reported with its problem."""
    with pytest.raises(InputError, match=words):
        load(tmp_path, problems, tests)


def test_swapped_problems_and_tests_are_recognised(tmp_path: Path) -> None:
    """The message says so, and not only that a column is missing."""
    with pytest.raises(RowError, match="looks like a test: are --problems and --tests swapped"):
        load(tmp_path, [test_row("1")], [problem_row()])


def test_the_directory_of_an_import_has_other_rows_too(tmp_path: Path) -> None:
    """The message says which file of it is needed."""
    program = {"year": 2024, "problem_id": "sum", "label": "a", "code": "int main() {}"}
    words = (
        r"row 2: this looks like a program; name the file with the problems \(of an import, problems\.jsonl\)\. The row"
    )
    with pytest.raises(RowError, match=words):
        load(tmp_path, [problem_row(), program], [test_row("1-01")])
    for row, kind in ((problem_row(), "problem"), (program, "program")):
        words = (
            rf"row 1: this looks like a {kind}; name the file with the tests \(of an import, tests\.jsonl\)\. The row"
        )
        with pytest.raises(RowError, match=words):
            load(tmp_path, [problem_row()], [row])
