"""What travels into the box to run Python: the harness as one file that `python3` runs, and its tasks."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache

from ioi_eval import boxfiles

_MODULES = (
    *("__init__", "main", "other_graders", "program", "top_level", "values", "warm"),
    *("profiles/__init__", "profiles/eval_protocol", "profiles/hendrycks", "profiles/livecodebench"),
)
_MAIN = b"""import os
import sys

from _harness.main import main

if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
"""


@cache
def harness_archive() -> bytes:
    """The harness (`graders/harness/`) as a Zip application: the same bytes from the same sources."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in (
            ("__main__.py", _MAIN),
            *((f"_harness/{name}.py", boxfiles.read(f"harness/{name}.py")) for name in _MODULES),
        ):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()


def task(program: str, *, fn_name: str | None = None, conventions: bool = False) -> bytes:
    """A program as the harness reads it.

    Args:
        program: its text.
        fn_name: what is called; `None` for a program that reads standard input.
        conventions: mend what the data set did to its reference solutions (a top-level `return`, a `__starting_point`
            that nobody calls).
    """
    header = {"mode": "stdin" if fn_name is None else "call", "name": fn_name, "conventions": conventions}
    return json.dumps(header).encode("ascii") + b"\n" + program.encode("utf-8", "surrogatepass")
