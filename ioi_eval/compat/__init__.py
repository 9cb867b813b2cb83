"""Other graders' verdicts, from our runs of a program: so that published numbers can be compared.

A profile says how a grader runs programs (the harness obeys) and what it makes of what they did (`grade`, pure). Its
results are what its code gives, not what is right; its insecurity is not imitated: nothing of a program takes part in
the comparison, and no test sees what another left behind.

Each is a module of its own, which is loaded when somebody asks for that grader.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ioi_eval.errors import InputError

if TYPE_CHECKING:
    from ioi_eval.compat.terms import Profile

__all__ = ["NAMES", "profile_named"]

NAMES = ("hendrycks", "eval-protocol", "eval-protocol-page", "livecodebench", "mcpbr")
"""Each has a module of this name here, with its `PROFILE`."""


def profile_named(name: str) -> Profile:
    """The profile of this name.

    Raises:
        InputError: there is none.
    """
    if name not in NAMES:
        raise InputError(f"there is no profile {name!r}; there are: {', '.join(NAMES)}")
    profile: Profile = import_module(f"ioi_eval.compat.{name.replace('-', '_')}").PROFILE
    return profile
