"""The comparators by which a reference solution passes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ioi_eval.apps import verdicts
from ioi_eval.apps.audit import RowFinding, RowFindingKind, with_comparators
from ioi_eval.apps.catalog import CatalogEntry
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, StdinTest

PROBLEM = AppsProblem(id="1", index=1, tests=(StdinTest(number=0, given="1\n", expected="2\n"),), inputs=1, outputs=1)
ENTRY = CatalogEntry(
    id="1", instance_id="apps_1", difficulty="", tests=1, digest="", fault=None, unusable="", offset=0, size=0
)
FINDING = RowFinding(entry=ENTRY, kind=RowFindingKind.TESTS, reason="0 of 1 reference solutions pass")


@dataclass
class EveryTest:
    """An executor under which each test has the same verdict."""

    verdict: Verdict

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002 - any program
        """Judge a program."""
        score = None if self.verdict is Verdict.JE else float(self.verdict is Verdict.AC)
        return verdicts.result_of(
            problem, {"0": TestOutcome(test="0", verdict=self.verdict, score=score)}, AppsSettings()
        )


def test_a_comparator_by_which_judging_failed_is_named() -> None:
    """Whether it accepts the solution is not known, which is not a no."""
    executors = {
        "tokens": EveryTest(Verdict.AC),
        "case-insensitive": EveryTest(Verdict.WA),
        "unordered-lines": EveryTest(Verdict.JE),
    }
    row = asyncio.run(with_comparators(FINDING, executors, PROBLEM, "print(2)")).as_row()
    assert row["passes_by"] == ["tokens"]
    assert row["undecided_by"] == ["unordered-lines"]
