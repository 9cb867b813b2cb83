"""An open package: reads texts, JSON, YAML, TOML and XML by their paths below the directory of the root file.

Only `package_files.py` reads members, one at a time, when they are needed. A member whose path leads out of the package
ends the import. The size of parsed data is limited: a few kilobytes of YAML with aliases can expand to more than any
memory holds.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import orjson

from ioi_eval.errors import ODD_DATA, InputError, UnsupportedError, listed
from ioi_eval.importers.package_files import (
    DEEPEST,
    LARGEST_FILE,
    UNREADABLE,
    PackageFiles,
    files_of_zip,
    is_junk,
    open_files,
)
from ioi_eval.problems.row import is_finite, is_number
from ioi_eval.rows.packages import FORMATS

if TYPE_CHECKING:
    import yaml

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LARGEST_SOURCE = 16 << 20  # a source, a statement, JSON
_LARGEST_SETTINGS = 1 << 20  # YAML and TOML: parsing a megabyte takes a second or more
_LARGEST_OF_ZIPS = 1 << 30  # all files read from zips in a package together, because they stay in memory
_LARGEST_LIMIT = 10**12  # whatever its unit
_MAX_NODES = 100_000
_MOST_DOTS = 200  # on a line of TOML: reading a key takes quadratic time in the number of its parts
_LONGEST_NUMBER = 1000  # digits: YAML's numbers to the base 60 take quadratic time, and Python shows at most 4,300
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_DEEPEST_VALUE = 100  # Python shows and copies values by recursion, which ends at about 1,000
_SHOWN_CHARS = 200  # letters of a name
ONLY_SUBTASK = "all"
"""The name of a problem's only subtask, if the problem is pass-fail or its score is the sum over its tests."""

ROOT_FILE = "problem.json"
_BESIDE = frozenset({"subtasks", "subtasks.json", "tests"})
"""One of these is beside the root file of a CMS export or TPS task. Other directories have a `problem.json` too."""

_INPUTS_OF_TASK_MAKER = ("task.yaml.orig", "task.toml")
_XML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)  # without `\Z`: quadratic time
_ARCHIVE_ENDING = re.compile(r"\.(?:zip|kpp|tar|tgz|txz|tar\.\w+)$")


