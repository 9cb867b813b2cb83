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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic

from ioi_eval.errors import ODD_DATA, LostDataError, SandboxError, UnavailableError, own_fault
from ioi_eval.pipeline.family import ProblemFamily, R, Told
from ioi_eval.pipeline.intake import Refused
from ioi_eval.pipeline.ledger import Ledger
from ioi_eval.pipeline.progress import BEAT_S, COPY, REFUSED, RESUMED, Progress
from ioi_eval.pipeline.settings import Settings
from ioi_eval.pipeline.threads import in_thread
from ioi_eval.pipeline.window import Costs, W, Window
from ioi_eval.report.run_summary import RunFacts
from ioi_eval.report.totals import CpuSplit

BATCH_ROWS = 256  # a change of threads costs as much as five rows
BATCH_CODE = 8 * 1024 * 1024
FOLLOWERS = 4096  # how many copies may wait for leaders before reading pauses
GIVE_UP_AFTER = 100  # failures of ours in a row: the sandbox is broken, and a million rows would only say so slowly
ODD_PROBLEMS = 50  # failures of our own code on so many problems in a row: it is not the rows that are odd


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

    def facts(
        self, settings: Settings, notes: Sequence[str], *, started: str = "", interrupted: bool = False
    ) -> RunFacts:
        """What the summary tells of the run.

        Args:
            settings: of the run.
            notes: of the journal.
            started: when, in ISO 8601; empty for now.
            interrupted: the user ended it early.
        """
        stopped = (f"stopped early: {self.stopped_by}; the same command goes on",) if self.stopped_by else ()
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
    """A result that was written down.

    Args:
        names: the submission and its problem.
        told: what the run needs to know of it.
        seconds: how long judging it took.
        leader: where copies of the program find it; `None` if they must not take it over.
        odd_family: the problem, where our own code failed on this row.
    """

    names: Mapping[str, Any]
    told: Told
    seconds: float
    leader: int | None
    odd_family: object | None


