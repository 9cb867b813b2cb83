"""Starts the harness from its archive, with descriptors for its task, its streams and its report."""

from __future__ import annotations

import array
import fcntl
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.boxfiles import harness_archive
from ioi_eval.jobs.harness import program_file
from ioi_eval.problems.apps_values import decode, encode
from tests.graders.runner_box import RUNNER_FILES
from tests.shared_work import compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run of the harness ended."""

    code: int
    stdout: bytes
    stderr: str
    report: dict[str, Any]

    @property
    def phase(self) -> str | None:
        """The phase in the report; `None` without a report."""
        return self.report.get("phase")

    @property
    def value(self) -> Any:
        """The result of a call."""
        return decode(self.stdout)


def memory_file(content: bytes = b"") -> int:
    """A descriptor of a memory file with these bytes, at offset 0."""
    low = os.memfd_create("test")
    fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 16)  # a number that no descriptor of the harness has
    os.close(low)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def with_descriptors(fds: Sequence[int], command: Sequence[str]) -> list[str]:
    """A command that has these descriptors, which it must inherit, as 3, 4, …"""
    places = " ".join(f"{3 + index}<&{fd}" for index, fd in enumerate(fds))
    return ["bash", "-c", f'exec "$@" {places}', "bash", *command]


def content_of(fd: int) -> bytes:
    """The content of a descriptor, which is closed then."""
    with os.fdopen(fd, "rb") as file:
        file.seek(0)
        return file.read()


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the harness's archive."""
    path = tmp_path_factory.mktemp("harness") / "harness.pyz"
    path.write_bytes(harness_archive())
    return path


Run = Callable[..., Ended]


@pytest.fixture
def run(archive: Path, tmp_path: Path) -> Run:
    """Runs a program: `run(program, stdin)`, or calls a function with `fn_name` and `args`."""

    def run_it(
        program: str,
        stdin: bytes = b"",
        *,
        args: tuple[Any, ...] | None = None,
        fn_name: str | None = None,
        conventions: bool = False,
        grader: str | None = None,
        python: str = sys.executable,
    ) -> Ended:
        sent = stdin if args is None else encode(args)
        program_fd = memory_file(program_file(program, fn_name=fn_name, conventions=conventions))
        report_fd = memory_file()
        command = [python, "-s", str(archive), *(["--grader", grader] if grader else []), "run"]
        done = subprocess.run(
            with_descriptors([program_fd, report_fd], command),
            input=sent,
            capture_output=True,
            pass_fds=[program_fd, report_fd],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(tmp_path)},
            timeout=120,
            check=False,
        )
        os.close(program_fd)
        content = content_of(report_fd)
        report = json.loads(content) if content else {}
        return Ended(code=done.returncode, stdout=done.stdout, stderr=done.stderr.decode(), report=report)

    return run_it


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkEnded:
    """How a fork ended, as its parent observes it."""

    status: int
    usage: resource.struct_rusage
    stdout: bytes
    stderr: str
    report: bytes


