"""Reads our programs that are put into boxes: the files in `graders/`. Nothing else reads that directory.

In a checkout it is beside the package, in a wheel inside it.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ioi_eval.errors import SetupError

RUNNER_VERSION = 1
"""The version of the protocol that `graders/PROTOCOL.md` defines and `jobs/` uses."""

FLAGS = ("-std=c++17", "-O2", "-pipe", "-s")
STATIC_FLAGS = (*FLAGS, "-static")
"""The flags with which our own programs are compiled; `STATIC_FLAGS` if the compiler can link statically."""


@cache
def _directory() -> Path:
    package = Path(__file__).resolve().parent
    for candidate in (package / "graders", package.parent / "graders"):
        if (candidate / "PROTOCOL.md").is_file():
            return candidate
    raise SetupError(f"the box files are missing (looked in {package / 'graders'}); install ioi-eval again")


@cache
def read(name: str) -> bytes:
    """The bytes of one box file, by its name in `graders/`."""
    return (_directory() / name).read_bytes()


_NUMBER = re.compile(r"^constexpr int64_t (k\w+) = ([0-9']+);$", re.MULTILINE)


def numbers(header: str) -> Mapping[str, int]:
    """The numbers of a header, by their names in C++."""
    return {name: int(digits.replace("'", "")) for name, digits in _NUMBER.findall(header)}


@cache
def runner_rules() -> Mapping[str, int]:
    """The numbers of the runner's rules, by their names in `graders/runner/rules.h`."""
    return numbers(read("runner/rules.h").decode("utf-8"))


@cache
def classic_scripts() -> Mapping[str, bytes]:
    """The scripts of classic jobs, and the files that they need in addition to the runner."""
    return {name: read(name) for name in ("compile", "run", "compiler_files")}


@cache
def source_of(name: str) -> bytes:
    """The source of one of our C++ programs as one file: with the runner's headers in place of each `#include`."""
    seen: set[str] = set()

    def with_headers(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        directory = name.rpartition("/")[0]
        text = read(name).decode("utf-8").replace("#pragma once\n", "")
        return _OWN_INCLUDE.sub(lambda match: with_headers(f"{directory}/{match[1]}".lstrip("/")), text)

    return with_headers(name).encode("utf-8")


def runner_source() -> bytes:
    """The runner's source as one file."""
    return source_of("runner.cpp")


@cache
def runner_source_digest() -> str:
    """SHA-256 of `runner_source`. Each submission's jobs need it, and to compute it takes longer than to send a job."""
    return hashlib.sha256(runner_source()).hexdigest()


@cache
def runner_files_digest() -> str:
    """SHA-256 of `cat runner.cpp runner/*.h`, by which the Piston package's `build.sh` names the runner's sources."""
    names = ["runner.cpp", *sorted(f"runner/{path.name}" for path in (_directory() / "runner").glob("*.h"))]
    return hashlib.sha256(b"".join(map(read, names))).hexdigest()


_OWN_INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)


_HARNESS_MAIN = b"""import os
import sys

from _harness.main import main

if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
"""


def harness_sources() -> Mapping[str, bytes]:
    """The modules of the Python harness, by their paths in its archive."""
    directory = _directory() / "harness"
    names = sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*.py"))
    return {"__main__.py": _HARNESS_MAIN, **{f"_harness/{name}": read(f"harness/{name}") for name in names}}


@cache
def harness_archive() -> bytes:
    """The Python harness as a Zip application: the same bytes from the same sources."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in harness_sources().items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()
