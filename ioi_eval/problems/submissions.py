"""Rows of a dump of generations to `Submission`s."""

from __future__ import annotations

import re
from dataclasses import replace

from ioi_eval.errors import UnsupportedError
from ioi_eval.extract.cpp import C_TAGS, CPP_TAGS, extract_cpp, fix_includes
from ioi_eval.extract.fences import encodable
from ioi_eval.model import Language, Problem, ProblemKey, Submission
from ioi_eval.problems.row import Row

DEFAULT_YEAR = 2024  # Source: the reference, which takes a dump without years for IOI 2024
MAX_CODE_BYTES = 100_000
"""Source: CMS's `max_submission_length`, the limit of the IOI's own server."""

_CPP = re.compile(r"(?:(?:gnu )?c\+\+|g\+\+|gnu\+\+|cpp|cxx|cc)(?![a-z]).*", re.IGNORECASE)
_C = re.compile(r"(?:gnu )?c(?:89|90|99|11|17|18|23)?|ansi c|gcc", re.IGNORECASE)


def submission_columns(id_column: str) -> tuple[str, ...]:
    """The columns that `submission_from_row` and `target_subtask` look at."""
    return (id_column, "year", "problem_id", "code", "generation", "language", "subtask", "target_subtask")


def submission_from_row(
    row: Row,
    *,
    id_column: str = "uuid",
    default_year: int = DEFAULT_YEAR,
    max_code_bytes: int | None = MAX_CODE_BYTES,
) -> Submission:
    """The submission that a row holds.

    The column `code` wins where it is not blank, as somebody has extracted it already; else the program is looked for
    in `generation`.

    Args:
        row: of a dump.
        id_column: what names the submission; numbers become text.
        default_year: for rows without a year.
        max_code_bytes: longer programs are refused, as the official server does; `None` for no limit.

    Raises:
        RowError: the row does not say which problem it is for, or has no name; it has neither of the columns with code;
            or it
            says that it is in a language other than C++ and C.
    """
    if "code" not in row.values and "generation" not in row.values:
        raise row.error(f"there is neither code nor generation; the row has: {row.columns}")
    if not row.has(id_column):
        raise row.error(f"{id_column} is missing; the row has: {row.columns}. Name another with --id-column")
    name = row.identifier(id_column)
    problem = ProblemKey(year=row.integer("year", default_year), id=row.identifier("problem_id"))
    language = _language(row)
    code, extraction = _code(row, language)
    if code is None:
        return Submission(id=name, problem=problem, code=None, language=language, extraction=extraction)
    size = len(code.encode("utf-8", "replace"))
    if max_code_bytes is not None and size > max_code_bytes:
        words = (
            f"The program has {size:,} bytes; the contest server takes {max_code_bytes:,} at most. It was not compiled."
        )
        return Submission(id=name, problem=problem, code=None, language=language, extraction=extraction, refused=words)
    return Submission(id=name, problem=problem, code=code, language=language, extraction=extraction)


def check_language(submission: Submission, problem: Problem) -> None:
    """Refuse a submission whose language the problem cannot take.

    Raises:
        UnsupportedError: its grader is C++, which links with C++ only.
    """
    if submission.language is Language.C and problem.linked:
        linked = problem.linked[0].path
        raise UnsupportedError(
            f"a submission in C is not supported for {problem.key}: {linked} is linked, which is C++"
        )


def with_includes(submission: Submission, problem: Problem) -> Submission:
    """The submission with the includes in front that models forget, recorded in its `fixes`.

    As the reference's `add_includes`, except that a problem without a header of its own does not get one included:
    there, that makes a compile error of every program.
    """
    if submission.code is None or submission.language is not Language.CPP:
        return submission
    own = f"{problem.key.id}.h"
    has_header = any(header.name == own for header in problem.headers)
    code, changed = fix_includes(submission.code, own if has_header else None)
    return replace(submission, code=code, fixes=(*submission.fixes, "includes")) if changed else submission


def target_subtask(row: Row) -> str | None:
    """The subtask that the generation was asked to solve, if the row says so."""
    for column in ("target_subtask", "subtask"):
        if row.has(column):
            return row.identifier(column)
    return None


def _language(row: Row) -> Language:
    """What a row says that its program is written in; C++ where it says nothing."""
    stated = (row.optional_text("language") or "").strip()
    if not stated or _CPP.fullmatch(stated):
        return Language.CPP
    if _C.fullmatch(stated):
        return Language.C
    raise row.error(f"its language is {stated}, which is not supported; C++ and C are")


def _code(row: Row, language: Language) -> tuple[str | None, str]:
    """The program, and the rule by which it was found."""
    code = row.optional_text("code")
    if code is not None and code.strip():
        return encodable(code), "column:code"
    generation = row.optional_text("generation")
    if generation is None:
        return None, "none"
    found = extract_cpp(generation, C_TAGS if language is Language.C else CPP_TAGS)
    return found.code, found.rule
