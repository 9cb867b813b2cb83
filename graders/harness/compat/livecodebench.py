"""LiveCodeBench: `lcb_runner/evaluation/testing_util.py`. Behaviour of the repository's last version."""

from __future__ import annotations

import ast
import io

from . import hendrycks, reliability_guard
from .eval_protocol import PRELUDE as _SAME_IMPORTS
from .eval_protocol import without_main_guard
from .standard_input import patch_stdin

MODULE = "tmp_sol"
ENTRY = "wrapped_function"
DIGITS = 50_000
PRELUDE = _SAME_IMPORTS.replace("6*10**5", "50000")
close_stdout = hendrycks.close_stdout
_NO_SOLUTION = f"raise AttributeError(\"module '{MODULE}' has no attribute 'Solution'\")"


def prepare(text: str) -> str:
    """Top-level imports stay, all other statements become a function. A program with a syntax error is not changed.

    If the text has `class Solution`, LeetCode's form, the grader makes an object of that class. But the class is in the
    function now, so this fails.
    """
    text = _as_function(without_main_guard(text))
    return f"{text}\n{_NO_SOLUTION}" if "class Solution" in text else text


def _as_function(text: str) -> str:
    try:
        statements = ast.parse(text).body
        imports: list[ast.stmt] = [node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
        others = [node for node in statements if not isinstance(node, (ast.Import, ast.ImportFrom))]
        function = ast.parse(f"def {ENTRY}(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = others
        head = ast.unparse(ast.Module(body=imports, type_ignores=[]))
        return f"{PRELUDE}\n{head}\n{ast.unparse(function)}"
    except Exception:  # noqa: BLE001 - any error occurs again when the program is executed
        return text


def guard() -> None:
    """Remove `quit`; `exit` stays."""
    reliability_guard("quit")


class _Stdin:
    """A text with a `buffer`. It cannot be iterated."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stream = io.StringIO(text)
        self.buffer = _Buffer(text)

    def read(self, *_: object) -> str:
        return self._text

    def readline(self, *sizes: int) -> str:
        return self._stream.readline(*sizes)

    def readlines(self, *_: object) -> list[str]:
        return self._text.split("\n")

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


class _Buffer:
    """Bytes. Each line that is read is the first one."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode("utf-8")

    def read(self, *_: object) -> bytes:
        return self._bytes

    def readline(self, *_: object) -> bytes:
        return self._bytes.split(b"\n")[0] + b"\n"


def replace_stdin(text: str) -> None:
    """A stand-in of its own; the real object returns lines without their ends."""
    patch_stdin(text, _Stdin(text), "")
