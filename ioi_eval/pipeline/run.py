"""Judges a dump, with a fixed number of tasks, one window and one journal.

A feeder reads rows in a thread. There are four cases: an earlier run has judged the row; an identical program was
judged; an identical program is being judged (the row *follows* that one, its leader); or the row waits in the window.
Tasks take rows from the window. A result is in the journal before it counts as done; then its followers get
records that refer to it. Followers do not take over a judge error: the first of them becomes a leader itself.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic

from ioi_eval.errors import ODD_DATA, LostDataError, SandboxError, UnavailableError, internal_error_text
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.pipeline.family import ProblemFamily, R, ResultFacts
from ioi_eval.pipeline.progress import BEAT_S, COPY, REFUSED, RESUMED, Progress
from ioi_eval.pipeline.result_store import ResultStore
from ioi_eval.pipeline.settings import Settings
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.window import Costs, W, Window
from ioi_eval.report.run_summary import RunFacts
from ioi_eval.report.totals import CpuSplit

BATCH_ROWS = 256  # a change of threads takes as long as five rows
BATCH_CODE = 8 * 1024 * 1024
FOLLOWERS = 4096  # how many copies may wait for leaders before reading pauses
GIVE_UP_AFTER = 100  # failures of ours in a row: the sandbox is broken
GIVE_UP_AFTER_PROBLEMS = 50  # if our own code fails on so many problems in a row, the cause is not in the rows


@dataclass(slots=True, kw_only=True)
class RunCounts:
    """The counts of a run.

    Args:
        judged: how many rows it judged.
        copies: how many rows got the result of an identical program.
        resumed: how many rows an earlier run had judged.
        cpu: the CPU time of judging.
        wall_s: how long the run took.
        stopped_by: why it ended early by itself; `None` if it did not.
    """

    judged: int = 0
    copies: int = 0
    resumed: int = 0
    cpu: CpuSplit = field(default_factory=CpuSplit)
    wall_s: float = 0.0
    stopped_by: str | None = None

    def facts(
        self, settings: Settings, notes: Sequence[str], *, started: str = "", interrupted: bool = False
    ) -> RunFacts:
        """The facts about the run that the summary has.

        Args:
            settings: of the run.
            notes: of the journal.
            started: when it began, in ISO 8601; empty for now.
            interrupted: whether the user ended it early.
        """
        stopped = (
            (f"stopped early: {self.stopped_by}; run the same command again to continue",) if self.stopped_by else ()
        )
        return RunFacts(
            started=started or now(),
            finished=now(),
            interrupted=interrupted or self.stopped_by is not None,
            options=settings.options,
            workers=settings.workers,
            wall_s=self.wall_s,
            judged=self.judged,
            copies=self.copies,
            resumed=self.resumed,
            cpu=self.cpu,
            notes=(*stopped, *notes, *settings.notes),
        )


def now() -> str:
    """The time, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """A result that was stored.

    Args:
        names: the submission and its problem.
        facts: about the result.
        seconds: how long judging it took.
        leader_offset: of the record, for copies of the program; `None` if they must not take the result over.
        failed_problem: the problem, if our own code failed on this row.
    """

    names: Mapping[str, Any]
    facts: ResultFacts
    seconds: float
    leader_offset: int | None
    failed_problem: object | None


