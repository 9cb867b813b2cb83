"""The command `ioi-eval serve`, in a separate process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from ioi_eval.cli.serve import ServeCall
from tests import unprivileged
from tests.forked_commands import COMMAND, ForkedCommands
from tests.full_isolation import require_full_isolation
from tests.keyring import KEYCTL, LOGIN_KEYRING, NAME, SEARCH_KEY, login_key
from tests.sandbox.served import Served


@contextmanager
def command(
    cache: Path, *words: str, until: str = "serving Piston API v2 at ", **variables: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`ioi-eval serve` as a separate process, and what it printed until this text came: by default, until it serves."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"IOI_EVAL_CACHE": str(cache)} | variables,
    )
    try:
        assert process.stderr is not None
        messages = ""
        for line in process.stderr:
            messages += line
            if until in line or "serving Piston API v2 at " in line:
                break
        yield process, messages
    finally:
        process.kill()
        process.wait()


def test_the_command_binds_loopback_and_ends_on_sigterm(served: Served, cache: Path) -> None:
    """It prints its URL, answers there, and ends on SIGTERM with exit code 0."""
    with command(cache, "--workers", "1") as (process, messages):
        address = messages.split("serving Piston API v2 at ")[1].split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert ", 1 job at once, " in messages
        assert "can be reached" not in messages
        assert httpx.get(f"{address}/runtimes").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_the_command_warns_before_it_serves(served: Served, cache: Path) -> None:
    """If other machines can reach it, it says so before it serves. So it does if its repository does not exist yet."""
    words = ("--host", "0.0.0.0", "--public", "--workers", "1", "--repository")
    with command(cache, *words, str(cache / "no")) as (_, messages):
        assert "0.0.0.0 can be reached from other machines" in messages
        assert f"--repository {cache / 'no'}: there is no such directory now" in messages


def resident_bytes(pid: int) -> int:
    """The memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_requests_in_invalid_http_do_not_fill_the_memory(served: Served, cache: Path) -> None:
    """After 60 MB of such requests, the server is hardly larger than after the first of them."""
    with command(cache, "--workers", "1") as (process, messages):
        url = httpx.URL(messages.split("serving Piston API v2 at ")[1].split()[0])

        def send(times: int) -> None:
            for _ in range(times):
                with socket.create_connection((url.host, url.port or 80)) as connection, suppress(ConnectionError):
                    connection.sendall(b"GET /" + b"a" * 100_000)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1000):
                        pass

        send(100)
        before = resident_bytes(process.pid)
        send(600)
        assert resident_bytes(process.pid) - before < 25_000_000


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_public_addresses_need_an_option(host: str, commands: ForkedCommands, tmp_path: Path) -> None:
    """An address that other machines can reach is an error without `--public`."""
    done = commands.run("serve", "--port", "0", "--host", host, cwd=tmp_path, env=os.environ)
    assert done.returncode == 2
    assert "add --public" in done.stderr


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2", "::1"])
def test_addresses_of_this_machine_need_none(host: str) -> None:
    """No other machine reaches them."""
    assert not ServeCall(host=host).is_public


def test_options_become_settings_of_the_server() -> None:
    """Names of hosts are compared in small letters. Large requests need room for several of them."""
    settings = ServeCall(host="Node1", allow_host=["GPU.example"], queue=3, max_body_mb=1024).settings
    assert (settings.queue, settings.body_bytes, settings.held_bytes) == (3, 1 << 30, 6 << 30)
    assert settings.names == {"node1", "gpu.example"}
    assert ServeCall(max_body_mb=1).settings.held_bytes == 4 << 30


def test_only_a_directory_can_be_missing(tmp_path: Path) -> None:
    """A repository may also be a URL, or not be given."""
    repositories = {"": False, "http://repository/index": False, str(tmp_path): False, str(tmp_path / "no"): True}
    for repository, missing in repositories.items():
        assert ServeCall(repository=repository).is_repository_missing is missing


