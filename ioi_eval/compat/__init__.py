"""Other graders' verdicts, from our runs of a program: so that published numbers can be compared.

A profile says how a grader runs programs (the harness obeys) and what it makes of what they did (`grade`, pure). Its
results are what its code gives, not what is right; its insecurity is not imitated: nothing of a program takes part in
the comparison, and no test sees what another left behind.
"""

from __future__ import annotations

from ioi_eval.compat import eval_protocol, eval_protocol_page, hendrycks, livecodebench, mcpbr
from ioi_eval.compat.terms import Calls, Code, Ending, Graded, Match, Profile, TestRun
from ioi_eval.errors import InputError

__all__ = ["NAMES", "Calls", "Code", "Ending", "Graded", "Match", "Profile", "TestRun", "profile_named"]

_PROFILES = {
    profile.name: profile
    for profile in (
        *(hendrycks.PROFILE, eval_protocol.PROFILE, eval_protocol_page.PROFILE, livecodebench.PROFILE),
        mcpbr.PROFILE,
    )
}
NAMES = tuple(_PROFILES)


def profile_named(name: str) -> Profile:
    """The profile of this name.

    Raises:
        InputError: there is none.
    """
    if name not in _PROFILES:
        raise InputError(f"there is no profile {name!r}; there are: {', '.join(NAMES)}")
    return _PROFILES[name]
