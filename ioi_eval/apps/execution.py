"""Scores programs on APPS problems, in any sandbox: runs the jobs, and calls `verdicts.py`, which is pure.

    problem, code ── Program ── jobs (`engine/scheduling.py`) ── the outcome of each test ── AppsResult

A failure of the sandbox is JE here as everywhere: it has no score, and is never a 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ioi_eval.apps import verdicts
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.settings import (
    AppsSettings,
    fingerprint_of,
    judging_digest_of,
    read_checker,
    return_bytes,
    run_rules,
)
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compat.terms import Calls, CompatGrader, GraderFailedError
from ioi_eval.config import Policy
from ioi_eval.engine.judging import Judging
from ioi_eval.engine.run_jobs import Engine
from ioi_eval.engine.scheduling import ProgramRun
from ioi_eval.engine.target import Dispatcher, NoTargetError, in_service_or_all
from ioi_eval.errors import InputError, SandboxError, SetupError, UnavailableError, UnsuitableError
from ioi_eval.events import Events
from ioi_eval.jobs.harness import InPython, Interpreter, preloaded, program_file
from ioi_eval.jobs.run_job import JobTest, Program
from ioi_eval.jobs.run_setups import problem_setup
from ioi_eval.model import Content, Isolation, JudgeProgram, OutputCheck, Profile, TestOutcome
from ioi_eval.model.apps import AppsProblem, CallTest
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.problems.apps_values import arguments_of, encode
from ioi_eval.programs import Builder, ProblemProgramError
from ioi_eval.sandbox import LOCAL, Sandbox, Target

__all__ = ["AppsExecutor", "AppsResult", "AppsSettings"]


class AppsExecutor:
    """Scores programs for APPS problems on a sandbox. Safe to use from many tasks at once.

    Args:
        sandbox: executes the jobs.
        artifacts: stores the runner and checkers.
        settings: how programs are run and judged.
        max_jobs: how many run at once at most, on all targets together; `None` for as many as these have slots. Judging
            more programs at once than that is faster: those that wait share jobs.
        events: gets an event when the comparator's checker is compiled.

    `checker` is the source of the comparator's checker, read when this executor was made; `None` without one.

    Raises:
        InputError: the checker cannot be read, or `max_jobs` is below 1.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        artifacts: ArtifactStore,
        settings: AppsSettings | None = None,
        max_jobs: int | None = None,
        events: Events | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._settings = settings = settings or AppsSettings()
        policy = Policy(least_isolation=settings.least_isolation, python=settings.python)
        self._builder = Builder(sandbox, artifacts, policy, events)
        self._dispatcher: Dispatcher[None] = Dispatcher(
            sandbox, lambda to, _: _why_unsuitable_for_python(to, settings.least_isolation), key_of=lambda _: None
        )
        if max_jobs is not None and max_jobs < 1:
            raise InputError(f"max_jobs is {max_jobs}; give 1 or more, or None for as many as the targets have slots")
        self._engine = Engine(sandbox, jobs_at_once=self._dispatcher.jobs_at_once, max_shared_jobs=max_jobs)
        self._judging_digests: dict[str, str] = {}  # by target, if its interpreter is known
        self._without_python: dict[str, str] = {}  # why targets have no usable interpreter, by name
        self.checker = read_checker(settings)

    async def interpreter(self) -> Interpreter:
        """The Python that runs programs; on a cluster with several kinds of workers, that of the largest kind.

        All targets in service are asked, so that `fingerprints` covers all their interpreters; those that cannot be
        asked now are skipped.

        Raises:
            SetupError: no target has it, it does not work in a box, or it lacks what the other grader needs.
            SandboxError: no target could be asked.
        """
        interpreters: list[Interpreter] = []
        failures: list[SandboxError] = []
        by_slots = sorted(self._suitable(), key=lambda target: -target.slots)
        for target in in_service_or_all(by_slots):
            try:
                interpreters.append(await self._interpreter(target))
            except SandboxError as error:
                failures.append(error)
                if isinstance(error, UnsuitableError):
                    self._without_python[target.name] = str(error)
        if interpreters:
            return interpreters[0]
        raise SetupError(str(failures[0])) if isinstance(failures[0], UnsuitableError) else failures[0]

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:
        """Judge one program.

        Args:
            problem: the problem. If its row cannot be judged, the result has no score and says why.

        Raises:
            InputError: the comparator's checker does not compile.
            SetupError: no target can judge anything (no compiler, no such interpreter, not enough isolation).
            UnavailableError: no endpoint is left to run on.
        """
        settings = self._settings
        if settings.compat is None and (reason := verdicts.why_unusable(problem, settings)):
            return verdicts.unjudged(problem, settings, reason)
        try:
            return await self._dispatcher.judge_on_target(None, lambda to: self._score_on(to, problem, code))
        except GraderFailedError as failure:
            return verdicts.crashed(problem, settings, failure.__cause__)
        except NoTargetError as error:
            if error.all_unsuitable:
                self._suitable()  # raises the more precise error if no target may run programs
                raise SetupError(str(error)) from error
            return verdicts.unjudged(problem, settings, str(error))

    def notes(self) -> list[str]:
        """A sentence for each target on which nothing could be judged."""
        return self._dispatcher.notes()

    def without_python(self) -> list[str]:
        """A sentence for each target that `interpreter` found to have no usable one."""
        return [f"{name} runs no programs: {reason}" for name, reason in self._without_python.items()]

    @property
    def slots(self) -> int:
        """The number of slots of all targets that may run programs."""
        return sum(target.slots for target in self._suitable())

    def fingerprints(self, problem: str, submission: AppsSubmission) -> tuple[str, ...]:
        """Hashes of everything that determines the outcome, one for each kind of target that may judge it.

        `problem` is the problem's digest.
        """
        digests = dict.fromkeys(self._judging_digests.values())
        return tuple(fingerprint_of(digest, problem, submission) for digest in digests)

    def _suitable(self) -> Sequence[Target]:
        """The targets that may run programs; SetupError if none may."""
        targets = self._sandbox.targets()
        fit = self._dispatcher.suitable(targets, None)
        if not fit:
            existing = ", ".join(
                f"{target.name} ({target.profile}, isolation {target.isolation})" for target in targets
            )
            raise SetupError(f"{_requirement(self._settings.least_isolation)}; there is {existing}")
        return fit

    async def _interpreter(self, target: Target) -> Interpreter:
        """A target's interpreter; UnsuitableError if it has none that works in a box and has what the grader needs."""
        settings = self._settings
        try:
            interpreter = await self._builder.tools.interpreter(target)
            if settings.compat is not None:
                require_fit(interpreter, settings.compat, on=target.name)
        except SetupError as error:
            raise UnsuitableError(str(error)) from error
        self._judging_digests[target.name] = judging_digest_of(
            settings, target, interpreter.fingerprint, checker=self.checker
        )
        return interpreter

    async def _score_on(self, target: Target, problem: AppsProblem, code: str) -> AppsResult:
        settings, compat = self._settings, self._settings.compat
        job_tests = _job_tests(problem, compat)
        try:
            interpreter = await self._interpreter(target)
            program = await self._program(problem, code, target, interpreter, job_tests)
        except (UnavailableError, UnsuitableError):
            raise  # no target is left, or this one is not suitable; another may judge the program
        except SandboxError as error:
            return verdicts.unjudged(problem, settings, str(error))
        stops = settings.fail_fast if compat is None else compat.stops
        judging = Judging([[*program.tests]], zero_decides=stops, near_limit_repeats=settings.near_limit_repeats)

        def record(outcome: TestOutcome) -> None:
            is_right = partial(verdicts.is_right, problem, settings) if program.setup.judged_by_client else None
            judging.record(verdicts.assessed(outcome, is_right, time_limit_s=settings.cpu_s))

        def wanted() -> bool:
            return compat is None or verdicts.wants_another(problem, judging.outcomes(), settings, compat)

        isolation = await ProgramRun(self._engine, program, judging, target, record=record, wanted=wanted).run()
        judge = verdicts.result_of if compat is None else partial(verdicts.result_of_grader, compat=compat)
        return replace(
            judge(problem, judging.outcomes(), settings),
            isolation=isolation,
            target=f"{target.name}, {target.profile}",
            python=str(interpreter),
            judging_digest=self._judging_digests[target.name],
        )

    async def _program(
        self, problem: AppsProblem, code: str, target: Target, interpreter: Interpreter, given: Sequence[JobTest]
    ) -> Program:
        settings, compat = self._settings, self._settings.compat
        fn_name = problem.fn_name if compat is None or compat.calls is Calls.CALL else None
        content = program_file(code, fn_name=fn_name, conventions=settings.conventions)
        rules = run_rules(problem, settings, checker=self.checker)
        setup = problem_setup(
            rules,
            settings,
            runner=await self._builder.runner(target),
            program=InPython(
                interpreter=interpreter,
                preload=preloaded(code, calls=fn_name is not None),
                warm=settings.warm,
                grader=None if compat is None else compat.harness_grader,
            ),
            judges=await self._compiled_checker(rules.method.check, target),
            return_bytes=return_bytes(problem, settings, rules),
        )
        tests = {str(number): test for number, test in enumerate(given)}
        return Program(problem=problem.id, content=content, tests=tests, setup=setup, one_by_one=compat is not None)

    async def _compiled_checker(self, check: OutputCheck | None, target: Target) -> Mapping[str, Content]:
        if not isinstance(check, JudgeProgram):
            return {}
        try:
            return {"checker": await self._builder.judge_program("checker", check, target, std="gnu++17")}
        except ProblemProgramError as error:
            raise InputError(f"{self._settings.comparator}: {error}") from error