def test_it_ends_on_sigterm_while_it_compiles_the_runner(tmp_path: Path) -> None:
    """The compiler is ended too, here one that never ends."""
    require_full_isolation()
    with unprivileged.private_directory() as directory:
        directory.chmod(0o755)
        compiler = directory / "g++"
        compiler.write_text('#!/bin/bash\n[[ " $* " != *" runner.cpp "* ]] || exec sleep 1000\nexec g++ "$@"\n')
        compiler.chmod(0o755)
        is_compiled = "the runner) is compiled"
        with command(tmp_path / "cache", until=is_compiled, CXX=str(compiler)) as (process, messages):
            if "serving Piston API v2 at " in messages:
                pytest.skip("the runner of the wheel is used")
            assert is_compiled in messages
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            assert (process.wait(), process.stderr.read()) == (0, "ioi-eval: ended\n")


LANGUAGE = f"ioi_eval_problem_{'0' * 24}"


@contextmanager
def endless_repository() -> Iterator[tuple[str, threading.Event]]:
    """A repository with a package without end: the URL of its index, and whether the package is being sent."""
    is_asked, is_over = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            if self.path == "/index":
                self.wfile.write(f"{LANGUAGE},1.0.0,{'0' * 64},{url}/package\n".encode())
                return
            is_asked.set()
            with suppress(ConnectionError):
                while not is_over.wait(0.05):
                    self.wfile.write(bytes(1000))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"{url}/index", is_asked
        finally:
            is_over.set()
            server.shutdown()


def test_it_ends_on_sigterm_while_it_installs_a_package(served: Served, cache: Path, tmp_path: Path) -> None:
    """The repository sends the package slowly and without end. Nothing of it is left."""
    places = tmp_path / "packages"
    with endless_repository() as (url, is_asked), ThreadPoolExecutor(1) as threads:
        words = ("--workers", "1", "--repository", url, "--packages", str(places))
        with command(cache, *words) as (process, messages):
            address = messages.split("serving Piston API v2 at ")[1].split()[0]
            wanted = {"language": LANGUAGE, "version": "*"}
            asked = threads.submit(httpx.post, f"{address}/packages", json=wanted, timeout=None)
            is_asked.wait()
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0
            asked.exception()
    assert list(places.iterdir()) == []


def test_an_address_that_is_no_name(served: Served, cache: Path) -> None:
    """It is refused in one line: a part of a name has 1 to 63 characters."""
    with command(cache, "--host", "a..b", "--public", "--workers", "1") as (process, messages):
        assert "ioi-eval: cannot listen on a..b:0: " in messages
        assert "Traceback" not in messages
        assert process.wait() == 2


def test_a_port_that_is_in_use(served: Served, cache: Path) -> None:
    """The line says what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with command(cache, "--port", port, "--workers", "1") as (process, messages):
            assert f"ioi-eval: cannot listen on 127.0.0.1:{port}: " in messages
            assert messages.rstrip().endswith("address already in use; choose another --port")
            assert process.wait() == 2


def test_the_repository_may_be_below_the_home_directory(served: Served, cache: Path, tmp_path: Path) -> None:
    """No shell replaces `~` in `--repository=~/repository`, or in ioi-eval.toml."""
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "index").write_text(f"{LANGUAGE},1.0.0,{'0' * 64},http://nowhere/x\n")
    words = ("--workers", "1", "--repository=~/repository", "--packages", str(tmp_path / "packages"))
    with command(cache, *words, HOME=str(tmp_path)) as (_, messages):
        address = messages.split("serving Piston API v2 at ")[1].split()[0]
        answer = httpx.get(f"{address}/packages", timeout=120)
    assert LANGUAGE in answer.text


SEARCH = f"""import ctypes
print(ctypes.CDLL(None).syscall({KEYCTL}, {SEARCH_KEY}, {LOGIN_KEYRING}, b"user", b"{NAME}", 0))
"""


def test_scripts_cannot_read_the_keys_of_the_login(served: Served, cache: Path) -> None:
    """Keyrings of the kernel belong to no namespace of a box."""
    with login_key(), command(cache, "--workers", "1") as (_, messages):
        found = subprocess.run([sys.executable, "-c", SEARCH], stdout=subprocess.PIPE, text=True, check=True)
        assert found.stdout != "-1\n"
        address = messages.split("serving Piston API v2 at ")[1].split()[0]
        files = [{"name": "main.sh", "content": "python3 search.py"}, {"name": "search.py", "content": SEARCH}]
        body = {"language": "bash", "version": "*", "files": files}
        answer = httpx.post(f"{address}/execute", json=body, timeout=120).json()
        assert (answer["run"]["stdout"], answer["run"]["stderr"]) == ("-1\n", "")
