"""Corrects managers and stubs that use their FIFOs in the opposite order of CMS.

CMS gives a manager first the FIFO from the program, then the FIFO to it, and a stub first the FIFO from the manager. In
CMS a FIFO has no fixed direction. So a manager and a stub may both use the arguments the other way round, as old tasks
do. Here each FIFO has a fixed direction, so the importer swaps the two arguments in both sources; the messages do not
change.

Source: CMS, `cms/grading/tasktypes/Communication.py`; the two tasks of cms-dev/con_test that communicate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_OPENED = re.compile(r'\bfopen[ \t]*\([ \t]*argv[ \t]*\[[ \t]*([12])[ \t]*\][ \t]*,[ \t]*"([rw])b?\+?"')
_ARGUMENT = re.compile(r"\bargv([ \t]*\[[ \t]*)([12])([ \t]*\])")
_REVERSED = {("1", "w"), ("2", "r")}
_ROLES = {"manager", "stub"}
_ENDINGS = (".cpp", ".cc", ".c")


def with_our_order(files: Sequence[tuple[str, str]], notes: list[str]) -> list[tuple[str, str]]:
    """The judge's files of a task with one process, with the arguments of manager and stub in CMS's order.

    Args:
        files: paths as in rows, with contents.
        notes: gets a note if something was changed.
    """
    roles = {path: PurePosixPath(path).stem for path, _ in files if path.endswith(_ENDINGS)}
    talking = {path: role for path, role in roles.items() if role in _ROLES}
    opened = [set(_OPENED.findall(text)) for path, text in files if path in talking]
    if set(talking.values()) != _ROLES or any(ends != _REVERSED for ends in opened):
        return list(files)
    notes.append(
        "manager and stub use their FIFOs in the opposite order of CMS; argv[1] and argv[2] are swapped in both"
    )
    return [(path, _swapped(text) if path in talking else text) for path, text in files]


def _swapped(text: str) -> str:
    return _ARGUMENT.sub(lambda match: f"argv{match[1]}{'21'[int(match[2]) - 1]}{match[3]}", text)
