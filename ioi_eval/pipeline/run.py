"""Judging a dump: a fixed number of workers, one window, one journal.

A feeder reads rows, in a thread, and decides about each: an earlier run has judged it; an identical program was
judged; an identical program is being judged (it *follows* that one, its leader); or it waits in the window.
Workers take from the window. A result is in the journal before it counts as done, and then its followers get
records that name it. A judge error is never passed on: the first follower becomes a leader itself.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ioi_eval.errors import SandboxError, UnavailableError
from ioi_eval.model import CompileOutcome, Problem, Submission, SubmissionResult, Verdict
from ioi_eval.pipeline.intake import Accepted, Intake, Refused
from ioi_eval.pipeline.ledger import Ledger, blames_the_sandbox, kind_of
from ioi_eval.pipeline.progress import Progress
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.window import Candidate, Costs, Window
from ioi_eval.report.tally import CpuSplit
from ioi_eval.scores import submission_result

BATCH_ROWS = 32
BATCH_CODE = 8 * 1024 * 1024
FOLLOWERS = 4096  # how many copies may wait for leaders before reading pauses
GIVE_UP_AFTER = 100  # failures of ours in a row: the sandbox is broken, and a million rows would only say so slowly
BEAT_S = 1.0


class Judge(Protocol):
    """What judges one submission: `ioi_eval.scorer.Scorer`."""

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Judge it."""
        ...

    def fingerprint(self, problem: Problem, submission: Submission) -> str:
        """A hash of everything that determines the outcome. Called from another thread."""
        ...


@dataclass(slots=True, kw_only=True)
class Done:
    """What a run has done.

    Args:
        judged: how many it judged.
        copies: how many took over the result of an identical program.
        resumed: how many an earlier run had judged.
        cpu: what judging took.
        wall_s: how long it took.
        stopped_by: why it ended early by itself; `None` if it did not.
    """

    judged: int = 0
    copies: int = 0
    resumed: int = 0
    cpu: CpuSplit = field(default_factory=CpuSplit)
    wall_s: float = 0.0
    stopped_by: str | None = None


