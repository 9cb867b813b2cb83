"""CMS export packages: the rows they become, and the messages for incomplete ones."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.cms import import_package
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import Communication, ProblemKey, ProcessIO, ScoreType, TaskType
from tests.importers.packages import loaded, write_package
from tests.small_problems import checker_of, manager_of

META = {
    **{"protocol_version": 1, "code": "sum", "name": "A + B", "time_limit": 1.5, "memory_limit": 2147483648},
    **{"score_precision": 2, "task_type": "Batch", "feedback_level": "oi_restricted"},
    "task_type_params": json.dumps({"task_type_parameters_Batch_compilation": "grader"}),
}
PACKAGE: dict[str, Any] = {
    "problem.json": META,
    "subtasks/00-samples.json": {"score": 0, "testcases": ["0-01"]},
    "subtasks/01-small.json": {"score": 30, "testcases": ["1-01", "0-01"]},
    "subtasks/02-full.json": {"score": 70, "testcases": ["0-01", "1-01", "2-01"]},
    **{f"tests/{name}.in": f"{name}\n" for name in ("0-01", "1-01", "2-01")},
    **{f"tests/{name}.out": "ü\n" for name in ("0-01", "1-01", "2-01")},
    "graders/grader.cpp": '#include "sum.h"\n',
    "graders/grader.java": "class grader {}",
    "graders/sum.h": "int sum(int, int);\n",
    "checker/checker.cpp": '#include "testlib.h"\n',
    "checker/testlib.h": "// testlib\n",
    "attachments/sum.zip": "PK",
    "solutions/model_solution/main.cpp": """
#include "sum.h"
#include "stdio.h"
#ifndef EVAL
#include "debug.h"
#endif
""",
    "solutions/incorrect/zero.cpp": "int sum(int, int) { return 0; }\n",
    "solutions/correct/sum.java": "class sum {}\n",
    "solutions/unknown_verdict/odd.cpp": "x\n",
}


def package(tmp_path: Path, **changes: Any) -> Path:
    """A package as a directory. A change to `None` leaves the file out, `__` in a name stands for `/`."""
    return write_package(tmp_path / "sum-CMS", {**PACKAGE, **changes})


def read(tmp_path: Path, **changes: Any) -> ImportedTask:
    """Import a package with changes."""
    return import_package(package(tmp_path, **changes), year=2025, day="day1")


def test_files_in_deeper_directories(tmp_path: Path) -> None:
    """CMS reads neither tests nor subtasks there. They are noted, and are named if there are no other tests."""
    deeper = {"tests/old/3-01.in": "3\n", "tests/old/4-01.in": "4\n", "tests/old/4-01.out": "4\n"}
    task = read(tmp_path, **deeper, **{"subtasks/old/9.json": {"score": "none"}})
    assert [row["test_name"] for row in task.tests()] == [row["test_name"] for row in read(tmp_path / "b").tests()]
    beside = {"subtasks/README": "four", "subtasks.json": "{}"}
    assert read(tmp_path / "c", **beside).problem_rows == read(tmp_path / "d").problem_rows
    notes = "\n".join(task.notes)
    assert "belong to no test: tests/old/3-01.in, tests/old/4-01.in, tests/old/4-01.out" in notes
    assert "left out, because they are not directly in subtasks/: subtasks/old/9.json" in notes
    none = {name: None for name in PACKAGE if name.startswith("tests/")}
    with pytest.raises(InputError, match=r"the tests are missing \(found instead: tests/old/3-01\.in, "):
        read(tmp_path / "none", **none, **deeper)


def test_a_time_limit_that_may_be_in_milliseconds_is_noted(tmp_path: Path) -> None:
    """It is read as seconds."""
    task = read(tmp_path, **{"problem.json": {**META, "time_limit": 1000}})
    assert task.problem_rows[0]["time_limit"] == 1000
    assert "the time limit is 1000 s; if milliseconds were meant, state seconds" in task.notes


def test_messages_about_limits_are_about_the_package(tmp_path: Path) -> None:
    """They name no rows, and say which limits are allowed."""
    for limits, words in (
        ({"memory_limit": 2 * 10**12}, r"memory_limit is 2000000000000 in problem\.json; .* above 0 and below 10\^12"),
        ({"memory_limit": 0.5}, r"sum-CMS: memory_limit is 0\.5 in problem\.json; it must be a number of bytes"),
        ({"memory_limit": 256}, r"sum-CMS: memory_limit is 256; it must be a number of bytes"),
        ({"time_limit": 90_000}, r"sum-CMS: time_limit is 90000 s; it must be from"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            read(tmp_path, **{"problem.json": {**META, **limits}})
        assert "row" not in str(caught.value)


def test_a_checker_is_used_whatever_the_parameters_say(tmp_path: Path) -> None:
    """CMS's loader asks only whether there is a checker. A list of parameters is CMS's own, so it counts."""
    meta = {**META, "task_type_params": {"task_type_parameters_Batch_output_eval": "diff"}}
    task = read(tmp_path, **{"problem.json": meta})
    assert checker_of(loaded(tmp_path, task)).source.path == "checker/checker.cpp"
    assert any("checker/checker.cpp is used all the same" in note for note in task.notes)
    listed = read(tmp_path, **{"problem.json": {**META, "task_type_params": ["grader", ["", ""], "diff"]}})
    assert loaded(tmp_path, listed).checker is None


def test_parameters_that_the_task_type_does_not_have_are_named(tmp_path: Path) -> None:
    """CMS's loader does not read them either: without the note nothing shows why no program gets its input."""
    of_batch, of_both = "task_type_parameters_Batch_input_filename", "task_type_parameters_Batch_compilation"
    params = {of_batch: "a.in", of_both: "grader"}
    task = read(tmp_path, **{"problem.json": {**META, "task_type_params": params}})
    note = f"left out, as Batch has no such parameters (task_type_params in problem.json): {of_batch}"
    assert note in task.notes
    files = {**COMMUNICATION, "problem.json": {**COMMUNICATION["problem.json"], "task_type_params": params}}
    assert any(note.endswith(f": {of_batch}, {of_both}") for note in read(tmp_path, **files).notes)
    for task_type in ("BatchAndOutput", "OutputOnly"):
        stated = {"task_type": task_type, "task_type_params": {"task_type_parameters_Batch_output_eval": "comparator"}}
        notes = read(tmp_path, **{"problem.json": {**META, **stated}, "graders/grader.cpp": "int main();"}).notes
        assert any("no such parameters" in note for note in notes) == (task_type == "OutputOnly")


