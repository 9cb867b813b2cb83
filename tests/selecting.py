"""Selects which tests are run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest

LIMITS_DIGITS = hasattr(sys, "set_int_max_str_digits")
"""Whether this Python refuses integers of more than 4,300 digits. 3.11.0rc1 of Ubuntu 22.04 does not."""

where_digits_are_limited = pytest.mark.skipif(
    not LIMITS_DIGITS, reason="this Python (3.11.0rc1 of Ubuntu 22.04) does not limit the digits of an integer"
)


def deselect(config: pytest.Config, items: list[pytest.Item], unwanted: Callable[[pytest.Item], bool]) -> None:
    """Deselect tests that were not asked for. (A skipped test is one that this machine cannot run.)"""
    left_out = [item for item in items if unwanted(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not unwanted(item)]


def set_full(config: pytest.Config) -> None:
    """Record whether `--full` was given, for `is_full`. Processes of pytest-xdist get options, but not `sys.argv`."""
    os.environ["IOI_EVAL_TESTS_FULL"] = str(int(config.getoption("--full")))


def is_full() -> bool:
    """Whether the tests run with large budgets. For modules that need to know it when they are imported."""
    return os.environ.get("IOI_EVAL_TESTS_FULL") == "1"
