"""The way of a submission in the classic profile: one test a job, each of which compiles it anew.

The scripts are the target's own, or ours with the runner (`jobs/classic.py`). What is repeated, and why:
- a compilation that a limit stopped, or that may have: once, alone on the machine, before it counts;
- a compilation that fails after one that did not: the machine's fault, as nothing of the program has changed;
- a TLE of a program that ended by itself, if the runner measured it: alone, and that time stands (the stock pair tells
  no times);
- a checker or manager that failed: once, in a clean box; the same twice is final;
- a job whose answer says nothing for certain.
"""

from __future__ import annotations

from dataclasses import dataclass

from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, TransientError, UnavailableError, UnservedError
from ioi_eval.jobs import classic, classic_answer
from ioi_eval.jobs.bundled import PlannedTest
from ioi_eval.model import CompileOutcome, Content, Execution, Language, TestCase, TestOutcome
from ioi_eval.programs import Builder, UnfitError, repeated
from ioi_eval.sandbox import Sandbox
from ioi_eval.scorer.run import Run

_COMPILED = CompileOutcome(verdict=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scripts:
    """What judges in the box: scripts and runner of ours, or nothing where the target brings its own.

    `judge_std` is the problem's own standard of C++, whatever its submissions are compiled to.
    """

    pair: classic.Pair | None
    runner: Content | None
    judge_std: str


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
        self._unfit: dict[tuple[str, str], str] = {}  # what a target's compiler says of a standard

    async def judge(self, run: Run, code: str | None) -> CompileOutcome:
        """Run test after test until nothing that is left can change the result.

        Raises:
            SandboxError: it could not be compiled.
        """
        if code is None:
            raise UnfitError("the classic profile judges programs only")
        if run.language is not Language.CPP:
            raise UnfitError(f"the classic profile compiles C++ only, not {run.language.value}")
        if len(run.sources) > 1:
            raise UnfitError("the classic profile compiles programs of one file only")
        judge_std = run.problem.cxx_std
        run.problem = classic.to_standard(run.problem, self._policy.std)
        if words := self._unfit.get((run.target.name, run.problem.cxx_std)):
            raise _unfit(run, words)  # known: no job more is spent on it
        run.note_isolation(run.target.isolation)
        scripts = _Scripts(pair=None, runner=None, judge_std=judge_std)
        if not run.target.brings_pair:
            runner = await self._builder.runner(run.target)
            scripts = _Scripts(pair=classic.own_pair(), runner=runner, judge_std=judge_std)
        judging, compiled = run.judging, None
        while not judging.done:
            at_any_time = (*judging.pending(), *judging.judge_fault_reruns())
            planned = (*at_any_time, *judging.near_limit_reruns())[0]
            was_compiled, alone = compiled is not None, not at_any_time
            try:
                compiled = await self._run_test(run, planned, code, scripts, was_compiled=was_compiled, alone=alone)
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
        self, run: Run, planned: PlannedTest, code: str, scripts: _Scripts, *, was_compiled: bool, alone: bool
    ) -> CompileOutcome:
        """Judge one test and record what came out, unless the compilation failed.

        Raises:
            SandboxError: nothing is known of it.
        """
        case = run.problem.tests[planned.test]

        async def judge() -> CompileOutcome:
            compiled, outcome = await self._ask(run, case, code, scripts, alone=alone)
            if outcome is not None:
                run.judging.record(outcome)
            elif was_compiled and not compiled.final:
                raise TransientError(f"a program that compiled before does not any more: {compiled.message}")
            return compiled

        return await repeated(judge)

    async def _ask(
        self, run: Run, case: TestCase, code: str, scripts: _Scripts, *, alone: bool
    ) -> tuple[CompileOutcome, TestOutcome | None]:
        execution = await self._execute(run, case, code, scripts, alone=alone)
        if classic_answer.is_doubtful(execution):
            execution = await self._execute(run, case, code, scripts, alone=True)
        limits = classic.COMPILE_LIMITS
        try:
            compiled = classic_answer.compile_outcome(
                execution, memory_limit_bytes=limits.memory_bytes, cpu_limit_ms=limits.cpu_ms
            )
        except UnservedError as error:
            self._unfit[run.target.name, run.problem.cxx_std] = str(error)
            raise _unfit(run, str(error)) from error
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
            judge_std=scripts.judge_std,
            most_wall_ms=run.target.max_wall_ms,
            alone=alone,
        )
        return await self._sandbox.execute(job, run.target)


def _unfit(run: Run, words: str) -> UnfitError:
    target, std = run.target, run.problem.cxx_std
    return UnfitError(
        f"{target.toolchain.version} on {target.name} does not compile a good program with -std={std}: {words}; use "
        "workers with a newer compiler, or --std"
    )
