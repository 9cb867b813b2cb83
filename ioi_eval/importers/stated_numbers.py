"""Numbers that a package states: points, thresholds, limits. Some packages write them as text."""

from __future__ import annotations

from ioi_eval.errors import InputError
from ioi_eval.problems.row import is_finite


def number_in_text(value: object) -> object:
    """The number that a text states; any other value unchanged. Source: CMS's loaders call `float` or `int`."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def number_of(what: str, value: object) -> float:
    """A number of points, or a threshold."""
    if not is_finite(value):
        raise InputError(f"{what} is {value!r}; it must be a number")
    return value
