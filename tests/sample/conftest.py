"""A small judge for the sample contest: it does what a careful person would do with g++, FIFOs and a stop-watch.

It shares no code with the package and reads only the rows. So it can show that the sample contest is right, before the
contest is used to test the package. It has no isolation and must only run our own programs.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from tests.shared_work import compiled

OUTPUT_LIMIT = 64 * 2**20  # as the package's own
CPU_S = 1  # no sample task allows more
PATIENCE_S = 60.0
FLAGS = ("-std=gnu++17", "-DEVAL", "-O2", "-pipe", "-Wall", "-Wextra")
"""The compiler takes two thirds of its time for C++20, the standard of the contest, in which `cli/test_demo.py` and
`test_scorer.py` compile the solutions.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Verdict, score and the judge program's message for one test."""

    verdict: str
    score: float
    words: str = ""


def compile_program(directory: Path, output: str, *arguments: str) -> str | None:
    """Compile and link in a directory, or with `-c` only compile. Later test runs use what the compiler made. Returns
    its message if it refuses.
    """
    sources = [Path(word) for word in arguments if word.endswith((".cpp", ".o"))]
    headers = sorted(path.relative_to(directory) for path in directory.rglob("*.h"))
    (directory / output).unlink(missing_ok=True)
    try:
        compiled(directory / output, (*FLAGS, *arguments), [*sources, *headers], cwd=directory)
    except subprocess.CalledProcessError as error:
        return str(error.stderr)
    return None


