"""Everything this package raises on purpose.

    IoiEvalError
    ├── InputError                the call or the data is wrong; nothing was judged      exit code 2
    │   ├── RowError              one row of a data set: names source, row and field
    │   └── UnsupportedError      a task type, score type or option that we refuse by name
    ├── SetupError                this machine or target lacks something                 exit code 2
    │   └── IsolationError        the isolation that was asked for cannot be had here
    └── SandboxError              our failure while a job was executed                   becomes JE
        ├── TransientError        may succeed elsewhere or later; retried, never journaled
        │   ├── TransportError    refused, reset, truncated, lost tail, no end line
        │   ├── OverloadError     the server itself says that it is too busy
        │   └── UnavailableError  no endpoint has been left for so long that the run had better end
        │       ├── TargetLostError   … of one target: others are served, and may judge instead
        │       └── LostDataError     a file of the cache was deleted while it was in use: to be made again
        ├── StoppedError          it took longer than the sandbox lets jobs take
        ├── ExhaustedError        it was repeated as often as it may be, and never answered
        └── RejectedError         the server refuses this request for good (its words are kept)
            └── UnservedError     this server lacks the runtime or the path; another may have it

A verdict is never an exception and an exception is never a verdict. A `SandboxError` of a run job becomes JE in
`engine/running.py`, one of a compilation in `scorer/` and, for APPS, `apps/execution.py`. An `UnavailableError` passes
through them, as it ends the run (but for a `TargetLostError`, which moves the submission: `engine/target.py`);
what it hit is marked by whoever drives that (`pipeline/run.py`, `validate/`). Messages say what was wrong, where, and
what to do.

Bugs end the run, but for those that one row of data brings to light: `ODD_DATA`, around the reading, the judging and
the writing of one row. That row then has no score, and its error names the place in our code.
"""

from __future__ import annotations

from pathlib import Path


class IoiEvalError(Exception):
    """Base of every error that this package raises on purpose."""


class InputError(IoiEvalError):
    """The call or its data is wrong: nothing was judged, and the user can mend it."""


class RowError(InputError):
    """One row of a data set cannot be used.

    Args:
        source: the file or data set that the row came from.
        row: its number, counted from 1 as an editor counts lines.
        problem: what is wrong, and what to do.
    """

    def __init__(self, source: str, row: int, problem: str) -> None:
        super().__init__(f"{source}, row {row}: {problem}")
        self.source = source
        self.row = row
        self.problem = problem


class UnsupportedError(InputError):
    """A task type, score type or option that is refused by name rather than scored wrongly."""


class SetupError(IoiEvalError):
    """This machine, or a target, lacks something that judging needs."""


class IsolationError(SetupError):
    """The isolation that was asked for cannot be had on this machine."""


class SandboxError(IoiEvalError):
    """Our failure while a job was executed. Never a score."""


class TransientError(SandboxError):
    """A failure that may not happen elsewhere or later: the job may be repeated."""


class TransportError(TransientError):
    """The answer did not arrive whole: refused, reset, truncated, or without its end line."""


class OverloadError(TransientError):
    """The server itself says that it is too busy."""


class UnavailableError(TransientError):
    """No endpoint has been left for as long as jobs may wait. A run that meets it ends, and can be resumed."""


class TargetLostError(UnavailableError):
    """Nobody has served this target for a while, but others are served: what was bound to it can be judged there."""


class ExhaustedError(SandboxError):
    """A job was sent as often as it may be, and never answered. Who sends it once more would only begin all anew."""


class StoppedError(SandboxError):
    """A job took longer than the sandbox lets jobs take: fewer tests may do."""


class RejectedError(SandboxError):
    """The server refuses this request for good. Repeating it cannot help."""


class UnservedError(RejectedError):
    """This server lacks the runtime or the path that was asked for. Another one may have it."""


class LostDataError(UnavailableError):
    """A file of the cache that a job refers to is gone. Whoever drives the run has it made again, or ends the run."""


ODD_DATA = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What Python raises where data are as nobody expected: huge integers, deep nesting, halves of characters, NaN."""


def own_fault(error: BaseException, doing: str) -> str:
    """Words for a fault in our own handling of one row.

    Args:
        error: one of `ODD_DATA`.
        doing: what failed, as a noun.
    """
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if Path(code.co_filename).is_relative_to(Path(__file__).parent):
            place = f" ({Path(code.co_filename).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    said = " ".join(str(error).encode("ascii", "replace").decode().split())[:200]
    return f"{doing} failed in ioi-eval itself{place}: {type(error).__name__}: {said}; please report this row"


def ours_alone(error: BaseException) -> BaseException:
    """Our own error, the first of them, if a group (as task groups raise) holds nothing else; else the error itself."""
    if isinstance(error, BaseExceptionGroup) and error.split(IoiEvalError)[1] is None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
    return error
