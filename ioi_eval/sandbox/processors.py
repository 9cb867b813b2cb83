"""How many processors this process may use: by its affinity, and by the quota of its control group.

A container with a quota (Docker's `--cpus`, Kubernetes' `limits.cpu`) sees all processors of its machine. A slot for
each of them would give every program a small part of one, and most results would be that the machine is too loaded.
"""

from __future__ import annotations

import os
from pathlib import Path

from ioi_eval.sandbox.control_groups import CGROUPS, OWN, control_groups


def processors(*, cgroups: Path = CGROUPS, own: Path = OWN) -> int:
    """So many that none has to be shared; at least 1.

    Args:
        cgroups: where control groups are mounted.
        own: tells those of this process.

    Source: Linux, cgroup-v2, `cpu.max`; sched-bwc, `cpu.cfs_quota_us`.
    """
    shares = [
        share for group in control_groups("cpu", cgroups=cgroups, own=own) if (share := _share(group)) is not None
    ]
    return max(1, min([len(os.sched_getaffinity(0)), *map(int, shares)]))


def _share(group: Path) -> float | None:
    """How many processors a group may use at once; `None` where it has no quota."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            words = " ".join((group / name).read_text(encoding="ascii") for name in names).split()
        except OSError:
            continue
        if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
            return int(words[0]) / int(words[1])
    return None
