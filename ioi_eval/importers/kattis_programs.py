"""Programs of a Kattis package except submissions: the output validator, and code that is compiled with submissions.

A validator is one source in C++, C or Python, or a script `build` that writes the validator as a program `run`.
Python is Python 3, whatever the first line says: Kattis goes by the ending. The script `build` and all files beside it
become files of the problem. It runs where checkers are compiled, in a box.

Source: Kattis problem package format, "Programs", "Output Validators", "Included Code".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from posixpath import basename, dirname, join
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.importers.judge_programs import included_among, judge_files, judge_path, startable
from ioi_eval.importers.kattis_data import ARGUMENTS, TestGroup
from ioi_eval.importers.package import Package
from ioi_eval.importers.python_2 import refuse_python_2
from ioi_eval.importers.task import language
from ioi_eval.model import SourceFile
from ioi_eval.problems.grader_files import check_starts_nothing
from ioi_eval.problems.judge_sources import BUILD_SCRIPT

VALIDATOR_DIRECTORIES = ("output_validators", "output_validator")
_RUN_SCRIPT = "run"
_INCLUDED_WITH = {"cpp": ("cpp",), "": ("cpp",), "python": ("python3", "python")}
"""The directories below `include/` for each language, of which the first that exists counts; no language: headers.

The files of `default` are for all languages. Source: Kattis problem package format 2025-09, "Included files";
problemtools, `Includes`.
"""

GRADER = "graders/grader.cpp"
_NEVER_USED = (".md", ".template")  # BAPCtools leaves templates in new packages
_NO_PROGRAMS = (*_NEVER_USED, ".txt")


def has_validator(package: Package) -> bool:
    """Whether the package has an output validator."""
    return any(_programs(package, directory) for directory in VALIDATOR_DIRECTORIES)


def _programs(package: Package, directory: str) -> list[str]:
    """The files of a directory of programs, without texts and hidden files (`.gitkeep` in an empty one)."""
    return [name for name in package.names(directory) if not (name.endswith(_NO_PROGRAMS) or "/." in name)]


def validator_files(package: Package, role: str) -> list[tuple[str, str]]:
    """The output validator's files, with the paths that a judge program has in rows."""
    directories = [directory for directory in VALIDATOR_DIRECTORIES if _programs(package, directory)]
    if len(directories) > 1:
        raise UnsupportedError(f"there is an output validator in {' and in '.join(directories)}; one is supported")
    if not directories:
        raise InputError("validation is custom, but there is no output validator; get the complete package")
    below, names = package.names(directories[0]), _programs(package, directories[0])
    if len({name.removeprefix(f"{directories[0]}/").partition("/")[0] for name in names}) > 1 and any(
        name.count("/") > 1 for name in names
    ):
        raise UnsupportedError(f"{package.where} has several output validators; one is supported")
    if script := next((name for name in names if basename(name) == _RUN_SCRIPT), None):
        raise UnsupportedError(
            f"the output validator is the script {script}, which starts other files; one source, or a"
            f" `{BUILD_SCRIPT}` script that leaves one program, is supported: put that in its place"
        )
    if build := next((name for name in names if basename(name) == BUILD_SCRIPT), None):
        return _built(package, build, role)
    return _one_source(package, names, below, role)


def validator_flags(where: str, config: Mapping[str, Any]) -> list[str]:
    """The flags of the output validator for a group of tests: one text before version 2025, then a list."""
    if ARGUMENTS not in config:
        stated = config["output_validator_flags"] or ""  # a text, or a mapping with it and the validator's name
        return flag_words(where, stated.get("flags") if isinstance(stated, Mapping) else stated)
    flags = config[ARGUMENTS] or []
    if not isinstance(flags, list) or not all(isinstance(word, str) for word in flags):
        raise InputError(f"{where}: {ARGUMENTS} is {flags!r}; it must be a list of texts")
    return flags


