"""Malicious clients: slow ones, web pages in a browser, foreign runners, texts that are not valid Unicode."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.serve.server import ServerSettings
from tests.sandbox.served import Served, server

HEAD = b"POST /api/v2/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"


@contextmanager
def connection(served: Served, sent: bytes) -> Iterator[socket.socket]:
    """A connection on which these bytes were sent."""
    url = served.client.base_url
    with socket.create_connection((url.host, url.port or 80)) as opened:
        opened.sendall(sent)
        yield opened


def read_until_closed(opened: socket.socket) -> bytes:
    """All bytes that the server sends until it closes the connection."""
    received = b""
    try:
        while piece := opened.recv(4096):
            received += piece
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("sent", [b"", b"POST /api", HEAD, HEAD + b"\r\n{"], ids=["none", "line", "head", "body"])
def test_slow_clients_do_not_fill_the_queue(cache: Path, sent: bytes) -> None:
    """Only complete requests count for the queue: 40 slow clients do not keep a job from running."""
    settings = ServerSettings(queue=1, silent_s=600, transfer_s=600)
    with server(cache, slots=1, settings=settings) as one, ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connection(one, sent))
        assert one.bash("echo hi")["stdout"] == "hi\n"


def test_connections_without_a_request_are_closed(cache: Path) -> None:
    """A connection without a complete request is closed, also if it sends single bytes, or had a request before."""
    with server(cache, settings=ServerSettings(silent_s=0.5)) as one:
        for sent in (b"", b"POST /api", HEAD, b"GET /api/v2/runtimes HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with connection(one, sent) as opened:
                assert (b"200 OK" in read_until_closed(opened)) == sent.startswith(b"GET")
        with connection(one, HEAD) as opened:
            opened.settimeout(0.1)
            send_slowly_until_closed(opened)


def send_slowly_until_closed(opened: socket.socket) -> None:
    """Send single bytes until the server has closed the connection."""
    while True:
        try:
            opened.sendall(b"X")
            if not opened.recv(1):
                return
        except TimeoutError:
            continue
        except OSError:
            return


def test_an_incomplete_body_is_a_408(cache: Path) -> None:
    """After the 408, the connection is closed."""
    with server(cache, settings=ServerSettings(silent_s=0.5, transfer_s=0.5)) as one:
        with connection(one, HEAD + b"\r\n{") as opened:
            received = read_until_closed(opened)
        assert received.startswith(b"HTTP/1.1 408 ")
        assert b"only 1 bytes of the request came" in received
        assert one.bash("echo hi")["stdout"] == "hi\n"


def test_an_answer_that_is_not_read_is_discarded(cache: Path) -> None:
    """A large answer counts as held memory until it is discarded. Until then, other requests get 503."""
    settings = ServerSettings(silent_s=1, transfer_s=1, least_rate=1 << 30, held_bytes=20_000_000)
    body = {"language": "bash", "version": "*", "files": [{"content": "head -c 30000000 /dev/zero | tr '\\0' x"}]}
    text = json.dumps(body).encode()
    head = HEAD.replace(b"100", str(len(text)).encode())
    with server(cache, settings=settings) as one, connection(one, head + b"\r\n" + text) as opened:
        opened.recv(1)
        while one.execute(files=[{"content": "echo hi"}]).status_code == 503:
            pass
        assert len(read_until_closed(opened)) < 30_000_000


def test_connections_without_a_request_are_limited(cache: Path) -> None:
    """If there are too many connections without a request, the oldest ones are closed. Jobs still run."""
    with server(cache, settings=ServerSettings(unserved=8, silent_s=600)) as one, ExitStack() as stack:
        opened = [stack.enter_context(connection(one, HEAD)) for _ in range(30)]
        for early in opened[:20]:
            assert read_until_closed(early) == b""
        assert one.bash("echo hi")["stdout"] == "hi\n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "attacker.example"}, 403),
        ({"Host": "attacker.example:2000"}, 403),
        ({"Host": "localhost.attacker.example"}, 403),
        ({"Host": "127.0.0.1.attacker.example"}, 403),
        ({"Host": "[::1"}, 200),
        ({"Host": "[::1]:2000"}, 200),
        ({"Host": "LocalHost"}, 200),
        ({"Host": "192.0.2.7:80"}, 200),
        ({"Host": socket.gethostname()}, 200),
        ({"Host": "localhost:1", "Origin": "http://attacker.example"}, 403),
        ({"Host": "localhost:1", "Origin": "null"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:2"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200),
        ({"Host": "worker.example"}, 200),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/runtimes"), ("POST", "/execute"), ("POST", "/packages")])
def test_requests_of_foreign_web_pages_are_refused(
    named: Served, headers: dict[str, str], status: int, method: str, path: str
) -> None:
    """Requests with a foreign `Host` or `Origin` get 403 on all routes."""
    response = named.client.request(method, path, headers=headers, json={} if method == "POST" else None)
    assert (response.status_code == 403) == (status == 403)
    if status == 403:
        assert "--allow-host" in response.json()["message"]


@pytest.fixture(scope="module")
def named(cache: Path) -> Iterator[Served]:
    """A server with an allowed host name."""
    with server(cache, settings=ServerSettings(names=frozenset({"worker.example"}))) as one:
        yield one


MEMORY = """#!/usr/bin/python3
print(open("/proc/self/status").read())
taken = bytearray(1 << 28)
print("unlimited")
"""


@pytest.mark.parametrize("started", [[], ["--dir", "."]])
def test_a_foreign_runner_is_an_ordinary_program(served: Served, started: list[str]) -> None:
    """A runner that is not ours is not root, has no capabilities, and has the request's memory limit."""
    files = [
        {"name": "run", "content": 'exec ./runner "$@"\n'},
        {"name": "plan", "content": "x"},
        {"name": "runner", "content": base64.b64encode(MEMORY.encode()).decode(), "encoding": "base64"},
    ]
    run = served.execute(language="ioi_eval", files=files, args=started, run_memory_limit=64 << 20).json()["run"]
    assert "unlimited" not in run["stdout"]
    assert run["signal"] == "SIGKILL"
    free = served.execute(language="ioi_eval", files=files, args=started).json()["run"]
    assert "unlimited" in free["stdout"]
    assert "Uid:\t1000\t1000" in free["stdout"]
    assert "CapEff:\t0000000000000000" in free["stdout"]


