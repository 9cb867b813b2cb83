"""Tests whose names the regular expressions of a package match.

Some expressions, for example `(a*)*b`, take practically endless time, and this cannot be seen from the expression. So
another process does the matching, with limits on its CPU time and memory. All expressions of a package share one
process, because there may be thousands of them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import orjson

from ioi_eval.errors import InputError, SetupError

_CPU_S = 2  # chosen, for a package: an ordinary expression takes 0.01 s with 10,000 names of 60 letters
_MEMORY_BYTES = 1 << 30
_SHOWN_CHARS = 200  # characters of an expression
_MATCH = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY_BYTES}, {_MEMORY_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({_CPU_S}, {_CPU_S}))
patterns, names = json.load(sys.stdin)
for pattern in patterns:
    try:
        expression = re.compile(pattern)
        found = [index for index, name in enumerate(names) if expression.match(name)]
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        found = str(error) or type(error).__name__
    print(json.dumps(found), flush=True)
"""


def select_tests(patterns: Sequence[tuple[str, str]], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The tests that the regular expression of each subtask matches at their beginning, as CMS's GroupMin does.

    Raises:
        SetupError: the matching process cannot run on this machine.
    """
    for subtask, pattern in patterns:
        if (error := _unprintable(pattern)) is not None:
            raise InputError(f"subtask {subtask}: {_quoted(pattern)} is not a regular expression: {error}")
    process = _match([pattern for _, pattern in patterns], names) if patterns else None
    lines = process.stdout.splitlines() if process else []
    selected: list[tuple[str, ...]] = []
    for (subtask, pattern), line in zip(patterns, lines, strict=False):
        what, indices = f"subtask {subtask}: ", orjson.loads(line)
        if isinstance(indices, str):
            raise InputError(f"{what}{_quoted(pattern)} is not a regular expression: {indices}")
        if not indices:
            raise InputError(f"{what}no test's name matches {_quoted(pattern)}")
        selected.append(tuple(names[index] for index in indices))
    if process is not None and len(selected) < len(patterns):
        subtask, pattern = patterns[len(selected)]
        if process.returncode < 0:
            raise InputError(
                f"to match the regular expressions of {len(patterns)} subtasks with the names of {len(names)}"
                f" tests takes more than {_CPU_S} s together; the time was over at subtask {subtask}:"
                f" {_quoted(pattern)}. Write simpler expressions, or list the tests"
            )
        message = process.stderr.decode("utf-8", "replace").strip()[-500:]
        raise SetupError(f"subtask {subtask}: {_quoted(pattern)} cannot be tried: {message}")
    return selected


def _match(patterns: Sequence[str], names: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """Run the process. It prints a line for each expression until its time is up: positions in `names`, or an error."""
    command = [sys.executable, "-I", "-S", "-c", _MATCH]
    try:
        return subprocess.run(command, input=orjson.dumps([patterns, names]), capture_output=True, check=False)
    except OSError as error:
        raise SetupError(f"{sys.executable} cannot be started: {error.strerror or error}") from error


def _unprintable(pattern: str) -> str | None:
    """The error message for a text with a lone surrogate; `None` if it has none."""
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        return str(error)
    return None


def _quoted(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _SHOWN_CHARS else f"{pattern[:_SHOWN_CHARS]}…")
