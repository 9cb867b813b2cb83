"""While tests are read, fewer programs are judged, and none alone."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

from ioi_eval.blobs import BlobStore
from ioi_eval.cli.sandboxes import OpenSandbox
from ioi_eval.cli.scoring import _leave_room_for_reading
from ioi_eval.model import Isolation
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.loading import LoadingProblems
from tests.pipeline.scripted import NILE
from tests.pipeline.test_loading_problems import HeldTests, LoadingContest
from tests.sandbox.local.test_local_turns import entered, job


def test_no_job_runs_alone_while_tests_are_read(cache: Path, tmp_path: Path) -> None:
    """Its time would not be that of a program alone on the machine. Other jobs run, one less at once, even those that
    were started later; so the job would run first if nothing held it back.
    """
    may_read = threading.Event()
    contest = LoadingContest(tmp_path / "contest")
    tests = HeldTests(contest.directory / "tests.jsonl", lambda _index: _wait(may_read))

    async def scenario() -> None:
        async with entered(cache, slots=2) as (sandbox, target, runner):
            drafts = ProblemSet(problems={NILE.key: replace(NILE, tests={})}, unusable={})
            problems = LoadingProblems.begin(drafts, tests, BlobStore(tmp_path / "cache"))
            opened = OpenSandbox(sandbox=sandbox, jobs_now=lambda: 2, least_isolation=Isolation.FULL)
            reading = asyncio.create_task(_leave_room_for_reading(opened, problems))
            alone = asyncio.create_task(sandbox.execute(job(runner, "true", alone=True), target))
            await asyncio.gather(*(sandbox.execute(job(runner, "true"), target) for _ in range(3)))
            assert sandbox.busy() == (1, 2)
            assert not alone.done()
            may_read.set()
            await alone
            await reading
            assert sandbox.busy() == (0, 2)

    try:
        asyncio.run(scenario())
    finally:
        may_read.set()


def _wait(event: threading.Event) -> None:
    assert event.wait(60)
