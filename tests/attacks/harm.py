"""Checks that a job changed nothing: processes, mounts, files, shared memory, descriptors, and our own privileges.

The state is observed from outside of the boxes. Orphans are found in two ways: this process becomes the reaper of its
descendants, and in these tests no other process has the user id of a box. Without root, a box has the user id of all
other tests; then files are recognised by their directory.
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
"""Environment variable with a user id that only these tests use."""

MEMORY_SLACK_BYTES = 512 << 20
"""How much memory other processes of this machine may keep, in bytes."""

_PATIENCE_S = 120.0
_PR_SET_CHILD_SUBREAPER = 36
_SHARED_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")


def adopt_orphans() -> None:
    """Become the parent of each descendant whose own parent ends."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The part of the machine's state that a job of ours could change."""

    processes: frozenset[str]
    mounts: frozenset[str]
    files: frozenset[str]
    ipc: frozenset[str]
    descriptors: int
    settings: str

    @classmethod
    def now(cls) -> State:
        """The present state."""
        return cls(
            processes=frozenset(_processes()),
            mounts=frozenset(_mounts()),
            files=frozenset(_files()),
            ipc=frozenset(_ipc()),
            descriptors=len(os.listdir("/proc/self/fd")),
            settings=_settings(),
        )

    def harm_since(self, before: State) -> list[str]:
        """Descriptions of what was not there before; empty if nothing is."""
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
            *([f"settings: {before.settings} -> {self.settings}"] if self.settings != before.settings else []),
        ]


def lost_memory_bytes(before: int) -> int:
    """How many bytes more are kept than before. Waits up to two minutes, in case other processes still use them."""
    until = time.monotonic() + _PATIENCE_S
    while (lost := kept_memory_bytes() - before) >= MEMORY_SLACK_BYTES and time.monotonic() < until:
        time.sleep(0.1)
    return lost


def kept_memory_bytes() -> int:
    """Memory that remains after processes end, in bytes: tmpfs, memory files, shared segments."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no Shmem")


def our_uids() -> frozenset[int]:
    """User ids of our jobs only. As root: those of the boxes. Otherwise: our own if only these tests use it."""
    first = _box_uid(0)
    if first is not None:
        return frozenset(range(first, first + 256))
    return frozenset({os.geteuid()}) if os.environ.get(OWN_UID) == str(os.geteuid()) else frozenset()


def _mounts() -> list[str]:
    """Mounts of jobs, recognised by names that the runner and bwrap use: other processes may mount things too."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, source = line.split()[4], line.partition(" - ")[2].split()[1]
        if source in ("scratch", "work", "ioi-eval") or "ioi-eval" in place or place.startswith("/box"):
            found.append(line)
    return found


def _processes() -> list[str]:
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
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
        names[pid] = f"{status['Name'].strip()} ({status['State'].strip()})"
        if int(status["Uid"].split()[0]) in uids:
            found.add(pid)
    for pid, parent in parents.items():
        ancestor = parent
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid():
            found.add(pid)
    return [f"{pid} {names[pid]}" for pid in found - {os.getpid()}]


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


def _settings() -> str:
    """Settings that another process of the same user can change: priority, processors, limits."""
    limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)]
    return f"nice {os.getpriority(os.PRIO_PROCESS, 0)} cpus {sorted(os.sched_getaffinity(0))} limits {limits}"
