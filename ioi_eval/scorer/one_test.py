"""Runs one submission on one test: a function with the name and the result of the one in huggingface/ioi.

Source: "IOI: Running tests" of huggingface/ioi, `run_submission` in `scoring.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import InputError
from ioi_eval.jobs import scripts_answer, scripts_job
from ioi_eval.jobs.scripts_job import Pair
from ioi_eval.model import Content, Execution, Retries
from ioi_eval.programs import Builder, with_retries
from ioi_eval.sandbox import Sandbox
from ioi_eval.scorer.scripts_judge import execute


async def run_submission(
    client: Sandbox,
    problem: Mapping[str, Any],
    test_input: str,
    submission: str,
    test_output: str | None = None,
    *,
    pair: Pair | None = None,
    artifacts: ArtifactStore | None = None,
) -> tuple[str, str]:
    """Execute a submission on one test.

    The job contains `graders/<problem_id>.cpp`, `input.txt`, `correct_output.txt` and the row's `grader_files`. It also
    contains our own scripts `compile` and `run`, and the runner, which judges. A worker that has only the `cms_ioi`
    package uses that package's scripts instead.

    Args:
        client: any sandbox that can run scripts: `LocalSandbox` with full isolation, or a cluster whose workers have
            the `ioi_eval`, the `bash` or the `cms_ioi` package. It must have been entered (`async with`).
        problem: a row of the problem data set: `id`, `time_limit` (s), `memory_limit` (bytes), `grader_files` (pairs
            of path and content; files without content are left out). Our own scripts also use `task_type`, `cxx_std`
            and `checker_protocol`.
        test_input: the test's input.
        submission: the program, in C++.
        test_output: the expected output. An empty one means that the program must print nothing (a worker with only
            `cms_ioi` takes it for a missing one). If it is missing and there is no checker, the program's output is
            the score.
        pair: your own scripts `compile` and `run`, which are used instead of all others.
        artifacts: stores the runner; by default in the user's cache directory.

    Returns:
        Score and feedback: what `run` prints to stdout and stderr, or `"0"` with "Compilation error exit code N" and
        the compiler's message, "Memory limit exceeded", "Time limit exceeded" or "Unknown error".

    Raises:
        InputError: the row lacks a field, a script of `pair` is empty, or `client` is not a sandbox.
            `UnsupportedError`: a worker with only `cms_ioi` would take another file for the submission.
        SandboxError: our failure, or that of the problem's checker or manager (with the `cms_ioi` package, only if its
            scripts report it). A failure that the scripts of `pair` do not report is "Unknown error", as in the
            README of huggingface/ioi.
    """
    _check_arguments(client, pair)
    # preferably one that is in service and that runs scripts
    target = max(client.targets(), key=lambda target: (target.slots > 0, not target.has_own_scripts))
    sent: Mapping[str, Content] | None = None  # the scripts of the target's package are used
    if pair is not None:
        sent = dict(zip(("compile", "run"), pair, strict=True))
    elif not target.has_own_scripts:
        sent = scripts_job.own_files(await Builder(client, artifacts or ArtifactStore(), Policy()).runner(target))
    job = scripts_job.row_job(problem, test_input, submission, test_output, beside=sent, max_wall_ms=target.max_wall_ms)
    if pair is not None:
        return scripts_answer.score_and_feedback(await client.execute(job, target))

    async def judge(retries: Retries) -> Execution:
        execution = await execute(client, replace(job, retries=retries), target)
        if target.has_own_scripts:
            scripts_answer.require_judged_by_package(execution)
        else:
            scripts_answer.require_judged(execution)
        return execution

    return scripts_answer.score_and_feedback(await with_retries(judge))


def _check_arguments(client: Sandbox, pair: Pair | None) -> None:
    if not callable(getattr(client, "execute", None)) or not callable(getattr(client, "targets", None)):
        raise InputError(
            f"client is of type {type(client).__name__}, where a sandbox is needed: `async with PistonCluster(url) as "
            "client`, or LocalSandbox() for this machine"
        )
    if pair is not None and not all(pair):
        raise InputError("pair: the scripts `compile` and `run` must not be empty")
