"""Fixtures for the code around a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.scripted import Contest, ScriptedJudge


@pytest.fixture
def contest(tmp_path: Path) -> Contest:
    """A directory without a dump."""
    return Contest(tmp_path)


@pytest.fixture
def judge() -> ScriptedJudge:
    """One that has judged nothing yet."""
    return ScriptedJudge()
