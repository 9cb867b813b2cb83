"""What a terminal displays of text that returns to the beginning of its line, as progress bars do."""

from __future__ import annotations

import re


def displayed(text: str) -> list[str]:
    """The lines that are visible after all text was written. Text after a `\r` overwrites the line.

    A notebook supports no other cursor movement. Any other raises an error.
    """
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text), text
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return [line for line in lines if line]
