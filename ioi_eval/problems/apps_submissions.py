"""Makes `AppsSubmission`s from the rows of a dump of Python generations.

A row may contain several samples for its problem: lists of programs, of generations, or of conversations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ioi_eval.errors import InputError, RowError
from ioi_eval.extract.fences import Extracted, encodable
from ioi_eval.extract.messages import last_answer, last_answer_or_content, last_content
from ioi_eval.extract.python import (
    extract_eval_protocol,
    extract_eval_protocol_page,
    extract_livecodebench,
    extract_python,
)
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import SAMPLE_COLUMNS, as_lists

PROBLEM_COLUMNS = ("problem_id", "instance_id")
PROGRAM_COLUMNS = SAMPLE_COLUMNS
MAX_CODE_BYTES = 1024 * 1024
"""Longer programs are not run. Most problems are from Codeforces, which accepts 64 kB; models may write out tables."""

_PYTHON = frozenset({"py", "py3", "python", "python3", "pypy", "pypy3"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsSubmission:
    """A program that was submitted for a problem.

    Args:
        id: unique within the problem.
        problem: the problem's id, as in the data set.
        code: the program; `None` if none was found.
        extraction: the rule that found it: a rule of `extract_python`, or `column:code`.
        refused: why it is not run although there is code; else empty.
    """

    id: str
    problem: str
    code: str | None
    extraction: str
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One of a row's programs, as the row has it.

    Args:
        column: the column that contains it.
        value: a text; for `messages` a conversation; `None` if the row has nothing.
        number: its position in the row's list, from 0; `None` if the row has only one.
    """

    column: str
    value: Any
    number: int | None


Extractor: TypeAlias = "Callable[[Sample], Extracted]"
"""Extracts a program from a sample."""


def submission_columns(id_column: str) -> tuple[str, ...]:
    """The columns that judging looks at."""
    return (id_column, "language", *PROBLEM_COLUMNS, *PROGRAM_COLUMNS)


def problem_of(row: Row) -> str:
    """The problem that a row is for.

    Raises:
        RowError: it does not say.
    """
    for column in PROBLEM_COLUMNS:
        if row.has(column):
            return row.identifier(column).removeprefix("apps_")
    raise row.absent("problem_id")


def samples_of(row: Row) -> tuple[Sample, ...]:
    """A row's samples: from `code` if it is not blank, else from `generation`, else from `messages`.

    Raises:
        RowError: none of the columns exists, or they contain something that is not a program.
    """
    language = row.optional_text("language")
    if language is not None and language.strip().lower() not in _PYTHON:
        raise row.error(f"its language is {language}; programs for APPS are in Python")
    column = next((name for name in PROGRAM_COLUMNS if not _is_blank(row, name)), None)
    if column is None:
        column = next((name for name in PROGRAM_COLUMNS if name in row.values), None)
        if column is None:
            raise row.error(
                f"the row has no program: it needs one of the columns {', '.join(PROGRAM_COLUMNS)}; its "
                f"columns are: {row.columns}"
            )
        return (Sample(column=column, value=None, number=None),)
    value = as_lists(row.values[column])
    several = _conversations(row, value) if column == "messages" else _texts(row, column, value)
    if several is None:
        return (Sample(column=column, value=value, number=None),)
    return tuple(Sample(column=column, value=text, number=number) for number, text in enumerate(several))


def text_of(sample: Sample) -> str | None:
    """The model's text in a sample that is not a program: its `generation`, or the last answer in its `messages`.

    Raises:
        InputError: an entry of `messages` is not a message.
    """
    if sample.value is None:
        return None
    return last_answer(sample.value) if sample.column == "messages" else str(sample.value)


def submission(row: Row, sample: Sample, *, name: str, problem: str, extractor: Extractor) -> AppsSubmission:
    """The submission in a sample.

    Args:
        row: the row that contains it.
        sample: of the row.
        name: the submission's id.
        problem: the problem's id.
        extractor: extracts the program.

    Raises:
        RowError: an entry of `messages` is not a message.
    """
    try:
        extracted = Extracted(code=None, rule="none") if sample.value is None else extractor(sample)
    except RowError:
        raise
    except InputError as error:
        raise row.error(str(error)) from error
    if extracted.code is None or not extracted.code.strip():
        return AppsSubmission(id=name, problem=problem, code=None, extraction=extracted.rule)
    size = len(extracted.code.encode("utf-8", "replace"))
    refused = f"the program has {size:,} bytes, more than {MAX_CODE_BYTES:,}" if size > MAX_CODE_BYTES else ""
    return AppsSubmission(
        id=name, problem=problem, code=None if refused else extracted.code, extraction=extracted.rule, refused=refused
    )


def _is_blank(row: Row, column: str) -> bool:
    if not row.has(column):
        return True
    value = row.values[column]
    return isinstance(value, str) and not value.strip()


def _texts(row: Row, column: str, value: Any) -> Sequence[str | None] | None:
    """The samples of a column of texts; `None` if it has a single one."""
    if isinstance(value, str):
        return None
    if not isinstance(value, list) or not value:
        raise row.error(f"{column} is neither text nor a list of texts")
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, str):
            raise row.error(f"{column} holds something of type {type(item).__name__} (at {index}), no text")
    return value


def _conversations(row: Row, value: Any) -> Sequence[Any] | None:
    """The conversations of a column; `None` if it has a single one."""
    if not isinstance(value, list):
        raise row.error("messages is not a list of messages")
    return value if value and all(isinstance(item, list) for item in value) else None


# --------------------------------------------------------------------------- rules


def _extractor(answer_of: Callable[[Any], str | None], extract: Callable[[str], Extracted]) -> Extractor:
    """The column `code` is the program itself; from other texts it is extracted, of a conversation from its answer."""

    def extractor(sample: Sample) -> Extracted:
        if sample.column == "code":
            return Extracted(code=encodable(sample.value), rule="column:code")
        text = answer_of(sample.value) if sample.column == "messages" else sample.value
        return extract(text or "")

    return extractor


def _eval_protocol(text: str) -> Extracted:
    return Extracted(code=encodable(extract_eval_protocol(text) or ""), rule="eval-protocol")


def _livecodebench(text: str) -> Extracted:
    return Extracted(code=encodable(extract_livecodebench(text)), rule="livecodebench")


our_extractor = _extractor(last_answer, extract_python)
"""By our own rules."""

EXTRACTORS: Mapping[str, Extractor] = {
    "eval-protocol": _extractor(last_content, _eval_protocol),
    "eval-protocol-page": _extractor(last_answer_or_content, extract_eval_protocol_page),
    "livecodebench": _extractor(last_answer, _livecodebench),
}
"""Of other graders that have rules of their own; for the others, the text is the program."""