def with_old_flags(package: Package, root: TestGroup, for_all: Sequence[str]) -> TestGroup:
    """The groups of a package from before version 2023-07, without `output_validator_args`, which it does not have.

    BAPCtools leaves these in packages that it exports for such systems, and writes those of `data/` to
    `validator_flags` (`for_all`) too. A note names directories whose tests would be judged with other flags by them.
    """

    def without(group: TestGroup) -> TestGroup:
        return replace(group, config={name: value for name, value in group.config.items() if name != ARGUMENTS})

    others = []
    for group in root.walk():
        stated = group.config.get(ARGUMENTS)
        words = stated.split() if isinstance(stated, str) else stated
        if stated and group.tests and words != [*for_all, *validator_flags(group.path, without(group).config)]:
            others.append(group.path)
    if others:
        package.notes.append(
            f"{ARGUMENTS} of {listed(others)} is not read: before version 2023-07 the format has output_validator_flags"
        )
    return root.with_each(without)


def flag_words(where: str, stated: object) -> list[str]:
    """The words of a text with flags."""
    if isinstance(stated, Mapping | list):
        raise InputError(f"{where}: the flags of the output validator are {stated!r}; they must be a text")
    return str(stated or "").split()


def _built(package: Package, build: str, role: str) -> list[tuple[str, str]]:
    """The script that builds the validator, and all files that it may read."""
    files = [(f"{role}/{inner}", name) for inner, name in package.below(dirname(build)).items()]
    for path, name in files:
        if b"\0" in package.read(name):
            raise UnsupportedError(f"{name} is not text; {build} can be given texts only")
        if path.count("/") > 1:
            raise UnsupportedError(f"{name} lies in a directory beside {build}, which is not supported")
    return [(path, package.text(name)) for path, name in files]


def _one_source(package: Package, names: Sequence[str], below: Sequence[str], role: str) -> list[tuple[str, str]]:
    sources = [name for name in names if language(name) is not None]
    path = judge_path(sources[0], role) if len(sources) == 1 else None
    if path is None:
        raise UnsupportedError(
            f"the output validator is {', '.join(names)};"
            f" one source in C++, C or Python, with headers, is supported, and a `{BUILD_SCRIPT}` script"
        )
    (source,) = sources
    files = dict(judge_files(package, source, path))
    if path.endswith(".py"):
        refuse_python_2(source, package.text(source))
        text = package.text(source)
        own = text.partition("\n")[2] if text.startswith("#!") else text
        files[path] = startable(path, own)
    used = {source, *(join(dirname(source), each.removeprefix(f"{role}/")) for each in files)}
    others = [name for name in below if name not in used and "/." not in name and not name.endswith(_NEVER_USED)]
    texts = [name for name in others if b"\0" not in package.read(name)]  # without compiled programs
    package.leave_out("as a validator is one source with the files that it includes", texts)
    return list(files.items())


def included(package: Package, language: str) -> dict[str, str]:
    """The files that are put beside submissions in a language (`""` for headers).

    By its path there, the path of each in the package. A file for the language replaces one for all languages.
    """
    if language not in _INCLUDED_WITH:
        return {}
    directories = [f"include/{name}" for name in _INCLUDED_WITH[language] if package.names(f"include/{name}")]
    found: dict[str, str] = {}
    for directory in ("include/default", *directories[:1]):
        found |= package.below(directory)
    return found


def included_files(package: Package) -> list[tuple[str, str]]:
    """The files that are compiled with every C++ submission."""
    files = included(package, "cpp")
    sources = [name for name in files if language(name) == "cpp"]
    if len(sources) > 1:
        paths = ", ".join(files[name] for name in sources)
        raise UnsupportedError(f"{paths} are compiled with every submission in C++; one source is supported")
    needed = {*sources, *included_among(package, files, *sources)}
    check_starts_nothing(SourceFile(path=files[name], content=package.read(files[name])) for name in sorted(needed))
    others = [path for name, path in files.items() if name not in needed]
    others = [path for path in others if path.startswith("include/cpp/") or language(path) is None]
    if others:
        package.notes.append(f"left out: {listed(others)}; submissions in C++ get headers and a source")
    headers = [(f"graders/{name}", files[name]) for name in sorted(needed.difference(sources))]
    graders = [(GRADER, files[name]) for name in sources]
    return [(path, package.text(name)) for path, name in (*headers, *graders)]


def included_python(package: Package) -> tuple[str, ...]:
    """The paths of the files that are put beside every Python submission."""
    names = tuple(path for path in included(package, "python").values() if path.endswith(".py"))
    if names:
        package.notes.append(
            f"the package's own submissions in Python have {', '.join(map(basename, names))} in source_files; others"
            " need it there too"
        )
    if package.names("include/c"):
        package.notes.append("include/c is left out: submissions in C that need it do not compile")
    return names
