"""Finds this machine's C++ compiler, and the files that a box must show for it; hashes a compiler's files."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ioi_eval import boxfiles, shipped
from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local.confinement import PATH
from ioi_eval.toolchain import Toolchain, outermost

_ADDED = "/usr/local/include"
_ANOTHER_MACHINE = ": use a machine with such a processor, or Piston workers that have one (--endpoints)"
_DEADLINE_S = 120  # listing a compiler's files takes 0.3 CPU-s; at load 22, at low priority, it took more than 20 s


def detect(command: str) -> Toolchain:
    """Ask the compiler with this command for its version and target, and whether the static libraries are there.
    SetupError, with what to do, if there is none, or it does not answer, or makes programs for another machine."""
    path = shutil.which(command, path=PATH)
    if path is None and "/" in command:
        raise SetupError(f"no C++ compiler: {command}, which CXX (compiler= in Python) names, is no program")
    if path is None:
        raise SetupError(
            f"no C++ compiler: {command!r} is not in {PATH}. Install one (Debian, Ubuntu: apt install g++), "
            "or name it in CXX (compiler= in Python)"
        )
    toolchain = _detect(path, _identity(path))
    return replace(toolchain, added_headers=_added_headers(toolchain))


def _added_headers(toolchain: Toolchain) -> str:
    """A hash of the files in `/usr/local/include` that the compiler may read; empty if there are none.

    Whether a program compiles may depend on them, and the compiler's version does not. Files that this user may not
    read are left out: a program that includes one does not compile.
    """
    files = sorted(file for path in toolchain.sees if path.startswith(_ADDED) for file in _files_below(path))
    files = [file for file in files if os.access(file, os.R_OK)]
    try:
        return contents_of(files) if files else ""
    except OSError as error:
        raise SetupError(f"headers in {_ADDED} are being changed: {error}; try again") from error


@lru_cache(maxsize=8)
def _detect(path: str, _: tuple[int, ...]) -> Toolchain:
    """The toolchain of the compiler at a path; cached until the file changes."""
    version = _ask(path, "--version").splitlines()[0]
    static_libraries = [_ask(path, f"-print-file-name={name}").strip() for name in ("libc.a", "libstdc++.a")]
    gcc = _ask(path, "-print-file-name=crtbegin.o").strip()
    if "clang" in version.lower():  # it uses headers and libraries of the newest GCC that is installed
        version += f", {os.path.dirname(os.path.realpath(gcc))}" if os.path.isabs(gcc) else ""
    sees, libraries = _files(path)
    machine = _ask(path, "-dumpmachine").strip()
    shipped.require_machine(f"the compiler {path}", machine, _ANOTHER_MACHINE)
    return Toolchain(
        command=path,
        version=version,
        machine=machine,
        static=all(os.path.isabs(library) for library in static_libraries),
        sees=sees,
        libraries=libraries,
    )


def _files(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that the compiler at a path reads, and those that its dynamically linked programs read."""
    script = boxfiles.read("compiler_files")  # as bytes: the locale's encoding may not have all of its characters
    failure = f"the files that the compiler {path} reads cannot be listed"
    answer = _run(["bash", "-c", script, "compiler_files", path], failure)
    lines = [line.partition("\t") for line in answer.splitlines()]
    sees, libraries = (outermost(path for kind, _, path in lines if kind == wanted) for wanted in ("sees", "library"))
    return sees, libraries


def _ask(path: str, question: str) -> str:
    answer = _run([path, question], f"the compiler {path} does not answer {question}")
    if not answer.strip():
        raise SetupError(f"the compiler {path} says nothing to {question}; name another one in CXX")
    return answer


def _run(command: Sequence[str | bytes], failure: str) -> str:
    """What a command prints; SetupError, whose message begins with `failure`, if it fails."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_DEADLINE_S,
            check=True,
            env={"PATH": PATH},
        )
    except subprocess.TimeoutExpired as error:
        why = f"it took more than {_DEADLINE_S} s; try again when this machine is less busy"
        raise SetupError(f"{failure}: {why}") from error
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines()
        raise SetupError(": ".join([failure, f"exit code {error.returncode}", *lines[-1:]])) from error
    except OSError as error:
        raise SetupError(f"{failure}: {error}") from error
    return done.stdout


# ---------------------------------------------------------------------- the state of a compiler's files


def files_of_compiler(toolchain: Toolchain) -> Sequence[str]:
    """All files that a compiler and its linker can read, sorted by name."""
    return sorted({file for path in _paths_of(toolchain) for file in _files_below(path)})


def state_of_headers(toolchain: Toolchain) -> str:
    """A hash of the names, sizes and times of all files in the directories that the compiler reads. It is the same for
    equal copies of a system, where inodes differ. An OSError if a file was deleted meanwhile."""
    digest = hashlib.sha256()
    for file in sorted(file for path in filter(os.path.isdir, toolchain.sees) for file in _files_below(path)):
        status = os.stat(file)
        digest.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


def contents_of(files: Iterable[str]) -> str:
    """A hash of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.encode(errors="surrogateescape") + b"\0")
        with open(file, "rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def identity_of_compiler(toolchain: Toolchain) -> Hashable:
    """A value that changes when a compiler is replaced. It does not look into directories, so it takes no time. An
    OSError if a file was deleted."""
    return tuple(_identity(path) for path in _paths_of(toolchain))


def _paths_of(toolchain: Toolchain) -> Sequence[str]:
    linked_by = () if toolchain.linker is None else _paths_of(toolchain.linker)
    return (toolchain.command, *toolchain.sees, *linked_by)


def _files_below(path: str) -> Iterator[str]:
    """The file, or all files in the directory, at a path; without dangling links."""
    if os.path.isfile(path):
        yield path
    for directory, _, names in os.walk(path):
        yield from filter(os.path.isfile, (os.path.join(directory, name) for name in names))


def _identity(path: str) -> tuple[int, ...]:
    status = os.stat(path)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
