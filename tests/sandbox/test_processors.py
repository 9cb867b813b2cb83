"""How many processors there are to use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ioi_eval.sandbox.processors import processors

ALL = len(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("own", "files", "found"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, ALL),
        ("0::/\n", {"cpu.max": "99900000 100000\n"}, ALL),
        ("0::/a/b\n", {"a/cpu.max": "100000 100000\n", "a/b/cpu.max": "max 100000\n"}, 1),
        ("0::/../c\n", {}, ALL),
        ("3:cpu,cpuacct:/a\n0::/\n", {"cpu/a/cpu.cfs_quota_us": "100000\n", "cpu/a/cpu.cfs_period_us": "100000\n"}, 1),
        ("3:cpu,cpuacct:/elsewhere\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, ALL),
        ("2:cpuset:/a\n", {"cpu/a/cpu.cfs_quota_us": "100000\n", "cpu/a/cpu.cfs_period_us": "100000\n"}, ALL),
        (None, {}, ALL),
    ],
)
def test_a_quota_counts(tmp_path: Path, own: str | None, files: dict[str, str], found: int) -> None:
    """That of the control group, or of one above it, in either version; a part of a processor is still one."""
    if own is not None:
        (tmp_path / "own").write_text(own)
    for name, text in files.items():
        path = tmp_path / "cgroups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert processors(cgroups=tmp_path / "cgroups", own=tmp_path / "own") == found


def test_here() -> None:
    """There is at least one, and no more than the system says."""
    assert 1 <= processors() <= ALL
