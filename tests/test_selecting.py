"""The switch `--full` reaches all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.budget import fuzzed
from tests.sandbox.piston import test_pool_properties
from tests.selecting import is_full


def test_full_reaches_settings_that_are_made_at_import(pytestconfig: pytest.Config) -> None:
    """Hypothesis gets its number of examples when a module is imported."""
    assert is_full() is pytestconfig.getoption("--full")
    found = (fuzzed.max_examples, test_pool_properties.TestPool.settings.max_examples)
    assert found == ((20_000, 1_000) if is_full() else (120, 80))


def test_full_reaches_the_processes_of_xdist() -> None:
    """There, `sys.argv` has no options."""
    test = f"{Path(__file__)}::{test_full_reaches_settings_that_are_made_at_import.__name__}"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", "--full", test]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
