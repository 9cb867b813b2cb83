"""Judges one submission: compiles it, runs the needed tests, repeats what is uncertain, and computes the score.

It uses three pure parts: `jobs/` makes the jobs and reads the answers, `engine/judging.py` decides what to run next,
`scores.py` computes the score. If the sandbox raises `SandboxError`, the test (in `engine/scheduling.py`) or the
compilation (here) becomes JE. That JE is final only if a program of the problem does not compile. A failure of ours
never becomes a score.

    Scorer ── engine/target.py: which target ──┬── runner_judge.py: compiles; engine/scheduling.py: many tests per job
              (another, if it is lost)         └── scripts_judge.py: the worker's own scripts judge, one test per job

`submission_run.py` has the state of a submission that is being judged. `likely_failures.py` orders its tests if only
scores count. `one_test.py` has `run_submission`, which judges one test by scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy, value_of
from ioi_eval.engine.run_jobs import Engine
from ioi_eval.engine.target import Dispatcher, NoTargetError, in_service_or_all
from ioi_eval.errors import SandboxError, SetupError, UnavailableError, UnsuitableError
from ioi_eval.events import Events
from ioi_eval.fingerprint import Fingerprints
from ioi_eval.jobs.run_job import BUNDLE_TESTS
from ioi_eval.languages import CompiledLanguage, rules_of
from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    Keep,
    Language,
    OutputOnly,
    Problem,
    Profile,
    Submission,
    SubmissionResult,
    Verdict,
)
from ioi_eval.precompiled_headers import PrecompiledHeaders
from ioi_eval.problems.judge_sources import needs_python
from ioi_eval.problems.submissions import check_fits
from ioi_eval.programs import Builder, ProblemProgramError
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.scorer.likely_failures import LikelyFailuresFirst, in_listed_order
from ioi_eval.scorer.runner_judge import RunnerJudge
from ioi_eval.scorer.submission_run import SubmissionRun
from ioi_eval.scores import submission_result
from ioi_eval.toolchain import Toolchain
from ioi_eval.tools import Tool

if TYPE_CHECKING:
    from ioi_eval.kept_programs import KeptPrograms

__all__ = ["Scorer", "score_submission"]


class Scorer:
    """Scores submissions on a sandbox. Safe to use from many tasks at once; on the embedded one also from many threads.

    Args:
        sandbox: executes the jobs.
        artifacts: stores the runner, graders' objects and judge programs.
        policy: how submissions are judged.
        bundle_tests: the largest number of tests in a job.
        spread: let a submission use idle slots; otherwise it has one job at a time.
        return_bytes: how many bytes of each output results contain; for Batch tasks that our runner judges.
        keep_outputs: for which tests results contain outputs: a `Keep`, or the name of one.
        kept_programs: programs that earlier runs compiled on this machine; `None` to compile all.
        events: gets an event when a problem's own program is compiled.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        artifacts: ArtifactStore,
        policy: Policy | None = None,
        bundle_tests: int = BUNDLE_TESTS,
        spread: bool = True,
        return_bytes: int = 0,
        keep_outputs: Keep | str = Keep.ALL,
        kept_programs: KeptPrograms | None = None,
        events: Events | None = None,
    ) -> None:
        self._policy = policy = policy or Policy()
        keep_outputs = value_of(Keep, keep_outputs, "value of keep_outputs")
        self._builder = Builder(sandbox, artifacts, policy, events)
        self._fingerprints = Fingerprints(policy)
        self._dispatcher: Dispatcher[Problem] = Dispatcher(
            sandbox, lambda to, problem: why_unsuitable(to, problem, policy), self._fingerprints.of_problem
        )
        self._failures = LikelyFailuresFirst() if policy.score_only else None
        self._sandbox = sandbox
        self._headers = PrecompiledHeaders(self._builder, artifacts, policy.compile)
        jobs_at_once: Callable[[Target], int] = self._dispatcher.jobs_at_once if spread else lambda _: 1
        self._runner_judge = RunnerJudge(
            self._builder,
            self._headers,
            policy,
            engines={
                profile: Engine(sandbox, jobs_at_once=jobs_at_once, max_tests=max_tests)
                for profile, max_tests in ((Profile.BUNDLED, bundle_tests), (Profile.CLASSIC, 1))
            },
            return_bytes=return_bytes if keep_outputs.keeps(passed=False) else 0,
            keep_outputs=keep_outputs,
            kept_programs=kept_programs,
        )

    def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
        """Hashes of everything that determines the outcome, one for each kind of target that may judge it.

        Two submissions with an equal fingerprint need be judged only once. It depends on compiler, profile and
        isolation, not on the worker. The kinds are in the order in which they were first seen.
        """
        targets = self._dispatcher.suitable_so_far(problem)
        return tuple(dict.fromkeys(self._fingerprint(problem, submission, target) for target in targets))

    async def learn_tools(self, languages: Iterable[Language]) -> None:
        """Ask each target for its tools for these languages, so that fingerprints include them from the beginning.

        A target without a tool judges no submission in that language, so its fingerprints do not matter. If a target
        cannot be asked now, the others are still asked; SandboxError if none could be.
        """
        with_own_tool = [language for language in languages if rules_of(language).needs_own_tool]
        targets = [target for target in self._sandbox.targets() if not target.has_own_scripts]
        failures: list[SandboxError] = []
        asked = [*product(in_service_or_all(targets), with_own_tool)]
        for target, language in asked:
            try:
                with suppress(SetupError):  # it has none
                    await self._builder.tools.of(language, target)
            except SandboxError as error:
                failures.append(error)
        if failures and len(failures) == len(asked):
            raise failures[0]

    def notes(self) -> list[str]:
        """What users should know of how programs were compiled so far, in sentences."""
        return [*self._dispatcher.notes(), *self._headers.notes()]

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Judge one submission.

        Args:
            problem: what it is for.
            submission: the program, or outputs; with neither the verdict is NC.
            exhaustive: run every test, whatever its subtasks score already.

        Returns:
            Its result. A failure on our side is JE, never a score.

        Raises:
            InputError: the submission is for another problem, or contains something that this one does not accept.
            UnsupportedError: the problem does not accept its language or number of files.
            SetupError: the target cannot judge anything (no compiler). (Too weak an isolation is JE.)
            UnavailableError: no endpoint is left to judge on.
        """
        check_fits(submission, problem)
        try:
            return await self._dispatcher.judge_on_target(
                problem,
                lambda target: self._score_on(target, problem, submission, exhaustive=exhaustive),
                why_unsuitable_for_submission=lambda target: why_unsuitable_for_submission(target, problem, submission),
                nothing_runs=submission.is_empty,
            )
        except NoTargetError as error:
            failure = CompileOutcome(verdict=Verdict.JE, message=str(error), all_unsuitable=error.all_unsuitable)
            return submission_result(problem, submission, failure, {})

    async def _score_on(
        self, target: Target, problem: Problem, submission: Submission, *, exhaustive: bool
    ) -> SubmissionResult:
        failures = None if exhaustive else self._failures
        judged = problem if failures is None else failures.ordered(problem)
        run = SubmissionRun(
            judged, submission, target, exhaustive=exhaustive, near_limit_repeats=self._policy.near_limit_repeats
        )
        if submission.refused:
            compiled = CompileOutcome(verdict=Verdict.CE, message=submission.refused)
        elif submission.is_empty:
            what = "no output file found" if isinstance(problem.method, OutputOnly) else "no code found"
            compiled = CompileOutcome(verdict=Verdict.NC, message=what)
        else:
            compiled = await self._judge(run)
        outcomes = run.judging.outcomes()
        result = submission_result(
            judged if failures is None else failures.problem_to_score(problem, judged, outcomes),
            submission,
            compiled,
            outcomes,
            target=_describe(target, run.tool or target.toolchain),
            isolation=run.weakest,
            keep_all=exhaustive,
        )
        if failures is not None:
            failures.observe(problem, outcomes)
            result = in_listed_order(problem, result)
        return replace(result, fingerprint=self._fingerprint(problem, submission, target))

    def _fingerprint(self, problem: Problem, submission: Submission, target: Target) -> str:
        runs = not (submission.is_empty or submission.refused)
        needs_tool = runs and rules_of(submission.language).needs_own_tool
        tool = self._builder.tools.known(submission.language, target) if needs_tool else None
        return self._fingerprints.of(problem, submission, target, tool="" if tool is None else tool.fingerprint)

    async def _judge(self, run: SubmissionRun) -> CompileOutcome:
        try:
            if not run.target.has_own_scripts:
                return await self._runner_judge.judge(run)
            from ioi_eval.scorer import scripts_judge

            return await scripts_judge.judge(run, self._sandbox, self._policy)
        except (UnavailableError, UnsuitableError):
            raise  # the caller moves the submission to another target, or ends the run
        except ProblemProgramError as error:
            return CompileOutcome(verdict=Verdict.JE, message=str(error), final=True)
        except SandboxError as error:
            return CompileOutcome(verdict=Verdict.JE, message=f"not compiled: {error}")


def why_unsuitable(target: Target, problem: Problem, policy: Policy) -> str | None:
    """Why a target is unsuitable for a problem under a policy; `None` if it is suitable."""
    if target.isolation.rank < policy.least_isolation.rank:
        more = "install the ioi_eval package on its workers" if target.is_remote else "see `ioi-eval doctor`"
        return (
            f"{target.name} offers isolation {target.isolation.value!r}, and {policy.least_isolation.value!r} is asked "
            f"for: {more}, or accept less with --isolation (least_isolation= in Python)"
        )
    if not target.has_own_scripts:
        programs = [program.source for program in (problem.checker, problem.method.manager) if program is not None]
        if target.has_python or not any(map(needs_python, programs)):
            return None
        return f"{target.name} has no python3, with which {problem.key} is judged: install it on its workers"
    from ioi_eval.jobs import scripts_job

    problem = scripts_job.to_standard(problem, policy.std)
    reasons = (scripts_job.why_package_cannot_judge_test(problem, case) for case in problem.tests.values())
    reason = next(filter(None, reasons), None)
    return reason and f"{target.name} cannot judge {problem.key}: {reason}; use the bundled profile"


def why_unsuitable_for_submission(target: Target, problem: Problem, submission: Submission) -> str | None:
    """Why a target is unsuitable for a submission, although it may judge others to the problem; `None` if it is not."""
    if submission.is_empty or submission.refused:
        return None
    if target.has_own_scripts:
        from ioi_eval.jobs import scripts_job

        return scripts_job.why_package_cannot_judge_submission(submission, problem.source_name)
    is_interpreted = submission.code is not None and not isinstance(rules_of(submission.language), CompiledLanguage)
    if problem.method.processes > 1 and is_interpreted and target.isolation is not Isolation.FULL:
        # Source: PROTOCOL.md, "The plan": programs with libraries could talk to each other
        return (
            f"submissions in Python with {problem.method.processes} processes need isolation 'full', and {target.name} "
            f"offers {target.isolation.value!r}"
        )
    return None


def _describe(target: Target, tool: Tool) -> str:
    named = tool.version if isinstance(tool, Toolchain) else str(tool)
    linking = ("static" if tool.static else "dynamic") if isinstance(tool, Toolchain) else ""
    parts = (target.name, target.profile, "" if named in target.name else named, linking)
    return ", ".join(filter(None, parts))


async def score_submission(
    sandbox: Sandbox,
    problem: Problem,
    submission: Submission,
    *,
    policy: Policy | None = None,
    artifacts: ArtifactStore | None = None,
    exhaustive: bool = False,
) -> SubmissionResult:
    """Judge one submission on a sandbox. (For several submissions, use one `Scorer`.)

    Args:
        sandbox: executes the jobs; entered already.
        problem: what the submission is for.
        submission: the program.
        policy: how it is judged.
        artifacts: stores the runner and judge programs; by default in the user's cache directory.
        exhaustive: run every test, whatever its subtasks score already.
    """
    store = artifacts or ArtifactStore()
    return await Scorer(sandbox, artifacts=store, policy=policy).score(problem, submission, exhaustive=exhaustive)
