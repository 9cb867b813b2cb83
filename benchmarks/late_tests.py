"""What late tests cost: how long a machine is reserved for tests that run alone, divided by their own CPU time.

    python benchmarks/late_tests.py [--programs 24] [--late 8] [--tests 10] [--limit 0.5] [--slots 2] [--runs 3]

It measures contest problems (C++, two subtasks) and APPS (Python). Some of the programs are late on every test, by 8 %
of the limit: only in the first run (as on a busy machine), or always (programs that are too slow). The other programs
take 0.1 s for each test. The machine counts as reserved from the moment when a job could have a free slot but does not
get it, because another job waits to run alone, until jobs may start again. If other programs keep the machine busy, the
wall clock mostly shows how busy it is. The last figure is then the best one: the CPU time of everything of ours that
ran meanwhile (boxes, runner and this process), divided by that of the repeated tests.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from figures import Figure, arguments, report

from ioi_eval import ArtifactStore, LocalSandbox, Problem, ProblemKey, Scorer, Submission
from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.config import Environment
from ioi_eval.model import Batch, Blob, Execution, Job, Subtask, TestCase, Verdict
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.sandbox import Target
from ioi_eval.slots import Slots

# programs that are judged at once for each slot, as in `apps score`; in `score` it is one, and two more in all
PROGRAMS_PER_SLOT = 8
OTHER_S = 0.1
PYTHON = """# {number}
import time
AGAIN = False
while time.process_time() < ({again_s} if AGAIN else {first_s}): pass
print(input())
"""
CPP = """// {number}
#include <cstdio>
#include <ctime>
const volatile char again[] = "AGAIN = False";
int main() {{
    const double busy_s = again[8] == 'T' ? {again_s} : {first_s};
    int n;
    while (std::clock() < busy_s * CLOCKS_PER_SEC) {{}}
    if (std::scanf("%d", &n) == 1) std::printf("%d\\n", n);
}}
"""


class Timed(Slots):
    """Slots that measure how long they were reserved for a job that runs alone, or waits to run alone."""

    reserved_s = reserved_cpu_s = 0.0
    since: tuple[float, float] | None = None

    def _wake(self) -> None:
        super()._wake()
        refused = self._alone_is_due() and bool(self._free) and bool(self._waiting)
        now, cpu = time.monotonic(), math.fsum(os.times()[:4])  # of this process and its ended children
        if (self._last_ran_alone or refused) and self.since is None:
            self.since = now, cpu
        elif not (self._last_ran_alone or refused) and self.since is not None:
            self.reserved_s += now - self.since[0]
            self.reserved_cpu_s += cpu - self.since[1]
            self.since = None


class Sandbox(LocalSandbox):
    """A sandbox with such slots. It tells programs when they run alone, and counts those jobs."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots=slots)
        self._boxes = self.timed = Timed(self._boxes.count)
        self.alone = 0

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run it."""
        if job.alone:
            self.alone += 1
            job = replace(job, files=tuple(replace(file, content=_with_again(file.content)) for file in job.files))
        return await super().execute(job, target)


def _with_again(content: bytes | Blob) -> bytes | Blob:
    return content.replace(b"AGAIN = False", b"AGAIN = True ") if isinstance(content, bytes) else content


@dataclass(frozen=True)
class Ran:
    """A test of either family."""

    verdict: Verdict
    reran: bool
    cpu_s: float
    wall_s: float


Score = Callable[[str], Awaitable[Sequence[Ran]]]


def contest(sandbox: Sandbox, store: ArtifactStore, tests: int, limit_s: float) -> Score:
    """Judges programs in C++: half of the tests in each of two subtasks."""
    names = [f"{number:02}" for number in range(tests)]
    problem = Problem(
        key=ProblemKey(year=0, id="late"), name="Late", method=Batch(), cxx_std="gnu++17",
        time_limit_s=limit_s, memory_limit_bytes=256 << 20,
        subtasks=(
            Subtask(name="first", points=50, tests=tuple(names[: tests // 2])),
            Subtask(name="second", points=50, tests=tuple(names[tests // 2 :])),
        ),
        tests={
            name: TestCase(name=name, input=f"{name}\n".encode(), answer=f"{int(name)}\n".encode()) for name in names
        },
    )  # fmt: skip
    scorer = Scorer(sandbox, artifacts=store)

    async def score(code: str) -> Sequence[Ran]:
        result = await scorer.score(problem, Submission(id="late", problem=problem.key, code=code))
        ran = (outcome for subtask in result.subtasks for outcome in subtask.tests)
        return [Ran(test.verdict, test.reran, (test.cpu_ms or 0) / 1000, (test.wall_ms or 0) / 1000) for test in ran]

    return score


def apps(sandbox: Sandbox, store: ArtifactStore, tests: int, limit_s: float) -> Score:
    """Judges programs in Python."""
    given = tuple(StdinTest(number=n, given=f"{n}\n", expected=f"{n}\n") for n in range(tests))
    problem = AppsProblem(id="7", index=0, tests=given, inputs=tests, outputs=tests)
    executor = AppsExecutor(sandbox, artifacts=store, settings=AppsSettings(time_limit_s=limit_s))

    async def score(code: str) -> Sequence[Ran]:
        result = await executor.score(problem, code)
        return [
            Ran(outcome.verdict, outcome.reran, outcome.time_s or 0.0, outcome.wall_s or 0.0)
            for outcome in result.tests
        ]

    return score


Family = tuple[Callable[[Sandbox, ArtifactStore, int, float], Score], str, Callable[[int], int]]
FAMILIES: dict[str, Family] = {
    "contest": (contest, CPP, lambda slots: slots + 2),
    "apps": (apps, PYTHON, lambda slots: PROGRAMS_PER_SLOT * slots),
}


def programs(text: str, count: int, late: int, limit_s: float, *, always: bool) -> list[str]:
    """The programs. All differ, so that none is a copy of another."""
    step = max(1, count // late)
    first_s = [1.08 * limit_s if n % step == 0 and n // step < late else OTHER_S for n in range(count)]
    return [
        text.format(number=n, first_s=busy_s, again_s=busy_s if always else min(busy_s, 0.9 * limit_s))
        for n, busy_s in enumerate(first_s)
    ]


async def measure(family: str, wanted: argparse.Namespace, *, always: bool) -> tuple[float, float, float]:
    """Judge all programs and print what happened.

    Returns:
        The reserved time, divided by the CPU time and by the wall clock of the repeated tests; the CPU time that all of
        ours used meanwhile, divided by that of the tests.
    """
    make, text, in_line = FAMILIES[family]
    waiting = programs(text, wanted.programs, wanted.late, wanted.limit, always=always)
    async with Sandbox(wanted.slots) as sandbox:
        score = make(sandbox, ArtifactStore(Environment.read().cache), wanted.tests, wanted.limit)
        await score(text.format(number=-1, first_s=0.0, again_s=0.0))
        tests: list[Ran] = []

        async def work() -> None:
            while waiting:
                tests.extend(await score(waiting.pop(0)))

        started = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(in_line(wanted.slots)):
                group.create_task(work())
        wall_s = time.monotonic() - started
    again = [test for test in tests if test.reran]
    own_s, own_wall_s = math.fsum(test.cpu_s for test in again), math.fsum(test.wall_s for test in again)
    reserved_s = sandbox.timed.reserved_s
    print(
        f"  {sum(test.verdict is Verdict.TLE for test in tests)} TLE; {len(again)} tests repeated in {sandbox.alone} "
        f"jobs; reserved {reserved_s:.2f} s of {wall_s:.1f} s: "
        f"{reserved_s / own_s:.2f} x their CPU time ({own_s:.2f} s), "
        f"{reserved_s / own_wall_s:.2f} x their wall clock ({own_wall_s:.2f} s); "
        f"used meanwhile: {sandbox.timed.reserved_cpu_s / own_s:.2f} x their CPU time",
        flush=True,
    )
    return reserved_s / own_s, reserved_s / own_wall_s, sandbox.timed.reserved_cpu_s / own_s


def main() -> None:
    """Measure both kinds of late programs, for both families."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=24)
    parser.add_argument("--late", type=int, default=8)
    parser.add_argument("--tests", type=int, default=10)
    parser.add_argument("--limit", type=float, default=0.5)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args(arguments())
    for family in FAMILIES:
        for name, always in (("too slow", True), ("late in the first run only", False)):
            print(f"{family}: {wanted.late} of {wanted.programs} programs {name}, {wanted.tests} tests each:")
            ratios = [asyncio.run(measure(family, wanted, always=always)) for _ in range(wanted.runs)]
            quotients = ("reserved time / CPU time", "reserved time / wall clock", "CPU time meanwhile / CPU time")
            for quotient, values, bound in zip(quotients, zip(*ratios, strict=True), (2.0, 2.0, None), strict=True):
                value = statistics.median(values)
                report(Figure(name=f"{family}, {name}: {quotient}", value=value, unit="×", bound=bound))


if __name__ == "__main__":
    main()
