"""Makes `Submission`s from the rows of a dump of generations.

A program may have several source files, for tasks with more than one function to write (CMS: `first.%l, second.%l`). A
row contains them by name, `{"first.cpp": …, "second.cpp": …}`, in the column `source_files` or in `code`; a table may
have pairs of name and text. All files except headers are compiled one by one, then linked together and with the task's
own objects. In Python, the first file is started, unless the task has a grader; the others are imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ioi_eval.errors import InputError, RowError, UnsupportedError, listed
from ioi_eval.extract.cpp import fix_includes
from ioi_eval.extract.fences import Extracted, encodable
from ioi_eval.languages import all_names, language_called, rules_of, stated_name
from ioi_eval.model import DEFAULT_YEAR, Language, OutputOnly, Problem, ProblemKey, SourceFile, Submission, TwoSteps
from ioi_eval.problems.output_files import OUTPUT_COLUMNS, with_outputs
from ioi_eval.problems.row import Row, problem_key, row_of
from ioi_eval.problems.samples import SAMPLE_COLUMNS, program_of

MAX_CODE_BYTES = 100_000
"""Source: CMS's `max_submission_length`, the limit of the IOI's own server."""

MAX_SOURCE_FILES = 32
"""Each file costs a descriptor, and, unless it is a header, a run of the compiler. Chosen: tasks ask for one or two."""

SOURCE_COLUMNS = ("source_files", "code")
"""The columns that may contain source files; the first that is not empty counts."""

_NAME = re.compile(r"\w[\w.+-]{0,254}", re.ASCII)
"""Of a source file. Longer names cannot be made in a box. Source: Linux, NAME_MAX."""

PROGRAM_COLUMNS = (*SOURCE_COLUMNS, "generation", "messages", *OUTPUT_COLUMNS)
"""Every row has at least one of these columns."""

OPTIONAL_COLUMNS = ("year", "language", "target_subtask", "subtask", "source_files")
"""Columns that a row may lack, and that change how it is judged."""


def submission_columns(id_column: str) -> tuple[str, ...]:
    """The columns that `submission_from_row` and `target_subtask` read."""
    return (id_column, "year", "problem_id", *PROGRAM_COLUMNS, "language", "subtask", "target_subtask")


def submission_from_row(
    row: Row | Mapping[str, Any],
    *,
    id_column: str = "uuid",
    problem: ProblemKey | None = None,
    max_code_bytes: int | None = MAX_CODE_BYTES,
    problems: Mapping[ProblemKey, Problem] | None = None,
) -> Submission:
    """The submission in a row.

    The column `code` is used if it is not blank, because the program was already extracted; else the program is
    extracted from `generation`, else from the last answer in `messages`.

    Args:
        row: of a dump; also a plain mapping of column to value.
        id_column: the column with the submission's id; numbers become text.
        problem: the problem's key, if the caller knows it (`problem_of`).
        max_code_bytes: a program with a longer file is refused, as by the official server; `None` for no limit.
        problems: if one of them is the submission's problem and has its own limit, that applies to all files together.
            If it takes outputs only, the row's program is not read.

    Raises:
        RowError: the row does not name its problem, or has no id; it has none of the columns with code; its messages
            are malformed; or its language is not supported.
    """
    row = row_of(row, "submission_from_row")
    if row.values.keys().isdisjoint(PROGRAM_COLUMNS):
        raise row.error(
            "the row has no program: it needs one of the columns code, generation, messages, source_files or "
            f"(submitted outputs) outputs or files; its columns are: {row.columns}"
        )
    if not row.has(id_column):
        raise row.absent(id_column, advice="Name another with --id-column (id_column= in Python)")
    name = row.identifier(id_column)
    problem = problem or problem_of(row)
    known = problems.get(problem) if problems else None
    if known is not None and isinstance(known.method, OutputOnly):
        return Submission(id=name, problem=problem, code=None, extraction="none")
    language = Language.CPP
    if row.has("language") and any(row.has(column) for column in (*SOURCE_COLUMNS, *SAMPLE_COLUMNS)):
        language = _language(row)  # outputs have no language
    sources = _source_files(row, language)
    if sources:
        found = Extracted(code="\n".join(file.content.decode() for file in sources), rule="column:sources")
    else:
        found = program_of(row, rules_of(language).extract)
    code = found.code
    make = partial(Submission, id=name, problem=problem, language=language, extraction=found.rule)
    if code is None:
        return make(code=None)
    if why := _why_refused(code, sources, max_code_bytes, known):
        return make(code=None, refused=f"{why}. It was not compiled.")
    return make(code=code, sources=sources)


def _why_refused(
    code: str, sources: Sequence[SourceFile], max_code_bytes: int | None, problem: Problem | None
) -> str | None:
    if len(sources) > MAX_SOURCE_FILES:
        return f"The program has {len(sources):,} files; at most {MAX_SOURCE_FILES} are accepted"
    if max_code_bytes is None:
        return None
    sizes = [len(file.content) for file in sources] or [len(code.encode("utf-8", "replace"))]
    if problem is not None and problem.code_limit_bytes is not None:
        size, most = sum(sizes), problem.code_limit_bytes  # Source: DOMjudge
    else:
        size, most = max(sizes), max_code_bytes  # Source: CMS
    if size <= most:
        return None
    return f"The program has {size:,} bytes; the contest server accepts at most {most:,}"


def problem_of(row: Row) -> ProblemKey:
    """The problem of a row."""
    return problem_key(row.integer("year", DEFAULT_YEAR), row.identifier("problem_id"))


def check_fits(submission: Submission, problem: Problem) -> None:
    """Refuse a submission for another problem, or one that the problem does not accept."""
    for name, given, needed in (("submission", submission, Submission), ("problem", problem, Problem)):
        if not isinstance(given, needed):
            raise InputError(f"the {name} is of type {type(given).__name__}; give a {needed.__name__}")
    if submission.problem != problem.key:
        raise InputError(f"submission {submission.id!r} is to {submission.problem!r}, not to {problem.key!r}")
    method = problem.method
    for output in submission.outputs:
        if output.test not in method.output_tests:
            raise InputError(f"{problem.key} takes no submitted output for test {output.test}")
    if isinstance(method, OutputOnly) and (submission.sources or submission.code is not None):
        raise InputError(f"{problem.key} takes outputs only, and no program")
    language = submission.language
    if isinstance(method, TwoSteps) and submission.code is not None:
        programs = [file for file in submission.source_files() if file.name.endswith(language.endings)]
        _check_files_of_two_steps(len(programs), problem)
    if problem.linked and not problem.linked_with(language):
        linked = ", ".join(file.path for file in problem.linked)
        raise UnsupportedError(
            f"a submission in {rules_of(language).name} is not supported for {problem.key}: a grader or stub in that "
            f"language is needed, and it has only {linked}"
        )


def fitted(submission: Submission, row: Row, problem: Problem) -> Submission:
    """The submission with the row's output files; a `RowError` if its problem does not accept it (`check_fits`)."""
    try:
        complete = with_outputs(submission, row, problem)
        check_fits(complete, problem)
    except RowError:
        raise
    except InputError as error:
        raise row.error(str(error)) from error
    return complete