def test_a_checker_has_the_files_that_it_includes(tmp_path: Path) -> None:
    """CMS's loader compiles it beside them, whatever their endings are."""
    files = {"checker/checker.cpp": '#include "testlib.h"\n#include "a.hh"\n', "checker/a.hh": '#include "lib/t.txt"\n'}
    task = read(tmp_path, **files, **{"checker/lib/t.txt": "1, 2\n", "checker/notes.txt": "x"})
    paths = {file.path for file in checker_of(loaded(tmp_path, task)).files}
    assert paths == {"checker/testlib.h", "checker/a.hh", "checker/lib/t.txt"}


def test_a_checker_that_includes_a_file_of_a_directory_above(tmp_path: Path) -> None:
    """It is refused: each submission would be JE. An include under `#if` may be for another machine."""
    with pytest.raises(
        InputError, match=r"checker/checker\.cpp includes \.\./graders/sum\.h, .* put the file beside it"
    ):
        read(tmp_path, **{"checker/checker.cpp": '#include "../graders/sum.h"\n'})
    read(tmp_path, **{"checker/checker.cpp": '#ifdef LOCAL\n#include "../lost.hpp"\n#endif\n'})


def test_numbers_may_be_texts(tmp_path: Path) -> None:
    """CMS's loader turns limits, the number of decimals and points into numbers."""
    meta = {**META, "time_limit": "1.5", "memory_limit": "268435456", "score_precision": "0"}
    subtask = {"score": "30", "testcases": ["1-01", "0-01"]}
    task = read(tmp_path, **{"problem.json": meta, "subtasks/01-small.json": subtask})
    problem = loaded(tmp_path, task)
    assert (problem.time_limit_s, problem.memory_limit_bytes, problem.score_precision) == (1.5, 268435456, 0)
    assert problem.subtasks[1].points == 30


def test_tests_are_not_changed(tmp_path: Path) -> None:
    """Programs get the bytes of the package, also if a final newline is missing."""
    problem = loaded(tmp_path, read(tmp_path, **{"tests/0-01.in": "1 2", "tests/2-01.out": "3"}))
    assert [(test.input, test.answer) for _, test in sorted(problem.tests.items())] == [
        (b"1 2", b"\xc3\xbc\n"),
        (b"1-01\n", b"\xc3\xbc\n"),
        (b"2-01\n", b"3"),
    ]


def test_a_test_that_is_listed_twice(tmp_path: Path) -> None:
    """TPS lists a test twice that a subtask includes by two ways. For CMS it is one test."""
    task = read(tmp_path, **{"subtasks/01-small.json": {"score": 30, "testcases": ["1-01", "0-01", "1-01"]}})
    assert task.problem_rows[1]["test_names"] == ["1-01", "0-01"]