class Run:
    """One judging of a dump.

    Args:
        intake: the dump's rows.
        judge: judges one.
        ledger: where results go.
        workers: how many are judged at once.
        progress: is told of every row.
        dedupe: identical programs are judged once.
        retry_failed: judge again what a judge program had failed at.
    """

    def __init__(
        self,
        intake: Intake,
        judge: Judge,
        ledger: Ledger,
        *,
        workers: int,
        progress: Progress,
        dedupe: bool = True,
        retry_failed: bool = False,
    ) -> None:
        self.done = Done()
        self._intake, self._judge, self._ledger = intake, judge, ledger
        self._workers, self._progress = workers, progress
        self._dedupe, self._retry_failed = dedupe, retry_failed
        self._costs = Costs()
        self._window = Window(self._costs)
        self._changed = asyncio.Condition()
        self._following: dict[bytes, deque[Candidate]] = {}
        self._followers = 0
        self._late: list[tuple[Candidate, int]] = []
        self._in_flight = 0
        self._fed = False
        self._failures_in_a_row = 0

    async def execute(self) -> None:
        """Judge everything that is not judged yet.

        Returns early, with `done.stopped_by`, when the sandbox is beyond use.

        Raises:
            ExceptionGroup: of `SetupError` where the journal cannot be written, or this machine lacks something.
        """
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as beating:
                beat = beating.create_task(self._beat())
                async with asyncio.TaskGroup() as working:
                    working.create_task(self._feed())
                    for _ in range(self._workers):
                        working.create_task(self._work())
                beat.cancel()
        finally:
            self.done.wall_s = time.monotonic() - started

    async def _beat(self) -> None:
        """Keep the journal's promise of seconds also while nothing new comes."""
        while True:
            await asyncio.sleep(BEAT_S)
            await in_thread(self._ledger.journal.sync_if_due)

    # ------------------------------------------------------------------ reading

    async def _feed(self) -> None:
        entries = self._intake.entries()
        while not self.done.stopped_by and (batch := await in_thread(_batch, entries)):
            copies: list[tuple[Candidate, int]] = []
            for entry in batch:
                if isinstance(entry, Refused):
                    self._progress.advance("refused")
                elif not self._is_known(entry, copies):
                    await self._enqueue(_candidate(entry))
            await self._copy(copies)
        async with self._changed:
            self._fed = True
            self._changed.notify_all()

    def _is_known(self, entry: Accepted, copies: list[tuple[Candidate, int]]) -> bool:
        """Whether there is nothing to judge: this submission, or the same program, was judged before."""
        stored = self._ledger.journal.find(entry.keys)
        if stored is not None and not (stored.failed and self._retry_failed):
            self.done.resumed += 1
            self._progress.advance("resumed")
            return True
        if not self._may_copy(entry.submission) or (leader := self._ledger.journal.leader(entry.keys)) is None:
            return False
        copies.append((_candidate(entry), leader))
        return True

    def _may_copy(self, submission: Submission) -> bool:
        return self._dedupe and submission.code is not None

    async def _enqueue(self, candidate: Candidate) -> None:
        async with self._changed:
            await self._changed.wait_for(
                lambda: self.done.stopped_by or (not self._window.full and self._followers < FOLLOWERS)
            )
            self._lead_or_follow(candidate)
            self._changed.notify_all()
        await self._copy_late()

    def _lead_or_follow(self, candidate: Candidate) -> None:
        program = candidate.keys.program
        if self._may_copy(candidate.submission):
            leader = self._ledger.journal.leader(candidate.keys)
            if leader is not None:  # judged while this one waited for room
                self._late.append((candidate, leader))
                return
            if program in self._following:
                self._following[program].append(candidate)
                self._followers += 1
                return
            self._following[program] = deque()
        self._window.put(candidate)

    # ------------------------------------------------------------------ judging

    async def _work(self) -> None:
        while (candidate := await self._next()) is not None:
            result = await self._score(candidate)
            await self._record(candidate, result)
            async with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    async def _next(self) -> Candidate | None:
        """The next to be judged; `None` when no more can come."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: len(self._window) or self.done.stopped_by or (self._fed and not self._in_flight)
            )
            candidate = None if self.done.stopped_by else self._window.take()
            if candidate is not None:
                self._in_flight += 1
            self._changed.notify_all()
            return candidate

    async def _score(self, candidate: Candidate) -> SubmissionResult:
        try:
            result = await self._judge.score(candidate.problem, candidate.submission)
        except SandboxError as error:
            if isinstance(error, UnavailableError):
                self.done.stopped_by = str(error)
            failure = CompileOutcome(verdict=Verdict.JE, message=str(error))
            return submission_result(candidate.problem, candidate.submission, failure, {})
        cpu = CpuSplit.of(result)
        self.done.cpu += cpu
        self._costs.observe(candidate.problem, cpu.total)
        return result

    # ------------------------------------------------------------------ recording

    async def _record(self, candidate: Candidate, result: SubmissionResult) -> None:
        leader = await in_thread(self._ledger.record, candidate, result)
        self.done.judged += 1
        self._progress.advance(result.verdict)
        self._watch(result)
        followers = self._following.pop(candidate.keys.program, None) or deque()
        self._followers -= len(followers)
        if leader is not None:
            await self._copy([(follower, leader) for follower in followers])
        else:
            for follower in followers:
                self._lead_or_follow(follower)
            await self._copy_late()

    async def _copy_late(self) -> None:
        late, self._late = self._late, []
        await self._copy(late)

    async def _copy(self, copies: Sequence[tuple[Candidate, int]]) -> None:
        if copies:
            await in_thread(self._ledger.record_copies, copies)
            self.done.copies += len(copies)
            for _ in copies:
                self._progress.advance("copy")

    def _watch(self, result: SubmissionResult) -> None:
        """Give up on a sandbox that fails every time."""
        if kind_of(result) is not None:
            self._failures_in_a_row = 0
        elif blames_the_sandbox(result):
            self._failures_in_a_row += 1
        if self._failures_in_a_row >= GIVE_UP_AFTER and not self.done.stopped_by:
            self.done.stopped_by = f"{GIVE_UP_AFTER} submissions in a row could not be judged"


def _candidate(entry: Accepted) -> Candidate:
    return Candidate(problem=entry.problem, submission=entry.submission, fingerprint=entry.fingerprint, keys=entry.keys)


def _batch(entries: Iterator[Accepted | Refused]) -> list[Accepted | Refused]:
    """The next rows: few enough to be held, many enough to be worth a change of threads."""
    batch: list[Accepted | Refused] = []
    held = 0
    for entry in itertools.islice(entries, BATCH_ROWS):
        batch.append(entry)
        held += len(entry.submission.code or "") if isinstance(entry, Accepted) else 0
        if held > BATCH_CODE:
            break
    return batch
