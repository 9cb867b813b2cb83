"""Compile mode: the precompiled header of a worker's package, which steps see if its headers have not changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.graders.runner_box import COMPILE_LIMITS, Box, line, plan

SYSTEM = ("/bin", "/lib", "/lib64", "/usr", "/etc/ld.so.cache")
PACKAGE = Path(__file__).resolve().parents[2] / "piston/packages/ioi_eval/1.0.0"
READ = "cat .link"


def listed(path: Path) -> str:
    """The line of a file or directory in the package's list, as `stat -c '%s %.9Y %n'` prints it."""
    status = path.stat()
    seconds, nanoseconds = divmod(status.st_mtime_ns, 10**9)
    return f"{status.st_size} {seconds}.{nanoseconds:09} {path}\n"


class Package:
    """A package with a precompiled header, and the headers on which that depends."""

    def __init__(self, directory: Path) -> None:
        self.judge = directory / "judge"
        self.precompiled = directory / "precompiled"
        self.gch = self.precompiled / "random.gch"
        self.list = self.precompiled / "gnu++17.files"
        self.include = directory / "include"
        self.vector = self.include / "vector"
        self.absent = directory / "absent"
        for each in (self.judge, self.precompiled, self.include):
            each.mkdir(parents=True)
        self.gch.write_text("HEADER")
        self.vector.write_text("a vector")
        lines = [f"absent {self.absent}\n", *map(listed, (self.include, self.vector, self.gch))]
        self.list.write_text("".join(lines))


@pytest.fixture
def package() -> Iterator[Package]:
    """A package that the runner's user can read. Not in /tmp: with full isolation that is the runner's own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        Path(directory).chmod(0o755)
        yield Package(Path(directory))


@pytest.fixture(params=["dir-full", "fds-reduced-user"])
def worker(request: pytest.FixtureRequest, boxes: Callable[[str], Box], package: Package) -> Box:
    """A box in which the package's script `run` starts the runner."""
    return replace(boxes(request.param), environment=(("IOI_EVAL_JUDGE", str(package.judge)),))


def shell(box: Box, command: str, std: str = "gnu++17") -> dict[str, Any]:
    """The line of a step that runs a shell command and may see the header as `.link`."""
    lines = [line("sees", path=path) for path in SYSTEM if Path(path).exists()]
    lines += [line("precompiled", std=std, as_=".link"), line("step", argv=["sh", "-c", command])]
    answer = box.run(plan("compile", line("limits", **COMPILE_LIMITS), *lines), {})
    assert answer.last.get("end") is True, answer
    return answer.lines[-1]


def test_a_step_reads_the_header(worker: Box) -> None:
    """The step's line says so."""
    entry = shell(worker, READ)
    assert (entry["code"], entry["output"], entry["precompiled"]) == (0, "HEADER", True)


def test_a_step_sees_nothing_else_of_the_package(worker: Box, package: Package) -> None:
    """It cannot change the header, list the package, or read another of its files."""
    for command in (
        f"echo x > {package.gch}",
        "echo x > .link",
        f"ls {package.precompiled}",
        f"cat {package.list}",
    ):
        entry = shell(worker, command)
        assert entry["precompiled"]
        assert entry["code"] != 0, command
    assert package.gch.read_text() == "HEADER"
    assert sorted(os.listdir(package.precompiled)) == [package.list.name, package.gch.name]


def later(path: Path, content: str) -> None:
    """Write a file that is as long as before."""
    before = path.stat()
    path.write_text(content)
    assert path.stat().st_size == before.st_size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


CHANGES: dict[str, Callable[[Package], object]] = {
    "a header's size": lambda package: package.vector.write_text("another vector"),
    "a header's time": lambda package: later(package.vector, "A VECTOR"),
    "a header is deleted": lambda package: package.vector.unlink(),
    "a header is added": lambda package: (package.include / "string").write_text(""),
    "a directory is added": lambda package: package.absent.mkdir(),
    "the precompiled header's size": lambda package: package.gch.write_text("HEADERS"),
    "the precompiled header's time": lambda package: later(package.gch, "header"),
    "the precompiled header is deleted": lambda package: package.gch.unlink(),
    "no list": lambda package: package.list.unlink(),
    "an empty list": lambda package: package.list.write_text(""),
    "a list that is cut off": lambda package: package.list.write_text(package.list.read_text()[:-9]),
    "a list of something else": lambda package: package.list.write_text(listed(package.vector)),
    "a damaged list": lambda package: package.list.write_text("x\n" + package.list.read_text()),
}


@pytest.mark.parametrize("what", CHANGES)
def test_after_a_change_there_is_none(worker: Box, package: Package, what: str) -> None:
    """The steps are executed as without a package, and cannot open the header by its path either."""
    CHANGES[what](package)
    entry = shell(worker, f"test ! -e .link && ! cat {package.gch}")
    assert entry["code"] == 0, entry
    assert "precompiled" not in entry


def test_what_the_package_s_script_makes_is_used(worker: Box, package: Package) -> None:
    """The list that the script `precompile` writes is one that the runner reads, also about changes. (The compiler of
    this test finds a small `<bits/stdc++.h>`.)
    """
    root = package.judge.parent
    shutil.rmtree(package.precompiled)
    header = package.include / "bits/stdc++.h"
    header.parent.mkdir()
    header.write_text("#include <stddef.h>\n")
    compiler = root / "gcc/bin/g++"
    compiler.parent.mkdir(parents=True)
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} -nostdinc++ -idirafter {package.include} "$@"\n')
    compiler.chmod(0o755)
    for name in ("environment", "precompile"):
        shutil.copy(PACKAGE / name, root)
    (root / "precompiled_standards").write_text("gnu++17\n")
    subprocess.run(["env", "-i", "bash", "-c", f"cd {root}; source environment"], check=True)
    assert shell(worker, "head -c 4 .link")["output"] == "gpch"
    (package.include / "stddef.h").touch()
    assert "precompiled" not in shell(worker, "true")


def test_another_standard_has_none(worker: Box) -> None:
    """A package has headers for some standards only."""
    assert "precompiled" not in shell(worker, "test ! -e .link", std="gnu++20")


@pytest.mark.parametrize("std", ["../random", "", ".."])
def test_a_standard_is_a_name(worker: Box, std: str) -> None:
    """A plan that names another directory is refused."""
    text = plan("compile", line("limits", **COMPILE_LIMITS), line("precompiled", std=std, as_=".link"))
    assert worker.run(text, {}).last["fault"] == "plan"