def _why_unsuitable_for_python(target: Target, least: Isolation) -> str | None:
    """Why a target is unsuitable for programs in Python; `None` if it is suitable."""
    if target.profile is Profile.BUNDLED and target.isolation.rank >= least.rank:
        return None
    offer = f"the profile {target.profile} and isolation {target.isolation.value!r}"
    return f"{target.name} has {offer}; {_requirement(least)}"


def _requirement(least: Isolation) -> str:
    return f"Python programs need a target with the bundled profile and isolation {least.value!r} or more"


def require_fit(interpreter: Interpreter, compat: CompatGrader, *, on: str) -> None:
    """Refuse an interpreter that is too old for the other grader's programs, or has no numpy although they need it."""
    where = f"{interpreter.path} on {'this machine' if on == LOCAL else on}"
    needs, other = f"--compat {compat.name} needs", "give another interpreter with --python (python= in Python)"
    if interpreter.release < compat.least_python:
        least = ".".join(map(str, compat.least_python))
        raise SetupError(f"{needs} Python {least} or newer, and {where} is {interpreter.version}; {other}")
    if compat.numpy and interpreter.numpy is None:
        raise SetupError(
            f"{needs} numpy, and {where} has none; install it there (Debian, Ubuntu: apt install python3-numpy; "
            f"elsewhere: {interpreter.path} -m pip install numpy), or {other}"
        )


def _job_tests(problem: AppsProblem, compat: CompatGrader | None) -> Sequence[JobTest]:
    """The tests as a job sends them: inputs, and the answers that the box compares with."""
    if compat is not None:
        return [JobTest(input=given) for given in compat.inputs(problem)]
    return [
        JobTest(input=encode(arguments_of(test)))
        if isinstance(test, CallTest)
        else JobTest(input=test.stdin, answer=test.answer)
        for test in problem.tests
    ]
