"""Scores programs on APPS problems, through any sandbox: the shell around `verdicts.py`.

    problem, code ── task ── run jobs (`running.py`) ── what came of each test ── AppsResult

What is repeated, and why, is as in `scorer/`: a lost answer; a late program that ended by itself (alone on the
machine); a judge program that failed (once, in a clean box). Here, as there, a sandbox's failure becomes JE: it has no
score, and is never a 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ioi_eval.apps import verdicts
from ioi_eval.apps.outcomes import AppsResult, AppsSettings, AppsTestResult
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compat.terms import Calls, Graded, Profile, TestRun
from ioi_eval.config import Policy
from ioi_eval.engine.running import Program, TestRuns
from ioi_eval.engine.sharing import Bundles
from ioi_eval.errors import ODD_DATA, InputError, SandboxError, SetupError, UnavailableError
from ioi_eval.jobs.harness import Interpreter, preloaded, task
from ioi_eval.jobs.python_run import GivenTest, Judgement, RunLimits, RunSetup, room
from ioi_eval.jobs.returned import Returned
from ioi_eval.model import SourceFile, Verdict
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, StdinTest
from ioi_eval.problems.apps_values import arguments_of, encode, longest_equal
from ioi_eval.programs import Builder, ProblemProgramError
from ioi_eval.sandbox import Sandbox, Target

__all__ = ["AppsExecutor", "AppsResult", "AppsSettings", "AppsTestResult"]

_PROFILE_OUTPUT_BYTES = 16 << 20
_PROFILE_SPARE_BYTES = 256 << 10
"""Most output where another grader compares it, and it comes back whole: four times the longest answer and a bit, and
never more than so much. These graders have no limit; ours is OLE. What a job may return is shared by its tests."""


class AppsExecutor:
    """Scores programs for APPS problems on a sandbox. Safe to use from many tasks at once.

    Args:
        sandbox: executes the jobs.
        artifacts: keeps the runner and checkers.
        settings: how programs are run and judged.
        jobs: how many run at once at most; `None` for as many as the target has slots. To judge more programs at once
            than that pays: those that wait share jobs.

    Raises:
        InputError: the checker cannot be read.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        artifacts: ArtifactStore,
        settings: AppsSettings | None = None,
        jobs: int | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._jobs = jobs
        self._bundles: Bundles | None = None
        self._chosen: Target | None = None
        self._settings = settings or AppsSettings()
        self._builder = Builder(sandbox, artifacts, Policy(isolation=self._settings.isolation))
        self._checker = read_checker(self._settings)

    async def interpreter(self) -> Interpreter:
        """The Python that programs are run with.

        Raises:
            SetupError: there is none on the target, it does not work in a box, or it lacks what the profile needs.
            SandboxError: it could not be asked.
        """
        interpreter = await self._builder.interpreter(self._settings.python, self.target)
        if self._settings.profile is not None:
            require_fit(interpreter, self._settings.profile, on=self.target.name)
        return interpreter

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:
        """Judge one program.

        Args:
            problem: what it is for. A row that cannot be judged gives a result that says so, and no score.
            code: the program's text.

        Raises:
            InputError: the comparator's checker does not compile.
            SetupError: the target cannot judge anything (no compiler, no such interpreter, not enough isolation).
            UnavailableError: no endpoint is left to run on.
        """
        settings, target = self._settings, self.target
        if settings.profile is None and (refused := verdicts.refusal_of(problem, settings)):
            return _unjudged(problem, settings, refused)
        try:
            program = await self._program(problem, code, target)
        except UnavailableError:
            raise  # nothing is left to run on: that ends the run, not this program
        except SandboxError as error:
            return _unjudged(problem, settings, str(error))
        if self._bundles is None:
            self._bundles = Bundles(self._sandbox, target, jobs=self._jobs)
        if settings.profile is None:
            runs = _own_runs(problem, self._bundles, program, settings)
            result = await _judge(problem, runs, settings)
        else:
            try:
                runs = _graded_runs(problem, self._bundles, program, settings.profile)
                result = await _grade(problem, runs, settings, settings.profile)
            except ODD_DATA as error:
                return _crashed(problem, settings, error)
        python = str(await self.interpreter())
        return replace(result, isolation=runs.weakest, target=f"{target.name}, {target.profile}", python=python)

    @property
    def checker(self) -> bytes | None:
        """The source of the comparator's checker, as it was read when this was made; `None` without one."""
        return self._checker

    @property
    def target(self) -> Target:
        """Where programs are run: of the targets that may, the one with most slots when it was first asked for.

        Raises:
            SetupError: none of them may: Python programs need the bundled profile, and the isolation that is asked for.
        """
        if self._chosen is None:
            targets = self._sandbox.targets()
            least = self._settings.isolation.rank
            fit = [one for one in targets if one.profile == "bundled" and one.isolation.rank >= least]
            if not fit:
                there = ", ".join(f"{one.name} ({one.profile}, isolation {one.isolation})" for one in targets)
                raise SetupError(
                    "Python programs need a target with the bundled profile and isolation "
                    f"{self._settings.isolation.value!r} or more; there is {there}"
                )
            self._chosen = replace(max(fit, key=lambda one: one.slots), is_only=True)  # all programs run on one kind
        return self._chosen

    async def _program(self, problem: AppsProblem, code: str, target: Target) -> Program:
        settings, profile = self._settings, self._settings.profile
        interpreter = await self.interpreter()
        fn_name = problem.fn_name if profile is None or profile.calls is Calls.CALL else None
        setup = RunSetup(
            runner=await self._builder.runner(target),
            interpreter=interpreter,
            grader=profile.harness if profile is not None else None,
            judgement=await self._judgement(problem, target),
            limits=_limits(problem, settings),
            least=settings.isolation,
            warm=settings.warm,
            preload=preloaded(code, calls=fn_name is not None),
        )
        return Program(
            task=task(code, fn_name=fn_name, conventions=settings.conventions),
            stop=settings.fail_fast if profile is None else profile.stops,
            setup=setup,
            room=room(target, setup),
            alone_runs=settings.near_limit_repeats,
        )

    async def _judgement(self, problem: AppsProblem, target: Target) -> Judgement:
        settings = self._settings
        if settings.profile is not None or problem.fn_name is not None:
            return Judgement()
        if self._checker is None:
            return Judgement(rule=str(settings.comparator))
        try:
            source = SourceFile(path=Path(settings.comparator.program).name, content=self._checker)
            checker = await self._builder.judge_program("checker", source, target, std="gnu++17")
        except ProblemProgramError as error:
            raise InputError(f"{settings.comparator}: {error}") from error
        return Judgement(checker=checker, limits=settings.judge)


