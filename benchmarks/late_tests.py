"""What late tests cost: how long a machine is kept for those that run alone, against their own CPU time there.

    python benchmarks/late_tests.py [--programs 24] [--late 8] [--tests 10] [--limit 0.5] [--slots 2]

Of the programs a part is late on every test, by 8 % of the limit: in the first run only, as on a busy machine, or
always, as those are that are too slow. The others take 0.1 s a test. The machine is kept from the moment when a slot is
free that somebody waits for and does not get, as others wait to be alone, to the moment when others may run again. On a
machine that is busy with other things compare with the wall clock of the repeated tests instead of their CPU time.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import replace

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Environment
from ioi_eval.model import Execution, Job
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.sandbox.slots import Slots

IN_LINE = 8  # programs that are judged at once for each slot, as `apps score` has it
LATE_FIRST = "import time\nwhile time.process_time() < limit * (0.9 if AGAIN else 1.08): pass\n"
WAIT = "import time\nwhile time.process_time() < %f: pass\n"


class Timed(Slots):
    """Slots that know how long they were kept for somebody who is alone, or waits to be."""

    kept_s = 0.0
    since: float | None = None

    def _wake(self) -> None:
        super()._wake()
        refused = self._is_turn_of_all() and bool(self._free) and bool(self._waiting)
        now = time.monotonic()
        if (self._is_quiet or refused) and self.since is None:
            self.since = now
        elif not (self._is_quiet or refused) and self.since is not None:
            self.kept_s += now - self.since
            self.since = None


class Sandbox(LocalSandbox):
    """With such slots; programs are told when they are alone, and it counts those jobs."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots=slots)
        self._boxes = self.timed = Timed(self._boxes.count)
        self.alone = 0

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run it."""
        if job.alone:
            self.alone += 1
            job = replace(job, files=tuple(replace(file, content=_told(file.content)) for file in job.files))
        return await super().execute(job, target)


def _told(content: object) -> object:
    return content.replace(b"AGAIN = False", b"AGAIN = True ") if isinstance(content, bytes) else content


def programs(count: int, late: int, limit_s: float, *, always: bool) -> list[str]:
    """The programs: each is another one, so that none is judged in the place of another."""
    slow = WAIT % (1.08 * limit_s)
    slow = slow if always else f"AGAIN = False\nlimit = {limit_s}\n{LATE_FIRST}"
    step = max(1, count // late)
    texts = [slow if n % step == 0 and n // step < late else WAIT % 0.1 for n in range(count)]
    return [f"# {n}\n{text}print(input())\n" for n, text in enumerate(texts)]


async def measure(texts: Sequence[str], problem: AppsProblem, limit_s: float, slots: int) -> None:
    """Judge all of them, and print what it took."""
    async with Sandbox(slots) as sandbox:
        store = ArtifactStore(Environment.read().cache)
        executor = AppsExecutor(sandbox, artifacts=store, settings=AppsSettings(time_limit_s=limit_s))
        await executor.score(problem, "print(input())")
        waiting, results = list(texts), list[AppsResult]()

        async def work() -> None:
            while waiting:
                results.append(await executor.score(problem, waiting.pop(0)))

        started = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(IN_LINE * slots):
                group.create_task(work())
        wall_s = time.monotonic() - started
    tests = [test for result in results for test in result.tests]
    again = [test for test in tests if test.reran]
    own_s = math.fsum(test.time_s or 0.0 for test in again)
    own_wall_s = math.fsum(test.wall_s or 0.0 for test in again)
    kept_s = sandbox.timed.kept_s
    print(
        f"  {sum(test.verdict == 'TLE' for test in tests)} TLE; {len(again)} tests repeated in {sandbox.alone} jobs; "
        f"kept {kept_s:.2f} s of {wall_s:.1f} s: {kept_s / own_s:.2f} x their CPU time ({own_s:.2f} s), "
        f"{kept_s / own_wall_s:.2f} x their wall clock ({own_wall_s:.2f} s)"
    )


def main() -> None:
    """Measure both kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=24)
    parser.add_argument("--late", type=int, default=8)
    parser.add_argument("--tests", type=int, default=10)
    parser.add_argument("--limit", type=float, default=0.5)
    parser.add_argument("--slots", type=int, default=2)
    wanted = parser.parse_args()
    tests = tuple(StdinTest(number=n, given=f"{n}\n", expected=f"{n}\n") for n in range(wanted.tests))
    problem = AppsProblem(id="7", index=0, tests=tests, inputs=len(tests), outputs=len(tests))
    for name, always in (("too slow", True), ("late in the first run only", False)):
        print(f"{wanted.late} of {wanted.programs} programs {name}, {wanted.tests} tests each:")
        texts = programs(wanted.programs, wanted.late, wanted.limit, always=always)
        asyncio.run(measure(texts, problem, wanted.limit, wanted.slots))


if __name__ == "__main__":
    main()
