"""Programs for the fault tests: servers, and proxies between them and the client."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Program:
    """A running program that told its ports."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / name), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.ports: list[int] = json.loads(self.process.stdout.readline())

    @property
    def urls(self) -> list[str]:
        """Its servers, as a user writes them."""
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def kill(self) -> None:
        """End it as a machine that fails does."""
        self.process.kill()
        self.process.communicate()


Starter = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Starter]:
    """Starts programs, and ends them with the test."""
    programs: list[Program] = []

    def starter(name: str, *arguments: str) -> Program:
        programs.append(Program(name, *arguments))
        return programs[-1]

    yield starter
    for program in programs:
        program.kill()