class DumpRun(Generic[W, R]):
    """One judging of a dump.

    Args:
        family: the dump, and how it is judged.
        store: stores the results.
        settings: of the run.
        progress: counts the rows.
        restore: recreates test data that was deleted from the cache; called in a thread.
    """

    def __init__(
        self,
        family: ProblemFamily[W, R],
        store: ResultStore[R],
        *,
        settings: Settings,
        progress: Progress,
        restore: Callable[[], None] | None = None,
    ) -> None:
        self.done = RunCounts()
        self.store, self.settings, self.progress = store, settings, progress
        self._family = family
        self._costs = Costs()
        self._window: Window[W] = Window(self._costs)
        self._changed = asyncio.Condition()
        self._following: dict[bytes, deque[W]] = {}
        self._judged_otherwise: dict[bytes, int] = {}  # leaders that another kind of target judged than expected
        self._empty: dict[bytes, _Recorded] = {}  # results of this run for rows without a program
        self._followers = 0
        self._late: list[tuple[W, int]] = []
        self._in_flight = 0
        self._fed = False
        self._failures_in_a_row = 0
        self._restore = restore
        self._restoring = asyncio.Lock()
        self._restored = 0
        self._failed_problems_in_a_row: set[object] = set()

    async def execute(self) -> None:
        """Judge everything that is not judged yet.

        It returns early, with `done.stopped_by`, if the sandbox cannot be used any more.

        Raises:
            ExceptionGroup: of `SetupError` if the journal cannot be written, or this machine lacks something.
        """
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as beating:
                beat = beating.create_task(self._beat())
                async with asyncio.TaskGroup() as working:
                    working.create_task(self._feed())
                    for _ in range(self.settings.workers + self.settings.spare):
                        working.create_task(self._work())
                beat.cancel()
        finally:
            self.done.wall_s = time.monotonic() - started

    async def _beat(self) -> None:
        """Sync the journal in time, also while there are no new results, and check that it still exists."""
        while True:
            await asyncio.sleep(BEAT_S)
            await in_thread(self.store.journal.require_there)
            await in_thread(self.store.journal.sync_if_due)
            self.progress.beat()

    # ------------------------------------------------------------------ reading

    async def _feed(self) -> None:
        entries = self._family.dump_reader.candidates(self.store.stored_level)
        while not self.done.stopped_by and (batch := await in_thread(self._batch, entries)):
            copies: list[tuple[W, int]] = []
            empty: list[W] = []
            for entry in batch:
                self.progress.read()
                if isinstance(entry, Refused):
                    self.progress.advance(REFUSED)
                    self.settings.events.emit("row_refused", message=entry.message)
                elif self._is_known(entry, copies):
                    continue
                elif entry.size is None:
                    empty.append(entry)
                else:
                    await self._enqueue(entry)
            await self._copy(copies)
            await self._judge_empty(empty)
        async with self._changed:
            self._fed = True
            self._changed.notify_all()

    async def _judge_empty(self, candidates: Sequence[W]) -> None:
        """Judge the rows of a batch without a program: at once, because nothing is run, and only one for each problem,
        because the results of the others are the same."""
        same: list[tuple[W, _Recorded]] = []
        for candidate in candidates:
            if self.done.stopped_by:
                break
            if (known := self._empty.get(candidate.keys.program)) is not None:
                same.append((candidate, known))
                continue
            recorded = await in_thread(self._write, candidate, *await self._score(candidate))
            if self.settings.dedupe and recorded.leader_offset is not None:
                self._empty[candidate.keys.program] = recorded
            self._count(recorded, was_in_sandbox=False)
        if same:
            await in_thread(self.store.record_copies, [(copy, known.leader_offset or 0) for copy, known in same])
        for copy, known in same:
            self._count(replace(known, names=copy.names), was_in_sandbox=False)

    @staticmethod
    def _batch(entries: Iterator[W | Refused]) -> list[W | Refused]:
        """The next rows: few enough for memory, enough to outweigh a change of threads."""
        batch: list[W | Refused] = []
        held = 0
        for entry in itertools.islice(entries, BATCH_ROWS):
            batch.append(entry)
            held += 0 if isinstance(entry, Refused) else (entry.size or 0)
            if held > BATCH_CODE:
                break
        return batch

    def _is_known(self, entry: W, copies: list[tuple[W, int]]) -> bool:
        """Whether this submission, or the same program, was judged before, so that it need not be judged."""
        stored = self.store.journal.find(entry.keys)
        if stored is not None and stored.counts(retry_failed=self.settings.retry_failed):
            self.done.resumed += 1
            self.progress.advance(RESUMED)
            return True
        if not self._may_copy(entry) or (leader_offset := self.store.journal.leader_offset(entry.keys)) is None:
            return False
        copies.append((entry, leader_offset))
        return True

    def _may_copy(self, candidate: W) -> bool:
        return self.settings.dedupe and candidate.size is not None

    async def _enqueue(self, candidate: W) -> None:
        async with self._changed:
            await self._changed.wait_for(
                lambda: self.done.stopped_by or (not self._window.full and self._followers < FOLLOWERS)
            )
            self._lead_or_follow(candidate)
            self._changed.notify_all()
        await self._copy_late()

    def _lead_or_follow(self, candidate: W) -> None:
        program = candidate.keys.program
        if self._may_copy(candidate):
            leader_offset = self.store.journal.leader_offset(candidate.keys) or self._judged_otherwise.get(program)
            if leader_offset is not None:  # judged while this one waited for space in the window
                self._late.append((candidate, leader_offset))
                return
            if program in self._following:
                self._following[program].append(candidate)
                self._followers += 1
                return
            self._following[program] = deque()
        self.progress.queue()
        self._window.put(candidate)

    # ------------------------------------------------------------------ judging

    async def _work(self) -> None:
        while (candidate := await self._next()) is not None:
            await self._record(candidate, *await self._score(candidate))
            async with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    async def _next(self) -> W | None:
        """The next submission to be judged; `None` if no more can come."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: len(self._window) or self.done.stopped_by or (self._fed and not self._in_flight)
            )
            candidate = None if self.done.stopped_by else self._window.take()
            if candidate is not None:
                self._in_flight += 1
            self._changed.notify_all()
            return candidate

    async def _score(self, candidate: W) -> tuple[R, float, bool]:
        """A submission's result, how long judging it took (s), and whether a bug of ours prevented judging it."""
        begun = time.monotonic()
        try:
            result = await self._judge(candidate)
        except SandboxError as error:
            if isinstance(error, UnavailableError):
                self.done.stopped_by = str(error)
            return self._family.failed(candidate, str(error)), time.monotonic() - begun, False
        except ODD_DATA as error:
            message = internal_error_text(error, "judging this row")
            return self._family.failed(candidate, message), time.monotonic() - begun, True
        cpu = self._family.facts(result).cpu
        self.done.cpu += cpu
        self._costs.observe(candidate.problem_key, cpu.total)
        return result, time.monotonic() - begun, False

    async def _judge(self, candidate: W) -> R:
        """Judge a submission; once more if the cache was deleted meanwhile.

        Raises:
            LostDataError: the cache was deleted again, or cannot be made again.
            SandboxError: any other failure of ours.
        """
        before = self._restored
        try:
            return await self._family.judge(candidate)
        except LostDataError:
            async with self._restoring:
                if self._restored == before:  # else another task has restored it meanwhile
                    if self._restore is not None:
                        await in_thread(self._restore)
                    self._restored += 1
        return await self._family.judge(candidate)

    # ------------------------------------------------------------------ recording

    async def _record(self, candidate: W, result: R, seconds: float, is_our_bug: bool) -> None:
        recorded = await in_thread(self._write, candidate, result, seconds, is_our_bug)
        facts, leader_offset = recorded.facts, recorded.leader_offset
        if leader_offset is not None and facts.fingerprint not in ("", candidate.fingerprint):
            self._judged_otherwise[candidate.keys.program] = leader_offset
        self._count(recorded)
        followers = self._following.pop(candidate.keys.program, None) or deque()
        self._followers -= len(followers)
        if leader_offset is not None:
            await self._copy([(follower, leader_offset) for follower in followers])
        else:
            for follower in followers:
                self._lead_or_follow(follower)
            await self._copy_late()

    async def _copy_late(self) -> None:
        late, self._late = self._late, []
        await self._copy(late)

    async def _copy(self, copies: Sequence[tuple[W, int]]) -> None:
        if copies:
            await in_thread(self.store.record_copies, copies)
            self.done.copies += len(copies)
            for candidate, _ in copies:
                self.progress.advance(COPY)
                self.settings.events.emit("submission_copied", **candidate.names)

    def _write(self, candidate: W, result: R, seconds: float, is_our_bug: bool) -> _Recorded:
        """Store a result; if our own code fails on it, a failure of ours instead. Called from a thread."""
        facts = self._family.facts(result)
        try:
            leader_offset = self.store.record(candidate, result, facts.fingerprint)
        except ODD_DATA as error:
            result, is_our_bug = self._family.failed(candidate, internal_error_text(error, "recording this row")), True
            facts = self._family.facts(result)
            leader_offset = self.store.record(candidate, result, facts.fingerprint)
        odd = candidate.problem_key if is_our_bug else None
        return _Recorded(
            names=candidate.names, facts=facts, seconds=seconds, leader_offset=leader_offset, failed_problem=odd
        )

    def _count(self, recorded: _Recorded, *, was_in_sandbox: bool = True) -> None:
        self.done.judged += 1
        facts = recorded.facts
        self.progress.advance(facts.verdict, facts.ran)
        facts.emit(self.settings.events, recorded.names, recorded.seconds)
        self._stop_if_broken(facts, recorded.failed_problem, was_in_sandbox)

    def _stop_if_broken(self, facts: ResultFacts, failed_problem: object | None, was_in_sandbox: bool) -> None:
        """Stop the run if the sandbox fails every time, or our own code fails on problem after problem.

        The result of a row without a program does not show that either of them works.
        """
        if failed_problem is not None:
            self._failed_problems_in_a_row.add(failed_problem)
        elif facts.is_sandbox_failure:
            self._failures_in_a_row += 1
        elif facts.is_stored and was_in_sandbox:
            self._failures_in_a_row = 0
            self._failed_problems_in_a_row.clear()
        if len(self._failed_problems_in_a_row) >= GIVE_UP_AFTER_PROBLEMS and not self.done.stopped_by:
            self.done.stopped_by = (
                f"rows of {GIVE_UP_AFTER_PROBLEMS} problems in a row could not be judged: ioi-eval failed"
            )
        if self._failures_in_a_row >= GIVE_UP_AFTER and not self.done.stopped_by:
            self.done.stopped_by = f"{GIVE_UP_AFTER} submissions in a row could not be judged"
