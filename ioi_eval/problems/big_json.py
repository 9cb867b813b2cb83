"""JSON whose integers are exact at any size.

Python refuses to read or print integers of more than 4,300 digits, to protect servers from quadratic work. APPS has
such integers. The limit can only be raised for the whole process, including programs that import this package; so such
integers are computed here, by halves, in less than quadratic time.
"""

from __future__ import annotations

import json
from typing import Any, cast

from ioi_eval.model.apps import JsonValue

MAX_DIGITS = 1_000_000
"""Longer integers are refused: computing one takes seconds. The longest in APPS has a few thousand digits."""

_PIECE = 600  # Source: Python's own limit can be set to 640 digits, never lower


class TooLargeError(ValueError):
    """The text is JSON, but an integer is too long, or the nesting too deep."""


def loads(text: str) -> JsonValue:
    """Read JSON, including the NaN and infinities that Python's own writer produces."""
    try:
        return cast("JsonValue", json.loads(text, parse_int=_checked))
    except RecursionError:
        raise TooLargeError("lists are nested too deeply") from None


def text_with_position(error: json.JSONDecodeError) -> str:
    """The error with its position in characters: a line number would be mistaken for that of the file."""
    return f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"


def kind_of(value: object) -> str:
    """What a value is in JSON, for messages: `a list`, `null`, …; of others the type's name."""
    kinds = {str: "a text", list: "a list", tuple: "a list", dict: "an object", bool: "a truth value"}
    kinds |= {int: "a number", float: "a number", type(None): "null"}
    return kinds.get(type(value), f"of type {type(value).__name__}")


def dumps(value: Any) -> str:
    """Write JSON, ASCII only, without blanks. Integers must fit Python's limit; write larger ones another way."""
    return json.dumps(value, separators=(",", ":"))


def integer(digits: str) -> int:
    """A decimal integer of any length, with or without a minus sign."""
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    return sign * _natural(digits, {})


def _checked(digits: str) -> int:
    if len(digits) <= _PIECE:
        return int(digits)
    if len(digits) > MAX_DIGITS:
        raise TooLargeError(f"an integer has {len(digits):,} digits, more than {MAX_DIGITS:,}")
    return integer(digits)


def _natural(digits: str, powers: dict[int, int]) -> int:
    """By halves: Python multiplies large integers faster than it reads them."""
    if len(digits) <= _PIECE:
        return int(digits)
    low = len(digits) // 2
    if low not in powers:
        powers[low] = 10**low
    return _natural(digits[:-low], powers) * powers[low] + _natural(digits[-low:], powers)
