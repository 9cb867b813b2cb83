"""Submissions with output files: the test of each file, and which other columns of a row count."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.errors import InputError, RowError
from ioi_eval.model import (
    Batch,
    OutputFile,
    OutputOnly,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
)
from ioi_eval.problems.grader_config import parse_grader_config
from ioi_eval.problems.output_files import test_of as named_test
from ioi_eval.problems.output_files import tests_by_output as by_output
from ioi_eval.problems.output_files import with_outputs
from ioi_eval.problems.row import Row
from ioi_eval.problems.submissions import fitted, submission_from_row

PREFIX = "task_type_parameters_BatchAndOutput_"
TESTS = {name: TestCase(name=name, input=b"", answer=b"") for name in ("01", "output_2", "x.y")}
PROBLEM = Problem(
    key=ProblemKey(year=2024, id="p"),
    name="p",
    method=OutputOnly(output_tests=tuple(TESTS)),
    time_limit_s=1.0,
    memory_limit_bytes=1 << 28,
    subtasks=(Subtask(name="1", points=1.0, tests=tuple(TESTS)),),
    tests=TESTS,
    cxx_std="gnu++17",
)
PROGRAM = Submission(
    id="s", problem=PROBLEM.key, code="x", sources=(SourceFile(path="a.cpp", content=b"x"),), refused="too long"
)


def read(problem: Problem = PROBLEM, **values: Any) -> Submission:
    """The submission of a row with these columns, which also has a program."""
    return with_outputs(PROGRAM, Row(source="dump", number=7, values=values), problem)


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("output_01.txt", "01"),
        ("01.out", "01"),
        ("output_output_2.txt", "output_2"),
        ("output_2.out", "output_2"),
        ("output_x.y.txt", "x.y"),
        ("output_.txt", None),
        (".out", None),
        ("01.txt", None),
        ("OUTPUT_01.txt", None),
    ],
)
def test_the_test_of_a_file_follows_from_its_name(name: str, test: str | None) -> None:
    """As in CMS's submission format, or the test's name with `.out`."""
    assert named_test(name) == test


def test_only_outputs_count_in_output_only_tasks() -> None:
    """A program, its sources and its length are ignored. Outputs are in the order of the tests."""
    found = read(outputs={"x.y.out": "2", "01.out": b"\xff", "output_output_2.txt": None})
    assert found.outputs == (OutputFile(test="01", content=b"\xff"), OutputFile(test="x.y", content=b"2"))
    assert (found.code, found.sources, found.refused, found.extraction) == (None, (), "", "outputs")
    assert read().is_empty
    assert read(outputs=None, files=[["01.out", ""]]).outputs == (OutputFile(test="01", content=b""),)


@pytest.mark.parametrize(
    "program",
    [{"code": "x", "language": "Java"}, {"messages": 7}, {"source_files": {"a.txt": "x"}}, {"code": "x" * 10**6}],
)
def test_a_program_beside_outputs_is_not_read(program: dict[str, Any]) -> None:
    """A row with one that is refused elsewhere can be judged."""
    row = Row(source="dump", number=1, values={"uuid": "s", "problem_id": "p", **program, "outputs": {"01.out": "1"}})
    found = fitted(submission_from_row(row, problems={PROBLEM.key: PROBLEM}), row, PROBLEM)
    assert (found.code, found.refused, found.extraction) == (None, "", "outputs")
    assert found.outputs == (OutputFile(test="01", content=b"1"),)


@pytest.mark.parametrize("empty", [None, {}, {"01.out": None}, []])
def test_of_several_columns_the_first_with_a_file_counts(empty: object) -> None:
    """In tables, a row that lacks a column may have an empty object, or all names with null."""
    assert read(outputs=empty, files={"01.out": "7"}).outputs == (OutputFile(test="01", content=b"7"),)
    assert read(outputs={"01.out": "5"}, files={"01.out": "7"}).outputs == (OutputFile(test="01", content=b"5"),)


def test_rows_for_other_tasks_may_have_such_columns() -> None:
    """The column `outputs` often has generations. For a Batch task it is ignored."""
    assert read(replace(PROBLEM, method=Batch()), outputs=["a text", 7]) is PROGRAM


@pytest.mark.parametrize(
    ("stated", "taken"),
    [
        ({}, ("01", "02", "03")),
        ({f"{PREFIX}output_optional_testcases": []}, ("02",)),
        ({f"{PREFIX}output_optional_testcases": "03"}, ("02", "03")),
        ({"submission_format": "p.%l, output_02.txt, output_01.txt"}, ("01", "02")),
        ({"submission_format": ["p.%l"]}, ("02",)),
    ],
)
def test_which_tests_take_an_output(stated: dict[str, Any], taken: tuple[str, ...]) -> None:
    """CMS accepts an output for any test. Its submission format lists the possible files."""
    values = {"task_type": "BatchAndOutput", f"{PREFIX}output_only_testcases": "02,", **stated}
    config = parse_grader_config(json.dumps(values), None)
    subtasks = (Subtask(name="1", points=1.0, tests=("01", "02")), Subtask(name="2", points=1.0, tests=("02", "03")))
    assert by_output(config, subtasks) == (taken, ("02",))


def test_an_unknown_test_is_an_error() -> None:
    """If `1` is given for the test `01`, a program would run on a test that only takes outputs."""
    text = json.dumps({"task_type": "BatchAndOutput", f"{PREFIX}output_only_testcases": "1"})
    with pytest.raises(InputError, match="an output is asked for test 1, which is in no subtask"):
        by_output(parse_grader_config(text, None), (Subtask(name="1", points=1.0, tests=("01",)),))


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"02.out": "1"}, r"the file '02\.out' is for no test .*output_01\.txt"),
        ({"output_01.txt": "3", "01.out": "3"}, "there are two outputs for test 01"),
        ({"output_01.txt": 3}, r"outputs has 'output_01\.txt' with a value that is not text"),
        ("3", "outputs is '3'; it must be a list"),
    ],
)
def test_invalid_outputs_are_refused(outputs: Any, words: str) -> None:
    """The message has the row, the file's name, and what is needed."""
    with pytest.raises(RowError, match=f"dump, row 7: {words}"):
        read(outputs=outputs)
