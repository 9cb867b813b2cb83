"""Late programs in real boxes: a repetition gives no advantage, even to programs that notice it.

A program knows it by a word in its own text, which the sandbox changes in jobs that run alone: as well as any clock
could tell it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compat import grader_named
from ioi_eval.model import Blob, Execution, Job, Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests.python_box import row

LIMIT_S = 0.3
WAIT = "import time\nIS_AGAIN = 'first' == 'again'\ndef wait():\n    while time.process_time() < 0.34: pass\n"
LATE = "if not IS_AGAIN: wait()\n"

CALLED = row([[n] for n in range(5)], list(range(5)), "f")
PRINTED = row([f"{n}\n" for n in range(5)], [f"{n}\n" for n in range(5)])
PRINTED_SIMPLY = row(["7\n"], ["7\n"])


class Telling:
    """A sandbox that tells programs when they are run alone; it counts those jobs and their tests."""

    def __init__(self, inner: LocalSandbox) -> None:
        self.inner = inner
        self.alone: list[int] = []

    def targets(self) -> Sequence[Target]:
        """The real one's."""
        return self.inner.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Change the program's word, and run it."""
        if job.alone:
            plan = next(file.content for file in job.files if file.name == "plan")
            assert isinstance(plan, bytes)
            self.alone.append(plan.count(b"\ntest "))
            job = replace(job, files=tuple(replace(file, content=_told(file.content)) for file in job.files))
        return await self.inner.execute(job, target)


def _told(content: bytes | Blob) -> bytes | Blob:
    return content.replace(b"'first'", b"'again'") if isinstance(content, bytes) else content


def judged(cache: Path, problem: AppsProblem, code: str, **settings: object) -> tuple[AppsResult, list[int]]:
    """What a program is worth, and how many tests each job had that ran alone. After a JE it is judged again."""

    async def scenario() -> tuple[AppsResult, list[int]]:
        async with LocalSandbox(slots=1) as inner:
            sandbox = Telling(inner)
            wanted = AppsSettings(time_limit_s=LIMIT_S, **settings)  # type: ignore[arg-type]
            executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache), settings=wanted)
            return await executor.score(problem, WAIT + code), sandbox.alone

    for _ in range(5):
        found, alone = asyncio.run(scenario())
        if not any(test.verdict is Verdict.JE for test in found.tests):
            break
    return found, alone


ATTACKS = {
    "right and late, then anything in time": ("n", "-1", 3),
    "a guess and late, then another guess": ("-1", "n", 0),
    "nothing and late, then right": ("None", "n", 0),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("called", [True, False], ids=["called", "printed"])
def test_who_knows_that_he_is_run_again_gains_nothing(name: str, called: bool, cache: Path) -> None:
    """The output of one run and the time of another are never put together, and nobody guesses twice."""
    first, again, repeated = ATTACKS[name]
    result = f"({again}) if IS_AGAIN else ({first})"
    code = f"def f(n):\n    {LATE}    return {result}\n" if called else f"n = int(input())\n{LATE}print({result})\n"
    found, alone = judged(cache, CALLED if called else PRINTED, code)
    assert found.passed == 0
    assert {test.verdict for test in found.tests} <= {Verdict.TLE, Verdict.WA}
    assert bool(alone) == bool(repeated)


@pytest.mark.parametrize("compat", ["hendrycks", "eval-protocol", "eval-protocol-page", "livecodebench", "mcpbr"])
def test_nor_under_the_rules_of_other_graders(compat: str, cache: Path) -> None:
    """Right and late, then wrong in time: not right. Wrong and late: not repeated. Right both times: right."""
    chosen = grader_named(compat)
    for first, again, passes in (("n", "-1", False), ("-1", "n", False), ("n", "n", True)):
        code = f"n = int(input())\n{LATE}print({again} if IS_AGAIN else {first})\n"
        if compat == "hendrycks" and not numpy_is_there(cache):
            pytest.skip("no numpy for programs here")
        found, alone = judged(cache, PRINTED_SIMPLY, code, compat=chosen)
        assert (found.verdict is Verdict.AC) is passes, (found, alone)
        assert bool(alone) is (first == "n")


def numpy_is_there(cache: Path) -> bool:
    """Whether the interpreter that runs programs here has it."""

    async def ask() -> bool:
        async with LocalSandbox(slots=1) as sandbox:
            executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache))
            return (await executor.interpreter()).numpy is not None

    return asyncio.run(ask())


@pytest.mark.parametrize("called", [True, False], ids=["called", "printed"])
def test_a_right_program_that_was_late_for_the_machine_only(called: bool, cache: Path) -> None:
    """All of its tests are repeated, three a job, and pass; each says that it was."""
    code = f"def f(n):\n    {LATE}    return n\n" if called else f"n = int(input())\n{LATE}print(n)\n"
    found, alone = judged(cache, CALLED if called else PRINTED, code)
    assert (found.verdict, found.passed) == (Verdict.AC, 5)
    assert alone == [3, 2]
    assert all(test.reran for test in found.tests)


def test_a_program_that_is_too_slow_is_so_after_three(cache: Path) -> None:
    """Its other late tests do not hold the machine: one job of three tests, of five that are late."""
    found, alone = judged(cache, PRINTED, "wait()\nprint(input())\n")
    assert (found.passed, alone) == (0, [3])
    assert {test.verdict for test in found.tests} == {Verdict.TLE}
    assert sum(test.reran for test in found.tests) == 3


def test_a_run_that_stops_at_the_first_failure_repeats_what_may_be_one(cache: Path) -> None:
    """With --fail-fast a late test is repeated at once, as it decides; a slow program has one repetition."""
    found, alone = judged(cache, PRINTED, f"n = int(input())\n{LATE}print(n)\n", fail_fast=True)
    assert (found.verdict, alone) == (Verdict.AC, [1] * 5)
    found, alone = judged(cache, PRINTED, "wait()\nprint(input())\n", fail_fast=True)
    assert ([test.verdict for test in found.tests], alone) == ([Verdict.TLE, *[Verdict.SKIPPED] * 4], [1])