class Judge:
    """Judges solutions of one problem in a scratch directory."""

    def __init__(self, rows: list[dict[str, Any]], tests: Mapping[str, dict[str, Any]], launch: Path, scratch: Path):
        self.subtasks = {row["subtask"]: row["test_names"] for row in rows}
        self.tests = tests
        self.launch = launch
        self.scratch = scratch
        for path, content in rows[0]["grader_files"]:
            (scratch / path).parent.mkdir(parents=True, exist_ok=True)
            (scratch / path).write_text(content)
        self.config = json.loads((scratch / "graders/grader_config.json").read_text())
        for program in ("checker/checker", "graders/manager"):
            if (scratch / f"{program}.cpp").exists():
                assert compile_program(scratch, program, f"{program}.cpp") is None
        self.linked: list[str] = []
        for name in ("graders/grader", "graders/stub"):
            if (scratch / f"{name}.cpp").exists():
                self.linked.append(f"{name}.o")
                assert compile_program(scratch, f"{name}.o", "-c", f"{name}.cpp") is None

    def compile(self, code: str) -> str | None:
        """Build the program from a solution and the problem's grader or stub. Returns the compiler's message if it
        refuses.
        """
        (self.scratch / "solution.cpp").write_text(code)
        return compile_program(self.scratch, "program", "-I", "graders", "solution.cpp", *self.linked)

    def judge(self, code: str, *, patience_s: float = PATIENCE_S) -> dict[str, Result]:
        """The result of every subtask: the first lowest score among its tests. A subtask ends at a zero."""
        if words := self.compile(code):
            return dict.fromkeys(self.subtasks, Result(verdict="CE", score=0, words=words))
        known: dict[str, Result] = {}
        results = {}
        for subtask, names in self.subtasks.items():
            lowest = Result(verdict="AC", score=1)
            for name in names:
                if name not in known:
                    known[name] = self.run(name, patience_s=patience_s)
                if known[name].score < lowest.score:
                    lowest = known[name]
                if lowest.score == 0:
                    break
            results[subtask] = lowest
        return results

    def run(self, name: str, *, patience_s: float = PATIENCE_S) -> Result:
        """Run the program on one test."""
        test = self.tests[name]
        for file, content in (("input", test["test_input"]), ("answer", test["test_output"])):
            (self.scratch / file).write_text(content)
        if self.config["task_type"] == "Communication":
            return self._talk(patience_s)
        with (self.scratch / "input").open() as stdin, (self.scratch / "output").open("w") as stdout:
            running = [self._start(0, [self.scratch / "program"], stdin=stdin, stdout=stdout)]
            failure = self._wait(running, patience_s)
        return failure or self.check(self.scratch / "output")

    def check(self, output: Path) -> Result:
        """The result of the checker, or of white-diff, for an output."""
        if not (self.scratch / "checker/checker").exists():
            right = _words_by_line(output.read_bytes()) == _words_by_line((self.scratch / "answer").read_bytes())
            return Result(verdict="AC" if right else "WA", score=float(right))
        files = [self.scratch / "input", self.scratch / "answer", output]
        done = subprocess.run([self.scratch / "checker/checker", *files], capture_output=True, text=True, check=True)
        return _scored(done.stdout, done.stderr)

    def _talk(self, patience_s: float) -> Result:
        count = self.config["task_type_parameters_Communication_num_processes"]
        by_name = self.config["task_type_parameters_Communication_user_io"] == "fifo_io"
        fifos = [(self.scratch / f"from{i}", self.scratch / f"to{i}") for i in range(count)]
        for fifo in (fifo for pair in fifos for fifo in pair):
            fifo.unlink(missing_ok=True)
            os.mkfifo(fifo)
        with (self.scratch / "input").open() as stdin:
            command = [self.scratch / "graders/manager", *(fifo for pair in fifos for fifo in pair)]
            manager = subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
            )
        running = []
        for i, (hears, says) in enumerate(fifos):
            program: list[str | Path] = [self.scratch / "program"]
            if by_name:
                program += [says, hears, *([str(i)] if count > 1 else [])]
            else:  # the shell opens the FIFOs in this order, then becomes the program
                program = ["/bin/sh", "-c", 'exec "$0" < "$1" > "$2"', *program, says, hears]
            running.append(self._start(i, program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        failure = self._wait(running, patience_s)
        if failure and failure.verdict == "TLE":
            _kill(manager)
        stdout, stderr = manager.communicate(timeout=PATIENCE_S)
        assert failure is not None or manager.returncode == 0, stderr
        return failure or _scored(stdout, stderr)

    def _start(self, number: int, program: list[str | Path], *, stdin: Any, stdout: Any) -> subprocess.Popen[bytes]:
        report = self.scratch / f"report{number}"
        report.unlink(missing_ok=True)
        command = [self.launch, report, str(CPU_S), str(OUTPUT_LIMIT), *program]
        return subprocess.Popen(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, cwd=self.scratch, start_new_session=True
        )

    def _wait(self, running: list[subprocess.Popen[bytes]], patience_s: float) -> Result | None:
        """Wait for all processes of the submission. Returns how they failed, or nothing."""
        try:
            for process in running:
                process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            for process in running:
                _kill(process)
            return Result(verdict="TLE", score=0, words="waited for nothing")
        ended = [self._ending(number) for number in range(len(running))]
        order = ("TLE", "MLE", "OLE", "RE")
        return min((e for e in ended if e), key=lambda e: order.index(e.verdict), default=None)

    def _ending(self, number: int) -> Result | None:
        status, kibibytes = map(int, (self.scratch / f"report{number}").read_text().split())
        code = os.waitstatus_to_exitcode(status)
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return Result(verdict="TLE", score=0)
        if kibibytes * 1024 > self.config["memory_limit"]:
            return Result(verdict="MLE", score=0, words=f"{kibibytes} KiB")
        if code == -signal.SIGXFSZ:
            return Result(verdict="OLE", score=0)
        return Result(verdict="RE", score=0, words=f"code {code}") if code else None


def _kill(process: subprocess.Popen[Any]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _scored(stdout: str, words: str) -> Result:
    score = float(stdout.splitlines()[0])
    assert 0 <= score <= 1
    return Result(verdict="AC" if score == 1 else "PA" if score > 0 else "WA", score=score, words=words.strip())


def _words_by_line(text: bytes) -> list[list[bytes]]:
    lines = [line.split() for line in text.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def rows() -> Callable[[Path], list[dict[str, Any]]]:
    """The reader of JSONL files."""
    return read_rows


@pytest.fixture(scope="session")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Judge]:
    """The judge of a problem, by the problem's id. Its checker or manager is compiled once."""
    launch = tmp_path_factory.mktemp("launch") / "launch"
    assert compile_program(launch.parent, launch.name, str(Path(__file__).with_name("launch.cpp"))) is None

    @functools.cache
    def judge(problem_id: str) -> Judge:
        problem = [row for row in read_rows(sample.problems()) if row["id"] == problem_id]
        tests = {row["test_name"]: row for row in read_rows(sample.tests()) if row["problem_id"] == problem_id}
        return Judge(problem, tests, launch, tmp_path_factory.mktemp(problem_id))

    return judge
