"""Limits that a shell or container passes to programs. If one is too low, the command is refused before the first row;
otherwise a note mentions it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.addition import COMMAND, PROBLEMS, RIGHT, TESTS, Ended, Write, submission_row
from tests.forked_commands import ForkedCommands

MIB = 1 << 20

DEEP = """#include <cstdio>
int deep(int n) { volatile char frame[1 << 20]; frame[0] = 1; return n == 0 ? 0 : deep(n - 1) + frame[0] - 1; }
int main() { long long a, b; if (scanf("%lld %lld", &a, &b) != 2) return 1; printf("%lld\\n", a + b + deep(DEPTH)); }
"""
PYTHON = "a, b = map(int, input().split())\nprint(a + b)\n"

Under = Callable[..., Ended]
Started = Callable[..., Ended]


@pytest.fixture
def rows(write: Write) -> None:
    """The files that all commands need."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write("dump.jsonl", submission_row("right"))
    write("solutions.jsonl", submission_row("right", expected="AC"))
    cases = json.dumps({"inputs": ["1 2\n"], "outputs": ["3\n"]})
    write("apps.jsonl", {"problem_id": 1, "question": "", "input_output": cases, "difficulty": "interview"})
    write("programs.jsonl", {"problem_id": 1, "code": PYTHON})


LIMITED = """
import json, resource, sys
for number, value in json.loads(sys.argv.pop(1)):
    resource.setrlimit(number, (value, value))
from ioi_eval.cli.main import main
main()
"""


@pytest.fixture
def under(environment: Mapping[str, str], tmp_path: Path, rows: None, commands: ForkedCommands) -> Under:
    """Run `ioi-eval` with hard limits (resource and value), in a directory with the files that all commands need."""

    def run(limits: Mapping[int, int], *arguments: str) -> Ended:
        return commands.run_code(LIMITED, json.dumps([*limits.items()]), *arguments, cwd=tmp_path, env=environment)

    return run


@pytest.fixture
def started(environment: Mapping[str, str], tmp_path: Path, rows: None) -> Started:
    """Run a command that starts `ioi-eval` as a new program, in the directory of `under`."""

    def run(*words: str) -> Ended:
        return subprocess.run(
            words, capture_output=True, text=True, cwd=tmp_path, env=dict(environment), timeout=300, check=False
        )

    return run


ROWS = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
SCORE = ("score", "dump.jsonl", *ROWS, "--out", "out", "--workers", "2")
APPS_SCORE = ("apps", "score", "programs.jsonl", "--dataset", "apps.jsonl", "--out", "out")


@pytest.mark.parametrize(
    "command",
    [
        SCORE,
        ("validate", "solutions.jsonl", *ROWS, "--out", "out"),
        APPS_SCORE,
        ("serve", "--port", "0"),
        ("doctor",),
    ],
    ids=["score", "validate", "apps score", "serve", "doctor"],
)
def test_every_command_refuses_a_low_stack_limit(under: Under, tmp_path: Path, command: tuple[str, ...]) -> None:
    """With exit code 2 and the same message, before the first row. Nothing is written."""
    ended = under({resource.RLIMIT_STACK: 8 * MIB}, *command)
    assert ended.returncode == 2, ended.stderr
    assert "8 MiB at most (hard limit); correct programs need 64 MiB" in ended.stdout + ended.stderr
    assert "ulimit -Hs unlimited" in ended.stdout + ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("start", ["env --ignore-signal=CHLD", "umask 0777; exec"])
def test_what_a_parent_passes_on(started: Started, start: str) -> None:
    """If SIGCHLD is ignored, the command still learns how compilers and boxes ended; it can use files that it makes."""
    ended = started("sh", "-c", f'{start} "$@"', "sh", *COMMAND, *SCORE)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.root
