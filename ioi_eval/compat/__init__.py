"""Other graders' verdicts, derived from our runs of a program, so that published numbers can be compared.

A `CompatGrader` says how it runs programs (the harness follows it) and how it judges the runs (`grade`, pure). Its
results are those of the grader's code, right or wrong. Its weaknesses are not imitated: a program takes no part in the
comparison, and no test sees what another test left behind.

Each grader is one module, which is loaded when it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ioi_eval.errors import InputError, unknown

if TYPE_CHECKING:
    from ioi_eval.compat.terms import CompatGrader

__all__ = ["NAMES", "grader_named"]

NAMES = ("hendrycks", "eval-protocol", "eval-protocol-page", "livecodebench", "mcpbr")
"""The names of the graders. Each has a module of its name here, with a `GRADER`."""


def grader_named(name: str) -> CompatGrader:
    """The grader of this name; raises InputError if there is none."""
    if name not in NAMES:
        raise InputError(unknown("grader", name, NAMES))
    grader: CompatGrader = import_module(f"ioi_eval.compat.{name.replace('-', '_')}").GRADER
    return grader
