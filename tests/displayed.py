"""What people see of text that goes back to the beginning of its line, as progress bars do."""

from __future__ import annotations

import re


def displayed(text: str) -> list[str]:
    """The lines that are left when all is written: what follows a `\\r` stands over what was there.

    Notebooks know no other movement. Text with any is an error.
    """
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text), text
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return [line for line in lines if line]
