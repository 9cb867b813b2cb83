"""Judges the submissions of a dump that have no stored result yet, and stores their results.

In: the dump's submissions and refused rows. Out: for each submission a record in the `ResultStore`, from which the
result files are written afterwards; and `DumpJudge.counts`.

One task, the feeder, reads entries. Other tasks, the workers, judge: as many as the sandbox has use for, and more if a
cluster grows. What the feeder does with an entry is the first of these that applies:

1. The row is refused: it is only counted.
2. An earlier run has judged the submission: it is only counted.
3. It has no program: it is judged immediately, because nothing is run.
4. Its program has a result, of another submission: as a *copy* it gets a record that refers to that result.
5. Its program waits or is being judged, for another submission, the leader: it follows that one (`Leaders`).
6. Otherwise it leads, and waits in the window, from which the workers take it.

What always holds:

- A result is stored before it is counted, and before the records of its copies are stored.
- A failure of ours becomes a result without a score. Followers do not take over such a result, nor any other JE: they
  are handled as in 4 to 6 again, so the first of them leads. (Where the other grader of `--compat` itself fails on the
  row, JE is a result like any other.)
- After `MAX_FAILURES` failures of the sandbox in a row the run ends. A bug of ours in one row does not count.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic

from ioi_eval.concurrency import in_thread
from ioi_eval.errors import ODD_DATA, SandboxError, UnavailableError, internal_error_text
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.family import JudgingEnd, ProblemFamily, ResultFacts
from ioi_eval.pipeline.progress import Progress, with_progress
from ioi_eval.pipeline.result_store import ResultStore, ResultT
from ioi_eval.pipeline.settings import Settings
from ioi_eval.pipeline.tally import COPY, REFUSED, RESUMED
from ioi_eval.pipeline.window import CandidateT, Leaders, Window
from ioi_eval.report.run_summary import RunCounts

BATCH_ROWS = 256  # a change of threads takes as long as five rows
BATCH_CODE = 8 * 1024 * 1024

MAX_FAILURES = 100
"""If the sandbox fails on so many submissions in a row, it is broken, and the run ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Generic[ResultT]):
    """A submission that was judged."""

    result: ResultT
    facts: ResultFacts
    seconds: float


