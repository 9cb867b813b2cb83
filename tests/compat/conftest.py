"""Where the tests of the tables keep what they compile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def kept_in_the_cache(cache: Path) -> Iterator[None]:
    """What is compiled goes to the tests' own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOI_EVAL_CACHE", str(cache))
        yield
