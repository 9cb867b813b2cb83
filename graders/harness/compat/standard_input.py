"""Standard input as other graders replace it. Only their modules import this: `unittest.mock` takes 50 ms to import."""

from __future__ import annotations

import builtins
import sys
from unittest.mock import mock_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def patch_stdin(text: str, stand_in: object, line_end: str) -> None:
    """Replace standard input as these graders do, in two ways.

    A program that uses `sys.stdin` gets the stand-in, and `open` returns the input for any file. A program that has
    already executed `from sys import stdin`, or uses the name `stdin`, has the real object with three methods replaced;
    its other methods read a real input that has ended.

    Args:
        text: the input.
        stand_in: what `sys.stdin` becomes.
        line_end: what the replaced `readline` and `readlines` put after a line.

    Source: several `unittest.mock.patch` as decorators: the innermost is applied first, to the object that is then
    `sys.stdin`.
    """
    real: Any = sys.stdin  # its methods are replaced
    lines = iter(text.split("\n"))
    real.readline = lambda *_: next(lines) + line_end
    real.readlines = lambda *_: [line + line_end for line in text.split("\n")]
    real.read = lambda *_: text
    sys.stdin = stand_in
    builtins.open = mock_open(read_data=text)
