"""Tests whose names the regular expressions of a package match.

Some expressions, for example `(a*)*b`, take practically endless time, and this cannot be seen from the expression. So
another process does the matching, with limits on its CPU time and memory. All expressions of a package share one
process, because there may be thousands of them.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

import orjson

from ioi_eval.errors import InputError, SetupError

_CPU_S = 2  # chosen, for a package: an ordinary expression takes 0.01 s with 10,000 names of 60 letters
_MEMORY_BYTES = 1 << 30
_SHOWN_CHARS = 200  # characters of an expression
_MATCH = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY_BYTES}, {_MEMORY_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({_CPU_S}, {_CPU_S + 1}))
patterns, names = json.load(sys.stdin)
for pattern in patterns:
    try:
        expression = re.compile(pattern)
        found = [index for index, name in enumerate(names) if expression.match(name)]
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        found = str(error) or type(error).__name__
    print(json.dumps(found), flush=True)
"""


def select_tests(patterns: Mapping[str, str], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The tests that the regular expression of each subtask matches at their beginning, as CMS's GroupMin does.

    Raises:
        SetupError: the matching process cannot run on this machine.
    """
    selected: dict[str, tuple[str, ...]] = {}
    if not patterns:
        return selected
    for subtask, pattern in patterns.items():
        try:
            pattern.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"subtask {subtask}: {_quoted(pattern)} is not a regular expression: {error}") from error
    # it prints a line for each expression until its time is up: positions in `names`, or an error
    command = [sys.executable, "-I", "-S", "-c", _MATCH]
    try:
        given = orjson.dumps([list(patterns.values()), names])
        process = subprocess.run(command, input=given, capture_output=True, check=False)
    except OSError as error:
        raise SetupError(f"{sys.executable} cannot be started: {error.strerror or error}") from error
    for (subtask, pattern), line in zip(patterns.items(), process.stdout.splitlines(), strict=False):
        what, indices = f"subtask {subtask}: ", orjson.loads(line)
        if isinstance(indices, str):
            raise InputError(f"{what}{_quoted(pattern)} is not a regular expression: {indices}")
        if not indices:
            raise InputError(f"{what}no test's name matches {_quoted(pattern)}")
        selected[subtask] = tuple(names[index] for index in indices)
    if len(selected) < len(patterns):
        subtask, pattern = list(patterns.items())[len(selected)]
        if process.returncode == -signal.SIGXCPU:
            raise InputError(
                f"to match the regular expressions of {len(patterns)} subtasks with the names of {len(names)}"
                f" tests takes more than {_CPU_S} s together; the time ran out at subtask {subtask}:"
                f" {_quoted(pattern)}. Write simpler expressions, or list the tests"
            )
        message = process.stderr.decode("utf-8", "replace").strip()[-500:]
        if process.returncode < 0:
            message = f"signal {-process.returncode} ended the process that does it"
        raise SetupError(f"subtask {subtask}: {_quoted(pattern)} cannot be tried: {message}")
    return selected


def _quoted(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _SHOWN_CHARS else f"{pattern[:_SHOWN_CHARS]}…")
