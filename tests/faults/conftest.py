"""Programs for the fault tests: servers, and proxies between them and the client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.faults.forked_programs import ForkedProgram


class Program:
    """A running program that told its ports."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.process = ForkedProgram(name.removesuffix(".py"), arguments)
        self.ports: list[int] = json.loads(self.process.first_line())

    @property
    def urls(self) -> list[str]:
        """Its servers, as a user writes them."""
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def kill(self) -> None:
        """End it as a machine that fails does."""
        self.process.kill()


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
