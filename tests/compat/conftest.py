"""The cache of the tests of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def kept_in_the_cache(cache: Path) -> Iterator[None]:
    """Compiled programs are stored in the cache of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOI_EVAL_CACHE", str(cache))
        yield
