"""Compiled programs that are kept across runs, on a real sandbox: no program is compiled twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from ioi_eval import ArtifactStore, LocalSandbox, Scorer, Submission, SubmissionResult
from ioi_eval.kept_programs import KeptPrograms
from ioi_eval.model import Execution, Job, Subtask, TestCase, Verdict
from ioi_eval.sandbox import Target
from tests.small_problems import small_problem
from tests.test_kept_programs import entries, flip

PROBLEM = small_problem(
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"", answer=b"42\n")},
)
SUBMISSIONS = [
    Submission(id=str(number), problem=PROBLEM.key, code=code)
    for number, code in enumerate(
        (
            'extern "C" int puts(const char*); int main() { puts("42"); }',
            'extern "C" int puts(const char*); int main() { puts("41"); }',
            "int main() { return 3; }",
            "int main() { return x; }",
        )
    )
]
VERDICTS = [Verdict.AC, Verdict.WA, Verdict.RE, Verdict.CE]


class Counting:
    """A sandbox that counts the jobs that compile."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox, self.targets = sandbox, sandbox.targets
        self.compiled = 0

    async def execute(self, job: Job, target: Target) -> Execution:
        """Count and execute the job."""
        self.compiled += bool(job.returns)
        return await self._sandbox.execute(job, target)


async def judged(cache: Path, programs: KeptPrograms) -> tuple[list[SubmissionResult], int]:
    """All submissions in one run. Returns results and the number of jobs that compile."""
    async with LocalSandbox(slots=1) as sandbox:  # no slot is idle, and still each program is returned
        counting = Counting(sandbox)
        scorer = Scorer(counting, artifacts=ArtifactStore(cache), kept_programs=programs)
        results = [await scorer.score(PROBLEM, submission) for submission in SUBMISSIONS]
        return results, counting.compiled


def test_nothing_is_compiled_twice(cache: Path, tmp_path: Path) -> None:
    """Neither programs nor compile errors are compiled again. The results are the same, except for the time of
    compiling.
    """
    first, compiled = asyncio.run(judged(cache, KeptPrograms(tmp_path)))
    assert [result.verdict for result in first] == VERDICTS
    assert compiled > len(SUBMISSIONS)  # the known good program is compiled too, because one program is refused
    programs = KeptPrograms(tmp_path)
    second, compiled = asyncio.run(judged(cache, programs))
    assert compiled == 0
    assert "4 kept from earlier runs, 0 more" in programs.notes()[0]
    assert [result.verdict for result in second] == VERDICTS
    assert [result.compile for result in second] == [replace(result.compile, cpu_ms=0.0) for result in first]
    assert [result.fingerprint for result in second] == [result.fingerprint for result in first]


def test_damaged_programs_change_no_verdict(cache: Path, tmp_path: Path) -> None:
    """They are compiled again and stored again."""
    asyncio.run(judged(cache, KeptPrograms(tmp_path)))
    for path in entries(tmp_path):
        flip(path)
    for expected in (len(SUBMISSIONS) + 1, 0):
        results, compiled = asyncio.run(judged(cache, KeptPrograms(tmp_path)))
        assert [result.verdict for result in results] == VERDICTS
        assert compiled == expected
