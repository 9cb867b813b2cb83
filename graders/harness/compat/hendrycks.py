"""hendrycks/apps: `eval/testing_util.py`. Behaviour of the repository's last version."""

from __future__ import annotations

import io
import multiprocessing  # noqa: F401 - this grader has loaded it; a program that imports it needs no `os.getcwd` then

from . import reliability_guard
from .standard_input import patch_stdin

MODULE = "builtins"  # as `__name__` is in code that `exec` executes with an empty dictionary
ENTRY = "code"
DIGITS = 0  # its Python had no limit

_FROM = (
    ("itertools", "accumulate, product, permutations, combinations"),
    ("collections", "Counter, OrderedDict, deque, defaultdict, ChainMap"),
    ("functools", "lru_cache"),
    ("math", "sqrt, sin, cos, tan, ceil, fabs, floor, gcd, exp, log, log2"),
    ("typing", "List, Tuple"),
    ("heapq", "*"),
)
PRELUDE = (
    "".join(f"import {name}\n" for name in ("sys", "time", "itertools", "collections", "math", "fractions", "random"))
    + "import heapq\nimport numpy as np\n"
    + "".join(f"from {module} import {names}\n" for module, names in _FROM)
)


def prepare(text: str) -> str:
    """Imports at the beginning of the program stay; the rest becomes the body of a function.

    The body begins at the first line that is not an import. Later imports stay in it.
    """
    source = [PRELUDE]
    inside = False
    for line in text.split("\n"):
        if inside or not line.startswith(("from ", "import ")):
            if not inside:
                source.append("stdin = sys.stdin\nstdout = sys.stdout\ndef code():\n")
            inside = True
            source.append(f"\t{line}\n")
        else:
            source.append(f"{line}\n")
    return "".join(source)


def guard() -> None:
    """Remove `exit` and `quit`, so that calling them is an error; `sys.exit` stays."""
    reliability_guard("exit", "quit")


def close_stdout(_: object) -> None:
    """What `sys.stdout.close` becomes: as this takes an argument, a call without one is an error."""


def replace_stdin(text: str) -> None:
    """A text stream without a `buffer`; the real object returns lines without their ends."""
    patch_stdin(text, io.StringIO(text), "")