def _check_files_of_two_steps(files: int, problem: Problem) -> None:
    """One file for each step, as in CMS; or one file for both, as in TPS, which has a grader instead of the manager."""
    wanted = 2 if any(file.name.startswith("manager.") for file in problem.linked) else 1
    if files != wanted:
        takes = "two, by name in the column source_files" if wanted == 2 else "one, as it has a grader and no manager"
        raise UnsupportedError(
            f"a submission of {files} file(s) is not supported for {problem.key}: its task type TwoSteps takes {takes}"
        )


def stated_language(row: Mapping[str, Any]) -> Language | None:
    """The language that the columns of a row state; `None` if they state none, or an unknown one."""
    stated = row.get("language")
    return language_called(stated.strip()) if isinstance(stated, str) else None


def with_includes(submission: Submission, problem: Problem) -> Submission:
    """The submission with the `#include` lines added that models often forget; recorded in its `fixes`.

    As the reference's `add_includes`, except that the problem's header is included only if it exists: in the reference,
    every program for a problem without a header is a compile error.
    """
    if submission.code is None or submission.sources or submission.language is not Language.CPP:
        return submission
    own = f"{problem.key.id}.h"
    has_header = any(header.name == own for header in problem.headers)
    code, changed = fix_includes(submission.code, own if has_header else None)
    return replace(submission, code=code, fixes=(*submission.fixes, "includes")) if changed else submission


def target_subtask(row: Row) -> str | None:
    """The subtask that the generation was asked to solve, if the row says so."""
    for column in ("target_subtask", "subtask"):
        if row.states(column):
            return row.identifier(column)
    return None


def _language(row: Row) -> Language:
    """The language that a row states; C++ if it states none."""
    stated = stated_name(row.optional_text("language"), row.values.get("code"))
    language = language_called(stated) if stated else Language.CPP
    if language is None:
        raise row.error(f"its language is {stated}; only {all_names()} are supported")
    return language


def _source_files(row: Row, language: Language) -> tuple[SourceFile, ...]:
    """The source files of a row; empty if its program is a single text, or if it has none."""
    by_name, code = SOURCE_COLUMNS
    column = by_name if row.states(by_name) and any(row.files(by_name)) else code
    value = row.values.get(column)
    if column == code and (isinstance(value, str) or not isinstance(value, Mapping | Sequence)):
        return ()
    files: dict[str, SourceFile] = {}
    for name, text in row.files(column):
        if isinstance(text, bytes):
            raise row.not_a_file(column, name)
        if not (name.endswith((*language.endings, *rules_of(language).header_endings)) and _NAME.fullmatch(name)):
            endings = ", ".join(language.endings)
            raise row.error(
                f"{column} holds the file {name!r}, which is not the name of a source in its language ({endings}), of "
                "at most 255 bytes"
            )
        if name in files:
            raise row.error(f"{column} holds {name} twice")
        files[name] = SourceFile(path=name, content=encodable(text).encode("utf-8", "replace"))
    if files and not any(name.endswith(language.endings) for name in files):
        raise row.error(f"{column} holds headers only: {listed(files)}")
    return tuple(files.values())
