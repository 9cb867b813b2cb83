"""Reads the answers of servers with Piston's API v2. Pure.

Facts of both generations (recorded in 438 transcripts, and read in `api/src/`):

- There is no 413: a body that is too large, like malformed JSON, is 400 with a `stack`; a null file is 400 `{}`.
- A server that could not start a process or make a box answers 500 with an empty body. It gives the same answer to some
  file names, but jobs with these are refused before sending. So this answer means that another server should be tried.
- A stage that was ended by a signal has code null. Since isolate the server says why (`status`), measured outside of
  the box, where no program can write. `XX` means that isolate failed, never the program. A stage without exit code,
  signal, status and time means the same: isolate refused its arguments, or was killed, and its report stayed empty.
- Only the server can report an overload: by status 429 or 503, or by its `message`. The output of programs and
  compilers is never searched for such messages, as any program can print them.
"""

from __future__ import annotations

import contextlib
import re
import reprlib
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from ioi_eval.errors import (
    OverloadError,
    OversizedError,
    RejectedError,
    SandboxError,
    TooManyRequestsError,
    TransientError,
    TransportError,
    UnknownRuntimeError,
    UnservedError,
)
from ioi_eval.model import Execution, Job, JobKind, Stage
from ioi_eval.sandbox.piston.endpoints import without_login
from ioi_eval.sandbox.piston.wire import Runtime

_TLS_ADVICE = {
    " mismatch, certificate": "name the endpoint as its certificate does",
    "certificate has expired": "renew the certificate",
    "certificate is not yet valid": "is the clock of this machine right?",
    "CERTIFICATE_VERIFY_FAILED": "if it is the right server, set SSL_CERT_FILE to a file with the certificate of its "
    "issuer (its own, if it is self-signed)",
    "WRONG_VERSION_NUMBER": "the server may not use TLS; then write http://",
}
"""What to do about OpenSSL's messages; the first that matches."""

INSTALL = "`ioi-eval cluster install` installs our packages"
"""The advice for a worker without the package that a job needs."""

_NOTHING_STARTED = "the server could not start a process or make a box (is its disk full?)"
_NO_REPORT = "it could not write its report (is the server's /tmp full?), or was killed"
_OVERLOAD = ("Resource temporarily unavailable", "EAGAIN", "queue is full")
_CEILING = re.compile(r"^(\w+) cannot exceed the configured limit of (\d+)$")
_UNKNOWN_RUNTIME = " runtime is unknown"
_TOO_LARGE = "PayloadTooLargeError"
_ADVICE = {
    _UNKNOWN_RUNTIME: INSTALL,
    _TOO_LARGE: "raise its body limit",
    "requests must be of type application/json": "is a proxy in between?",
}
_ADVICE_FOR_STATUS = {
    401: "its URL needs the right user:password@ before the host",
    429: "it limits requests: send fewer at once (--max-requests-per-endpoint), or ask its operator for more",
    413: "a proxy in between limits requests: raise its limit (nginx: client_max_body_size 512m)",
    504: "a proxy in between did not wait for the answer: raise its timeout (nginx: proxy_read_timeout 30m)",
}
_REFUSALS = frozenset({400, 415})
"""The statuses with which Piston refuses, in JSON, a request that other workers would refuse too. A proxy's 413 means
the same; other refusals of a proxy, which are pages or texts, do not."""

_STATUSES_OF_OTHER_SERVERS = frozenset({200, 301, 302, 307, 308, 404, 405, 410})
"""A web server that is not Piston answers `/runtimes` with one of these; a proxy whose worker is down answers 502."""

_PAGE = re.compile(rb"\s*<(?:!doctype html|html|head|body|\?xml)\b", re.IGNORECASE)
_TITLE = re.compile(rb"<title>([^<]*)</title>", re.IGNORECASE)
_EXECUTION = re.compile(rb'\s*\{\s*"(?:compile|run|language|version)"\s*:')
_MESSAGE_CHARS = 300
_EXCERPTS = reprlib.Repr()
_EXCERPTS.maxdict, _EXCERPTS.maxstring, _EXCERPTS.maxlong = 12, 100, 100
_FAULT_LINE_CHARS = 1 << 16  # longer than the line in which the runner reports a fault
_FAULT_CODE = 3  # the runner's exit code after such a line
_FAULTS = frozenset({"plan", "isolation", "limits", "system"})  # what the runner can name there
_ABSENT = ("No such file or directory", "Permission denied")
_END_LINE_CHARS = 400  # longer than the line with which it ends


