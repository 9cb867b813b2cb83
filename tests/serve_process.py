"""What `ioi-eval serve` prints when it is started as a separate process."""

from __future__ import annotations

import subprocess

import pytest

_BEFORE = "serving Piston API v2 at "


def served_address(server: subprocess.Popen[str]) -> str:
    """Wait until a server listens, and return its address (`http://127.0.0.1:2000/api/v2`). If it ends before that,
    the test fails with what it has printed.
    """
    assert server.stderr is not None
    lines = []
    for line in server.stderr:
        lines.append(line)
        if _BEFORE in line:
            return line.split(_BEFORE)[1].split()[0]
    pytest.fail(f"nothing is served: {''.join(lines)}")
