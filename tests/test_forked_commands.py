"""A forked command does the same as a command that a user starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked_commands import COMMAND, ForkedCommands


@pytest.mark.parametrize(
    "words", [("--version",), ("config",), ("show", "nowhere"), ("score", "")], ids=lambda words: words[0]
)
def test_a_fork_has_the_same_result_as_a_started_command(
    commands: ForkedCommands, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The exit code and the texts are the same, with its own directory and environment. This also holds for the second
    fork.
    """
    (tmp_path / "ioi-eval.toml").write_text("workers = 3\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IOI_EVAL", "PISTON"))}
    environment = {**kept, "IOI_EVAL_CACHE": str(tmp_path / "cache"), "PISTON_ENDPOINTS": "http://127.0.0.1:9"}
    started = subprocess.run(
        [*COMMAND, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    for _ in range(2):
        forked = commands.run(*words, cwd=tmp_path, env=environment)
        assert (forked.returncode, forked.stdout, forked.stderr) == (
            started.returncode,
            started.stdout,
            started.stderr,
        )


def test_variables_of_libraries_take_effect(commands: ForkedCommands, tmp_path: Path) -> None:
    """Libraries read their variables at import, so a command with another value is started as a new process."""
    environment = {**os.environ, "PYTHONVERBOSE": "1"}
    assert "import 'ioi_eval" in commands.run("--version", cwd=tmp_path, env=environment).stderr


def test_an_environment_that_is_prepared_has_its_own_process(tmp_path: Path) -> None:
    """Its server has read these variables, and forks the commands."""
    commands = ForkedCommands()
    code = "import os, huggingface_hub.constants as read; print(read.HF_HOME, os.getppid())"
    environment = {**os.environ, "HF_HOME": str(tmp_path)}
    commands.prepare(environment)
    first, second = (commands.run_code(code, cwd=tmp_path, env=environment) for _ in range(2))
    commands.close()
    home, parent = first.stdout.split()
    assert home == str(tmp_path)
    assert parent != str(os.getpid())
    assert second.stdout == first.stdout


LEAVING = """
import os, subprocess
from tests.forked_commands import adopt_orphans, end_orphans

adopt_orphans()
subprocess.run(["sh", "-c", "setsid sleep 1000 & sleep 1001 &"], check=True)
found = end_orphans(0.0)
assert len(found) == 2, found
subprocess.run(["sh", "-c", "true & setsid sleep 0.1 &"], check=True)
assert end_orphans() == []
"""


def test_leftover_processes_are_reported_and_killed() -> None:
    """Also processes in another session. Processes that end by themselves are waited for."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", LEAVING], env=environment, check=True)


def test_an_interrupted_command_does_not_answer_for_the_next(tmp_path: Path) -> None:
    """A time limit of pytest, or Ctrl-C, may interrupt the wait for a command."""

    def interrupt(number: int, frame: object) -> None:
        raise InterruptedError

    commands = ForkedCommands()
    assert commands.run_code("print(1)", cwd=tmp_path, env=os.environ).stdout == "1\n"
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(InterruptedError):
            commands.run_code("import time; time.sleep(60)", cwd=tmp_path, env=os.environ)
    finally:
        signal.signal(signal.SIGALRM, before)
    ended = commands.run_code("print(2); raise SystemExit(3)", cwd=tmp_path, env=os.environ)
    commands.close()
    assert (ended.returncode, ended.stdout) == (3, "2\n")


def test_if_the_process_has_ended_the_next_command_starts_another(tmp_path: Path) -> None:
    """The message says how it ended, also if it could not start."""
    commands = ForkedCommands()
    code = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    with pytest.raises(AssertionError, match="has ended with exit code -9"):
        commands.run_code(code, cwd=tmp_path, env=os.environ)
    broken = {**os.environ, "PYTHONHOME": str(tmp_path)}
    commands.prepare(broken)
    with pytest.raises(AssertionError, match="has ended with exit code 1: "):
        commands.run_code("", cwd=tmp_path, env=broken)
    assert commands.run_code("print(1)", cwd=tmp_path, env=os.environ).stdout == "1\n"
    commands.close()
