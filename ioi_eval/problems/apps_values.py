"""Arguments and results of calls: how they are encoded for the box, and when two are equal.

A value is encoded in a special form of JSON. Plain JSON does not distinguish a tuple from a list, has only strings as
keys, and some readers round or refuse its large numbers:

    null  true  false  "text"     as they are
    17                            an integer below 2^53, else ["i", "0x…"] or ["i", "-0x…"]
    ["f", "0x1.8p+1"]             a float, exactly; also "nan", "inf", "-inf"
    ["l", …]  ["t", …]            a list, a tuple
    ["d", key, value, …]          a dictionary
    ["q", 1, 3]                   a fraction (also a decimal number)
    ["o", "set"]                  anything else, by the name of its type: equal to nothing

`graders/harness/` writes results in this form, and reads arguments. If a hostile program writes something else, it is
still only data.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from ioi_eval.model.apps import AppsTest, CallTest, JsonValue, joined
from ioi_eval.model.methods import Comparator, ComparatorKind
from ioi_eval.problems import big_json

Value: TypeAlias = "Any"
"""A result, read back: None, bool, int, float, str, Fraction, `Foreign`, or lists, tuples and dictionaries of these."""

_PLAIN_BELOW = 1 << 53
MAX_NESTED_ARGUMENTS = 100
"""How deeply arguments and official results may be nested. The deepest in APPS is 5."""

MAX_NESTED_RESULT = 200
"""How deeply a result may be nested: the number of `graders/harness/values.py`, which writes nothing deeper.
Only a program that writes its result itself can exceed it. Reading such a result here would exceed Python's limit of
recursion."""

_MAX_BITS = 20_000
"""Longer integers are not written in decimal, because that takes quadratic time: a program can return many of them."""

_MAX_KEPT_KEYS = 256
"""A dictionary with more keys, of which some are not text, gets all its keys as text (`_dictionary`)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Foreign:
    """A result of another type (a set, a generator, an object). It equals no other value."""

    type_name: str


class ValueFormatError(ValueError):
    """Bytes are not a value (the program itself wrote where its result is expected), or a value cannot be encoded."""


# --------------------------------------------------------------------------- into the box and out of it


def arguments_of(test: CallTest) -> tuple[Value, ...]:
    """The arguments with which a function is called.

    JSON has only strings as keys, so a dictionary with integer keys has string keys in the data set. In the first
    argument this is undone if each key is the text that JSON makes of an integer.

    Source: hendrycks/apps and the graders derived from it, except that these convert every text that Python reads as an
    integer ("01", " 1", "1_0"), so that keys may become equal, and then drop the other arguments.
    """
    if not test.given or not isinstance(test.given[0], dict):
        return test.given
    return (_integer_keys(test.given[0]), *test.given[1:])


def _integer_keys(value: dict[Any, Any]) -> dict[Any, Any]:
    """The dictionary, with integer keys if each of its keys is the text of an integer."""
    try:
        if not all(isinstance(key, str) and str(int(key)) == key for key in value):
            return value
    except ValueError:
        return value
    return {int(key): item for key, item in value.items()}


def encode(value: Value) -> bytes:
    """Encode a value: ASCII, without blanks."""
    return big_json.dumps(_tagged(value, MAX_NESTED_ARGUMENTS)).encode("ascii")


def decode(data: bytes) -> Value:
    """Decode a value."""
    try:
        return _untagged(json.loads(data.decode("ascii")), MAX_NESTED_RESULT)
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError, ZeroDivisionError) as error:
        raise ValueFormatError(f"no value: {type(error).__name__}") from None


def _tagged(value: Value, left: int) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if -_PLAIN_BELOW < value < _PLAIN_BELOW else ["i", hex(value)]
    if isinstance(value, float):
        return ["f", value.hex()]
    if isinstance(value, Fraction):
        return ["q", _tagged(value.numerator, left), _tagged(value.denominator, left)]
    if left == 0:
        raise ValueFormatError(f"nested more than {MAX_NESTED_ARGUMENTS} deep")
    if isinstance(value, list | tuple):
        return ["l" if isinstance(value, list) else "t", *(_tagged(item, left - 1) for item in value)]
    if isinstance(value, dict):
        return ["d", *(_tagged(part, left - 1) for item in value.items() for part in item)]
    raise ValueFormatError(f"{type(value).__name__} is not data")


