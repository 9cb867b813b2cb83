"""A compiler that refuses some files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def refusing_compiler(files: str, words: str) -> Iterator[Path]:
    """A compiler that calls `g++`, but refuses these files. Every user may execute it.

    Args:
        files: shell patterns for the command line, with `|` between them.
        words: its error message, as text inside double quotes of the shell.
    """
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "g++"
        path.write_text(f'#!/bin/sh\ncase "$*" in {files}) echo "{words}" >&2; exit 1;; esac\nexec g++ "$@"\n')
        for each in (path, path.parent):
            each.chmod(0o755)
        yield path
