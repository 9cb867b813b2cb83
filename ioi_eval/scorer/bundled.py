"""The way of a submission in the bundled profile: one compilation, then many tests a job.

What is repeated, and why:
- a compilation with a precompiled header that made no program: without that header;
- a compilation that a limit stopped: once, alone on the machine, before it counts;
- a TLE of a program that ended by itself: alone, and that time stands; several that matter in one job;
- a checker or manager that failed: once, in a clean box; the same twice is final;
- a bundle whose answer was cut off: its first half, as it may have met a limit of the server's; those that follow on
  this target are as small.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from ioi_eval.config import Policy
from ioi_eval.engine.packing import BUNDLE_S, Paces, Reach, both, bundles, run_spread
from ioi_eval.errors import (
    LostDataError,
    RejectedError,
    SandboxError,
    SetupError,
    TransientError,
    TransportError,
    UnavailableError,
)
from ioi_eval.headers import PrecompiledHeaders
from ioi_eval.jobs import bundled, harness, precompiled
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs.bundled import PlannedTest, Programs
from ioi_eval.jobs.harness import Interpreter
from ioi_eval.jobs.protocol import CompileAnswer, RunAnswer, run_answer
from ioi_eval.languages import CompiledLanguage, rules_of
from ioi_eval.languages import compiled as compiled_language
from ioi_eval.model import CompileOutcome, Execution, Isolation, Keep, Language, Verdict
from ioi_eval.programs import ATTEMPTS, Builder, UnfitError
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.scorer.run import SubmissionRun

_SURE_SHARE = 0.7
"""Of the CPU time that compiling may take: a program that takes more may be over the limit without that header."""


def one_lane(_: Target) -> int:
    """One job of a submission at a time."""
    return 1


class BundledWay:
    """Compiles and runs submissions; see the module.

    Args:
        sandbox: executes the jobs.
        builder: compiles.
        headers: precompiled ones.
        policy: how it is judged.
        bundle_tests: most tests a job.
        lanes: how many jobs of one submission may run at once on a target now.
        return_bytes: how much of each output comes back.
        keep: of which tests results carry it.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        builder: Builder,
        headers: PrecompiledHeaders,
        policy: Policy,
        *,
        bundle_tests: int,
        lanes: Callable[[Target], int],
        return_bytes: int = 0,
        keep: Keep = Keep.ALL,
    ) -> None:
        self._sandbox = sandbox
        self._builder = builder
        self._headers = headers
        self._policy = policy
        self._bundle_tests = bundle_tests
        self._lanes = lanes
        self._return_bytes = return_bytes
        self._keep = keep
        self._paces = Paces(bundle_tests)
        self._reach = Reach(bundle_tests)

    async def judge(self, run: SubmissionRun, code: str | None) -> CompileOutcome:
        """Compile what there is, and run until nothing that is left can change the result.

        Raises:
            SandboxError: it could not be compiled.
        """
        builder, problem, target = self._builder, run.problem, run.target
        judges, (compiled, programs) = await both(
            builder.judge_programs(problem, target), self._compile(run, code), at_once=self._lanes(target) > 1
        )
        run.record_missing()
        if compiled.verdict is None:
            await self._run(run, replace(programs, checker=judges.checker, manager=judges.manager))
        return compiled

    async def _compile(self, run: SubmissionRun, code: str | None) -> tuple[CompileOutcome, Programs]:
        """How the compilation ended, and what tests are run with, except for the judge programs."""
        builder, target, std = self._builder, run.target, self._policy.std
        runner = await builder.runner(target)
        if code is None:
            return CompileOutcome(verdict=None), Programs(
                runner=runner, submission=None, static=True, outputs=run.outputs
            )
        interpreter = await self._interpreter(run)
        if interpreter is None:
            objects = await builder.objects(run.problem, target, language=run.language)
            recipe = compiling.submission_recipe(
                run.problem, run.sources, objects, target.toolchain, std=std, language=run.language
            )
        else:
            recipe = harness.submission_recipe(interpreter, run.sources)
        answer = await self._compile_quickly(run, recipe)
        if answer is None:
            answer = await builder.compile(recipe, target)
        if compiling.is_doubtful(answer):
            answer = await builder.compile(recipe, target, alone=True)
        run.note_isolation(answer.isolation)
        limits = self._policy.compile
        outcome = compiling.compile_outcome(recipe, answer, limits, message_chars=self._policy.message_chars)
        if outcome.verdict is Verdict.CE and interpreter is None:
            words = answer.steps[-1].output if answer.steps else ""
            dialect = compiled_language(run.language).standard(run.problem, std)
            await builder.require_good_compiler(dialect, target, language=run.language, refused=words)
        return outcome, Programs(
            runner=runner,
            submission=answer.artifacts.get("a.out", b"") if interpreter is None else _task(run),
            outputs=run.outputs,
            static=target.toolchain.static and interpreter is None,
            libraries=target.toolchain.libraries,
            interpreter=interpreter,
            preload=harness.preloaded(code, calls=False) if interpreter is not None else "",
        )

    async def _compile_quickly(self, run: SubmissionRun, recipe: compiling.Recipe) -> CompileAnswer | None:
        """The answer with a precompiled header; `None` where there is none, or the program does not compile so."""
        rules = rules_of(run.language)
        if not (isinstance(rules, CompiledLanguage) and rules.has_precompiled_header):
            return None
        if not any(precompiled.begins_with_it(source.content) for source in run.sources):
            return None
        std = rules.standard(run.problem, self._policy.std)
        header = await self._headers.header(run.target, std)
        if header is None:
            return None
        try:
            answer = await self._builder.compile(precompiled.with_header(recipe, header), run.target)
        except LostDataError:
            self._headers.give_up(std)
            return None
        except UnavailableError:
            raise
        except TransientError:  # perhaps there is no room for it in boxes here
            self._headers.give_up(std)
            return None
        cpu_ms = sum(step.cpu_ms for step in answer.steps)
        is_sure = cpu_ms < _SURE_SHARE * 1000 * self._policy.compile.cpu_s
        return answer if is_sure and len(answer.artifacts) == len(recipe.artifacts) else None

    async def _interpreter(self, run: SubmissionRun) -> Interpreter | None:
        """What executes the submission; `None` for the processor.

        Raises:
            UnfitError: there is none on this target.
        """
        if isinstance(rules_of(run.language), CompiledLanguage):
            return None
        if run.problem.processes > 1 and run.target.isolation is not Isolation.FULL:
            raise UnfitError(  # Source: PROTOCOL.md, "The plan": programs with libraries could talk to each other
                f"submissions in Python with {run.problem.processes} processes need isolation 'full', and"
                f" {run.target.name} offers {run.target.isolation.value!r}"
            )
        try:
            interpreter = await self._builder.interpreter(self._policy.python, run.target)
        except SetupError as error:
            raise UnfitError(str(error)) from error
        run.interpreter = interpreter
        return interpreter

    async def _run(self, run: SubmissionRun, programs: Programs) -> None:
        judging = run.judging
        most = self._bundle_tests  # fewer once an answer was cut; `_reach` hears only of those that were whole at last

        def cut(pending: Sequence[PlannedTest]) -> Sequence[PlannedTest]:
            wanted = self._paces.tests(run.problem.key, len(pending), self._lanes(run.target))
            return self._first_bundle(
                run, programs, pending, max_tests=min(most, wanted, self._reach.tests(run.target.name))
            )

        async def run_bundle(bundle: Sequence[PlannedTest]) -> None:
            nonlocal most
            ran = await self._run_tests(run, programs, bundle)
            most = min(most, ran) if ran < len(bundle) else most

        while not judging.done:
            if judging.pending():
                await run_spread(judging, cut, run_bundle, lambda: self._lanes(run.target))
            elif again := judging.judge_fault_reruns():
                await self._run_tests(run, programs, again[:1])
            else:
                late = self._first_bundle(run, programs, judging.near_limit_reruns(), max_tests=most)
                ready_bytes = max(judging.outcomes()[planned.test].memory_bytes or 0 for planned in late)
                await self._run_tests(run, programs, late, alone=True, ready_bytes=ready_bytes)

    async def _run_tests(
        self,
        run: SubmissionRun,
        programs: Programs,
        tests: Sequence[PlannedTest],
        *,
        alone: bool = False,
        ready_bytes: int = 0,
    ) -> int:
        """Run tests in one job and record what came out; what the sandbox failed at is recorded as JE.

        Returns:
            How many of them the job had in the end.
        """
        attempts, asked = ATTEMPTS, len(tests)
        while True:
            attempts -= 1
            nonce = secrets.token_hex(16)
            job = bundled.run_job(
                run.problem,
                programs,
                tests,
                self._policy,
                nonce=nonce,
                exhaustive=run.judging.exhaustive,
                alone=alone,
                ready_bytes=ready_bytes,
                room_ms=bundled.room(run.target, programs).wall_ms,
                enough_s=BUNDLE_S,
                return_bytes=self._return_bytes,
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
            self._reach.observe(run.target.name, asked=asked, granted=len(tests), held=len(answer.outcomes))
            run.note_isolation(answer.isolation)
            for outcome in answer.outcomes.values():
                kept = outcome.output is not None and self._keep.keeps(passed=outcome.verdict is Verdict.AC)
                run.judging.record(outcome if kept else replace(outcome, output=None))
                self._paces.observe(run.problem.key, outcome)
            return len(tests)

    def _first_bundle(
        self, run: SubmissionRun, programs: Programs, pending: Sequence[PlannedTest], *, max_tests: int
    ) -> Sequence[PlannedTest]:
        """As many tests as one job on this target should hold."""
        room = bundled.room(run.target, programs, self._return_bytes)
        return bundles(
            run.problem,
            pending,
            outputs=programs.outputs,
            max_tests=min(max_tests, room.tests),
            max_bytes=room.test_bytes,
            max_wall_ms=room.wall_ms,
            wall_ms_per_test=bundled.usual_wall_ms(run.problem),
        )[0]


def _task(run: SubmissionRun) -> bytes:
    """A submission in Python as the harness reads it: by itself, or imported by its grader, else by its first file."""
    main, *modules = (*run.problem.linked_with(Language.PYTHON), *run.sources)
    return harness.linked_task(main.content, modules)


def _read(run: SubmissionRun, execution: Execution, nonce: str, tests: Sequence[PlannedTest]) -> RunAnswer:
    names = {number: planned.test for number, planned in enumerate(tests)}
    answer = run_answer(execution.run, nonce, names=names, time_limit_s=run.problem.time_limit_s)
    if not answer.outcomes:  # the first of them is needed, or it would not have been asked for
        raise TransportError("the runner ran none of the tests that it was asked to run")
    return answer