def require_fit(interpreter: Interpreter, profile: Profile, *, on: str) -> None:
    """Refuse an interpreter on which a profile's programs would fail for what it lacks.

    Raises:
        SetupError: it is too old, or has no numpy where the profile needs that.
    """
    where = f"{interpreter.path} on {on}"
    least = ".".join(map(str, profile.least_python))
    if interpreter.release < profile.least_python:
        raise SetupError(
            f"the profile {profile.name} needs Python {least} or newer, and {where} is {interpreter.version}; give "
            "another interpreter with --python"
        )
    if profile.numpy and interpreter.numpy is None:
        raise SetupError(
            f"the profile {profile.name} needs numpy, and {where} has none; install it there, or give another "
            "interpreter with --python"
        )


def read_checker(settings: AppsSettings) -> bytes | None:
    """The source of the comparator's checker, as it is now; `None` without one.

    Raises:
        InputError: it cannot be read.
    """
    if not settings.comparator.program:
        return None
    path = Path(settings.comparator.program)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"the checker {path} cannot be read: {error.strerror}") from error


def _unjudged(problem: AppsProblem, settings: AppsSettings, words: str) -> AppsResult:
    """A row that cannot be judged, or that we failed at."""
    return AppsResult(
        problem=problem.id,
        verdict=Verdict.JE,
        passed=0,
        total=len(problem.tests),
        judged_by=settings.judged_by,
        fault=problem.fault,
        message=words,
    )


def _limits(problem: AppsProblem, settings: AppsSettings) -> RunLimits:
    """Of an output that is compared in the box only its beginning comes back, of a value as much as can be right."""
    output_bytes, return_bytes = settings.output_bytes, settings.shown_bytes
    if settings.profile is not None:
        wanted = [
            4 * len(test.answer) if isinstance(test, StdinTest) else longest_equal(test) for test in problem.tests
        ]
        most = min(_PROFILE_OUTPUT_BYTES, _PROFILE_SPARE_BYTES + max(wanted, default=0))
        output_bytes = return_bytes = min(output_bytes, most)
    elif problem.fn_name is not None:
        return_bytes = max(longest_equal(test) for test in problem.tests if isinstance(test, CallTest))
    return RunLimits(
        cpu_s=settings.cpu_s,
        memory_bytes=settings.memory_limit_bytes,
        output_bytes=output_bytes,
        stderr_bytes=settings.stderr_bytes,
        threads=settings.threads,
        return_bytes=min(return_bytes, output_bytes),
    )


