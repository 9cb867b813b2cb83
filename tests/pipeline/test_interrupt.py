"""Ctrl-C and `kill -9`: the next run continues an interrupted one."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ioi_eval.model import Submission
from ioi_eval.pipeline.interrupt import SIGNALS, Interrupts
from tests.pipeline.scripted import Contest, ScriptedScorer, programs

CHILD = """
import pathlib, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have been started by nohup
from tests.pipeline.scripted import Contest, ScriptedScorer
def told(submission):
    print(submission.id, flush=True)
    if len(sys.argv) > 3:
        sys.stdin.readline()
outcome = Contest(pathlib.Path(sys.argv[1])).run(ScriptedScorer(before=told), jobs_at_once=int(sys.argv[2]))
sys.exit(outcome.exit_code)
"""


def start(contest: Contest, workers: int = 3, *, step_by_step: bool = False) -> subprocess.Popen[str]:
    """Score the dump in another process. It prints each submission that it judges, and waits for a line if
    `step_by_step`.
    """
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(contest.directory), str(workers), *["step"] * step_by_step],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def read_until(child: subprocess.Popen[str], submission: str) -> None:
    """Wait until the process judges this submission."""
    assert child.stdout is not None
    for line in child.stdout:
        if line.strip() == submission:
            return
    raise AssertionError(f"{submission} was not reached")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["Ctrl-C", "SIGTERM", "SIGHUP"])
def test_a_run_can_be_resumed_after_a_signal(contest: Contest, number: signal.Signals) -> None:
    """The exit code is 130. The results so far are written in order, the others are pending."""
    contest.write(*programs("1", "0.5", "wait", "0"))
    child = start(contest, workers=1)
    read_until(child, "u2")
    child.send_signal(number)
    _, errors = child.communicate()
    assert child.returncode == 130
    assert "Interrupted: writing what is there." in errors
    assert [row["uuid"] for row in contest.results()] == ["u0", "u1"]
    contest.write(*programs("1", "0.5", "1 // no longer waits", "0"))
    scorer = ScriptedScorer()
    outcome = contest.run(scorer)
    assert scorer.judged == ["u2", "u3"]
    assert outcome.exit_code == 0
    assert [row["total_score"] for row in contest.results()] == [100, 50, 100, 0]


def test_the_summary_of_an_interrupted_run_says_so(contest: Contest) -> None:
    """In this process, which sends the signal to itself."""

    def interrupt(submission: Submission) -> None:
        if submission.id == "u1":
            os.kill(os.getpid(), signal.SIGINT)

    contest.write(*programs("1", "wait", "1 //b"))
    before = signal.getsignal(signal.SIGINT)  # ignored if the tests were started in the background
    outcome = contest.run(ScriptedScorer(before=interrupt), jobs_at_once=1)
    assert outcome.exit_code == 130
    assert outcome.summary["interrupted"]
    assert outcome.summary["submissions"]["pending"] == 2
    assert outcome.summary["problems_pending"] == []  # one submission of the only problem is judged
    assert "interrupted; repeat the command of the run" in (contest.out / "report.md").read_text()
    assert signal.getsignal(signal.SIGINT) is before


def test_signal_handlers_are_restored() -> None:
    """In the kernel of a notebook, or under `asyncio.run`, the caller has its own handlers."""

    def own(number: int, frame: object) -> None:
        """The caller's handler."""

    async def run() -> None:
        with Interrupts().installed():
            assert own not in map(signal.getsignal, SIGNALS)

    before = {number: signal.signal(number, own) for number in SIGNALS}
    try:
        asyncio.run(run())
        assert [signal.getsignal(number) for number in SIGNALS] == [own] * 3
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_the_second_signal_ends_the_run_at_once(contest: Contest) -> None:
    """Even if the sandbox does not react to cancellation. No result file is written, but the journal is complete."""
    contest.write(*programs("1", "stubborn"))
    child = start(contest, workers=1)
    read_until(child, "u1")
    child.send_signal(signal.SIGINT)
    assert child.stderr is not None
    assert any("Interrupted" in line for line in child.stderr)
    child.send_signal(signal.SIGINT)
    assert child.wait() == 130
    assert not (contest.out / "results.jsonl").exists()
    contest.write(*programs("1", "0"))
    scorer = ScriptedScorer()
    contest.run(scorer)
    assert scorer.judged == ["u1"]


def test_a_run_killed_at_random_moments_has_the_same_results(contest: Contest, tmp_path: Path) -> None:
    """After repeated `kill -9` the results are the same, with copies and final JEs. No submission is judged twice
    without need.
    """
    dump = programs(*(["1 1 final", "0.5", "CE", None][n % 4] if n % 7 == 0 else f"1 // {n % 400}" for n in range(600)))
    dump = [{**row, "generation": "none"} for row in dump]
    undisturbed = Contest(tmp_path / "undisturbed")
    undisturbed.directory.mkdir()
    for one in (contest, undisturbed):
        one.write(*dump)
    whole = ScriptedScorer()
    undisturbed.run(whole)
    rng = random.Random(3)
    judged = kills = 0
    for steps in [*(rng.randrange(5, 60) for _ in range(5)), 10**6]:
        child = start(contest, workers=3, step_by_step=True)
        assert child.stdout is not None
        assert child.stdin is not None
        for count, _ in enumerate(child.stdout):
            judged += 1
            child.stdin.write("\n")
            child.stdin.flush()
            if count == steps:
                time.sleep(rng.random() * 0.005)
                child.kill()
                break
        child.communicate()
        kills += child.returncode == -signal.SIGKILL  # it may have ended by itself before, with 1 for the final JEs
        assert child.returncode in (1, -signal.SIGKILL if steps < 10**6 else 1)
    assert kills
    assert judged <= len(whole.judged) + kills * 2 * 3  # those that were running when it was killed
    assert contest.results() == undisturbed.results()