def test_rows_of_a_package(tmp_path: Path) -> None:
    """The columns are those of `open-r1/ioi`. Year and day come from the caller. The export of a TPS task with a memory
    limit of 2048.0 MiB has a number with a point.
    """
    task = read(tmp_path, **{"problem.json": {**META, "memory_limit": 2147483648.0}})
    assert task.key == ProblemKey(year=2025, id="sum")
    assert [(row["subtask"], row["score"], row["test_names"]) for row in task.problem_rows] == [
        ("00-samples", 0, ["0-01"]),
        ("01-small", 30, ["1-01", "0-01"]),
        ("02-full", 70, ["0-01", "1-01", "2-01"]),
    ]
    row = task.problem_rows[0]
    assert {name: row[name] for name in ("year", "name", "id", "day", "time_limit", "memory_limit", "task_type")} == {
        **{"year": 2025, "name": "A + B", "id": "sum", "day": "day1", "time_limit": 1.5},
        **{"memory_limit": 2147483648, "task_type": "Batch"},
    }
    assert next(task.tests()) == {
        **{"year": 2025, "day": "day1", "problem_name": "A + B", "problem_id": "sum", "test_name": "0-01"},
        **{"test_input": "0-01\n", "test_output": "ü\n"},
    }
    assert task.notes == ()


@pytest.mark.parametrize(
    ("attached", "expected"),
    [
        ({"cpp/grader.cpp": "no", "java/sum.java": "no", "cpp/sum.cpp": "int sum();"}, "int sum();"),
        ({"cpp/other.cpp": "no"}, ""),
        ({}, ""),
    ],
)
def test_starting_code_is_found_in_the_attachments(tmp_path: Path, attached: dict[str, str], expected: str) -> None:
    """Contestants get a zip with the source from which they start."""
    where = package(tmp_path)
    with zipfile.ZipFile(where / "attachments/sum.zip", "w") as archive:
        for name, text in attached.items():
            archive.writestr(name, text)
    assert import_package(where, year=2025).problem_rows[0]["starting_code"] == expected


def test_starting_code_without_a_zip(tmp_path: Path) -> None:
    """It is found without a zip. A file that is named like a zip but is none does not stop the import."""
    assert read(tmp_path).problem_rows[0]["starting_code"] == ""
    assert read(tmp_path, **{"attachments/sum.cpp": "int sum();"}).problem_rows[0]["starting_code"] == "int sum();"


def test_a_header_for_contestants_only(tmp_path: Path) -> None:
    """The grader that includes it gets it too."""
    task = read(tmp_path, **{"graders/sum.h": None, "attachments/cpp/sum.h": "int sum();"})
    assert [file.path for file in loaded(tmp_path, task).headers] == ["graders/sum.h"]
    assert "graders/ has no sum.h: that of attachments/ is used" in task.notes
    others: dict[str, Any] = {"graders/grader.cpp": "int main() {}\n", "checker/checker.cpp": '#include "sum.h"\n'}
    others |= {"checker/sum.h": "", "solutions/model_solution/main.cpp": "int main() {}\n", "graders/sum.h": None}
    task = read(tmp_path / "unused", **others, **{"attachments/cpp/sum.h": "int sum();"})
    assert not any("attachments/ is used" in note for note in task.notes), "no grader includes it"


def test_includes_that_need_no_file(tmp_path: Path) -> None:
    """Those in comments, and those of the compiler's own headers in quotes. A text with `/*` begins no comment."""
    grader = (
        '/* For older compilers:\n#include "old.h"\n*/\n#include "malloc.h"\n#include "emmintrin.h"\n#include "sum.h"\n'
    )
    grader += """const char *all = "tests/*.in", quote = '"';\n"""
    assert read(tmp_path, **{"graders/grader.cpp": grader}).problem_rows
    with pytest.raises(InputError, match=r"graders/grader\.cpp includes lost\.h"):
        read(tmp_path, **{"graders/grader.cpp": f'{grader}/* needed */ #include "lost.h"\n'})


def test_grader_config_has_flat_keys(tmp_path: Path) -> None:
    """The reference's scripts find them line by line with grep."""
    files = dict(read(tmp_path).problem_rows[0]["grader_files"])
    assert set(files) == {
        *("checker/checker.cpp", "checker/testlib.h", "graders/grader.cpp", "graders/sum.h"),
        "graders/grader_config.json",
    }
    assert json.loads(files["graders/grader_config.json"]) == {
        **{"task_type": "Batch", "code": "sum", "name": "A + B", "time_limit": 1.5, "memory_limit": 2147483648},
        "task_type_parameters_Batch_compilation": "grader",
    }


