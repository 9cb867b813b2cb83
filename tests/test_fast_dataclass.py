"""Dataclasses that are quick to create."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.problems.row import Row


@fast_dataclass
class Point:
    """A value."""

    x: int
    y: tuple[int, ...] = ()


def test_equal_values_have_equal_hashes() -> None:
    """Like frozen dataclasses, they can be keys of dicts."""
    assert Point(x=1, y=(2,)) == Point(x=1, y=(2,)) != Point(x=1)
    assert {Point(x=1): "here"}[Point(x=1)] == "here"


def test_only_named_fields_are_accepted() -> None:
    """Positional arguments are refused, and instances have no `__dict__`."""
    with pytest.raises(TypeError):
        Point(1)  # type: ignore[call-arg]
    assert not hasattr(Point(x=1), "__dict__")


def test_copies_and_pickles() -> None:
    """`replace` and `pickle` work for rows."""
    row = Row(source="dump.jsonl", number=3, values={"uuid": "a"}, all_names=("uuid", "code"))
    assert replace(row, number=4).number == 4
    assert pickle.loads(pickle.dumps(row)) == row
