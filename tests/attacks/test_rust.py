"""Attacks in Rust meet the box that those in C++ meet, and rustc reads, takes and says no more than g++ does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache as once
from pathlib import Path
from typing import NamedTuple

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation, Language, Problem, Submission, SubmissionResult, Subtask, TestCase, TestOutcome
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.attacks.arena import COMPILING as COMPILE_LIMITS
from tests.attacks.arena import HONEST, policy, problem
from tests.attacks.campaign import SLOTS
from tests.attacks.catalogue import LEVELS
from tests.attacks.harm import State
from tests.attacks.levels import why_not
from tests.attacks.persons import persons
from tests.attacks.rust_attacks import COMPILING, RUNNING, RustAttack, RustCompileAttack, program, section
from tests.attacks.table import PAGE
from tests.rust_here import needs_rustc
from tests.small_problems import small_problem

pytestmark = pytest.mark.timeout(7200)  # the first test of a campaign makes all of it

UNSAID = ("root:x:0", "PRETTY_NAME", "GNU GENERAL", "grader_files", "ioi-eval-runner 1")


class Found(NamedTuple):
    """What a campaign brought."""

    running: Mapping[str, TestOutcome]
    compiling: Mapping[str, SubmissionResult]
    harm: list[str]


@contextmanager
def looked_at() -> Iterator[list[str]]:
    """What is left on the machine of what happens in the block."""
    harm: list[str] = []
    before = State.now()
    yield harm
    harm += State.now().harm_since(before)


async def campaign(level: Isolation, cache: Path) -> Found:
    """All attacks at one level, each of those that run with an honest test behind it."""
    compiling: dict[str, SubmissionResult] = {}
    with looked_at() as harm:
        async with LocalSandbox(slots=SLOTS, isolation=level, strongest=level) as sandbox:
            artifacts = ArtifactStore(cache)
            scorer = Scorer(sandbox, artifacts=artifacts, policy=policy(level))
            running: dict[str, TestOutcome] = {}
            for unhurried in (False, True):
                names = [attack.name for attack in RUNNING if attack.unhurried is unhurried]
                task = problem("secret", names, cache, unhurried=unhurried)
                result = await scorer.score(task, rust(task, program()), exhaustive=True)
                assert result.compile.verdict is None, result.compile.message
                running |= {one.test: one for one in result.subtasks[0].tests}
            compiling_limits = replace(COMPILE_LIMITS, wall_s=900)  # a machine may be busy
            narrow = Scorer(sandbox, artifacts=artifacts, policy=policy(level, compiling=compiling_limits))
            queue = iter(COMPILING)

            async def worker() -> None:
                for attack in queue:
                    submission = rust(sealed(), attack.code())
                    compiling[attack.name] = await narrow.score(sealed(), submission, exhaustive=True)

            async with asyncio.TaskGroup() as group:
                for _ in range(SLOTS):
                    group.create_task(worker())
    return Found(running, compiling, harm)


def rust(task: Problem, code: str) -> Submission:
    """A program in Rust."""
    return Submission(id="attack", problem=task.key, code=code, language=Language.RUST)


def sealed() -> Problem:
    """A problem whose answer nobody can know: a program that compiles prints what it has, and that is wrong."""
    tests = {"only": TestCase(name="only", input=b"", answer=b"what nobody prints\n")}
    return small_problem(
        name="Sealed", year=2000, subtasks=(Subtask(name="all", points=1, tests=("only",)),), tests=tests
    )


@once
def findings(level: Isolation, cache: Path) -> Found:
    """Of the campaign at a level, which is made once."""
    return persons()[0].does(lambda: asyncio.run(campaign(level, cache)))


@pytest.fixture(scope="module", params=LEVELS, ids=lambda level: level.value)
def found(request: pytest.FixtureRequest, cache: Path) -> Found:
    """At each level that there is."""
    if reason := why_not(request.param):
        pytest.skip(reason)
    return findings(request.param, cache)


@needs_rustc
@pytest.mark.parametrize("attack", RUNNING, ids=lambda attack: attack.name)
def test_attack_by_a_program(attack: RustAttack, found: Found) -> None:
    """It gets nothing, its verdict is right, what was refused is told, and an honest test behind it passes."""
    outcome = found.running[attack.name]
    assert outcome.verdict in attack.expect.split(), outcome
    assert not outcome.message.startswith("GOT"), outcome
    assert set(attack.attempted) <= set(outcome.attempted), outcome
    assert found.running[HONEST + attack.name].verdict == "AC"


@needs_rustc
@pytest.mark.parametrize("attack", COMPILING, ids=lambda attack: attack.name)
def test_attack_on_rustc(attack: RustCompileAttack, found: Found) -> None:
    """It reads nothing, ends in time, and is never the judge's failure."""
    result = found.compiling[attack.name]
    assert result.verdict in attack.expect.split(), result.compile
    words = [result.compile.message, *(one.stderr for part in result.subtasks for one in part.tests)]
    assert not [said for said in UNSAID if any(said in each for each in words)]


@needs_rustc
def test_nothing_is_left(found: Found) -> None:
    """No process, file or mount."""
    assert found.harm == []


def test_the_page_lists_them() -> None:
    """With the verdicts that are right; `rust_attacks.section()` is what is to stand there."""
    assert section() in PAGE.read_text(encoding="utf-8")
