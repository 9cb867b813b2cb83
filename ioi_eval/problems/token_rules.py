"""The flags of the `tokens` comparison: those of the Kattis problem format's default output validator.

Source: Kattis problem format, "Default Output Validator Specification"; DOMjudge's `compare`, which has the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ioi_eval.errors import InputError

_SWITCHES = ("case_sensitive", "space_change_sensitive")
_TOLERANCES = ("float_tolerance", "float_absolute_tolerance", "float_relative_tolerance")
_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)


def check_token_flags(flags: Sequence[str], where: str = "") -> None:
    """Refuse unknown flags before anything runs."""
    words = iter(flags)
    for flag in words:
        if flag in _TOLERANCES:
            tolerance = next(words, None)
            if tolerance is None or not _NUMBER.fullmatch(tolerance):
                stated = "nothing" if tolerance is None else repr(tolerance)
                raise InputError(
                    f"{where}{flag} is followed by {stated}; it must be followed by a number from 0 on (1e-6)"
                )
        elif flag not in _SWITCHES:
            raise InputError(
                f"{where}the comparison of tokens has no flag {flag!r}; it has {', '.join(_SWITCHES + _TOLERANCES)}"
            )