class DumpJudge(Generic[CandidateT, ResultT]):
    """One judging of a dump."""

    def __init__(
        self,
        family: ProblemFamily[CandidateT, ResultT],
        store: ResultStore[ResultT],
        *,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self.counts = RunCounts()
        self.store, self.settings, self.progress = store, settings, progress
        self._family, self._entries = family, family.dump_reader.entries(store.journal.index.stored_level)
        self._window: Window[CandidateT] = Window()
        self._leaders: Leaders[CandidateT] = Leaders(store.journal, enabled=settings.dedupe)
        self._failures = 0  # of the sandbox, since the last program that was judged
        lock = asyncio.Lock()
        self._room, self._queued = asyncio.Condition(lock), asyncio.Condition(lock)  # the feeder's; the workers'
        self._empty: dict[bytes, tuple[Judged[ResultT], int]] = {}  # by program key: what rows without a program get
        self._workers = self._in_flight = 0
        self._all_read = False

    async def execute(self) -> None:
        """Judge everything that is not judged yet.

        It returns early, with `counts.stopped_by`, if the sandbox cannot be used any more.

        Raises:
            ExceptionGroup: of `SetupError` if the journal cannot be written, or this machine lacks something; of
                `InputError` if problems cannot be read, or a comparator's checker does not compile.
        """
        started = time.monotonic()
        try:
            await with_progress(self.progress, self._feed_and_work(), check=self._check)
        finally:
            self.counts.wall_s = time.monotonic() - started

    async def _feed_and_work(self) -> None:
        async with asyncio.TaskGroup() as self._tasks:
            self._tasks.create_task(self._feed())
            self._start_workers(self.settings.jobs_at_once)

    def _start_workers(self, jobs: int) -> None:
        """Start workers until there are enough for so many jobs at once."""
        self.counts.jobs_at_once = max(self.counts.jobs_at_once, jobs)
        for _ in range(self._workers, jobs + self.settings.spare):
            self._workers += 1
            self._tasks.create_task(self._work())

    def _check(self) -> None:
        """Check that the journal still exists, and sync it in time, also while there are no new results.

        If problems could not be read, raise that error, even if all rows of the dump have been read by then.
        """
        self.store.journal.require_in_place()
        self.store.journal.sync_if_due()
        if not self._family.dump_reader.may_wait:
            self._family.await_problems()

    # ------------------------------------------------------------------ reading

    async def _feed(self) -> None:
        while not self.counts.stopped_by and (batch := await in_thread(self._next_batch)):
            copies: list[tuple[CandidateT, int]] = []
            empty: list[CandidateT] = []
            for entry in batch:
                self.progress.tally.count_read()
                if isinstance(entry, Refused):
                    self.progress.advance(REFUSED)
                    self.settings.events.emit("row_refused", message=entry.message)
                elif self.store.journal.index.is_judged(entry.keys, retry_failed=self.settings.retry_failed):
                    self.counts.resumed += 1
                    self.progress.advance(RESUMED)
                elif entry.size is None:
                    empty.append(entry)
                elif (leader_offset := self._leaders.result_offset(entry)) is not None:
                    copies.append((entry, leader_offset))
                else:
                    await self._enqueue(entry)
            await self._record_copies(copies)
            await self._judge_empty(empty)
        async with self._queued:
            self._all_read = True
            self._queued.notify_all()

    async def _judge_empty(self, candidates: Sequence[CandidateT]) -> None:
        """Judge the rows of a batch without a program: the first for each problem and message; the rest get copies."""
        same: list[tuple[CandidateT, int]] = []
        for candidate in candidates:
            if self.counts.stopped_by:
                break
            if (known := self._empty.get(candidate.keys.program)) is not None:
                same.append((candidate, known[1]))
                continue
            judged, leader_offset = await in_thread(self._store, candidate, await self._judge(candidate))
            if self.settings.dedupe and leader_offset is not None:
                self._empty[candidate.keys.program] = judged, leader_offset
            self._count(candidate, judged)
        copied = await in_thread(self.store.record_copies, same) if same else []
        for copy in copied:
            self._count(copy, self._empty[copy.keys.program][0])

    def _next_batch(self) -> list[CandidateT | Refused]:
        """The next entries; none at the end. Only one, as long as reading a row may wait for its problem."""
        batch: list[CandidateT | Refused] = []
        held = 0
        rows = 1 if self._family.dump_reader.may_wait else BATCH_ROWS
        for entry in itertools.islice(self._entries, rows):
            batch.append(entry if isinstance(entry, Refused) else entry.candidate)
            held += 0 if isinstance(entry, Refused) else (entry.candidate.size or 0)
            if held > BATCH_CODE:
                break
        return batch

    async def _enqueue(self, candidate: CandidateT) -> None:
        """Let a submission lead or follow, once there is room; its program may get a result meanwhile."""
        async with self._room:
            await self._room.wait_for(lambda: self.counts.stopped_by or not (self._window.full or self._leaders.full))
            leader_offset = self._lead_or_follow(candidate)
            self._queued.notify()  # only one: a thousand workers may be waiting
        if leader_offset is not None:
            await self._record_copies([(candidate, leader_offset)])

    def _lead_or_follow(self, candidate: CandidateT) -> int | None:
        """Let a submission lead, and put it into the window, or let it follow its leader. If its program has a result,
        only return its offset in the journal: the caller then records a copy of it."""
        if (leader_offset := self._leaders.result_offset(candidate)) is not None:
            return leader_offset
        if self._leaders.lead(candidate):
            self.progress.tally.count_queued()
            self._window.put(candidate)
        return None

    # ------------------------------------------------------------------ judging

    async def _work(self) -> None:
        while (candidate := await self._next()) is not None:
            await self._finish(candidate, await self._judge(candidate))
            async with self._room:
                self._in_flight -= 1
                self._room.notify()
                if self.counts.stopped_by or len(self._window) or not self._in_flight:
                    self._queued.notify_all()

    async def _next(self) -> CandidateT | None:
        """The next submission to be judged; `None` if no more can come."""
        async with self._queued:
            await self._queued.wait_for(
                lambda: len(self._window) or self.counts.stopped_by or (self._all_read and not self._in_flight)
            )
            candidate = None if self.counts.stopped_by else self._window.take()
            if candidate is not None:
                self._in_flight += 1
                if self.settings.jobs_now is not None:
                    self._start_workers(self.settings.jobs_now())
            self._room.notify()
            return candidate

    async def _judge(self, candidate: CandidateT) -> Judged[ResultT]:
        """Judge a submission; a failure of ours becomes a result without a score."""
        begun = time.monotonic()
        try:
            result = await self._family.judge(candidate)
            facts = self._family.facts(result)
        except SandboxError as error:
            result, facts = self._failure(candidate, str(error), JudgingEnd.SANDBOX_FAILED)
            if isinstance(error, UnavailableError):  # then no other submission can be judged either
                self.counts.stopped_by = str(error)
        except ODD_DATA as error:
            message = internal_error_text(error, "judging this row")
            result, facts = self._failure(candidate, message, JudgingEnd.NOT_JUDGEABLE)
        if facts.end.record_kind is not None and candidate.size is not None:  # only such submissions are in the window
            self._window.observe(candidate.problem_key, facts.cpu.total)
        self.counts.cpu += facts.cpu
        return Judged(result=result, facts=facts, seconds=time.monotonic() - begun)

    def _failure(self, candidate: CandidateT, message: str, end: JudgingEnd) -> tuple[ResultT, ResultFacts]:
        failure = self._family.our_failure(candidate, message)
        return failure, replace(self._family.facts(failure), end=end)

    # ------------------------------------------------------------------ recording

    async def _finish(self, candidate: CandidateT, judged: Judged[ResultT]) -> None:
        """Store and count a result, and give copies of it to the followers; if it is a JE, the first of them leads."""
        judged, leader_offset = await in_thread(self._store, candidate, judged)
        self._count(candidate, judged)
        followers = self._leaders.finish(candidate, judged.result.fingerprint, leader_offset)
        copies: list[tuple[CandidateT, int]] = []
        for follower in followers:
            offset = self._lead_or_follow(follower) if leader_offset is None else leader_offset
            if offset is not None:
                copies.append((follower, offset))
        await self._record_copies(copies)

    async def _record_copies(self, copies: Sequence[tuple[CandidateT, int]]) -> None:
        if copies:
            copied = await in_thread(self.store.record_copies, copies)
            self.counts.copies += len(copied)
            for candidate in copied:
                self.progress.advance(COPY)
                self.settings.events.emit("submission_copied", **candidate.names)

    def _store(self, candidate: CandidateT, judged: Judged[ResultT]) -> tuple[Judged[ResultT], int | None]:
        """Store a result; if our own code fails on it, a failure of ours instead. Called from a thread.

        Returns what was stored, and its offset; `None` if copies must not take it over.
        """
        try:
            return judged, self.store.record(candidate, judged.result, judged.facts.end.record_kind)
        except ODD_DATA as error:
            message = internal_error_text(error, "recording this row")
            failure, facts = self._failure(candidate, message, JudgingEnd.NOT_JUDGEABLE)
            judged = replace(judged, result=failure, facts=facts)
            return judged, self.store.record(candidate, failure, facts.end.record_kind)

    def _count(self, candidate: CandidateT, judged: Judged[ResultT]) -> None:
        facts = judged.facts
        self.counts.judged += 1
        self.progress.advance(facts.verdict, facts.ran, has_program=candidate.size is not None)
        facts.emit(self.settings.events, candidate.names, judged.seconds)
        if facts.end is JudgingEnd.SANDBOX_FAILED:
            self._failures += 1
        elif facts.end.record_kind is not None and candidate.size is not None:
            self._failures = 0
        if self._failures >= MAX_FAILURES and not self.counts.stopped_by:
            self.counts.stopped_by = f"{MAX_FAILURES} submissions in a row could not be judged"
