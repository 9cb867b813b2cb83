"""`ioi-eval` as users start it, as forks of one process that has imported everything.

Importing, and taking down at the end what was imported, is most of what a command costs (`show`: 0.05 CPU-s in place of
0.85), and the tests start hundreds. A fork is a process of its own, with its own environment, directory, output and
end. A test of what starting itself does (imports, signals, limits that are set before) starts `COMMAND`.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

from ioi_eval.fingerprint import harness_digest, rules_digest, runner_digest

COMMAND = (sys.executable, "-c", "from ioi_eval.cli.main import main; main()")

Ended = subprocess.CompletedProcess[str]
_Libraries: TypeAlias = "frozenset[tuple[str, str]]"  # variables that libraries may read

_ROOT = Path(__file__).resolve().parent.parent
_SERVE = "from tests.forked_commands import run_code, serve; run_code(serve())"
_LIBRARIES = (
    "aiohttp.web", "datasets", "httpx", "orjson", "pandas", "pyarrow.parquet", "tqdm", "typer._adapters", "yaml",
)  # fmt: skip
_SET_CHILD_SUBREAPER = 36  # Source: prctl(2)
_MAX_TOLD = 5
_codes: list[int] = []
"""The exit code of the command that this process has run, if it came to its end."""
_OURS = ("CXX", "IOI_EVAL_", "PISTON_")
"""How the names of variables begin that only our own code reads, whenever it needs them: libraries read theirs once."""
_READ_LATE = ("PYTEST_CURRENT_TEST", "HF_TOKEN")
"""The second is read by huggingface_hub for each request."""


@functools.cache
def forked_commands() -> ForkedCommands:
    """Those of this process. Its end is theirs."""
    commands = ForkedCommands()
    atexit.register(commands.close)
    return commands


class ForkedCommands:
    """Starts commands, one after the other, as forks of a process that begins with the first of them.

    Libraries read their variables when they are imported. So there is one such process for the variables of this
    process, and one for each environment of `prepare`.
    """

    def __init__(self) -> None:
        self._servers: dict[_Libraries, _Server] = {}

    def prepare(self, env: Mapping[str, str]) -> None:
        """Fork also the commands whose environment has these variables of libraries.

        Args:
            env: an environment that several commands will have.
        """
        self._servers.setdefault(_of_libraries(env), _Server(env))

    def run(self, *arguments: str | Path, cwd: Path, env: Mapping[str, str]) -> Ended:
        """Run `ioi-eval` to its end.

        Args:
            arguments: what follows `ioi-eval`.
            cwd: its working directory.
            env: its environment, the whole of it. With a variable that a library may read, and that nobody has
                prepared, it is started as any program is.
        """
        return self.run_code(COMMAND[2], *arguments, cwd=cwd, env=env)

    def run_code(self, code: str, *arguments: str | Path, cwd: Path, env: Mapping[str, str]) -> Ended:
        """Run a program in Python to its end, as `python -c` does.

        Args:
            code: the program.
            arguments: what follows it.
            cwd, env: as of `run`.
        """
        words = [sys.executable, "-c", code, *map(str, arguments)]
        libraries = _of_libraries(env)
        if libraries == _of_libraries(os.environ):
            self.prepare(os.environ)
        if libraries not in self._servers:
            return subprocess.run(words, capture_output=True, text=True, cwd=cwd, env=env, check=False)
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            command = {"words": words[2:], "cwd": str(cwd), "env": dict(env)}
            exit_code = self._servers[libraries].fork(command, output, errors)
            return subprocess.CompletedProcess(words, exit_code, _text_of(output), _text_of(errors))

    def close(self) -> None:
        """End the processes."""
        while self._servers:
            self._servers.popitem()[1].close()


class _Server:
    """A process that has imported everything and forks.

    Args:
        env: its environment.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def fork(self, command: Mapping[str, Any], output: IO[bytes], errors: IO[bytes]) -> int:
        """Run a command to its end; gives its exit code."""
        if self._process is None:
            self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _SERVE, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=_ROOT, env=self._env,
                )  # fmt: skip
        assert self._channel is not None
        socket.send_fds(self._channel, [json.dumps(command).encode()], [output.fileno(), errors.fileno()])
        answer = self._channel.recv(1 << 10)
        assert answer, "the process that starts commands has ended"
        code, *left = answer.decode().split("\n")
        assert not left, f"{command['words']} has ended, and has left processes behind: {left}"
        return int(code)

    def close(self) -> None:
        """End it."""
        if self._process is not None and self._channel is not None:
            self._channel.close()
            self._process.wait()


def _of_libraries(environment: Mapping[str, str]) -> _Libraries:
    return frozenset(
        (name, value) for name, value in environment.items() if not name.startswith(_OURS) and name not in _READ_LATE
    )


def _text_of(file: IO[bytes]) -> str:
    """As `subprocess` decodes it."""
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


def serve() -> str:
    """Fork for each command that is asked for; returns in the fork, which then is the command, with its code."""
    atexit.register(_end_at_once)
    _import_all()
    for digest in (rules_digest, runner_digest, harness_digest):
        digest()  # of the package's own files: no command has to read them again
    adopt_orphans()
    gc.freeze()  # or each fork would look through all of it when it ends, which takes as long as importing it
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        while True:
            message, descriptors, _, _ = socket.recv_fds(channel, 1 << 20, 2)
            if not message:
                os._exit(0)
            with warnings.catch_warnings(action="ignore"):  # a library may have started a thread that idles
                child = os.fork()
            if child == 0:
                break
            for descriptor in descriptors:
                os.close(descriptor)
            _, status = os.waitpid(child, 0)
            channel.send("\n".join([str(os.waitstatus_to_exitcode(status)), *end_orphans()]).encode())
    return _become(json.loads(message), descriptors)


def run_code(code: str) -> None:
    """Run a command, and note its exit code."""
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if not isinstance(end.code, str):
            _codes.append(end.code or 0)
        raise
    _codes.append(0)


def _end_at_once() -> None:
    """End without taking every module apart, which takes as long as importing it: the last thing that Python calls."""
    if _codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[0])


def adopt_orphans() -> None:
    """Be the parent of what the processes that this one starts leave behind, so that it is known."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def end_orphans(patience_s: float = 30.0) -> list[str]:
    """Wait for what was left behind, and kill what does not end; gives the command lines of that.

    Args:
        patience_s: how long those that were killed may take to end.
    """
    until = time.monotonic() + patience_s
    found: list[str] = []
    with contextlib.suppress(ChildProcessError):  # there are no more
        while True:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            if time.monotonic() >= until:
                for child in _children():
                    found.append(Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ").strip()[:80])
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            time.sleep(0.01)
    return found[:_MAX_TOLD]


def _children() -> list[int]:
    """Of this process. They stay until it waits for them."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                found.append(int(name))
    return found


def _become(command: Mapping[str, Any], descriptors: list[int]) -> str:
    for descriptor, stream in zip(descriptors, (1, 2), strict=True):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(command["cwd"])
    os.environ.clear()
    os.environ.update(command["env"])
    code, *arguments = command["words"]
    sys.argv[:] = ["-c", *arguments]
    return str(code)


def _import_all() -> None:
    """All of the package, and what it imports where it needs it."""
    import ioi_eval

    for module in pkgutil.walk_packages(ioi_eval.__path__, "ioi_eval."):
        if not module.name.startswith("ioi_eval.sample"):
            importlib.import_module(module.name)
    for name in _LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
