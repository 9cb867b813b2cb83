"""The run survives: attackers and honest submissions in any order, side by side, and nothing changes for the honest.

Two slots, so that attackers and honest programs run at the same time; the order is drawn, and told on failure. What
honest programs take is CPU time, measured with and without attackers and printed (`-s` shows it): a bound on it would
make the test depend on what else this machine does.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest
from arena import policy, problem
from campaign import Campaign
from catalogue import Program, programs
from harm import State, memory_available_bytes
from persons import persons

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation, Problem, Submission, SubmissionResult
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.scorer import Scorer

MEMORY_SLACK_BYTES = 1 << 30  # what others on this machine may take meanwhile

_HEAD = """#include <cstdio>
static long a, b;
static bool read() {
    for (int c = 0; c != ' ' && c >= 0;) c = getchar();  // the word in front
    return scanf("%ld %ld", &a, &b) == 2;
}
"""
HONEST = {
    "right": 'int main() { read(); printf("%ld\\n", a + b); }',
    "wrong": 'int main() { read(); printf("%ld\\n", a - b); }',
    "half right": 'int main() { read(); printf("%ld\\n", a % 2 == 0 ? a + b : 0); }',
    "crashing": "int main() { volatile int *p = nullptr; *p = 1; }",
    "busy": "int main() { read(); volatile long x = 0; for (long i = 0; i < 30000000; ++i) x = x + i;"
    ' printf("%ld\\n", a + b); }',
    "endless": "int main() { for (;;) {} }",
    "greedy": "int main() { static char much[200 << 20]; for (char &c : much) c = 1; puts(much); }",
}

Scored: TypeAlias = "dict[str, list[tuple[str, float | None]]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Somebody in the queue: a submission, its problem, and whether it is honest."""

    task: Problem
    submission: Submission
    honest: bool


def honest_entries(cache: Path, copies: int) -> list[Entry]:
    """Honest programs of every verdict, each several times."""
    task = problem("sum", ["one", "two", "three"], cache)
    return [
        Entry(task=task, submission=Submission(id=f"{name} {n}", problem=task.key, code=_HEAD + code), honest=True)
        for name, code in HONEST.items()
        for n in range(copies)
    ]


def attacking_entries(cache: Path, chance: random.Random, attacks_each: int | None) -> list[Entry]:
    """Every attacking program, with some of its attacks."""
    entries = []
    for program in programs():
        if program.problem == "sum":
            continue
        names = [attack.name for attack in program.attacks]
        chosen = names if attacks_each is None else chance.sample(names, min(attacks_each, len(names)))
        entries.append(_attacker(program, chosen, cache))
    return entries


def _attacker(program: Program, names: Sequence[str], cache: Path) -> Entry:
    task = problem(program.problem, names, cache)
    return Entry(task=task, submission=Submission(id=program.name, problem=task.key, code=program.code), honest=False)


async def judge_all(entries: Sequence[Entry], level: Isolation, cache: Path) -> list[SubmissionResult]:
    """Judge a queue with two workers; the results of the honest, in the order of the queue."""
    results: dict[int, SubmissionResult] = {}
    queue = iter(enumerate(entries))

    async with LocalSandbox(slots=2, isolation=level, strongest=level) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=policy(level), bundle_tests=4)

        async def worker() -> None:
            for number, entry in queue:
                results[number] = await scorer.score(entry.task, entry.submission, exhaustive=True)

        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(worker())
    return [results[number] for number, entry in enumerate(entries) if entry.honest]


def scores(results: Sequence[SubmissionResult]) -> Scored:
    """What counts of a result: each test's verdict and score."""
    return {
        result.submission: [(str(test.verdict), test.score) for test in result.subtasks[0].tests] for result in results
    }


def cpu_ms(results: Sequence[SubmissionResult]) -> float:
    """CPU time of all tests that passed: others were stopped when a clock said so."""
    tests = (test for result in results for test in result.subtasks[0].tests)
    return sum(test.cpu_ms or 0.0 for test in tests if test.score == 1.0)


LEAST = {("full", False), ("reduced", True)}
"""Unless asked for more: the strongest isolation as this user, the weakest as an ordinary one."""


@pytest.mark.timeout(7200)
def test_honest_programs_among_attackers(campaign: Campaign, request: pytest.FixtureRequest) -> None:
    """Whatever runs beside and before them, honest programs keep their verdicts, and the machine stays as it was."""
    full = bool(request.config.getoption("--full"))
    other = (campaign.level.value, campaign.person.forks) not in LEAST and len(persons()) > 1
    if campaign.served or (other and not full):
        pytest.skip("large budget: scripts/test --full")
    seed = random.randrange(1 << 32)
    told = campaign.person.does(lambda: _survive(campaign.level, campaign.cache, seed, full=full))
    alone, among, harm, lost, ratio = told
    assert among == alone, f"seed {seed}"
    assert {verdict for tests in alone.values() for verdict, _ in tests} >= {"AC", "WA", "RE", "TLE", "MLE"}
    assert not harm, f"seed {seed}"
    assert lost < MEMORY_SLACK_BYTES, f"seed {seed}: {lost >> 20} MiB of memory are gone"
    print(
        f"{campaign.level.value}, {campaign.person.name}: honest CPU time among attackers is {ratio:.3f} of that alone"
    )


def _survive(level: Isolation, cache: Path, seed: int, *, full: bool) -> tuple[Scored, Scored, list[str], int, float]:
    chance = random.Random(seed)
    honest = honest_entries(cache, 8 if full else 1)
    alone = asyncio.run(judge_all(honest, level, cache))
    before, memory = State.now(), memory_available_bytes()
    attackers = [
        entry for _ in range(3 if full else 1) for entry in attacking_entries(cache, chance, None if full else 3)
    ]
    attackers = attackers if full else chance.sample(attackers, 8)
    queue = [*honest, *attackers]
    chance.shuffle(queue)
    among = asyncio.run(judge_all(queue, level, cache))
    harm = State.now().harm_since(before)
    lost = memory - memory_available_bytes()
    return scores(alone), scores(among), harm, lost, cpu_ms(among) / max(cpu_ms(alone), 1.0)
