"""Drives one submission: compile, run what can still matter, repeat what is in doubt, add up.

This is the shell around three pure parts: `jobs/` words the question and reads the answer, `judging.py` says what
to run next, `scores.py` says what it is worth. It is also the only place where a sandbox failure becomes JE: the
sandbox raises `SandboxError`, what it hit is marked JE and not final, and nothing of ours is ever a score.

What is repeated, and why:
- a compilation that a limit stopped: once, alone on the machine, before it counts;
- a time within 10 % of the limit that came out as TLE: once, alone, and that result stands;
- a checker or manager that failed: once, in a clean box; the same twice is final.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Environment, Policy
from ioi_eval.errors import SandboxError, TransientError, TransportError, UnavailableError
from ioi_eval.fingerprint import Fingerprints
from ioi_eval.jobs import bundled
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs.bundled import PlannedTest, Programs
from ioi_eval.jobs.protocol import RunAnswer, run_answer
from ioi_eval.judging import Judging, bundles
from ioi_eval.model import CompileOutcome, Isolation, Problem, Submission, SubmissionResult, TestOutcome, Verdict
from ioi_eval.programs import ATTEMPTS, Builder, ProblemProgramError, ProblemPrograms
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.scores import submission_result

BUNDLE_TESTS = 64
"""Most tests a job: enough that a box's start (6 ms) is nothing, few enough that no job holds 200 descriptors."""


class Scorer:
    """Scores submissions on a sandbox. Safe to use from many tasks at once.

    Args:
        sandbox: executes the jobs.
        artifacts: keeps what is compiled once.
        policy: how it is judged.
        bundle_tests: most tests a job.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        artifacts: ArtifactStore,
        policy: Policy | None = None,
        bundle_tests: int = BUNDLE_TESTS,
    ) -> None:
        self._sandbox = sandbox
        self._policy = policy or Policy()
        self._builder = Builder(sandbox, artifacts, self._policy)
        self._fingerprints = Fingerprints(self._policy)
        self._bundle_tests = bundle_tests

    def fingerprint(self, problem: Problem, submission: Submission) -> str:
        """A hash of everything that determines the outcome; equal ones need not be judged twice."""
        return self._fingerprints.of(problem, submission, self._target())

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Judge one submission.

        Args:
            problem: what it is for.
            submission: the program; without code the verdict is NC.
            exhaustive: run every test, whatever its subtasks score already.

        Returns:
            Its result. Whatever failed on our side is JE in it, never a score.

        Raises:
            SetupError: the target cannot judge anything (no compiler, not enough isolation).
            UnavailableError: no endpoint is left to judge on.
        """
        target = self._target()
        if submission.code is None:
            outcome = CompileOutcome(verdict=Verdict.NC, message="no code found")
            if submission.refused:
                outcome = CompileOutcome(verdict=Verdict.CE, message=submission.refused)
            return submission_result(problem, submission, outcome, {}, target=_describe(target))
        run = _Run(problem, submission, target, exhaustive=exhaustive)
        compiled = await self._compile(run, submission.code)
        if compiled.verdict is None:
            await self._judge(run)
        return submission_result(
            problem,
            submission,
            compiled,
            run.judging.outcomes(),
            target=_describe(target),
            isolation=run.weakest,
            keep_all=exhaustive,
        )

    def _target(self) -> Target:
        return self._sandbox.targets()[0]

    # ------------------------------------------------------------------ compiling

    async def _compile(self, run: _Run, code: str) -> CompileOutcome:
        """Compile the problem's programs, then the submission; leaves the program in `run`."""
        try:
            run.own = await self._builder.problem_programs(run.problem, run.target)
            return await self._compile_submission(run, run.own, code)
        except UnavailableError:
            raise  # nothing is left to run on: that ends the run, not this submission
        except ProblemProgramError as error:
            return CompileOutcome(verdict=Verdict.JE, message=str(error), final=True)
        except SandboxError as error:
            return CompileOutcome(verdict=Verdict.JE, message=f"not compiled: {error}")

    async def _compile_submission(self, run: _Run, own: ProblemPrograms, code: str) -> CompileOutcome:
        toolchain = run.target.toolchain
        recipe = compiling.submission_recipe(run.problem, code, own.objects, toolchain, std=self._policy.std)
        answer = await self._builder.compile(recipe, own.runner, run.target)
        if compiling.is_doubtful(answer):
            answer = await self._builder.compile(recipe, own.runner, run.target, alone=True)
        run.programs = Programs(
            runner=own.runner,
            submission=answer.artifacts.get("a.out", b""),
            static=toolchain.static,
            checker=own.checker,
            manager=own.manager,
        )
        run.note_isolation(answer.isolation)
        limits = self._policy.compile
        return compiling.compile_outcome(recipe, answer, limits, message_chars=self._policy.message_chars)

    # ------------------------------------------------------------------ running

    async def _judge(self, run: _Run) -> None:
        """Run tests until nothing that is left can change the result."""
        judging = run.judging
        while not judging.done:
            if pending := judging.pending():
                await self._run_tests(run, self._first_bundle(run.problem, pending))
            elif again := judging.judge_fault_reruns():
                await self._run_tests(run, again[:1])
            else:
                await self._run_tests(run, judging.near_limit_reruns()[:1], alone=True)

    def _first_bundle(self, problem: Problem, pending: Sequence[PlannedTest]) -> Sequence[PlannedTest]:
        return bundles(problem, pending, max_tests=self._bundle_tests)[0]

    async def _run_tests(self, run: _Run, tests: Sequence[PlannedTest], *, alone: bool = False) -> None:
        """Run one bundle and record what came out; what the sandbox failed at is recorded as JE."""
        try:
            answer = await self._execute(run, tests, alone=alone)
        except UnavailableError:
            raise
        except SandboxError as error:
            for planned in tests:
                run.judging.record(TestOutcome(test=planned.test, verdict=Verdict.JE, score=None, message=str(error)))
            return
        run.note_isolation(answer.isolation)
        for outcome in answer.outcomes.values():
            run.judging.record(outcome)

    async def _execute(self, run: _Run, tests: Sequence[PlannedTest], *, alone: bool) -> RunAnswer:
        assert run.programs is not None
        for attempt in range(ATTEMPTS):
            nonce = secrets.token_hex(16)
            job = bundled.run_job(
                run.problem, run.programs, tests, self._policy, nonce=nonce, exhaustive=run.exhaustive, alone=alone
            )
            names = {number: planned.test for number, planned in enumerate(tests)}
            try:
                execution = await self._sandbox.execute(job, run.target)
                answer = run_answer(execution.run, nonce, names=names, time_limit_s=run.problem.time_limit_s)
                if not answer.outcomes:  # the first of them is needed, or it would not have been asked for
                    raise TransportError("the runner ran none of the tests that it was asked to run")
                return answer
            except TransientError:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")