def test_solutions_have_their_label(tmp_path: Path) -> None:
    """The directory is the label of the whole solution. Solutions in other languages are kept, with their language."""
    rows = {row["label"]: row for row in read(tmp_path).solution_rows}
    assert {label: (row["language"], row["expected"]) for label, row in rows.items()} == {
        "model_solution/main.cpp": ("cpp", "model_solution"),
        "incorrect/zero.cpp": ("cpp", "incorrect"),
        "correct/sum.java": ("java", "correct"),
        "unknown_verdict/odd.cpp": ("cpp", None),
    }
    assert rows["incorrect/zero.cpp"]["code"] == PACKAGE["solutions/incorrect/zero.cpp"]
    assert rows["incorrect/zero.cpp"]["uuid"] == "2025/sum/incorrect/zero.cpp"
    assert all(row["expected_subtasks"] is None for row in rows.values())


def test_a_directory_that_is_no_label_states_no_verdict(tmp_path: Path) -> None:
    """Authors have directories of their own ("partial", "judger-test"). One note names each; the task is imported. Nor
    does a solution outside of directories state any.
    """
    task = read(tmp_path, **{"solutions/partial/a.cpp": "x", "solutions/partial/b.cpp": "y", "solutions/c.cpp": "z"})
    expected = {row["label"]: row["expected"] for row in task.solution_rows}
    assert (expected["partial/a.cpp"], expected["partial/b.cpp"], expected["c.cpp"]) == (None, None, None)
    (note,) = [note for note in task.notes if "solutions/partial" in note]
    assert "solutions/partial states no verdict: the directory is the label, and unknown expectation 'partial'" in note


def test_written_rows_give_the_same_problem(tmp_path: Path) -> None:
    """`score` reads all that the package contains."""
    problem = loaded(tmp_path, read(tmp_path))
    assert problem.task_type is TaskType.BATCH
    assert [subtask.points for subtask in problem.subtasks] == [0, 30, 70]
    assert problem.tests["2-01"].answer == "ü\n".encode()
    assert [file.path for file in checker_of(problem).files] == ["checker/testlib.h"]
    assert problem.cxx_std == "gnu++20"


@pytest.mark.parametrize("top", ["", "sum/"])
def test_zip_is_read_like_the_directory(tmp_path: Path, top: str) -> None:
    """As the IOI publishes them. The top directory is optional."""
    folder = package(tmp_path)
    where = tmp_path / "sum-CMS.zip"
    with zipfile.ZipFile(where, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, top + str(path.relative_to(folder)))
    from_zip, from_folder = (import_package(path, year=2025) for path in (where, folder))
    assert from_zip.problem_rows == from_folder.problem_rows
    assert from_zip.solution_rows == from_folder.solution_rows
    assert list(from_zip.tests()) == list(from_zip.tests()) == list(from_folder.tests())


COMMUNICATION: dict[str, Any] = {
    "problem.json": {
        **META,
        "task_type": "communication",
        "task_type_params": '{"task_type_parameters_Communication_num_processes": 2}',
    },
    **{"checker/checker.cpp": None, "checker/testlib.h": None, "graders/grader.cpp": None},
    **{"graders/stub.cpp": '#include "sum.h"', "graders/manager.cpp": '#include "testlib.h"', "graders/testlib.h": "x"},
}


def test_communication_package(tmp_path: Path) -> None:
    """Manager, stub and number of processes. `testlib.h` belongs to the manager."""
    problem = loaded(tmp_path, read(tmp_path, **COMMUNICATION))
    assert problem.method == Communication(manager=manager_of(problem), processes=2)
    assert [file.path for file in manager_of(problem).files] == ["graders/sum.h", "graders/testlib.h"]
    assert [file.path for file in problem.headers] == ["graders/sum.h"]


def test_what_the_sources_show_about_processes(tmp_path: Path) -> None:
    """The number of processes, and that they open FIFOs, if the package does not state it. Comments do not count."""
    main = '#include "sum.h"\n// argv[3]\nint main(int argc, char** argv) {{ return {}; }}'
    silent = {"problem.json": {**COMMUNICATION["problem.json"], "task_type_params": "{}"}}
    manager = '#include "testlib.h"\nint main(int, char** argv) { return *argv[6]; /* argv[8] */ }'
    changes = {"graders/stub.cpp": main.format("argv[2][0]"), "graders/manager.cpp": manager}
    task = read(tmp_path, **{**COMMUNICATION, **silent, **changes})
    problem = loaded(tmp_path, task)
    assert problem.method == Communication(manager=manager_of(problem), processes=3, process_io=ProcessIO.FIFO_IO)
    assert "the manager's source is for 3 processes; the package states no number" in task.notes
    problem = loaded(tmp_path, read(tmp_path, **{**COMMUNICATION, **changes, "graders/stub.cpp": main.format("0")}))
    assert problem.method == Communication(manager=manager_of(problem), processes=2)


