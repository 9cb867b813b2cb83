"""Tests whose names a regular expression of a package matches.

Some expressions take longer than anybody waits, `(a*)*b` for one, and which do cannot be told from what they look like.
So a process of its own does the matching, with a limit on its CPU time and memory.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import orjson

from ioi_eval.errors import InputError, SetupError

_CPU_S = 2  # ours: for 10,000 names of 60 letters an ordinary expression takes 0.01 s
_MEMORY_BYTES = 1 << 30
_SHOWN = 200  # characters of an expression
_MATCH = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY_BYTES}, {_MEMORY_BYTES}))
resource.setrlimit(resource.RLIMIT_CPU, ({_CPU_S}, {_CPU_S}))
pattern, names = json.load(sys.stdin)
try:
    expression = re.compile(pattern)
    found = [place for place, name in enumerate(names) if expression.match(name)]
except (re.error, OverflowError, RecursionError, MemoryError) as error:
    found = str(error) or type(error).__name__
json.dump(found, sys.stdout)
"""


def select_tests(where: Path, subtask: str, pattern: str, names: Sequence[str]) -> tuple[str, ...]:
    """The tests that a subtask's regular expression matches at their beginning, as CMS's GroupMin does.

    Args:
        where: the package, for messages.
        subtask: its name, for messages.
        pattern: the expression.
        names: of all tests.

    Raises:
        InputError: the expression is broken, takes too long, or matches nothing.
        SetupError: it cannot be tried on this machine.
    """
    shown = repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…")
    here = f"{where}: subtask {subtask}: "
    try:
        asked = orjson.dumps([pattern, list(names)])
    except orjson.JSONEncodeError as error:  # a half of a character
        raise InputError(f"{here}{shown} is no regular expression: {error}") from error
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _MATCH],
            input=asked,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise SetupError(f"{sys.executable} cannot be started: {error.strerror or error}") from error
    if done.returncode < 0:
        raise InputError(
            f"{here}to match {shown} with the names of {len(names)} tests takes more than {_CPU_S} s; write a simpler"
            " expression, or list the tests"
        )
    if done.returncode > 0:
        raise SetupError(f"{here}{shown} cannot be tried: {done.stderr.decode('utf-8', 'replace').strip()[-500:]}")
    found = orjson.loads(done.stdout)
    if isinstance(found, str):
        raise InputError(f"{here}{shown} is no regular expression: {found}")
    if not found:
        raise InputError(f"{here}no test's name matches {shown}")
    return tuple(names[place] for place in found)
