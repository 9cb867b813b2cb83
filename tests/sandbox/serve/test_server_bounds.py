"""The server's limits: large bodies, full queues, clients that disconnect, invalid HTTP."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import secrets
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from ioi_eval.errors import IsolationError
from ioi_eval.model import Isolation
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.serve import json_bodies
from ioi_eval.sandbox.serve.server import ServerSettings, serving
from tests.sandbox.marked_processes import processes_with
from tests.sandbox.served import Served, server


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most until the test's timeout."""
    while not holds():
        time.sleep(0.02)


@pytest.mark.parametrize("chunked", [False, True])
def test_compressed_and_chunked_requests(served: Served, chunked: bool) -> None:
    """A body with gzip is accepted, with a length or chunked. A body that is not gzip is a 400."""
    body = gzip.compress(json.dumps({"language": "bash", "version": "*", "files": [{"content": "echo hi"}]}).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    def pieces() -> Iterator[bytes]:
        yield body[:20]
        yield body[20:]

    response = served.client.post("/execute", content=pieces() if chunked else body, headers=headers)
    assert response.json()["run"]["stdout"] == "hi\n"
    response = served.client.post("/execute", content=b"not gzip", headers=headers)
    assert (response.status_code, set(response.json())) == (400, {"stack"})


def test_a_small_body_is_not_unpacked_in_the_event_loop(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 kB may unpack to 64 MiB. If the event loop did that, other clients would wait 0.15 s for each such request."""
    unpack, in_loop = json_bodies.unpack, []

    def watched(body: bytes, encoding: str, most: int) -> bytes:
        in_loop.append(asyncio._get_running_loop() is not None)
        return unpack(body, encoding, most)

    monkeypatch.setattr(json_bodies, "unpack", watched)
    body = gzip.compress(b" " * (60 << 20))
    assert len(body) < 64_000
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    with server(cache) as one:
        assert one.client.post("/execute", content=body, headers=headers).status_code == 400
    assert in_loop == [False]


def test_bodies_are_bounded(cache: Path) -> None:
    """A body over the limit is refused as by Piston, with a length, chunked or compressed. The server still works."""
    with server(cache, settings=ServerSettings(body_bytes=100_000)) as small:
        fitting = {"language": "bash", "version": "*", "files": [{"content": "echo"}, {"content": "x" * 99_000}]}
        large = fitting | {"stdin": "x" * 5_000_000}
        plain = {"Content-Type": "application/json"}
        packed = plain | {"Content-Encoding": "gzip"}
        large_body = json.dumps(large).encode()
        for content, headers in ((large_body, plain), (iter([large_body]), plain), (gzip.compress(large_body), packed)):
            response = small.client.post("/execute", content=content, headers=headers)
            assert response.status_code == 400
            assert response.json()["stack"].startswith("PayloadTooLargeError: request entity too large")
        assert small.client.post("/execute", json=fitting).status_code == 200


def test_the_queue_is_bounded(cache: Path) -> None:
    """One job runs and one waits; the third gets 503 with `Retry-After`. The first two are answered."""
    mark = f"mark-{secrets.token_hex(8)}"
    with server(cache, slots=1, settings=ServerSettings(queue=1)) as one:
        answers: list[httpx.Response] = []

        def ask(script: str) -> None:
            with httpx.Client(base_url=one.client.base_url, timeout=None) as client:
                body = {"language": "bash", "version": "*", "files": [{"content": script}], "run_timeout": 600_000}
                answers.append(client.post("/execute", json=body))

        threads = [threading.Thread(target=ask, args=(f"(exec -a {mark} sleep 1000); echo ran",))]
        threads[0].start()
        eventually(lambda: processes_with(mark) != [])
        for _ in range(2):
            threads.append(threading.Thread(target=ask, args=("echo ran",)))
            threads[-1].start()
        eventually(lambda: answers != [])  # the 503, as the job still runs
        for pid in processes_with(mark):
            os.kill(int(pid), signal.SIGKILL)
        for thread in threads:
            thread.join()
        assert sorted(response.status_code for response in answers) == [200, 200, 503]
        for response in answers:
            if response.status_code == 200:
                assert response.json()["run"]["stdout"] == "ran\n"
            else:
                assert "queue is full" in response.json()["message"]
                assert response.headers["retry-after"] == "1"


def test_held_bytes_are_bounded(cache: Path) -> None:
    """A request that needs more than the memory for all waiting requests gets 503."""
    settings = ServerSettings(body_bytes=1 << 20, held_bytes=100_000)
    with server(cache, settings=settings) as small:
        response = small.execute(files=[{"content": "echo"}, {"content": "x" * 200_000}])
        assert (response.status_code, "too many bytes" in response.json()["message"]) == (503, True)
        assert small.bash("echo hi")["stdout"] == "hi\n"


def test_held_bytes_of_answers_are_bounded(cache: Path) -> None:
    """An answer that needs more gets 503. Else clients that never read could fill the machine's memory."""
    settings = ServerSettings(body_bytes=1 << 20, held_bytes=1_000_000)
    with server(cache, settings=settings) as small:
        for compiling, run in (("true", "yes | head -c 2000000"), ("yes | head -c 2000000", "true")):
            files = [{"name": "run", "content": run}, {"name": "compile", "content": compiling}]
            response = small.execute(language="ioi_eval", files=files)
            assert (response.status_code, "too many bytes" in response.text) == (503, True), response.text[:100]
        assert small.execute(files=[{"content": "yes | head -c 20"}]).status_code == 200


def test_wide_characters_count(cache: Path) -> None:
    """A string with one character outside ASCII may need four times as much memory, and that counts."""
    settings = ServerSettings(body_bytes=1 << 20, held_bytes=1_000_000)
    with server(cache, settings=settings) as small:
        for character, status in (("x", 200), ("\N{GRINNING FACE}", 503)):
            files = [{"content": "echo"}, {"content": "x" * 200_000 + character}]
            assert small.execute(files=files).status_code == status
            escaped = json.dumps({"language": "bash", "version": "*", "files": files})
            answer = small.client.post("/execute", content=escaped, headers={"Content-Type": "application/json"})
            assert answer.status_code == status


def test_the_job_of_a_disconnected_client_is_killed(cache: Path) -> None:
    """If clients disconnect, the running job is killed and the waiting one does not start. The next job runs."""
    mark, never = f"mark-{secrets.token_hex(8)}", f"never-{secrets.token_hex(8)}"
    with server(cache, slots=1) as one:
        with httpx.Client(base_url=one.client.base_url, timeout=120) as client:
            script = f"(setsid bash -c 'exec -a {mark} sleep 1000') & sleep 1000"
            body = json.dumps({"language": "bash", "version": "*", "files": [{"content": script}]}).encode()
            waiting = json.dumps(
                {"language": "bash", "version": "*", "files": [{"content": f"exec -a {never} sleep 1000"}]}
            )
            send_and_disconnect(client, body, until=lambda: processes_with(mark) != [])
            send_and_disconnect(client, waiting.encode(), until=lambda: True)
        eventually(lambda: processes_with(mark) == [])
        assert one.bash("echo next")["stdout"] == "next\n"
        assert processes_with(never) == []


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_a_client_that_sends_more_requests_can_disconnect(cache: Path, is_reset: bool) -> None:
    """aiohttp keeps a limited number of requests, reads no more, and then does not see that the client disconnects."""
    mark = f"mark-{secrets.token_hex(8)}"
    job = {"files": [{"content": f"exec -a {mark} sleep 1000"}], "run_timeout": 3_600_000}
    body = json.dumps({"language": "bash", "version": "*"} | job).encode()
    more = b"GET /api/v2/runtimes HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3000
    with server(cache, slots=1) as one:
        send_and_disconnect(one.client, body, until=lambda: processes_with(mark) != [], more=more, is_reset=is_reset)
        eventually(lambda: processes_with(mark) == [])
        assert one.bash("echo next")["stdout"] == "next\n"


def test_bodies_of_disconnected_clients_are_unpacked_one_at_a_time(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread cannot be stopped. It uses memory until it ends, so the next body waits for it."""
    first_ends, running, most = threading.Event(), [], []

    def slow(_body: bytes, _encoding: str, _most: int) -> bytes:
        running.append(threading.get_ident())
        most.append(len(running))
        first_ends.wait()
        running.pop()
        return b"{}"

    monkeypatch.setattr(json_bodies, "unpack", slow)
    body, packed = gzip.compress(b"{}"), "Content-Encoding: gzip"
    with server(cache) as one, httpx.Client(base_url=one.client.base_url, timeout=None) as client:
        send_and_disconnect(client, body, packed, until=lambda: most != [])
        for _ in range(3):
            send_and_disconnect(client, body, packed, until=lambda: True)
        assert one.client.get("/runtimes").status_code == 200  # the server has seen the requests
        first_ends.set()
        assert client.post("/execute", content=body, headers={"Content-Encoding": "gzip"}).status_code == 415
    assert set(most) == {1}


def send_and_disconnect(
    client: httpx.Client,
    body: bytes,
    *head: str,
    until: Callable[[], bool],
    more: bytes = b"",
    is_reset: bool = False,
) -> None:
    """Send a request, and more after it, over a new connection, wait for a condition, and close the connection."""
    url = client.base_url
    with socket.create_connection((url.host, url.port or 80)) as connection:
        lines = (
            "POST /api/v2/execute HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *head,
        )
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body + more)
        eventually(until)
        if is_reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(
    "head", ["x: y", "Host: a\r\nbad name: 1", "Host: a\r\nContent-Length: -3", "x: " + "a" * 9000]
)
def test_invalid_http_is_not_logged(head: str, served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """The client gets a 400. A stack trace for each request would fill the log."""
    url = served.client.base_url
    with socket.create_connection((url.host, url.port or 80)) as connection:
        connection.sendall(f"GET /api/v2/runtimes HTTP/1.1\r\n{head}\r\n\r\n".encode())
        assert connection.makefile("rb").readline().split()[1] == b"400"
    assert not caplog.records


def test_header_lines_are_limited(served: Served) -> None:
    """A request with thousands of them is a 400. (aiohttp 3.10 keeps them all: a client filled the memory.)"""
    url = served.client.base_url
    with socket.create_connection((url.host, url.port or 80)) as connection:
        connection.sendall(b"GET /api/v2/runtimes HTTP/1.1\r\nHost: a\r\n" + b"x: y\r\n" * 5000 + b"\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"400"


def test_the_server_survives_invalid_http(served: Served) -> None:
    """Invalid HTTP and an incomplete request do not stop the server."""
    url = served.client.base_url
    for garbage in (b"\x00\x01\x02\r\n\r\n", b"POST /api/v2/execute HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"):
        with socket.create_connection((url.host, url.port or 80)) as connection:
            connection.sendall(garbage)
    assert served.bash("echo alive")["stdout"] == "alive\n"


def test_reduced_isolation_is_not_served(tmp_path: Path) -> None:
    """Without full isolation, which foreign scripts need, the server does not start."""

    async def inside() -> None:
        async with LocalSandbox(slots=1, strongest=Isolation.REDUCED) as sandbox:
            with pytest.raises(IsolationError, match="needs isolation 'full'"):
                async with serving(sandbox, runner=b"", port=0):
                    pass

    asyncio.run(inside())
