"""The limits of the control groups that this process is in: what a container may use of its machine.

A container with a quota (Docker's `--cpus`, Kubernetes' `limits.cpu`) sees all processors of its machine. With a slot
for each of them, every program would get only a part of a processor, and most tests would be JE, because the machine
would seem too busy to judge.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")  # of the file system; tests have their own

_NO_LIMIT = 1 << 60
"""No limit is as high: version 1 writes the largest multiple of a page where version 2 writes `max`."""


def control_groups(controller: str, root: Path = _ROOT) -> Iterator[Path]:
    """The groups of a controller (`cpu`, `memory` or `pids`) whose limits apply to this process: its own and those
    above. A container may see the root only."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mounted = root / "sys/fs/cgroup" / (controller if controllers else "")
        group = Path(os.path.normpath(f"/{path.lstrip('/')}"))
        for directory in (group, *group.parents):
            yield mounted / directory.relative_to("/")


def processors(root: Path = _ROOT) -> int:
    """How many whole processors this process may use, by its affinity and the quota of its control group; at least 1.

    Source: Linux, cgroup-v2, `cpu.max`; sched-bwc, `cpu.cfs_quota_us`.
    """
    groups = control_groups("cpu", root)
    shares = [share for group in groups if (share := _share(group)) is not None]
    return max(1, min([len(os.sched_getaffinity(0)), *map(int, shares)]))


def _share(group: Path) -> float | None:
    """How many processors a group may use at once; `None` if it has no quota."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((group / name).read_text(encoding="ascii") for name in names).split()
        except OSError:
            continue
        if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
            return int(words[0]) / int(words[1])
    return None


def memory_limit_bytes(root: Path = _ROOT) -> int | None:
    """How much memory all processes of this container may have together; `None` if no limit can be seen.

    Source: Linux, cgroup-v2, `memory.max`; cgroup-v1, `memory.limit_in_bytes`.
    """
    groups = control_groups("memory", root)
    limits = [_number(group / name) for group in groups for name in ("memory.max", "memory.limit_in_bytes")]
    return min((limit for limit in limits if limit is not None and limit < _NO_LIMIT), default=None)


def processes_left(root: Path = _ROOT) -> int | None:
    """How many processes and threads this container may still start; `None` if no limit can be seen.

    Source: Linux, cgroup-v2 and cgroup-v1, `pids.max`, `pids.current`.
    """
    left = []
    for group in control_groups("pids", root):
        most, now = _number(group / "pids.max"), _number(group / "pids.current")
        if most is not None and now is not None:
            left.append(max(0, most - now))
    return min(left, default=None)


def refused_processes() -> int | None:
    """How many processes and threads this container's limits have refused so far; `None` if no limit can be seen.

    Older kernels count it in the group of the process that was refused, newer ones in the group with the limit;
    `pids.events` of newer ones also has those of groups below. Source: Linux, cgroup-v2 and cgroup-v1, `pids.events`,
    `pids.events.local`.
    """
    groups = list(control_groups("pids"))
    if all(_number(group / "pids.max") is None for group in groups):
        return None
    refused = 0
    for group in groups:
        local = group / "pids.events.local"
        with contextlib.suppress(OSError):
            events = (local if local.exists() else group / "pids.events").read_text(encoding="ascii")
            if match := re.search(r"^max (\d+)$", events, re.MULTILINE | re.ASCII):
                refused += int(match[1])
    return refused


def _number(path: Path) -> int | None:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
