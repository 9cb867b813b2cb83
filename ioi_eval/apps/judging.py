"""What is particular to APPS in a run: how a program is judged, and how its result is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from ioi_eval.apps.catalog import Catalog
from ioi_eval.apps.codec import decode_result, encode_result
from ioi_eval.apps.fingerprints import fingerprint_of
from ioi_eval.apps.intake import AppsCandidate
from ioi_eval.apps.outcomes import AppsResult
from ioi_eval.journal import RecordKind
from ioi_eval.model import Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.pipeline.ledger import Format
from ioi_eval.pipeline.run import Told
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.report.tally import CpuSplit


class Executor(Protocol):
    """What judges one program: `ioi_eval.apps.execution.AppsExecutor`."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:
        """Judge it."""
        ...


class AppsJudging:
    """Judges submissions to APPS problems.

    Args:
        executor: judges one.
        catalog: the problems.
        judged_by: the rules in a word.
    """

    def __init__(self, executor: Executor, catalog: Catalog, judged_by: str) -> None:
        self._executor, self._catalog, self.judged_by = executor, catalog, judged_by

    async def judge(self, candidate: AppsCandidate) -> AppsResult:
        """Judge one. Where there is no program there is nothing to run: no test is passed."""
        submission = candidate.submission
        if submission.code is None:
            verdict, words = (Verdict.CE, submission.refused) if submission.refused else (Verdict.NC, "no code found")
            return self._nothing(candidate, verdict, words)
        problem = await in_thread(self._catalog.problem, candidate.listed.id)
        result = await self._executor.score(problem, submission.code)
        if not result.way:
            return result
        return replace(result, fingerprint=fingerprint_of(result.way, candidate.listed.digest, submission))

    def failed(self, candidate: AppsCandidate, words: str) -> AppsResult:
        """The result of one that our sandbox failed at."""
        return self._nothing(candidate, Verdict.JE, words)

    def told(self, result: AppsResult) -> Told:
        """What a run needs to know of a result."""
        kept = kind_of(result) is not None
        run_s = math.fsum(test.time_s or 0.0 for test in result.tests)
        blames_sandbox = not kept and blames_the_sandbox(result)
        return Told(
            verdict=result.verdict,
            cpu=CpuSplit(run=run_s),
            kept=kept,
            blames_sandbox=blames_sandbox,
            fingerprint=result.fingerprint,
        )

    def _nothing(self, candidate: AppsCandidate, verdict: Verdict, words: str) -> AppsResult:
        return AppsResult(
            problem=candidate.listed.id,
            verdict=verdict,
            passed=0,
            total=candidate.listed.tests,
            judged_by=self.judged_by,
            message=words,
        )


def kind_of(result: AppsResult) -> RecordKind | None:
    """As what a result is kept: not at all where we failed, as final where the comparator's checker did.

    Another grader's own failure is its result.
    """
    if result.verdict is not Verdict.JE or (result.graded is not None and result.graded.crash):
        return RecordKind.RESULT
    errors = [test for test in result.tests if test.verdict is Verdict.JE]
    return RecordKind.FAILED if errors and all(test.final for test in errors) else None


APPS_FORMAT = Format(encode=encode_result, decode=decode_result, kind=kind_of, tests=lambda result: len(result.tests))
"""Results of APPS problems in the journal."""


def blames_the_sandbox(result: AppsResult) -> bool:
    """Whether a judge error says that the sandbox failed, rather than a checker, or that the row has a fault."""
    errors = [test for test in result.tests if test.verdict is Verdict.JE]
    return result.fault is None and (not errors or any(test.judge_program is None for test in errors))
