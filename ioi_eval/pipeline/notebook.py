"""A line below a notebook's cell that is replaced in place, for a progress bar.

A notebook shows and saves everything that a kernel writes to stdout or stderr, also every drawing of a bar. A display
with an id is replaced instead, by all front ends and in the saved notebook, so that only its last state remains. Unlike
a widget, it needs no further package, and no script to be shown.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any, TextIO


def is_of_notebook(stream: TextIO) -> bool:
    """Whether the stream's text is shown below a notebook's cell."""
    kernel = sys.modules.get("ipykernel.iostream")
    return kernel is not None and isinstance(stream, kernel.OutStream)


class NotebookLine(io.StringIO):
    """A file for bars: the last drawing of each is displayed, on a line of its own."""

    encoding = "utf-8"

    def __init__(self) -> None:
        super().__init__()
        self._line = self._shown = ""
        self._handle: Any = None

    def write(self, text: str, /) -> int:
        """Store a drawing, to display it: it begins with a carriage return. A newline ends the bar."""
        if text == "\n":
            self._line, self._shown, self._handle = "", "", None
        else:
            self._line = text.rpartition("\r")[2].rstrip() or self._line
        return len(text)

    def flush(self) -> None:
        """Display the last drawing, in place of the one before."""
        if self._line == self._shown:
            return
        self._shown, values = self._line, {"text/plain": self._line}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(values, raw=True, display_id=True)
        else:
            self._handle.update(values, raw=True)
