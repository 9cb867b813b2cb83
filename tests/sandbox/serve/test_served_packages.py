"""A server still works while it installs packages from a repository that does not answer."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ioi_eval.sandbox.serve.installed_packages import InstalledPackages, ServedPackages
from ioi_eval.sandbox.serve.request import Refusal
from tests.sandbox.served import server

LANGUAGE = f"ioi_eval_problem_{'0' * 24}"
WANTED = {"language": LANGUAGE, "version": "*"}
MANY = 40  # more than the threads of the default executor, on all machines for tests


class SilentRepository:
    """Accepts connections, and answers none until it is closed.

    Attributes:
        url: the URL of its index.
        is_asked: set when it has a connection.
    """

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/index"
        self.is_asked = threading.Event()
        self._thread = threading.Thread(target=self._take)
        self._thread.start()

    def _take(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            self._open.append(connection)
            self.is_asked.set()
            if connection.recv(1) == b"!":
                break

    def close(self) -> None:
        """Close all connections. A second call has no effect."""
        if not self._thread.is_alive():
            return
        with socket.create_connection(self._listening.getsockname()) as last:
            last.sendall(b"!")
            self._thread.join()
        for each in (*self._open, self._listening):
            each.close()


@pytest.fixture
def repository() -> Iterator[SilentRepository]:
    """A repository that is silent while the test runs."""
    found = SilentRepository()
    yield found
    found.close()


def test_the_server_works_while_a_repository_is_silent(
    cache: Path, tmp_path: Path, repository: SilentRepository
) -> None:
    """One package is installed at a time: other requests get 503 at once. Meanwhile jobs and lists are served."""
    packages = InstalledPackages(tmp_path / "packages", repository.url)
    with server(cache, packages=packages) as served, ThreadPoolExecutor(1) as threads:
        first = threads.submit(httpx.post, f"{served.base}/api/v2/packages", json=WANTED, timeout=120)
        repository.is_asked.wait()
        for method in ("POST", "DELETE") * MANY:
            answer = served.client.request(method, "/packages", json=WANTED)
            assert (answer.status_code, "ask again" in answer.json()["message"]) == (503, True)
        assert served.client.get("/runtimes").status_code == 200
        large = {"name": "large", "content": "x" * 200_000}  # parsed in a thread
        body = {"language": "bash", "version": "*", "files": [{"content": "echo hi"}, large]}
        assert served.client.post("/execute", json=body).json()["run"]["stdout"] == "hi\n"
        assert not first.done()
        repository.close()
        assert (first.result().status_code, "cannot be read" in first.result().text) == (500, True)
        assert served.client.post("/packages", json=WANTED).status_code == 500, "the next installation can start"


def test_a_change_has_a_deadline(tmp_path: Path, repository: SilentRepository) -> None:
    """After the deadline, the request gets 503. The next one gets 503 too, because the change still runs."""

    async def ask() -> None:
        packages = ServedPackages(InstalledPackages(tmp_path / "packages", repository.url), within_s=0.01)
        for words in ("takes longer than", "ask again"):
            with pytest.raises(Refusal) as refusal:
                await packages.change(LANGUAGE, "*", is_wanted=True)
            assert (refusal.value.status, words in str(refusal.value.answer)) == (503, True)
        packages.close()

    asyncio.run(ask())


def test_several_requests_for_the_list_share_one_reading(tmp_path: Path) -> None:
    """If one of the requests is cancelled, the others still get the list."""

    async def ask() -> None:
        (tmp_path / "index").write_text(f"{LANGUAGE},1.0.0,{'0' * 64},http://nowhere/x\n")
        packages = ServedPackages(InstalledPackages(tmp_path / "packages", str(tmp_path)))
        tasks = [asyncio.create_task(packages.list_repository()) for _ in range(MANY)]
        await asyncio.sleep(0)
        cancelled = tasks[0].cancel()  # not if it has the list already
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError) == cancelled
        for each in found[1:]:
            assert isinstance(each, list)
            assert [runtime.language for runtime in each] == [LANGUAGE]
        packages.close()

    asyncio.run(ask())
