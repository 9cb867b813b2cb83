"""Eval Protocol: `rewards/apps_testing_util.py`, version 0.3. Behaviour of that version."""

from __future__ import annotations

import ast
import io
import re
import textwrap

from .standard_input import patch_stdin

MODULE = "tmp_sol_std_input"
ENTRY = "code"
DIGITS = None

_STARRED = (
    *("string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics"),
    *("itertools", "functools", "operator", "io", "sys", "json", "builtins", "typing"),
)
PRELUDE = (
    "".join(f"from {name} import *\n" for name in _STARRED)
    + "".join(f"import {name}\n" for name in _STARRED if name not in ("builtins", "typing"))
    + "sys.setrecursionlimit(6*10**5)\n"
)


def prepare(text: str) -> str:
    """Every line that looks like an import is moved to the top, all others into a function.

    If the last statement is `if __name__ == "__main__":`, its body takes its place. If the program defines `main` and
    has no line that begins with a call of it, `main` is called.
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
    """The program; if its last statement is `if __name__ == "__main__":`, the body takes its place."""
    try:
        body = ast.parse(text).body
        if isinstance(body[-1], ast.If) and ast.unparse(body[-1].test).strip() == "__name__ == '__main__'":
            return ast.unparse(body[:-1]) + "\n" + ast.unparse(body[-1].body)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - any error occurs again when the program is executed
        pass
    return text


def guard() -> None:
    """Remove nothing."""


def close_stdout() -> None:
    """What `sys.stdout.close` becomes: nothing happens."""


def replace_stdin(text: str) -> None:
    """A text stream without a `buffer`; the real object returns lines with their ends, and one line too many."""
    patch_stdin(text, io.StringIO(text), "\n")
