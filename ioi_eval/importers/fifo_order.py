"""States how managers and stubs use their FIFOs, and corrects those that use them in the opposite order of CMS.

CMS gives a manager first the FIFO from the program, then the FIFO to it, and a stub first the FIFO from the manager. In
CMS a FIFO has no fixed direction. So a manager and a stub may both use the arguments the other way round, as old tasks
do. Here each FIFO has a fixed direction, so the importer swaps the two arguments in both sources; the messages do not
change.

Source: CMS, `cms/grading/tasktypes/Communication.py`; the two tasks of cms-dev/con_test that communicate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ioi_eval.model import ProcessIO, TaskType
from ioi_eval.problems.fifo_arguments import opens_fifos, processes_of
from ioi_eval.problems.task_parameters import Parameter, parameter_key

_OPENED = re.compile(r'\bfopen[ \t]*\([ \t]*argv[ \t]*\[[ \t]*([12])[ \t]*\][ \t]*,[ \t]*"([rw])b?\+?"')
_ARGUMENT = re.compile(r"\bargv([ \t]*\[[ \t]*)([12])([ \t]*\])")
_REVERSED = {("1", "w"), ("2", "r")}
_ROLES = {"manager", "stub"}
_ENDINGS = (".cpp", ".cc", ".c")


def with_processes(config: Mapping[str, Any], files: Sequence[tuple[str, str]], notes: list[str]) -> dict[str, Any]:
    """The configuration of a Communication task, with what it does not state but its sources show.

    Rows that state it are read alike by other programs, which do not look into the sources.

    Args:
        config: with flat keys, or with CMS's list of parameters.
        files: the judge's files: paths as in rows, with contents.
        notes: gets a note if the number of processes is not stated.
    """
    if config.get("task_type") != TaskType.COMMUNICATION or "task_type_parameters" in config:
        return dict(config)
    processes, process_io, manager_args = (
        parameter_key(TaskType.COMMUNICATION, field)
        for field in (Parameter.NUM_PROCESSES, Parameter.USER_IO, Parameter.MANAGER_ARGS)
    )
    shown: dict[str, Any] = {}
    sources = [(PurePosixPath(path).stem, text) for path, text in files]
    if any(opens_fifos(text) for role, text in sources if role in ("stub", "grader")):
        shown[process_io] = ProcessIO.FIFO_IO.value
    manager = "\n".join(text for role, text in sources if role == "manager")
    further = len(str(config.get(manager_args) or "").split())
    if processes not in config and (number := processes_of(manager, further)) > 1:
        shown[processes] = number
        notes.append(f"the manager's source is for {number} processes; the package states no number")
    return {**shown, **config}


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
