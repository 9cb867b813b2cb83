"""Programs for the fault tests: servers, and proxies between them and the client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.faults.forked_programs import ForkedProgram


class Program:
    """A running program that has printed its ports."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.process = ForkedProgram(name.removesuffix(".py"), arguments)
        self.ports: list[int] = json.loads(self.process.first_line())

    @property
    def urls(self) -> list[str]:
        """URLs of its servers, as in `--endpoints`."""
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def kill(self) -> None:
        """Kill it, as if its machine failed."""
        self.process.kill()


Starter = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Starter]:
    """Starts programs, and kills them at the end of the test."""
    programs: list[Program] = []

    def starter(name: str, *arguments: str) -> Program:
        programs.append(Program(name, *arguments))
        return programs[-1]

    yield starter
    for program in programs:
        program.kill()
