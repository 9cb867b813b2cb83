"""Scores programs for APPS in a real sandbox; and problems for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation
from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row
from ioi_eval.sandbox.local.sandbox import LocalSandbox


def row(
    inputs: Sequence[Any], outputs: Sequence[Any], fn_name: str | None = None, *, starter_code: str = ""
) -> AppsProblem:
    """The problem of a row of the data set."""
    tests: dict[str, Any] = {"inputs": list(inputs), "outputs": list(outputs)}
    if fn_name is not None:
        tests["fn_name"] = fn_name
    values = {"problem_id": 7, "input_output": tests, "starter_code": starter_code}
    return apps_problem(Row(source="test", number=1, values=values), 0)


def score_all(
    cache: Path, programs: Sequence[tuple[AppsProblem, str]], settings: AppsSettings, strongest: Isolation
) -> list[AppsResult]:
    """Score programs one after the other on this machine, as the current user."""

    async def score() -> list[AppsResult]:
        async with LocalSandbox(slots=1, strongest=strongest) as sandbox:
            executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache), settings=settings)
            return [await executor.score(problem, code) for problem, code in programs]

    return asyncio.run(score())
