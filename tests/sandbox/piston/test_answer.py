"""Answers that are not among the recordings of real servers: malformed ones, those of proxies, overload."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ioi_eval.errors import (
    OverloadError,
    OversizedError,
    RejectedError,
    TooManyRequestsError,
    TransientError,
    TransportError,
    UnknownRuntimeError,
    UnservedError,
)
from ioi_eval.model import Job, JobKind, StageLimits
from ioi_eval.sandbox.piston import answer

STAGE: dict[str, Any] = {"stdout": "1\n", "stderr": "", "output": "1\n", "code": 0, "signal": None}
JOB = Job(kind=JobKind.RUNNER, files=(), run_limits=StageLimits(wall_ms=1000, cpu_ms=1000))
HTML = b"<html><head><title>502 Bad Gateway</title></head></html>"


NESTED = "[" * 1000 + "]" * 1000  # Python's `repr` fails for it


def body(run: object, **more: object) -> bytes:
    """An answer with this run stage."""
    return json.dumps({"run": run, "language": "bash", "version": "5.2.0", **more}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b'"ok"',
        b"{}",
        b'{"run": {"stdout": "1',
        HTML,
        json.dumps({"message": "queue full"}).encode(),
        body(None),
        body("1\n"),
        body([STAGE]),
        body({**STAGE, "stdout": None}),
        body({**STAGE, "stdout": 1}),
        body({**STAGE, "stderr": ["x"]}),
        body({key: value for key, value in STAGE.items() if key != "stdout"}),
        body({key: value for key, value in STAGE.items() if key != "code"}),
        body({**STAGE, "code": "0"}),
        body({**STAGE, "code": False}),
        body({**STAGE, "code": 0.5}),
        body({**STAGE, "signal": 9}),
        body({**STAGE, "status": {}}),
        body({**STAGE, "memory": "1 MB"}),
        body({**STAGE, "cpu_time": True}),
        body(STAGE, compile=[]),
        body(STAGE, compile={"code": 0}),
        b'{"run": %b}' % NESTED.encode(),
        *(
            body({**STAGE, key: "NESTED"}).replace(b'"NESTED"', NESTED.encode())
            for key in ("stdout", "code", "signal", "memory")
        ),
    ],
)
def test_answers_of_another_shape(content: bytes) -> None:
    """An answer with another shape than Piston's is a TransportError, whatever its status is."""
    with pytest.raises(TransportError):
        answer.execution(200, content)


def test_compile_stage_may_be_null() -> None:
    """An absent compile stage may be null."""
    assert answer.execution(200, body(STAGE, compile=None)).compile is None


@pytest.mark.parametrize(
    ("status", "content", "error"),
    [
        (429, b'{"message": "slow down"}', TooManyRequestsError),
        (503, b"", OverloadError),
        (500, b'{"message": "spawn EAGAIN"}', OverloadError),
        (500, b'{"message": "fork: Resource temporarily unavailable"}', OverloadError),
        (500, b"", TransientError),
        (500, b'{"message": "no such box"}', TransientError),
        (500, HTML, TransportError),
        (502, HTML, TransportError),
        (504, b"", TransportError),
        (408, b"", TransportError),
        (204, b"", TransportError),
        (301, b"", UnservedError),
        (404, HTML, UnservedError),
        (400, b'{"message": "ioi_eval-* runtime is unknown"}', UnknownRuntimeError),
        (400, b'{"message": "the word Resource temporarily unavailable in a refusal"}', RejectedError),
        (400, HTML, UnservedError),
        (400, b"Bad Request", UnservedError),
        (400, b'{"message": "compile_ti', UnservedError),
        (401, b'{"message": "whitelist only"}', UnservedError),
        (403, HTML, UnservedError),
        (413, b'{"message": "body over 1 MB"}', OversizedError),
    ],
)
def test_status_decides_the_error(status: int, content: bytes, error: type[Exception]) -> None:
    """Each HTTP status gives exactly one type of error, not a subtype of it."""
    with pytest.raises(error) as raised:
        answer.execution(status, content)
    assert type(raised.value) is error
    assert f"HTTP {status}" in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "wait_s"),
    [
        ("", 0.0),
        ("0", 0.0),
        ("120", 120.0),
        ("9" * 400, float("inf")),
        ("Mon, 30 Nov 2026 10:01:30 GMT", 90.0),
        ("Mon, 30 Nov 2026 09:00:00 GMT", 0.0),
        ("Monday, 30-Nov-26 10:01:30 GMT", 90.0),
        ("Mon, 30 Nov 99999 10:00:00 GMT", 0.0),
        (f"Mon, 30 Nov {'9' * 30} 10:00:00 GMT", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
        ("²", 0.0),
    ],
)
def test_how_long_a_server_asks_to_wait(asked: str, wait_s: float) -> None:
    """In seconds, or until a time of the server's own clock. What is neither asks for nothing."""
    assert answer.asked_wait_s(asked, "Mon, 30 Nov 2026 10:00:00 GMT") == wait_s
    assert answer.asked_wait_s("Mon, 30 Nov 2026 10:01:30 GMT", "") == 0.0, "its clock is not known"


