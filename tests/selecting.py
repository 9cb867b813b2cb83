"""Which of the tests are run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

COLLECTED = pytest.StashKey[frozenset[str]]()
"""The names of all tests that this process found, also of those that it leaves out."""


def deselect(config: pytest.Config, items: list[pytest.Item], unwanted: Callable[[pytest.Item], bool]) -> None:
    """Leave out what nobody asked for. (Skipped is what this machine cannot do.)"""
    left_out = [item for item in items if unwanted(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not unwanted(item)]
