"""The files of a package on disk: a directory, a zip, or a tar in any compression. Only this module opens them.

A package was downloaded, so it is not trusted. Only regular files inside it are read, up to a size limit. A link may
only lead to another file of the package. (Reading a FIFO would wait for ever, and `/dev/zero` never ends.) Archives may
expand to 2 GiB, or to 100 times their size if that is more, and never to more than 32 GiB.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from ioi_eval.errors import InputError, SetupError
from ioi_eval.rows.source import refuse_pointer
from ioi_eval.tar_members import tar_members

LARGEST_FILE = 1 << 30
_MAX_ENTRIES = 200_000
DEEPEST = 64
_LEAST_EXPANDED, _MAX_EXPANDED = 2 << 30, 32 << 30
_RATIO = 100
"""An archive may expand to `_RATIO` times its size. This limit is at least `_LEAST_EXPANDED` bytes, and at most
`_MAX_EXPANDED`. Random data of contests shrinks to a third, uniform data to a thousandth."""
_KEPT_FREE = 1 << 30
_LARGEST_INNER_ZIP = 256 << 20
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_NAME_IS_UTF8 = 1 << 11  # a flag of a file in a zip. Source: PKWARE APPNOTE, 4.4.4
_BLOCK = 512  # of a tar
_JUNK = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", ".git", "Icon\r"})
_SHARED_HEADER = 1 << 20
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
UNREADABLE = (*DAMAGE, OSError, RuntimeError, ValueError)
_PACKED: Mapping[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"\x5d\x00\x00": lzma.open,
}
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a directory"),
)


def is_junk(name: str) -> bool:
    """Whether a file or directory of this name was made by a desktop or by git: it is no part of the package."""
    return name in _JUNK or name.startswith("._")


class PackageFiles(ABC):
    """The files in a package: `members` has for each path in it the object by which the file is read; `links` are the
    links that are not followed."""

    instead_of_link = "; unpack the archive and import the directory"

    def __init__(self, where: Path, members: Mapping[str, Any], links: tuple[str, ...] = ()) -> None:
        self.where = where
        self.members = members
        self.links = links
        if len(members) > _MAX_ENTRIES:
            raise InputError(f"{where} holds {len(members):,} files, more than a package may ({_MAX_ENTRIES:,})")

    def read(self, member: Any, name: str, most: int = LARGEST_FILE) -> bytes:
        """A file's content."""
        try:
            content = self._read(member, min(most, LARGEST_FILE))
        except UNREADABLE as error:
            raise InputError(f"{self.where}: {name} cannot be read: {error}") from error
        refuse_pointer(content, f"{self.where}: {name}")
        return content

    @abstractmethod
    def size(self, member: Any) -> int:
        """A file's size; 0 if it cannot be read."""

    @abstractmethod
    def _read(self, member: Any, most: int) -> bytes: ...


class _Directory(PackageFiles):
    instead_of_link = " that leads out of the package; if that is intended, import a copy without links (cp -rL)"

    def __init__(self, where: Path) -> None:
        self.where, self._root = where, _real(where)
        members = dict(self._walk(where, "", 0, [0]))
        links = dict.fromkeys(name for name, path in members.items() if path.is_symlink() and path.is_dir())
        super().__init__(where, {name: path for name, path in members.items() if name not in links}, tuple(links))

    def _walk(self, directory: Path, prefix: str, depth: int, seen: list[int]) -> Iterator[tuple[str, Path]]:
        for name in sorted(os.listdir(directory)):
            path = directory / name
            seen[0] += 1
            if seen[0] > _MAX_ENTRIES or depth > DEEPEST:
                deep = f"is deeper than {DEEPEST} directories"
                what = deep if depth > DEEPEST else f"holds over {_MAX_ENTRIES:,} files"
                raise InputError(
                    f"{self.where} {what} ({prefix}{name}), more than a package may; give the package's own directory"
                )
            if is_junk(name):
                continue
            if not self._is_directory(path):
                yield f"{prefix}{name}", path
                continue
            if path.is_symlink() and _real(directory).is_relative_to(_real(path)):
                raise InputError(f"{path} is a link to a directory that contains it; remove it")
            yield from self._walk(path, f"{prefix}{name}/", depth + 1, seen)

    def _is_directory(self, path: Path) -> bool:
        """Whether it is a directory to read. A link out of the package is not."""
        if path.is_symlink() and not _real(path).is_relative_to(self._root):
            return False
        return path.is_dir()

    def size(self, member: Path) -> int:
        return member.stat().st_size if member.exists() else 0

    def _read(self, member: Path, most: int) -> bytes:
        return _regular_file(member, self._root, most)


