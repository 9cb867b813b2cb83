"""What a server installs of a repository, and what it refuses."""

from __future__ import annotations

import gzip
import hashlib
import os
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ioi_eval.sandbox.serve import installed_packages
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
from ioi_eval.sandbox.serve.request import Refusal
from tests.sandbox.packaged import LARGE, blobs, installed, made, some_problem


def test_a_server_installs_and_removes(tmp_path: Path) -> None:
    """Once; and what is removed is gone."""
    problem = some_problem(b"a" * LARGE, b"b" * LARGE)
    packages = installed(tmp_path, problem)
    (runtime,) = packages.runtimes()
    with pytest.raises(Refusal, match="Already installed"):
        packages.install(runtime.language, "*")
    packages.uninstall(runtime.language, "*")
    assert packages.runtimes() == ()
    assert blobs(tmp_path / "packages") == []
    with pytest.raises(Refusal, match="is not installed"):
        packages.uninstall(runtime.language, "*")


@pytest.mark.parametrize("damage", ["cut", "other", "no tarball", "no index"])
def test_a_damaged_repository_installs_nothing(tmp_path: Path, damage: str) -> None:
    """And says why."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    tarball = tmp_path / "repository" / package.file
    if damage == "cut":
        tarball.write_bytes(tarball.read_bytes()[:-20])
    elif damage == "other":
        tarball.write_bytes(gzip.compress(b"other"))
    else:
        (tarball if damage == "no tarball" else tmp_path / "repository/index").unlink()
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    with pytest.raises(Refusal, match=r"Checksum miss-match|cannot be read"):
        packages.install(package.language, "*")
    assert packages.runtimes() == ()
    assert list((tmp_path / "packages").iterdir()) == []


def test_a_server_that_cannot_write_says_where(tmp_path: Path) -> None:
    """As where its disk is full."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    (tmp_path / "packages").rmdir()
    with pytest.raises(Refusal, match=r"cannot be installed in \S+/packages: .*; free space there, or let the server"):
        packages.install(package.language, "*")


Serve = Callable[[Mapping[str, bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves answers by their paths, as they are on the wire."""
    servers: list[socketserver.TCPServer] = []

    def serve(answers: Mapping[str, bytes]) -> str:
        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                path = self.rfile.readline().split()[1].decode()
                while self.rfile.readline().strip():
                    pass
                self.wfile.write(answers[path])

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


BROKEN = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno length of a chunk\r\n"


def http(body: bytes) -> bytes:
    """An answer."""
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body


def test_a_served_repository_is_asked_directly(tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy, as all that speaks with workers."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    answers = {f"/{package.file}": http((tmp_path / package.file).read_bytes())}
    url = serve(answers)
    answers["/index"] = http((tmp_path / "index").read_bytes().replace(b"http://nowhere", url.encode()))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    packages = InstalledPackages(tmp_path / "packages", f"{url}/index")
    packages.install(package.language, "*")
    assert len(blobs(tmp_path / "packages")) == 2


@pytest.mark.parametrize("scheme", ["", "file://", "ftp://"])
def test_an_index_names_no_files_of_this_machine(tmp_path: Path, serve: Serve, scheme: str) -> None:
    """A served one: whether such a file exists, and its hash, are nobody's business."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    line = (tmp_path / "index").read_bytes().replace(b"http://nowhere", f"{scheme}{tmp_path}".encode())
    packages = InstalledPackages(tmp_path / "packages", f"{serve({'/index': http(line)})}/index")
    with pytest.raises(Refusal, match="this is not an http or https address"):
        packages.install(package.language, "*")
    assert packages.runtimes() == ()


@pytest.mark.parametrize("broken", ["index", "its end", "tarball"])
def test_a_repository_that_breaks_off_is_named(tmp_path: Path, serve: Serve, broken: str) -> None:
    """As such: it is not this server's disk."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    answers = {"/index": BROKEN if broken == "its end" else b"nonsense\r\n\r\n"}
    url = serve(answers)
    if broken == "tarball":
        answers["/index"] = http((tmp_path / "index").read_bytes().replace(b"http://nowhere", url.encode()))
        answers[f"/{package.file}"] = BROKEN
    packages = InstalledPackages(tmp_path / "packages", f"{url}/index")
    with pytest.raises(Refusal, match="the package repository cannot be read") as refused_with:
        packages.install(package.language, "*")
    assert (package.file if broken == "tarball" else "/index") in str(refused_with.value)
    assert list((tmp_path / "packages").iterdir()) == []


def test_a_disk_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something is left for jobs."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    monkeypatch.setattr(installed_packages, "LEAST_FREE_BYTES", 1 << 62)
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    with pytest.raises(Refusal, match=r"MiB are free in \S+/packages; free space there"):
        packages.install(package.language, "*")
    assert list((tmp_path / "packages").iterdir()) == []


def test_others_may_not_write_to_a_package(tmp_path: Path) -> None:
    """Whatever the server's umask, its directories can be written by their owner, and read by all."""
    for umask in (0o002, 0o077):
        before = os.umask(umask)
        try:
            installed(tmp_path / str(umask), some_problem(b"a" * LARGE))
        finally:
            os.umask(before)
        (directory,) = (tmp_path / str(umask) / "packages").glob("*/*/blobs")
        assert [path.stat().st_mode & 0o777 for path in (directory, directory.parent)] == [0o755] * 2


def test_what_a_killed_server_left_is_deleted(tmp_path: Path) -> None:
    """At the start of the next; but not what another may be at work on."""
    for name, age_s in ((".new-1", 2e5), (".old-1", 2e5), (".new-2", 60.0)):
        (tmp_path / "packages" / name / "package").mkdir(parents=True)
        os.utime(tmp_path / "packages" / name, (time.time() - age_s,) * 2)
    InstalledPackages(tmp_path / "packages")
    assert [path.name for path in (tmp_path / "packages").iterdir()] == [".new-2"]


def test_a_package_that_cannot_be_removed_is_told(tmp_path: Path) -> None:
    """With the directory."""
    packages = installed(tmp_path, some_problem(b"a" * LARGE))
    (runtime,) = packages.runtimes()
    place = tmp_path / "packages" / runtime.language / runtime.version
    done = subprocess.run(["mount", "--bind", place, place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(Refusal, match=r"cannot be removed from \S+/packages: .* busy"):
            packages.uninstall(runtime.language, "*")
    finally:
        subprocess.run(["umount", place], check=True)


def test_paths_of_a_package_do_not_leave_it(tmp_path: Path) -> None:
    """Of a tarball nothing but files with the names of blobs is unpacked; links are not."""
    repository = tmp_path / "repository"
    package = made(repository, some_problem(b"a" * LARGE))
    hostile = tmp_path / "hostile"
    (hostile / "blobs").mkdir(parents=True)
    (hostile / "blobs" / ("0" * 24)).symlink_to("/etc/passwd")
    (hostile / "evil").write_text("evil")
    subprocess.run(
        ["tar", "-czf", repository / package.file, "-C", hostile, "--transform", "s,^evil,../../evil,", "-P",
         "blobs", "evil"], check=True
    )  # fmt: skip
    digest = hashlib.sha256((repository / package.file).read_bytes()).hexdigest()
    (repository / "index").write_text(f"{package.language},{package.version},{digest},http://x/{package.file}\n")
    packages = InstalledPackages(tmp_path / "packages", str(repository))
    packages.install(package.language, "*")
    assert blobs(tmp_path / "packages") == []
    assert not [path for path in tmp_path.rglob("*evil*") if hostile not in path.parents]
