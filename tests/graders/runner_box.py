"""The real runner, started as the sandboxes start it, and small C++ programs to run in it.

Here a *box* is one way of starting the runner: the user (root with a separate uid, or an ordinary user), how it gets
the files (`--fds`: inherited descriptors, `--dir`: a directory), and the isolation level (`full`: in bwrap, or in
namespaces that the runner makes; `reduced`: only Landlock and seccomp).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.local.compiler import detect
from tests.schemas import errors, plan_lines

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
RUNNER_SOURCE = ROOT / "graders" / "runner.cpp"
RUNNER_FILES = (RUNNER_SOURCE, ROOT / "graders" / "runner")
NONCE = "00112233445566778899aabbccddeeff"
RUNNER_UID = 0x6F000001
"""The uid of the runner if the tests run as root. Tests that run at the same time share it; a test that counts
processes by uid uses another one.
"""

LIMITS = {
    "cpu_ms": 1000,
    "memory_bytes": 256 << 20,
    "output_bytes": 16 << 20,
    "stderr_bytes": 65536,
    "processes": 1,
    "threads": 32,
}
COMPILE_LIMITS = {
    "cpu_ms": 30_000,
    "wall_ms": 120_000,
    "memory_bytes": 1 << 30,
    "processes": 100,
    "output_bytes": 65536,
    "file_bytes": 64 << 20,
}
JUDGE = {"cpu_ms": 10_000, "wall_ms": 20_000, "memory_bytes": 1 << 30}

Files = Mapping[str, bytes | Path | int]
"""The files of a job by name. A number is a descriptor that is open for writing."""


def word(text: object) -> str:
    """A word of a plan."""
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/,:=+@-"
    raw = str(text).encode()
    return "".join(chr(b) if b in plain else f"%{b:02X}" for b in raw) or "%"


def line(name: str, **values: object) -> str:
    """A line of a plan. A list repeats its key; `as_` becomes `as`."""
    parts = [name]
    for key, value in values.items():
        items = value if isinstance(value, (list, tuple)) else [value]
        parts.extend(f"{key.rstrip('_')}={word(item)}" for item in items)
    return " ".join(parts)


def plan(mode: str, *lines: str, least: str = "none", nonce: str = NONCE) -> bytes:
    """A complete plan."""
    head = ["ioi-eval-runner 1", f"nonce {nonce}", f"isolation least={least}", f"mode {mode}"]
    return "\n".join([*head, *lines, "end", ""]).encode()


@dataclass(frozen=True)
class Answer:
    """The answer of a runner: its lines, its last line, its exit code, its stderr."""

    lines: list[dict[str, Any]]
    last: dict[str, Any]
    code: int
    stderr: str

    @property
    def only(self) -> dict[str, Any]:
        """The line of the only test. The answer must be complete."""
        assert self.last.get("end") is True, (self.last, self.stderr)
        assert len(self.lines) == 1
        return self.lines[0]

    @property
    def verdicts(self) -> list[str]:
        """The verdicts of all tests. The answer must be complete."""
        assert self.last.get("end") is True, (self.last, self.stderr)
        return [entry["verdict"] for entry in self.lines]


@dataclass(frozen=True)
class Box:
    """One way of starting the runner."""

    name: str
    runner: Path
    user: bool = False  # files belong to the runner's user, as if the sandbox were not started by root
    by_directory: bool = False
    bwrap: bool = False
    most: str = "full"
    level: str = "full"
    more: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()  # of the runner; bwrap clears it
    scratch: Path = field(default=Path("/nonexistent"))

    def run(self, plan_bytes: bytes, files: Files, *, timeout: float = 120, descriptors: int | None = None) -> Answer:
        """Run a plan with its files, and read the answer. Both must match the schemas."""
        start = self._by_directory if self.by_directory else self._by_descriptors
        done = start({"plan": plan_bytes, **files}, timeout, descriptors)
        parsed = [json.loads(text) for text in done.stdout.decode("ascii").splitlines()]
        for entry in parsed:
            assert not errors("lines", entry), entry
        last = parsed.pop() if parsed else {}
        if last.get("end"):  # a plan that the runner accepts must match the schema
            assert last["sum"] == f"{zlib.crc32(done.stdout[: done.stdout.rstrip().rfind(10) + 1]):08x}"
            assert not errors("plan", plan_lines(plan_bytes))
        return Answer(lines=parsed, last=last, code=done.returncode, stderr=done.stderr.decode(errors="replace"))

    def command(self, *arguments: str) -> list[str]:
        """The command line that starts the runner with these arguments."""
        words = []
        if os.geteuid() == 0:
            words += ["setpriv", f"--reuid={RUNNER_UID}", f"--regid={RUNNER_UID}", "--clear-groups", "--"]
        if self.bwrap:
            words += [*_bwrap(), "--"]
        return [*words, *arguments, "--most", self.most, *self.more]

    def _by_descriptors(
        self, files: Files, timeout: float, descriptors: int | None
    ) -> subprocess.CompletedProcess[bytes]:
        opened: dict[str, int] = {}
        try:
            for name, content in files.items():
                opened[name] = self._open(name, content)
            runner = os.open(self.runner, os.O_RDONLY)
            opened["/runner"] = runner
            table = ",".join(f"{name}={fd}" for name, fd in opened.items() if name != "/runner")
            work = self._fresh_directory()
            command = self.command(f"/proc/self/fd/{runner}", "--fds", table)
            return self._start(command, work, timeout, tuple(opened.values()), descriptors)
        finally:
            for fd in opened.values():
                os.close(fd)

    def _by_directory(
        self, files: Files, timeout: float, descriptors: int | None
    ) -> subprocess.CompletedProcess[bytes]:
        work = self._fresh_directory()
        for name, content in files.items():
            assert not isinstance(content, int)
            target = work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
            self._give(target)
        return self._start(self.command(str(self.runner), "--dir", "."), work, timeout, (), descriptors)

    def _start(
        self, command: list[str], work: Path, timeout: float, fds: tuple[int, ...], descriptors: int | None
    ) -> subprocess.CompletedProcess[bytes]:
        if descriptors is not None:
            command = ["prlimit", f"--nofile={descriptors}:{descriptors}", *command]
        before = {path.name for path in work.iterdir()}
        done = None
        try:
            done = subprocess.run(
                command, cwd=work, pass_fds=fds, env={"PATH": "/usr/local/bin:/usr/bin:/bin", **dict(self.environment)},
                stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False,
            )  # fmt: skip
        finally:
            left = {path.name for path in work.iterdir()} - before
            shutil.rmtree(work)
        assert not left, f"the runner left {left}: {done}"
        return done

    def _open(self, name: str, content: bytes | Path | int) -> int:
        if isinstance(content, int):
            return os.dup(content)
        if isinstance(content, Path):
            return os.open(content, os.O_RDONLY)
        fd = os.memfd_create(name.replace("/", "_"))
        with open(fd, "wb", closefd=False) as stream:
            stream.write(content)
        os.fchmod(fd, 0o444)
        if self.user and os.geteuid() == 0:
            os.fchown(fd, RUNNER_UID, RUNNER_UID)
        reopened = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
        os.close(fd)
        return reopened

    def _fresh_directory(self) -> Path:
        work = self.scratch / os.urandom(8).hex()
        work.mkdir()
        self._give(work)
        return work

    def _give(self, path: Path) -> None:
        path.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(path, RUNNER_UID, RUNNER_UID)


def _bwrap() -> list[str]:
    words = ["bwrap", "--unshare-user", "--unshare-all", "--uid", "0", "--gid", "0", "--cap-add", "ALL"]
    words += ["--as-pid-1", "--die-with-parent", "--clearenv", "--ro-bind", "/usr", "/usr"]
    for directory in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(directory)
        if path.is_symlink():
            words += ["--symlink", os.readlink(path), directory]
        elif path.is_dir():
            words += ["--ro-bind", directory, directory]
    words += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--proc", "/proc", "--dev", "/dev"]
    words += ["--tmpfs", "/tmp", "--tmpfs", "/box", "--remount-ro", "/", "--chdir", "/box"]
    return words


@contextmanager
def small_disk(directory: Path, mib: int, files: int = 0) -> Iterator[Path]:
    """A file system of this size, for this many files (0: any number).

    Only root can mount it; where root cannot, the test is skipped.
    """
    directory.mkdir()
    try:
        options = f"size={mib}m,nr_inodes={files},mode=1777"
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", directory], check=False).returncode:
            pytest.skip("may not mount a file system here")
        try:
            yield directory
        finally:
            subprocess.run(["umount", directory], check=True)
    finally:
        directory.rmdir()


BOXES: dict[str, dict[str, Any]] = {
    "bwrap-root": {"bwrap": True},
    "bwrap-user": {"bwrap": True, "user": True},
    "fds-reduced-root": {"most": "reduced", "level": "reduced"},
    "fds-reduced-user": {"most": "reduced", "level": "reduced", "user": True},
    "dir-full": {"by_directory": True, "user": True},
    "dir-reduced": {"by_directory": True, "user": True, "most": "reduced", "level": "reduced"},
}


KINDS = ("bwrap-root" if os.geteuid() == 0 else "bwrap-user", "fds-reduced-user", "dir-full")
"""Boxes in which each user, each way of passing files, each isolation level and each way of making it occurs."""

in_each_kind_of_box = pytest.mark.parametrize(
    "box", [name if name in KINDS else pytest.param(name, marks=pytest.mark.full) for name in BOXES], indirect=True
)
"""For tests that take long and do not depend on how user, files and isolation are combined: only with `--full` they run
in all boxes."""


def make_box(name: str, runner: Path, scratch: Path) -> Box:
    """A box by its name. Skips the test if this machine cannot provide it."""
    options = BOXES[name]
    if name.endswith("-root") and os.geteuid() != 0:
        pytest.skip("not root")
    if options.get("bwrap") and shutil.which("bwrap") is None:
        pytest.skip("no bwrap")
    box = Box(name=name, runner=runner, scratch=scratch, **options)
    answer = box.run(plan("compile", line("limits", **COMPILE_LIMITS)), {})
    if answer.last.get("isolation") != box.level:
        pytest.skip(f"no {box.level} isolation here: {answer.last} {answer.stderr}")
    return box


def job_directory(box: Box, files: dict[str, bytes]) -> Path:
    """A new directory with these files, which the runner's user owns."""
    work = Path(tempfile.mkdtemp(dir=box.scratch))
    for name, content in files.items():
        (work / name).write_bytes(content)
    if os.geteuid() == 0:
        for path in (work, *work.iterdir()):
            os.chown(path, RUNNER_UID, RUNNER_UID)
    return work


