"""Names problems' packages, makes them, and puts them into a repository from which workers install them.

A package's name is a hash of the problem's test data. So the name follows from the data, and a worker that lists the
package has exactly that data. The package also contains the problem's compiled programs (checker, manager, objects of
graders) and what runs them. They are not part of the name, because they differ with compilers and versions; a job sends
those that a worker does not have (`stored_files.py`).

A package is a tarball in Piston's format: `pkg-info.json`; `environment` and `run` (`graders/stored/`); `blobs/`, whose
files are named by hashes with a key (`ProblemPackage`); and `sums`, the CRC-32 of each blob, which shows damage. Its
version is a hash of its contents, so a package never changes: a file that is compiled again makes another version. A
repository is a directory that any web server can serve: `index`, one line per package, and the tarballs. Equal contents
make equal tarballs.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError
from ioi_eval.model import Content, Problem, ProblemKey, ProblemPackage, size_of
from ioi_eval.new_files import new_file
from ioi_eval.sandbox import read_content
from ioi_eval.sandbox.piston.stored_files import PACKAGE_LIMITS, digest, is_worth_storing
from ioi_eval.sandbox.piston.wire import PROBLEM_PACKAGE_PREFIX

_FORMAT = b"3"  # of the package's contents and of the list of files that its script reads; part of its name
INDEX = "index"
_LOCK = ".index.lock"  # `piston/build-repository` takes it too
_COMPRESSION = 1  # the network limits installing; even this level compresses test data to a third


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePackage:
    """A package in a repository. `size`: how many bytes it takes on a worker: its files and the tarball, which servers
    keep."""

    language: str
    version: str
    file: str
    sha256: str
    size: int


def data_of(problem: Problem) -> dict[str, Content]:
    """A problem's test data that is worth storing, by its hash."""
    data: dict[str, Content] = {}
    for case in problem.tests.values():
        for content in (case.input, case.answer):
            if content is not None and is_worth_storing(content):
                data.setdefault(digest(content), content)
    return data


def package_of(problem: Problem) -> ProblemPackage:
    """The package that workers may have for a problem."""
    held = frozenset(data_of(problem))
    named = hashlib.sha256(_FORMAT + b"\0" + str(problem.key).encode("utf-8", "surrogateescape"))
    for each in sorted(held):
        named.update(bytes.fromhex(each))
    whole = named.digest()
    return ProblemPackage(
        language=PROBLEM_PACKAGE_PREFIX + whole.hex()[:24], key=hashlib.sha256(b"names\0" + whole).digest(), held=held
    )


class Packages:
    """The packages of problems. Each is computed once, because hashing a problem's data takes as long as reading it."""

    def __init__(self) -> None:
        self._made: dict[ProblemKey, tuple[Problem, ProblemPackage]] = {}

    def of(self, problem: Problem) -> ProblemPackage:
        """The package that workers may have for a problem."""
        known = self._made.get(problem.key)
        if known is None or known[0].tests is not problem.tests:
            known = self._made[problem.key] = problem, package_of(problem)
        return known[1]


def version_of(contents: Iterable[str]) -> str:
    """The version of the package that contains files with these hashes: three numbers, as npm requires."""
    files = (boxfiles.read("stored/run"), boxfiles.read("stored/environment"), _pkg_info("", ""))
    ours = [hashlib.sha256(file).hexdigest() for file in files]
    whole = hashlib.sha256("\n".join(sorted([*contents, *ours])).encode())
    return f"1.{int(whole.hexdigest()[:12], 16)}.0"


def make_package(repository: Path, package: ProblemPackage, contents: Mapping[str, Content]) -> MadePackage:
    """Make a problem's package, unless the tarball exists with the hash in the index. A new one is not indexed yet.

    Args:
        repository: the directory; made if absent.
        contents: its files by `stored_files.digest`: test data, and other files that jobs can use.
    """
    version = version_of(contents)
    name = f"{package.language}-{version}.pkg.tar.gz"
    path = repository / name
    size = sum(map(size_of, contents.values()))
    with _writing(repository):
        repository.mkdir(parents=True, exist_ok=True)
        listed = _lines(repository).get((package.language, version), "").split(",")
        sha256 = _hash(path) if path.exists() else ""
        if not sha256 or sha256 not in listed:
            with new_file(path) as file:
                _write_tarball(file, package, version, contents)
            sha256 = _hash(path)
        return MadePackage(
            language=package.language, version=version, file=name, sha256=sha256, size=size + path.stat().st_size
        )


def list_packages(repository: Path, url: str, packages: Iterable[MadePackage]) -> None:
    """Add packages to a repository's index. Other lines stay: workers can only remove packages that are listed."""
    with _writing(repository), (repository / _LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = _lines(repository)
        for each in packages:
            line = f"{each.language},{each.version},{each.sha256},{url.rstrip('/')}/{each.file}"
            known[each.language, each.version] = line
        with new_file(repository / INDEX) as file:
            file.write("".join(f"{line}\n" for line in known.values()).encode("utf-8", "surrogateescape"))


def _lines(repository: Path) -> dict[tuple[str, ...], str]:
    """The lines of a repository's index, each by its package's name and version."""
    index = repository / INDEX
    lines = index.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if index.exists() else []
    return {tuple(line.split(",")[:2]): line for line in lines if line}


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pkg_info(language: str, version: str) -> bytes:
    named = {"language": language, "version": version, "build_platform": "docker-debian", "aliases": []}
    return json.dumps({**named, "limit_overrides": PACKAGE_LIMITS}, indent=4).encode() + b"\n"


def _write_tarball(file: IO[bytes], package: ProblemPackage, version: str, contents: Mapping[str, Content]) -> None:
    texts = {name: boxfiles.read(f"stored/{name}") for name in ("environment", "run")}
    texts["pkg-info.json"] = _pkg_info(package.language, version)
    with (
        gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=_COMPRESSION, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, text in sorted(texts.items()):
            _add(archive, name, text, 0o755)
        directory = tarfile.TarInfo("blobs")
        directory.type, directory.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(directory)
        sums: list[str] = []
        for name, content in sorted({package.name_of(key): each for key, each in contents.items()}.items()):
            data = read_content(content)
            _add(archive, f"blobs/{name}", data, 0o555)
            sums.append(f"{zlib.crc32(data):08x} {name}\n")
        _add(archive, "sums", "".join(sums).encode(), 0o444)


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))


@contextlib.contextmanager
def _writing(repository: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"the package repository {repository} cannot be written: {error.strerror or error}; free space there, or "
            "name another directory with --repository"
        ) from error