def execution(status: int, body: bytes, *, output_bytes: int | None = None) -> Execution:
    """Read the answer to `POST /api/v2/execute`.

    Args:
        output_bytes: more stdout or stderr than this exceeds the output limit, even if the server allows more.

    Raises:
        RejectedError: the server will always refuse this request; `UnservedError` if another server may accept it.
        OverloadError: the server reports that it is too busy; `TooManyRequestsError` if it has not begun the job.
        TransientError: the server failed; `TransportError` if this is not an answer of Piston.
    """
    answer = _parse(status, body)
    if not isinstance(answer, dict) or "run" not in answer:
        raise TransportError(f"the answer has no `run`: {_message(answer, body)}")
    compiled = answer.get("compile")
    return Execution(
        run=_stage("run", answer["run"], output_bytes),
        compile=None if compiled is None else _stage("compile", compiled, output_bytes),
    )


def cut_execution(status: int, beginning: bytes) -> Execution:
    """Read an answer of which only the beginning is known, because it is longer than the job's output may be. Raises as
    `execution` does."""
    if status != 200:
        raise error_of(status, beginning)
    if not _EXECUTION.match(beginning):
        raise TransportError(f"the answer is too long, and not Piston's: {_message(None, beginning)}")
    return Execution(
        run=Stage(stdout="", stderr="", code=None, signal="SIGKILL", status="OL", message="output too long")
    )


@contextlib.contextmanager
def naming(server: object, kind: type[SandboxError] = SandboxError) -> Iterator[None]:
    """Put the name of a server before the message of an error of this kind."""
    try:
        yield
    except kind as error:
        raise type(error)(f"{server}: {error}") from error


def require_runner(execution: Execution, job: Job) -> None:
    """Check that an answer comes from the runner, and from this job's; and that its box lacked nothing, as on a machine
    without descriptors or disk space. (An absent command may be the job's own mistake.)

    A server may answer immediately, in Piston's format, but without the runner: its disk is full, or a proxy has mixed
    up answers. It would be given one job after the other, since it is always free. Servers since isolate answer when
    the process ends, sometimes before they have read all of its output. A job that was killed may have been stopped by
    a limit, so nothing is known of it. `jobs/runner_answer.py` checks the answer fully.
    """
    run = execution.run
    if job.kind is not JobKind.RUNNER or run.code is None:
        return
    if run.code == 0:
        tail = run.stdout[-_END_LINE_CHARS:]
        if '"end":true' not in tail:
            raise TransportError("the end of the answer was lost on the way")
        if job.nonce not in tail:
            raise TransportError("this is the answer to another job: was it mixed up by a proxy?")
        return
    fault = _fault(run)
    if fault is None or run.code != _FAULT_CODE:
        output = " ".join((run.stderr or run.stdout)[-_MESSAGE_CHARS:].split())
        raise TransportError(f"the runner was not started there, or crashed: exit code {run.code}, {output!r}")
    if job.nonce and fault.get("nonce") not in {job.nonce, ""}:
        raise TransportError("this is the answer to another job: was it mixed up by a proxy?")
    reason = str(fault.get("explanation", ""))
    if fault["fault"] == "system" and not reason.endswith(_ABSENT):
        raise TransientError(f"the box lacked something: {reason}")


def fault_of_worker(execution: Execution, kind: JobKind) -> tuple[str, str] | None:
    """Why the runner refuses its worker: the kind of fault (`isolation` or `limits`), and its explanation; `None` if it
    does not."""
    if kind is not JobKind.RUNNER or execution.run.code == 0:
        return None
    fault = _fault(execution.run)
    if fault is None or fault["fault"] not in {"isolation", "limits"}:
        return None
    return fault["fault"], str(fault.get("explanation", ""))


def _fault(run: Stage) -> dict[str, Any] | None:
    """The line in which the runner reports a fault; `None` if its last line is another one. This line has no checksum:
    one with a fault that the runner does not know was changed on the way."""
    last = json_of(run.stdout[-_FAULT_LINE_CHARS:].rstrip("\n").rpartition("\n")[2].encode())
    if not isinstance(last, dict) or "test" in last:
        return None
    are_texts = all(isinstance(last.get(key, ""), str) for key in ("fault", "nonce", "explanation"))
    return last if are_texts and last.get("fault") in _FAULTS else None


