"""The command prefixes that confine a job (`setpriv`, `bwrap`), and which paths they may show. Pure, except that it
looks at which paths exist.

Facts behind the options (each tried):
- bwrap started by real root leaves `/proc/sys` writable inside, so root first becomes a box's own uid.
- `--unshare-all` only *tries* to make a user namespace, so `--unshare-user` is given too.
- bwrap passes its environment on to PID 1 even with `--clearenv`, so bwrap is started with an empty one.
- bwrap leaves inherited descriptors open: a job gets its files as descriptors, and the runner is started from one.
- The runner needs capabilities inside its own user namespace (it makes a PID namespace and a root directory for
  every contestant and drops them there); they have no effect outside of it.
- bwrap can limit the size of a tmpfs since 0.7.0 (`--size`); Ubuntu 22.04 has 0.6.1. There, limited ones are mounted
  before bwrap starts, in outer namespaces. bwrap is root in these, and would pass on root's capabilities if they were
  not dropped.

The user says where an interpreter is, and boxes show this directory to the programs that are judged. If it is too high
(`/` instead of `/opt/python`), programs would see the whole machine, and it would hide the box's directories. So a
directory that contains more than an interpreter is never shown (`why_not_shown`).
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

BOX_BYTES = 1 << 30
TMP_BYTES = 1 << 30

PATH = "/usr/local/bin:/usr/bin:/bin"

PACKAGE_DIRECTORY = Path(__file__).resolve().parents[2]
"""Of `ioi_eval`. No box shows it."""

_BOX_USER = "1000"

_TMPFS = (("/sys/kernel", "/tmp", TMP_BYTES), ("/sys/devices", "/box", BOX_BYTES))
"""For each tmpfs: where it is mounted first if bwrap cannot limit its size (a directory that no box shows), its path in
the box, and its size in bytes."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""The directories of the system's own programs and libraries."""

_HIDDEN_DIRECTORIES = ("/tmp", "/box", "/dev", "/proc")
"""Every box has its own instead. The runner works in its `/tmp`."""

_MAX_LINKS = 40  # in one look-up. Source: Linux, path_resolution(7)
_ETC = ("/etc/alternatives", "/etc/ld.so.cache")

_CAPABILITIES = (
    "CAP_SYS_ADMIN",  # namespaces and mounts of the contestants
    "CAP_SYS_CHROOT",
    "CAP_SETUID",  # a contestant's uid, if more than one is mapped
    "CAP_SETGID",
    "CAP_SETPCAP",  # to drop the bounding set
    "CAP_KILL",
    "CAP_CHOWN",
    "CAP_FOWNER",
    "CAP_DAC_OVERRIDE",  # to clean up what a program made unreadable
    "CAP_SYS_RESOURCE",
    "CAP_SYS_PTRACE",  # to read a contestant's /proc entries across user ids
)

