"""The runner, programs for it to run, and boxes to run them in; each made once a session."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.graders.runner_box import BOXES, PROGRAMS, RUNNER_SOURCE, Box, make_box


@pytest.fixture(scope="session")
def built() -> Iterator[Path]:
    """Where compiled things lie; the runner's user can read it (pytest's own directories are closed to others)."""
    with tempfile.TemporaryDirectory(prefix="ioi-eval-runner-tests-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="session")
def runner(built: Path) -> Path:
    """The runner, compiled once, statically and without a warning."""
    target = built / "runner"
    command = [
        "g++",
        "-std=c++17",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-static",
        str(RUNNER_SOURCE),
        "-o",
        str(target),
    ]
    subprocess.run(command, check=True)
    return target


@pytest.fixture(scope="session")
def hidden(runner: Path) -> frozenset[str]:
    """Calls that a filter around these tests answers before the runner's, as that of a container; mostly none."""
    done = subprocess.run([str(runner), "--probe"], capture_output=True, check=True)
    return frozenset(json.loads(done.stdout)["hidden"])


@pytest.fixture(scope="session")
def program(built: Path) -> Callable[..., Path]:
    """Programs of `programs/` by name, compiled once for each set of flags."""

    def compile_(name: str, *flags: str, static: bool = True) -> Path:
        flags = (*flags, "-static") if static else flags
        target = built / "-".join((name, hashlib.sha256("\0".join(flags).encode()).hexdigest()[:12]))
        if not target.exists():
            source = PROGRAMS / f"{name}.cpp"
            subprocess.run(["g++", "-O1", "-pipe", *flags, str(source), "-pthread", "-o", str(target)], check=True)
            target.chmod(0o755)
        return target

    return compile_


@pytest.fixture(scope="session")
def boxes(runner: Path, built: Path) -> Callable[[str], Box]:
    """Boxes by name, tried once each."""
    known: dict[str, Box] = {}

    def get(name: str) -> Box:
        if name not in known:
            known[name] = make_box(name, runner, built)
        return known[name]

    return get


@pytest.fixture(params=list(BOXES))
def box(request: pytest.FixtureRequest, boxes: Callable[[str], Box]) -> Box:
    """Every box in turn."""
    return boxes(request.param)


@pytest.fixture(params=["bwrap-root" if os.geteuid() == 0 else "bwrap-user", "fds-reduced-user"])
def plain_box(request: pytest.FixtureRequest, boxes: Callable[[str], Box]) -> Box:
    """One box of each isolation level, for what does not depend on how it is started."""
    return boxes(request.param)