def test_further_arguments_of_a_manager_are_of_no_process(tmp_path: Path) -> None:
    """The number that an import writes is the one that rows without it have."""
    params = {"task_type_parameters_Communication_manager_args": "a b"}
    silent = {"problem.json": {**COMMUNICATION["problem.json"], "task_type_params": params}}
    manager = '#include "testlib.h"\nint main(int, char** argv) { return *argv[1] + *argv[4]; }'
    task = read(tmp_path, **{**COMMUNICATION, **silent, "graders/manager.cpp": manager})
    problem = loaded(tmp_path, task)
    assert problem.method == Communication(manager=manager_of(problem), processes=1)
    assert not [note for note in task.notes if "processes" in note]


def test_a_registered_manager_shows_the_number_of_processes(tmp_path: Path) -> None:
    """As at IOI 2025: the manager compares the number with its arguments, and gives 0 points if they differ."""
    silent = {"problem.json": {**COMMUNICATION["problem.json"], "task_type_params": "{}"}}
    manager = """#include "testlib.h"
void registerManager(std::string probName, int num_processes, int argc, char* argv[]);
int main(int argc, char** argv) {
    // registerManager("sum", 3, argc, argv);
    registerManager("sum", 2, argc, argv);
}"""
    task = read(tmp_path, **{**COMMUNICATION, **silent, "graders/manager.cpp": manager})
    problem = loaded(tmp_path, task)
    assert problem.method == Communication(manager=manager_of(problem), processes=2)
    assert "the manager's source is for 2 processes; the package states no number" in task.notes


@pytest.mark.parametrize(
    ("macro", "process_io"),
    [
        ("#define STDIO", ProcessIO.STD_IO),
        ("#ifdef LOCAL\n#define STDIO\n#endif", ProcessIO.FIFO_IO),
        ("", ProcessIO.FIFO_IO),
    ],
)
def test_only_compiled_lines_show_how_processes_talk(tmp_path: Path, macro: str, process_io: ProcessIO) -> None:
    """A stub that can use FIFOs or standard input and output, by a macro. `#if` decides nothing. As in APIO 2026."""
    stub = f"""#include "sum.h"
{macro}
int main(int argc, char** argv) {{
#if __cplusplus > 201703L
#ifdef STDIO
    return *argv[1];
#else
    fopen(argv[1], "r"), fopen(argv[2], "w");
#endif
#endif
}}"""
    problem = loaded(tmp_path, read(tmp_path, **{**COMMUNICATION, "graders/stub.cpp": stub}))
    assert problem.method == Communication(manager=manager_of(problem), processes=2, process_io=process_io)


def test_scripts_are_kept_and_compiled_programs_are_not(tmp_path: Path) -> None:
    """CMS's loader leaves its compiled manager in the package. A manager may also be a script."""
    task = read(tmp_path, **COMMUNICATION, **{"graders/manager": b"\x7fELF", "checker/checker": "#!/bin/sh\n"})
    files = dict(task.problem_rows[0]["grader_files"])
    assert "graders/manager" not in files
    assert files["checker/checker"] == "#!/bin/sh\n"
    assert [note for note in task.notes if note.startswith("the checker judges what the manager prints")]


def test_a_compiled_checker_alone_is_refused(tmp_path: Path) -> None:
    """Without it outputs would be compared with the answers, and other right ones would be wrong."""
    changes = {"checker/checker.cpp": None, "checker/testlib.h": None, "checker/checker": b"\x7fELF"}
    with pytest.raises(InputError, match=r"checker/checker is a compiled .* put checker/checker\.cpp beside it"):
        read(tmp_path, **changes)


