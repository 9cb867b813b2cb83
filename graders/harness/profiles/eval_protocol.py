"""Eval Protocol: `rewards/apps_testing_util.py`, version 0.3. Behaviour of that version."""

from __future__ import annotations

import ast
import io
import re
import textwrap

from . import pretend_text

MODULE = "tmp_sol_std_input"
ENTRY = "code"
DIGITS = None

_STARRED = (
    *(
        "string",
        "re",
        "datetime",
        "collections",
        "heapq",
        "bisect",
        "copy",
        "math",
        "random",
        "statistics",
        "itertools",
    ),
    *("functools", "operator", "io", "sys", "json", "builtins", "typing"),
)
PRELUDE = (
    "".join(f"from {name} import *\n" for name in _STARRED)
    + "".join(f"import {name}\n" for name in _STARRED if name not in ("builtins", "typing"))
    + "sys.setrecursionlimit(6*10**5)\n"
)


def prepare(text: str) -> str:
    """Every line that reads like an import, wherever it stands, goes to the top; all else into a function.

    A guard for `__main__` at the very end is opened, and a `main` that nobody calls at the beginning of a line is.
    """
    text = textwrap.dedent(without_main_guard(text))
    imports: list[str] = []
    body: list[str] = []
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("from ", "import ")):
            imports.append(stripped + "\n")
        else:
            body.append("\t" + line)
    if "def main(" in text and re.search(r"^\s*main\s*\(\s*\)", text, re.MULTILINE) is None:
        body.append("\tmain()")
    head = "stdin = sys.stdin\nstdout = sys.stdout\ndef code():\n"
    return PRELUDE + "".join(imports) + head + "\n".join(body)


def without_main_guard(text: str) -> str:
    """The program with the body of its last statement in place of that, if it is the usual guard."""
    try:
        body = ast.parse(text).body
        if isinstance(body[-1], ast.If) and ast.unparse(body[-1].test).strip() == "__name__ == '__main__'":
            return ast.unparse(body[:-1]) + "\n" + ast.unparse(body[-1].body)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - whatever is wrong is found again when it is executed
        pass
    return text


def guard() -> None:
    """Nothing is taken away."""


def pretend(text: str) -> None:
    """A text stream, without a `buffer`; the real object's lines come with their ends, one more than there are."""
    pretend_text(text, io.StringIO(text), "\n")
