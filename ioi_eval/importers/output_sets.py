"""Solutions that are files: an output for each test, in a directory or a zip.

solutions/correct/author/output_01.txt      a directory; for BatchAndOutput tasks with a source beside the outputs
solutions/correct/author.zip                a zip of outputs
solutions/correct/output_01.txt             a solution without a name of its own
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from ioi_eval.errors import InputError, listed
from ioi_eval.importers.package import Package
from ioi_eval.importers.task import language
from ioi_eval.problems.output_files import test_of


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSet:
    """The files of one solution."""

    name: str  # of the directory or zip; empty if the files are directly in the label's directory
    outputs: tuple[tuple[str, str], ...]  # names and contents
    source: str | None  # the path of the program beside them
    paths: frozenset[str]  # the paths of all its files in the package


def output_sets(package: Package, directory: str) -> tuple[OutputSet, ...]:
    """The solutions with outputs directly below a directory."""
    groups: dict[str, list[str]] = {}
    for inner, path in package.below(directory).items():
        first, slash, _ = inner.partition("/")
        if slash or first.endswith(".zip") or test_of(first):
            groups.setdefault(first.removesuffix(".zip") if slash or first.endswith(".zip") else "", []).append(path)
    sets = (_output_set(package, name, paths) for name, paths in groups.items())
    return tuple(output_set for output_set in sets if output_set.outputs)


def _output_set(package: Package, name: str, paths: Iterable[str]) -> OutputSet:
    outputs: dict[str, str] = {}
    sources: list[str] = []
    output_paths: list[str] = []
    for path in paths:
        if language(path) is not None:
            sources.append(path)
        for file, content in _outputs_at(package, path):
            if file in outputs:
                raise InputError(f"{path}: {file} is there twice; keep one")
            try:
                outputs[file] = content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(f"{path}: {file} is not text: {error}") from error
            output_paths.append(path)
    if len(sources) > 1 and outputs:
        raise InputError(f"{sources[0]} and {sources[1]} are both programs of one solution; keep one")
    source = sources[0] if sources else None
    paths_of_it = frozenset([*output_paths, *([source] if source else [])])
    return OutputSet(name=name, outputs=tuple(outputs.items()), source=source, paths=paths_of_it)


def _outputs_at(package: Package, path: str) -> Iterator[tuple[str, bytes]]:
    file = PurePosixPath(path).name
    if test_of(file):
        yield file, package.read(path)
    elif path.endswith(".zip"):
        programs: list[str] = []
        for inner, content in package.files_of_zip(path, _is_read):  # in any of its directories
            name = PurePosixPath(inner).name
            if test_of(name):
                yield name, content
            else:
                programs.append(name)
        if programs:
            package.notes.append(
                f"{path}: left out, as only outputs are read from a zip: {listed(programs)}; if a program belongs"
                " to the solution, put it and the outputs in a directory"
            )


def _is_read(inner: str) -> bool:
    return language(inner) is not None or test_of(PurePosixPath(inner).name) is not None
