"""What the sources of a Communication task show about its processes, if its configuration does not state it.

CMS's loader of TPS packages would take one process and `std_io`. Older versions of CMS had `fifo_io` only, and tasks of
that time do not state it. A number of processes may have been entered in CMS by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ioi_eval.model import ProcessIO, TaskType
from ioi_eval.problems.grader_files import without_comments
from ioi_eval.problems.task_parameters import Parameter, parameter_key

_INDEX = re.compile(r"\bargv[ \t]*\[[ \t]*(\d{1,3})[ \t]*\]")
_REGISTERED = re.compile(r"\bregisterManager\s*\([^(),]*,\s*(\d{1,3})\s*,\s*argc\b")
"""The call by which some managers state the number. Source: IOI 2025 (*migrations*), NOI Singapore 2026 (*lemon*)."""

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(define|ifdef|ifndef|if|elif|else|endif)\b[ \t]*(\w*)")


def with_processes(config: Mapping[str, Any], files: Sequence[tuple[str, str]], notes: list[str]) -> dict[str, Any]:
    """The configuration of a Communication task, with what it does not state but its sources (`files`) show.

    Rows that state it are read alike by other programs, which do not look into the sources.
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


def opens_fifos(stub: str) -> bool:
    """Whether a stub's source gets its FIFOs as arguments. With `std_io` it gets at most one argument, its number."""
    return _last_argument(stub) >= 2


def processes_of(manager: str, further_arguments: int = 0) -> int:
    """The number of processes: the one that a manager states, or half the number of arguments that it uses.

    It gets two arguments for each process, and then `further_arguments`. TPS gives it one more, the name of a log.
    """
    if stated := _REGISTERED.search(_compiled(without_comments(manager))):
        return max(1, int(stated[1]))
    return max(1, (_last_argument(manager) - further_arguments) // 2)


def _last_argument(source: str) -> int:
    """The highest index of `argv` in a source."""
    return max(map(int, _INDEX.findall(_compiled(without_comments(source)))), default=0)


def _compiled(source: str) -> str:
    """A source without what `#ifdef` and `#ifndef` leave out. Other conditions are not decided: all branches stay.

    Some stubs can use FIFOs or standard input and output, as a macro at their beginning decides.
    """
    defined = {"EVAL"}  # Source: CMS, which compiles with -DEVAL
    branches: list[bool | None] = []  # whether each is compiled; `None` if that is not known
    lines: list[str] = []
    for line in source.splitlines():
        directive = _DIRECTIVE.match(line)
        word, name = directive.groups() if directive else ("", "")
        if word in ("ifdef", "ifndef"):
            branches.append((name in defined) is (word == "ifdef"))
        elif word == "if":
            branches.append(None)
        elif word in ("elif", "else") and branches:
            branches[-1] = None if word == "elif" or branches[-1] is None else not branches[-1]
        elif word == "endif":
            branches = branches[:-1]
        elif False not in branches:
            defined |= {name} if word == "define" else set()
            lines.append(line)
    return "\n".join(lines)
