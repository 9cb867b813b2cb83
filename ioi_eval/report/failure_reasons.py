"""Why a submission has no program, or none that compiles, as far as its row shows it: by its language, say. Pure.

This is for messages only: how a program is found does not depend on it. A result of the journal does not have the
reason: all submissions without code for a problem share one result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ioi_eval.extract.cpp import looks_like_cpp
from ioi_eval.extract.fences import LOOKED_AT, code_blocks, ends_in_block, last_piece, split_thoughts
from ioi_eval.extract.python import looks_like_python
from ioi_eval.languages import language_called, rules_of, stated_name
from ioi_eval.model import Language, Verdict
from ioi_eval.problems.output_files import OUTPUT_COLUMNS
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import generation_of

_EMPTY = "the row's columns for a program are empty, or its messages have no answer"
_ONLY_OUTPUTS = "the row has outputs and no program, but the problem takes programs"

_NOT_C = re.compile(
    r"\busing[ \t]+namespace[ \t]|\bstd::\w|\btemplate[ \t]*<"
    r"|^[ \t]*#[ \t]*include[ \t]*<(?:bits/stdc\+\+\.h|[a-z_]+)>",
    re.MULTILINE,
)
_ENDED_BY_SEMICOLON = re.compile(r";[ \t\r]*$", re.MULTILINE)
_LIST = re.compile(r"""\s*\[\s*(["']).*(["'])\s*\]\s*""", re.DOTALL)
_WRITTEN_LIST = "the text is a list that was written as a text, as in CSV files: give each program a row of its own"
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)

_NO_HEADER = re.compile(
    r"^(?P<stem>[\w.+-]+)\.\w+:\d+:\d+: fatal error: "
    r"'?(?P<header>(?i:(?P=stem))\.h)(?:: No such file|' file not found)",
    re.MULTILINE,
)
"""GCC's or Clang's message that the header which is named like the submission, and so like its problem, is missing."""


def failure_reason(
    row: Mapping[str, Any],
    verdict: Verdict,
    *,
    language: Language,
    extraction: str,
    source: str | None = None,
    message: str = "",
) -> str:
    """The reason for NC or CE that a user can remove; empty for other verdicts, or if it is not known.

    Args:
        row: of a dump or of results, with one program.
        extraction: the rule that found the program.
        source: where `language` is from, for the message; by default what the row says about that.
        message: the compiler's, if the problem may have headers.
    """
    if source is None:
        stated = row.get("language")
        is_stated = isinstance(stated, str) and stated_name(stated, row.get("code"))
        source = "its `language`" if is_stated else "the row has no `language`"
    if verdict is Verdict.NC:
        text = generation_of(Row(source="", number=0, values=row))
        if text and text.strip():
            return why_without_code(text, language, source=source)
        return _ONLY_OUTPUTS if any(row.get(column) for column in OUTPUT_COLUMNS) else _EMPTY
    code = row.get("code")
    if verdict is Verdict.CE and (missing := _NO_HEADER.search(message)):
        return f"the program includes {missing['header']}, which its problem does not have in the column grader_files"
    if verdict is Verdict.CE and extraction == "column:code" and isinstance(code, str):
        return why_not_compiled(code, language, source=source)
    return ""


def why_without_code(text: str, language: Language, *, source: str) -> str:
    """Why no program was found in a model's text; empty if it is not known. For arguments see `failure_reason`."""
    if _LIST.fullmatch(text):
        return _WRITTEN_LIST
    tail, is_thought = last_piece(text)
    if ends_in_block(tail):
        return "the text ends inside a block that is not closed (was the generation cut off?)"
    if is_thought:
        return "the text ends inside the model's thoughts (was the generation cut off?)"
    if block := _block_of_another(text, language):
        return f"{block}, but {_looked_for(language, source)}"
    if not any(fence in text for fence in ("```", "~~~")) and rules_of(language).looks_unfenced(text):
        return (
            f"the text looks like {rules_of(language).name} without a fence; only fenced blocks of a `generation` "
            "count, and a bare program belongs in `code`"
        )
    return ""


def why_not_compiled(code: str, language: Language, *, source: str) -> str:
    """Why a program that does not compile may be no program in its language; empty if it seems to be one."""
    if _LIST.fullmatch(code):
        return _WRITTEN_LIST
    if _FENCE_LINE.search(code):
        return (
            "`code` has Markdown fences; it must be the program itself, and the text of a model belongs in `generation`"
        )
    other = _seeming_language(code, language)
    return (
        "" if other is None else f"the program looks like {rules_of(other).name}, but {_looked_for(language, source)}"
    )


def _looked_for(language: Language, source: str) -> str:
    return f"the row is judged as {rules_of(language).name} ({source})"


def _block_of_another(text: str, language: Language) -> str:
    """What the last complete block in another supported language is, by its tag or else by its text; empty if none."""
    found = ""
    for pieces in split_thoughts(text)[::-1]:
        for block in (block for piece in pieces for block in code_blocks(piece) if not block.blank):
            if block.tag:
                named, verb = language_called(block.tag), "is tagged as"
            else:
                named, verb = _seeming_language(block.text[block.start : block.end], language), "looks like"
            if named is not None and named is not language:
                found = f"a block {verb} {rules_of(named).name}"
    return found


def _seeming_language(code: str, language: Language) -> Language | None:
    """The supported language in which a program seems to be written, if that is not `language`."""
    beginning = code[:LOOKED_AT]
    if language is not Language.RUST and rules_of(Language.RUST).looks_unfenced(beginning):
        return Language.RUST
    if looks_like_cpp(beginning):
        if language is Language.C:
            return Language.CPP if _NOT_C.search(beginning) else None
        return None if language is Language.CPP else Language.CPP
    if language is not Language.PYTHON and looks_like_python(beginning) and not _ENDED_BY_SEMICOLON.search(beginning):
        return Language.PYTHON
    return None