OTHER_NAMES = {f"tests/{name}.{ending}": None for name in ("0-01", "1-01", "2-01") for ending in ("in", "out")}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({**OTHER_NAMES, "tests.zip": b"PK"}, "holds no tests/*.in: the tests are missing (found instead: tests.zip)"),
        (
            {**OTHER_NAMES, **{f"tests/{number:02}.IN": "" for number in range(12)}},
            f"(found instead: {', '.join(f'tests/{number:02}.IN' for number in range(10))} and 2 more); get the",
        ),
        ({**OTHER_NAMES, "input/1.txt": ""}, "(found instead: input/1.txt)"),
        ({"tests/1-01.out": None, "tests/1-01.a": ""}, "no output (tests/1-01.out, …) (found instead: tests/1-01.a)"),
        ({"tests/1-01.out": None}, "1 of 3 tests have no output (tests/1-01.out, …); get the complete package"),
    ],
)
def test_tests_with_other_names(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """The message has the names that are expected, and those that are there."""
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, **changes)


def test_outputs_may_be_called_answers(tmp_path: Path) -> None:
    """`tests/0-01.ans` in place of `tests/0-01.out`."""
    task = read(tmp_path, **{"tests/0-01.out": None, "tests/0-01.ans": "answer\n"})
    assert next(task.tests())["test_output"] == "answer\n"


def test_params_may_be_absent(tmp_path: Path) -> None:
    """CMS treats an empty `task_type_params` like a missing one."""
    without = {name: value for name, value in META.items() if name != "task_type_params"}
    rows = read(tmp_path, **{"problem.json": without}).problem_rows
    assert "task_type_parameters" not in dict(rows[0]["grader_files"])["graders/grader_config.json"]
    nothing: tuple[Any, ...] = (None, "", {}, [], "{}", "[]", "null")
    for params in nothing:
        assert read(tmp_path, **{"problem.json": {**META, "task_type_params": params}}).problem_rows == rows


def test_params_as_a_list(tmp_path: Path) -> None:
    """As in protocol version 2: CMS's own list of parameters, as JSON or as JSON text."""
    params = ["grader", ["", ""], "comparator"]
    for stated in (params, json.dumps(params)):
        task = read(tmp_path, **{"problem.json": {**META, "protocol_version": 2, "task_type_params": stated}})
        config = json.loads(dict(task.problem_rows[0]["grader_files"])["graders/grader_config.json"])
        assert config["task_type_parameters_Batch_compilation"] == "grader"
        assert config["task_type_parameters_Batch_output_eval"] == "comparator"


@pytest.mark.parametrize(
    "subtasks",
    [
        {name: None for name in PACKAGE if name.startswith("subtasks/")},
        {"subtasks/02-full.json": {"score": 70, "testcases": "[12]-"}},
    ],
)
def test_an_output_without_its_input(tmp_path: Path, subtasks: dict[str, Any]) -> None:
    """It shows that a test is missing. It matters where no list of tests is stated: the others were the whole task."""
    lacking = {"tests/2-01.in": None, "tests/2-01.out": None, "tests/2-02.ans": "x\n"}
    words = r"test 2-02 .*has an output, but there is no tests/2-02\.in .*get the complete package"
    with pytest.raises(InputError, match=words):
        read(tmp_path, **lacking, **subtasks)
    listed = {"subtasks/02-full.json": {"score": 70, "testcases": ["0-01", "1-01"]}}
    assert "belong to no test: tests/2-02.ans" in "\n".join(read(tmp_path / "listed", **lacking, **listed).notes)


def test_subtask_by_regular_expression(tmp_path: Path) -> None:
    """CMS's own form of a subtask: the expression is matched at the beginning of a name."""
    task = read(tmp_path, **{"subtasks/02-full.json": {"score": 70, "testcases": "[12]-"}})
    assert task.problem_rows[2]["test_names"] == ["1-01", "2-01"]


def test_samples_without_tests_are_left_out(tmp_path: Path) -> None:
    """TPS exports such samples too. CMS's loader would give them all tests, and no points."""
    task = read(tmp_path, **{"subtasks/00-samples.json": {"score": 0, "testcases": []}})
    assert [row["subtask"] for row in task.problem_rows] == ["01-small", "02-full"]
    assert task.notes == ("the subtask 00-samples, worth nothing, has no tests and is left out",)
    changes = {file: {"score": 0, "testcases": []} for file in PACKAGE if file.startswith("subtasks/")}
    with pytest.raises(InputError, match="the subtask has no tests"):
        read(tmp_path, **changes)