@pytest.mark.parametrize("command", [SCORE, APPS_SCORE], ids=["score", "apps score"])
def test_without_proc(started: Started, command: Sequence[str]) -> None:
    """Without /proc, as in a bare chroot, nothing is judged, and the message says what is missing."""
    hidden = ("unshare", "--mount", "sh", "-ec", 'umount --lazy /proc; exec "$@"', "sh", *COMMAND)
    ended = started(*hidden, *command)
    if ended.stderr.startswith(("unshare:", "umount:")):
        pytest.skip(f"cannot be tried here: {ended.stderr.strip()}")
    assert ended.returncode == 2, ended.stderr
    assert "/proc: it is not mounted" in ended.stderr


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_closed_streams(started: Started, tmp_path: Path, closed: str) -> None:
    """Without standard streams, as some daemons start programs, everything is judged as usual."""
    ended = started("sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *SCORE)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads((tmp_path / "out" / "results.jsonl").read_text())["verdict"] == "AC"


@pytest.mark.parametrize(
    ("number", "value", "words"),
    [
        (resource.RLIMIT_AS, 2000 * MIB, "address space: 1.953 GiB at most"),
        (resource.RLIMIT_DATA, 2000 * MIB, "data segment: 1.953 GiB at most"),
        (resource.RLIMIT_NOFILE, 256, "open files: 256 at once"),
        # an ordinary user may have more processes than that, and could start none
        pytest.param(resource.RLIMIT_NPROC, 40, "processes: ", marks=pytest.mark.root),
        (resource.RLIMIT_FSIZE, 100 * MIB, "file size: 100 MiB at most"),
        (resource.RLIMIT_CPU, 30, "CPU time: 30 s a process"),
    ],
    ids=["address space", "data segment", "open files", "processes", "file size", "CPU time"],
)
def test_each_limit_is_named(under: Under, number: int, value: int, words: str) -> None:
    """A limit that would make right programs fail is refused. The message has its value and what to do."""
    ended = under({number: value}, *SCORE)
    assert ended.returncode == 2, ended.stderr
    assert words in ended.stderr
    assert "raise the " in ended.stderr


@pytest.mark.root
def test_a_limit_on_processes_that_restricts_only_programs_for_apps(under: Under) -> None:
    """They may have 500 threads. The line has the number that is needed. Other programs have enough."""
    few = {resource.RLIMIT_NPROC: 350}
    ended = under(few, *APPS_SCORE, "--workers", "1")
    assert ended.returncode == 0, ended.stderr
    words = "350 of a user at once (hard limit); a program for APPS may have 500 threads, which needs 524"
    assert f"limited here: processes: {words} (jobs at once: 1)" in ended.stderr
    assert words in under(few, "doctor").stdout
    assert "limited here" not in under(few, *SCORE).stderr
    assert "limited here" not in under({resource.RLIMIT_NPROC: 524}, *APPS_SCORE).stderr


def test_soft_limits_are_raised(started: Started, tmp_path: Path) -> None:
    """They are raised without a message."""
    soft = {
        **{resource.RLIMIT_AS: 4 << 30, resource.RLIMIT_DATA: 4 << 30, resource.RLIMIT_STACK: 1 * MIB},
        **{resource.RLIMIT_NOFILE: 128, resource.RLIMIT_FSIZE: 1 * MIB, resource.RLIMIT_CPU: 40},
    }
    start = tmp_path / "start.py"
    start.write_text(
        f"""
import resource
for number, value in { ({int(number): value for number, value in soft.items()})!r}.items():
    resource.setrlimit(number, (value, resource.getrlimit(number)[1]))
from ioi_eval.cli.main import main
main()
"""
    )
    ended = started(sys.executable, str(start), *SCORE)
    assert ended.returncode == 0, ended.stderr
    assert "limited here" not in ended.stderr


def test_a_stack_limit_is_compared_with_the_problems(under: Under, write: Write) -> None:
    """A stack of 128 MiB is enough for problems with 64 MiB of memory, and not for those with 256 MiB."""
    small = [{**row, "id": "small", "memory_limit": 64 * MIB} for row in PROBLEMS]
    write("problems.jsonl", *PROBLEMS, *small)
    write("tests.jsonl", *TESTS, *({**row, "problem_id": "small"} for row in TESTS))
    write("dump.jsonl", submission_row("a"), {**submission_row("b"), "problem_id": "small"})
    ended = under({resource.RLIMIT_STACK: 128 * MIB}, *SCORE)
    assert ended.returncode == 0, ended.stderr
    assert "stack: 128 MiB at most (hard limit); 1 of 2 problems allows up to 256 MiB of memory" in ended.stderr
    ended = under({resource.RLIMIT_STACK: 128 * MIB}, *SCORE, "--problem", "small", "--no-resume")
    assert "stack: 128 MiB at most (hard limit); no problem of this run allows more" in ended.stderr


def test_results_under_a_limit_are_judged_again_without_it(
    under: Under, write: Write, results: Callable[[], list[dict[str, Any]]]
) -> None:
    """A program with RE because of a small stack must not keep that verdict when the stack is larger."""
    write("dump.jsonl", submission_row("deep", DEEP.replace("DEPTH", "180")), submission_row("right", RIGHT))
    assert under({resource.RLIMIT_STACK: 128 * MIB}, *SCORE).returncode == 0
    assert [row["verdict"] for row in results()] == ["RE", "AC"]
    assert under({}, *SCORE).returncode == 0
    assert [row["verdict"] for row in results()] == ["AC", "AC"]


@pytest.mark.root
def test_a_cache_mounted_noexec(under: Under, started: Started, tmp_path: Path, cache_with_runner: Path) -> None:
    """For example with Docker's `--tmpfs`. Compiled programs are started from a copy in memory, and no row is JE."""
    assert under({}, *SCORE).returncode == 0  # the runner is compiled
    there = tmp_path / "there"
    there.mkdir()
    script = f'mount -t tmpfs -o noexec,mode=755 none {there}; cp -a {cache_with_runner}/. {there}; exec "$@"'
    start = ("unshare", "--mount", "env", f"IOI_EVAL_CACHE={there}", f"TMPDIR={there}", "sh", "-ec", script, "sh")
    ended = started(*start, *COMMAND, *SCORE, "--no-resume")
    if ended.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(f"cannot be tried here: {ended.stderr.strip()}")
    assert ended.returncode == 0, ended.stderr
