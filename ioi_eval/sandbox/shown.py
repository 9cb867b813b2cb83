"""Which directories of this machine a box may be shown: never one that holds more than an interpreter.

An interpreter lies where its user says, and a box shows that place to programs of others. A prefix that is taken too
far up (`/`, for `/opt/python`) would show them the whole machine, and hide the box's own directories behind it.
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
"""Source: the Filesystem Hierarchy Standard 3.0; `/box` is the box's own. The system's programs are there unasked."""

_OF_THE_KERNEL = frozenset({"dev", "proc", "sys"})


def refusal_to_show(path: str) -> str:
    """Why boxes are not shown what is at a path; empty if they may be.

    Args:
        path: on this machine or another one. Where it is a link, both ends count.
    """
    if not path.startswith("/"):
        return f"{path} is not shown to boxes: it is no absolute path"
    for one in (os.path.normpath(path), os.path.realpath(path)):
        if _holds_more(f"/{one.lstrip('/')}"):
            seen = path if one == path else f"{path} ({one})"
            return f"{seen} is not shown to boxes: it holds more than an interpreter"
    return ""


def _holds_more(path: str) -> bool:
    parts = PurePosixPath(path).parts
    if path in _HOLDS_MORE or parts[1] in _OF_THE_KERNEL or (parts[1] == "home" and len(parts) == 3):
        return True
    return PurePosixPath(_home()).is_relative_to(path)


@cache
def _home() -> str:
    """This user's, as the system says; the environment may say anything."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir or "/"
    except KeyError:  # a user without a name, in a container
        return "/"
