"""A scorer that follows instructions in a program's text, for tests of the code around a scorer."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import orjson

from ioi_eval.config import Unscored
from ioi_eval.errors import TransportError, UnavailableError
from ioi_eval.journal import Journal
from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Subtask,
    TestOutcome,
    Verdict,
)
from ioi_eval.pipeline import DumpOutcome, Settings, score_dump
from ioi_eval.pipeline.contest import ContestFamily
from ioi_eval.pipeline.contest_dump import ContestDumpReader, RowSelection
from ioi_eval.pipeline.progress import Progress
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.report.result_files import result_rows
from ioi_eval.rows import open_source
from ioi_eval.scores import submission_result
from tests.small_problems import small_problem

NILE = small_problem(
    day="1",
    time_limit_s=2.0,
    subtasks=(
        Subtask(name="00-samples", points=0, tests=("0-01",)),
        Subtask(name="01-easy", points=40, tests=("0-01", "1-01")),
        Subtask(name="02-full", points=60, tests=("0-01", "1-01", "2-01")),
    ),
    notes=("final newline added to 3 tests",),
)
TREE = replace(NILE, key=ProblemKey(year=2024, id="tree"), name="Tree", day="practice", notes=())
PROBLEMS: Mapping[ProblemKey, Problem] = {problem.key: problem for problem in (NILE, TREE)}


class ScriptedScorer:
    """Follows words in the program. Text after `//` only makes programs different.

    `S1 S2 S3`: the scores of the three tests; `CE`; `JE`: a failure of ours; `final`: a failure of the judge program;
    `unsuitable`: no target may judge it; `gone`: no endpoint left; `bug`: a bug of ours; `odd`: a bug of ours that only
    an odd row causes; `wait`: does not end by itself; `stubborn`: does not end when it is cancelled either.

    Args:
        version: another version gives other fingerprints.
        before: is called with every submission before it is judged.
        held: by the id of a submission, the id of another one that must be read before the first is judged.
    """

    def __init__(
        self,
        version: str = "1",
        before: Callable[[Submission], None] | None = None,
        *,
        held: Mapping[str, str] | None = None,
    ) -> None:
        self.judged: list[str] = []
        self.at_once = self.max_at_once = 0
        self._version = version
        self._before = before
        self._held = held or {}
        self._read = {until: threading.Event() for until in self._held.values()}

    def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
        """The fingerprint for this version."""
        if submission.id in self._read:
            self._read[submission.id].set()
        return (f"{self._version}:{problem.key}:{submission.code}{submission.refused}",)

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Follow the program's words."""
        if until := self._held.get(submission.id):
            assert await asyncio.to_thread(self._read[until].wait, 60)
        self.judged.append(submission.id)
        if self._before is not None:
            self._before(submission)
        self.at_once += 1
        self.max_at_once = max(self.at_once, self.max_at_once)
        try:
            await asyncio.sleep(0)
            return await self._score(problem, submission, exhaustive)
        finally:
            self.at_once -= 1

    async def _score(self, problem: Problem, submission: Submission, exhaustive: bool) -> SubmissionResult:
        words = (submission.code or "").split("//")[0].split()
        if "wait" in words:
            await asyncio.Event().wait()
        while "stubborn" in words:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        if "gone" in words:
            raise UnavailableError("no endpoint left for 60 s")
        if "JE" in words:
            raise TransportError("the answer was cut off")
        if "bug" in words:
            raise AssertionError("a bug")
        if "odd" in words:
            raise ValueError("an odd row")
        compiled = CompileOutcome(verdict=None, cpu_ms=500)
        if submission.code is None:
            verdict = Verdict.CE if submission.refused else Verdict.NC
            compiled = CompileOutcome(verdict=verdict, message=submission.refused or "no code found")
        elif "unsuitable" in words:
            compiled = CompileOutcome(verdict=Verdict.JE, message="use the bundled profile", all_unsuitable=True)
        elif "CE" in words:
            compiled = CompileOutcome(verdict=Verdict.CE, message="error: expected ';'", cpu_ms=100)
        scores = [float(word) for word in words if word[0].isdigit()] + [1.0, 1.0, 1.0]
        outcomes = {
            name: TestOutcome(
                test=name,
                verdict=Verdict.AC if score == 1 else Verdict.PA if score else Verdict.WA,
                score=score,
                message="Output is correct" if score == 1 else "translate:wrong",
                cpu_ms=12.5,
                wall_ms=20,
                memory_bytes=1_000_000,
                attempted={"socket": 2} if "socket" in words else {},
                check_cpu_ms=3,
            )
            for name, score in zip(problem.tests, scores, strict=False)
        }
        if "final" in words:
            outcomes["2-01"] = TestOutcome(
                test="2-01", verdict=Verdict.JE, score=None, final=True, message="checker crashed"
            )
        return submission_result(
            problem,
            submission,
            compiled,
            outcomes,
            target="local, bundled, g++ 12.2.0, static",
            isolation=Isolation.FULL if compiled.verdict is None else None,
            keep_all=exhaustive,
        )


class Silent(Progress):
    """A progress display that records what it is given and shows nothing."""

    every_s = math.inf

    def __init__(self, total: int = 0, stream: TextIO | None = None, **options: Any) -> None:
        super().__init__(total, stream, **options)
        self.verdicts: list[str] = []
        self.tests = 0

    def advance(self, verdict: str, tests: int = 0, *, has_program: bool = True) -> None:
        """Record it."""
        self.tally.count(verdict, tests, has_program=has_program)
        self.verdicts.append(verdict)
        self.tests += tests

    def _show(self, now: float) -> None:
        pass


class Contest:
    """A directory with a dump, and runs over it.

    Args:
        directory: the directory of all files.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.dump = directory / "dump.jsonl"
        self.out = directory / "out"
        self.problems: Mapping[ProblemKey, Problem] = PROBLEMS
        self.progress = Silent()

    def write(self, *rows: Mapping[str, Any]) -> None:
        """Write the dump."""
        self.dump.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))

    def dump_reader(self, scorer: ScriptedScorer, selection: RowSelection | None = None) -> ContestDumpReader:
        """A reader of the dump."""
        problems = ProblemSet(problems=self.problems, unusable={})
        return ContestDumpReader(
            open_source(self.dump),
            selection or RowSelection(),
            LoadingProblems.complete(problems),
            fingerprints=scorer.fingerprints,
        )

    def run(
        self,
        scorer: ScriptedScorer,
        *,
        resume: bool = True,
        selection: RowSelection | None = None,
        unscored: Unscored = Unscored.NULL,
        journal: Callable[..., Journal] = Journal,
        **settings: Any,
    ) -> DumpOutcome:
        """Score the dump."""
        self.progress = Silent()
        with journal(self.out, options={}, resume=resume) as kept:
            return asyncio.run(
                score_dump(
                    self.out,
                    ContestFamily(self.dump_reader(scorer, selection), scorer, unscored=unscored),
                    journal=kept,
                    settings=Settings(**{"jobs_at_once": 3, "spare": 0, **settings}),
                    progress=self.progress,
                )
            )

    def results(self) -> list[dict[str, Any]]:
        """The rows of results."""
        return list(result_rows(self.out))


def programs(*texts: str | None, problem: str = "nile") -> list[dict[str, Any]]:
    """Rows of a dump with these programs."""
    return [
        {"uuid": f"u{number}", "year": 2024, "problem_id": problem, "code": text, "prompt": f"prompt {number}"}
        for number, text in enumerate(texts)
    ]
