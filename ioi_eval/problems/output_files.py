"""Submissions of output files: each file is submitted for one test, instead of a program that would write it.

OutputOnly tasks accept only output files; BatchAndOutput tasks accept a program and outputs for some of their tests. A
file's name says its test: `output_<test>.txt` as in CMS's submission format, or `<test>.out`. As on CMS's server, a
submission with a file that its task does not accept is refused; one with too few files is judged.

Source: CMS, `cms/grading/tasktypes/OutputOnly.py` and `BatchAndOutput.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ioi_eval.errors import InputError, listed
from ioi_eval.model import (
    BatchAndOutput,
    CheckerProtocol,
    OutputFile,
    OutputOnly,
    Problem,
    Submission,
    Subtask,
    TaskType,
    TestCase,
)
from ioi_eval.problems.grader_config import GraderConfig
from ioi_eval.problems.row import Row

OUTPUT_COLUMNS = ("outputs", "files")
"""The columns that may contain them; the first that is not empty counts. Rows for other tasks may have them too."""


def test_of(name: str) -> str | None:
    """The test of an output file, from its name; `None` if it is not the name of an output file."""
    for before, after in (("output_", ".txt"), ("", ".out")):
        if name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after):
            return name[len(before) : len(name) - len(after)]
    return None


def with_outputs(submission: Submission, row: Row, problem: Problem) -> Submission:
    """The submission with the row's output files, if its problem accepts any.

    A program in the row of an OutputOnly task is ignored: it may be the one that made the files.
    """
    tests = problem.method.output_tests
    if not problem.task_type.takes_outputs:
        return submission
    if isinstance(problem.method, OutputOnly):
        submission = replace(submission, code=None, sources=(), refused="", extraction="none")
    by_test: dict[str, bytes] = {}
    for name, content in _files(row):
        test = test_of(name)
        if test not in tests or test is None:
            taken = listed((f"output_{test}.txt" for test in tests), most=3)
            raise row.error(f"the file {name!r} is for no test of {problem.key} that takes an output ({taken})")
        if test in by_test:
            raise row.error(f"there are two outputs for test {test}: output_{test}.txt and {test}.out")
        by_test[test] = content
    outputs = tuple(OutputFile(test=test, content=by_test[test]) for test in tests if test in by_test)
    extraction = "outputs" if outputs and submission.code is None else submission.extraction
    return replace(submission, outputs=outputs, extraction=extraction)


def _files(row: Row) -> Iterator[tuple[str, bytes]]:
    column = next((column for column in OUTPUT_COLUMNS if row.states(column) and any(row.files(column))), None)
    for name, content in () if column is None else row.files(column):
        yield name, content if isinstance(content, bytes) else content.encode("utf-8", "replace")


def tests_by_output(config: GraderConfig, subtasks: tuple[Subtask, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tests for which an output may be submitted, and those for which only an output counts.

    CMS's BatchAndOutput accepts an output for any test; its submission format decides which files can be submitted. If
    a configuration does not state it, outputs are accepted for all tests.
    """
    tests = tuple(dict.fromkeys(test for subtask in subtasks for test in subtask.tests))
    if config.task_type is TaskType.OUTPUT_ONLY:
        return tests, tests
    only, optional = config.output_only_tests, config.output_optional_tests
    if config.task_type is not TaskType.BATCH_AND_OUTPUT:
        return (), ()
    if config.submission_format is not None:
        optional = tuple(test for name in config.submission_format if (test := test_of(name)))
    named = {*only, *(tests if optional is None else optional)}
    if unknown := sorted(named.difference(tests)):
        raise InputError(f"an output is asked for test {unknown[0]}, which is in no subtask")
    return tuple(test for test in tests if test in named), tuple(test for test in tests if test in only)


def with_kind_argument(problem: Problem, tests: Mapping[str, TestCase]) -> Mapping[str, TestCase]:
    """The tests; for a BatchAndOutput task, with the argument by which CMS tells the checker the kind of the test."""
    method, checker = problem.method, problem.checker
    has_cms_checker = checker is not None and checker.protocol is CheckerProtocol.CMS
    if not isinstance(method, BatchAndOutput) or not has_cms_checker:
        return tests
    only = method.output_only_tests
    return {
        name: replace(case, checker_args=(*case.checker_args, "outputonly" if name in only else "batch"))
        for name, case in tests.items()
    }