@pytest.mark.parametrize(
    ("status", "setting"),
    [(401, "needs the right user:password@ before"), (413, "client_max_body_size"), (504, "proxy_read_timeout")],
)
def test_answers_of_proxies_have_advice(status: int, setting: str) -> None:
    """The message about what proxies often answer names the setting to change."""
    assert setting in str(answer.error_of(status, HTML))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("stage", ["run", "compile"])
@pytest.mark.parametrize("words", ["Resource temporarily unavailable", "EAGAIN", "queue is full", "Compilation error"])
def test_output_of_programs_does_not_count_as_overload(stage: str, stream: str, words: str) -> None:
    """If a program or compiler prints the message of an overloaded server, the answer is still an execution."""
    stages = {"run": STAGE, "compile": {**STAGE, "code": 1}}
    stages[stage] = {**stages[stage], stream: words}
    execution = answer.execution(200, body(stages["run"], compile=stages["compile"]))
    assert words in getattr(getattr(execution, stage), stream)


def test_a_failure_of_isolate_is_not_an_execution() -> None:
    """Status XX is a failure of the server's sandbox. If it has no more processes, that is overload."""
    broken = {
        **STAGE,
        "code": None,
        "status": "XX",
        "message": "Cannot run proxy, clone failed: Cannot allocate memory",
    }
    with pytest.raises(TransientError, match="clone failed") as raised:
        answer.execution(200, body(broken))
    assert not isinstance(raised.value, OverloadError)
    busy = {**broken, "message": "Cannot run proxy, clone failed: Resource temporarily unavailable"}
    with pytest.raises(OverloadError):
        answer.execution(200, body(busy))


@pytest.mark.parametrize("stage", ["compile", "run"])
def test_a_stage_that_isolate_did_not_start(stage: str) -> None:
    """A real server answers a memory limit of 2^45 bytes with HTTP 200, isolate's message and nulls: not a verdict."""
    nulls = dict.fromkeys(("code", "signal", "memory", "message", "status", "cpu_time", "wall_time"))
    words = "Numeric parameter out of range: 35184372088\n"
    refused = {"stdout": "Usage: isolate [<options>] <command>\n", "stderr": words, "output": words, **nulls}
    whole = body(refused) if stage == "run" else body(STAGE, compile=refused)
    with pytest.raises(TransientError, match=r"isolate reports nothing: Numeric parameter out of range: 35184372088"):
        answer.execution(200, whole)


def test_a_stage_whose_report_could_not_be_written() -> None:
    """A real server whose /tmp is full answers with the output and nulls. Its output is no reason."""
    nulls = dict.fromkeys(("code", "signal", "memory", "message", "status", "cpu_time", "wall_time"))
    unreported = body({"stdout": "a line of the runner\n", "stderr": "", "output": "a line of the runner\n", **nulls})
    with pytest.raises(TransientError, match=r"isolate reports nothing: .* \(is the server's /tmp full\?\)") as raised:
        answer.execution(200, unreported)
    assert "a line of the runner" not in str(raised.value)


