"""Boxes for tests of our own pair of scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.full_isolation import full_isolation
from tests.jobs.own_pair import Boxes


@pytest.fixture(scope="module")
def boxes(cache: Path) -> Iterator[Boxes]:
    """A sandbox with full isolation."""
    with full_isolation() as (loop, sandbox):
        yield Boxes(loop, sandbox, cache)
