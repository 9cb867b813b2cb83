"""Where an interpreter that a user names lies on this machine, and whether boxes may be shown that."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ioi_eval.errors import SetupError
from ioi_eval.jobs.harness import SYSTEM
from ioi_eval.sandbox.shown import refusal_to_show

_HIDDEN = ("/tmp", "/box", "/dev", "/proc")
"""Where a box has something of its own. Source: `sandbox/confinement.py`; the runner works in its `/tmp`."""


def located(python: str) -> str:
    """An interpreter of this machine, as it is found from any directory.

    Args:
        python: its command. One that is a path, and not an absolute one, is relative to the working directory, as in a
            shell; a bare name is looked up in the box.
    """
    return os.path.abspath(python) if "/" in python else python


def require_visible(python: str) -> None:
    """Refuse an interpreter that lies, or stands on one that lies, where every box has a directory of its own.

    Raises:
        SetupError: it does.
    """
    if not python.startswith("/"):
        return
    for path in (*_chain(python), os.path.realpath(python), *places_of(python)):
        for directory in _HIDDEN:
            if Path(path).is_relative_to(directory):
                where = python if path == python else f"{python} ({path})"
                raise SetupError(
                    f"the interpreter {where} cannot be used: every box has a {directory} of its own, which hides this "
                    "machine's; give --python one elsewhere, such as in /opt or /var/tmp"
                )


def _chain(path: str) -> Iterator[str]:
    """A path, and where it leads, link by link: the box follows each of them anew."""
    for _ in range(40):  # Source: Linux, path_resolution(7): the most links in one look-up
        yield path
        if not os.path.islink(path):
            return
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))


def require_there(python: str) -> None:
    """Refuse an interpreter of this machine by a path at which there is nothing.

    Raises:
        SetupError: there is nothing.
    """
    if python.startswith("/") and not os.path.exists(python):
        raise SetupError(f"there is no interpreter {python} on this machine; give another one with --python")


def places_of(python: str) -> tuple[str, ...]:
    """Where an interpreter that is given by its path lies on this machine: its prefix, and what that stands on.

    A prefix is what a program lies in the `bin` of, and which holds Python's library. A virtual environment stands on
    the interpreter that its `home` names. On another machine none of this may exist. The system's own is always shown.

    Raises:
        SetupError: such a prefix holds more than an interpreter.
    """
    if not python.startswith("/"):
        return ()
    path = Path(python)
    programs = {path, path.resolve()}
    with contextlib.suppress(OSError):
        lines = (path.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
        homes = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == "home"]
        programs |= {Path(home) / path.name for home in homes}
    prefixes = {
        program.parent.parent
        for program in programs
        if program.parent.name == "bin" and not any(program.is_relative_to(root) for root in SYSTEM)
    }
    # (And nothing else: `/home/me/bin/python` does not make a home directory part of an interpreter.)
    places = [str(one) for one in prefixes if (one / "pyvenv.cfg").is_file() or any(one.glob("lib/python3*"))]
    require_narrow(python, places)
    return tuple(places)


def require_narrow(python: str, places: Iterable[str]) -> None:
    """Refuse to show a box more than an interpreter.

    Raises:
        SetupError: one of the places holds more.
    """
    if refusals := list(filter(None, map(refusal_to_show, places))):
        raise SetupError(
            f"the interpreter {python} cannot be used: {'; '.join(refusals)}. Give --python one with a directory of "
            "its own, as a virtual environment has"
        )
