"""Programs with results that the benchmark's own grader had: `--compat hendrycks` gives the same ones."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from addition import Start

from ioi_eval.sandbox.confinement import PATH


def has_numpy() -> bool:
    """Whether the system's interpreter has what that grader imports."""
    probe = [shutil.which("python3", path=PATH) or "python3", "-s", "-c", "import numpy"]  # as in a box
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.full
def test_recorded_results(start: Start, shared: Path, tmp_path: Path) -> None:
    """All 83: true, false, −1 and −2."""
    if not has_numpy():
        pytest.skip("the system's python3 has no numpy")
    given = shared / "tasks/apps"
    sources = (given / "generations.jsonl", "--dataset", given / "apps.jsonl", "--out", "out")
    ended = start("apps", "score", *sources, "--compat", "hendrycks")
    assert ended.returncode == 0, ended.stderr
    rows: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    differences = {
        row["submission"]: (row["recorded_result"], min(row["codes"], default=True))
        for row in rows
        if str(row["recorded_result"]) != str(min(row["codes"], default=True))  # True is not 1
    }
    assert differences == {}
    assert len(rows) == 83