def test_output_over_the_jobs_own_limit() -> None:
    """Output over the job's limit gets the status OL, even if the server allows it."""
    execution = answer.execution(200, body({**STAGE, "stdout": "x" * 101}), output_bytes=100)
    assert (execution.run.code, execution.run.signal, execution.run.status) == (None, "SIGKILL", "OL")
    assert answer.execution(200, body({**STAGE, "stdout": "x" * 100}), output_bytes=100).run.code == 0


def test_messages_of_refusals_are_short() -> None:
    """Only the first line of a stack trace is kept, and an HTML page is shortened."""
    stack = json.dumps({"stack": "PayloadTooLargeError: request entity too large\n    at readStream (x.js:1)"}).encode()
    assert "\n" not in str(answer.error_of(400, stack))
    assert len(str(answer.error_of(502, HTML * 1000))) < 400


def test_an_answer_that_is_not_json_is_quoted() -> None:
    """The message says so, and has the beginning of the answer."""
    with pytest.raises(TransportError, match=r"not JSON \(.*\): Bad gateway$"):
        answer.execution(200, b"Bad gateway")


@pytest.mark.parametrize("content", [b"", b"\r\n"])
def test_an_empty_answer(content: bytes) -> None:
    """The message says that the answer is empty, not where a parser failed."""
    for read in (answer.execution, answer.runtimes, answer.changed_package):
        with pytest.raises(TransportError, match=r"^the answer is empty \(HTTP 200\), as from a proxy"):
            read(200, content)


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"[1]",
        b'[{"language": "bash"}]',
        b'[{"language": 1, "version": "1"}]',
        b'[{"language": %b}]' % NESTED.encode(),
        b'[{"language": "bash", "version": "1", "aliases": %b}]' % NESTED.encode(),
    ],
)
def test_runtimes_of_another_shape(content: bytes) -> None:
    """A list of runtimes with another shape is a TransportError: another kind of server answers there."""
    with pytest.raises(TransportError):
        answer.runtimes(200, content)


@pytest.mark.parametrize("status", [200, 302, 404, 405])
def test_a_web_server_without_runtimes(status: int) -> None:
    """The message has the title of the page, without HTML. A proxy whose worker is away is another error."""
    page = b"<!DOCTYPE html>\n<html lang=en><title>\n  Welcome to\n  nginx!</title><body>\n<p>Hello</p>"
    with pytest.raises(UnservedError) as raised:
        answer.runtimes(status, page)
    shown, _, advice = str(raised.value).partition("; ")
    assert shown == f"not a Piston server: HTTP {status}: a web page, 'Welcome to nginx!'"
    assert ("usually /api/v2" in advice) == (status == 404)
    with pytest.raises(TransportError, match=r"^HTTP 502: a web page, '502 Bad Gateway'$"):
        answer.runtimes(502, HTML)


def test_package_failures_are_final() -> None:
    """The failure of a package command has the server's reason and is not a transient error."""
    with pytest.raises(RejectedError, match="Already installed"):
        answer.changed_package(500, b'{"message": "Already installed"}')


@pytest.mark.parametrize(
    "line",
    [
        '{"fault":[]}',
        '{"fault":"system","nonce":[]}',
        '{"fault":null}',
        f'{{"fault":"system","nonce":"","explanation":{NESTED}}}',
        '{"fault":"s7stem","nonce":"","explanation":"less than 128 MiB are free"}',
    ],
)
def test_a_fault_of_another_shape_is_a_lost_answer(line: str) -> None:
    """A broken server sent it, or it was changed on the way: the runner writes texts, and names four faults."""
    execution = answer.execution(200, json.dumps({"run": STAGE | {"stdout": line, "code": 3}}).encode())
    assert answer.fault_of_worker(execution, JobKind.RUNNER) is None
    with pytest.raises(TransportError, match="not started there, or crashed"):
        answer.require_runner(execution, JOB)
