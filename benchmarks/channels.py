"""How much information one process of a submission can send to another through its computing time and shared memory.

Neither channel can be closed: a manager waits for the process that computes, and processors share their memory. Both
cost CPU time, which the limit bounds. The second process knows the message, and counts its correct guesses.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval import Isolation
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.model import (
    Communication,
    JudgeProgram,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
)
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

CODE = Path(__file__).with_suffix(".cpp").read_text()
UNITS_US = {"work": (30, 100, 300, 1000, 3000), "memory": (100, 300, 1000, 3000, 10000)}
KINDS = {"work": 16, "memory": 2}
CPU_US = {"work": 7.5, "memory": 2.0}
"""CPU time of both processes together for one symbol, in units."""


def problem() -> Problem:
    """A problem with a test for each channel and each length of a symbol."""
    names = [f"{way} {unit}" for way, units in UNITS_US.items() for unit in units]
    manager = SourceFile(path="graders/manager.cpp", content=b"#define MANAGER\n" + CODE.encode())
    return Problem(
        key=ProblemKey(year=2000, id="channels"),
        name="channels",
        method=Communication(manager=JudgeProgram(source=manager), processes=2),
        time_limit_s=10.0,
        memory_limit_bytes=256 << 20,
        subtasks=(Subtask(name="all", points=100, tests=tuple(names)),),
        tests={name: TestCase(name=name, input=f"{name}\n".encode(), answer=b"") for name in names},
        cxx_std="gnu++17",
    )


def bits(right: int, of: int, kinds: int) -> float:
    """The bits that a symbol carries, if all wrong symbols are equally likely."""
    p = min(max(right / of, 1 / kinds), 1 - 1e-9)
    wrong = 1 - p
    return math.log2(kinds) + p * math.log2(p) + wrong * math.log2(wrong / (kinds - 1))


async def measure(level: Isolation, cache: Path) -> None:
    """Print a line for each test."""
    async with LocalSandbox(slots=1, least_isolation=level, strongest=level) as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=Policy(least_isolation=level))
        task = problem()
        result = await scorer.score(task, Submission(id="channels", problem=task.key, code=CODE), exhaustive=True)
        most = dict.fromkeys(KINDS, 0.0)
        for outcome in result.subtasks[0].tests:
            way, unit = outcome.test.split()
            if not outcome.message[:1].isdigit():
                print(f"{level} {outcome.test}: {outcome.verdict} {outcome.message}")
                continue
            right, of = map(int, outcome.message.split())
            carried = bits(right, of, KINDS[way])
            rate = carried / (CPU_US[way] * int(unit)) * 1e6
            summary = f"{right:2} of {of:2} right, {carried:.2f} bits a symbol, {rate:.0f} a CPU-s"
            print(f"{level:8} {way:6} {unit:>5} us: {summary}", flush=True)
            most[way] = max(most[way], rate)
        report(*(Figure(name=f"{way}, {level}", value=rate, unit="bits a CPU-s") for way, rate in most.items()))


def main() -> None:
    """Measure at both isolation levels."""
    levels = [Isolation(word) for word in arguments()] or [Isolation.FULL, Isolation.REDUCED]
    with tempfile.TemporaryDirectory(prefix="channels-") as cache:
        Path(cache).chmod(0o755)
        for level in levels:
            asyncio.run(measure(level, Path(cache)))


if __name__ == "__main__":
    main()
