"""A server still works while it installs packages from a repository that does not answer."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ioi_eval.model import Content
from ioi_eval.sandbox import read_content
from ioi_eval.sandbox.piston.problem_packages import data_of, package_of
from ioi_eval.sandbox.piston.stored_files import LIST, digest
from ioi_eval.sandbox.piston.wire import Runtime
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages, ServedPackages
from ioi_eval.sandbox.serve.request import Refusal
from ioi_eval.sandbox.serve.server import ServerSettings
from tests.sandbox.packaged import installed, some_problem
from tests.sandbox.serve.test_server_bounds import eventually, send_and_disconnect
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


class ReadWhenAsked(InstalledPackages):
    """Packages whose repository is read when it may be, with a count of the readings."""

    def __init__(self, directory: Path, repository: str) -> None:
        super().__init__(directory, repository)
        self.readings, self.may_read = 0, threading.Event()

    def list_repository(self) -> dict[Runtime, tuple[str, str]]:
        """The packages of the repository."""
        self.readings += 1
        self.may_read.wait()
        return super().list_repository()


def test_several_requests_for_the_list_share_one_reading(tmp_path: Path) -> None:
    """If one of the requests is cancelled, the others still get the list. A later request reads it again."""

    async def ask() -> None:
        (tmp_path / "index").write_text(f"{LANGUAGE},1.0.0,{'0' * 64},http://nowhere/x\n")
        read = ReadWhenAsked(tmp_path / "packages", str(tmp_path))
        packages = ServedPackages(read)
        tasks = [asyncio.create_task(packages.list_repository()) for _ in range(MANY)]
        await asyncio.sleep(0)
        assert tasks[0].cancel()
        read.may_read.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        for each in found[1:]:
            assert isinstance(each, list)
            assert [runtime.language for runtime in each] == [LANGUAGE]
        assert read.readings == 1
        (tmp_path / "index").write_text("")
        assert await packages.list_repository() == []
        packages.close()

    asyncio.run(ask())


class RemovedAfterLookup(InstalledPackages):
    """Packages that are removed as soon as a job has looked up its files, as if the job had to wait for a slot."""

    def files(self, runtime: Runtime, sent: Mapping[str, bytes]) -> dict[str, Content]:
        """The files, of which none exists any more."""
        files = super().files(runtime, sent)
        self.uninstall(runtime.language, "*")
        return files


def test_a_job_whose_package_is_removed_while_it_waits_asks_for_its_files(cache: Path, tmp_path: Path) -> None:
    """The answer names the missing files, so that the client sends them; it does not speak of our cache."""
    problem = some_problem(b"input" * 100)
    installed(tmp_path, problem)
    packages = RemovedAfterLookup(tmp_path / "packages")
    with server(cache, packages=packages) as served:
        package, (text,) = package_of(problem), data_of(problem).keys() - {digest((b"input" * 100)[::-1])}
        listed = f"stored t0.in {text} {package.name_of(text)}\n"
        sent = {"plan": "ioi-eval-runner 1\nend\n", LIST: listed}
        runner = base64.b64encode(read_content(served.runner)).decode()
        files = [{"name": name, "content": content} for name, content in sent.items()]
        files.append({"name": "runner", "content": runner, "encoding": "base64"})
        answer = served.execute(language=package.language, files=files)
    assert answer.status_code == 200, answer.text
    assert answer.json()["run"]["stdout"] == f"not stored: {text} is missing\n"


class SlowToRead(InstalledPackages):
    """Packages whose files take long to hash."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.is_read, self.may_end = threading.Event(), threading.Event()

    def runtimes(self) -> tuple[Runtime, ...]:
        """One package."""
        return (Runtime(language=LANGUAGE, version="1.0.0"),)

    def files(self, runtime: Runtime, sent: Mapping[str, bytes]) -> dict[str, Content]:
        """No files, after a while."""
        self.is_read.set()
        self.may_end.wait()
        return super().files(runtime, sent)


def test_a_disconnected_client_keeps_its_place_while_its_files_are_read(cache: Path, tmp_path: Path) -> None:
    """A thread cannot be stopped, and has the request in memory until it ends: others wait for that memory."""
    packages = SlowToRead(tmp_path / "packages")
    with server(cache, slots=1, settings=ServerSettings(queue=0), packages=packages) as one:
        try:
            body = json.dumps({**WANTED, "files": [{"name": "plan", "content": "x"}]}).encode()
            send_and_disconnect(one.client, body, until=packages.is_read.is_set)
            assert one.client.get("/runtimes").status_code == 200  # the server has seen that the client is gone
            assert one.execute(files=[{"content": "echo"}]).status_code == 503
        finally:
            packages.may_end.set()
        eventually(lambda: one.execute(files=[{"content": "echo"}]).status_code == 200)
