"""Where tests of our own pair of scripts run, with the runner and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from full_isolation import full_isolation
from own_pair import Boxes

from ioi_eval.model import Blob


@pytest.fixture(scope="module")
def boxes(cache: Path) -> Iterator[Boxes]:
    """A sandbox with full isolation."""
    with full_isolation() as (loop, sandbox):
        yield Boxes(loop, sandbox, cache)


@pytest.fixture(params=["with the runner", "without"])
def runner(request: pytest.FixtureRequest, boxes: Boxes) -> Blob | None:
    """What travels along with the pair."""
    return boxes.runner if request.param == "with the runner" else None
