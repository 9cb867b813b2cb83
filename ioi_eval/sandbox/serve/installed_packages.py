"""The problems' packages that `ioi-eval serve` has installed, and the repository from which it installs them.

    <directory>/<language>/<version>/blobs/<name>

This is Piston's layout, without the files that only Piston needs. A package is unpacked elsewhere in the directory and
then renamed, so it is never visible in part, and servers may share a directory. The repository is a directory with an
`index` (`problem_packages.py`), or a URL of an index. Every file is hashed before its first use.

Installing a package may take minutes, and a repository may be silent. So `ServedPackages` has three threads of its own:
one installs and removes, one reads the repository's index, one lists what is installed. One package is changed at a
time: other changes are refused meanwhile, and the client should retry. (Jobs look up their files, and hash those that
are used for the first time, in the threads that also parse requests.)
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import os
import re
import shutil
import ssl
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedRandom
from pathlib import Path
from typing import IO, TypeVar

from ioi_eval.cache_directory import LEAST_FREE_BYTES, make_private_directory
from ioi_eval.config import MIB
from ioi_eval.errors import InputError
from ioi_eval.model import Blob, Content, Execution, Stage
from ioi_eval.sandbox.piston.endpoints import without_login
from ioi_eval.sandbox.piston.stored_files import DIGITS, LIST, REFUSED_CODE
from ioi_eval.sandbox.piston.wire import PROBLEM_PACKAGE_PREFIX, Runtime
from ioi_eval.sandbox.serve import request
from ioi_eval.sandbox.serve.request import Refusal
from ioi_eval.tar_members import tar_members

_LANGUAGE = re.compile(PROBLEM_PACKAGE_PREFIX + r"[0-9a-f]{24}")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_STORED = re.compile(rf"stored ([A-Za-z0-9_][A-Za-z0-9_.]*) ([0-9a-f]{{{DIGITS}}}) ([0-9a-f]{{24}})(?: [0-9a-f]+)?")
_BLOB = re.compile(r"(?:\./)?blobs/([0-9a-f]{24})")
_INDEX_BYTES = 64 << 20
_LIST_BYTES = 256 << 10  # each of at most MAX_FILES lines has a hash, and two names
_WITHIN_S = 30.0  # the longest time in which a repository may send nothing
_CHANGE_S = 900.0  # 20 GB, as much as `cluster install` puts on a worker by default, at 22 MB a second
_NEW, _OLD = ".new-", ".old-"
_LEFT_AFTER_S = 24 * 3600.0
"""After this time a package that is still being installed or removed is taken to be abandoned. Source: ours; a client
waits 900 s, and the clocks of servers that share the directory may differ."""


_T = TypeVar("_T")


class NotStored(Exception):
    """A package does not have the files that a job names; reported in the format of `graders/stored/run`."""

    def execution(self) -> Execution:
        """The answer to the job."""
        return Execution(run=Stage(stdout=str(self), stderr="", code=REFUSED_CODE))


class InstalledPackages:
    """The installed packages, in a directory of our own, which is made if absent. `repository`: they are installed from
    here, a directory or the URL of an index; empty for none."""

    def __init__(self, directory: Path, repository: str = "") -> None:
        make_private_directory(directory, what="the directory for packages", advice="name another one with --packages")
        self._directory, self._repository = directory, repository
        self._checked: dict[Path, tuple[int, int, int, str]] = {}
        self._is_closed = False
        self._delete_left()

    def runtimes(self) -> tuple[Runtime, ...]:
        """The installed packages as `GET /runtimes` lists them."""
        paths = sorted(self._directory.glob(f"{PROBLEM_PACKAGE_PREFIX}*/*"))
        return tuple(
            Runtime(language=path.parent.name, version=path.name)
            for path in paths
            if _LANGUAGE.fullmatch(path.parent.name) and _VERSION.fullmatch(path.name)
        )

    def list_repository(self) -> dict[Runtime, tuple[str, str]]:
        """The packages of the repository, each with its hash and address."""
        if not self._repository:
            return {}
        index = self._repository if self._is_served else str(Path(self._repository) / "index")
        content = bytearray()
        for part in self._parts(index):
            content += part
            if len(content) >= _INDEX_BYTES:
                break
        entries = (line.split(",", 3) for line in content.decode("utf-8", "replace").splitlines())
        return {
            Runtime(language=entry[0], version=entry[1]): (entry[2], entry[3])
            for entry in entries
            if len(entry) == 4 and _LANGUAGE.fullmatch(entry[0]) and _VERSION.fullmatch(entry[1])
        }

    def install(self, language: str, version: str) -> Runtime:
        """Install a package of the repository, if it is not installed already."""
        entries = self.list_repository()
        runtime = request.find([*entries], language, version)
        if runtime is None:
            raise Refusal(404, f"Requested package {language}-{version} does not exist")
        sha256, address = entries[runtime]
        installed = self._directory / runtime.language / runtime.version
        if installed.exists():
            raise Refusal(500, "Already installed")
        if not self._is_served:  # the tarball is beside its index
            address = str(Path(self._repository) / address.rpartition("/")[2])
        try:
            with tempfile.TemporaryDirectory(dir=self._directory, prefix=_NEW) as name:
                new = Path(name) / "package"
                for directory in (new, new / "blobs"):  # one by one, as `parents=True` sets other modes
                    directory.mkdir()
                    directory.chmod(0o755)
                with (Path(name) / "tarball").open("w+b") as tarball:
                    self._copy(address, sha256, tarball)
                    self._unpack(tarball, new / "blobs")
                installed.parent.mkdir(mode=0o755, exist_ok=True)
                new.rename(installed)
        except (InputError, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise Refusal(500, f"{runtime.language} is not a package: {error}") from error
        except OSError as error:
            if installed.exists():  # another server that shares the directory was first
                return runtime
            message = f"{runtime.language} cannot be installed in {self._directory}: {error.strerror or error}"
            raise Refusal(500, f"{message}; free space there, or let the server write there") from error
        return runtime

    def uninstall(self, language: str, version: str) -> Runtime:
        """Remove a package."""
        runtime = request.find(self.runtimes(), language, version)
        if runtime is None:
            raise Refusal(500, f"{language}-{version} is not installed")
        installed = self._directory / runtime.language / runtime.version
        try:
            with tempfile.TemporaryDirectory(dir=self._directory, prefix=_OLD, ignore_cleanup_errors=True) as old:
                installed.rename(Path(old) / "package")
        except OSError as error:
            if not installed.exists():  # another server that shares the directory was first
                return runtime
            message = f"{runtime.language} cannot be removed from {self._directory}: {error.strerror or error}"
            raise Refusal(500, f"{message}; let the server write there") from error
        return runtime

    def files(self, runtime: Runtime, sent: Mapping[str, bytes]) -> dict[str, Content]:
        """The files of a job: those of the package that it names, and those that it was sent with, among them the list
        `stored`. Raises NotStored if some are missing, or have other contents."""
        listed = sent.get(LIST, b"")
        lines = listed.decode("utf-8", "replace").splitlines() if len(listed) <= _LIST_BYTES else []
        if len(listed) > _LIST_BYTES or len(lines) > request.MAX_FILES:
            most = f"{request.MAX_FILES} lines of together {_LIST_BYTES >> 10} KiB"
            raise Refusal(400, f"the file {LIST!r} is longer than {most}; name fewer files")
        files: dict[str, Content] = {name: content for name, content in sent.items() if name != LIST}
        missing: list[str] = []
        for line in lines:
            match = _STORED.fullmatch(line)
            if match is None:
                raise Refusal(400, f"a line of the file {LIST!r} names no file: {line[:100]!r}")
            path = self._directory / runtime.language / runtime.version / "blobs" / match[3]
            content, why = self._content(path, match[2])
            if content is None:
                missing.append(f"not stored: {match[2]} {why}\n")
            else:
                files[match[1]] = content
        if missing:
            raise NotStored("".join(missing))
        return files

    def close(self) -> None:
        """Give up an installation that runs in another thread, at its next part."""
        self._is_closed = True

    def _content(self, path: Path, digest: str) -> tuple[Blob | None, str]:
        """A file of a package; or `None` and the reason. A file is hashed again only if it has changed."""
        try:
            status = path.stat()
            state = (status.st_ino, status.st_size, status.st_mtime_ns)
            known = self._checked.get(path)
            if known is None or known[:3] != state:
                with path.open("rb") as file:
                    known = self._checked[path] = (*state, hashlib.file_digest(file, "sha256").hexdigest())
        except OSError:
            return None, "is missing"
        if known[3][:DIGITS] != digest:
            return None, "is another file"
        return Blob(path=path, size=status.st_size, sha256=known[3]), ""

    @property
    def _is_served(self) -> bool:
        """Whether the repository is a URL. Its index must not name files of this machine."""
        return "://" in self._repository

    def _parts(self, address: str) -> Iterator[bytes]:
        import httpx

        try:
            if not self._is_served:
                with open(address, "rb") as file:
                    while part := file.read(MIB):
                        yield part
                return
            if not address.startswith(("http://", "https://")):
                raise ValueError("this is not an http or https address")
            issuers = ssl.create_default_context()  # so that SSL_CERT_FILE counts
            with (
                httpx.Client(timeout=_WITHIN_S, follow_redirects=True, trust_env=False, verify=issuers) as client,
                client.stream("GET", address, headers={"Accept-Encoding": "identity"}) as answer,
            ):
                if not answer.is_success:
                    raise ValueError(f"HTTP {answer.status_code} {answer.reason_phrase}")
                yield from answer.iter_raw()  # as it arrives, so that a slow repository cannot delay `close`
        except (OSError, ValueError, httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            message = f"the package repository cannot be read: {without_login(address)}: {reason}"
            advice = "see that it is there, and that this server can read it"
            raise Refusal(500, f"{message}; {advice}") from error

    def _copy(self, address: str, sha256: str, tarball: BufferedRandom) -> None:
        for part in self._parts(address):
            self._write(part, tarball)
        tarball.seek(0)
        actual = hashlib.file_digest(tarball, "sha256").hexdigest()
        if actual != sha256:
            raise Refusal(500, f"Checksum miss-match want: {sha256} got: {actual}")
        tarball.seek(0)

    def _write(self, part: bytes, target: IO[bytes]) -> None:
        if self._is_closed:
            raise Refusal(503, "the package is not installed: this server was ended meanwhile")
        if shutil.disk_usage(self._directory).free < LEAST_FREE_BYTES:
            reason = f"less than {LEAST_FREE_BYTES // MIB} MiB are free in {self._directory}; free space there"
            raise Refusal(500, f"the package is not installed: {reason}")
        target.write(part)

    def _unpack(self, tarball: IO[bytes], blobs: Path) -> None:
        """Unpack the blobs of a tarball, and nothing else of it."""
        with gzip.open(tarball) as plain:
            for member in tar_members(plain, "its tarball"):
                named = _BLOB.fullmatch(member.name)
                if named is None or not member.isfile():
                    continue
                plain.seek(member.offset_data)
                left = member.size
                with (blobs / named[1]).open("xb") as file:
                    while left:
                        if not (part := plain.read(min(MIB, left))):
                            raise EOFError("the tarball is cut off")
                        self._write(part, file)
                        left -= len(part)
                    os.fchmod(file.fileno(), 0o555)

    def _delete_left(self) -> None:
        """Delete what killed servers have left of packages that they were installing or removing."""
        for path in self._directory.iterdir():
            if path.name.startswith((_NEW, _OLD)):
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > _LEFT_AFTER_S:
                        shutil.rmtree(path)


class ServedPackages:
    """A server's packages. A request waits at most `within_s` seconds for a change, or for the repository."""

    def __init__(self, packages: InstalledPackages, *, within_s: float = _CHANGE_S) -> None:
        self.packages = packages
        self._within_s = within_s
        self._looks, self._listings, self._changes = (
            ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("runtimes", "repository", "packages")
        )
        self._listing: Future[dict[Runtime, tuple[str, str]]] | None = None
        self._change: Future[Runtime] | None = None

    async def runtimes(self) -> tuple[Runtime, ...]:
        """The packages that are installed now: another server that shares the directory may have changed them."""
        return await asyncio.wrap_future(self._looks.submit(self.packages.runtimes))

    async def list_repository(self) -> list[Runtime]:
        """The packages of the repository; requests that come while it is read get the same answer."""
        if self._listing is None or self._listing.done():
            self._listing = self._listings.submit(self.packages.list_repository)
        return [*await self._end_of(self._listing, "reading the package repository")]

    def close(self) -> None:
        """Start no more work, and give up what is being installed: the process ends when all of its threads have."""
        self.packages.close()
        for each in (self._looks, self._listings, self._changes):
            each.shutdown(wait=False, cancel_futures=True)

    async def change(self, language: str, version: str, *, is_wanted: bool) -> Runtime:
        """Install a package of the repository, or remove one."""
        if self._change is not None and not self._change.done():
            raise Refusal(503, "a package is being installed or removed here; ask again when that is done")
        change = self.packages.install if is_wanted else self.packages.uninstall
        self._change = self._changes.submit(change, language, version)
        return await self._end_of(self._change, f"changing {language}")

    async def _end_of(self, work: Future[_T], what: str) -> _T:
        """Wait for the result. The work continues after the deadline, as a thread cannot be stopped."""
        try:
            async with asyncio.timeout(self._within_s):
                return await asyncio.shield(asyncio.wrap_future(work))
        except TimeoutError:
            message = f"{what} takes longer than {self._within_s:g} s, and continues; check that the repository answers"
            raise Refusal(503, message) from None
