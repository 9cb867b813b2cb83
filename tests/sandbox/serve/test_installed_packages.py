"""Installing packages from a repository on a server, and what the server refuses."""

from __future__ import annotations

import gzip
import hashlib
import os
import socketserver
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.serve import installed_packages
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
from ioi_eval.sandbox.serve.request import Refusal
from tests.sandbox.packaged import LARGE, blobs, installed, made, some_problem


def test_install_and_remove(tmp_path: Path) -> None:
    """A package can be installed once, and its files are deleted when it is removed."""
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
    """A damaged repository is a Refusal with the reason, and nothing is installed."""
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


def test_the_error_of_a_failed_write_has_the_directory(tmp_path: Path) -> None:
    """If files cannot be written, for example on a full disk, the message has the directory and what to do."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    (tmp_path / "packages").rmdir()
    with pytest.raises(Refusal, match=r"cannot be installed in \S+/packages: .*; free space there, or let the server"):
        packages.install(package.language, "*")


Serve = Callable[[Mapping[str, bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function that serves raw HTTP answers by their paths. Returns the URL."""
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
    """An HTTP answer with this body."""
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body


def test_a_served_repository_is_read_without_a_proxy(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings for HTTP proxies are ignored, as in all requests between clients and workers."""
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
def test_a_served_index_cannot_name_local_files(tmp_path: Path, serve: Serve, scheme: str) -> None:
    """A served index with a local path is refused, because it could reveal whether a file exists, and its hash."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    line = (tmp_path / "index").read_bytes().replace(b"http://nowhere", f"{scheme}{tmp_path}".encode())
    packages = InstalledPackages(tmp_path / "packages", f"{serve({'/index': http(line)})}/index")
    with pytest.raises(Refusal, match="this is not an http or https address"):
        packages.install(package.language, "*")
    assert packages.runtimes() == ()


@pytest.mark.parametrize("broken", ["index", "its end", "tarball"])
def test_an_incomplete_answer_of_a_repository_is_an_error(tmp_path: Path, serve: Serve, broken: str) -> None:
    """The message says that the repository cannot be read, and does not name this server's disk."""
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


def test_some_disk_space_stays_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package is not installed if too little disk space would remain for jobs."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    monkeypatch.setattr(installed_packages, "LEAST_FREE_BYTES", 1 << 62)
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    with pytest.raises(Refusal, match=r"MiB are free in \S+/packages; free space there"):
        packages.install(package.language, "*")
    assert list((tmp_path / "packages").iterdir()) == []


def test_modes_of_package_directories(tmp_path: Path) -> None:
    """With any umask of the server, only the owner can write to a package's directories, and all can read them."""
    for umask in (0o002, 0o077):
        before = os.umask(umask)
        try:
            installed(tmp_path / str(umask), some_problem(b"a" * LARGE))
        finally:
            os.umask(before)
        (directory,) = (tmp_path / str(umask) / "packages").glob("*/*/blobs")
        assert [path.stat().st_mode & 0o777 for path in (directory, directory.parent)] == [0o755] * 2


def test_directories_of_a_killed_server_are_deleted(tmp_path: Path) -> None:
    """The next server deletes old temporary directories, but not new ones, which another server may be using."""
    for name, age_s in ((".new-1", 2e5), (".old-1", 2e5), (".new-2", 60.0)):
        (tmp_path / "packages" / name / "package").mkdir(parents=True)
        os.utime(tmp_path / "packages" / name, (time.time() - age_s,) * 2)
    InstalledPackages(tmp_path / "packages")
    assert [path.name for path in (tmp_path / "packages").iterdir()] == [".new-2"]


def test_a_failed_removal_is_reported(tmp_path: Path) -> None:
    """The message of a failed removal has the directory."""
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


def test_only_blobs_are_unpacked(tmp_path: Path) -> None:
    """Only regular files with names of blobs are unpacked from a tarball: no links, no other paths."""
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


@pytest.mark.parametrize(
    ("header_size", "words"), [(64 << 20, "its tarball has a header of 67,108,864 bytes"), (-512, "is not a package")]
)
def test_hostile_headers_of_a_tarball(tmp_path: Path, header_size: int, words: str) -> None:
    """A tarball of kilobytes would fill the memory of the server."""
    repository = tmp_path / "repository"
    package = made(repository, some_problem(b"a" * LARGE))
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, header_size
    content = gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(max(header_size, 0) + 1024))
    (repository / package.file).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (repository / "index").write_text(f"{package.language},{package.version},{digest},http://x/{package.file}\n")
    packages = InstalledPackages(tmp_path / "packages", str(repository))
    with pytest.raises(Refusal, match=words):
        packages.install(package.language, "*")
    assert list((tmp_path / "packages").iterdir()) == []


@pytest.mark.parametrize("scheme", ["http", "ftp"])
def test_a_password_of_the_repository_is_not_shown(tmp_path: Path, scheme: str) -> None:
    """Every client can ask for packages, and gets the error."""
    packages = InstalledPackages(tmp_path / "packages", f"{scheme}://me:secret@127.0.0.1:9/index")
    with pytest.raises(Refusal, match=f"cannot be read: {scheme}://127.0.0.1:9/index") as refused:
        packages.list_repository()
    assert "secret" not in str(refused.value)


def test_a_directory_to_which_others_may_write_is_refused(tmp_path: Path) -> None:
    """The message names the option of `serve`, and not the variable for the cache."""
    tmp_path.chmod(0o777)
    message = "others may write to the directory for packages .*; chmod go-w it, or name another one with --packages$"
    with pytest.raises(SetupError, match=message):
        InstalledPackages(tmp_path)
