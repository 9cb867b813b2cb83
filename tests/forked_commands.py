"""Run `ioi-eval` with its usual arguments, as forks of one process that has imported everything.

Most of a command's time goes into imports and into unloading modules at the end (`show`: 0.85 CPU-s, as a fork 0.05),
and the tests start hundreds of commands. A fork is a separate process with its own environment, directory, output and
exit. A test of the start itself (imports, signals, limits that are set before) starts `COMMAND`.
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

from ioi_eval.errors import SetupError
from ioi_eval.fingerprint import harness_digest, rules_digest, runner_meaning_digest
from ioi_eval.sandbox.local.compiler import detect
from tests.shared_work import use_kept_stage_runner

COMMAND = (sys.executable, "-c", "from ioi_eval.cli.main import main; main()")

Ended = subprocess.CompletedProcess[str]
_Libraries: TypeAlias = "frozenset[tuple[str, str]]"  # variables that libraries may read

_ROOT = Path(__file__).resolve().parent.parent
_SERVE = "from tests.forked_commands import run_code, serve; run_code(serve())"
_LIBRARIES = (
    "aiohttp.web", "datasets", "httpx", "orjson", "pandas", "pyarrow.parquet", "tqdm", "typer._adapters", "yaml",
)  # fmt: skip
_SET_CHILD_SUBREAPER = 36  # Source: prctl(2)
_MAX_REPORTED = 5
_codes: list[int] = []
"""The exit code of the command that this process has run, if it came to its end."""
_OURS = ("CXX", "IOI_EVAL_", "PISTON_")
"""How the names of variables begin that only our own code reads, whenever it needs them: libraries read theirs once."""
_READ_LATE = ("PYTEST_CURRENT_TEST", "HF_TOKEN")
"""The second is read by huggingface_hub for each request."""


@functools.cache
def forked_commands() -> ForkedCommands:
    """The commands of this process. They are closed when this process ends."""
    commands = ForkedCommands()
    atexit.register(commands.close)
    return commands


class ForkedCommands:
    """Starts commands, one after the other, as forks of a server process. The first command starts the server.

    Libraries read their environment variables at import. So there is one server for the environment of this process,
    and one for each environment given to `prepare`.
    """

    def __init__(self) -> None:
        self._servers: dict[_Libraries, _Server] = {}

    def prepare(self, env: Mapping[str, str]) -> None:
        """Also fork commands whose environment has these values of the variables that libraries read.

        Args:
            env: an environment that several commands will have.
        """
        self._servers.setdefault(_of_libraries(env), _Server(env))

    def run(self, *arguments: str | Path, cwd: Path, env: Mapping[str, str]) -> Ended:
        """Run `ioi-eval` and wait for its end.

        Args:
            arguments: the arguments of `ioi-eval`.
            cwd: its working directory.
            env: its whole environment. If the variables that libraries may read differ from all prepared
                environments, the command is started as a new program.
        """
        return self.run_code(COMMAND[2], *arguments, cwd=cwd, env=env)

    def run_code(self, code: str, *arguments: str | Path, cwd: Path, env: Mapping[str, str]) -> Ended:
        """Run a Python program as `python -c` does, and wait for its end.

        Args:
            code: the program.
            arguments: its arguments.
            cwd, env: as in `run`.
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
    """A process that has imported everything and forks for each command.

    Args:
        env: its environment.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def fork(self, command: Mapping[str, Any], output: IO[bytes], errors: IO[bytes]) -> int:
        """Run a command and wait for its end. Returns its exit code."""
        if self._process is None:
            self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _SERVE, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=_ROOT, env=self._env,
                )  # fmt: skip
        assert self._channel is not None
        process, answer = self._process, b""
        try:
            socket.send_fds(self._channel, [json.dumps(command).encode()], [output.fileno(), errors.fileno()])
            answer = self._channel.recv(1 << 10)
        except ConnectionError:
            pass  # the process has ended
        finally:
            if not answer:  # if interrupted, the answer to this command must not be taken for that to the next one
                for child in _children(process.pid):
                    os.kill(child, signal.SIGKILL)
                self.close()
        assert answer, (
            f"the process that starts commands has ended with exit code {process.returncode}: it was killed, or a"
            " module cannot be imported (was a file changed during the tests?)"
        )
        code, *left = answer.decode().split("\n")
        assert not left, f"{command['words']} has ended, and has left processes behind: {left}"
        return int(code)

    def close(self) -> None:
        """End it, after the command that it runs. The next command starts another one."""
        if self._process is not None and self._channel is not None:
            self._channel.close()
            self._process.wait()
            self._process = self._channel = None


def _of_libraries(environment: Mapping[str, str]) -> _Libraries:
    return frozenset(
        (name, value) for name, value in environment.items() if not name.startswith(_OURS) and name not in _READ_LATE
    )


def _text_of(file: IO[bytes]) -> str:
    """Decoded in the same way as by `subprocess`."""
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


def serve() -> str:
    """Fork for each requested command. Returns only in the fork, with the code that the fork is to run."""
    atexit.register(_end_at_once)
    _import_all()
    for digest in (rules_digest, runner_meaning_digest, harness_digest):
        digest()  # no command has to compute these digests of the package's files again
    with contextlib.suppress(SetupError):
        detect("g++")  # nor to list the compiler's files again, unless these have changed
    use_kept_stage_runner()
    adopt_orphans()
    gc.freeze()  # or each fork would look through all of it when it ends, which takes as long as importing it
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        while True:
            message, descriptors, _, _ = socket.recv_fds(channel, 1 << 20, 2)
            if not message:
                os._exit(0)
            # a library may have started an idle thread, of which fork warns
            with warnings.catch_warnings(action="ignore"):
                child = os.fork()
            if child == 0:
                break
            for descriptor in descriptors:
                os.close(descriptor)
            _, status = os.waitpid(child, 0)
            channel.send("\n".join([str(os.waitstatus_to_exitcode(status)), *end_orphans()]).encode())
    return _become(json.loads(message), descriptors)


def run_code(code: str) -> None:
    """Run a command, and record its exit code."""
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if not isinstance(end.code, str):
            _codes.append(end.code or 0)
        raise
    _codes.append(0)


def _end_at_once() -> None:
    """Exit without unloading all modules, which takes as long as the import. Python calls this handler last."""
    if _codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[0])


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that leftover processes are found."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def end_orphans(patience_s: float = 30.0) -> list[str]:
    """Wait for processes that a command left behind, and kill those that do not end. Returns the command lines of
    these.

    Args:
        patience_s: how long to wait before processes are killed.
    """
    until = time.monotonic() + patience_s
    found: list[str] = []
    with contextlib.suppress(ChildProcessError):  # no children are left
        while True:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            if time.monotonic() >= until:
                for child in _children(os.getpid()):
                    found.append(Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ").strip()[:80])
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
            time.sleep(0.01)
    return found[:_MAX_REPORTED]


def _children(parent: int) -> list[int]:
    """The child processes of a process. An ended child stays in the list until the process waits for it."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            of_child = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
            if int(of_child) == parent:
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
    """Import the whole package, and the modules that it imports only where they are needed."""
    import ioi_eval

    for module in pkgutil.walk_packages(ioi_eval.__path__, "ioi_eval."):
        if not module.name.startswith("ioi_eval.sample"):
            importlib.import_module(module.name)
    for name in _LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
