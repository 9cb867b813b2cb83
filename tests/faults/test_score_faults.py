"""`ioi-eval score` on a cluster that fails: it ends with an error message, and the same command continues the run."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from ioi_eval.report.result_files import result_rows
from tests.faults.stub_jobs import counts
from tests.forked_commands import COMMAND, Ended, ForkedCommands
from tests.full_isolation import require_full_isolation
from tests.serve_process import served_address

Score = Callable[[Path, str], Ended]
FAULTS = (
    "reset-before,reset-in,reset-after,reset-answer,truncate,empty-500,html-500,html-502,busy,lie,null,not-json,delay"
)
PROGRAMS = {
    *("time_limit/exhaustive.cpp", "partially_correct/one-each.cpp", "incorrect/forgets-batteries.cpp"),
    *("model_solution/halving.cpp", "runtime_error/last-lamp.cpp"),
}
"""Solutions of all tasks, which compile quickly: some are in several rows of the sample dump."""


class Served:
    """`ioi-eval serve` as a separate process."""

    def __init__(self, environment: dict[str, str], port: int = 0) -> None:
        require_full_isolation()
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--port", str(port), "--workers", "2"],
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.url = served_address(self.process).removesuffix("/api/v2")

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.url.rsplit(":", 1)[1])

    def kill(self) -> None:
        """Kill it, as if its machine failed."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of the sample dump that have these programs."""
    path = tmp_path_factory.mktemp("dump") / "dump.jsonl"
    with sample.dump().open() as rows, sample.dump_expected().open() as stated:
        chosen = [
            row for row, expected in zip(rows, stated, strict=True) if json.loads(expected)["solution"] in PROGRAMS
        ]
    assert len(chosen) == 8
    path.write_text("".join(chosen))
    return path


@pytest.fixture(scope="module")
def score(dump: Path, environment: dict[str, str], commands: ForkedCommands) -> Score:
    """Score the dump into a directory, on a server."""
    return lambda out, url: commands.run(*arguments(dump, out, url), cwd=out.parent, env=environment)


@pytest.fixture(scope="module")
def server(environment: dict[str, str]) -> Iterator[Served]:
    """A server that no test kills."""
    server = Served(environment)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def undisturbed(server: Served, score: Score, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, ...]]:
    """The results of a run without faults."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    ended = score(out, server.url)
    assert ended.returncode == 0, ended.stderr
    return results(out)


def arguments(dump: Path, out: Path, url: str) -> list[str]:
    """The arguments of `ioi-eval`. In C++17 the compiler takes two thirds of the time."""
    sources = ("--problems", str(sample.problems()), "--tests", str(sample.tests()), "--out", str(out))
    cluster = ("--endpoints", url, "--max-requests-per-endpoint", "2", "--patience", "2")
    return ["score", str(dump), *sources, *cluster, "--std", "gnu++17"]


def results(out: Path) -> list[tuple[Any, ...]]:
    """The written results: verdicts, scores and feedback by submission, subtask and test, in the dump's order."""
    rows = list(result_rows(out))
    return [
        (
            row["uuid"],
            row["verdict"],
            row["total_score"],
            row["compile_message"],
            [
                [
                    *(one[name] for name in ("subtask", "status", "score", "weighted_score")),
                    *(test[name] for name in ("test_name", "status", "score", "feedback")),
                ]
                for one in row["all_subtasks_results"]
                for test in one["test_results"]
            ],
        )
        for row in rows
    ]


def test_no_server_answers(score: Score, tmp_path: Path) -> None:
    """The exit code is 1, one line has the endpoint and the reason, and nothing is scored."""
    ended = score(tmp_path / "out", "http://127.0.0.1:1")
    assert ended.returncode == 1
    assert "no endpoint can be used: http://127.0.0.1:1/api/v2" in ended.stderr
    assert ended.stderr.endswith("; `ioi-eval doctor --endpoints …` tries each and says what to do\n")
    assert "Traceback" not in ended.stderr


def test_all_servers_die_and_the_same_command_goes_on(
    environment: dict[str, str], dump: Path, score: Score, undisturbed: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    """The only server is killed: the run ends after its patience with exit code 1. The same command finishes it."""
    first = Served(environment)
    out = tmp_path / "out"
    pipe = subprocess.PIPE
    command = [*COMMAND, *arguments(dump, out, first.url)]
    run = subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe)
    journal = out / "journal"
    try:
        while run.poll() is None and not (journal.is_file() and journal.read_bytes().count(b"\n") >= 2):
            time.sleep(0.05)
        first.kill()
        _, messages = run.communicate()
    finally:
        first.process.kill()
        run.kill()
        run.wait()
    assert run.returncode == 1, messages
    assert "Traceback" not in messages
    summary = json.loads((out / "summary.json").read_text())
    assert not summary["complete"]
    second = Served(environment, first.port)
    try:
        ended = score(out, second.url)
        assert ended.returncode == 0, ended.stderr
    finally:
        second.kill()
    assert results(out) == undisturbed


def test_verdicts_under_faults(
    server: Served, score: Score, undisturbed: list[tuple[Any, ...]], tmp_path: Path, start: Any
) -> None:
    """Three requests in ten have a fault: all scores, verdicts and messages are those of the run without faults."""
    faulty = ("--faults", FAULTS, "--rate", "0.3", "--seed", "3")
    proxy = start("fault_proxy.py", "--upstream", f"[{server.port}]", *faulty)
    counts(proxy.urls[0], "arm")
    disturbed = score(tmp_path / "disturbed", proxy.urls[0])
    done = counts(proxy.urls[0], "faults")
    assert disturbed.returncode == 0, disturbed.stderr
    assert sum(done.values()) - done["requests"] >= 3, "faults occurred"
    assert results(tmp_path / "disturbed") == undisturbed
