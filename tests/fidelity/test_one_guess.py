"""A program whose output makes a judge program fail is not run again: if it guesses, it could guess again.

The program writes the time, which differs in each run. The judge programs, which execute the test's input, write down
what they read. (Under reduced isolation they can do so outside of their box.)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import (
    Batch,
    CheckerProtocol,
    Isolation,
    JudgeProgram,
    RunMethod,
    SourceFile,
    TestOutcome,
    Verdict,
)
from tests.fidelity.conftest import Bench
from tests.fidelity.managers import COMMUNICATION

PROGRAM = r"""
#include <stdio.h>
#include <time.h>
int main() {
  while (clock() < CPU_S * CLOCKS_PER_SEC) {}
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%lld.%09ld\n", (long long)now.tv_sec, now.tv_nsec);
}
"""
CHECKER = JudgeProgram(source=SourceFile(path="checker/checker.sh", content=b"#!/bin/bash\n. ./input.txt\n"))
VALIDATOR = replace(CHECKER, protocol=CheckerProtocol.KATTIS)
IS_CHECKER = Batch(check=CHECKER), "read -r word < output.txt"
IS_VALIDATOR_OF_PASSES = Batch(check=VALIDATOR, passes=2), "read -r word"
IS_MANAGER = COMMUNICATION, "speak $1 $2; read -r word <&3"
TIME_LIMIT_S = 0.2
JE, AC = Verdict.JE, Verdict.AC

Judge = Callable[..., tuple[TestOutcome, list[str]]]


@pytest.fixture
def judge(benches: Callable[[Isolation], Bench], problem_from: Any) -> Iterator[Judge]:
    """Judges the program, on one test. Returns the outcome, and what its judge program read each time."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory, "log")

        def judge(how: tuple[RunMethod, str], commands: str, cpu_s: float = 0) -> tuple[TestOutcome, list[str]]:
            method, read = how
            given = f"{read}; echo $word >> {log}; runs=$(wc -l < {log}); {commands}\n"
            problem = problem_from({"a": (given.encode(), b"")}, method=method, time_limit_s=TIME_LIMIT_S)
            outcomes = benches(Isolation.REDUCED).outcomes(problem, f"#define CPU_S {cpu_s}\n{PROGRAM}")
            return outcomes["a"], log.read_text().split()

        Path(directory).chmod(0o711)
        log.touch()
        log.chmod(0o666)
        yield judge


FAILURES = {"crashes": "kill -SEGV $$", "killed": "kill -KILL $$", "exits": "exit 1", "no score": "exit 0"}


@pytest.mark.parametrize("cpu_s", [0, TIME_LIMIT_S], ids=["in time", "late"])
@pytest.mark.parametrize("failure", FAILURES.values(), ids=list(FAILURES))
def test_a_checker_judges_the_same_output_twice(judge: Judge, failure: str, cpu_s: float) -> None:
    """Then the JE is final, also if the program was late: it would not have scored in time."""
    outcome, (first, second) = judge(IS_CHECKER, failure, cpu_s)
    assert (outcome.verdict, outcome.score, outcome.failed_program, outcome.final) == (JE, None, "checker", True)
    assert first == second


@pytest.mark.parametrize("failure", FAILURES.values(), ids=list(FAILURES))
def test_a_checker_that_fails_once_gives_a_score(judge: Judge, failure: str) -> None:
    """As when the machine has killed it for a moment's lack of memory."""
    outcome, (first, second) = judge(IS_CHECKER, f"[ $runs = 2 ] || {failure}; echo 1")
    assert (outcome.verdict, outcome.score) == (AC, 1.0)
    assert first == second


def test_a_validator_of_several_passes_judges_once(judge: Judge) -> None:
    """It may have changed its feedback directory, which it needs for the next pass, before it crashed."""
    outcome, read = judge(IS_VALIDATOR_OF_PASSES, FAILURES["crashes"])
    assert (outcome.verdict, outcome.score, outcome.failed_program, outcome.final) == (JE, None, "checker", True)
    assert len(read) == 1


@pytest.mark.parametrize("over", ["while :; do :; done", "sleep 1000"])
def test_a_checker_that_was_over_a_limit_does_not_judge_again(judge: Judge, over: str) -> None:
    """It would need as much again for the same output. On a busy machine it may not reach its limit of CPU time."""
    outcome, read = judge(IS_CHECKER, over)
    is_too_busy = outcome.message == "the machine is too busy to judge"
    program = "runner" if is_too_busy else "checker"
    assert (outcome.verdict, outcome.score, outcome.failed_program, outcome.final) == (
        JE,
        None,
        program,
        not is_too_busy,
    )
    assert len(read) == 1


@pytest.mark.parametrize("failure", ["crashes", "exits", "no score"])
def test_a_game_whose_manager_fails_is_not_repeated(judge: Judge, failure: str) -> None:
    """The manager cannot play it again without the program."""
    outcome, read = judge(IS_MANAGER, FAILURES[failure])
    assert (outcome.verdict, outcome.score, outcome.failed_program, outcome.final) == (JE, None, "manager", True)
    assert len(read) == 1


def test_a_game_whose_manager_was_killed_from_outside_is_repeated(judge: Judge) -> None:
    """The machine did that, so the game is played once more."""
    outcome, (first, second) = judge(IS_MANAGER, "[ $runs = 2 ] || kill -KILL $$; echo 1")
    assert (outcome.verdict, outcome.score) == (AC, 1.0)
    assert first != second
