"""Reads arguments and writes results as data. `ioi_eval/problems/apps_values.py` defines the format.

Writing a result never runs code of the program. An object's type is `type(x)`, never found by `isinstance` (which
believes `__class__`) or `==`. An object of a subclass of a builtin type is read through the builtin's own methods
(`dict.items`), so a `Counter` or an `IntEnum` is written as its data, whatever it overrides. Of any other object only
the name of its type is written.
"""

from __future__ import annotations

import builtins
import decimal
import fractions
import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))  # what follows works if a program replaces `int` or `type`

MAX_NESTED_RESULT = 200  # deeper results equal no expected result, because those have at most 100 levels
LONGEST = 64 << 20

quote = json.encoder.encode_basestring_ascii  # bound before the program can replace it in its module
_type_flags = type.__dict__["__flags__"].__get__
_type_name = type.__dict__["__name__"].__get__
_type_module = type.__dict__["__module__"].__get__
_HEAP_TYPE = 1 << 9  # Source: CPython's Py_TPFLAGS_HEAPTYPE; every class that Python code defines has this flag
_Decimal, _Fraction = decimal.Decimal, fractions.Fraction


class ResultTooLargeError(Exception):
    """A result is too large to be written."""


def encode(value: object) -> bytes:
    """A result as data."""
    pieces: list[str] = []
    try:
        _Writer(pieces.append).write(value, MAX_NESTED_RESULT)
    except ResultTooLargeError as error:
        pieces = [_foreign(str(error))]
    return "".join(pieces).encode("ascii")


def decode(data: bytes) -> Any:
    """Arguments from data."""
    return _untagged(json.loads(data))


class _Writer:
    """Writes values. Everything it calls was bound before the program ran."""

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out
        self._left = LONGEST

    def write(self, value: Any, left: int) -> None:
        kind = type(value)
        if value is None or kind is bool:
            self._put("null" if value is None else "true" if value else "false")
        elif issubclass(kind, str):
            self._put(quote(str.__str__(value)))
        elif issubclass(kind, int):
            number = int.__index__(value)
            self._put(str(number) if -(1 << 53) < number < 1 << 53 else f'["i","{hex(number)}"]')
        elif issubclass(kind, float):
            self._put(f'["f","{float.hex(float.__float__(value))}"]')
        elif left == 0:
            raise ResultTooLargeError("nested too deeply")
        elif issubclass(kind, list):
            self._items("l", list.__iter__(value), left)
        elif issubclass(kind, tuple):
            self._items("t", tuple.__iter__(value), left)
        elif issubclass(kind, dict):
            self._items("d", (part for item in dict.items(value) for part in item), left)
        else:
            self._rare(value, kind, left)

    def _rare(self, value: Any, kind: type, left: int) -> None:
        """Exact numbers of the standard library, numbers of numpy (whose types no program can change), and the rest."""
        if kind is _Fraction:
            self._items("q", iter((value._numerator, value._denominator)), left)
        elif kind is _Decimal and _Decimal.is_finite(value):
            self._items("q", iter(_Decimal.as_integer_ratio(value)), left)
        elif _type_flags(kind) & _HEAP_TYPE or _type_module(kind) != "numpy":
            self._put(_foreign(_type_name(kind)))
        else:
            plain = value.item() if hasattr(kind, "item") and _type_name(kind) != "ndarray" else None
            if type(plain) in (bool, int, float):
                self.write(plain, left)
            else:
                self._put(_foreign(f"numpy.{_type_name(kind)}"))

    def _items(self, tag: str, items: Iterable[Any], left: int) -> None:
        self._put(f'["{tag}"')
        for item in items:
            self._put(",")
            self.write(item, left - 1)
        self._put("]")

    def _put(self, piece: str) -> None:
        self._left -= len(piece)
        if self._left < 0:
            raise ResultTooLargeError("too large")
        self._out(piece)


def _foreign(name: str) -> str:
    return f'["o",{quote(name[:200])}]'


def _untagged(data: Any) -> Any:
    if type(data) is not list:
        return data
    tag, rest = data[0], data[1:]
    if tag == "l":
        return [_untagged(item) for item in rest]
    if tag == "t":
        return tuple(_untagged(item) for item in rest)
    if tag == "d":
        return {_untagged(rest[i]): _untagged(rest[i + 1]) for i in range(0, len(rest), 2)}
    return int(rest[0], 16) if tag == "i" else float.fromhex(rest[0])
