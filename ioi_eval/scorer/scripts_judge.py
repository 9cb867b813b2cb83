"""Judges a submission with a worker's own scripts (the `cms_ioi` package): one test per job.

Each job compiles program, grader and checker again, because these scripts cannot do otherwise. What is repeated, and
why:
- a compilation that a limit stopped, or may have stopped: once more, alone on the machine, before it counts;
- a compilation that fails after another one succeeded: the machine's fault, because the program is the same;
- a job whose answer is not certain.
A checker or manager that failed is a final JE. Times are not known, so no test is repeated for being near the limit.
"""

from __future__ import annotations

from dataclasses import replace

from ioi_eval.config import Policy
from ioi_eval.engine.scheduling import outcome_of_failure
from ioi_eval.errors import SandboxError, TransientError, UnavailableError
from ioi_eval.jobs import scripts_answer, scripts_job
from ioi_eval.jobs.scripts_answer import is_doubtful
from ioi_eval.model import CompileOutcome, Execution, Job, Retries, Verdict
from ioi_eval.programs import with_retries
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.scorer.submission_run import SubmissionRun

_MAX_FAILED = 3
"""If this many tests fail, and no test has another outcome, the worker is at fault: no others are tried."""


async def judge(run: SubmissionRun, sandbox: Sandbox, policy: Policy) -> CompileOutcome:
    """Run one test after the other until no other test can change the result.

    SandboxError if it is not known whether the program compiles, or if no test has an outcome.
    """
    code = run.submission.code
    assert code is not None, "`why_unsuitable_for_submission` says that it cannot be judged here"
    problem = scripts_job.to_standard(run.problem, policy.std)
    run.note_isolation(run.target.isolation)
    judging, compiled = run.judging, None
    while not judging.is_done():
        test = judging.pending()[0].test
        job = scripts_job.job(problem, problem.tests[test], code)
        compiled = await _run_test(run, sandbox, test, job, compiled)
        if compiled.verdict is not None:
            return compiled
    return compiled or CompileOutcome(verdict=None)


async def execute(sandbox: Sandbox, job: Job, target: Target) -> Execution:
    """Execute a job of scripts; once more, alone on the machine, if it is in doubt whether the program compiles."""
    execution = await sandbox.execute(job, target)
    return await sandbox.execute(replace(job, alone=True), target) if is_doubtful(execution) else execution


async def _run_test(
    run: SubmissionRun, sandbox: Sandbox, test: str, job: Job, compiled: CompileOutcome | None
) -> CompileOutcome:
    """Judge one test and record its outcome, unless the compilation failed.

    `compiled` is the outcome of the compilation on an earlier test, if there was one. SandboxError if it is not known
    whether the program compiles, or no test has an outcome.
    """

    async def attempt(retries: Retries) -> CompileOutcome:
        nonlocal compiled
        execution = await execute(sandbox, replace(job, retries=retries), run.target)
        limits = scripts_job.COMPILE_LIMITS
        outcome = scripts_answer.compile_outcome(
            execution, memory_limit_bytes=limits.memory_bytes, cpu_limit_ms=limits.cpu_ms
        )
        if outcome.verdict is None:
            compiled = outcome
            run.judging.record(scripts_answer.test_outcome(execution, test))
        elif compiled is not None:
            raise TransientError(f"a program that compiled before does not any more: {outcome.message}")
        return outcome

    try:
        return await with_retries(attempt)
    except UnavailableError:
        raise
    except SandboxError as error:
        if compiled is None:
            raise
        run.judging.record(outcome_of_failure(test, str(error)))
        outcomes = run.judging.outcomes().values()
        if len(outcomes) >= _MAX_FAILED and all(each.verdict is Verdict.JE for each in outcomes):
            raise
        return compiled
