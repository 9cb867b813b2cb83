"""Programs of several source files, for tasks with more than one function to write (CMS: `first.%l, second.%l`).

A row holds them by name, `{"first.cpp": …, "second.cpp": …}`, in the column `source_files` or in `code`; a table may
have pairs of name and text there. All but headers are compiled one by one, and linked with each other and what the task
links. Of programs in Python the first is started, unless the task has a grader; the others are imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ioi_eval.extract.fences import encodable
from ioi_eval.languages import rules_of
from ioi_eval.model import Language, SourceFile
from ioi_eval.problems.row import Row

SOURCE_COLUMNS = ("source_files", "code")
"""Where a row may keep them; the first that holds something counts."""

_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)


def source_files(row: Row, language: Language) -> tuple[SourceFile, ...]:
    """The source files of a row; none where it holds a program in one text, or none at all.

    Raises:
        RowError: what stands there is no mapping of file names to texts, or a name is none that a source may have.
    """
    by_name, code = SOURCE_COLUMNS
    column = by_name if row.has(by_name) else code
    value = row.values.get(column)
    if column == code and (value is None or isinstance(value, str) or not isinstance(value, Mapping | Sequence)):
        return ()
    pairs = tuple(value.items()) if isinstance(value, Mapping) else row.pairs(column)
    found: dict[str, SourceFile] = {}
    for name, text in pairs:
        if text is None:
            continue  # a table gives every row all names
        if not isinstance(name, str) or not isinstance(text, str):
            raise row.error(f"{column} has {name!r} with what is not text; file names with their texts are needed")
        if not (name.endswith((*language.endings, *rules_of(language).header_endings)) and _NAME.fullmatch(name)):
            endings = ", ".join(language.endings)
            raise row.error(
                f"{column} holds the file {name!r}, which is no name of a source in its language ({endings})"
            )
        if name in found:
            raise row.error(f"{column} holds {name} twice")
        found[name] = SourceFile(path=name, content=encodable(text).encode("utf-8", "replace"))
    if found and not any(name.endswith(language.endings) for name in found):
        raise row.error(f"{column} holds headers only: {', '.join(found)}")
    return tuple(found.values())