class _Zip(PackageFiles):
    def __init__(self, where: Path, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        files = _zip_entries(archive)
        _check_expanded(where, sum(info.file_size for info in files), where.stat().st_size)
        links = {_zip_name(info) for info in files if stat.S_ISLNK(info.external_attr >> 16)}
        members = {name: info for info in files if (name := _zip_name(info)) not in links}
        super().__init__(where, members, tuple(links))

    def size(self, member: zipfile.ZipInfo) -> int:
        return member.file_size

    def _read(self, member: zipfile.ZipInfo, most: int) -> bytes:
        _check_size(member.file_size, most)
        return _content_of(self._archive, member)


class _Tar(PackageFiles):
    def __init__(self, where: Path, plain: IO[bytes]) -> None:
        self._plain = plain
        members: list[tarfile.TarInfo] = []
        for info in tar_members(plain, where):
            members.append(info)
            if len(members) > _MAX_ENTRIES:
                raise InputError(f"{where} holds more than {_MAX_ENTRIES:,} files, more than a package may")
        _check_expanded(where, sum(info.size for info in members), where.stat().st_size)
        links = tuple(info.name for info in members if info.issym() or info.islnk())
        super().__init__(where, {info.name: info for info in members if info.isfile()}, links)

    def size(self, member: tarfile.TarInfo) -> int:
        return member.size

    def _read(self, member: tarfile.TarInfo, most: int) -> bytes:
        _check_size(member.size, most)
        self._plain.seek(member.offset_data)
        content = self._plain.read(member.size)
        if len(content) < member.size:
            raise tarfile.ReadError("unexpected end of data")
        return content


@contextmanager
def open_files(where: Path) -> Iterator[PackageFiles]:
    """The files of a package.

    Raises:
        InputError: it is missing, damaged, neither a directory nor a zip or tar, or would expand to more than is
            allowed.
        SetupError: there is not enough disk space to expand it.
    """
    with ExitStack() as opened:
        try:
            files = _opened(where, opened)
        except DAMAGE as error:
            raise InputError(f"{where} is damaged or cut off: {error}; get it again") from error
        except OSError as error:
            raise InputError(f"{where} cannot be read: {error.strerror or error}") from error
        yield files


def _opened(where: Path, opened: ExitStack) -> PackageFiles:
    if where.is_dir():
        return _Directory(where)
    if not where.exists():
        raise InputError(f"there is no package {where}")
    if not where.is_file():
        raise InputError(f"{where} is neither a directory nor a file")
    with where.open("rb") as file:
        refuse_pointer(file.read(100), where)
    if zipfile.is_zipfile(where):
        return _Zip(where, opened.enter_context(_zip_file(where)))
    return _Tar(where, opened.enter_context(_plain_tar(where)))


def files_of_zip(content: bytes, wanted: Callable[[str], bool], most: int) -> Iterator[tuple[str, bytes]]:
    """Some files of a zip inside a package, of at most `most` bytes together: their paths in it and their contents.

    Raises:
        OSError: they are larger, or the zip is too large to open.
        zipfile.BadZipFile: and others of `DAMAGE`, and RuntimeError: it is damaged, or needs a password.
    """

    def is_wanted(name: str) -> bool:
        return not any(map(is_junk, name.split("/"))) and wanted(name)

    _check_size(len(content), _LARGEST_INNER_ZIP)
    with _zip_file(io.BytesIO(content)) as archive:
        entries = [entry for entry in _zip_entries(archive) if is_wanted(_zip_name(entry))]
        _check_size(sum(entry.file_size for entry in entries), most)
        for entry in entries:
            yield _zip_name(entry), _content_of(archive, entry)


def _zip_file(file: Path | io.BytesIO) -> zipfile.ZipFile:
    """An open zip. What Python raises for damaged names and versions is BadZipFile here, as for other damage."""
    try:
        return zipfile.ZipFile(file)
    except (NotImplementedError, UnicodeError) as error:
        raise zipfile.BadZipFile(str(error)) from error


def _zip_entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of a zip, without its directories and entries without a name."""
    return [entry for entry in archive.infolist() if entry.filename and not entry.is_dir()]


def _content_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content of a file in a zip: as many bytes as the zip states.

    Asked for a number of bytes, `zipfile` inflates no more than that; otherwise it expands the whole file first,
    whatever size is stated. What is compressed by another method it always expands as a whole: a kilobyte of bzip2 can
    become a gigabyte.
    """
    if entry.compress_type not in _METHODS:
        raise zipfile.BadZipFile("it is not compressed by deflate; unpack the archive and import the directory")
    with archive.open(entry) as file:
        return file.read(entry.file_size)


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip. Common programs write names in UTF-8 without the flag that says so."""
    try:
        return entry.filename if entry.flag_bits & _NAME_IS_UTF8 else entry.filename.encode("cp437").decode()
    except UnicodeError:
        return entry.filename


def read_beside(directory: Path, name: str) -> bytes | None:
    """A header that several packages of a collection share, from a directory above them; `None` if it does not exist.

    Neither the name, which may have `/`, nor a link may lead out of the directory.
    """
    path = directory / name
    if ".." in Path(name).parts or Path(name).is_absolute() or not path.is_file():
        return None
    try:
        return _regular_file(path, _real(directory), _SHARED_HEADER)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _real(path: Path) -> Path:
    """The path after following links; a link that leads to itself is kept."""
    return Path(os.path.realpath(path))


def _regular_file(path: Path, root: Path, most: int) -> bytes:
    """The content of a regular file, which must be inside the directory after following all links."""
    real = _real(path)
    if path.is_symlink() and not real.is_relative_to(root):
        missing = "" if real.exists() else ", which is not there"
        raise OSError(
            f"it is a link to {os.readlink(path)}{missing}, outside of the package; if it belongs there, get the files"
            " that it leads to, and import a copy without links (cp -rL)"
        )
    if not real.is_relative_to(root):
        raise OSError("it lies outside of the package, behind a link")
    if not real.exists():
        raise OSError(f"it is a link to {os.readlink(path)}, which does not exist; get the files that it leads to")
    _require_regular(os.stat(real).st_mode)  # a socket cannot even be opened
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _require_regular(status.st_mode)
        _check_size(status.st_size, most)
        return file.read(most)


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((description for matches, description in _KINDS if matches(mode)), "something else")
        raise OSError(f"it is {kind}; it must be a regular file")


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise OSError(f"it is {size:,} bytes, more than such a file may be ({most:,})")


def _check_expanded(where: Path, expanded: int, size: int) -> None:
    if expanded > (most := min(max(_LEAST_EXPANDED, _RATIO * size), _MAX_EXPANDED)):
        raise InputError(
            f"{where} has {size:,} bytes and expands to more than {most:,}; if that is meant, unpack it and import the"
            " directory"
        )


@contextmanager
def _plain_tar(where: Path) -> Iterator[IO[bytes]]:
    """A tar that is not compressed: a compressed one is first expanded to an unnamed file."""
    with open(where, "rb") as file:
        head = file.read(16)
    opener = next((opener for magic, opener in _PACKED.items() if head.startswith(magic)), None)
    with tempfile.TemporaryFile() as expanded, open(where, "rb") as stored:
        if opener is not None:
            with opener(where) as source:
                _expand(where, source, expanded)
        plain = stored if opener is None else expanded
        plain.seek(0)
        try:
            tarfile.TarInfo.frombuf(plain.read(_BLOCK), "utf-8", "replace")
        except tarfile.TarError as error:
            raise InputError(
                f"{where} is neither a directory nor a zip or tar archive; maybe it is incomplete"
            ) from error
        plain.seek(0)
        yield plain


def _expand(where: Path, source: IO[bytes], plain: IO[bytes]) -> None:
    """Expand a compressed file, up to the size limit and the free disk space."""
    size, written = where.stat().st_size, 0
    while piece := source.read(1 << 20):
        written += len(piece)
        _check_expanded(where, written, size)
        if shutil.disk_usage(tempfile.gettempdir()).free < _KEPT_FREE:
            raise _no_room(where, "less than 1 GiB would be left there")
        try:
            plain.write(piece)
            plain.flush()
        except OSError as error:
            raise _no_room(where, error.strerror or str(error)) from error


def _no_room(where: Path, why: str) -> SetupError:
    return SetupError(f"cannot expand {where} in {tempfile.gettempdir()}: {why}; set TMPDIR")
