"""The limits that control groups (version 1 and 2) set for a container: processors, memory, processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ioi_eval.sandbox.local.control_groups import memory_limit_bytes, processes_left, processors

ALL = len(os.sched_getaffinity(0))


def _files(root: Path, own: str, files: dict[str, str]) -> Path:
    """Write the files of control groups below a root directory. Returns it."""
    for name, text in {
        "proc/self/cgroup": own,
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("own", "files", "found"),
    [
        ("0::/\n", {"memory.max": "268435456\n"}, 1 << 28),
        ("0::/\n", {"memory.max": "max\n"}, None),
        ("0::/a/b\n", {"a/memory.max": "1000\n", "a/b/memory.max": "2000\n"}, 1000),
        ("4:memory:/docker/x\n", {"memory/memory.limit_in_bytes": "3000\n"}, 3000),
        ("4:memory:/a\n", {"memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, None),
        ("4:cpu:/a\n", {"memory/a/memory.limit_in_bytes": "3000\n"}, None),
        ("", {}, None),
    ],
)
def test_memory(tmp_path: Path, own: str, files: dict[str, str], found: int | None) -> None:
    """The smallest limit of the control group and those above it counts."""
    assert memory_limit_bytes(_files(tmp_path, own, files)) == found


@pytest.mark.parametrize(
    ("own", "files", "found"),
    [
        ("0::/a\n", {"a/pids.max": "100\n", "a/pids.current": "30\n"}, 70),
        ("0::/a\n", {"a/pids.max": "max\n", "a/pids.current": "30\n"}, None),
        ("8:pids:/a\n", {"pids/a/pids.max": "10\n", "pids/a/pids.current": "12\n"}, 0),
        ("0::/a\n", {}, None),
    ],
)
def test_processes(tmp_path: Path, own: str, files: dict[str, str], found: int | None) -> None:
    """The number of processes that can still be started."""
    assert processes_left(_files(tmp_path, own, files)) == found


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
        ("", {}, ALL),
    ],
)
def test_processors(tmp_path: Path, own: str, files: dict[str, str], found: int) -> None:
    """The quota of the control group, or of one above it, is rounded down to processors, but is at least one."""
    assert processors(_files(tmp_path, own, files)) == found


def test_processors_of_this_machine(tmp_path: Path) -> None:
    """The number is between one and the system's number. Without files of control groups, it is the system's."""
    assert 1 <= processors() <= ALL
    assert processors(tmp_path) == ALL