class _Run:
    """What is known of one submission while it is judged."""

    def __init__(self, problem: Problem, submission: Submission, target: Target, *, exhaustive: bool) -> None:
        self.problem = problem
        self.submission = submission
        self.target = target
        self.exhaustive = exhaustive
        self.judging = Judging(problem, exhaustive=exhaustive)
        self.own: ProblemPrograms | None = None
        self.programs: Programs | None = None
        self.weakest: Isolation | None = None

    def note_isolation(self, isolation: Isolation) -> None:
        """Remember the weakest isolation over all runs."""
        if self.weakest is None or isolation.rank < self.weakest.rank:
            self.weakest = isolation


def _describe(target: Target) -> str:
    linking = "static" if target.toolchain.static else "dynamic"
    return f"{target.name}, {target.profile}, {target.toolchain.version}, {linking}"


async def score_submission(
    sandbox: Sandbox,
    problem: Problem,
    submission: Submission,
    *,
    policy: Policy | None = None,
    artifacts: ArtifactStore | None = None,
    exhaustive: bool = False,
) -> SubmissionResult:
    """Judge one submission on a sandbox: `Scorer.score` for those who have just one.

    Args:
        sandbox: executes the jobs; entered already.
        problem: what the submission is for.
        submission: the program.
        policy: how it is judged.
        artifacts: keeps the runner and judge programs; by default in the user's cache directory.
        exhaustive: run every test, whatever its subtasks score already.
    """
    store = artifacts or ArtifactStore(Environment.read().cache)
    return await Scorer(sandbox, artifacts=store, policy=policy).score(problem, submission, exhaustive=exhaustive)
