"""Fixtures: the runner, programs for it to run, and boxes, each made once in a session."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ioi_eval.boxfiles import STATIC_FLAGS
from tests.graders.runner_box import BOXES, PROGRAMS, RUNNER_FILES, RUNNER_SOURCE, Box, make_box
from tests.keeping_compiler import keeping_compiler
from tests.selecting import deselect
from tests.shared_work import compiled, made_once, shared_directory, shared_open_directory


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory for compiled programs. The runner's user can read it, unlike pytest's own directories."""
    with shared_open_directory(shared_directory(tmp_path_factory) / "runner-tests") as directory:
        yield directory


@pytest.fixture(scope="session")
def runner(built: Path) -> Path:
    """The runner with the wheel's flags, compiled once for these tests, the wheel and the Piston package."""

    def make(directory: Path) -> None:
        compiler = keeping_compiler(directory)
        subprocess.run([compiler, *STATIC_FLAGS, RUNNER_SOURCE, "-o", directory / "runner"], check=True)

    return made_once(built / "runner", make) / "runner"


@pytest.fixture(scope="session")
def unoptimised(built: Path) -> Path:
    """The runner with its symbols. Some compilers include <functional> in other headers: here, it is included first."""
    arguments = ("-std=c++17", "-static", "-include", "functional", str(RUNNER_SOURCE))
    return compiled(built / "unoptimised-runner", arguments, RUNNER_FILES)


@pytest.fixture(scope="session")
def hidden(runner: Path) -> frozenset[str]:
    """Calls that an outer filter, for example a container's, refuses before the runner's filter; usually none."""
    done = subprocess.run([str(runner), "--probe"], capture_output=True, check=True)
    return frozenset(json.loads(done.stdout)["hidden"])


@pytest.fixture(scope="session")
def program(built: Path) -> Callable[..., Path]:
    """Programs of `programs/` by name, compiled once for each set of flags."""

    def compile_(name: str, *flags: str, static: bool = True) -> Path:
        flags = (*flags, "-static") if static else flags
        target = built / "-".join((name, hashlib.sha256("\0".join(flags).encode()).hexdigest()[:12]))
        arguments = ("-O1", "-pipe", *flags, str(PROGRAMS / f"{name}.cpp"), "-pthread")
        return compiled(target, arguments, [PROGRAMS, *RUNNER_FILES])

    return compile_


@pytest.fixture(scope="session")
def boxes(runner: Path, built: Path) -> Callable[[str], Box]:
    """Boxes by name. Each is tried once."""
    known: dict[str, Box] = {}

    def get(name: str) -> Box:
        if name not in known:
            known[name] = make_box(name, runner, built)
        return known[name]

    return get


@pytest.fixture(params=list(BOXES))
def box(request: pytest.FixtureRequest, boxes: Callable[[str], Box]) -> Box:
    """Each box: the test runs once for each."""
    return boxes(request.param)


PLAIN_BOXES = ("bwrap-root" if os.geteuid() == 0 else "bwrap-user", "fds-reduced-user")
"""A box of each isolation level."""


@pytest.fixture(params=PLAIN_BOXES)
def plain_box(request: pytest.FixtureRequest, boxes: Callable[[str], Box]) -> Box:
    """A box for tests that do not depend on how the runner is started. With `--full`, they run in both boxes, else in
    one of them: half of the tests in each.
    """
    return boxes(request.param)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose a plain box for each test unless `--full` is given. The choice depends on the test's name only."""
    if not config.getoption("--full"):
        deselect(config, items, _is_in_the_other_box)


def _is_in_the_other_box(item: pytest.Item) -> bool:
    if not (hasattr(item, "callspec") and "plain_box" in item.callspec.params):
        return False
    box = str(item.callspec.params["plain_box"])
    name = item.nodeid.replace(box, "")
    return box != PLAIN_BOXES[zlib.crc32(name.encode()) % len(PLAIN_BOXES)]