@pytest.mark.parametrize(
    ("stated", "limit", "refused"),
    [
        ("memory_bytes=2500000000", 64 << 20, "memory_bytes is 2500000000, run_memory_limit is 67108864; raise that"),
        ("memory_bytes=2500000000", 1 << 33, ""),
        ("memory_bytes=2500000000", -1, ""),
        ("memory_bytes=9500000000", -1, "memory_bytes is 9500000000, run_memory_limit is 8589934592; raise that"),
        ("output_bytes=70368744177664", 1 << 33, "output_bytes is 70368744177664, run_memory_limit is 8589934592"),
        ("file_bytes=2500000000", 64 << 20, "file_bytes is 2500000000, run_memory_limit is 67108864"),
        ("memory_bytes=%3268435456", 64 << 20, "memory_bytes is %3268435456; it must be decimal digits"),
        ("memory_bytes=" + "9" * 50, 1 << 33, "memory_bytes is " + "9" * 20 + ", run_memory_limit"),
    ],
)
def test_a_plan_must_not_exceed_the_request_s_memory_limit(
    served: Served, stated: str, limit: int, refused: str
) -> None:
    """Our runner enforces the plan's limits, so a plan over the request's limit is refused. Without a limit in the
    request (-1 in Piston), our own for such requests applies.
    """
    files = [
        {"name": "run", "content": "exec ./runner --dir ."},
        {"name": "plan", "content": f"ioi-eval-runner 1\nchecker protocol=cms {stated}\nend\n"},
        {
            "name": "runner",
            "content": base64.b64encode(served.runner.path.read_bytes()).decode(),
            "encoding": "base64",
        },
    ]
    answer = served.execute(language="ioi_eval", files=files, run_memory_limit=limit)
    assert answer.status_code == (400 if refused else 200)
    assert refused in answer.json().get("message", "")


@pytest.mark.parametrize(
    ("stated", "refused"),
    [
        ("processes=64 threads=64", ""),
        ("processes=1 threads=5000", "more than 4096 processes and threads"),
        ("processes=64 threads=65", "more than 4096 processes and threads"),
        ("processes=0 processes=64 threads=65", "more than 4096 processes and threads"),
        ("threads=%35000", "must be decimal digits"),
        ("processes=" + "9" * 5000, "must be decimal digits"),
    ],
)
def test_a_plan_must_not_allow_too_many_processes(served: Served, stated: str, refused: str) -> None:
    """One job could use up the machine's process ids, and programs of other clients could start no threads."""
    files = [
        {"name": "run", "content": "exec ./runner --dir ."},
        {"name": "plan", "content": f"ioi-eval-runner 1\nlimits cpu_ms=1 {stated}\nend\n"},
        {
            "name": "runner",
            "content": base64.b64encode(served.runner.path.read_bytes()).decode(),
            "encoding": "base64",
        },
    ]
    answer = served.execute(language="ioi_eval", files=files)
    assert answer.status_code == (400 if refused else 200)
    assert refused in answer.json().get("message", "")


