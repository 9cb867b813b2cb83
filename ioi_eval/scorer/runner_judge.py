"""Judges a submission with our runner: one compilation, then many tests in each job (in the classic profile one).

The first job compiles the program and runs its first tests, so that it needs one box, and most programs are never sent
to a worker: they take megabytes, their sources kilobytes. If the program does not compile there, the answer counts as
that of a compile job; if there is no usable answer, a compile job follows. On this machine a program has a compile job
from the start if slots are idle, because these can then run some of its tests, or if programs are kept for later runs.

What is repeated, and why:
- a compilation with a precompiled header that produced no program, or took more than `_SURE_SHARE` of its CPU limit:
  again without that header;
- a compilation that a limit stopped, or whose messages say that it lacked memory, processes or disk space: once more,
  alone on the machine, before it counts; with such messages again, a third time, after the compiler was checked;
- a compilation for which a part of the compiler seems to be missing: once more;
- tests: see `engine/scheduling.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ioi_eval.concurrency import both
from ioi_eval.config import Policy
from ioi_eval.engine.run_jobs import Engine
from ioi_eval.engine.scheduling import ProgramRun
from ioi_eval.errors import (
    ExhaustedError,
    LostDataError,
    RejectedError,
    SandboxError,
    SetupError,
    TransientError,
    UnavailableError,
    UnsuitableError,
)
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs import harness, recipes
from ioi_eval.jobs.harness import InPython, Interpreter
from ioi_eval.jobs.run_job import Program, has_room_to_build
from ioi_eval.jobs.run_setups import Compiled, job_tests, problem_setup
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.languages import CompiledLanguage, compiled_rules, rules_of
from ioi_eval.model import (
    CompileOutcome,
    Content,
    Keep,
    Language,
    Problem,
    ProblemKey,
    ProblemPackage,
    Profile,
    RunDetails,
    TestOutcome,
    Verdict,
)
from ioi_eval.precompiled_headers import PrecompiledHeaders
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Target
from ioi_eval.scorer.submission_run import SubmissionRun
from ioi_eval.toolchain import Toolchain
from ioi_eval.tools import Tool

if TYPE_CHECKING:
    from ioi_eval.kept_programs import KeptPrograms
    from ioi_eval.sandbox.piston.problem_packages import Packages

_SURE_SHARE = 0.7
"""Share of the compile CPU limit. If a compilation with a precompiled header takes more, it might be over the limit
without that header, so it is repeated without it."""


class RunnerJudge:
    """Compiles and runs submissions; see the module. The arguments are as of `Scorer`; `engines` run the tests."""

    def __init__(
        self,
        builder: Builder,
        headers: PrecompiledHeaders,
        policy: Policy,
        *,
        engines: Mapping[Profile, Engine],
        return_bytes: int,
        keep_outputs: Keep,
        kept_programs: KeptPrograms | None,
    ) -> None:
        self._builder, self._headers, self._policy, self._engines = builder, headers, policy, engines
        self._return_bytes, self._keep_outputs = return_bytes, keep_outputs
        self._kept_programs = kept_programs
        self._packages: Packages | None = None
        self._no_first_jobs: set[tuple[str, ProblemKey]] = set()  # targets and problems whose first jobs were refused

    async def judge(self, run: SubmissionRun) -> CompileOutcome:
        """Compile the program, if there is one, and run tests until no other test can change the result. SandboxError
        if it is not known whether it compiles. (`Scorer` makes this a JE; the failure of a test is that test's
        outcome.)
        """
        run.record_missing()
        built = await self._build_in_first_job(run) if self._builds_in_first_job(run) else None
        if built is not None and built.succeeded and run.judging.is_done():
            return compiling.successful_outcome(built)
        # what the first job has compiled is not compiled again
        judges, (compiled, submission) = await both(
            self._builder.judge_programs(run.problem, run.target), self._compile(run, known=built)
        )
        if compiled.verdict is None:
            await self._run(run, await self._program(run, submission, judges))
        return compiled

    def _builds_in_first_job(self, run: SubmissionRun) -> bool:
        """Whether the job that runs a program's first tests also compiles it."""
        target = run.target
        if run.submission.code is None or target.profile is not Profile.BUNDLED:
            return False
        has_idle_slots = self._engines[target.profile].jobs_at_once(target) > 1
        return target.is_remote or (self._kept_programs is None and not has_idle_slots)

    async def _build_in_first_job(self, run: SubmissionRun) -> CompileAnswer | None:
        """Compile the program and run its first tests in one job.

        Returns the answer to the compilation: that of this job or, if that one used a precompiled header and does not
        count, that of a compile job without it. `None` if the program must still be compiled, by the caller.
        """
        tool = await self._tool(run)
        if not isinstance(tool, Toolchain) or not run.judging.pending():
            return None
        target = run.target
        judges, recipe = await both(self._builder.judge_programs(run.problem, target), self._recipe(run, tool))
        with_header = await self._with_header(run, recipe)
        uncompiled = recipes.Uncompiled(recipe=with_header or recipe, limits=self._policy.compile)
        program = await self._program(run, uncompiled, judges)
        sends_header = with_header is not None and not run.target.is_remote
        if (answer := await self._first_job(run, program, sends_header=sends_header)) is None:
            return None
        run.note_isolation(answer.isolation)
        if with_header is not None and not self._counts_with_header(run, answer):
            return await self._builder.compile(recipe, target)
        if answer.succeeded and not answer.artifacts and not run.judging.is_done():
            return None  # tests are left, and the program was not returned
        return answer

    async def _first_job(self, run: SubmissionRun, program: Program, *, sends_header: bool) -> CompileAnswer | None:
        """Compile a program and run its first tests; `None` if that is not possible here, or had no usable answer."""
        target, target_and_problem = run.target, (run.target.name, run.problem.key)
        if target_and_problem in self._no_first_jobs or not has_room_to_build(target, program.setup):
            return None
        try:
            return await self._program_run(run, program).build()
        except LostDataError:
            if not sends_header:
                raise
            self._headers.give_up(self._standard(run))
        except (UnavailableError, ExhaustedError):
            raise
        except RejectedError:  # too large, for example: those of other submissions would be refused, too
            self._no_first_jobs.add(target_and_problem)
        except SandboxError:
            pass
        return None

    async def _recipe(self, run: SubmissionRun, tool: Tool) -> recipes.Recipe:
        language, std = run.submission.language, self._policy.std
        objects = await self._builder.objects(run.problem, run.target, language=language)
        if not isinstance(tool, Toolchain):
            return harness.submission_recipe(tool, run.sources)
        return recipes.submission_recipe(run.problem, run.sources, objects, tool, std=std, language=language)

    async def _compile(self, run: SubmissionRun, known: CompileAnswer | None) -> tuple[CompileOutcome, Content | None]:
        """The outcome of the compilation, and the program as it is sent; `None` if the submission has none.

        `known` is the answer to the compilation in the first job, if that counts.
        """
        if run.submission.code is None:
            return CompileOutcome(verdict=None), None
        tool = await self._tool(run)
        recipe = await self._recipe(run, tool)
        if isinstance(tool, Toolchain):
            answer = await self._find_or_compile(run, recipe, tool, known)
            submission = answer.artifacts.get("a.out", b"")
        else:
            answer = await self._compile_and_repeat(run, recipe, known)
            submission = _program_file(run)
        run.note_isolation(answer.isolation)
        return compiling.compile_outcome(recipe, answer, self._policy.compile), submission

    async def _find_or_compile(
        self, run: SubmissionRun, recipe: recipes.Recipe, toolchain: Toolchain, known: CompileAnswer | None
    ) -> CompileAnswer:
        """The answer to the compilation in an earlier run, if that was kept; else a new one, which is kept."""
        kept = self._kept_programs
        key = None if kept is None else await kept.key(recipe, toolchain, run.target, self._policy.compile)
        if kept is None or key is None:
            return await self._compile_and_repeat(run, recipe, known)
        stored = await kept.answer(key)
        if stored is None:
            stored = await self._compile_and_repeat(run, recipe, known)
            await kept.keep(key, stored, toolchain)
        return stored

    async def _compile_and_repeat(
        self, run: SubmissionRun, recipe: recipes.Recipe, known: CompileAnswer | None
    ) -> CompileAnswer:
        """The answer to a submission's compilation, which is repeated alone if it is in doubt."""
        answer = known or await self._compile_with_header(run, recipe)
        if answer is None:
            answer = await self._builder.compile(recipe, run.target)
        language = run.submission.language
        answer = await self._builder.repeat_if_in_doubt(recipe, answer, run.target, language)
        outcome = compiling.compile_outcome(recipe, answer, self._policy.compile)
        if isinstance(run.tool, Toolchain) and outcome.verdict is Verdict.CE:
            last = answer.steps[-1]
            await self._builder.checks.require_working_compiler(
                self._standard(run),
                run.target,
                language=language,
                message=last.output,
                crashed=last.limit is None and not compiling.failed_by_itself(last),
                state=run.compiler_state,
            )
            if compiling.is_machine_failure(last.output):  # the machine may have recovered just before that check
                answer = await self._builder.repeat_if_in_doubt(recipe, answer, run.target, language)
        return answer

    async def _compile_with_header(self, run: SubmissionRun, recipe: recipes.Recipe) -> CompileAnswer | None:
        """The answer with a precompiled header; `None` if there is no such header, or the answer does not count."""
        with_header = await self._with_header(run, recipe)
        if with_header is None:
            return None
        try:
            answer = await self._builder.compile(with_header, run.target)
        except TransientError as error:
            has_no_target = isinstance(error, UnavailableError) and not isinstance(error, LostDataError)
            if run.target.is_remote or has_no_target:
                raise
            self._headers.give_up(self._standard(run))  # perhaps boxes here have no room for it
            return None
        return answer if self._counts_with_header(run, answer) else None

    async def _with_header(self, run: SubmissionRun, recipe: recipes.Recipe) -> recipes.Recipe | None:
        """The recipe with the precompiled header that the program can use; `None` if there is none."""
        rules = rules_of(run.submission.language)
        if not (isinstance(rules, CompiledLanguage) and rules.has_precompiled_header):
            return None
        if not any(recipes.begins_with_header(source.content) for source in run.sources):
            return None
        return await self._headers.recipe(recipe, run.target, self._standard(run))

    def _standard(self, run: SubmissionRun) -> str:
        return compiled_rules(run.submission.language).standard(run.problem, self._policy.std)

    def _counts_with_header(self, run: SubmissionRun, answer: CompileAnswer) -> bool:
        """Whether this answer counts: no precompiled header was used after all, or the program compiled with it, in so
        little CPU time that it would be below the limit without it too (`_SURE_SHARE`). `headers` learns of it."""
        if run.target.is_remote and not any(step.precompiled for step in answer.steps):
            self._headers.note_without()
            return True
        cpu_ms = sum(step.cpu_ms for step in answer.steps)
        counts = answer.succeeded and cpu_ms < _SURE_SHARE * 1000 * self._policy.compile.cpu_s
        self._headers.note_program(compiles=answer.succeeded, counts=counts)
        return counts

    async def _tool(self, run: SubmissionRun) -> Tool:
        """The compiler or interpreter for the submission; without one, this target is unsuitable."""
        try:
            if run.tool is None:
                run.tool = await self._builder.tools.of(run.submission.language, run.target)
                run.compiler_state = self._builder.tools.state_of_compiler(run.submission.language, run.target)
        except SetupError as error:
            if not rules_of(run.submission.language).needs_own_tool:
                raise
            raise UnsuitableError(str(error)) from error
        return run.tool

    async def _program(
        self, run: SubmissionRun, submission: Content | recipes.Uncompiled | None, judges: Mapping[str, Content]
    ) -> Program:
        """The submission as the engine runs it; `submission` is its program as in `Program.content`."""
        problem, target, tool = run.problem, run.target, run.tool
        program: Compiled | InPython | None = None
        if isinstance(tool, Interpreter):
            program = InPython(interpreter=tool, preload=harness.preloaded(run.submission.code or "", calls=False))
        elif submission is not None:
            static = tool is None or (isinstance(tool, Toolchain) and tool.static)
            program = Compiled(static=static, libraries=target.toolchain.libraries)
        setup = problem_setup(
            problem,
            self._policy,
            runner=await self._builder.runner(target),
            program=program,
            judges=judges,
            return_bytes=self._return_bytes,
        )
        most = problem.output_limit_bytes or self._policy.output_bytes
        # One byte more is OLE already, and a worker could refuse a job with all of them: that would be JE.
        outputs = {test: content[: most + 1] for test, content in run.outputs.items()}
        return Program(
            problem=problem.key,
            content=submission,
            tests=job_tests(problem, outputs),
            setup=setup,
            package=self._package(problem, target),
        )

    async def _run(self, run: SubmissionRun, program: Program) -> None:
        if (weakest := await self._program_run(run, program).run()) is not None:
            run.note_isolation(weakest)

    def _program_run(self, run: SubmissionRun, program: Program) -> ProgramRun:
        """The running of a program, which records the outcomes of its tests."""

        def record(outcome: TestOutcome) -> None:
            keeps_output = self._keep_outputs.keeps(passed=outcome.verdict is Verdict.AC)
            run.judging.record(replace(outcome, output=outcome.output if keeps_output else None, details=RunDetails()))

        return ProgramRun(self._engines[run.target.profile], program, run.judging, run.target, record=record)

    def _package(self, problem: Problem, target: Target) -> ProblemPackage | None:
        """The package of a worker that may have the problem's files; this machine has them without a package."""
        if not target.is_remote:
            return None
        if self._packages is None:
            from ioi_eval.sandbox.piston.problem_packages import Packages

            self._packages = Packages()
        return self._packages.of(problem)


def _program_file(run: SubmissionRun) -> bytes:
    """A Python submission in the harness's format: the grader, or else the first file, with the files that it imports.

    Without a grader, these can also import the file that is started, as on Kattis, where it lies beside them.
    """
    graders = run.problem.linked_with(Language.PYTHON)
    main = (*graders, *run.sources)[0]
    return harness.linked_program_file(main.content, run.sources if graders or len(run.sources) > 1 else ())
