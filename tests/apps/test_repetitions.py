"""Late programs in real boxes: a repetition gives no advantage, even to programs that notice it.

A program notices it by a word in its own text, which the sandbox changes in jobs that run alone. This is as reliable as
any clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compat import NAMES, grader_named
from ioi_eval.model import Blob, Execution, Job, Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests.python_box import row

Judged = Callable[..., tuple[AppsResult, list[int]]]

LIMIT_S = 0.25
WAIT = "import time\nIS_AGAIN = 'first' == 'again'\ndef wait():\n    while time.process_time() < 0.33: pass\n"
LATE = "if not IS_AGAIN: wait()\n"

FEW_CALLED = row([[n] for n in range(2)], list(range(2)), "f")
FEW_PRINTED = row([f"{n}\n" for n in range(2)], [f"{n}\n" for n in range(2)])
CALLED = row([[n] for n in range(5)], list(range(5)), "f")
PRINTED = row([f"{n}\n" for n in range(5)], [f"{n}\n" for n in range(5)])
PRINTED_SIMPLY = row(["7\n"], ["7\n"])


class Telling:
    """A sandbox that tells programs when they run alone. It counts these jobs and their tests."""

    def __init__(self, inner: LocalSandbox) -> None:
        self.inner = inner
        self.alone: list[int] = []

    def targets(self) -> Sequence[Target]:
        """The targets of the real sandbox."""
        return self.inner.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Change the word in the program, and run the job."""
        if job.alone:
            plan = next(file.content for file in job.files if file.name == "plan")
            assert isinstance(plan, bytes)
            self.alone.append(plan.count(b"\ntest "))
            job = replace(job, files=tuple(replace(file, content=_told(file.content)) for file in job.files))
        return await self.inner.execute(job, target)


def _told(content: bytes | Blob) -> bytes | Blob:
    return content.replace(b"'first'", b"'again'") if isinstance(content, bytes) else content


@pytest.fixture(scope="module")
def judged(cache: Path) -> Iterator[Judged]:
    """The result of a program, and the number of tests of each job that ran alone. After a JE the program is judged
    again. One executor is used for each setting, so that the interpreter is queried once.
    """
    with asyncio.Runner() as loop:
        inner = LocalSandbox(slots=1)
        loop.run(inner.__aenter__())
        sandbox, store = Telling(inner), ArtifactStore(cache)
        executors: dict[str, AppsExecutor] = {}

        def judge(problem: AppsProblem, code: str, **settings: object) -> tuple[AppsResult, list[int]]:
            wanted = AppsSettings(time_limit_s=LIMIT_S, **settings)  # type: ignore[arg-type]
            new = AppsExecutor(sandbox, artifacts=store, settings=wanted)
            executor = executors.setdefault(repr(wanted), new)
            for _ in range(5):
                sandbox.alone = []
                found = loop.run(executor.score(problem, WAIT + code))
                if not any(test.verdict is Verdict.JE for test in found.tests):
                    break
            return found, sandbox.alone

        try:
            yield judge
        finally:
            loop.run(inner.__aexit__(None, None, None))


ATTACKS = {
    "right and late, then anything in time": ("n", "-1", True),
    "a guess and late, then another guess": ("-1", "n", False),
    "nothing and late, then right": ("None", "n", False),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("called", [True, False], ids=["called", "printed"])
def test_a_program_that_notices_its_repetition_gains_nothing(name: str, called: bool, judged: Judged) -> None:
    """The output of one run and the time of another are never combined, and there is no second guess."""
    first, again, is_repeated = ATTACKS[name]
    result = f"({again}) if IS_AGAIN else ({first})"
    code = f"def f(n):\n    {LATE}    return {result}\n" if called else f"n = int(input())\n{LATE}print({result})\n"
    found, alone = judged(FEW_CALLED if called else FEW_PRINTED, code)
    assert found.passed == 0
    assert {test.verdict for test in found.tests} <= {Verdict.TLE, Verdict.WA}
    assert bool(alone) is is_repeated


@pytest.mark.parametrize("compat", NAMES)
def test_the_same_holds_under_the_rules_of_other_graders(compat: str, judged: Judged, cache: Path) -> None:
    """Right and late, then wrong in time: not passed. Wrong and late: not repeated. Right in both: passed."""
    chosen = grader_named(compat)
    for first, again, passes in (("n", "-1", False), ("-1", "n", False), ("n", "n", True)):
        code = f"n = int(input())\n{LATE}print({again} if IS_AGAIN else {first})\n"
        if chosen.numpy and not numpy_is_there(cache):
            pytest.skip("no numpy for programs here")
        found, alone = judged(PRINTED_SIMPLY, code, compat=chosen)
        assert (found.verdict is Verdict.AC) is passes, (found, alone)
        assert bool(alone) is (first == "n")


def numpy_is_there(cache: Path) -> bool:
    """Whether the interpreter of programs has numpy."""

    async def ask() -> bool:
        async with LocalSandbox(slots=1) as sandbox:
            executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache))
            return (await executor.interpreter()).numpy is not None

    return asyncio.run(ask())


@pytest.mark.parametrize("called", [True, False], ids=["called", "printed"])
def test_a_right_program_that_was_late_because_of_the_machine(called: bool, judged: Judged) -> None:
    """All its tests are repeated, three a job, and pass. Each is marked as repeated."""
    code = f"def f(n):\n    {LATE}    return n\n" if called else f"n = int(input())\n{LATE}print(n)\n"
    found, alone = judged(CALLED if called else PRINTED, code)
    assert (found.verdict, found.passed) == (Verdict.AC, 5)
    assert alone == [3, 2]
    assert all(test.reran for test in found.tests)


def test_a_slow_program_has_three_repetitions(judged: Judged) -> None:
    """Of five late tests three are repeated, in one job."""
    found, alone = judged(PRINTED, "wait()\nprint(input())\n")
    assert (found.passed, alone) == (0, [3])
    assert {test.verdict for test in found.tests} == {Verdict.TLE}
    assert sum(test.reran for test in found.tests) == 3


def test_fail_fast_repeats_a_late_test_at_once(judged: Judged) -> None:
    """It decides whether the run stops. A slow program has one repetition."""
    found, alone = judged(PRINTED, f"n = int(input())\n{LATE}print(n)\n", fail_fast=True)
    assert (found.verdict, alone) == (Verdict.AC, [1] * 5)
    found, alone = judged(PRINTED, "wait()\nprint(input())\n", fail_fast=True)
    assert ([test.verdict for test in found.tests], alone) == ([Verdict.TLE, *[Verdict.SKIPPED] * 4], [1])
