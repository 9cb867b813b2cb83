"""Packages whose solutions are output files, in CMS exports and Italian YAML: the rows they become."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError
from ioi_eval.importers import cms, italian_yaml, package, tps
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import BatchAndOutput, OutputOnly, TaskType
from tests.importers.packages import loaded, write_package

RIGHT = {"output_0-01.txt": "1\n", "output_1-01.txt": "2\n"}
META = {"code": "outs", "name": "Outputs", "task_type": "OutputOnly", "score_precision": 2}
PACKAGE: dict[str, Any] = {
    "problem.json": META,
    "subtasks/01.json": {"score": 40, "testcases": ["0-01"]},
    "subtasks/02.json": {"score": 60, "testcases": ["1-01"]},
    **{f"tests/{name}.in": "ask\n" for name in ("0-01", "1-01")},
    **{f"tests/{name}": text for name, text in (("0-01.out", "1\n"), ("1-01.out", "2\n"))},
    **{f"solutions/model_solution/{name}": text for name, text in RIGHT.items()},
    "solutions/incorrect/author/output_0-01.txt": "7\n",
    "solutions/correct/author/made_by.cpp": "int main() {}\n",
    "solutions/correct/stray.cpp": "int main() {}\n",
}


def zipped(**files: str) -> bytes:
    """A zip with these files in one directory. macOS puts a second one beside it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name if name.startswith("__MACOSX/") else f"my outputs/{name}", text)
    return buffer.getvalue()


def read(tmp_path: Path, **changes: Any) -> ImportedTask:
    """Import a CMS package with changes."""
    files = {**PACKAGE, "solutions/correct/author.zip": zipped(**RIGHT, **{"readme.md": "hello"}), **changes}
    return cms.import_package(write_package(tmp_path / "outs", files), year=2026)


def test_outputs_of_solutions_become_rows(tmp_path: Path) -> None:
    """A directory, a zip and single files are a solution each. No limits are needed. A note names omitted programs."""
    task = read(tmp_path)
    assert loaded(tmp_path, task).method.output_only_tests == ("0-01", "1-01")
    assert {row["label"]: (row["code"], row["outputs"], row["expected"]) for row in task.solution_rows} == {
        "model_solution": (None, RIGHT, "model_solution"),
        "incorrect/author": (None, {"output_0-01.txt": "7\n"}, "incorrect"),
        "correct/author": (None, RIGHT, "correct"),
    }
    assert any("correct/stray.cpp is left out" in note for note in task.notes)


def test_outputs_for_tests_in_no_subtask_are_left_out(tmp_path: Path) -> None:
    """CMS accepts an output for every test of the package, also for a test that is in no subtask."""
    task = read(
        tmp_path,
        **{
            "tests/2-01.in": "ask\n",
            "tests/2-01.out": "3\n",
            "solutions/model_solution/output_2-01.txt": "3\n",
        },
    )
    assert {row["label"]: row["outputs"] for row in task.solution_rows}["model_solution"] == RIGHT
    assert "1 tests are in no subtask and are left out: 2-01" in task.notes


