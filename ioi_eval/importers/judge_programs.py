"""A judge program of a package, with the files beside it that it may use, as files of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from posixpath import basename, dirname, join, normpath

from ioi_eval.importers.package import Package
from ioi_eval.importers.task import language
from ioi_eval.model import SourceFile
from ioi_eval.problems.grader_files import includes

HEADERS = (".h", ".hpp", ".hh", ".inc")
_SCRIPT = ".py"
_ENDINGS: Mapping[str | None, str] = {"cpp": ".cpp", "c": ".c", "python": _SCRIPT}  # by the language


def judge_path(source: str, role: str) -> str | None:
    """The path in rows of a judge program with this source; `None` if judge programs cannot be in its language."""
    ending = _ENDINGS.get(language(source))
    return ending and f"{role}/{role}{ending}"


def judge_files(package: Package, source: str, path: str) -> list[tuple[str, str]]:
    """A judge program, and the files below its directory that it may use: headers, and files that it includes in
    quotes. For a script in Python all others in Python, so that it is refused if it imports one (`check_modules`).
    """
    files = package.below(dirname(source))
    if path.endswith(_SCRIPT):
        names = {name for name in files if name.endswith((*HEADERS, _SCRIPT))}
    else:
        names = included_among(package, files, basename(source))
    paths = {name: str(PurePosixPath(path).parent / name) for name in sorted(names - {basename(source)})}
    beside = [(own, package.text(files[name])) for name, own in paths.items() if own != path]
    return [(path, startable(path, package.text(source))), *beside]


def startable(path: str, text: str) -> str:
    """A judge program as it can be started: tools start one in Python by `python3`, also without a first line `#!`."""
    return f"#!/usr/bin/env python3\n{text}" if path.endswith(_SCRIPT) and not text.startswith("#!") else text


def included_among(package: Package, files: Mapping[str, str], *sources: str) -> set[str]:
    """The headers among files that lie in one directory, and those of the files that these or some sources include.

    `files` has the path in the package of each, by its path in that directory.
    """
    found = {name for name in files if name.endswith(HEADERS)}
    waiting = [*sources, *found]
    while waiting:
        name = waiting.pop()
        file = SourceFile(path=name, content=package.text(files[name]).encode("utf-8", "replace"))
        for included in includes(file):
            other = normpath(join(dirname(name), included))
            if other in files and other not in found:
                found.add(other)
                waiting.append(other)
    return found
