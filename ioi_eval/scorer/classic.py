"""The way of a submission in the classic profile: one test a job, each of which compiles it anew.

The scripts are the target's own, or ours with the runner (`jobs/classic.py`). What is repeated, and why:
- a compilation that a limit stopped, or that may have: once, alone on the machine, before it counts;
- a compilation that fails after one that did not: the machine's fault, as nothing of the program has changed;
- a checker or manager that failed: once, in a clean box; the same twice is final;
- a job whose answer says nothing for certain.
"""

from __future__ import annotations

from dataclasses import dataclass

from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, TransientError, UnavailableError
from ioi_eval.jobs import classic, classic_answer
from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.model import CompileOutcome, Content, Execution, Language, TestCase, TestOutcome
from ioi_eval.programs import ATTEMPTS, Builder, UnfitError
from ioi_eval.sandbox import Sandbox
from ioi_eval.scorer.run import Run

_COMPILED = CompileOutcome(verdict=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scripts:
    """What judges in the box: scripts and runner of ours, or nothing where the target brings its own."""

    pair: classic.Pair | None
    runner: Content | None


class ClassicWay:
    """Judges submissions test by test; see the module.

    Args:
        sandbox: executes the jobs.
        builder: compiles the runner.
        policy: how it is judged.
    """

    def __init__(self, sandbox: Sandbox, builder: Builder, policy: Policy) -> None:
        self._sandbox = sandbox
        self._builder = builder
        self._policy = policy

    async def judge(self, run: Run, code: str) -> CompileOutcome:
        """Run test after test until nothing that is left can change the result.

        Raises:
            SandboxError: it could not be compiled.
        """
        if run.language is not Language.CPP:
            raise UnfitError(f"the classic profile compiles C++ only, not {run.language.value}")
        run.problem = classic.to_standard(run.problem, self._policy.std)
        run.note_isolation(run.target.isolation)
        scripts = _Scripts(pair=None, runner=None)
        if not run.target.brings_pair:
            scripts = _Scripts(pair=classic.own_pair(), runner=await self._builder.runner(run.target))
        judging, compiled = run.judging, None
        while not judging.done:
            planned = (*judging.pending(), *judging.judge_fault_reruns())[0]
            try:
                compiled = await self._run_test(run, planned, code, scripts, was_compiled=compiled is not None)
            except UnavailableError:
                raise
            except SandboxError as error:
                if compiled is None:
                    raise
                run.record_failure([planned], error)
            if compiled.verdict is not None:
                return compiled
        return compiled or _COMPILED

    async def _run_test(
        self, run: Run, planned: PlannedTest, code: str, scripts: _Scripts, *, was_compiled: bool
    ) -> CompileOutcome:
        """Judge one test and record what came out, unless the compilation failed.

        Raises:
            SandboxError: nothing is known of it.
        """
        case = run.problem.tests[planned.test]
        for attempt in range(ATTEMPTS):
            try:
                compiled, outcome = await self._ask(run, case, code, scripts)
                if outcome is not None:
                    run.judging.record(outcome)
                elif was_compiled and not compiled.final:
                    raise TransientError(f"a program that compiled before does not any more: {compiled.message}")
                return compiled
            except UnavailableError:
                raise
            except TransientError:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    async def _ask(
        self, run: Run, case: TestCase, code: str, scripts: _Scripts
    ) -> tuple[CompileOutcome, TestOutcome | None]:
        execution = await self._execute(run, case, code, scripts, alone=False)
        if classic_answer.is_doubtful(execution):
            execution = await self._execute(run, case, code, scripts, alone=True)
        limits = classic.COMPILE_LIMITS
        compiled = classic_answer.compile_outcome(
            execution, memory_limit_bytes=limits.memory_bytes, cpu_limit_ms=limits.cpu_ms
        )
        if compiled.verdict is not None:
            return compiled, None
        if scripts.runner is not None:
            classic_answer.check_ended(execution)
        return compiled, classic_answer.test_outcome(execution, case.name)

    async def _execute(self, run: Run, case: TestCase, code: str, scripts: _Scripts, *, alone: bool) -> Execution:
        job = classic.job(
            run.problem,
            case,
            code,
            pair=scripts.pair,
            runner=scripts.runner,
            least=self._policy.isolation,
            most_wall_ms=run.target.max_wall_ms,
            alone=alone,
        )
        return await self._sandbox.execute(job, run.target)
