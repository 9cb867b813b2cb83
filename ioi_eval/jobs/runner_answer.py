"""Turns the lines of a runner's answer into outcomes of tests and results of compilations. Pure.

An answer is accepted as a whole or not at all. If it lacks the end line, which repeats the nonce and counts the lines
before it, or does not match the checksum there, part of the answer was lost or changed: that is a `TransportError` and
never a verdict. It does happen: newer Piston servers can lose the end of stdout, and a network whose checksums are too
short for megabytes can change a digit of a score, or a byte of a compiled checker. (If the box was stopped at its
deadline, it is a `SandboxError`: the same job would be stopped again.)

If the plan's protocol is `none` (functions of APPS, and the comparisons of other graders), lines have no verdict: our
side judges the outputs that they return. Only the first bytes of an output come back; of a longer one the length is
known.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from ioi_eval.errors import GarbledError, IsolationError, RejectedError, SandboxError, TransientError, TransportError
from ioi_eval.extract.fences import encodable
from ioi_eval.model import HarnessReport, Isolation, RunDetails, Stage, TestOutcome, Verdict, signal_name

PROGRAM_FAILURES = frozenset({Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.SV, Verdict.RE})

NEAR_LIMIT = 0.10
"""A result whose CPU time differs from the limit by at most this part of the limit is marked `near_limit`. That
also decides whether a late test runs alone several times (`engine/judging.py`). Chosen: docs/verdicts.md."""

_END_CHARS = 2000  # of each end of a long message about a judge program, a runner or a compiler are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """How one step of a compile plan ended.

    Args:
        code, signal: of the command itself.
        limit: which of our limits stopped it, else `None`.
        killed: the signal that killed one of its processes, sent by the machine (out of memory); 0 if none.
        output: the beginning of what it printed, on both streams.
        precompiled: whether it could use a worker's precompiled header.
    """

    code: int
    signal: int
    limit: str | None
    killed: int = 0
    cpu_ms: float
    output: str
    precompiled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileAnswer:
    """All steps that were run, and the artifacts if all succeeded.

    Attributes:
        stayed: whether the job that compiled the program ran it too. Then the program stayed in that job's box, and is
            among the artifacts only if other jobs may need it.
    """

    steps: tuple[StepLine, ...]
    artifacts: Mapping[str, bytes]
    isolation: Isolation
    stayed: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the steps made what they are for."""
        return self.stayed or bool(self.artifacts)

    @property
    def last(self) -> StepLine | None:
        """The last step that was run."""
        return self.steps[-1] if self.steps else None

    def output(self, if_none: str) -> str:
        """What the last step printed, without its middle if it is long; `if_none` if none was run.

        A compiler's first error causes most of the others. What ended it is at the end.
        """
        text = self.steps[-1].output.strip() if self.steps else if_none
        left_out = len(text) - 2 * _END_CHARS
        return f"{text[:_END_CHARS]}\n[… {left_out} more characters]\n{text[-_END_CHARS:]}" if left_out > 0 else text


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """The outcomes of the tests that were run, by number in the plan; and how compiling ended, if the job did that."""

    tests: Mapping[int, TestOutcome]
    isolation: Isolation
    compiled: CompileAnswer | None = None


def compile_answer(
    stage: Stage, nonce: str, returned: Mapping[str, bytes] | None = None, *, least: Isolation
) -> CompileAnswer:
    """Read the answer to a compile plan; raises as `whole_lines`, and GarbledError or TransportError for a line."""
    lines, isolation = whole_lines(stage, nonce, least)
    with _malformed_is_garbled():
        return _compilation(lines, isolation, returned or {}, may_stay=False)


@contextmanager
def _malformed_is_garbled() -> Iterator[None]:
    """Raise GarbledError for a line that lacks a value, or has another one than it can have."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise GarbledError(f"a line of the runner is malformed: {error!r}") from error
    except RecursionError as error:  # of `repr`, for lists that are nested deeply
        raise GarbledError("a line of the runner is malformed: it is nested too deeply") from error


def _compilation(
    lines: Iterable[dict[str, Any]], isolation: Isolation, returned: Mapping[str, bytes], *, may_stay: bool
) -> CompileAnswer:
    """The lines about a compilation. `may_stay`: whether the artifact may stay in the box."""
    steps, artifacts, stayed = [], {}, False
    for line in lines:
        if "artifact" not in line:
            steps.append(_step(line))
        elif may_stay and "into" in line and string(line, "into") not in returned:
            stayed = True
        else:
            artifacts[string(line, "artifact")] = _whole_artifact(line, returned)
    return CompileAnswer(steps=tuple(steps), artifacts=artifacts, isolation=isolation, stayed=stayed)


def _whole_artifact(line: Mapping[str, Any], returned: Mapping[str, bytes]) -> bytes:
    """An artifact's bytes, from the line or from a returned file."""
    if "into" in line:
        content = returned[string(line, "into")]
    else:
        content = base64.b64decode(string(line, "base64"), validate=True)
    if len(content) != line["bytes"]:
        raise TransportError(f"artifact {line['artifact']!r} arrived with {len(content)} bytes")
    return content


