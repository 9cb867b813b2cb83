"""The same dump gives the same results, for any number of jobs at once and any division of tests into jobs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Policy
from ioi_eval.journal import Journal
from ioi_eval.kept_programs import KeptPrograms
from ioi_eval.model import Execution, Job
from ioi_eval.pipeline import Settings, score_dump
from ioi_eval.pipeline.contest import ContestFamily
from ioi_eval.pipeline.contest_dump import ContestDumpReader, RowSelection
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.report.result_files import result_rows
from ioi_eval.rows import open_source
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer

MEASURED = frozenset({"time_s", "wall_time_s", "memory_bytes", "cpu_s", "near_limit", "reran"})
"""Columns that may differ: times, memory, and those that depend on how close a time is to the limit."""

WAYS = ((1, 64), (1, 1), (4, 3))
"""Number of jobs at once, and maximum number of tests in a job."""


def unmeasured(value: Any) -> Any:
    """A row without the measured columns."""
    if isinstance(value, dict):
        return {name: unmeasured(inner) for name, inner in value.items() if name not in MEASURED}
    return [unmeasured(inner) for inner in value] if isinstance(value, list) else value


async def scored(
    dump: Path, out: Path, cache: Path, *, workers: int, bundle_tests: int, kept: KeptPrograms | None = None
) -> list[Any]:
    """The rows of a new `results.jsonl`, without the measured columns."""
    problems = load_problems(open_source(str(sample.problems())), open_source(str(sample.tests())), BlobStore(cache))
    with Journal(out, options={}, resume=False) as journal:
        async with LocalSandbox(slots=workers) as sandbox:
            policy = Policy(std="gnu++17")  # takes two thirds of the time of C++20
            artifacts = ArtifactStore(cache)
            scorer = Scorer(sandbox, artifacts=artifacts, policy=policy, bundle_tests=bundle_tests, kept_programs=kept)
            dump_reader = ContestDumpReader(
                open_source(str(dump)),
                RowSelection(),
                LoadingProblems.complete(problems),
                fingerprints=scorer.fingerprints,
            )
            outcome = await score_dump(
                out,
                ContestFamily(dump_reader, scorer),
                journal=journal,
                settings=Settings(jobs_at_once=workers),
                progress=progress_for(0, bar=False),
            )
    assert outcome.exit_code == 0
    return list(map(unmeasured, result_rows(out)))


def small_dump(cache: Path) -> Path:
    """A part of the sample dump: each verdict once, in different problems, and two programs twice."""
    rows = {json.loads(line)["uuid"]: line for line in sample.dump().open(encoding="utf-8")}
    stated = [json.loads(line) for line in sample.dump_expected().open(encoding="utf-8")]
    chosen: dict[str, Any] = {}
    for row in reversed(stated):
        chosen.setdefault(row["expected_verdict"], row)
    wanted = {row["uuid"] for row in chosen.values()} | {row["uuid"] for row in stated[:2]}
    dump = cache / "dump.jsonl"
    again = [line.replace(uuid, f"{uuid}-again") for uuid, line in rows.items() if uuid in wanted][-2:]
    dump.write_text("".join([line for uuid, line in rows.items() if uuid in wanted] + again), encoding="utf-8")
    return dump


def test_results_do_not_depend_on_workers_or_bundles(tmp_path: Path, cache: Path) -> None:
    """All ways give the same rows. The dump has each verdict, and copies.

    The runs in the first and the last way compile the programs; the other uses kept programs of the first.
    """
    dump, kept = small_dump(tmp_path), KeptPrograms(tmp_path / "cache")
    first, *others = [
        asyncio.run(
            scored(
                *(dump, tmp_path / str(n), cache),
                workers=workers,
                bundle_tests=bundle_tests,
                kept=kept if n < len(WAYS) - 1 else None,
            )
        )
        for n, (workers, bundle_tests) in enumerate(WAYS)
    ]
    assert {row["verdict"] for row in first} == {"AC", "PA", "WA", "TLE", "MLE", "OLE", "RE", "CE", "NC"}
    assert sum(row["duplicate_of"] is not None for row in first) >= 2
    for way, rows in zip(WAYS[1:], others, strict=True):
        assert rows == first, f"{way} against {WAYS[0]}"


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_the_whole_dump_scored_twice_is_the_same(tmp_path: Path, cache: Path) -> None:
    """The results are the same with one worker and with four, and with all tests in one job and in jobs of five."""
    ways = [(1, 64), (1, 64), (4, 64), (4, 5)]
    found = [
        asyncio.run(scored(sample.dump(), tmp_path / str(n), cache, workers=w, bundle_tests=b))
        for n, (w, b) in enumerate(ways)
    ]
    assert all(rows == found[0] for rows in found[1:])


WAITS = '#include <unistd.h>\n#include <cstdio>\nint main() { usleep(1100000); puts("1"); }'


def test_tests_that_a_job_does_not_start_run_in_another(
    full_bench: Any, problem_from: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that has taken long starts no further test. The other tests run in another job, each once."""
    jobs: list[Job] = []

    async def execute(sandbox: LocalSandbox, job: Job, target: Target) -> Execution:
        if any(file.name == "program" for file in job.files):
            jobs.append(job)
        return await unchanged(sandbox, job, target)

    unchanged = LocalSandbox.execute
    monkeypatch.setattr(LocalSandbox, "execute", execute)
    problem = problem_from(dict.fromkeys("abc", (b"", b"1\n")), time_limit_s=2.0)
    outcomes = full_bench.outcomes(problem, WAITS)
    assert len(jobs) == 2
    assert {name: outcome.verdict for name, outcome in outcomes.items()} == dict.fromkeys("abc", "AC")