class Warm:
    """A warm interpreter, used as the runner does."""

    def __init__(self, archive: Path, folder: Path, grader: str | None = None, preload: str = "") -> None:
        self.folder = folder
        self.listening: list[socket.socket] = []  # a fork's messages need a receiver
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-s", str(archive), "serve"]
        command += ["--grader", grader] if grader else []
        command += ["--preload", preload] if preload else []
        command = with_descriptors([theirs.fileno()], command)
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=folder, stdin=subprocess.DEVNULL)
        theirs.close()

    def start(self, program: str, stdin: bytes, extra: dict[str, int], **rules: Any) -> tuple[int, dict[str, int]]:
        """Send a request. Returns the fork's pid, and our descriptors by name."""
        fn_name, conventions = rules.pop("fn_name", None), rules.pop("conventions", False)
        fds = {
            "program": memory_file(program_file(program, fn_name=fn_name, conventions=conventions)),
            "stdin": memory_file(stdin),
        }
        fds.update({name: memory_file() for name in ("stdout", "stderr", "report")})
        ours, ready = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.append(ours)
        own = {"ready": ready.detach(), "code": memory_file(), "directory": os.open(self.folder, os.O_RDONLY)}
        sent = {**fds, **own, **extra}
        rules = {"rlimits": [], "nofile": 256, "ready_fd": 200, "self": [], "listener": False, **rules}
        header = json.dumps({"descriptors": list(sent), **rules}).encode()
        rights = array.array("i", sent.values())
        self.control.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        for fd in own.values():
            os.close(fd)
        return json.loads(self.control.recv(4096))["pid"], fds

    def finish(self, pid: int, fds: dict[str, int]) -> ForkEnded:
        """Wait for the end of a fork, as for a child process."""
        _, status, usage = os.wait4(pid, 0)
        contents = {}
        for name, fd in fds.items():
            with os.fdopen(fd, "rb") as file:
                file.seek(0)
                contents[name] = file.read()
        return ForkEnded(
            status=os.waitstatus_to_exitcode(status),
            usage=usage,
            stdout=contents["stdout"],
            stderr=contents["stderr"].decode(),
            report=contents["report"],
        )

    def run(self, program: str, stdin: bytes = b"", **rules: Any) -> ForkEnded:
        """Run a program in a fork."""
        return self.finish(*self.start(program, stdin, {}, **rules))

    def stop(self) -> None:
        """End it as the runner does, by closing its socket."""
        for ours in (self.control, *self.listening):
            ours.close()
        assert self.process.wait(30) == 0


@pytest.fixture
def warm(archive: Path, tmp_path: Path) -> Iterator[Warm]:
    """A warm interpreter."""
    interpreter = Warm(archive, tmp_path)
    yield interpreter
    interpreter.stop()


@pytest.fixture(scope="module")
def warm_grader(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Warm]]:
    """A warm interpreter for each of the other graders, by its name in the harness."""
    started: dict[str, Warm] = {}

    def start(name: str) -> Warm:
        if name not in started:
            started[name] = Warm(archive, tmp_path_factory.mktemp(name), name)
        return started[name]

    yield start
    for interpreter in started.values():
        interpreter.stop()


Case = tuple[str, bytes, bytes]  # comparator, output, answer
Compare = Callable[[Sequence[Case]], list[str]]


@pytest.fixture(scope="session")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """The compiled comparators: a function from cases to lines, one for each case."""
    source = Path(__file__).with_name("compare.cpp")
    strict = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
    arguments = ("-std=c++17", "-O1", *strict, str(source))
    program = compiled(tmp_path_factory.mktemp("comparators") / "compare", arguments, [source, *RUNNER_FILES])

    def run(cases: Sequence[Case]) -> list[str]:
        text = b"".join(b"%s %d %d\n%s%s" % (spec.encode(), len(a), len(b), a, b) for spec, a, b in cases)
        answer = subprocess.run([str(program)], input=text, capture_output=True, check=True)
        lines = answer.stdout.decode("ascii").splitlines()
        assert len(lines) == len(cases)
        return lines

    return run


def interpreters() -> list[str]:
    """All versions of Python on this machine from 3.8 on."""
    found = []
    for minor in range(8, 15):
        homes = sorted((Path.home() / ".pyenv/versions").glob(f"3.{minor}.*/bin/python3"))
        named = shutil.which(f"python3.{minor}")
        if homes:
            found.append(str(homes[-1]))
        elif named is not None and "/shims/" not in named:
            found.append(named)
    return found or [sys.executable]


@pytest.fixture(params=interpreters(), ids=lambda path: path.split("versions/")[-1].split("/")[0])
def python(request: pytest.FixtureRequest) -> str:
    """Each of these interpreters: the test runs once for each."""
    return str(request.param)
