"""Whether this machine has a Rust compiler, and the reason for skipping tests if it has none."""

from __future__ import annotations

import shutil

import pytest

needs_rustc = pytest.mark.skipif(
    shutil.which("rustc", path="/usr/local/bin:/usr/bin:/bin") is None,
    reason="no rustc on this machine (Debian, Ubuntu: apt install rustc, 275 MB)",
)
