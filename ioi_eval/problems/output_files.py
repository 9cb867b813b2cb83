"""Submissions that are files: an output for a test, in the stead of a program that would make it.

OutputOnly tasks take nothing else; BatchAndOutput tasks take a program too, and outputs for some of their tests. A file
is told by its name, `output_<test>.txt` as in CMS's submission format, or `<test>.out`. As CMS's server does, a
submission with a file that its task has no use for is refused; one with too few of them is judged.

Source: CMS, `cms/grading/tasktypes/OutputOnly.py` and `BatchAndOutput.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ioi_eval.errors import InputError
from ioi_eval.model import CheckerProtocol, OutputFile, Problem, Submission, Subtask, TaskType, TestCase
from ioi_eval.problems.grader_config import GraderConfig
from ioi_eval.problems.row import Row

OUTPUT_COLUMNS = ("outputs", "files")
"""Where a row keeps them; the first that holds something counts. Rows for other tasks may have such columns too."""


def test_of(name: str) -> str | None:
    """The test that an output file of this name is for; `None` if it is not named as one."""
    for before, after in (("output_", ".txt"), ("", ".out")):
        if name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after):
            return name[len(before) : len(name) - len(after)]
    return None


def with_outputs(submission: Submission, row: Row, problem: Problem) -> Submission:
    """The submission with the output files that its row holds, if its problem takes any.

    A program in the row of an OutputOnly task is passed over: it may be the one that made the files.

    Raises:
        RowError: the files are no mapping of names to texts, or one of them is for no test that takes one.
    """
    if not problem.task_type.takes_outputs:
        return submission
    if problem.task_type is TaskType.OUTPUT_ONLY:
        submission = replace(submission, code=None, sources=(), refused="", extraction="none")
    found: dict[str, bytes] = {}
    for name, content in _files(row):
        test = test_of(name)
        if test not in problem.output_tests or test is None:
            taken = ", ".join(f"output_{test}.txt" for test in problem.output_tests[:3]) or "none"
            raise row.error(f"the file {name!r} is for no test of {problem.key} that takes an output ({taken}, …)")
        if test in found:
            raise row.error(f"there are two outputs for test {test}: output_{test}.txt and {test}.out")
        found[test] = content
    outputs = tuple(OutputFile(test=test, content=found[test]) for test in problem.output_tests if test in found)
    extraction = "outputs" if outputs and submission.code is None else submission.extraction
    return replace(submission, outputs=outputs, extraction=extraction)


def _column(row: Row) -> str | None:
    return next((column for column in OUTPUT_COLUMNS if row.has(column)), None)


def _files(row: Row) -> Iterator[tuple[str, bytes]]:
    """The files of a row: `{name: content}` or pairs. A table gives every row all names, with nulls for some."""
    column = _column(row)
    if column is None:
        return
    value = row.values[column]
    pairs = tuple(value.items()) if isinstance(value, Mapping) else row.pairs(column)
    for name, content in pairs:
        if content is None:
            continue
        if not isinstance(name, str) or not isinstance(content, str | bytes):
            raise row.error(f"{column} has {name!r} with what is not text; file names with their texts are needed")
        yield name, content if isinstance(content, bytes) else content.encode("utf-8", "replace")


def tests_by_output(config: GraderConfig, subtasks: tuple[Subtask, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tests for which an output may be submitted, and those for which nothing else counts.

    CMS's BatchAndOutput takes one for any test, and leaves it to the submission format which files arrive. So where a
    configuration says nothing of that, all tests take one.

    Raises:
        InputError: the configuration names a test that stands in no subtask.
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


def told_apart(problem: Problem, tests: Mapping[str, TestCase]) -> Mapping[str, TestCase]:
    """The tests of a BatchAndOutput task, each with the word by which CMS tells its checker of which kind it is."""
    told = problem.checker is not None and problem.checker_protocol is CheckerProtocol.CMS
    if problem.task_type is not TaskType.BATCH_AND_OUTPUT or not told:
        return tests
    return {
        name: replace(case, checker_args=(*case.checker_args, "outputonly" if only else "batch"))
        for name, case in tests.items()
        for only in [name in problem.output_only_tests]
    }
