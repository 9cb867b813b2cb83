"""Programs of several source files, for tasks with more than one function to write (CMS: `first.%l, second.%l`).

A row contains them by name, `{"first.cpp": …, "second.cpp": …}`, in the column `source_files` or in `code`; a table may
have pairs of name and text. All files except headers are compiled one by one, then linked together and with the task's
own objects. In Python, the first file is started, unless the task has a grader; the others are imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ioi_eval.extract.fences import encodable
from ioi_eval.languages import rules_of
from ioi_eval.model import Language, SourceFile
from ioi_eval.problems.row import Row

SOURCE_COLUMNS = ("source_files", "code")
"""The columns that may contain them; the first that is not empty counts."""

_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)


def source_files(row: Row, language: Language) -> tuple[SourceFile, ...]:
    """The source files of a row; empty if its program is a single text, or if it has none.

    Raises:
        RowError: the value is not a mapping of file names to texts, or a name is not allowed for a source.
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
            continue  # in tables every row has all names
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
