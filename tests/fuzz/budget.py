"""Settings of the fuzzing tests: few examples by default, many with `scripts/test --full tests/fuzz`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.selecting import is_full

fuzzed = settings(
    max_examples=20_000 if is_full() else 120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
"""Decorator for properties of random or damaged input."""

numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, 1, -1, 2**31, 2**53, 2**63, 2**64 - 1, -(2**63)]),
    st.floats(allow_nan=False, allow_infinity=False),
)
odd_texts = st.sampled_from(["nan", "inf", "1e999", "-0", "1_0", "\0"])
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=20), odd_texts)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
"""All kinds of JSON values."""


@st.composite
def damaged(draw: st.DrawFn, whole: object) -> object:
    """A JSON value with some parts replaced, removed or added."""
    if draw(st.integers(0, 9)) == 0:
        return draw(json_values)
    if isinstance(whole, dict):
        kept = {key: draw(damaged(value)) for key, value in whole.items() if draw(st.integers(0, 19)) != 0}
        if draw(st.integers(0, 9)) == 0:
            kept[draw(st.sampled_from([*whole, "x"]))] = draw(json_values)
        return kept
    if isinstance(whole, list):
        return [draw(damaged(value)) for value in whole if draw(st.integers(0, 19)) != 0]
    return whole


@st.composite
def mutated(draw: st.DrawFn, whole: bytes) -> bytes:
    """Bytes, of which some are changed, removed, duplicated or added."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        what = draw(st.integers(0, 3))
        if what == 0 and at < len(content):
            content[at] = draw(st.integers(0, 255))
        elif what == 1:
            del content[at : at + draw(st.integers(0, 200))]
        elif what == 2:
            content[at:at] = content[at : at + draw(st.integers(0, 200))]
        else:
            content[at:at] = draw(st.binary(max_size=30))
    return bytes(content)
