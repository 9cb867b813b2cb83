"""Reads the lines of a runner's answer, strictly: their end, their checksum, and single values. Pure.

An answer is accepted as a whole or not at all. If it lacks the end line, which repeats the nonce and counts the lines
before it, or does not match the checksum there, part of the answer was lost or changed: that is a `TransportError` and
never a verdict. It does happen: newer Piston servers can lose the end of stdout, and a network whose checksums are too
short for megabytes can change a digit of a score, or a byte of a compiled checker. (If the box was stopped at its
deadline, it is a `SandboxError`: the same job would be stopped again.)
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import orjson

from ioi_eval.errors import GarbledError, IsolationError, RejectedError, SandboxError, TransientError, TransportError
from ioi_eval.model import Isolation, Stage


def whole_lines(stage: Stage, nonce: str) -> tuple[list[dict[str, Any]], Isolation]:
    """Check the end line, and return the lines before it.

    Raises:
        SandboxError: the answer is incomplete (`TransientError`: the box lacked something).
        IsolationError, RejectedError: the runner refused.
    """
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
        message = decoded(str(last.get("explanation", "")))
        if last["fault"] == "isolation":
            raise IsolationError(f"the runner cannot isolate programs here: {message}")
        if last["fault"] in {"system", "limits"}:
            raise TransientError(f"the box lacked something: {message}")
        raise RejectedError(
            f"the runner refused our plan ({last['fault']} fault; a bug of ioi_eval or of a sandbox): {message}"
        )
    if not (last.get("end") is True and last.get("nonce") == nonce and last.get("lines") == len(parsed)):
        raise _unfinished(stage)
    if last.get("sum") != _checksum(stage.stdout):
        raise GarbledError("the runner's answer was changed on the way: it does not match its checksum")
    try:
        return parsed, Isolation(last["isolation"])
    except (KeyError, ValueError) as error:
        raise GarbledError(f"the runner's end line is malformed: {error!r}") from error


def _checksum(stdout: str) -> str:
    """The CRC-32 of all lines but the last."""
    return f"{zlib.crc32(stdout[: stdout.rstrip().rfind(chr(10)) + 1].encode('utf-8', 'replace')):08x}"


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