def _untagged(data: Any, left: int) -> Value:  # noqa: PLR0911 - one line for each tag
    if data is None or isinstance(data, bool | str | int):
        return data
    if not isinstance(data, list):
        raise ValueFormatError("an untagged value")
    if left < 0:
        raise ValueFormatError(f"nested more than {MAX_NESTED_RESULT} deep")
    tag, *rest = data
    match tag:
        case "l":
            return [_untagged(item, left - 1) for item in rest]
        case "t":
            return tuple(_untagged(item, left - 1) for item in rest)
        case "d":
            parts = [_untagged(item, left - 1) for item in rest]
            return _dictionary(parts[::2], parts[1::2])
        case "i":
            return int(rest[0], 16)
        case "f":
            return float.fromhex(rest[0])
        case "q":
            return _fraction(_untagged(rest[0], left - 1), _untagged(rest[1], left - 1))
        case "o":
            return Foreign(type_name=str(rest[0])[:200])
    raise ValueFormatError("an unknown tag")


def _fraction(numerator: Value, denominator: Value) -> Fraction:
    """A fraction in lowest terms, as the harness writes it. It is not reduced here, because that takes quadratic time:
    a fraction that a program wrote in other terms equals no value."""
    if type(numerator) is not int or type(denominator) is not int or denominator < 1:
        raise ValueFormatError("no fraction")
    made: Any = object.__new__(Fraction)
    made._numerator, made._denominator = numerator, denominator
    return made  # type: ignore[no-any-return]


def _dictionary(keys: Sequence[Hashable], items: Sequence[Value]) -> dict[Hashable, Value]:
    """A dictionary of a result.

    Hashes of strings are secret to this process. Those of numbers and tuples are not, so a program could choose keys
    with which a large dictionary takes quadratic time: keys that share a hash, or that look for a place in the same
    order. So the keys of a large one become what `_key` makes of them, which is what our rules compare.
    """
    if len(keys) <= _MAX_KEPT_KEYS or all(isinstance(key, str) for key in keys):
        return dict(zip(keys, items, strict=True))
    made = dict(zip(map(_key, keys), items, strict=True))
    if len(made) < len(keys):
        raise ValueFormatError("two keys are the same in JSON")
    return made


# --------------------------------------------------------------------------- equality


def longest_equal(test: CallTest) -> int:
    """The most bytes of an encoded result that the test may accept: no encoding of an equal value is longer."""
    return 32 * max(len(encode(value)) for value in test.accepts) + 4096


def result_is_right(test: CallTest, data: bytes, comparator: Comparator) -> bool:
    """Whether the test accepts a function's result, given as the bytes that the box returned.

    `exact`, `lines` and `tokens` all require an equal value. `float` is applied to its numbers, `case-insensitive` to
    its strings, and `unordered-lines` to the elements of a list.
    """
    if len(data) > longest_equal(test):  # reading it could take gigabytes
        return False
    try:
        got = decode(data)
    except ValueFormatError:
        return False
    return any(equal(value, got, comparator) for value in test.accepts)


def equal(expected: JsonValue, got: Value, comparator: Comparator | None = None) -> bool:
    """Whether a result equals the expected one after both are converted to JSON.

    So a tuple equals a list, at any depth, and the key 1 equals the key "1". Numbers are equal as in Python: `1 == 1.0
    == True`, exactly and at any size. NaN equals an expected NaN. A comparator may give tolerances, or say that letter
    case or order does not count. `expected` is as in the row, `got` the result of `decode`.
    """
    comparator = comparator or Comparator()
    try:
        match comparator.kind:
            case ComparatorKind.FLOAT:
                return _near(expected, got, Fraction(comparator.absolute), Fraction(comparator.relative or 0))
            case ComparatorKind.CASE_INSENSITIVE:
                return _normal(expected, fold=True) == _normal(got, fold=True)
            case ComparatorKind.UNORDERED_LINES if isinstance(expected, list):
                return isinstance(got, list | tuple) and Counter(map(_normal, expected)) == Counter(map(_normal, got))
            case ComparatorKind.CHECKER:
                raise ValueError("a checker judges outputs, not results of functions")
            case ComparatorKind.EXACT | ComparatorKind.LINES | ComparatorKind.TOKENS | ComparatorKind.UNORDERED_LINES:
                return _normal(expected) == _normal(got)
    except RecursionError:
        return False


