"""Finds the processes that a test started, even if their parents have ended."""

from __future__ import annotations

from pathlib import Path


def processes_with(mark: str) -> list[str]:
    """The process ids of this machine's processes with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:  # it has ended meanwhile
            continue
    return found
