"""The way of a submission in the bundled profile: one compilation, then many tests a job.

What is repeated, and why:
- a compilation that a limit stopped: once, alone on the machine, before it counts;
- a TLE within 10 % of the limit, or of a program that ended by itself: once, alone, and that time stands;
- a checker or manager that failed: once, in a clean box; the same twice is final;
- a bundle whose answer was cut off: its first half, as it may have met a limit of the server's.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from ioi_eval.config import Policy
from ioi_eval.errors import RejectedError, SandboxError, TransientError, TransportError, UnavailableError
from ioi_eval.jobs import bundled
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs.bundled import PlannedTest, Programs
from ioi_eval.jobs.protocol import RunAnswer, run_answer
from ioi_eval.judging import bundles
from ioi_eval.model import CompileOutcome, Execution
from ioi_eval.programs import ATTEMPTS, Builder, ProblemPrograms
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.scorer.run import Run
from ioi_eval.scorer.spreading import Paces, run_spread


def one_lane(_: Target) -> int:
    """One job of a submission at a time."""
    return 1


class BundledWay:
    """Compiles and runs submissions; see the module.

    Args:
        sandbox: executes the jobs.
        builder: compiles.
        policy: how it is judged.
        bundle_tests: most tests a job.
        lanes: how many jobs of one submission may run at once on a target now.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        builder: Builder,
        policy: Policy,
        *,
        bundle_tests: int,
        lanes: Callable[[Target], int],
    ) -> None:
        self._sandbox = sandbox
        self._builder = builder
        self._policy = policy
        self._bundle_tests = bundle_tests
        self._lanes = lanes
        self._paces = Paces(bundle_tests)

    async def judge(self, run: Run, code: str) -> CompileOutcome:
        """Compile, and run until nothing that is left can change the result.

        Raises:
            SandboxError: it could not be compiled.
        """
        own = await self._builder.problem_programs(run.problem, run.target)
        compiled, programs = await self._compile(run, own, code)
        if compiled.verdict is None:
            await self._run(run, programs)
        return compiled

    async def _compile(self, run: Run, own: ProblemPrograms, code: str) -> tuple[CompileOutcome, Programs]:
        toolchain = run.target.toolchain
        recipe = compiling.submission_recipe(
            run.problem, code, own.objects, toolchain, std=self._policy.std, language=run.language
        )
        answer = await self._builder.compile(recipe, own.runner, run.target)
        if compiling.is_doubtful(answer):
            answer = await self._builder.compile(recipe, own.runner, run.target, alone=True)
        programs = Programs(
            runner=own.runner,
            submission=answer.artifacts.get("a.out", b""),
            static=toolchain.static,
            checker=own.checker,
            manager=own.manager,
        )
        run.note_isolation(answer.isolation)
        limits = self._policy.compile
        outcome = compiling.compile_outcome(recipe, answer, limits, message_chars=self._policy.message_chars)
        return outcome, programs

    async def _run(self, run: Run, programs: Programs) -> None:
        judging = run.judging
        arrives = self._bundle_tests  # so many tests at once, as far as this target has let through

        def cut(pending: Sequence[PlannedTest]) -> Sequence[PlannedTest]:
            lanes = self._lanes(run.target)
            share = -(-len(pending) // lanes) if lanes > 1 else len(pending)
            return _first_bundle(
                run, programs, pending, max_tests=min(arrives, share, self._paces.tests(run.problem.key))
            )

        async def run_bundle(bundle: Sequence[PlannedTest]) -> None:
            nonlocal arrives
            ran = await self._run_tests(run, programs, bundle)
            arrives = min(self._bundle_tests, 2 * ran if ran < len(bundle) else 2 * arrives)

        while not judging.done:
            if judging.pending():
                await run_spread(judging, cut, run_bundle, lambda: self._lanes(run.target))
            elif again := judging.judge_fault_reruns():
                await self._run_tests(run, programs, again[:1])
            else:
                await self._run_tests(run, programs, judging.near_limit_reruns()[:1], alone=True)

    async def _run_tests(
        self, run: Run, programs: Programs, tests: Sequence[PlannedTest], *, alone: bool = False
    ) -> int:
        """Run tests in one job and record what came out; what the sandbox failed at is recorded as JE.

        Returns:
            How many of them the job had in the end.
        """
        attempts = ATTEMPTS
        while True:
            attempts -= 1
            nonce = secrets.token_hex(16)
            job = bundled.run_job(
                run.problem, programs, tests, self._policy, nonce=nonce, exhaustive=run.exhaustive, alone=alone
            )
            arrived = False
            try:
                execution = await self._sandbox.execute(job, run.target)
                arrived = True
                answer = _read(run, execution, nonce, tests)
            except UnavailableError:
                raise
            except SandboxError as error:
                if arrived and len(tests) > 1 and not isinstance(error, RejectedError):
                    tests, attempts = tests[: (len(tests) + 1) // 2], ATTEMPTS
                elif attempts == 0 or not isinstance(error, TransientError):
                    run.record_failure(tests, error)
                    return len(tests)
                continue
            run.note_isolation(answer.isolation)
            for outcome in answer.outcomes.values():
                run.judging.record(outcome)
                self._paces.observe(run.problem.key, outcome)
            return len(tests)


def _read(run: Run, execution: Execution, nonce: str, tests: Sequence[PlannedTest]) -> RunAnswer:
    names = {number: planned.test for number, planned in enumerate(tests)}
    answer = run_answer(execution.run, nonce, names=names, time_limit_s=run.problem.time_limit_s)
    if not answer.outcomes:  # the first of them is needed, or it would not have been asked for
        raise TransportError("the runner ran none of the tests that it was asked to run")
    return answer


def _first_bundle(
    run: Run, programs: Programs, pending: Sequence[PlannedTest], *, max_tests: int
) -> Sequence[PlannedTest]:
    """As many tests as one job on this target should hold."""
    room = bundled.room(run.target, programs)
    return bundles(
        run.problem,
        pending,
        max_tests=min(max_tests, room.tests),
        max_bytes=room.test_bytes,
        max_wall_ms=room.wall_ms,
        wall_ms_per_test=bundled.usual_wall_ms(run.problem),
    )[0]
