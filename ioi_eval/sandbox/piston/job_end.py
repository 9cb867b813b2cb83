"""How a job ended, as far as its endpoint is concerned. Pure."""

from __future__ import annotations

from enum import Enum, auto

from ioi_eval.errors import (
    OverloadError,
    OversizedError,
    RejectedError,
    SandboxError,
    TooManyRequestsError,
    TransportError,
    UnknownRuntimeError,
    UnservedError,
)
from ioi_eval.model import Execution, Job, JobKind

_LIMITS = frozenset({"TO", "OL", "EL"})  # Piston's status codes of a stage that reached a limit of its job


class JobEnd(Enum):
    """How a job ended, as far as its endpoint is concerned."""

    ANSWERED = auto()  # an answer of Piston, also a refusal that every server would give
    BROKEN = auto()  # reset, cut off, a failure of the server, no answer of Piston's, or a runner that was killed
    NOT_SERVED = auto()  # no connection, or this server cannot serve such jobs, or accepts no more requests now
    OVERLOADED = auto()  # the server says that it is too busy
    TIMED_OUT = auto()  # no answer within the job's deadline, or while checks failed for long
    CANCELLED = auto()  # the caller gave up: nothing is known

    @property
    def may_have_started(self) -> bool:
        """Whether a server may have worked on the job."""
        return self is not JobEnd.NOT_SERVED


class AnswerLostError(TransportError):
    """No complete answer arrived. `end`: what this means for the endpoint. `before_answer`: no headers arrived."""

    def __init__(self, message: str, end: JobEnd, *, before_answer: bool = False) -> None:
        super().__init__(message)
        self.end = end
        self.before_answer = before_answer


_END = {
    UnservedError: JobEnd.NOT_SERVED,
    UnknownRuntimeError: JobEnd.NOT_SERVED,
    TooManyRequestsError: JobEnd.NOT_SERVED,
    OverloadError: JobEnd.OVERLOADED,
    RejectedError: JobEnd.ANSWERED,
    OversizedError: JobEnd.ANSWERED,
}
"""What each kind of error means for the endpoint; any other error means `BROKEN`."""


def end_of(result: Execution | SandboxError, job: Job) -> JobEnd:
    """What a job's result means for the endpoint.

    An endpoint that kills a runner, and does not say that one of the job's limits was reached, may break all of its
    jobs, although it answers them: the next job should go elsewhere. Whether the job was too large is for its caller
    to find out.
    """
    if isinstance(result, Execution):
        was_killed = job.kind is JobKind.RUNNER and result.run.code is None and result.run.status not in _LIMITS
        return JobEnd.BROKEN if was_killed else JobEnd.ANSWERED
    return result.end if isinstance(result, AnswerLostError) else _END.get(type(result), JobEnd.BROKEN)
