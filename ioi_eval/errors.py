"""The errors that this package raises on purpose. Modules define further ones below these, where only they need them.

    IoiEvalError
    ├── InputError                the call or the data is wrong; nothing was judged      exit code 2
    │   ├── RowError              one row of a data set: names source, row and field
    │   └── UnsupportedError      a task type, score type or option that we refuse by name
    ├── SetupError                this machine or target lacks something                 exit code 2
    │   ├── BrokenTargetError     nothing can be judged on this target: its compiler does not work
    │   └── IsolationError        the isolation that was asked for is not available here
    └── SandboxError              our failure while a job was executed                   becomes JE
        ├── TransientError        may succeed elsewhere or later; the job is sent again
        │   ├── TransportError    refused, reset, cut off, without its end line
        │   │   └── GarbledError      the whole answer arrived, but is not what was sent or asked for
        │   ├── BrokenCompilerError   the compiler of one worker does not work
        │   ├── OverloadError     the server itself says that it is too busy
        │   │   └── TooManyRequestsError  it has begun nothing, and limits how many requests it accepts
        │   └── UnavailableError  no worker has been in service for as long as jobs may wait: the run ends
        │       ├── TargetLostError   … of one target, or its workers run nothing: other targets may judge instead
        │       └── LostDataError     a file of the cache was deleted while it was in use: the run ends
        │                     (here only so that it passes through the code that makes JE of other errors)
        ├── UnsuitableError       this target lacks what the submission needs; another one may have it
        ├── ExhaustedError        the job was sent as often as is allowed, without an answer
        └── RejectedError         the server will always refuse this request (the message quotes it)
            ├── OversizedError    the request is longer than this server, or a proxy in front of it, accepts
            └── UnservedError     this server cannot serve the request; another one may
                └── UnknownRuntimeError   it lacks the package

The result of a program is returned, never raised; what went wrong with us is raised, and never becomes a score: see
`docs/architecture.md`, "Whose failure it is". `TargetLostError`, `UnsuitableError` and `BrokenTargetError` move the
submission to another target (`engine/target.py`). Messages say what was wrong, where, and what to do.

Bugs end the run, except those that one row of data causes: the code that reads, judges and writes a row catches
`ODD_DATA`. That row then has no score, and its error names the place in our code.
"""

from __future__ import annotations

import copyreg
import difflib
import errno
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class IoiEvalError(Exception):
    """Base of every error that this package raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is pickled: a process pool sends its errors so. Python would call the class with the message only."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class InputError(IoiEvalError):
    """The call or its data is wrong: nothing was judged, and the user can correct it."""


class RowError(InputError):
    """One row of a data set cannot be used: source and number as in `Row`, and what is wrong and what to do."""

    def __init__(self, source: str, row: int, problem: str) -> None:
        super().__init__(source, row, problem)
        self.source = source
        self.row = row
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.source}, row {self.row}: {self.problem}"


class UnsupportedError(InputError):
    """A task type, score type or option that we do not support. We refuse it rather than score it wrongly."""


class SetupError(IoiEvalError):
    """This machine, or a target, lacks something that judging needs."""


class BrokenTargetError(SetupError):
    """Nothing can be judged on a target, because its compiler does not work. Another target may judge."""


class IsolationError(SetupError):
    """The isolation that was asked for is not available on this machine, or on any worker."""


class SandboxError(IoiEvalError):
    """Our failure while a job was executed. Never a score."""


class TransientError(SandboxError):
    """A failure that may not happen elsewhere or later: the job may be sent again."""


class TransportError(TransientError):
    """The answer did not arrive completely: refused, reset, truncated, or without its end line."""


class GarbledError(TransportError):
    """The whole answer arrived, but is not what was sent or asked for. (A job with fewer tests would not help.)"""


class BrokenCompilerError(TransientError):
    """A compiler did not compile a program that every working one compiles. That of another worker may work."""


class OverloadError(TransientError):
    """The server itself says that it is too busy."""


class TooManyRequestsError(OverloadError):
    """The server, or a proxy in front of it, limits requests, and has not begun this one (HTTP 429)."""


class UnavailableError(TransientError):
    """No endpoint has been in service for as long as jobs may wait. The run ends, and can be resumed."""


class TargetLostError(UnavailableError):
    """No worker of this target has been in service for a while, or those that were tried run nothing, or not this job.
    Its submissions can be judged on other targets."""


class UnsuitableError(SandboxError):
    """A target lacks the compiler, C++ standard, interpreter or isolation for a submission. Another may have it."""


class ExhaustedError(SandboxError):
    """A job was sent as often as is allowed, without an answer. Callers must not send it again."""


class RejectedError(SandboxError):
    """The server or the runner will always refuse this job, so sending it again cannot help."""


class OversizedError(RejectedError):
    """The request is longer than this server, or a proxy in front of it, accepts. Others of its kind accept no more."""


class UnservedError(RejectedError):
    """This server cannot serve the request. Another one may: it has the path, or can isolate programs."""


class UnknownRuntimeError(UnservedError):
    """This server lacks the package that was asked for, which may have been uninstalled meanwhile."""


class LostDataError(UnavailableError):
    """A file of the cache that a job refers to is missing. It is an `UnavailableError`, which ends a run, because every
    other job that needs the file would fail too. The next run makes it again."""


class DoubtfulDataWarning(UserWarning):
    """Some of the user's data is probably wrong, but can be used. Commands print it as a line on stderr."""


