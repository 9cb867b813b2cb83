"""Attacks in Rust get the same treatment as those in C++. rustc is confined like g++: files, limits and messages."""

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
from tests.attacks.rust_attacks import COMPILING, RUNNING, RustAttack, RustCompileAttack, program, section
from tests.attacks.table import PAGE
from tests.attacks.users import users
from tests.rust_here import needs_rustc
from tests.small_problems import small_problem

pytestmark = pytest.mark.timeout(7200)  # the first test of a campaign runs the whole campaign

FORBIDDEN_TEXTS = ("root:x:0", "PRETTY_NAME", "GNU GENERAL", "grader_files", "ioi-eval-runner 1")


ON_RUSTC = [(level, attack) for level in LEVELS for attack in COMPILING if level is LEVELS[0] or not attack.slow]
"""The attacks on rustc at each level. The limit that slow ones reach is the same at both, as with g++."""


class Found(NamedTuple):
    """The results of a campaign: of running programs, of compilations, and what was left on the machine."""

    running: Mapping[str, TestOutcome]
    compiling: Mapping[str, SubmissionResult]
    harm: list[str]


@contextmanager
def recorded_harm() -> Iterator[list[str]]:
    """Yields a list. After the block, it has descriptions of what the block left on the machine."""
    harm: list[str] = []
    before = State.now()
    yield harm
    harm += State.now().harm_since(before)


async def campaign(level: Isolation, cache: Path) -> Found:
    """All attacks at one level. Each attack of a running program is followed by an honest test."""
    compiling: dict[str, SubmissionResult] = {}
    with recorded_harm() as harm:
        async with LocalSandbox(slots=SLOTS, least_isolation=level, strongest=level) as sandbox:
            artifacts = ArtifactStore(cache)
            scorer = Scorer(sandbox, artifacts=artifacts, policy=policy(level))
            running: dict[str, TestOutcome] = {}
            for long_limit in (False, True):
                names = [attack.name for attack in RUNNING if attack.long_limit is long_limit]
                task = problem("secret", names, cache, long_limit=long_limit)
                result = await scorer.score(task, rust(task, program()), exhaustive=True)
                assert result.compile.verdict is None, result.compile.message
                running |= {one.test: one for one in result.subtasks[0].tests}
            compiling_limits = replace(COMPILE_LIMITS, cpu_s=2.5, wall_s=900)  # the machine may be busy
            narrow, narrower = (
                Scorer(sandbox, artifacts=artifacts, policy=policy(level, compiling=limits))
                for limits in (compiling_limits, replace(compiling_limits, cpu_s=1))
            )
            queue = iter([attack for at, attack in ON_RUSTC if at is level])

            async def worker() -> None:
                for attack in queue:
                    submission, judge = rust(sealed(), attack.code()), narrower if attack.slow else narrow
                    compiling[attack.name] = await judge.score(sealed(), submission, exhaustive=True)

            async with asyncio.TaskGroup() as group:
                for _ in range(SLOTS):
                    group.create_task(worker())
    return Found(running, compiling, harm)


def rust(task: Problem, code: str) -> Submission:
    """A program in Rust."""
    return Submission(id="attack", problem=task.key, code=code, language=Language.RUST)


def sealed() -> Problem:
    """A problem that no program solves: a program that compiles prints what it has read, and gets WA."""
    tests = {"only": TestCase(name="only", input=b"", answer=b"what nobody prints\n")}
    return small_problem(
        name="Sealed", year=2000, subtasks=(Subtask(name="all", points=1, tests=("only",)),), tests=tests
    )


@once
def findings(level: Isolation, cache: Path) -> Found:
    """The results of the campaign at a level, which runs once."""
    return users()[0].run(lambda: asyncio.run(campaign(level, cache)))


@pytest.fixture(scope="module", params=LEVELS, ids=lambda level: level.value)
def found(request: pytest.FixtureRequest, cache: Path) -> Found:
    """The results at each level that this machine offers."""
    if reason := why_not(request.param):
        pytest.skip(reason)
    return findings(request.param, cache)


@needs_rustc
@pytest.mark.parametrize("attack", RUNNING, ids=lambda attack: attack.name)
def test_attack_by_a_program(attack: RustAttack, found: Found) -> None:
    """The attack fails with an accepted verdict, the result lists its refused calls, and the honest test after it
    passes.
    """
    outcome = found.running[attack.name]
    assert outcome.verdict in attack.expect.split(), outcome
    assert not outcome.message.startswith("GOT"), outcome
    assert set(attack.attempted) <= set(outcome.attempted), outcome
    assert found.running[HONEST + attack.name].verdict == "AC"


@needs_rustc
@pytest.mark.parametrize(
    ("found", "attack"),
    ON_RUSTC,
    indirect=["found"],
    ids=[f"{level.value}-{attack.name}" for level, attack in ON_RUSTC],
)
def test_attack_on_rustc(attack: RustCompileAttack, found: Found) -> None:
    """rustc reads no forbidden file and ends in time; the verdict is an accepted one, never JE."""
    result = found.compiling[attack.name]
    assert result.verdict in attack.expect.split(), result.compile
    messages = [result.compile.message, *(one.stderr for part in result.subtasks for one in part.tests)]
    assert not [text for text in FORBIDDEN_TEXTS if any(text in message for message in messages)]


@needs_rustc
def test_attacks_leave_nothing_behind(found: Found) -> None:
    """After all attacks, no new process, file or mount is left."""
    assert found.harm == []


def test_the_page_has_the_section_of_the_rust_attacks() -> None:
    """docs/attacks.md contains the text of `rust_attacks.section()`, with the accepted verdicts."""
    assert section() in PAGE.read_text(encoding="utf-8")
