"""Lists of names in messages."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 10


def listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are: `a, b and 3 more`; `nothing` without any."""
    every = list(names)
    more = f" and {len(every) - _MOST} more" if len(every) > _MOST else ""
    return f"{', '.join(every[:_MOST])}{more}" or "nothing"