class NotReadWarning(DoubtfulDataWarning):
    """Some of the user's data is not read, probably by mistake."""


NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The numbers of an `OSError` that say that a disk, a quota or the limit of a file is full."""

ODD_DATA = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What Python raises for unusual data: huge integers, deep nesting, lone surrogates, NaN."""


def internal_error_text(error: BaseException, doing: str) -> str:
    """The message for a bug of ours in handling one row: one of `ODD_DATA`, and what failed, as a noun."""
    trace, where = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if Path(code.co_filename).is_relative_to(Path(__file__).parent):
            where = f" ({Path(code.co_filename).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    message = " ".join(str(error).encode("ascii", "replace").decode().split())[:200]
    return f"{doing} failed in ioi-eval itself{where}: {type(error).__name__}: {message}; please report this row"


def similar(name: str, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """The most similar known name; `None` if none is similar. Case, and `_` or `-`, do not count.

    `least` is the least share of common letters, as `difflib` counts them: higher where other names are allowed too.
    """
    by_form = {_form(other): other for other in known}
    near = difflib.get_close_matches(_form(name), by_form, n=1, cutoff=least)
    return by_form[near[0]] if near else None


def _form(name: str) -> str:
    return name.lower().replace("_", "-")


def unknown(kind: str, name: str, known: Iterable[str], *, near: str | None = None, help_of: str = "") -> str:
    """The message about a name that does not exist: `no such command 'scor'. Did you mean 'score'?`

    If no known name is similar, and none is known to be meant (`near`), it has all of them, or names the command whose
    help lists them (`help_of`), if they are too many.
    """
    known = list(known)
    near = near or similar(name, known)
    which = f"`{help_of} --help` lists them" if help_of else f"there are: {', '.join(known)}"
    return f"no such {kind} {name!r}" + (f". Did you mean '{near}'?" if near else f"; {which}")


def listed(names: Iterable[str], *, most: int = 10) -> str:
    """The first names, and how many more there are: `a, b and 3 more`; `nothing` without any."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return f"{', '.join(every[:most])}{more}" or "nothing"


def first_own_error(error: BaseException) -> BaseException:
    """The first error in a group (as task groups raise) if all in it are ours; else the error itself."""
    if isinstance(error, BaseExceptionGroup) and error.split(IoiEvalError)[1] is None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
    return error
