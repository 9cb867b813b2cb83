"""A server that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.served import Served, server


@pytest.fixture(scope="module")
def served(cache: Path) -> Iterator[Served]:
    """A server with default settings."""
    with server(cache) as one:
        yield one
