"""Shared fixtures: boxes for Python programs, and one sandbox for each isolation level."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation
from ioi_eval.model.apps import AppsProblem
from ioi_eval.sandbox.local.sandbox import LocalSandbox

Score = Callable[..., AppsResult]


@pytest.fixture(scope="session", params=["full", "reduced"])
def score(request: pytest.FixtureRequest, cache: Path) -> Iterator[Score]:
    """Scores a program on this machine: `score(problem, code, **settings)`, at each isolation level."""
    with asyncio.Runner() as loop:
        sandbox = LocalSandbox(slots=1, strongest=Isolation(request.param))
        loop.run(sandbox.__aenter__())
        store = ArtifactStore(cache)
        executors: dict[str, AppsExecutor] = {}

        def score_one(problem: AppsProblem, code: str, **settings: object) -> AppsResult:
            """One executor is used for each setting, so that the interpreter is queried once."""
            wanted = AppsSettings(**settings)  # type: ignore[arg-type]
            new = AppsExecutor(sandbox, artifacts=store, settings=wanted)
            return loop.run(executors.setdefault(repr(wanted), new).score(problem, code))

        try:
            if sandbox.targets()[0].isolation.value != request.param:
                pytest.skip(f"no {request.param} isolation here: {sandbox.why_not_full}")
            yield score_one
        finally:
            loop.run(sandbox.__aexit__(None, None, None))
