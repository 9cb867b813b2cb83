"""A line below a cell of a notebook that is replaced in place, for a progress bar.

What goes to stdout or stderr of a kernel is shown one after the other, and saved so: of a bar, every drawing. A display
that has an id is replaced, by all front ends and in the saved notebook, so that its last state is left. Unlike a
widget it needs no further package, and no script to be shown.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any, TextIO


def is_of_notebook(stream: TextIO) -> bool:
    """Whether what is written there is shown below a cell of a notebook."""
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
        """Take what is to be displayed: a drawing begins with a carriage return, and the end of a bar is a newline."""
        if text == "\n":
            self._line, self._shown, self._handle = "", "", None
        else:
            self._line = text.rpartition("\r")[2].rstrip() or self._line
        return len(text)

    def flush(self) -> None:
        """Display it, in place of the drawing before."""
        if self._line == self._shown:
            return
        self._shown, values = self._line, {"text/plain": self._line}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(values, raw=True, display_id=True)
        else:
            self._handle.update(values, raw=True)