def _normal(value: Value, fold: bool = False) -> Hashable:
    """A hashable form of a value; two values are equal if their forms are.

    No program can choose forms that are slow in a set, because hashes of text and bytes are secret to this process.
    """
    if isinstance(value, list | tuple):
        return ("list", *(_normal(item, fold) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((_key(key), _normal(item, fold)) for key, item in value.items()), len(value))
    if isinstance(value, int | float | Fraction):
        return _number(value)
    if isinstance(value, str):
        return value.translate(_LOWER) if fold else value
    return value  # type: ignore[no-any-return]


def _number(number: float | Fraction) -> bytes:
    """Equal for equal numbers, of whatever type, and for NaN. As it is bytes, no program can choose its hash."""
    if not _is_finite(number):
        return repr(number).encode()
    return b"%x/%x" % number.as_integer_ratio()


def _near(expected: JsonValue, got: Value, absolute: Fraction, relative: Fraction) -> bool:
    if isinstance(expected, list) and isinstance(got, list | tuple):
        return len(expected) == len(got) and all(
            _near(theirs, ours, absolute, relative) for theirs, ours in zip(expected, got, strict=True)
        )
    if isinstance(expected, dict) and isinstance(got, dict):
        ours = {_key(key): item for key, item in got.items()}
        theirs = {_key(key): item for key, item in expected.items()}
        return (
            len(ours) == len(got)
            and ours.keys() == theirs.keys()
            and all(_near(item, ours[key], absolute, relative) for key, item in theirs.items())
        )
    if isinstance(expected, bool | str | None) or isinstance(got, bool) or not isinstance(got, int | float | Fraction):
        return _normal(expected) == _normal(got)
    if isinstance(expected, list | dict) or (isinstance(expected, int) and isinstance(got, int)):
        return expected == got
    if not (_is_finite(expected) and _is_finite(got)):
        return _normal(expected) == _normal(got)
    theirs_exactly = Fraction(expected)
    return abs(Fraction(got) - theirs_exactly) <= max(absolute, relative * abs(theirs_exactly))


def _is_finite(number: float | Fraction) -> bool:
    """Whether it is finite. Only floats are tested: an integer may be too large for a float."""
    return not isinstance(number, float) or math.isfinite(number)


def _key(key: Value) -> Hashable:
    """A key as JSON writes it; a key that JSON cannot write equals nothing."""
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool | int | float):
        with contextlib.suppress(ValueError):  # an integer of more than 4,300 digits
            return json.dumps(key)
    return Foreign(type_name=type(key).__name__)


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # ASCII letters only


def shown_texts(test: AppsTest) -> tuple[str, str]:
    """Input and expected output as text."""
    if isinstance(test, CallTest):
        return shown_value(test.given), shown_value(test.expected)
    return joined(test.given), joined(test.expected)


def shown_result(data: bytes) -> bytes:
    """A function's result as text; as it is if it is not an encoded value."""
    try:
        return shown_value(decode(data)).encode()
    except ValueFormatError:
        return data


def shown_value(value: Value) -> str:
    """A value for people: as JSON if possible."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown_value, value))}]"
    if isinstance(value, dict):
        keys = [_json(key if isinstance(key, str) else shown_value(key)) for key in value]
        return f"{{{', '.join(map(': '.join, zip(keys, map(shown_value, value.values()), strict=True)))}}}"
    if isinstance(value, Foreign):
        return _json(f"<{value.type_name}>")
    if isinstance(value, Fraction):
        over = "" if value.denominator == 1 else f"/{_digits(value.denominator)}"
        return _json(f"{_digits(value.numerator)}{over}")
    return _digits(value) if type(value) is int else _json(value)


def _json(value: float | str | None) -> str:
    """JSON, in which only lone surrogates are escaped, as UTF-8 cannot encode them."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def _digits(number: int) -> str:
    """An integer in decimal; `str` refuses more than 4,300 digits."""
    return f"{Decimal(number):f}" if number.bit_length() <= _MAX_BITS else f"an integer of {number.bit_length()} bits"
