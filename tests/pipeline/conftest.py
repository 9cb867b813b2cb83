"""Fixtures for the tests of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.scripted import Contest, ScriptedScorer


@pytest.fixture
def contest(tmp_path: Path) -> Contest:
    """A directory without a dump."""
    return Contest(tmp_path)


@pytest.fixture
def scorer() -> ScriptedScorer:
    """A scorer that has judged nothing yet."""
    return ScriptedScorer()
