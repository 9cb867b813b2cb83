"""Which programs are Python 2. It is not supported, and packages from before 2020 may have it."""

from __future__ import annotations

import ast
import re

from ioi_eval.errors import UnsupportedError

_MAX_PARSED = 1 << 18
_PYTHON_2 = re.compile(
    r"\A#![^\n]*python2|^[ \t]*print[ \t]+[\"'\w]|^[ \t]*except[ \t]+\w+[ \t]*,[ \t]*\w+[ \t]*:", re.MULTILINE
)
_BEFORE_BARE_EXCEPT = (3, 13)  # from 3.14 on `except ValueError, e` means another thing than in Python 2


def is_python_2(text: str) -> bool:
    """Whether a program has syntax that Python 2 allows and Python 3 refuses."""
    if len(text) > _MAX_PARSED or not _PYTHON_2.search(text):
        return False
    if text.startswith("#!") and "python2" in text.partition("\n")[0]:
        return True
    try:
        ast.parse(text, feature_version=_BEFORE_BARE_EXCEPT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return False


def refuse_python_2(name: str, text: str) -> None:
    """Refuse a judge program in Python 2."""
    if is_python_2(text):
        raise UnsupportedError(f"{name} is Python 2, which is not supported; rewrite it in Python 3 (`2to3` does most)")
