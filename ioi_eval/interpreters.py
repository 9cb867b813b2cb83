"""Finds the directories that an interpreter of this machine needs, and checks whether boxes may see them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ioi_eval.errors import SetupError
from ioi_eval.jobs.harness import SYSTEM
from ioi_eval.sandbox.local.confinement import refusal_to_show

_HIDDEN = ("/tmp", "/box", "/dev", "/proc")
"""Directories that every box replaces by its own (`sandbox/local/confinement.py`). The runner works in its `/tmp`."""


def located(python: str) -> str:
    """The command of an interpreter of this machine, made independent of the working directory.

    Args:
        python: its command. A relative path is relative to the working directory, as in a shell; a name without `/` is
            looked up in the box.
    """
    return os.path.abspath(python) if "/" in python else python


def require_visible(python: str) -> None:
    """Refuse an interpreter if it, or one on which it depends, is in a directory that every box replaces by its own.

    Raises:
        SetupError: a box would hide it.
    """
    if not python.startswith("/"):
        return
    for path in (*_chain(python), os.path.realpath(python), *prefixes_of(python)):
        for directory in _HIDDEN:
            if Path(path).is_relative_to(directory):
                where = python if path == python else f"{python} ({path})"
                raise SetupError(
                    f"the interpreter {where} cannot be used: every box has a {directory} of its own, which hides this "
                    "machine's; give --python one elsewhere, such as in /opt or /var/tmp"
                )


def _chain(path: str) -> Iterator[str]:
    """A path, and the target of each symbolic link on the way, because the box follows each of them."""
    for _ in range(40):  # Source: Linux, path_resolution(7): the most links in one look-up
        yield path
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def require_existing(python: str) -> None:
    """Refuse the path of an interpreter that does not exist on this machine.

    Raises:
        SetupError: it does not exist.
    """
    if python.startswith("/") and not os.path.exists(python):
        raise SetupError(f"there is no interpreter {python} on this machine; give another one with --python")


def prefixes_of(python: str) -> tuple[str, ...]:
    """The directories that a box must show for an interpreter that is given by its path: the prefixes that it needs.

    A prefix is a directory with the interpreter in its `bin`, and with Python's library. A virtual environment also
    needs the interpreter that its `home` names. On another machine these may not exist. The system's own Python is
    left out, as every box shows it.

    Raises:
        SetupError: such a prefix contains more than an interpreter.
    """
    if not python.startswith("/"):
        return ()
    path = Path(python)
    programs = {path, path.resolve()}
    with contextlib.suppress(OSError):
        lines = (path.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
        homes = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == "home"]
        programs |= {Path(home) / path.name for home in homes}
    candidates = {
        program.parent.parent
        for program in programs
        if program.parent.name == "bin" and not any(program.is_relative_to(root) for root in SYSTEM)
    }
    # Other directories are not prefixes: because of `/home/me/bin/python`, the box must not show all of `/home/me`.
    prefixes = [
        str(prefix) for prefix in candidates if (prefix / "pyvenv.cfg").is_file() or any(prefix.glob("lib/python3*"))
    ]
    require_narrow(python, prefixes)
    return tuple(prefixes)


def require_narrow(python: str, directories: Iterable[str]) -> None:
    """Refuse directories that contain more than an interpreter: a box must not show the rest.

    Raises:
        SetupError: one of the directories contains more.
    """
    if refusals := list(filter(None, map(refusal_to_show, directories))):
        raise SetupError(
            f"the interpreter {python} cannot be used: {'; '.join(refusals)}. Give --python one with a directory of "
            "its own, as a virtual environment has"
        )
