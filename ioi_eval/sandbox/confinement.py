"""What is put in front of a job's command so that it is confined: `setpriv`, `bwrap`. Pure but for looking at
which directories exist.

Facts that shape it (each tried):
- bwrap started by real root leaves `/proc/sys` writable inside, so root first becomes a box's own uid.
- `--unshare-all` only *tries* the user namespace: it is asked for by name.
- bwrap inherits its environment to PID 1 even with `--clearenv`, so it is started with an empty one.
- bwrap leaves inherited descriptors open: files travel by descriptor, and the runner itself is started from one.
- The runner needs capabilities inside its own user namespace (it makes a PID namespace and a root directory for
  every contestant and drops them there); they mean nothing outside of it.
- bwrap bounds a tmpfs since 0.7.0 (`--size`), and Ubuntu 22.04 has 0.6.1. There bounded ones are mounted before it
  starts, in namespaces around it. It is root in these, and root's capabilities are handed on unless they are dropped.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

BOX_BYTES = 1 << 30
TMP_BYTES = 1 << 30

PATH = "/usr/local/bin:/usr/bin:/bin"

_BOX_USER = "1000"

_ROOM = (("/sys/kernel", "/tmp", TMP_BYTES), ("/sys/devices", "/box", BOX_BYTES))
"""Where each tmpfs is mounted if bwrap cannot bound it (a directory that no box shows), its place in the box, bytes."""

_MOUNTED = ("unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-ec")

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_MOST_LINKS = 40  # Source: Linux, path_resolution(7)
_ETC = ("/etc/alternatives", "/etc/ld.so.cache")

_CAPABILITIES = (
    "CAP_SYS_ADMIN",  # namespaces and mounts of the contestants
    "CAP_SYS_CHROOT",
    "CAP_SETUID",  # a contestant's uid, where more than one is mapped
    "CAP_SETGID",
    "CAP_SETPCAP",  # to drop the bounding set
    "CAP_KILL",
    "CAP_CHOWN",
    "CAP_FOWNER",
    "CAP_DAC_OVERRIDE",  # to clean up what a program made unreadable
    "CAP_SYS_RESOURCE",
    "CAP_SYS_PTRACE",  # to read a contestant's /proc entries across user ids
)


def as_user(uid: int | None) -> tuple[str, ...]:
    """The words that make the rest of the command run as an unprivileged user; none where we are one already."""
    if uid is None:
        return ()
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--")


def in_namespaces(
    *, hide: Sequence[Path] = (), show: Sequence[str] = (), confines: bool = True, sizes: bool = True
) -> tuple[str, ...]:
    """The bwrap command that gives a box of its own: user, PID, network, IPC, UTS and mount namespaces.

    The system's programs and libraries are there read-only, `/tmp` and `/box` are empty and bounded.

    Args:
        hide: directories below `/usr` that hold something of ours (the package itself).
        show: further files and directories that are there, read-only.
        confines: what is started confines others further, so it is root there; else it is nobody in particular and
            has no capability.
        sizes: this machine's bwrap knows `--size`.
    """
    words = [*(() if sizes else _mounting_room()), "bwrap", "--unshare-user", "--unshare-all", "--cap-drop", "ALL"]
    user = "0" if confines else _BOX_USER
    words += ["--uid", user, "--gid", user]
    for capability in _CAPABILITIES if confines else ():
        words += ["--cap-add", capability]
    words += ["--as-pid-1", "--die-with-parent", "--clearenv", "--setenv", "PATH", PATH, "--hostname", "box"]
    words += ["--ro-bind", "/usr", "/usr"]
    for directory in _SYSTEM:
        path = Path(directory)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), directory]
        elif path.is_dir():
            words += ["--ro-bind", directory, directory]
    for name in _ETC:
        words += ["--ro-bind-try", name, name]
    for directory_path in hide:
        if directory_path.is_relative_to("/usr"):
            words += ["--tmpfs", str(directory_path), "--remount-ro", str(directory_path)]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for mounted, directory, size in _ROOM:
        words += ["--size", str(size), "--tmpfs", directory] if sizes else ["--bind", mounted, directory]
    for name in show:
        words += _shown(name)
    words += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/box"]
    return tuple(words)


def _mounting_room() -> tuple[str, ...]:
    """The words before bwrap's that mount what it cannot bound itself."""
    mounts = (f"mount -t tmpfs -o size={size},mode=0755,nosuid,nodev tmpfs {mounted}" for mounted, _, size in _ROOM)
    return (*_MOUNTED, f'{"; ".join(mounts)}; exec "$@"', "sh")


def _shown(name: str) -> tuple[str, ...]:
    """A path at its own place. A link stays one, as programs look for what lies beside its end, which is shown too."""
    words: list[str] = []
    for _ in range(_MOST_LINKS):
        if name in _ETC or any(name.startswith(f"{directory}/") for directory in ("/usr", *_SYSTEM)):
            return tuple(words)  # there already
        if not os.path.islink(name):
            break
        target = os.readlink(name)
        words += ["--symlink", target, name]
        name = os.path.normpath(os.path.join(os.path.dirname(name), target))
    return (*words, "--ro-bind-try", name, name)
