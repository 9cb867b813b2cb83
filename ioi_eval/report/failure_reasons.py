"""Why a submission has no program, or none that compiles, as far as its row shows it.

A result of the journal does not have this: all submissions without code for a problem share one result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ioi_eval.model import Language, Problem, Submission, TaskType, Verdict
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import generation_of
from ioi_eval.report.mistaken_languages import why_not_compiled, why_without_code

_EMPTY = "the row's columns for a program are empty"


def contest_reason(row: Mapping[str, Any], verdict: Verdict, problem: Problem, submission: Submission) -> str:
    """The reason for NC or CE, as `failure_reason` gives it, of a submission for a contest problem.

    Args:
        row: of the dump, or of results.
        verdict: of the submission.
        problem: its problem.
        submission: the submission of the row.
    """
    if verdict not in {Verdict.NC, Verdict.CE} or problem.task_type is TaskType.OUTPUT_ONLY:
        return ""
    stated = row.get("language")
    is_stated = isinstance(stated, str) and stated.strip()
    return failure_reason(
        verdict,
        code=row.get("code") if submission.extraction == "column:code" else None,
        text=generation_of(Row(source="", number=0, values=row)) if verdict is Verdict.NC else None,
        language=submission.language,
        source="its `language`" if is_stated else "the row has no `language`",
    )


def failure_reason(verdict: Verdict, *, code: object, text: str | None, language: Language, source: str) -> str:
    """The reason for NC or CE that a user can remove; empty for other verdicts, or if it is not known.

    Args:
        verdict: of the submission.
        code: the program that a user gave; `None` if it was found in a text.
        text: the model's text; `None` or blank if there is none.
        language: the language in which it was judged.
        source: where this language is from, for the message.
    """
    if verdict is Verdict.NC:
        return why_without_code(text, language, source=source) if text and text.strip() else _EMPTY
    if verdict is Verdict.CE and isinstance(code, str):
        return why_not_compiled(code, language, source=source)
    return ""
