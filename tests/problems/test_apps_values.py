"""Results of calls: encoding loses nothing, equal values are right, and hostile data is refused."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval import boxfiles
from ioi_eval.model.apps import CallTest
from ioi_eval.model.methods import Comparator
from ioi_eval.problems.apps_values import (
    MAX_NESTED_ARGUMENTS,
    MAX_NESTED_RESULT,
    Foreign,
    ValueFormatError,
    _normal,
    arguments_of,
    decode,
    encode,
    equal,
    result_is_right,
)
from tests.selecting import where_digits_are_limited

HUGE = 10**5000 + 7

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**400).map(lambda value: -value)
    | st.floats(allow_nan=False)
    | st.text()
    | st.fractions()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(SCALARS | st.tuples(SCALARS, SCALARS), inner, max_size=4)
    ),
    max_leaves=20,
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def types(value: Any) -> Any:
    """The value with the types of all its parts, because `==` takes 1 for True."""
    if isinstance(value, list | tuple):
        return (type(value), [types(item) for item in value])
    if isinstance(value, dict):
        return [(types(key), types(item)) for key, item in value.items()]
    return (type(value), value)


# --------------------------------------------------------------------------- encoding


@given(VALUES)
def test_decoding_restores_the_encoded_value(value: Any) -> None:
    """With all types. The encoded form is ASCII."""
    data = encode(value)
    assert data.isascii()
    assert types(decode(data)) == types(value)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ([1, (2, "ä")], b'["l",1,["t",2,"\\u00e4"]]'),
        ({1: None, "1": True}, b'["d",1,null,"1",true]'),
        (0.1, b'["f","0x1.999999999999ap-4"]'),
        (2**53, b'["i","0x20000000000000"]'),
        (-(2**53), b'["i","-0x20000000000000"]'),
        (2**53 - 1, b"9007199254740991"),
        (Fraction(1, 3), b'["q",1,3]'),
        (math.inf, b'["f","inf"]'),
        ([HUGE], b'["l",["i","%b"]]' % hex(HUGE).encode()),
    ],
)
def test_encoded_form(value: Any, data: bytes) -> None:
    """It is the form that the harness uses."""
    assert encode(value) == data


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", 1j, range(3)])
def test_other_objects_are_not_encoded(value: Any) -> None:
    """They must not become another value."""
    with pytest.raises(ValueFormatError, match="not data"):
        encode(value)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b'{"a":1}', b"1.5", b"NaN", b"[]", b'["x"]', b'["i"]', b'["i",5]', b'["i","zz"]', b'["f"]'),
        *(b'["f","x"]', b'["f",1]', b'["d",1]', b'["d",["l"],1]', b'["q",1,0]', b'["q","a",1]', b'["o"]', b"\xff"),
        b'["q",1,-2]',
        *(b'[["l"]]', b'["l",[]]', b"[" * 100_000, b'["l",' * 100_000, b'["f","0x1p999999999"]'),
        pytest.param(b"9" * 5000, marks=where_digits_are_limited),
    ],
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    """Whatever a program writes in place of its result, decoding ends with the same error."""
    with pytest.raises(ValueFormatError):
        decode(data)


ALIKE = tuple(key * ((1 << 61) - 1) for key in range(1000))
"""Integers that share one hash: to make a set or a dictionary of them takes quadratic time."""


@pytest.mark.parametrize("keys", [ALIKE, range(1000), tuple((key,) for key in ALIKE), [Fraction(1, 3), *range(999)]])
def test_no_hash_in_a_large_dictionary_can_be_chosen(keys: Sequence[Any]) -> None:
    """Otherwise a result could keep the judge busy for a long time. Keys with different hashes can be as slow as equal
    ones, if they look for a place in the same order."""
    got = decode(encode([dict.fromkeys(keys)]))[0]
    assert len(got) == 1000
    assert {type(key) for key in got} <= {str, Foreign}


@pytest.mark.parametrize("value", [5, 2.5, Fraction(1, 3), True, math.inf, math.nan])
def test_no_hash_of_an_item_can_be_chosen(value: Any) -> None:
    """If the order does not count, results are counted in a table, with the same danger."""
    assert type(_normal(value)) is bytes


def test_a_large_dictionary_is_as_equal_as_a_small_one() -> None:
    """Numbers and text are the same keys, but not in the same dictionary."""
    expected: Any = {str(number): number for number in range(1000)}
    numbers: dict[Any, Any] = {number: number for number in range(1000)}
    assert equal(expected, decode(encode(numbers)))
    assert not equal(expected, decode(encode(numbers | {7: 8})))
    assert not equal(expected, decode(encode(dict(list(numbers.items())[1:]) | {(0,): 0})))
    with pytest.raises(ValueFormatError):
        decode(encode(numbers | {"7": 7}))


@pytest.mark.parametrize("opening", ['["l",', '["t",', '["d","",', '["d",["t"],'])
def test_values_deeper_than_the_harness_writes_are_refused(opening: str) -> None:
    """Only a program can have forged them. They are refused before the recursion fails."""
    decode((opening * 200 + "1" + "]" * 200).encode())
    with pytest.raises(ValueFormatError, match="no value: ValueFormatError"):
        decode((opening * 202 + "1" + "]" * 202).encode())


def test_the_harness_has_the_same_limit_of_nesting() -> None:
    """For results. For arguments and official results the limit is lower, so a deeper result is wrong in any case."""
    in_harness = re.search(rb"^MAX_NESTED_RESULT = (\d+)", boxfiles.read("harness/values.py"), re.MULTILINE)
    assert in_harness is not None
    assert MAX_NESTED_ARGUMENTS < MAX_NESTED_RESULT == int(in_harness[1])


def test_a_long_fraction_is_not_reduced() -> None:
    """The harness writes lowest terms. A fraction in other terms is forged and equals nothing."""
    third = Fraction(10**40_000, 3 * 10**40_000 - 1)
    assert decode(encode(third)) == third
    assert not equal(0.5, decode(b'["q",2,4]'))


class Alike(int):
    """Numbers that share a hash. They count how often they are compared."""

    compared = 0

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        Alike.compared += 1
        return int(self) == other


def test_comparison_without_order_is_not_quadratic() -> None:
    """If the order does not count, items with equal hashes are not all compared with each other."""
    numbers = [Alike(number) for number in range(1000)]
    Alike.compared = 0
    assert equal(list(range(1000)), numbers, Comparator.parse("unordered-lines"))
    assert Alike.compared < 10_000


def test_items_of_a_dictionary_are_not_all_compared() -> None:
    """Their hashes, of key and value together, can be equal although the keys have different hashes."""
    items = {(Alike(number),): 0 for number in range(1000)}
    Alike.compared = 0
    assert not equal([], items)
    assert Alike.compared < 10_000


def test_other_objects_equal_nothing() -> None:
    """The type of a set or generator is known, and it is never a right result."""
    got = decode(b'["l",["o","set"]]')
    assert isinstance(got[0], Foreign)
    assert got[0].type_name == "set"
    assert not equal(["set"], got)
    assert not equal([None], got)
    assert got != decode(b'["l",["o","set"]]')


# --------------------------------------------------------------------------- arguments


def call(*arguments: Any, expected: Any = None, accepts: tuple[Any, ...] | None = None) -> CallTest:
    """A test of a call."""
    return CallTest(number=0, given=arguments, expected=expected, accepts=(expected,) if accepts is None else accepts)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (({"1": "a", "-2": "b"}, 5), ({1: "a", -2: "b"}, 5)),
        (({"1": "a", "x": "b"},), ({"1": "a", "x": "b"},)),
        (({"1": "a", "01": "b"},), ({"1": "a", "01": "b"},)),
        *((({key: "a"},), ({key: "a"},)) for key in (" 1", "+1", "1_0", "-0", "\u0661")),
        ((5, {"1": 2}), (5, {"1": 2})),
        (({},), ({},)),
        ((), ()),
        (([{"1": 2}],), ([{"1": 2}],)),
        pytest.param(({"9" * 5000: 1},), ({"9" * 5000: 1},), marks=where_digits_are_limited),
    ],
)
def test_integer_keys(given_: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """JSON made the integer keys of the first argument to text. They are integers again, and other arguments are
    unchanged.
    """
    assert arguments_of(call(*given_)) == expected


# --------------------------------------------------------------------------- equality


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        (9, 9, True),
        (9, 9.0, True),
        (9, True, False),
        (1, True, True),
        (True, 1, True),
        (False, None, False),
        (0, False, True),
        (None, None, True),
        ("1", 1, False),
        ("a", "a", True),
        ("a", "A", False),
        ([HUGE], [HUGE], True),
        ([HUGE], [HUGE + 1], False),
        (10**17 + 1, 1e17, False),
        (10**17, 1e17, True),
        (0.5, Fraction(1, 2), True),
        (0.1, Fraction(1, 10), False),
        (0.3, 0.1 + 0.2, False),
        (math.nan, math.nan, True),
        (math.inf, math.inf, True),
        ([], [], True),
        ([], (), True),
        ([], {}, False),
        ([], None, False),
        ([[1, 2], [3]], [(1, 2), [3]], True),
        ([[1, 2], [3]], ((1, 2), (3,)), True),
        ([1, 2], [2, 1], False),
        ([1, 2], [1, 2, 2], False),
        ([1, 2], 1, False),
        ({"1": 2}, {1: 2}, True),
        ({"1": 2}, {"1": 2}, True),
        ({"1": 2}, {1: 2, "1": 2}, False),
        ({"1": 2, "2": 3}, {2: 3, 1: 2}, True),
        ({"true": 1, "null": 2, "1.5": 3}, {True: 1, None: 2, 1.5: 3}, True),
        ({"(1, 2)": 1}, {(1, 2): 1}, False),
        pytest.param({"9" * 5000: 1}, {10**5000 - 1: 1}, False, marks=where_digits_are_limited),
        ({"a": [1, {"1": 2}]}, {"a": (1, {1: 2})}, True),
        ({}, {}, True),
        ({}, [], False),
        ("", [], False),
        (["list"], "list", False),
    ],
)
def test_equality(expected: Any, got: Any, right: bool) -> None:
    """Values are compared as JSON represents them, numbers as in Python."""
    assert equal(expected, got) is right


@given(JSON_VALUES)
def test_everything_equals_itself(value: Any) -> None:
    """The expected value itself is right by every rule."""
    for name in ("exact", "float:0", "float:1e-6:1e-6", "case-insensitive", "unordered-lines"):
        assert equal(value, decode(encode(value)), Comparator.parse(name))


@given(JSON_VALUES, JSON_VALUES)
def test_other_rules_accept_all_equal_values(expected: Any, got: Any) -> None:
    """Equal values are right by every rule. Without tolerance `float` is equality."""
    if equal(expected, got):
        for name in ("float:0", "case-insensitive", "unordered-lines"):
            assert equal(expected, got, Comparator.parse(name))
    else:
        assert not equal(expected, got, Comparator.parse("float:0"))


RULES = ("exact", "float:1e-6", "float:0:1e-6", "case-insensitive", "unordered-lines")
EXPECTED = (None, True, 3, 1.5, math.inf, math.nan, 10**400, "x", [1.5], [[1.5]], {"a": 1.5}, {"1": 10**400})
LARGE = f'["i","{hex(10**400)}"]'
FORGED = (
    *("null", "true", "3", '"x"', '["f","nan"]', '["f","-inf"]', '["f","0x1p1023"]', '["f","0x1p9999"]', '["o","set"]'),
    *(
        LARGE,
        LARGE.replace("0x", "-0x"),
        f'["q",{LARGE},3]',
        f'["q",1,{LARGE}]',
        '["q",1,["i","0x0"]]',
        '["q","1","3"]',
    ),
    *('["l"]', '["t",["l"]]', '["d",["t",1],2]', '["d",["l"],1]', '["d",["f","inf"],1]', '["d",["q",1,3],1]'),
    *('["d",1]', '["i",7]', "1.5", "[]", "{}", '["d",["o","x"],["f","nan"]]', f'["d",["i","{hex(HUGE)}"],1]'),
)
"""What a program can write to where its result belongs, well formed or not."""


@pytest.mark.parametrize("comparator", RULES)
def test_any_forged_value_can_be_compared(comparator: str) -> None:
    """No forged result, alone or in a list or dictionary, makes a comparison fail."""
    for expected, forged in itertools.product(EXPECTED, FORGED):
        test = call(1, expected=expected)
        for data in (forged, f'["l",{forged}]', f'["t",["l",{forged}]]', f'["d","a",{forged}]', f'["d",{forged},1]'):
            result_is_right(test, data.encode(), Comparator.parse(comparator))


@pytest.mark.parametrize(
    ("comparator", "expected", "got", "right"),
    [
        ("float:1e-6", [0.5, 1], [0.5000005, 1], True),
        ("float:1e-6", [0.5, 1], [0.5000015, 1], False),
        ("float:1e-6", 10**20, 10**20 + 1, False),
        ("float:1", 10**20, 10**20 + 1, False),
        ("float:1", 5.0, 6, True),
        ("float:0:1e-6", 1e9, 1e9 + 999, True),
        ("float:0:1e-6", 1e9, 1e9 + 1001, False),
        ("float:1e-6", {"a": 1.0}, {"a": 1.0000001}, True),
        ("float:1e-6", {"a": 1.0}, {"b": 1.0}, False),
        ("float:1e-6", {"1": 1.0}, {1: 1.0000001}, True),
        ("float:1", 1.0, True, True),
        ("float:1", 2.0, True, False),
        ("float:1", math.inf, math.inf, True),
        ("float:1", math.inf, 1e308, False),
        ("float:1", math.nan, 1.0, False),
        ("float:1", "1", 1, False),
        ("float:1", [1.0], 1.0, False),
        ("float:.5", 1.0, 1.5, True),
        ("float:5.", 1.0, 6.0, True),
        ("case-insensitive", ["Yes", {"K": "a"}], ["YES", {"K": "A"}], True),
        ("case-insensitive", "é", "É", False),
        ("unordered-lines", [1, 2, 2], (2, 1, 2), True),
        ("unordered-lines", [1, 2, 2], [2, 1, 1], False),
        ("unordered-lines", [[1, 2], [3]], [[3], (1, 2)], True),
        ("unordered-lines", [[1, 2]], [[2, 1]], False),
        ("unordered-lines", "ab", "ba", False),
        ("unordered-lines", [1], {1: 1}, False),
        ("lines", [1.0], [1], True),
        ("tokens", "a b", "a  b", False),
    ],
)
def test_rules(comparator: str, expected: Any, got: Any, right: bool) -> None:
    """Tolerance, letter case and order apply to numbers, texts and lists, as documented."""
    assert equal(expected, got, Comparator.parse(comparator)) is right


def test_numbers_beyond_floats() -> None:
    """An integer or fraction that is too large for a float is compared exactly."""
    absolute, relative = Comparator.parse("float:1e-6"), Comparator.parse("float:0:1e-6")
    assert not equal(1.5, 10**400, absolute)
    assert not equal(10**400, 1.5, absolute)
    assert not equal(math.inf, -(10**400), absolute)
    assert not equal(1e308, Fraction(10**400, 3), relative)
    assert equal(10**400, Fraction(2 * 10**400 + 1, 2), relative)


def test_any_accepted_value_is_right() -> None:
    """For example a bare result and the same result in a list."""
    test = call(1, expected=[False], accepts=([False], False))
    for value, right in (([False], True), (False, True), ((False,), True), ([[False]], False), (None, False)):
        assert result_is_right(test, encode(value), Comparator()) is right


def test_far_too_long_results_are_not_decoded() -> None:
    """A result much longer than any form of the expected value is refused, before it takes memory."""
    test = call(1, expected=[1])
    assert not result_is_right(test, b'["l",' + b" " * 10_000_000 + b"1]", Comparator())
    assert result_is_right(test, b'["l",' + b" " * 1_000 + b"1]", Comparator())
    assert not result_is_right(test, b"garbage", Comparator())