def test_notes(tmp_path: Path) -> None:
    """Missing and omitted parts that do not make the package unusable."""
    task = read(
        tmp_path,
        **{
            **{"tests/9-01.in": "x", "tests/9-01.out": "y", "tests/README": "z"},
            **{"solutions/model_solution/main.cpp": None, "solutions/incorrect/Makefile": "all:"},
        },
    )
    notes = "\n".join(task.notes)
    assert "tests/README" in notes
    assert "1 tests are in no subtask and are left out: 9-01" in notes
    assert "solutions/incorrect/Makefile is left out" in notes
    assert not any(row["label"].endswith("Makefile") for row in task.solution_rows)
    assert "no solution is stated to get full marks (as one in solutions/model_solution/ would be): nothing" in notes
    assert {row["test_name"] for row in task.tests()} == {"0-01", "1-01", "2-01"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem.json": b"{"}, "problem.json is not JSON"),
        ({"problem.json": {**META, "code": None}}, "code is missing in problem.json"),
        ({"problem.json": {**META, "code": ""}}, "code is '' in problem.json"),
        ({"problem.json": {**META, "time_limit": True}}, "time_limit is True in problem.json"),
        ({"subtasks/01-small.json": {"score": 30, "testcases": [{}]}}, "testcases is [{}]; it must be a list of tests"),
        ({"problem.json": {**META, "time_limit": "1 s"}}, "time_limit is '1 s' in problem.json"),
        ({"problem.json": {**META, "time_limit": 0}}, "time_limit is 0"),
        ({"problem.json": {**META, "task_type_params": "{"}}, "task_type_params in problem.json is not JSON"),
        ({"problem.json": {**META, "task_type_params": "[" * 100_000}}, "task_type_params in problem.json is not JSON"),
        ({"problem.json": {**META, "task_type_params": "[" * 900 + "1" + "]" * 900}}, "is nested more than 100 deep"),
        ({"problem.json": {**META, "task_type_params": "7"}}, "it must be named parameters or CMS's list of them"),
        ({"problem.json": {**META, "task_type_params": ["alone"]}}, "it must be a list of compilation"),
        ({"subtasks/01-small.json": b"{"}, "subtasks/01-small.json is not JSON"),
        ({"subtasks/01-small.json": {"testcases": ["0-01"]}}, "score is None"),
        ({"subtasks/01-small.json": {"score": 1}}, "testcases is None"),
        ({"subtasks/01-small.json": {"score": 1, "testcases": []}}, "the subtask has no tests"),
        (
            {"subtasks/01-small.json": {"score": 1, "testcases": ["0-01", "7-01"]}},
            "subtasks/01-small.json names the test 7-01, but there is no tests/7-01.in (1 of 2 are missing)",
        ),
        ({"subtasks/01-small.json": {"score": 1, "testcases": "1-("}}, "'1-(' is not a regular expression"),
        ({"subtasks/01-small.json": {"score": 1, "testcases": "5-"}}, "no test's name matches '5-'"),
        ({"tests/1-01.out": None}, "1 of 3 tests have no output (tests/1-01.out, …); get the complete package"),
        (
            {f"tests/{name}.in": None for name in ("0-01", "1-01", "2-01")},
            "holds no tests/*.in: the tests are missing; get the complete package",
        ),
        ({"graders/grader.cpp": None}, "no graders/grader.cpp"),
        ({"graders/sum.h": None, "graders/plus.h": "int sum();"}, "graders/grader.cpp includes sum.h"),
        ({"graders/grader.cpp": "x", "graders/sum.h": None, "graders/plus.h": "y"}, "main.cpp includes sum.h"),
        ({"checker/testlib.h": None}, "checker/checker.cpp includes testlib.h"),
        ({"checker/checker.cpp": None, "checker/Checker.cpp": "x"}, "Checker.cpp, where nothing uses it; call it"),
        ({**COMMUNICATION, "graders/manager.cpp": None}, "needs a manager"),
        ({**COMMUNICATION, "graders/stub.cpp": None}, "no graders/stub.cpp"),
    ],
)
def test_incomplete_packages(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """The message has the package, the file and the fault."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, **changes)
    assert words in str(caught.value)
    assert str(tmp_path / "sum-CMS") in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem.json": {**META, "task_type": "ThreeSteps"}}, "task type 'ThreeSteps'"),
        ({"problem.json": {**META, "score_type": "GroupSum"}}, "score type 'GroupSum'"),
        (
            {"checker/checker.cpp": None, "checker/checker.rs": "fn main() {}"},
            "checker/checker.rs is a checker or manager",
        ),
        (
            {"checker/checker.cpp": None, "checker/checker.rs": "fn main() {}", "checker/checker.h": ""},
            "checker/checker.rs is a checker or manager",
        ),
        ({"checker/checker.cpp": None, "checker/Checker.java": "class Checker {}"}, "checker/Checker.java is a check"),
        ({"problem.json": {**META, "score_type": "GroupThreshold"}}, "remove score_type from a copy of the package"),
    ],
)
def test_unsupported_features_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """Otherwise the rows would be scored by another rule."""
    with pytest.raises(UnsupportedError, match=re.escape(words)):
        read(tmp_path, **changes)


def test_a_binary_test_is_refused(tmp_path: Path) -> None:
    """Rows contain text, so a binary test is refused when it is written. Text in another encoding can be recoded."""
    advice = r": import a copy in UTF-8 \(`iconv`\), if"
    for name, content, end in (("text", b"ok\xff", advice), ("binary", b"\0\0\xff", r" \[read as")):
        task = read(tmp_path / name, **{"tests/2-01.in": content})
        words = r"tests/2-01\.in is not text \(byte 3 is not UTF-8\); such tests cannot be rows"
        with pytest.raises(InputError, match=words + end):
            list(task.tests())


def test_other_formats_are_recognised(tmp_path: Path) -> None:
    """A missing file and a TPS directory have their own messages."""
    with pytest.raises(InputError, match="there is no package"):
        import_package(tmp_path / "absent.zip", year=2025)
    (tmp_path / "subtasks.json").write_text("{}")
    for more in ("", ', "code": "sum", "task_type": "Batch", "memory_limit": 512'):  # leo900807/tps states both types
        (tmp_path / "problem.json").write_text('{"name": "sum", "type": "Batch"' + more + "}")
        with pytest.raises(InputError, match="is a TPS task directory; use `ioi-eval import tps`"):
            import_package(tmp_path, year=2025)


def test_package_without_subtasks_is_a_sum(tmp_path: Path) -> None:
    """As in CMS: of several submissions the best total counts, not the best result of each test."""
    lost = {f"subtasks/{name}.json": None for name in ("00-samples", "01-small", "02-full")}
    task = read(tmp_path, **lost)
    problem = loaded(tmp_path, task)
    assert problem.score_type is ScoreType.SUM
    assert [(one.points, one.tests) for one in problem.subtasks] == [(100, ("0-01", "1-01", "2-01"))]
    assert any("no subtasks/*.json" in note for note in task.notes)


@pytest.mark.parametrize("stated", ["n_tests 3\nn_subtasks 2\n", "point_score_1 30\r\n"])
def test_points_of_uoj_are_refused(tmp_path: Path, stated: str) -> None:
    """Its `problem.conf` says what a subtask or a test is worth: the tests are not worth equal parts."""
    lost = {f"subtasks/{name}.json": None for name in ("00-samples", "01-small", "02-full")}
    with pytest.raises(UnsupportedError, match=r"tests/problem\.conf states the points in UOJ's format"):
        read(tmp_path, **lost, **{"tests/problem.conf": stated})


def test_equal_points_of_uoj_are_taken(tmp_path: Path) -> None:
    """Without these values its tests are worth equal parts there, too."""
    lost = {f"subtasks/{name}.json": None for name in ("00-samples", "01-small", "02-full")}
    task = read(tmp_path, **lost, **{"tests/problem.conf": "use_builtin_judger on\nn_tests 3\ntime_limit 1\n"})
    assert any("no subtasks/*.json" in note for note in task.notes)


def test_differences_from_cms_are_noted(tmp_path: Path) -> None:
    """Its loader takes names of tests as beginnings of names, and only whole points."""
    more = {f"tests/1-011.{end}": "1\n" for end in ("in", "out")}
    small = {"subtasks/01-small.json": {"score": 30.5, "testcases": ["1-01", "0-01"]}}
    full = {"subtasks/02-full.json": {"score": 69, "testcases": ["2-01"]}}
    notes = "\n".join(read(tmp_path, **more, **small, **full).notes)
    assert "subtask 01-small is worth 30.5 points here; CMS's loader rounds that down" in notes
    assert "would also put 1-011 in the subtask 01-small" in notes
    assert "02-full" not in notes


@pytest.mark.parametrize(("score_type", "noted"), [("GroupMul", True), ("Sum", True), ("GroupMin", False)])
def test_score_type_is_kept(tmp_path: Path, score_type: str, noted: bool) -> None:
    """If `problem.json` states one, it counts. CMS's own loader always takes GroupMin; a note says so."""
    task = read(tmp_path, **{"problem.json": {**META, "score_type": score_type}})
    assert loaded(tmp_path, task).score_type is ScoreType(score_type)
    assert any(f"subtasks are scored by {score_type}, as" in note for note in task.notes) == noted


def test_score_type_parameters(tmp_path: Path) -> None:
    """They have no effect, as in CMS."""
    task = read(tmp_path, **{"problem.json": {**META, "score_type": "Sum", "score_type_parameters": 50}})
    assert "score_type_parameters in problem.json is not read, as by CMS's loader" in task.notes
