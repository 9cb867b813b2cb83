"""Programs for the fault tests: servers, and proxies between them and the client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.faults.forked_programs import ForkedProgram
from tests.shared_work import shared_directory


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
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starter]:
    """Starts programs, and kills them at the end of the test. Stub servers share answers to probes."""
    programs: list[Program] = []
    probes = shared_directory(tmp_path_factory) / "probes"
    probes.mkdir(exist_ok=True)

    def starter(name: str, *arguments: str) -> Program:
        shared = ("--probes", str(probes)) if name == "stub_piston.py" else ()
        programs.append(Program(name, *shared, *arguments))
        return programs[-1]

    yield starter
    for program in programs:
        program.kill()
