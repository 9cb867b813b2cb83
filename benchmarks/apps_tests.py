"""What a trivial APPS test costs: 50 programs × 20 tests, each test a process of its own, isolated.

    python benchmarks/apps_tests.py [--programs 50] [--tests 20] [--isolation full|reduced] [--slots 1] [--cold]

Wall clock holds on an idle machine only; CPU time (of boxes, runners, interpreters, tests together) depends less on
what else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import tempfile
import time

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.sandbox.local import LocalSandbox

PROGRAM = "a, b = map(int, input().split())\nprint(a + b)\n"


def problem(tests: int) -> AppsProblem:
    """So many sums of two numbers."""
    rows = tuple(StdinTest(number=n, given=f"{n} {n}\n", expected=f"{2 * n}\n") for n in range(tests))
    return AppsProblem(id="sum", index=0, tests=rows, inputs=tests, outputs=tests)


def cpu_s() -> float:
    """CPU seconds of this process and of all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


async def measure(options: argparse.Namespace, cache: str) -> tuple[float, float]:
    """Wall clock and CPU time of scoring everything, once the runner is there and the interpreter has been asked."""
    settings = AppsSettings(warm=not options.cold)
    asked = problem(options.tests)
    async with LocalSandbox(slots=options.slots, strongest=Isolation(options.isolation)) as sandbox:
        executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache), settings=settings)
        assert (await executor.score(asked, PROGRAM)).score == 1.0
        programs = iter([PROGRAM] * options.programs)
        begun, begun_cpu = time.perf_counter(), cpu_s()

        async def work() -> None:
            for program in programs:
                assert (await executor.score(asked, program)).score == 1.0

        async with asyncio.TaskGroup() as group:
            for _ in range(options.slots):
                group.create_task(work())
        return time.perf_counter() - begun, cpu_s() - begun_cpu


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--isolation", choices=["full", "reduced"], default="full")
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        wall, cpu = asyncio.run(measure(options, cache))
    count = options.programs * options.tests
    print(
        f"{options.programs} programs x {options.tests} tests, {options.isolation}, {options.slots} slots, "
        f"{'cold' if options.cold else 'warm'}: {wall * 1000 * options.slots / count:.2f} ms of wall and "
        f"{cpu * 1000 / count:.2f} ms of CPU a test and slot"
    )


if __name__ == "__main__":
    main()