def run_answer(
    stage: Stage,
    nonce: str,
    returned: Mapping[str, bytes] | None = None,
    *,
    tests: int,
    time_limit_s: float,
    least: Isolation,
) -> RunAnswer:
    """Read the answer to a run plan of so many tests, whose numbers are their names; raises as `compile_answer`."""
    lines, isolation = whole_lines(stage, nonce, least)
    outcomes: dict[int, TestOutcome] = {}
    with _malformed_is_garbled():
        for line in lines:
            if "test" not in line:
                continue
            number = integer(line, "test")
            if number in outcomes or not 0 <= number < tests:
                raise GarbledError(f"the runner reported test {number} twice, or was not asked for it")
            outcomes[number] = _outcome(line, str(number), time_limit_s)
        others = [line for line in lines if "test" not in line]
        compiled = _compilation(others, isolation, returned or {}, may_stay=True) if others else None
    return RunAnswer(tests=outcomes, isolation=isolation, compiled=compiled)


def _step(line: dict[str, Any]) -> StepLine:
    return StepLine(
        code=integer(line, "code"),
        signal=integer(line, "signal"),
        limit=_limit(line),
        killed=integer(line, "killed"),
        cpu_ms=integer(line, "cpu_us") / 1000,
        output=decoded(string(line, "output")),
        precompiled=line.get("precompiled") is True,
    )


_UNJUDGED = {
    "verdict": "JE", "score": None, "program": "client", "explanation": "internal error: the output was not judged",
}  # fmt: skip


def _outcome(line: dict[str, Any], test: str, time_limit_s: float) -> TestOutcome:
    judged = line["verdict"] is not None  # else our side judges it
    if not judged:
        if line["score"] is not None:
            raise ValueError("a score without a verdict")
        line = {**line, **_UNJUDGED}
    verdict = Verdict(line["verdict"])
    cpu_us, signalled = integer(line, "cpu_us"), integer(line, "signal")
    code = integer(line, "code")
    message = decoded(string(line, "message"))
    program = None
    if verdict is Verdict.JE:
        program = string(line, "program")
        text = decoded(string(line, "explanation")).strip().rstrip(":")
        message = f"{program}: {text or string(line, 'fault')}"
    return TestOutcome(
        test=test,
        verdict=verdict,
        score=_score(verdict, line["score"]),
        message=message or _why(verdict, line),
        cpu_ms=cpu_us / 1000,
        wall_ms=integer(line, "wall_us") / 1000,
        memory_bytes=integer(line, "memory_bytes"),
        exit_code=None if signalled else code,
        signal=signal_name(signalled),
        limit=_limit(line),
        attempted={name: integer(line["attempted"], name) for name in line["attempted"]},
        in_time_score=_in_time(verdict, line),
        near_limit=abs(cpu_us - time_limit_s * 1e6) <= round(NEAR_LIMIT * time_limit_s * 1e6),
        stderr=decoded(string(line, "stderr")),
        check_cpu_ms=integer(line["judge"], "cpu_us") / 1000,
        failed_program=program,
        output=base64.b64decode(string(line, "output"), validate=True) if "output" in line else None,
        details=RunDetails(
            judged_in_box=judged,
            output_bytes=integer(line, "output_bytes") if "output_bytes" in line else 0,
            idle_s=integer(line, "idle_us") / 1e6,
            report=_report(decoded(string(line, "report"))) if "report" in line else HarnessReport(),
            not_started=line.get("fault") == "start" and program == "runner",
        ),
    )