def family(pid: int) -> list[int]:
    """A process and its descendants, parents first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [pid, *(each for child in children for each in family(int(child)))]


def command_of(pid: int) -> bytes:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


WHITE_DIFF = line("checker", protocol="white-diff", **JUDGE)


def batch_plan(
    tests: Sequence[str], *, checker: str = WHITE_DIFF, order: str = "all", static: int = 1, **limits: object
) -> bytes:
    """A plan for a batch task whose program is the file `program`."""
    return plan(
        "run",
        line("program", file="program", static=static, sees=[] if static else detect("g++").libraries),
        line("limits", **{**LIMITS, **limits}),
        "task kind=batch",
        checker,
        f"order run={order}",
        *tests,
    )


def run_batch(
    box: Box, program: Path, *inputs: str | bytes, answer: bytes = b"2\n", files: Files | None = None, **options: Any
) -> Answer:
    """Run a program on inputs, all with the same answer: by default `2`, which contestant.cpp prints for `<word> 1`."""
    raw = [text.encode() if isinstance(text, str) else text for text in inputs]
    tests = [f"test id={number} input={number}.in answer=ans" for number in range(len(raw))]
    named = {f"{number}.in": content for number, content in enumerate(raw)}
    return box.run(batch_plan(tests, **options), {"program": program, "ans": answer, **named, **(files or {})})


def communication_plan(
    tests: Sequence[str],
    *,
    io: str = "std_io",
    manager: Mapping[str, object] = JUDGE,
    checker: str = "",
    **limits: object,
) -> bytes:
    """A plan for a communication task with the files `program` and `manager`."""
    return plan(
        "run",
        "program file=program",
        line("limits", **{**LIMITS, **limits}),
        f"task kind=communication io={io}",
        line("manager", file="manager", **manager),
        *([checker] if checker else []),
        "order run=all",
        *tests,
    )


def run_game(
    box: Box,
    program: Callable[..., Path],
    *inputs: str,
    stub: Sequence[str] = (),
    files: Files | None = None,
    descriptors: int | None = None,
    **options: Any,
) -> Answer:
    """Run manager.cpp with stub.cpp once for each input. `stub` has options for compiling the stub."""
    tests = [f"test id={number} input={number}.in answer=ans" for number in range(len(inputs))]
    named = {f"{number}.in": text.encode() for number, text in enumerate(inputs)}
    flags = [*stub, *(["-DFIFOS"] if options.get("io") == "fifo_io" else [])]
    return box.run(
        communication_plan(tests, **options),
        {
            "program": program("stub", *flags),
            "manager": program("manager"),
            "ans": b"answer\n",
            **named,
            **(files or {}),
        },
        descriptors=descriptors,
    )