def runtimes(status: int, body: bytes) -> tuple[Runtime, ...]:
    """Read the answer to `GET /api/v2/runtimes`. Raises as `execution` does; UnservedError if it is not from a Piston
    server."""
    try:
        entries = _parse(status, body)
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise TransportError(f"the answer is not a list: {_message(entries, body)}")
    except SandboxError as error:
        if status not in _STATUSES_OF_OTHER_SERVERS or (status == 200 and not _PAGE.match(body)):
            raise
        path = "; check host, port and path (that of the API is usually /api/v2)" if status == 404 else ""
        raise UnservedError(f"not a Piston server: HTTP {status}: {_message(json_of(body), body)}{path}") from error
    return tuple(
        Runtime(
            language=_text(entry, "language"),
            version=_text(entry, "version"),
            aliases=_aliases(entry),
            package=None if entry.get("runtime") is None else _text(entry, "runtime"),
        )
        for entry in entries
    )


def changed_package(status: int, body: bytes) -> tuple[str, str]:
    """Read the answer to `POST` or `DELETE /api/v2/packages`: language and version. Raises as `execution` does."""
    if status == 500:  # here a 500 has a reason and is final: installed already, wrong checksum, …
        raise RejectedError(str(error_of(status, body)))
    answer = _parse(status, body)
    if not isinstance(answer, dict):
        raise TransportError(f"the answer does not name a package: {_message(answer, body)}")
    return _text(answer, "language"), _text(answer, "version")


def refused_ceiling(status: int, body: bytes) -> tuple[str, int] | None:
    """The limit that a server refused, and its maximum there, from its message; `None` if that says something else."""
    match = _CEILING.match(_message(json_of(body), body)) if status == 400 else None
    return (match[1], int(match[2])) if match else None


def is_too_large(status: int, body: bytes) -> bool:
    """Whether a request was refused because of its size. Piston answers 400, others 413."""
    return status == 413 or (status == 400 and _TOO_LARGE in _message(json_of(body), body))


def error_of(status: int, body: bytes) -> SandboxError:
    """The error for an answer with this status, with the server's message."""
    answer = json_of(body)
    message = _message(answer, body)
    advice = _ADVICE_FOR_STATUS.get(status) or next((_ADVICE[sign] for sign in _ADVICE if sign in message), "")
    where = f"HTTP {status}: {message}" + (f"; {advice}" if advice else "")
    if status in {429, 503} or (status >= 500 and any(sign in message for sign in _OVERLOAD)):
        return (TooManyRequestsError if status == 429 else OverloadError)(where)
    if status == 408 or status in {502, 504} or (status >= 500 and body and answer is None):
        return TransportError(where)
    if status >= 500:
        return TransientError(where if body else f"HTTP {status}: {_NOTHING_STARTED}")
    if status in _REFUSALS and isinstance(answer, dict):
        refused = UnknownRuntimeError if message.endswith(_UNKNOWN_RUNTIME) else RejectedError
        return (OversizedError if _TOO_LARGE in message else refused)(where)
    if status >= 300:
        return (OversizedError if status == 413 else UnservedError)(where)
    return TransportError(f"unexpected {where}")


def asked_wait_s(retry_after: str, date: str) -> float:
    """How long a server asks its clients to wait: the header `Retry-After`, in seconds, or a time on the clock of its
    header `Date`. 0 if it does not say so in this way. Source: RFC 9110, 10.2.3."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        until, now = (parsedate_to_datetime(text).replace(tzinfo=None) for text in (retry_after, date))
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, (until - now).total_seconds())


def tls_advice(message: str) -> str:
    """What to do about a message of OpenSSL's, to be put behind it; empty for other messages."""
    return next((f"; {advice}" for sign, advice in _TLS_ADVICE.items() if sign in message), "")


def redirection(location: str) -> bytes:
    """The body that stands for a redirection, which is not followed: it says where to.

    The address is that of the API, so that it can be named as an endpoint. The query is left out: a page for logins has
    secrets there. The address may be any text, also in Latin-1, which aiohttp reads as surrogates.
    """
    base = re.sub("/(?:runtimes|execute)$", "", re.split("[?#]", location, maxsplit=1)[0])
    to = without_login(base).encode("utf-8", "replace").decode()
    return orjson.dumps({"message": f"it redirects to {to}; if that is the server, name it as the endpoint"})