@pytest.mark.parametrize(
    "params", [{"task_type_parameters_BatchAndOutput_compilation": "alone"}, ["alone", ["", ""], "diff"]]
)
def test_a_program_and_outputs(tmp_path: Path, params: object) -> None:
    """The subtasks say on which tests outputs count, so CMS's list of parameters need not have these tests. A source
    beside outputs belongs to the same solution.
    """
    meta = {
        **META,
        "task_type": "BatchAndOutput",
        "time_limit": 1.0,
        "memory_limit": 1 << 28,
        "task_type_params": params,
    }
    task = read(
        tmp_path,
        **{
            "problem.json": meta,
            "subtasks/02.json": {"score": 60, "testcases": ["1-01"], "output_only": True},
            "solutions/correct/author.zip": None,
            "solutions/correct/author/output_1-01.txt": "2\n",
            **{f"solutions/model_solution/{name}": None for name in RIGHT},
            "solutions/incorrect/author/output_0-01.txt": None,
        },
    )
    problem = loaded(tmp_path, task)
    assert problem.task_type is TaskType.BATCH_AND_OUTPUT
    assert (problem.method.output_tests, problem.method.output_only_tests) == (("1-01",), ("1-01",))
    listed = {**meta, "task_type_params": ["alone", ["", ""], "diff", "0-01"]}  # counts if no subtask states a test
    method = loaded(tmp_path / "list", read(tmp_path / "list", **{"problem.json": listed})).method
    assert (method.output_tests, method.output_only_tests) == (("0-01", "1-01"), ("0-01",))
    rows = {row["label"]: row for row in task.solution_rows}
    assert rows["correct/author"]["outputs"] == {"output_1-01.txt": "2\n"}
    assert rows["correct/author"]["code"] == "int main() {}\n"
    assert rows["correct/stray.cpp"]["code"] == "int main() {}\n"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"solutions/correct/author.zip": b"PK not a zip"}, "correct/author.zip is damaged"),
        ({"solutions/correct/author/output_0-01.txt": b"\xff"}, "output_0-01.txt is there twice"),
        (
            {"solutions/correct/author/a.cpp": "", "solutions/correct/author/b.cpp": ""},
            "a.cpp and solutions/correct/author/b.cpp are both programs of one solution; keep one",
        ),
        ({"solutions/incorrect/author/output_0-01.txt": b"\xff"}, "output_0-01.txt is not text"),
    ],
)
def test_invalid_solutions(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """The message has the package and the path."""
    with pytest.raises(InputError, match=r"outs: solutions/") as caught:
        read(tmp_path, **changes)
    assert words in str(caught.value)


def test_outputs_in_a_directory_that_is_no_label(tmp_path: Path) -> None:
    """They state no verdict, and a note names the directory."""
    task = read(tmp_path, **{"solutions/own/output_0-01.txt": "1"})
    assert {row["label"]: row["expected"] for row in task.solution_rows}["own"] is None
    assert any("solutions/own states no verdict" in note for note in task.notes)


def test_a_program_in_a_zip_is_left_out_with_a_note(tmp_path: Path) -> None:
    """Without it a solution of a BatchAndOutput task is judged by its outputs alone."""
    content = zipped(
        **RIGHT, **{"sol.cpp": "int main() {}\n", "readme.txt": "", "__MACOSX/._more.cpp": "", "._sol.cpp": ""}
    )
    task = read(tmp_path, **{"solutions/correct/author.zip": content})
    row = next(row for row in task.solution_rows if row["label"] == "correct/author")
    assert (row["code"], row["outputs"]) == (None, RIGHT)
    assert any("author.zip: left out, as only outputs are read from a zip: sol.cpp; " in note for note in task.notes)


def test_italian_tasks(tmp_path: Path) -> None:
    """`output_only`, and lists of test numbers."""
    files = {
        "task.yaml": "name: outs\ntitle: Outputs\noutput_only: true\nn_input: 2\n",
        **{f"input/input{n}.txt": f"{n}\n" for n in range(2)},
        **{f"output/output{n}.txt": f"{n}\n" for n in range(2)},
        "sol/soluzione/output_000.txt": "0\n",
    }
    task = italian_yaml.import_package(write_package(tmp_path / "one", files), year=2026)
    assert loaded(tmp_path, task).method == OutputOnly(output_tests=("000", "001"))
    assert [(row["outputs"], row["expected"]) for row in task.solution_rows] == [
        ({"output_000.txt": "0\n"}, "model_solution")
    ]
    files["task.yaml"] = (
        "name: outs\ntitle: O\ntime_limit: 1\nmemory_limit: 256\nn_input: 2\ninfile: in.txt\n"
        "output_only_testcases: 1\noutput_optional_testcases: '0, 1'\n"
    )
    both = loaded(tmp_path, italian_yaml.import_package(write_package(tmp_path / "two", files), year=2026))
    assert both.method == BatchAndOutput(
        input_file="in.txt", output_file="output.txt", output_tests=("000", "001"), output_only_tests=("001",)
    )
    files["task.yaml"] = files["task.yaml"].replace("'0, 1'", "last")
    with pytest.raises(InputError, match=r"output_optional_testcases in task\.yaml holds 'last'"):
        italian_yaml.import_package(write_package(tmp_path / "three", files), year=2026)


def test_tps_tasks(tmp_path: Path) -> None:
    """Directories and zips that `solutions.json` names. Programs are left out, with a note, except for the model
    solution: its outputs are the official ones.
    """
    files = {
        "problem.json": {"name": "outs", "type": "OutputOnly", "time_limit": 100.0, "memory_limit": 256},
        "subtasks.json": {"subtasks": {"one": {"index": 1, "score": 100}}},
        "solutions.json": {
            "author": {"verdict": "model_solution"},
            "half.zip": {"verdict": "incorrect"},
            "maker.cpp": {"verdict": "correct"},
        },
        "tests/mapping": "one 01\none 02\n",
        **{f"tests/{name}": text for name, text in (("01.in", "?"), ("01.out", "1"), ("02.in", "?"), ("02.out", "2"))},
        "checker/checker.cpp": "int main() {}\n",
        "solution/author/output_01.txt": "1",
        "solution/author/output_02.txt": "2",
        "solution/half.zip": zipped(**{"output_01.txt": "1"}),
        "solution/maker.cpp": "int main() {}\n",
    }
    task = tps.import_package(write_package(tmp_path / "outs", files), year=2026)
    assert loaded(tmp_path, task).checker is not None
    assert {row["label"]: row["outputs"] for row in task.solution_rows} == {
        "model_solution/author": {"output_01.txt": "1", "output_02.txt": "2"},
        "incorrect/half.zip": {"output_01.txt": "1"},
    }
    assert any("left out, as the task takes outputs only: maker.cpp" in note for note in task.notes)
    made: dict[str, Any] = {"maker.cpp": {"verdict": "model_solution", "except": {}}}
    task = tps.import_package(write_package(tmp_path / "made", {**files, "solutions.json": made}), year=2026)
    assert [(row["label"], row["code"], row["outputs"]) for row in task.solution_rows] == [
        ("model_solution/maker.cpp", None, {"output_01.txt": "1", "output_02.txt": "2"})
    ]
    assert task.notes == ("maker.cpp, the model solution, is submitted as the official outputs",)


def test_the_total_size_of_zips_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each zip is small, but their contents are kept in memory."""
    monkeypatch.setattr(package, "_LARGEST_OF_ZIPS", 1 << 20)
    big = dict.fromkeys(RIGHT, "1" * 100000)
    assert len(read(tmp_path / "few", **{"solutions/correct/one.zip": zipped(**big)}).solution_rows) == 4
    many = {f"solutions/correct/{n}.zip": zipped(**big) for n in range(6)}
    with pytest.raises(
        InputError, match=r"correct/\d\.zip is damaged, or is not a readable zip: .*more than such a file may be"
    ):
        read(tmp_path / "many", **many)
