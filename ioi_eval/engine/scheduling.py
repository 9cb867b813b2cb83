"""Runs a program on its tests until no test that is left can change the result. `judging.py` says what is run next.

`judging.py` also says which tests run once more: late runs that matter share a job; after a machine fault a test has a
job of its own, both alone on the machine. If a worker could not start the program (a part of its Python is missing,
say), another one gets that job, or the program is run again on another target.

`docs/architecture.md`, "Whose failure it is", says which jobs are sent again, and how often. All jobs for the same
tests, and for halves of them, share one `Retries`. If an answer arrived and cannot be used (cut off, stopped, the box
lacked something), the first half of the tests is run, because this program may need more than the server allows; its
later jobs are as small. If a job that compiles and runs gives no usable answer, the caller compiles the program by a
job of its own. If the sandbox still fails, the verdict is JE, which has no score; the test is judged again in a later
run.

The outcomes say what happened; `scorer/` and `apps/` compute scores from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ioi_eval.engine.judging import Judging, PlannedTests
from ioi_eval.engine.packing import fitting, run_in_parallel
from ioi_eval.engine.run_jobs import Engine
from ioi_eval.errors import (
    GarbledError,
    RejectedError,
    SandboxError,
    TargetLostError,
    TransientError,
    TransportError,
    UnavailableError,
)
from ioi_eval.jobs.plan import usual_wall_ms
from ioi_eval.jobs.run_job import PlannedProgram, Program, bounds_of
from ioi_eval.jobs.runner_answer import CompileAnswer, RunAnswer
from ioi_eval.model import Isolation, Retries, TestOutcome, Verdict
from ioi_eval.programs import MAX_ATTEMPTS
from ioi_eval.sandbox import Target

_GROWTH = 4
"""If outputs are judged on our side, and nothing is run after the first failure, the first job has one test, and each
further one this many times as many as the one before. So a program that fails early costs little time, and a program
that never fails needs few jobs."""

_MAX_PAUSED = 3
"""How many workers get no jobs for a while because they could not start one program. If more cannot, the program or the
settings are the reason."""


class ProgramRun:
    """The running of one program.

    `record` records a test's outcome in `judging`; `wanted` says if any further test is to be run for the first time.
    """

    def __init__(
        self,
        engine: Engine,
        program: Program,
        judging: Judging,
        target: Target,
        *,
        record: Callable[[TestOutcome], None],
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._engine, self._judging = engine, judging
        self._program = replace(program, setup=replace(program.setup, needed_only=not judging.exhaustive))
        self._target, self._record, self._wanted = target, record, wanted
        self._grows = not judging.exhaustive and program.setup.judged_by_client
        self._next_tests = 1 if self._grows else engine.max_tests
        self._max_tests = engine.max_tests  # fewer once an answer could not be used
        self._bounds = bounds_of(target, program.setup, compiles=program.is_uncompiled)
        self._weakest: Isolation | None = None
        self._unable: list[str] = []  # the workers that could not start the program, in order

    async def run(self) -> Isolation | None:
        """Run the tests that can still matter, and repeat those whose outcome is in doubt.

        Returns the weakest isolation over all jobs; `None` if nothing ran. UnavailableError if no endpoint is left to
        run on (`TargetLostError`: on this target).
        """
        judging = self._judging
        while True:
            await run_in_parallel(judging, self._next_bundle, self._run_job, self._jobs_at_once, self._wanted)
            if again := judging.machine_fault_reruns():
                await self._repeat_machine_fault(again[:1])
            elif late := judging.late_reruns():
                await self._run_job(self._fitting(late, self._max_tests), alone=True, prefaults=True)
            else:
                return self._weakest

    async def _repeat_machine_fault(self, test: PlannedTests) -> None:
        """Run a test that the machine failed on once more, in a job of its own.

        If the program could not be started, another worker gets the job. If that cannot start it either, the program is
        run again on another target (`TargetLostError`).
        """
        unable_before = len(self._unable)
        may_pause = len(set(self._unable)) <= _MAX_PAUSED
        await self._run_job(test, alone=True, useless=self._unable[-1:] if may_pause else ())
        if 0 < unable_before < len(self._unable) and not self._target.is_only:
            raise TargetLostError(f"programs could not be started on {self._target.name}")

    async def build(self) -> CompileAnswer:
        """Compile the program, which is `Uncompiled`, and run its first tests in one job; at least one must be pending.

        Returns how the compilation ended. If the program does not compile, no test was run. SandboxError if there is no
        usable answer; then nothing was recorded.
        """
        # As many tests as the job may have: if they take long, it stops after a while (`order enough_ms`), and returns
        # the program, so that idle slots can run the others.
        pending = self._judging.pending()
        tests = self._fitting(pending, self._max_tests)
        retries = Retries()
        planned = PlannedProgram(program=self._program, tests=tests, rest=pending[len(tests) :])
        (answer,) = await self._engine.run([planned], self._target, retries)
        if isinstance(answer, SandboxError):
            raise answer
        compiled = answer.compiled
        if compiled is None or compiled.succeeded != bool(answer.tests or compiled.artifacts):
            raise TransportError("the answer does not say how the program was compiled")
        self._record_answer(tests, answer, retries)
        return compiled

    def _jobs_at_once(self) -> int:
        return 1 if self._grows or self._program.one_by_one else self._engine.jobs_at_once(self._target)

    def _next_bundle(self, pending: PlannedTests) -> PlannedTests:
        """The tests of the next job."""
        engine = self._engine
        by_time = engine.durations.tests_for_job(self._program.problem, len(pending), self._jobs_at_once())
        bundle = self._fitting(pending, min(self._next_tests, self._max_tests, by_time))
        self._next_tests = min(self._next_tests * _GROWTH, engine.max_tests)
        return bundle

    def _fitting(self, pending: PlannedTests, max_tests: int) -> PlannedTests:
        program = self._program
        return fitting(
            pending,
            program.tests,
            self._bounds,
            max_tests=max_tests,
            wall_ms_per_test=usual_wall_ms(program.setup.time_limit_s),
            taken_bytes=program.size,
        )

    async def _run_job(
        self, tests: PlannedTests, *, alone: bool = False, prefaults: bool = False, useless: Sequence[str] = ()
    ) -> None:
        """Run tests in one job, or the first half if an answer cannot be used, and record their outcomes.

        With `prefaults`, the memory that their first runs used is made ready before.
        """
        asked, attempts, retries = len(tests), 0, Retries(useless=[*useless])
        engine, target = self._engine, self._target
        may_share = self._program.setup.may_share and not alone
        while True:
            attempts += 1
            planned = PlannedProgram(program=self._program, tests=tests)
            try:
                if may_share:
                    answer = await engine.run_shared(planned, target, retries)
                else:
                    memory = self._memory_of(tests) if prefaults else 0
                    (answer,) = await engine.run([planned], target, retries, alone=alone, prefault_bytes=memory)
                may_be_too_large = len(tests) > 1 and not isinstance(answer, GarbledError | RejectedError)
            except UnavailableError:
                raise
            except SandboxError as error:
                # without its trace, which has this function's variables: they would stay in memory with the error
                answer, may_be_too_large = error.with_traceback(None), False
            if isinstance(answer, RunAnswer):
                self._record_answer(tests, answer, retries)
                break
            may_share = False
            if may_be_too_large:
                tests, attempts = tests[: (len(tests) + 1) // 2], 0
            elif attempts == MAX_ATTEMPTS or not isinstance(answer, TransientError) or not retries.take():
                message = retries.failure_text(answer) if isinstance(answer, TransientError) else str(answer)
                for test in tests:
                    self._record(outcome_of_failure(test.test, message))
                break
        if len(tests) < asked:
            self._max_tests = min(self._max_tests, len(tests))

    def _memory_of(self, tests: PlannedTests) -> int:
        known = self._judging.outcomes()
        return max(known[planned.test].memory_bytes or 0 for planned in tests)

    def _record_answer(self, tests: PlannedTests, answer: RunAnswer, retries: Retries) -> None:
        if any(outcome.details.not_started for outcome in answer.tests.values()):
            self._unable += retries.tried[-1:]
        self._weakest = answer.isolation.weaker(self._weakest)
        for number, outcome in answer.tests.items():
            self._record(replace(outcome, test=tests[number].test))


def outcome_of_failure(test: str, message: str) -> TestOutcome:
    """The outcome of a test for which the sandbox failed: JE; it is judged again in a later run."""
    return TestOutcome(test=test, verdict=Verdict.JE, score=None, message=message)
