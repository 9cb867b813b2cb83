"""Fixtures of what is around a judge."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the doubles are imported by tests, and by child processes of tests

from scripted import Contest, ScriptedJudge


@pytest.fixture
def contest(tmp_path: Path) -> Contest:
    """A directory without a dump."""
    return Contest(tmp_path)


@pytest.fixture
def judge() -> ScriptedJudge:
    """One that has judged nothing yet."""
    return ScriptedJudge()