def _parse(status: int, body: bytes) -> Any:
    if status != 200:
        raise error_of(status, body)
    if not body.strip():
        raise TransportError("the answer is empty (HTTP 200), as from a proxy that has lost it")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise TransportError(f"the answer is not JSON ({error}): {_message(None, body)}") from error


def json_of(body: bytes) -> Any:
    """The value of a body in JSON; `None` if it is not JSON."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def _message(answer: Any, body: bytes) -> str:
    """The server's message in one line: its `message`, the first line of its `stack`, the title of a web page, else the
    start of the body."""
    if isinstance(answer, dict):
        message = answer.get("message") or answer.get("stack")
        if isinstance(message, str):
            return message.split("\n", 1)[0][:_MESSAGE_CHARS]
        if not answer:
            return "no reason given (a null file?)"
    if _PAGE.match(body):
        title = _TITLE.search(body)
        named = " ".join(title[1].decode("utf-8", "replace").split())[:80] if title else ""
        return f"a web page, {named!r}" if named else "a web page"
    return " ".join(body[:_MESSAGE_CHARS].decode("utf-8", "replace").split()) or "no reason given"


def _excerpt(value: Any) -> str:
    """The beginning of a value that is not what it should be. (`repr` fails for lists that are nested deeply.)"""
    return _EXCERPTS.repr(value)[:_MESSAGE_CHARS]


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise TransportError(f"{key!r} of the answer is not a string: {_excerpt(entry)}")
    return value


def _aliases(entry: dict[str, Any]) -> tuple[str, ...]:
    names = entry.get("aliases") or []
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise TransportError(f"'aliases' of the answer is not a list of strings: {_excerpt(entry)}")
    return tuple(names)


def _stage(name: str, value: Any, output_bytes: int | None) -> Stage:
    """One stage, every field checked: malformed answers must not become scores."""
    if not isinstance(value, dict):
        raise TransportError(f"{name!r} of the answer is not an object: {_excerpt(value)}")
    _check_types(name, value)
    stdout, stderr, code, signal = value["stdout"], value["stderr"], value["code"], value.get("signal")
    status, message = value.get("status"), value.get("message")
    wall_ms, memory = value.get("wall_time"), value.get("memory")
    if status == "XX":
        failure = f"the server's sandbox failed: {message or 'no reason given'}"
        raise OverloadError(failure) if any(sign in failure for sign in _OVERLOAD) else TransientError(failure)
    if "wall_time" in value and (code, signal, status, wall_ms) == (None, None, None, None):
        why = _message(None, stderr.encode()) if stderr.strip() else _NO_REPORT
        raise TransientError(f"the server's isolate reports nothing: {why}")
    if output_bytes is not None and (len(stdout) > output_bytes or len(stderr) > output_bytes):
        stdout, stderr, code, signal = stdout[:output_bytes], stderr[:output_bytes], None, "SIGKILL"
        status, message = "OL", f"more than {output_bytes} bytes of output"
    return Stage(
        stdout=stdout,
        stderr=stderr,
        code=code,
        signal=signal,
        status=status,
        message=message,
        cpu_ms=value.get("cpu_time"),
        wall_ms=wall_ms,
        memory_bytes=None if memory is None else int(memory),
    )


def _check_types(name: str, stage: dict[str, Any]) -> None:
    if not isinstance(stage.get("stdout"), str) or not isinstance(stage.get("stderr"), str):
        raise TransportError(f"stdout or stderr of the answer's {name!r} is not a string: {_excerpt(stage)}")
    code = stage.get("code", ...)
    if code is not None and type(code) is not int:
        raise TransportError(f"the exit code of the answer's {name!r} is {_excerpt(code)}, not an integer")
    for text in map(stage.get, ("signal", "status", "message")):
        if text is not None and not isinstance(text, str):
            raise TransportError(f"the answer's {name!r} has {_excerpt(text)} where a string is needed")
    for number in map(stage.get, ("cpu_time", "wall_time", "memory")):
        if number is not None and type(number) not in (int, float):
            raise TransportError(f"the answer's {name!r} has {_excerpt(number)} where a number is needed")