def _report(line: str) -> HarnessReport:
    """The harness's report; empty if the line is not one. (`HarnessReport` says what a forged one can do.) JSON can
    contain lone surrogates, our files cannot."""
    try:
        values = json.loads(line)
        return HarnessReport(
            phase=encodable(str(values["phase"])),
            exit=values.get("exit") is True,
            error=encodable(str(values.get("error", ""))),
            traceback=encodable(str(values.get("traceback", ""))),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return HarnessReport()


def _limit(line: Mapping[str, Any]) -> str | None:
    return None if line["limit"] is None else string(line, "limit")


STOPPED = {
    "cpu": "CPU time over the limit",
    "idle": "idle for more than the time limit + 1 s: it sleeps, or waits for input that never comes",
    "memory": "memory over the limit",
    "output": "output over the limit",
    "files": "too many or too large files",
    "threads": "too many threads at once",
}
"""What the message says of a program that exceeded a limit, by the limit's name in the runner's lines."""


def _why(verdict: Verdict, line: dict[str, Any]) -> str:
    """Our message for a verdict that comes from no checker or manager."""
    if verdict is Verdict.RE and line["limit"] not in STOPPED:
        name = signal_name(line["signal"])
        return f"killed by {name}" if name else f"exit code {line['code']}"
    if verdict in PROGRAM_FAILURES:
        return STOPPED.get(line["limit"] or {Verdict.TLE: "cpu", Verdict.MLE: "memory"}.get(verdict, ""), "")
    return ""


def _score(verdict: Verdict, text: str | None) -> float | None:
    """The score, checked once more against its verdict: a contradiction means a damaged answer."""
    if verdict is Verdict.JE:
        return None
    score = float(text) if isinstance(text, str) else math.nan
    consistent = {
        Verdict.AC: score == 1.0,
        Verdict.PA: 0.0 < score < 1.0,
        Verdict.WA: score == 0.0,
    }.get(verdict, verdict in PROGRAM_FAILURES and score == 0.0)
    if not consistent:
        raise ValueError(f"verdict {verdict} with score {text!r}")
    return score


def _in_time(verdict: Verdict, line: dict[str, Any]) -> float | None:
    """The score of a late run if it had been in time; `None` if the runner does not know it."""
    if "in_time" not in line:
        return None
    score = float(string(line, "in_time"))
    if verdict is not Verdict.TLE or not 0.0 <= score <= 1.0:
        raise ValueError(f"verdict {verdict} with {line['in_time']!r} in time")
    return score


# --------------------------------------------------------------------------- lines


def whole_lines(stage: Stage, nonce: str, least: Isolation) -> tuple[list[dict[str, Any]], Isolation]:
    """Check the end line, and return the lines before it. SandboxError if the answer is incomplete (`TransientError`:
    the box lacked something), or if programs were isolated less than the plan asks for (`least`); IsolationError or
    RejectedError if the runner refused."""
    parsed: list[dict[str, Any]] = []
    for raw in stage.stdout.splitlines():
        try:
            line = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            if stage.code is None:  # killed while it was writing
                raise _unfinished(stage) from error
            raise TransportError(f"the runner's answer is damaged: {error} in {raw[:120]!r}") from error
        if not isinstance(line, dict):
            raise TransportError(f"the runner's answer is damaged: {raw[:120]!r}")
        parsed.append(line)
    last = parsed.pop() if parsed else {}
    if "fault" in last and "test" not in last and last.get("nonce") in (nonce, "", None):
        with _malformed_is_garbled():
            fault, message = string(last, "fault"), decoded(string({"explanation": "", **last}, "explanation"))
        if fault == "isolation":
            raise IsolationError(f"the runner cannot isolate programs here: {message}")
        if fault in {"system", "limits"}:
            raise TransientError(f"the box lacked something: {message}")
        raise RejectedError(
            f"the runner refused our plan ({fault} fault; a bug of ioi_eval or of a sandbox): {message}"
        )
    if not (last.get("end") is True and last.get("nonce") == nonce and last.get("lines") == len(parsed)):
        raise _unfinished(stage)
    before_last = stage.stdout[: stage.stdout.rstrip().rfind("\n") + 1]
    if last.get("sum") != f"{zlib.crc32(before_last.encode('utf-8', 'replace')):08x}":
        raise GarbledError("the runner's answer was changed on the way: it does not match its checksum")
    with _malformed_is_garbled():
        isolation = Isolation(last["isolation"])
    if isolation.rank < least.rank:  # our runner would have refused
        asked = f"the plan asks for at least {least.value!r}"
        raise GarbledError(f"the answer is not our runner's: isolation is {isolation.value!r} there, and {asked}")
    return parsed, isolation


def _unfinished(stage: Stage) -> SandboxError:
    """The error for an answer without an end line. Piston before isolate does not say which limit killed a job."""
    if stage.status == "TO":
        return SandboxError(f"the box was stopped at its deadline, after {stage.wall_ms or 0:.0f} ms")
    end = f"exit code {stage.code}, signal {stage.signal}"
    if stage.code is None and stage.signal == "SIGKILL":
        sent = f"{len(stage.stdout):,} characters"
        end += f" after {sent}: a limit on output (PISTON_OUTPUT_MAX_SIZE), time or memory"
    return TransportError(f"the runner's answer was cut off ({end}); stderr: {stage.stderr[-400:]!r}")


def integer(line: Mapping[str, Any], key: str) -> int:
    """The value, which must be an integer that is neither negative nor too large."""
    value = line[key]
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(f"{key} is {value!r}")
    return value


def string(line: Mapping[str, Any], key: str) -> str:
    """The value, which must be a string."""
    value = line[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is {value!r}")
    return value


def decoded(escaped: str) -> str:
    """Decode bytes that the runner wrote as `\\u00XX`, as UTF-8."""
    return escaped.encode("latin-1", "replace").decode("utf-8", "replace")
