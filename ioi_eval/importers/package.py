"""The files of a package, wherever it lies: a folder, a zip, or a tar in any compression. Nothing is unpacked to disk.

Members are read when they are asked for, one at a time. Paths are those inside the package, below the folder that
holds its `problem.json`, with `/`; a member whose path leads out of the package ends the import.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import tarfile
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from ioi_eval.errors import InputError, SetupError

_JUNK = ("__MACOSX", ".DS_Store", "Thumbs.db", ".git")
_LARGEST_MEMBER = 1024 * 1024 * 1024
_LARGEST_TEXT = 1024 * 1024
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
ROOT_FILE = "problem.json"
_FORMATS = {
    ROOT_FILE: "CMS export package and no TPS task folder",
    "problem.yaml": "problem package in the Kattis format",
    "info.toml": "problem of Library Checker",
    "task.yaml": "task in the Italian YAML format",
}
_ARCHIVE_ENDING = re.compile(r"\.(?:zip|tar|tgz|txz|tar\.\w+)$")


class Package(ABC):
    """A package that is open.

    Args:
        where: its path, for messages.
        root_file: what lies in its outermost folder.
        members: how each path inside the package is called by the archive.
        links: members of an archive that only refer to others, and are not read.
    """

    def __init__(self, where: Path, root_file: str, members: dict[str, Any], links: Sequence[str] = ()) -> None:
        self.where = where
        self.root_file = root_file
        prefix, self._members = _below_root(where, root_file, members)
        self.links = tuple(sorted(name.removeprefix(prefix) for name in links))
        self.name = prefix.strip("/").rpartition("/")[2] or _ARCHIVE_ENDING.sub("", where.resolve().name)

    def names(self, folder: str = "") -> tuple[str, ...]:
        """The files below a folder of the package, sorted; with no folder, all."""
        prefix = f"{folder}/" if folder else ""
        return tuple(sorted(name for name in self._members if name.startswith(prefix)))

    def refuse_links(self, folder: str) -> None:
        """Refuse an archive that holds links below a folder: what they stand for would be missed in silence.

        Raises:
            InputError: it does.
        """
        if links := [name for name in self.links if name.startswith(f"{folder}/")]:
            raise InputError(self.absent(links[0]))

    def absent(self, name: str) -> str:
        """Why there is no such file, as a message."""
        if name in self.links:
            return f"{self.where}: {name} is a link; unpack the archive and import the folder"
        return f"{self.where}: there is no {name}"

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return name in self._members

    def read(self, name: str) -> bytes:
        """A file's content.

        Raises:
            InputError: it is not there, too large, or damaged.
        """
        if name not in self._members:
            raise InputError(self.absent(name))
        try:
            return self._read(self._members[name])
        except (*_DAMAGE, OSError, RuntimeError, NotImplementedError) as error:
            raise InputError(f"{self.where}: {name} cannot be read: {error}") from error

    def text(self, name: str) -> str:
        """A source or statement as text; what is no UTF-8 (an author's name in a comment) is read as Latin-1."""
        return _decoded(self.read(name))

    def json(self, name: str) -> dict[str, Any]:
        """A file that holds a JSON object.

        Raises:
            InputError: it is missing, or holds something else.
        """
        try:
            value = orjson.loads(self.text(name))
        except orjson.JSONDecodeError as error:
            raise InputError(f"{self.where}: {name} is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise InputError(f"{self.where}: {name} is not a JSON object")
        return value

    def yaml(self, name: str) -> dict[str, Any]:
        """A YAML file that holds named values; an empty one holds none.

        Raises:
            InputError: it is missing, or holds something else.
        """
        import yaml

        try:
            value = yaml.safe_load(self.text(name))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise InputError(f"{self.where}: {name} is not YAML: {error}") from error
        if value is not None and not isinstance(value, dict):
            raise InputError(f"{self.where}: {name} holds no named values")
        return value or {}

    @abstractmethod
    def _read(self, member: Any) -> bytes: ...


class _Folder(Package):
    def __init__(self, where: Path, root_file: str) -> None:
        found: dict[str, Any] = {}
        for directory, subdirectories, names in os.walk(where, followlinks=True):
            base = Path(directory)
            subdirectories[:] = [name for name in subdirectories if name not in _JUNK]
            if loop := next(
                (name for name in subdirectories if base.resolve().is_relative_to((base / name).resolve())), ""
            ):
                raise InputError(f"{base / loop} is a link to a folder that it lies in; remove it")
            found.update({(base / name).relative_to(where).as_posix(): base / name for name in names})
        super().__init__(where, root_file, found)

    def _read(self, member: Path) -> bytes:
        if member.is_symlink() and not member.exists():
            raise OSError(f"it is a link to {os.readlink(member)}, which is not there; fetch what it belongs to")
        _check_size(member.stat().st_size)
        return member.read_bytes()


class _Zip(Package):
    def __init__(self, where: Path, root_file: str, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        members = [info for info in archive.infolist() if not info.is_dir() and not _is_link(info)]
        links = [info.filename for info in archive.infolist() if _is_link(info)]
        super().__init__(where, root_file, {info.filename: info for info in members}, links)

    def _read(self, member: zipfile.ZipInfo) -> bytes:
        _check_size(member.file_size)
        return self._archive.read(member)


class _Tar(Package):
    def __init__(self, where: Path, root_file: str, archive: tarfile.TarFile) -> None:
        self._archive = archive
        members = archive.getmembers()
        links = [info.name for info in members if info.issym() or info.islnk()]
        super().__init__(where, root_file, {info.name: info for info in members if info.isfile()}, links)

    def _read(self, member: tarfile.TarInfo) -> bytes:
        _check_size(member.size)
        file = self._archive.extractfile(member)
        if file is None:
            raise OSError("it is no file")
        with file:
            return file.read()


@contextmanager
def open_package(path: str | Path, root_file: str = ROOT_FILE) -> Iterator[Package]:
    """Open a package for reading.

    Args:
        path: a folder, a `.zip`, or a tar (`.tar`, `.tar.gz`, `.tar.xz`, …).
        root_file: what lies in the outermost folder of such a package.

    Raises:
        InputError: it is not there, cannot be read, or holds no such file, or several packages.
    """
    where = Path(path)
    if not where.exists():
        raise InputError(f"there is no package {where}")
    if where.is_dir():
        yield _Folder(where, root_file)
        return
    try:
        if zipfile.is_zipfile(where):
            with zipfile.ZipFile(where) as zipped:
                yield _Zip(where, root_file, zipped)
        elif tarfile.is_tarfile(where):
            with _plain_tar(where) as plain:
                yield _Tar(where, root_file, plain)
        else:
            raise InputError(f"{where} is neither a folder nor a zip or tar archive; maybe it did not arrive whole")
    except _DAMAGE as error:
        raise InputError(f"{where} is damaged or cut off: {error}; get it again") from error
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from error


def zipped_text(content: bytes, wanted: str) -> str | None:
    """The text of the first file of that name in a zip inside a package; `None` for no such file, or no whole zip."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = (one for one in archive.infolist() if PurePosixPath(one.filename).name == wanted)
            member = next((one for one in found if one.file_size <= _LARGEST_TEXT), None)
            return None if member is None else _decoded(archive.read(member))
    except (*_DAMAGE, RuntimeError, NotImplementedError):
        return None


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


@contextmanager
def _plain_tar(where: Path) -> Iterator[tarfile.TarFile]:
    """A tar whose members can be read in any order: a compressed one is first expanded to an unnamed file."""
    with tarfile.open(where, "r:*") as archive, tempfile.TemporaryFile() as plain:
        source = archive.fileobj
        if source is None:
            raise InputError(f"{where} cannot be read")
        source.seek(0)
        try:
            while piece := source.read(1024 * 1024):
                plain.write(piece)
        except OSError as error:
            if error.errno is None:  # the compressed data, not the disk
                raise
            raise SetupError(f"cannot expand {where} in {tempfile.gettempdir()}: {error}; set TMPDIR") from error
        plain.seek(0)
        with tarfile.open(fileobj=plain, mode="r:") as expanded:
            yield expanded


def _check_size(size: int) -> None:
    if size > _LARGEST_MEMBER:
        raise OSError(f"it is {size:,} bytes, more than a package's file may be ({_LARGEST_MEMBER:,})")


def _below_root(where: Path, root_file: str, members: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The root file's folder, and the members by their path below it, without what desktops leave behind."""
    clean: dict[str, Any] = {}
    for name, member in members.items():
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or "\0" in name:
            raise InputError(f"{where} holds the path {name!r}, which leads out of the package; it is not opened")
        if not any(part in _JUNK or part.startswith("._") for part in path.parts):
            clean[str(path)] = member
    found = (path for path in map(PurePosixPath, clean) if path.name == root_file)
    roots = sorted(found, key=lambda path: (len(path.parts), path))
    if not roots:
        raise InputError(f"{where} holds no {root_file}: it is no {_FORMATS[root_file]}")
    others = [root for root in roots if len(root.parts) == len(roots[0].parts)]
    if len(others) > 1:
        parents = ", ".join(str(root.parent) for root in others)
        raise InputError(f"{where} holds several packages ({parents}); give them one by one")
    prefix = "" if str(roots[0].parent) == "." else f"{roots[0].parent}/"
    return prefix, {name.removeprefix(prefix): member for name, member in clean.items() if name.startswith(prefix)}
