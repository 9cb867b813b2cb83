"""A run in which attackers and honest submissions are judged together, in random order.

It has two slots, so attackers and honest programs run at the same time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB
from ioi_eval.model import Isolation, Problem, Submission, SubmissionResult
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.attacks.arena import policy, problem
from tests.attacks.catalogue import Program, programs
from tests.attacks.harm import State, kept_memory_bytes, lost_memory_bytes

_HEAD = """#include <cstdio>
static long a, b;
static bool read() {
    for (int c = 0; c != ' ' && c >= 0;) c = getchar();  // skips the first word
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
    """An entry of the queue: a submission, its problem, and whether it is honest."""

    task: Problem
    submission: Submission
    honest: bool


def honest_entries(cache: Path, copies: int) -> list[Entry]:
    """Honest programs that get each verdict, each several times."""
    task = problem("sum", ["one", "two", "three"], cache)
    task = replace(task, memory_limit_bytes=32 * MIB)  # so small that the limit is reached before the time limit
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
    task = problem(program.problem, names, cache, long_limit=program.long_limit)
    return Entry(task=task, submission=Submission(id=program.name, problem=task.key, code=program.code), honest=False)


async def judge_all(entries: Sequence[Entry], level: Isolation, cache: Path) -> list[SubmissionResult]:
    """Judge a queue with two tasks at once. Returns the results of the honest entries, in the order of the queue."""
    results: dict[int, SubmissionResult] = {}
    queue = iter(enumerate(entries))

    async with LocalSandbox(slots=2, least_isolation=level, strongest=level) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=policy(level), bundle_tests=4)

        async def worker() -> None:
            for number, entry in queue:
                results[number] = await scorer.score(entry.task, entry.submission, exhaustive=True)

        async with asyncio.TaskGroup() as group:
            for _ in range(2):
                group.create_task(worker())
    return [results[number] for number, entry in enumerate(entries) if entry.honest]


def scores(results: Sequence[SubmissionResult]) -> Scored:
    """The part of the results that is compared: verdict and score of each test, by submission."""
    return {
        result.submission: [(str(test.verdict), test.score) for test in result.subtasks[0].tests] for result in results
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The time of the tests that passed. Others may have been stopped at a limit of time.

    Args:
        cpu_ms, wall_ms: sums over these tests.
    """

    cpu_ms: float
    wall_ms: float

    @classmethod
    def of(cls, results: Sequence[SubmissionResult]) -> Times:
        """The sums over these results."""
        tests = [test for result in results for test in result.subtasks[0].tests if test.score == 1.0]
        return cls(cpu_ms=sum(test.cpu_ms or 0.0 for test in tests), wall_ms=sum(test.wall_ms or 0.0 for test in tests))


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """The result of a run.

    Args:
        seed: the seed of the random order.
        alone, among: the scores of the honest programs without and with attackers.
        times_alone, times_among: the times of the honest programs.
        harm: descriptions of what the attackers left.
        lost_bytes: how much more memory is kept in files afterwards.
    """

    seed: int
    alone: Scored
    among: Scored
    times_alone: Times
    times_among: Times
    harm: tuple[str, ...]
    lost_bytes: int


def survive(level: Isolation, cache: Path, *, copies: int, attackers: int | None) -> Survival:
    """Judge the honest programs alone, then among attackers in a new random order.

    Args:
        level: the isolation level.
        cache: the cache directory.
        copies: how many times each honest program is in the queue.
        attackers: how many attacking programs, each with three of its attacks; `None` for all programs and attacks.
    """
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    honest = honest_entries(cache, copies)
    alone = asyncio.run(judge_all(honest, level, cache))
    before, memory = State.now(), kept_memory_bytes()
    attacking = attacking_entries(cache, chance, None if attackers is None else 3)
    queue = [*honest, *(attacking if attackers is None else chance.sample(attacking, attackers))]
    chance.shuffle(queue)
    among = asyncio.run(judge_all(queue, level, cache))
    return Survival(
        seed=seed,
        alone=scores(alone),
        among=scores(among),
        times_alone=Times.of(alone),
        times_among=Times.of(among),
        harm=tuple(State.now().harm_since(before)),
        lost_bytes=lost_memory_bytes(memory),
    )