def _crashed(problem: AppsProblem, settings: AppsSettings, error: BaseException) -> AppsResult:
    """A row, or an output, on which another grader's own code fails: so does what imitates it."""
    words = " ".join(str(error).split())[:200]
    crash = f"{settings.judged_by} fails on this row: {type(error).__name__}: {words}"
    return replace(_unjudged(problem, settings, crash), graded=Graded(crash=crash))


# --------------------------------------------------------------------------- our own rules


def _own_runs(problem: AppsProblem, bundles: Bundles, program: Program, settings: AppsSettings) -> TestRuns:
    tests = problem.tests
    return TestRuns(
        bundles,
        program,
        [_given(test) for test in tests],
        is_right=lambda place, returned: verdicts.returns_right(tests[place], returned, settings),
    )


async def _judge(problem: AppsProblem, runs: TestRuns, settings: AppsSettings) -> AppsResult:
    """Run the tests that matter, and judge them by the comparator."""
    unjudged: dict[int, AppsTestResult] = {}
    try:
        while await runs.run_next() or await runs.repeat_next():
            pass
    except UnavailableError:
        raise
    except SandboxError as error:
        words = str(error)
        unjudged = {place: verdicts.failed(problem.tests[place], settings, words) for place in runs.unsettled}
    tests: list[AppsTestResult] = []
    load_error, failed = "", False
    for place, test in enumerate(problem.tests):
        returned = runs.returned.get(place)
        if place in unjudged and not failed:
            tests.append(unjudged[place])
        elif returned is None or failed:  # what ran behind a failure does not count: a job's size changes nothing
            tests.append(verdicts.skipped(test, settings))
        else:
            tests.append(verdicts.judged(test, returned, settings, passed=runs.passed[place]))
            if returned.report.phase == "compile" and returned.outcome.verdict is Verdict.RE:
                load_error = load_error or returned.report.error
            failed = settings.fail_fast and tests[-1].passed is False
    result = verdicts.result_of(problem, tests, settings)
    return verdicts.without_program(result, load_error) if load_error else result


def _given(test: AppsTest) -> GivenTest:
    if isinstance(test, CallTest):
        return GivenTest(name=str(test.number), stdin=encode(arguments_of(test)), answer=None)
    return GivenTest(name=str(test.number), stdin=test.stdin, answer=test.answer)


# --------------------------------------------------------------------------- another grader's rules


def _graded_runs(problem: AppsProblem, bundles: Bundles, program: Program, profile: Profile) -> TestRuns:
    return TestRuns(
        bundles,
        program,
        _given_by(profile, problem),
        is_right=lambda place, returned: verdicts.grades_right(problem, place, returned, profile),
    )


async def _grade(problem: AppsProblem, runs: TestRuns, settings: AppsSettings, profile: Profile) -> AppsResult:
    """Run what the other grader would, and let it grade that."""
    try:
        while True:
            wanted = profile.wants_another(problem, _seen(problem, runs, profile)[1])
            if not (wanted and await runs.run_next()) and not await runs.repeat_next():
                break
    except UnavailableError:
        raise
    except SandboxError as error:
        return _unjudged(problem, settings, str(error))
    seen, ran = _seen(problem, runs, profile)
    fault = next((one for one in seen if one.judged and one.outcome.verdict is Verdict.JE), None)
    if fault is not None:
        return _unjudged(problem, settings, fault.outcome.message)
    return verdicts.graded_result(problem, seen, profile.grade(problem, ran), settings)


def _seen(problem: AppsProblem, runs: TestRuns, profile: Profile) -> tuple[list[Returned], list[TestRun]]:
    """The runs that the other grader would have made, of those that were: in order, up to where it stops."""
    seen: list[Returned] = []
    ran: list[TestRun] = []
    while len(ran) in runs.returned and (not ran or profile.wants_another(problem, ran)):
        seen.append(runs.returned[len(ran)])
        ran.append(verdicts.run_of(seen[-1], profile))
    return seen, ran


def _given_by(profile: Profile, problem: AppsProblem) -> Sequence[GivenTest]:
    """What the grader gives a program. Where it only loads it, that is one run with nothing."""
    if not problem.tests or (problem.fn_name is not None and profile.calls is Calls.LOAD):
        return (GivenTest(name="load", stdin=b"", answer=None),)
    return [GivenTest(name=str(test.number), stdin=profile.given(test), answer=None) for test in problem.tests]