class DumpRun(Generic[W, R]):
    """One judging of a dump.

    Args:
        family: the dump, and how it is judged.
        ledger: where results go.
        settings: how.
        progress: is told of every row.
        restore: makes test data in the cache again that somebody has deleted; called in a thread.
    """

    def __init__(
        self,
        family: ProblemFamily[W, R],
        ledger: Ledger[R],
        *,
        settings: Settings,
        progress: Progress,
        restore: Callable[[], None] | None = None,
    ) -> None:
        self.done = Done()
        self.ledger, self.settings, self.progress = ledger, settings, progress
        self._family = family
        self._costs = Costs()
        self._window: Window[W] = Window(self._costs)
        self._changed = asyncio.Condition()
        self._following: dict[bytes, deque[W]] = {}
        self._judged_otherwise: dict[bytes, int] = {}  # leaders that were judged in another way than was expected
        self._empty: dict[bytes, _Recorded] = {}  # what was judged in this run of those that hold no program
        self._followers = 0
        self._late: list[tuple[W, int]] = []
        self._in_flight = 0
        self._fed = False
        self._failures_in_a_row = 0
        self._restore = restore
        self._restoring = asyncio.Lock()
        self._restored = 0
        self._odd_in_a_row: set[object] = set()

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
                    for _ in range(self.settings.workers + self.settings.spare):
                        working.create_task(self._work())
                beat.cancel()
        finally:
            self.done.wall_s = time.monotonic() - started

    async def _beat(self) -> None:
        """Keep the journal's promise of seconds also while nothing new comes, and see that it is still there."""
        while True:
            await asyncio.sleep(BEAT_S)
            await in_thread(self.ledger.journal.require_there)
            await in_thread(self.ledger.journal.sync_if_due)
            self.progress.beat()

    # ------------------------------------------------------------------ reading

    async def _feed(self) -> None:
        entries = self._family.intake.candidates(self.ledger.standing)
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
        """Judge those of a batch that hold no program: at once, as there is nothing to wait for, and for each problem
        once, as the others come to the same."""
        same: list[tuple[W, _Recorded]] = []
        for candidate in candidates:
            if self.done.stopped_by:
                break
            if (known := self._empty.get(candidate.keys.program)) is not None:
                same.append((candidate, known))
                continue
            recorded = await in_thread(self._write, candidate, *await self._score(candidate))
            if self.settings.dedupe and recorded.leader is not None:
                self._empty[candidate.keys.program] = recorded
            self._count(recorded, was_in_sandbox=False)
        if same:
            await in_thread(self.ledger.record_copies, [(one, known.leader or 0) for one, known in same])
        for one, known in same:
            self._count(replace(known, names=one.names), was_in_sandbox=False)

    @staticmethod
    def _batch(entries: Iterator[W | Refused]) -> list[W | Refused]:
        """The next rows: few enough to be held, many enough to be worth a change of threads."""
        batch: list[W | Refused] = []
        held = 0
        for entry in itertools.islice(entries, BATCH_ROWS):
            batch.append(entry)
            held += 0 if isinstance(entry, Refused) else (entry.size or 0)
            if held > BATCH_CODE:
                break
        return batch

    def _is_known(self, entry: W, copies: list[tuple[W, int]]) -> bool:
        """Whether there is nothing to judge: this submission, or the same program, was judged before."""
        stored = self.ledger.journal.find(entry.keys)
        if stored is not None and not (stored.failed and self.settings.retry_failed):
            self.done.resumed += 1
            self.progress.advance(RESUMED)
            return True
        if not self._may_copy(entry) or (leader := self.ledger.journal.leader(entry.keys)) is None:
            return False
        copies.append((entry, leader))
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
            leader = self.ledger.journal.leader(candidate.keys) or self._judged_otherwise.get(program)
            if leader is not None:  # judged while this one waited for room
                self._late.append((candidate, leader))
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

    async def _score(self, candidate: W) -> tuple[R, float, bool]:
        """Its result, the seconds, and whether a fault in our handling of this row kept it from being judged."""
        begun = time.monotonic()
        try:
            result = await self._judge(candidate)
        except SandboxError as error:
            if isinstance(error, UnavailableError):
                self.done.stopped_by = str(error)
            return self._family.failed(candidate, str(error)), time.monotonic() - begun, False
        except ODD_DATA as error:
            words = own_fault(error, "judging this row")
            return self._family.failed(candidate, words), time.monotonic() - begun, True
        cpu = self._family.form.cpu(result)
        self.done.cpu += cpu
        self._costs.observe(candidate.family, cpu.total)
        return result, time.monotonic() - begun, False

    async def _judge(self, candidate: W) -> R:
        """Judge one; again where somebody has deleted the cache meanwhile.

        Raises:
            LostDataError: it is gone once more, or cannot be made again.
            SandboxError: any other failure of ours.
        """
        before = self._restored
        try:
            return await self._family.judge(candidate)
        except LostDataError:
            async with self._restoring:
                if self._restored == before:  # else another one has done it while this one was judged
                    if self._restore is not None:
                        await in_thread(self._restore)
                    self._restored += 1
        return await self._family.judge(candidate)

    # ------------------------------------------------------------------ recording

    async def _record(self, candidate: W, result: R, seconds: float, is_of_row: bool) -> None:
        recorded = await in_thread(self._write, candidate, result, seconds, is_of_row)
        told, leader = recorded.told, recorded.leader
        if leader is not None and told.fingerprint not in ("", candidate.fingerprint):
            self._judged_otherwise[candidate.keys.program] = leader
        self._count(recorded)
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

    async def _copy(self, copies: Sequence[tuple[W, int]]) -> None:
        if copies:
            await in_thread(self.ledger.record_copies, copies)
            self.done.copies += len(copies)
            for candidate, _ in copies:
                self.progress.advance(COPY)
                self.settings.events.emit("submission_copied", **candidate.names)

    def _write(self, candidate: W, result: R, seconds: float, is_of_row: bool) -> _Recorded:
        """Write a result down; where our own code fails on it, that it could not be written. Called from a thread."""
        told = Told.of(self._family.form, result)
        try:
            leader = self.ledger.record(candidate, result, told.fingerprint)
        except ODD_DATA as error:
            result, is_of_row = self._family.failed(candidate, own_fault(error, "recording this row")), True
            told = Told.of(self._family.form, result)
            leader = self.ledger.record(candidate, result, told.fingerprint)
        odd = candidate.family if is_of_row else None
        return _Recorded(names=candidate.names, told=told, seconds=seconds, leader=leader, odd_family=odd)

    def _count(self, recorded: _Recorded, *, was_in_sandbox: bool = True) -> None:
        self.done.judged += 1
        self.progress.advance(recorded.told.verdict, recorded.told.ran)
        recorded.told.emit(self.settings.events, recorded.names, recorded.seconds)
        self._watch(recorded.told, recorded.odd_family, was_in_sandbox)

    def _watch(self, told: Told, odd_family: object | None, was_in_sandbox: bool) -> None:
        """Give up on a sandbox that fails every time, or on ourselves: on problem after problem.

        The result of a row that holds no program says of neither that it works.
        """
        if odd_family is not None:
            self._odd_in_a_row.add(odd_family)
        elif told.blames_sandbox:
            self._failures_in_a_row += 1
        elif told.kept and was_in_sandbox:
            self._failures_in_a_row = 0
            self._odd_in_a_row.clear()
        if len(self._odd_in_a_row) >= ODD_PROBLEMS and not self.done.stopped_by:
            self.done.stopped_by = f"rows of {ODD_PROBLEMS} problems on end could not be judged, as ioi-eval failed"
        if self._failures_in_a_row >= GIVE_UP_AFTER and not self.done.stopped_by:
            self.done.stopped_by = f"{GIVE_UP_AFTER} submissions in a row could not be judged"
