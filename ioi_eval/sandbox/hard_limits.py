"""The limits that setrlimit(2) has set, and nobody but root can raise (`ulimit -H`). See `machine_limits.py`."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ioi_eval.config import MIB
from ioi_eval.sandbox.machine_limit import GIB, MachineLimit, in_words

_LEAST_STACK_BYTES = 64 * MIB
"""Recursion over a path of 10^6 vertices takes about as much. Official judges set no limit. Source: CMS (isolate)."""

_LEAST_ADDRESS_BYTES = 5 * GIB
"""What a checker may take (`JudgeLimits`) and 1 GiB; and what a program with up to 1 GiB of memory and 64 threads
reserves. Source: graders/runner/contestants.h, judges.h."""

_LEAST_FILE_BYTES = 64 * MIB + 256 * MIB
"""Beyond the output that is OLE. Source: `Policy.output_bytes`; graders/runner/numbers.h, kFileSlackBytes."""

_LEAST_CPU_S = 62
"""What compiling a checker may take. Source: graders/runner/processes.h; `jobs/compile.py`, _TRUSTED_TIMES."""

_LEAST_FILES, _FILES_A_JOB, _OWN_FILES = 512, 3 * 128 + 16, 128
"""A job holds two descriptors a test, and one a program. Source: `engine/sharing.py`, MOST_TESTS;
graders/runner/numbers.h, kLeastFds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HardLimit:
    """How a hard limit is told and raised.

    Args:
        resource: its number.
        what: its name for people.
        flag: its letter for `ulimit`.
        docker: its name for `docker run --ulimit`; systemd's is the same in capitals.
    """

    resource: int
    what: str
    flag: str
    docker: str = ""

    def value(self) -> int | None:
        """`None` where there is no limit."""
        hard = resource.getrlimit(self.resource)[1]
        return None if hard == resource.RLIM_INFINITY else hard

    def advice(self, value: int | None = None) -> str:
        """Where it may come from, and how each is told what to do with it."""
        docker = f", Docker --ulimit {self.docker}={value or -1}" if self.docker else ""
        systemd = f"systemd Limit{(self.docker or 'as').upper()}={value or 'infinity'}"
        shell = f"as root `ulimit -H{self.flag} {value or 'unlimited'}`"
        return f"raise the hard limit where this is started ({shell}{docker}, {systemd})"


_STACK = HardLimit(resource=resource.RLIMIT_STACK, what="stack", flag="s", docker="stack")
_ADDRESSES = HardLimit(resource=resource.RLIMIT_AS, what="address space", flag="v")
_DATA = HardLimit(resource=resource.RLIMIT_DATA, what="data segment", flag="d", docker="data")
_FILE_SIZE = HardLimit(resource=resource.RLIMIT_FSIZE, what="file size", flag="f", docker="fsize")
_CPU = HardLimit(resource=resource.RLIMIT_CPU, what="CPU time", flag="t", docker="cpu")
_FILES = HardLimit(resource=resource.RLIMIT_NOFILE, what="open files", flag="n", docker="nofile")
PROCESSES = HardLimit(resource=resource.RLIMIT_NPROC, what="processes", flag="u", docker="nproc")

_RAISED = (_ADDRESSES, _DATA, _FILE_SIZE, _CPU, _FILES, PROCESSES)  # programs raise that of the stack themselves


def raise_soft_limits() -> None:
    """Raise each soft limit to its hard one, for this process and all that it starts."""
    for limit in _RAISED:
        soft, hard = resource.getrlimit(limit.resource)
        if soft != hard:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(limit.resource, (hard, hard))


def rlimits(slots: int) -> Iterator[MachineLimit]:
    """The hard limits that bind programs, compilers or this process.

    Args:
        slots: how many jobs are to run at once.
    """
    yield from _bytes_limit(_STACK, least=_LEAST_STACK_BYTES, leaves=lambda hard: hard, meets="recurses deeper")
    for limit in (_ADDRESSES, _DATA):
        yield from _bytes_limit(limit, least=_LEAST_ADDRESS_BYTES, leaves=_memory_within, meets="reserves more")
    file_size = _FILE_SIZE.value()
    if file_size is not None:
        yield MachineLimit(
            what=_FILE_SIZE.what,
            measured=f"{in_words(file_size)} at most (hard limit)",
            needed=f"outputs need {in_words(_LEAST_FILE_BYTES)}, and results must fit too",
            advice=_FILE_SIZE.advice(),
            refuses=file_size < _LEAST_FILE_BYTES,
        )
    cpu_s = _CPU.value()
    if cpu_s is not None:
        yield MachineLimit(
            what=_CPU.what,
            measured=f"{cpu_s} s a process (hard limit)",
            needed=f"compiling a checker may take {_LEAST_CPU_S} s"
            if cpu_s < _LEAST_CPU_S
            else "this command is killed when it has taken so much itself; started again, it goes on",
            advice=_CPU.advice(),
            refuses=cpu_s < _LEAST_CPU_S,
        )
    files, enough = _FILES.value(), (slots + 1) * _FILES_A_JOB + _OWN_FILES
    if files is not None and files < enough:
        yield MachineLimit(
            what=_FILES.what,
            measured=f"{files} at once (hard limit)",
            needed=f"{slots} jobs at once need up to {enough}, and one {_LEAST_FILES}; what finds none left is JE",
            advice=f"{_FILES.advice(enough)}, or use fewer --workers",
            refuses=files < _LEAST_FILES,
        )


def _bytes_limit(limit: HardLimit, *, least: int, leaves: Callable[[int], int], meets: str) -> Iterator[MachineLimit]:
    hard = limit.value()
    if hard is None:
        return
    refuses = hard < least
    yield MachineLimit(
        what=limit.what,
        measured=f"{in_words(hard)} at most (hard limit)",
        needed=f"right programs need {in_words(least)}" if refuses else f"a program that {meets} is RE, right or not",
        advice=limit.advice(),
        refuses=refuses,
        memory_bytes=None if refuses else leaves(hard),
        fails=True,
    )


def _memory_within(addresses: int) -> int:
    """The largest memory limit whose programs find this enough. Source: graders/runner/contestants.h, RLIMIT_AS."""
    return min((addresses - GIB) // 2, addresses - 4 * GIB)
