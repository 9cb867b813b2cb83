"""How often the garbage collector runs while clusters are entered."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

import pytest

from ioi_eval.sandbox.piston.garbage_collection import rarer_garbage_collection


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("first_left", [0, 1])
def test_blocks_that_overlap(first_left: int) -> None:
    """The last one restores the thresholds that the first one found, whichever is left first."""
    blocks = [contextlib.ExitStack(), contextlib.ExitStack()]
    for block in blocks:
        block.enter_context(rarer_garbage_collection())
    blocks[first_left].close()
    assert gc.get_threshold() == (20_000, 50, 100)
    blocks[1 - first_left].close()
    assert gc.get_threshold() == (700, 10, 10)


def test_larger_thresholds_are_kept() -> None:
    """Also in the block, the garbage collector does not run more often than before."""
    gc.set_threshold(100_000, 5, 0)
    with rarer_garbage_collection():
        assert gc.get_threshold() == (100_000, 50, 100)
    assert gc.get_threshold() == (100_000, 5, 0)


def test_a_garbage_collector_that_is_switched_off_stays_so() -> None:
    """Its first threshold is 0."""
    gc.set_threshold(0, 10, 10)
    with rarer_garbage_collection():
        assert gc.get_threshold() == (0, 10, 10)
