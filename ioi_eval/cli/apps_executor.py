"""The executor with which the commands of `ioi-eval apps` judge programs, and lines that describe it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.messages import tell
from ioi_eval.cli.readiness import make_ready, tell_limits
from ioi_eval.cli.sandboxes import OpenSandbox, SandboxOptions, opened
from ioi_eval.events import Events
from ioi_eval.jobs.harness import Interpreter
from ioi_eval.sandbox import Sandbox
from ioi_eval.sandbox.local.confinement import PATH
from ioi_eval.sandbox.local.inherited_limits import limit_of_threads_for_apps


def executor(
    sandbox: Sandbox, settings: AppsSettings, options: SandboxOptions, events: Events | None = None
) -> AppsExecutor:
    """The executor that judges programs in this sandbox, with the user's cache."""
    artifacts = ArtifactStore()
    return AppsExecutor(sandbox, artifacts=artifacts, settings=settings, max_jobs=options.workers, events=events)


@asynccontextmanager
async def opened_executor(
    options: SandboxOptions, settings: AppsSettings, events: Events | None = None, *, advice: str = ""
) -> AsyncIterator[tuple[OpenSandbox, AppsExecutor]]:
    """The sandbox, entered, and an executor that judges on it; the interpreter was started once.

    Args:
        advice: how to ask for other rules; added to the line that names ours.
    """
    async with opened(options, events=events) as entered:
        if options.is_here:
            (target,) = entered.sandbox.targets()
            tell_limits(limit_of_threads_for_apps(slots=target.slots))
        await make_ready(entered, [settings.memory_limit_bytes])
        judge = executor(entered.sandbox, settings, options, events)
        python = await judge.interpreter()
        tell(interpreter_line(python, settings.python, is_here=options.is_here))
        tell(_rules_line(settings, advice), *judge.without_python())
        yield replace(entered, jobs_now=lambda: jobs_now(options, judge)), judge


def _rules_line(settings: AppsSettings, advice: str) -> str:
    """One line that names the rules by which programs are judged; if they are ours, with this advice."""
    limit = f"{settings.cpu_s:g} s of CPU time per test"
    if settings.compat is not None:
        return f"judged by the rules of {settings.compat.name}, also where they differ from ours; {limit}"
    tests = "tests up to the first failure" if settings.fail_fast else "all tests"
    return f"judged by ioi_eval's own rules: outputs are compared by {settings.comparator}; {tests}; {limit}{advice}"


def interpreter_line(python: Interpreter, asked: str, *, is_here: bool) -> str:
    """One line: which interpreter runs the programs, whether it has numpy, and which other one a shell would start.

    Args:
        asked: its command, as the user gave it.
        is_here: whether it is on this machine.
    """
    numpy = f"numpy {python.numpy}" if python.numpy else "without numpy"
    text = f"programs are run by {python.path}: {python.version}, {numpy}"
    first = shutil.which(asked) if is_here and "/" not in asked else None
    if first is None or os.path.realpath(first) == os.path.realpath(python.path):
        return text
    return (
        f"{text}. It is not {first}, which comes first on your PATH, because boxes look in {PATH} only. To use another "
        "interpreter give its path with --python; other users must be able to read it"
    )


def jobs_now(options: SandboxOptions, executor: AppsExecutor) -> int:
    """How many jobs can run now: as the user said, else as many as the slots of the targets that can run them."""
    return options.workers or executor.slots or 1