_HOLDS_MORE = frozenset(
    {
        *("/", "/bin", "/boot", "/box", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/media", "/mnt"),
        *("/nix", "/nix/store", "/opt", "/root", "/run", "/sbin", "/snap", "/srv", "/tmp", "/usr", "/usr/local"),
        *("/var", "/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp"),
    }
)
"""Directories that contain more than an interpreter. (Those of the system's programs need not be named: boxes show them
in any case.) Source: the Filesystem Hierarchy Standard 3.0; `/box` is the box's own."""

_OF_THE_KERNEL = frozenset({"dev", "proc", "sys"})


def as_user(uid: int | None) -> tuple[str, ...]:
    """The prefix that makes a command run as an unprivileged user; empty if we are not root."""
    if uid is None:
        return ()
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--")


def in_namespaces(
    *, show: Sequence[str] = (), is_root_inside: bool = True, has_size_option: bool = True
) -> tuple[str, ...]:
    """The bwrap command that makes a new box: user, PID, network, IPC, UTS and mount namespaces.

    The box has the system's programs and libraries and what it is to `show` read-only, without this package; `/tmp` and
    `/box` are empty and limited in size (if bwrap has no `--size`, these tmpfs are mounted first). The program is root
    in the box if it confines others further; else it is an ordinary user without capabilities.
    """
    command: list[str] = []
    if not has_size_option:
        mounts = [f"mount -t tmpfs -o size={size},mode=0755,nosuid,nodev tmpfs {place}" for place, _, size in _TMPFS]
        command += ["unshare", "--user", "--map-root-user", "--mount", "--", "sh", "-ec"]
        command += [f'{"; ".join(mounts)}; exec "$@"', "sh"]
    user = "0" if is_root_inside else _BOX_USER
    command += ["bwrap", "--unshare-user", "--unshare-all", "--cap-drop", "ALL", "--uid", user, "--gid", user]
    for capability in _CAPABILITIES if is_root_inside else ():
        command += ["--cap-add", capability]
    command += ["--as-pid-1", "--die-with-parent", "--clearenv", "--setenv", "PATH", PATH, "--hostname", "box"]
    for directory in SYSTEM:
        path = Path(directory)
        if path.is_symlink():
            command += ["--symlink", os.readlink(path), directory]
        elif path.is_dir():
            command += ["--ro-bind", directory, directory]
    for name in _ETC:
        command += ["--ro-bind-try", name, name]
    if PACKAGE_DIRECTORY.is_relative_to("/usr"):
        command += ["--tmpfs", str(PACKAGE_DIRECTORY), "--remount-ro", str(PACKAGE_DIRECTORY)]
    command += ["--proc", "/proc", "--dev", "/dev"]
    for mounted, directory, size in _TMPFS:
        command += ["--size", str(size), "--tmpfs", directory] if has_size_option else ["--bind", mounted, directory]
    for name in show:
        command += _options_to_show(name)
    command += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", "/box"]
    return tuple(command)


def _options_to_show(path: str) -> Iterator[str]:
    """The options that show a path under the same name. A link stays a link, and its target is shown too: programs
    look for files beside the target."""
    for name in _chain(path):
        if name in _ETC or any(name.startswith(f"{directory}/") for directory in SYSTEM):
            return  # in the box already
        yield from ("--symlink", os.readlink(name), name) if os.path.islink(name) else ("--ro-bind-try", name, name)


def why_not_shown(path: str) -> str:
    """Why boxes may not show a path (of this machine or another one), or the target of a link; empty if they may."""
    if not path.startswith("/"):
        return f"{path} is not shown to boxes: it is not an absolute path"
    for name in (os.path.normpath(path), os.path.realpath(path)):
        if _holds_more(f"/{name.lstrip('/')}"):
            seen = path if name == path else f"{path} ({name})"
            return f"{seen} is not shown to boxes: it holds more than an interpreter"
    return ""


def why_hidden(path: str) -> str:
    """Why programs in a box do not find a path of this machine, or one that it leads to; empty if they may find it, or
    if it is a name, which the box looks up in its own PATH."""
    if not path.startswith("/"):
        return ""
    for name in (*_chain(path), os.path.realpath(path)):
        for directory in _HIDDEN_DIRECTORIES:
            if Path(name).is_relative_to(directory):
                leads = "" if name == path else f"it leads to {name}; "
                return f"{leads}every box has a {directory} of its own, which hides this machine's"
    return ""


def _chain(path: str) -> Iterator[str]:
    """A path, and the target of each symbolic link on the way, because the box follows each of them."""
    for _ in range(_MAX_LINKS):
        yield path
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def _holds_more(path: str) -> bool:
    parts = PurePosixPath(path).parts
    if path in _HOLDS_MORE or parts[1] in _OF_THE_KERNEL or (parts[1] == "home" and len(parts) == 3):
        return True
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir or "/"  # the environment may be wrong
    except KeyError:  # a user without a name, in a container
        home = "/"
    return PurePosixPath(home).is_relative_to(path)
