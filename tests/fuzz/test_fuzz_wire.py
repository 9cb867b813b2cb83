"""Requests are sent unchanged; answers of servers are checked before they are used."""

from __future__ import annotations

import base64
import json
import math

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import RejectedError, SandboxError
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston import answer, wire
from ioi_eval.sandbox.piston.literals import literal
from tests.fuzz.budget import damaged, fuzzed, json_values, mutated
from tests.sandbox.arrived_files import arrived

STAGE = {
    "stdout": "a", "stderr": "b", "output": "ab", "code": 0, "signal": None, "memory": 1000, "message": None,
    "status": None, "cpu_time": 1.5, "wall_time": 2,
}  # fmt: skip
EXECUTION = {"run": STAGE, "compile": STAGE | {"code": 1}, "language": "bash", "version": "5.2.0"}
RUNTIMES = [{"language": "c++", "version": "10.2.0", "aliases": ["cpp"], "runtime": "gcc"}]
LIMITS = StageLimits(wall_ms=1000, cpu_ms=1000)

odd_names = ["a", "packed", "a.deflated", "a/b", "../x", "/x", "a//b", ".", "run", "compile", "$(id)", "-rf", "a b"]
names = st.one_of(st.text(min_size=1, max_size=12), st.sampled_from(odd_names))
files_of_jobs = st.lists(st.tuples(names, st.binary(max_size=50), st.booleans()), max_size=5)
statuses = st.sampled_from([200, 200, 200, 204, 301, 400, 404, 429, 500, 503])


@fuzzed
@given(st.binary(max_size=400))
def test_literals_are_exact(content: bytes) -> None:
    """The server's decoding gives back the original bytes, for all bytes."""
    sent = literal(content)
    text = json.loads(sent.whole())
    assert (text.encode() if sent.encoding == "utf8" else base64.b64decode(text)) == content


@fuzzed
@given(
    st.lists(st.tuples(names, st.binary(max_size=50), st.booleans()), max_size=5),
    st.lists(st.text(max_size=9), max_size=3),
)
def test_bodies_of_requests(files: list[tuple[str, bytes, bool]], args: list[str]) -> None:
    """Unusual names and contents are refused with a message, or arrive unchanged."""
    job = Job(
        kind=JobKind.RUNNER,
        files=tuple(JobFile(name=name, content=content, executable=flag) for name, content, flag in files),
        args=tuple(args),
        run_limits=LIMITS,
    )
    try:
        sent = wire.sent_files(job, wire.Starter.IOI_EVAL)
        literals = [literal(file.content) for file in sent if isinstance(file.content, bytes)]
        body = wire.body(job, wire.InstalledStarter(starter=wire.Starter.IOI_EVAL, version="1"), sent, literals)
    except RejectedError:
        return
    raw = b"".join(part for part in body.segments if isinstance(part, bytes))
    assert len(raw) == body.size
    request = json.loads(raw)
    assert request["args"] == args
    assert arrived(request) == {file.name: file.content for file in sent}
    assert all(not file["name"].startswith("/") and ".." not in file["name"].split("/") for file in request["files"])


def answers(whole: object) -> st.SearchStrategy[bytes]:
    """Answers of a server with damaged values and damaged bytes."""
    return damaged(whole).map(lambda value: json.dumps(value).encode()).flatmap(mutated)


@fuzzed
@given(
    st.sampled_from([200, 200, 200, 204, 301, 400, 404, 429, 500, 503]),
    answers(EXECUTION),
    st.sampled_from([None, 0, 10]),
)
def test_executions(status: int, body: bytes, output_bytes: int | None) -> None:
    """The answer gives an execution with valid stages, or a sandbox error."""
    try:
        got = answer.execution(status, body, output_bytes=output_bytes)
    except SandboxError:
        return
    for stage in (got.run, got.compile):
        if stage is None:
            continue
        assert isinstance(stage.stdout, str)
        assert isinstance(stage.stderr, str)
        assert stage.code is None or type(stage.code) is int
        for number in (stage.cpu_ms, stage.wall_ms, stage.memory_bytes):
            assert number is None or math.isfinite(number)


@fuzzed
@given(st.sampled_from([200, 200, 400, 500]), answers(RUNTIMES))
def test_runtimes(status: int, body: bytes) -> None:
    """The answer gives a list of runtimes with names, or a sandbox error."""
    try:
        entries = answer.runtimes(status, body)
    except SandboxError:
        return
    assert all(isinstance(entry.language, str) and isinstance(entry.version, str) for entry in entries)


@fuzzed
@given(st.integers(100, 599), json_values, st.binary(max_size=50))
def test_refusals_are_sandbox_errors(status: int, value: object, raw: bytes) -> None:
    """All refusals of a server give one of our errors with a message."""
    for body in (json.dumps(value).encode(), raw):
        assert str(answer.error_of(status, body))
