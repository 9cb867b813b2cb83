"""Checks that a job changed nothing: processes, mounts, files, shared memory, descriptors, and our own privileges.

Looked at from outside, after each job. Orphans are found because this process is made the reaper of its descendants,
and because in these tests a box's user id is nobody else's. Without root it is that of all the other tests; then files
are known by their directory.
"""

from __future__ import annotations

import ctypes
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ioi_eval.sandbox.local.sandbox import _box_uid

OWN_UID = "IOI_EVAL_TEST_OWN_UID"
"""Set where the whole user id belongs to these tests."""

MEMORY_SLACK_BYTES = 512 << 20
"""What others on this machine may keep for longer."""

_PATIENCE_S = 120.0
_PR_SET_CHILD_SUBREAPER = 36
_SHARED_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")


def adopt_orphans() -> None:
    """Become the parent of whatever outlives its own."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What can be seen of the machine, as far as a job of ours could have changed it."""

    processes: frozenset[str]
    mounts: frozenset[str]
    files: frozenset[str]
    ipc: frozenset[str]
    descriptors: int
    standing: str

    @classmethod
    def now(cls) -> State:
        """Look."""
        return cls(
            processes=frozenset(_processes()),
            mounts=frozenset(_mounts()),
            files=frozenset(_files()),
            ipc=frozenset(_ipc()),
            descriptors=len(os.listdir("/proc/self/fd")),
            standing=_standing(),
        )

    def harm_since(self, before: State) -> list[str]:
        """What is there that was not, in words; empty if all is well."""
        return [
            *(f"process {one}" for one in sorted(self.processes - before.processes)),
            *(f"mount {one}" for one in sorted(self.mounts - before.mounts)),
            *(f"file {one}" for one in sorted(self.files - before.files)),
            *(f"ipc object {one}" for one in sorted(self.ipc - before.ipc)),
            *(
                [f"{self.descriptors - before.descriptors} descriptors"]
                if self.descriptors > before.descriptors
                else []
            ),
            *([f"standing: {before.standing} -> {self.standing}"] if self.standing != before.standing else []),
        ]


def lost_memory_bytes(before: int) -> int:
    """How much more is kept than before. What others use for a while is waited for; what is lost does not come back."""
    until = time.monotonic() + _PATIENCE_S
    while (lost := kept_memory_bytes() - before) >= MEMORY_SLACK_BYTES and time.monotonic() < until:
        time.sleep(0.1)
    return lost


def kept_memory_bytes() -> int:
    """Memory that outlives processes: in tmpfs, memory files, shared segments. (What is free depends on everybody.)"""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no Shmem")


def our_uids() -> frozenset[int]:
    """User ids under which only our jobs run: as root those of boxes', else none but perhaps our own."""
    first = _box_uid(0)
    if first is not None:
        return frozenset(range(first, first + 256))
    return frozenset({os.geteuid()}) if os.environ.get(OWN_UID) == str(os.geteuid()) else frozenset()


def _mounts() -> list[str]:
    """Mounts of jobs, told by what the runner and bwrap call them: others may mount things meanwhile."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, source = line.split()[4], line.partition(" - ")[2].split()[1]
        if source in ("scratch", "work", "ioi-eval") or "ioi-eval" in place or place.startswith("/box"):
            found.append(line)
    return found


def _processes() -> list[str]:
    parents: dict[int, int] = {}
    told: dict[int, str] = {}
    found: set[int] = set()
    uids = our_uids()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines() if ":" in line)
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(entry.name)
        parents[pid] = int(status["PPid"])
        told[pid] = f"{status['Name'].strip()} ({status['State'].strip()})"
        if int(status["Uid"].split()[0]) in uids:
            found.add(pid)
    for pid, parent in parents.items():
        ancestor = parent
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid():
            found.add(pid)
    return [f"{pid} {told[pid]}" for pid in found - {os.getpid()}]


def _files() -> list[str]:
    uids = our_uids()
    found = []
    own = tempfile.gettempdir()
    for directory in {*_SHARED_DIRECTORIES, own}:
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        for entry in entries:
            try:
                owner = entry.stat(follow_symlinks=False).st_uid
            except FileNotFoundError:
                continue
            of_user = directory == own and owner == os.geteuid() != 0
            if owner in uids or (of_user and entry.name.startswith("ioi-eval-")):
                found.append(entry.path)
    return found


def _ipc() -> list[str]:
    uids = our_uids()
    found = []
    for kind in ("shm", "sem", "msg"):
        path = Path("/proc/sysvipc") / kind
        if not path.exists():
            continue
        head, *rows = path.read_text().splitlines()
        column = head.split().index("uid")
        found += [f"{kind} {row}" for row in rows if int(row.split()[column]) in uids]
    keys = Path("/proc/keys")
    if keys.exists() and os.geteuid() == 0:
        listed = [line.split() for line in keys.read_text().splitlines()]
        found += [f"key {row[0]}" for row in listed if int(row[5]) in uids and not row[8].startswith(("_uid", "_ses"))]
    return found


def _standing() -> str:
    """What one process can do to another of its user: priority, processors, limits."""
    limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)]
    return f"nice {os.getpriority(os.PRIO_PROCESS, 0)} cpus {sorted(os.sched_getaffinity(0))} limits {limits}"