class Package:
    """An open package: its files, and the arguments of `open_package`.

    The importer adds `notes` for the user about what is missing, was left out or was repaired. It may set `edit`, a
    function that changes every text after reading, by its path.
    """

    def __init__(
        self, files: PackageFiles, root_file: str, other_root_file: str | None, format: str, model_example: str
    ) -> None:
        self.where = files.where
        self.format, self.model_example = format, model_example
        self.notes: list[str] = []
        self.edit: Callable[[str, str], str] | None = None
        self._files = files
        self._room_for_zips = _LARGEST_OF_ZIPS
        clean = _clean(files.where, dict(files.members))
        names = {PurePosixPath(name).name for name in clean}
        if other_root_file is not None and other_root_file in names and root_file not in names:
            root_file = other_root_file
        self.root_file = root_file
        prefix, self._members = _below_root(files.where, root_file, clean)
        links = (str(PurePosixPath(name.replace("\\", "/"))) for name in files.links)
        self.links = tuple(sorted(link.removeprefix(prefix) for link in links if link.startswith(prefix)))
        if self.links:
            self.notes.append(f"links that are not followed: {listed(self.links)}")
        deeper = [path.parent for path in map(PurePosixPath, clean) if path.name == root_file]
        others = sorted(str(parent) for parent in deeper if not f"{parent}/".startswith(prefix))
        if others:
            self.notes.append(f"other packages, which are not imported: {listed(others)}; give them one by one")
        self.name = prefix.strip("/").rpartition("/")[2] or _ARCHIVE_ENDING.sub("", files.where.resolve().name)

    def leave_out(self, why: str, names: Sequence[str]) -> None:
        """Note that these files or solutions, if there are any, are left out."""
        if names:
            self.notes.append(f"left out, {why}: {listed(names)}")

    def names(self, directory: str = "") -> tuple[str, ...]:
        """The files below a directory of the package, sorted; with no directory, all."""
        prefix = f"{directory}/" if directory else ""
        return tuple(sorted(name for name in self._members if name.startswith(prefix)))

    def below(self, directory: str) -> dict[str, str]:
        """The files below a directory of the package, by their paths in that directory."""
        start = len(directory) + 1 if directory else 0
        return {name[start:]: name for name in self.names(directory)}

    def refuse_links(self, *paths: str) -> None:
        """Refuse links at, above or below some paths that we do not follow, because files would silently be missing."""
        names = tuple(f"{path}/" for path in paths)
        links = [
            link for link in self.links if f"{link}/".startswith(names) or any(n.startswith(f"{link}/") for n in names)
        ]
        if links:
            raise InputError(self.absent(links[0]))

    def absent(self, name: str) -> str:
        """The message that a file is missing, with the reason."""
        if name in self.links:
            return f"{self.where}: {name} is a link{self._files.instead_of_link}"
        return f"{self.where}: there is no {name}"

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return name in self._members

    def read(self, name: str, most: int = LARGEST_FILE) -> bytes:
        """A file's content, of at most `most` bytes."""
        if name not in self._members:
            raise InputError(self.absent(name))
        return self._files.read(self._members[name], name, most)

    def size(self, name: str) -> int:
        """A file's size; 0 if it cannot be read."""
        return self._files.size(self._members[name]) if name in self._members else 0

    def files_of_zip(self, name: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
        """Some files of a zip in the package: their paths in it and their contents."""
        content = self.read(name)
        try:
            for path, inner in files_of_zip(content, wanted, self._room_for_zips):
                self._room_for_zips -= len(inner)
                yield path, inner
        except UNREADABLE as error:
            raise InputError(f"{self.where}: {name} is damaged, or is not a readable zip: {error}") from error

    def text_of_zip(self, name: str, wanted: str) -> str | None:
        """The text of the first file of that name in a zip; `None` if there is none, or the zip is bad."""
        with suppress(InputError):
            for _, content in self.files_of_zip(name, lambda path: PurePosixPath(path).name == wanted):
                return _decoded(content)
        return None

    def text(self, name: str, most: int = _LARGEST_SOURCE) -> str:
        """A source or statement as text. If it is not UTF-8 (an author's name in a comment) it is read as Latin-1."""
        text = _decoded(self.read(name, most))
        return text if self.edit is None else self.edit(name, text)

    def lines(self, name: str) -> list[str]:
        """The lines of a text, as other programs read them: `splitlines` also splits at U+0085 (a Windows "…")."""
        return self.text(name).replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def json(self, name: str) -> dict[str, Any]:
        """A file with a JSON object."""
        try:
            value = orjson.loads(self.text(name))
        except orjson.JSONDecodeError as error:
            raise InputError(f"{self.where}: {name} is not JSON: {error}") from error
        if not isinstance(value, dict):
            raise InputError(f"{self.where}: {name} is not a JSON object")
        check_nesting(value, f"{self.where}: {name}")
        return value

    def toml(self, name: str) -> dict[str, Any]:
        """A TOML file."""
        text = self.text(name, _LARGEST_SETTINGS)
        if any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
            raise InputError(f"{self.where}: {name} has a line with over {_MOST_DOTS} dots, which no package needs")
        try:
            values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
            raise InputError(f"{self.where}: {name} is not TOML: {error}") from error
        check_nesting(values, f"{self.where}: {name}")
        return values

    def xml(self, name: str) -> ElementTree.Element:
        """The root element of an XML file.

        Raises:
            InputError: it is missing, is not XML, or defines entities, which can expand to more than any memory holds.
        """
        text = self.text(name)
        if "<!" in _XML_COMMENT.sub("", text):
            raise InputError(f"{self.where}: {name} has a declaration (<!…), which packages do not need; remove it")
        try:
            return ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise InputError(f"{self.where}: {name} is not XML: {error}") from error

    def check_limit(self, value: object, field: str, file: str) -> float:
        """A limit that a file of the package states."""
        if not is_number(value) or not 0 < value < _LARGEST_LIMIT:
            raise InputError(
                f"{self.where}: {field} is {value!r} in {file}; it must be a number above 0 and below 10^12"
            )
        return value

    def yaml(self, name: str) -> dict[str, Any]:
        """A YAML file with named values; an empty file has none."""
        import yaml

        text = self.text(name, _LARGEST_SETTINGS)
        try:
            loader = yaml.SafeLoader(text)
            try:
                node = loader.get_single_node()
                if node is not None and (size := _expanded_size(node)) > _MAX_NODES:
                    expansion = f"stands for {size:,} values" if size < 1 << 60 else "stands for infinitely many values"
                    raise InputError(f"{self.where}: {name} {expansion} by its aliases; write the values out")
                if node is not None and _has_long_number(node):
                    raise InputError(_long_number(f"{self.where}: {name}"))
                value = None if node is None else loader.construct_document(node)
            finally:
                loader.dispose()
        except (yaml.YAMLError, *ODD_DATA) as error:  # such as KeyError for `!!bool "x"`
            raise InputError(f"{self.where}: {name} is not YAML: {error}") from error
        if value is not None and not isinstance(value, dict):
            raise InputError(f"{self.where}: {name} holds no named values")
        return value or {}


def check_nesting(value: object, what: str) -> None:
    """Refuse a value from JSON or TOML that is nested more deeply, or has a longer number, than any package needs."""
    level = [value]
    for _ in range(_DEEPEST_VALUE + 1):
        if any(isinstance(item, int) and item.bit_length() > 4 * _LONGEST_NUMBER for item in level):
            raise InputError(_long_number(what))
        level = [inner for item in level for inner in _inner_values(item)]
    if level:
        raise InputError(f"{what} is nested more than {_DEEPEST_VALUE} deep, which no package needs")


def _long_number(what: str) -> str:
    return f"{what} has a number of over {_LONGEST_NUMBER:,} digits, which no package needs"


def _inner_values(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _expanded_size(root: yaml.Node) -> int:
    """The number of values of a document with all aliases expanded; 2^60 if it is infinite."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        sizes[id(node)] = 1 << 60  # used if the node contains itself
        value = node.value
        inner = value if isinstance(value, list) else []
        parts = (part for item in inner for part in (item if isinstance(item, tuple) else (item,)))
        sizes[id(node)] = min(1 + sum(map(size, parts)), 1 << 60)
        return sizes[id(node)]

    return size(root)


def _has_long_number(root: yaml.Node) -> bool:
    """Whether a document has a number with too many digits. Its aliases are expanded."""
    if not isinstance(root.value, list):
        return root.tag in _NUMBERS and len(root.value) > _LONGEST_NUMBER
    parts = (part for item in root.value for part in (item if isinstance(item, tuple) else (item,)))
    return any(map(_has_long_number, parts))


@contextmanager
def open_package(
    path: str | Path,
    root_file: str = ROOT_FILE,
    *,
    other_root_file: str | None = None,
    format: str = "",
    model_example: str = "",
) -> Iterator[Package]:
    """Open a package for reading.

    Args:
        path: a directory, a `.zip`, or a tar (`.tar`, `.tar.gz`, `.tar.xz`, …).
        root_file: the file in the outermost directory of such a package.
        other_root_file: the file that may be there in its place.
        format: what such a package is. Errors that are raised while it is open get this and its path.
        model_example: a solution that the format states to get full marks, for a note if there are none.
    """
    with open_files(Path(path)) as files:
        package = Package(files, root_file, other_root_file, format, model_example)
        try:
            yield package
        except InputError as error:
            if not package.format or type(error) not in (InputError, UnsupportedError):
                raise
            where = "" if str(error).startswith(str(package.where)) else f"{package.where}: "
            raise type(error)(f"{where}{error} [read as {package.format}]") from error


def number_in_text(value: object) -> object:
    """The number that a text states; any other value unchanged. Source: CMS's loaders call `float` or `int`."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def mapping_of(what: str, value: Any) -> Mapping[str, Any]:
    """A mapping of names to values; an empty one for none."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{what} is {value!r}; it must be a mapping of names to values")
    return value or {}


def number_of(what: str, value: object) -> float:
    """A number of points, or a threshold, which a float can hold."""
    if not is_finite(value):
        raise InputError(f"{what} is {value!r}; it must be a number")
    return value


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _escaped(name: str) -> str:
    return ascii(name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}…")


def _clean(where: Path, members: dict[str, Any]) -> dict[str, Any]:
    """The members by their paths, without files that desktops create."""
    clean: dict[str, Any] = {}
    for name, member in members.items():
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or "\0" in name:
            raise InputError(f"{where} holds the path {name!r}, which leads out of the package; it is not opened")
        if not any(map(is_junk, path.parts)):
            if _UNPRINTABLE.search(name):
                raise InputError(
                    f"{where} holds a file whose name is not plain text: {_escaped(name)}; rename it (UTF-8, one line)"
                )
            if len(path.parts) > DEEPEST + 1:
                raise InputError(
                    f"{where} is deeper than {DEEPEST} directories ({_escaped(name)}), which no package is"
                )
            clean[str(path)] = member
    return clean


def _below_root(where: Path, root_file: str, clean: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The root file's directory, and the members by their path below it."""
    candidates = (path for path in map(PurePosixPath, clean) if path.name == root_file)
    roots = sorted(candidates, key=lambda path: (len(path.parts), path))
    if not roots:
        kinds = " or ".join(FORMATS[root_file])
        raise InputError(f"{where} holds no {root_file}: it is not {kinds}{_other_format(clean)}")
    others = [root for root in roots if len(root.parts) == len(roots[0].parts)]
    if len(others) > 1:
        parents = listed(str(root.parent) for root in others)
        raise InputError(f"{where} holds several packages ({parents}); give them one by one")
    prefix = "" if str(roots[0].parent) == "." else f"{roots[0].parent}/"
    return prefix, {name.removeprefix(prefix): member for name, member in clean.items() if name.startswith(prefix)}


def _other_format(clean: dict[str, Any]) -> str:
    """What the package is instead, for a message: the format of its uppermost root file. If it has none, the archives
    in it; if it has no archives either, the root files of all formats, which are missing."""
    known = {*FORMATS, *_INPUTS_OF_TASK_MAKER}
    paths = [path.parts for path in map(PurePosixPath, clean)]
    marked = {parts[:depth] for parts in paths for depth, part in enumerate(parts) if part in _BESIDE}
    roots = [parts for parts in paths if parts[-1] in known and (parts[-1] != ROOT_FILE or parts[:-1] in marked)]
    if not roots:
        archives = sorted(name for name in clean if _ARCHIVE_ENDING.search(name))
        if archives:
            return f"; it holds archives ({listed(archives)}): import these one by one"
        others = ", ".join(name for name in FORMATS if name != ROOT_FILE)
        return f"; nor is it of another format: it has no {others}, and no {ROOT_FILE} beside tests or subtasks"
    name = min((len(parts), parts[-1]) for parts in roots)[1]
    if name in _INPUTS_OF_TASK_MAKER:
        return (
            f"; its {name} is for task-maker-rust, which makes task.yaml and the tests from it: run that on the task,"
            f" then use {_commands('task.yaml')}"
        )
    return f"; by its {name} it is {next(iter(FORMATS[name]))}: use {_commands(name)}"


def _commands(root_file: str) -> str:
    """The commands that read packages with a root file, for a message."""
    return " or ".join(f"`ioi-eval import {command}`" for command in FORMATS[root_file].values())
