"""Makes run jobs, has a sandbox execute them, and reads their answers: one program in a job, or several.

`sharing.py` says which programs share a job, and `scheduling.py` what is done if there is no usable answer.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ioi_eval.engine.packing import BUNDLE_S, Durations
from ioi_eval.errors import GarbledError, SandboxError
from ioi_eval.jobs.run_job import PlannedProgram, bounds_of, run_job
from ioi_eval.jobs.runner_answer import RunAnswer, run_answer
from ioi_eval.model import Retries
from ioi_eval.sandbox import Sandbox, Target

_ENOUGH_S = BUNDLE_S  # after this wall clock a job begins no other test

Answer: TypeAlias = RunAnswer | SandboxError
"""The outcomes of a program's tests, by their number in the program; or why an answer that arrived cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A request to run one program on some tests.

    Args:
        retries: how often the job may still be sent again.
        alone: run nothing else of ours on that machine.
        prefault_bytes: how much memory the machine is made to have before the first test.
    """

    planned: PlannedProgram
    target: Target
    retries: Retries
    alone: bool
    prefault_bytes: int


class RunJobs:
    """Runs jobs on one sandbox, and records how long their tests took. Threads may share it."""

    def __init__(self, sandbox: Sandbox, durations: Durations) -> None:
        self._sandbox, self._durations = sandbox, durations

    async def run(self, request: RunRequest) -> Answer:
        """Run one program in a job of its own; raises as `run_together`."""
        (answer,) = await self.run_together([request], request.retries)
        return answer

    async def run_together(self, requests: Sequence[RunRequest], retries: Retries) -> list[Answer]:
        """Run several programs in one job; returns the answer for each.

        Args:
            requests: at least one; for several, their programs may share a job, and none is to run alone.
            retries: how often the job may be sent again. The requests' own are not used.

        Raises:
            SandboxError: no answer arrived.
            SetupError: the runner cannot work there.
        """
        first = requests[0]
        program, target = first.planned.program, first.target
        programs = [request.planned for request in requests]
        nonce = secrets.token_hex(16)
        job = run_job(
            programs,
            nonce=nonce,
            alone=first.alone,
            prefault_bytes=first.prefault_bytes,
            room_ms=bounds_of(target, program.setup, compiles=program.is_uncompiled).wall_ms,
            enough_s=None if first.alone else _ENOUGH_S,
        )
        execution = await self._sandbox.execute(replace(job, retries=retries), target)
        total, time_limit_s = sum(len(planned.tests) for planned in programs), program.setup.time_limit_s
        try:
            answer = run_answer(execution.run, nonce, execution.returned, tests=total, time_limit_s=time_limit_s)
            may_have_none = program.is_uncompiled and answer.compiled is not None
            # the first test of a job is needed, so it must have run
            if not may_have_none and answer.tests.keys().isdisjoint(range(len(programs[0].tests))):
                raise GarbledError("the runner ran none of the tests that it was asked to run")
        except SandboxError as error:
            return [error] * len(programs)
        parts: list[Answer] = []
        begin = 0
        for planned in programs:
            count = len(planned.tests)
            tests = {index: answer.tests[begin + index] for index in range(count) if begin + index in answer.tests}
            parts.append(replace(answer, tests=tests))
            begin += count
            for outcome in tests.values():
                self._durations.observe(planned.program.problem, outcome)
        return parts