FILE = {"name": "main.sh", "content": "echo hi"}
LONE = "\ud800"


@pytest.mark.parametrize(
    "changes",
    [
        {"language": LONE},
        {"version": LONE},
        {"version": "9" * 5_000},
        {"files": [{"name": LONE, "content": "x"}]},
        {"files": [FILE, {"name": f"a{LONE}", "content": "x"}]},
        {"files": [FILE | {"encoding": LONE}]},
        {"files": [FILE | {"name": "../x"}]},
        {"files": [FILE, {"name": "x" * 300, "content": ""}]},
        {"files": [FILE, {"name": "/".join("a" * 2_000), "content": ""}]},
        {"files": [FILE, {"name": "a\0b", "content": ""}]},
        {"files": [FILE, {"name": "a/b", "content": ""}, {"name": "a", "content": ""}]},
        {"files": [FILE, {"name": "--help", "content": ""}]},
        {"files": [FILE, {"name": "/proc/self/mem", "content": ""}]},
        {"files": [FILE, {"name": ".", "content": ""}]},
        {"files": [FILE] * 5_000},
        {"args": [LONE, "\udcff"]},
        {"args": ["x" * 1_000_000]},
        {"args": ["x"] * 10_000},
        {"args": [[[[]]]]},
        {"args": {"a": 1}},
        {"stdin": LONE},
        {"stdin": 10**400},
        {"run_timeout": 10**400},
        {"run_memory_limit": 10**400},
        {"run_memory_limit": 1e300},
        {"run_memory_limit": 2**63},
        {"run_memory_limit": 0.1},
        {"run_timeout": 1e-9},
        {"run_cpu_time": 0.5},
        {"compile_memory_limit": -(10**400)},
    ],
    ids=lambda changes: json.dumps(changes)[:40],
)
@pytest.mark.parametrize("language", ["bash", "ioi_eval", "cms_ioi"])
def test_unusual_requests_get_an_answer(served: Served, changes: dict[str, Any], language: str) -> None:
    """Unusual requests are served, or refused as on Piston; they cause no exception in the server."""
    body = {"language": language, "version": "*", "files": [FILE]} | changes
    headers = {"Content-Type": "application/json"}
    response = served.client.post("/execute", content=json.dumps(body).encode(), headers=headers)
    assert response.status_code in {200, 400, 500}
    assert response.headers.get("content-type", "").startswith("application/json") or not response.content
    packages = {"language": body["language"], "version": body["version"]}
    removed = served.client.request("DELETE", "/packages", content=json.dumps(packages).encode(), headers=headers)
    assert removed.headers["content-type"].startswith("application/json")


@pytest.mark.parametrize("text", ['{"run_memory_limit": 1e999}', '{"args": NaN}', "[" * 1_000_000, '{"a":' * 100_000])
def test_texts_that_no_json_encoder_writes(served: Served, text: str) -> None:
    """Texts that no JSON encoder writes get a 400 with an answer."""
    response = served.client.post("/execute", content=text.encode(), headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()
    changed = served.client.post("/packages", content=text.encode(), headers={"Content-Type": "application/json"})
    assert changed.headers["content-type"].startswith("application/json")


def test_an_announced_body_is_asked_for_unless_it_is_too_large(cache: Path) -> None:
    """A client that sends `Expect: 100-continue` is told to go on, or gets the refusal before it sends the body."""
    announced = HEAD + b"Expect: 100-continue\r\nConnection: close\r\n\r\n"
    with server(cache, settings=ServerSettings(body_bytes=200)) as one:
        with connection(one, announced) as opened:
            assert opened.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
            opened.sendall(b"{}".rjust(100))
            assert b"language is required as a string" in read_until_closed(opened)
        with connection(one, announced.replace(b"Length: 100", b"Length: 300")) as opened:
            assert b"PayloadTooLargeError" in read_until_closed(opened)
