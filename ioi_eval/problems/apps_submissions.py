"""Makes `AppsSubmission`s from the rows of a dump of Python generations.

A row may contain several samples for its problem: lists of programs, of generations, or of conversations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ioi_eval.extract.fences import Extracted, encodable
from ioi_eval.extract.messages import last_answer, last_answer_or_content, last_text
from ioi_eval.extract.python import (
    extract_eval_protocol,
    extract_eval_protocol_page,
    extract_livecodebench,
    extract_python,
)
from ioi_eval.languages import language_called, stated_name
from ioi_eval.model import Language
from ioi_eval.model.apps import without_prefix
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import SAMPLE_COLUMNS, program_of, sample_rows

PROBLEM_COLUMNS = ("problem_id", "instance_id")
PROGRAM_COLUMNS = SAMPLE_COLUMNS
MAX_CODE_BYTES = 1024 * 1024
"""Longer programs are not run. Most problems are from Codeforces, which accepts 64 kB; models may write out tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsSubmission:
    """A program that was submitted for a problem."""

    id: str  # unique within the problem
    problem: str  # the problem's id, as in the data set
    code: str | None
    extraction: str  # the rule that found it: one of `extract_python`, or `column:code`
    refused: str = ""  # why it is not run although there is code; else empty


class Extractor(NamedTuple):
    """How a grader finds a program: which message of a conversation it reads, and what it takes from a text.

    The column `code` is the program itself for all of them.
    """

    extract: Callable[[str], Extracted]
    answer_of: Callable[[Sequence[Any]], str | None] = last_answer


def submission_columns(id_column: str) -> tuple[str, ...]:
    """The columns that judging looks at."""
    return (id_column, "language", *PROBLEM_COLUMNS, *PROGRAM_COLUMNS)


def problem_of(row: Row) -> str:
    """The problem that a row is for."""
    for column in PROBLEM_COLUMNS:
        if row.has(column):
            return without_prefix(row.identifier(column))
    raise row.absent("problem_id")


def samples_of(row: Row, id_column: str) -> tuple[Row, ...]:
    """A row for each program of a row (`sample_rows`)."""
    language = stated_name(row.optional_text("language"), row.values.get("code"))
    if language and language_called(language) is not Language.PYTHON:
        raise row.error(f"its language is {language}; programs for APPS are in Python 3")
    if row.values.keys().isdisjoint(PROGRAM_COLUMNS):
        raise row.error(
            f"the row has no program: it needs one of the columns {', '.join(PROGRAM_COLUMNS)}; its "
            f"columns are: {row.columns}"
        )
    return sample_rows(row, id_column)


def submission(row: Row, *, name: str, problem: str, extractor: Extractor) -> AppsSubmission:
    """The submission in a row."""
    extracted = program_of(row, *extractor)
    make = partial(AppsSubmission, id=name, problem=problem, extraction=extracted.rule)
    if extracted.code is None or not extracted.code.strip():
        return make(code=None)
    size = len(extracted.code.encode("utf-8", "replace"))
    if size > MAX_CODE_BYTES:
        return make(code=None, refused=f"the program has {size:,} bytes, more than {MAX_CODE_BYTES:,}")
    return make(code=extracted.code)


# --------------------------------------------------------------------------- rules


def _eval_protocol(text: str) -> Extracted:
    return Extracted(code=encodable(extract_eval_protocol(text) or ""), rule="eval-protocol")


def _livecodebench(text: str) -> Extracted:
    return Extracted(code=encodable(extract_livecodebench(text)), rule="livecodebench")


our_extractor = Extractor(extract_python)

EXTRACTORS: Mapping[str, Extractor] = {
    "eval-protocol": Extractor(_eval_protocol, last_text),
    "eval-protocol-page": Extractor(extract_eval_protocol_page, last_answer_or_content),
    "livecodebench": Extractor(_livecodebench),
}
"""Of other graders that have rules of their own."""
