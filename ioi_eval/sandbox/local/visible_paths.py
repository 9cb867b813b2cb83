"""Decides which directories of this machine a box may show: never one that contains more than an interpreter.

The user says where an interpreter is, and boxes show this directory to the programs that are judged. With a prefix that
is too short (`/` instead of `/opt/python`) they would see the whole machine, and it would hide the box's directories.
"""

from __future__ import annotations

import os
import pwd
from functools import cache
from pathlib import PurePosixPath

_HOLDS_MORE = frozenset(
    {
        *("/", "/bin", "/boot", "/box", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/media", "/mnt"),
        *("/nix", "/nix/store", "/opt", "/root", "/run", "/sbin", "/snap", "/srv", "/tmp", "/usr", "/usr/local"),
        *("/var", "/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp"),
    }
)
"""Source: the Filesystem Hierarchy Standard 3.0; `/box` is the box's own. Boxes always show the system's programs."""

_OF_THE_KERNEL = frozenset({"dev", "proc", "sys"})


def refusal_to_show(path: str) -> str:
    """Why boxes may not show a path; empty if they may.

    Args:
        path: on this machine or another one. If it is a link, both the link and its target are checked.
    """
    if not path.startswith("/"):
        return f"{path} is not shown to boxes: it is not an absolute path"
    for name in (os.path.normpath(path), os.path.realpath(path)):
        if _holds_more(f"/{name.lstrip('/')}"):
            seen = path if name == path else f"{path} ({name})"
            return f"{seen} is not shown to boxes: it holds more than an interpreter"
    return ""


def _holds_more(path: str) -> bool:
    parts = PurePosixPath(path).parts
    if path in _HOLDS_MORE or parts[1] in _OF_THE_KERNEL or (parts[1] == "home" and len(parts) == 3):
        return True
    return PurePosixPath(_home()).is_relative_to(path)


@cache
def _home() -> str:
    """This user's home directory in the password database; the environment may be wrong."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:  # a user without a name, in a container
        return "/"
