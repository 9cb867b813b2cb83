"""Two processes of one submission that are linked dynamically map the same libraries. They still cannot communicate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.model import Execution, Isolation, Job
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.scorer import Scorer
from tests.attacks.arena import policy, task_of
from tests.attacks.campaign import Finding, ProgramsOfAllLevels, attack_by_program, judging
from tests.attacks.catalogue import LEVELS, Program, programs
from tests.attacks.levels import why_not
from tests.attacks.users import User, users

TALKING = [program for program in programs() if program.name.startswith("whisper")]


class Dynamic:
    """A sandbox that links nothing statically, as on a machine without static libraries.

    Args:
        inner: executes the jobs.
    """

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner

    def targets(self) -> Sequence[Target]:
        """The inner sandbox's targets, without static linking."""
        return [replace(each, toolchain=replace(each.toolchain, static=False)) for each in self._inner.targets()]

    async def execute(self, job: Job, target: Target) -> Execution:
        """Run the job."""
        return await self._inner.execute(job, replace(target, toolchain=self._inner.targets()[0].toolchain))


async def put_static_runner(dynamic: Dynamic, inner: Sandbox, cache: Path) -> None:
    """Put the runner of the inner sandbox into the cache as that of the dynamic one: it does the same, and takes 10
    CPU-s to compile.
    """
    store = ArtifactStore(cache)
    runner = await Builder(inner, store, Policy()).runner(inner.targets()[0])

    async def content() -> bytes:
        return runner.path.read_bytes()

    await store.ensure(runner_key(dynamic.targets()[0].toolchain), content)


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.value)
@pytest.mark.parametrize("program", TALKING, ids=lambda program: program.name)
def test_processes_with_the_same_libraries_cannot_communicate(
    program: Program, level: Isolation, caches: Callable[[User], Path]
) -> None:
    """Neither a page of libc nor the end of a thread carries data. With reduced isolation, the verdict is JE."""
    if reason := why_not(level):
        pytest.skip(reason)
    cache = caches(users()[0])

    async def judge() -> Mapping[str, Finding]:
        async with judging(level, cache, slots=2) as sandbox:
            dynamic = Dynamic(sandbox)
            await put_static_runner(dynamic, sandbox, cache)
            kept = ProgramsOfAllLevels(cache, level)
            scorer = Scorer(dynamic, artifacts=ArtifactStore(cache), policy=policy(level), kept_programs=kept)
            return await attack_by_program(program, task_of(program, cache), scorer)

    found = asyncio.run(judge())
    if level is Isolation.REDUCED:
        for finding in found.values():
            assert (finding.verdict, finding.honest) == ("JE:None", "JE")
            assert "several processes that are linked dynamically need full isolation" in finding.message
        return
    for attack in program.attacks:
        assert found[attack.name].verdict in attack.expect[level], found[attack.name]
        assert found[attack.name].honest == "AC"
