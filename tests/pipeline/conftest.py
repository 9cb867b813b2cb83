"""Fixtures for the code around a judge."""

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
    """One that has judged nothing yet."""
    return ScriptedScorer()
