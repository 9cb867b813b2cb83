"""Counts the rows of a run by how they ended, and estimates the time that is left."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from ioi_eval.model import Verdict
from ioi_eval.report.texts import counted

COPY, RESUMED, REFUSED = "copy", "resumed", "refused"
"""How a row ended that was not judged, in place of a verdict."""

_UNJUDGED = {COPY: "copies", RESUMED: "from earlier runs", REFUSED: "not judged"}
_NOT_RUN = frozenset({*_UNJUDGED, Verdict.NC, ""})
RECENT = 2000  # rows

Load = Callable[[], tuple[int, int]]
"""Returns how many jobs run now, and how many could."""


class Tally:
    """The counts, and an estimate of the time that is left.

    Copies and rows without a program take almost no time, and their number is not known in advance. So the estimate is
    the time for the rows that are still to be judged themselves: those that wait, and a share of the rows that are not
    read yet, the same as among the last `RECENT` rows. (The share among all rows so far would be too high: the more
    rows have been read, the more of the next ones are copies.)
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.rows_read = self.queued = self.tests = self._refused_programs = 0
        self.counts: Counter[str] = Counter()
        self.started = time.monotonic()
        self._recent: deque[bool] = deque(maxlen=RECENT)  # for each row that was read last: is it to be judged?

    def count_read(self) -> None:
        """Count a row that was read."""
        self.rows_read += 1
        self._recent.append(False)

    def count_queued(self) -> None:
        """Count a row that is to be judged itself, with a program: the one that was read last, or one before it."""
        self.queued += 1
        if self._recent:
            self._recent[-1] = True

    def count(self, ending: str, tests: int = 0, *, has_program: bool = True) -> None:
        """Count a row that is done; as `Progress.advance`."""
        self.counts[ending] += 1
        self._refused_programs += not has_program and ending not in _NOT_RUN
        self.tests += tests
        if ending == RESUMED and self._recent:
            self._recent.pop()  # it says nothing about the rows to come

    @property
    def judged(self) -> int:
        """How many rows were judged themselves, with a program."""
        return self.counts.total() - sum(self.counts[name] for name in _NOT_RUN) - self._refused_programs

    def left_s(self, now: float) -> float | None:
        """How long judging the rest may take, in seconds; `None` if nothing is left, or nothing is known."""
        left: float = self.total - self.counts.total()
        if self.rows_read:  # else `count_read` is not called here, and all rows are judged themselves
            share = sum(self._recent) / len(self._recent) if self._recent else 0.0
            left = max(0, self.queued - self.judged) + max(0, self.total - self.rows_read) * share
        return left * (now - self.started) / self.judged if left and self.judged else None

    def per_s(self, now: float) -> float:
        """How many rows a second this run finishes, without those of earlier runs."""
        return (self.counts.total() - self.counts[RESUMED]) / max(now - self.started, 0.001)

    def parts(self, now: float, load: Load | None) -> list[str]:
        """The parts of the displayed line, the most important first."""
        parts = []
        if verdicts := _verdicts(self.counts):
            new = "new: " if self.counts[RESUMED] else ""
            parts.append(new + " ".join(f"{verdict} {count}" for verdict, count in verdicts.items()))
        running, slots = (0, None) if load is None else load()
        if slots == 0:
            parts.append("no worker can be used")
        elif (left_s := self.left_s(now)) is not None:
            parts.append(f"about {_duration(left_s)} left")
        if slots:
            parts.append(f"{running}/{slots} busy")
        parts.append(f"{self.per_s(now):.2f}/s")
        if self.tests:
            parts.append(counted(self.tests, "test"))
        if others := [f"{text} {self.counts[name]}" for name, text in _UNJUDGED.items() if self.counts[name]]:
            parts.append(", ".join(others))
        return parts

    def as_dict(self, now: float) -> dict[str, Any]:
        """All counts, for an event."""
        return {
            "rows": self.total,
            "done": self.counts.total(),
            "judged": self.judged,
            "tests": self.tests,
            "verdicts": _verdicts(self.counts),
            "copies": self.counts[COPY],
            "resumed": self.counts[RESUMED],
            "refused": self.counts[REFUSED],
            "per_s": round(self.per_s(now), 3),
            "left_s": self.left_s(now),
        }


def _verdicts(counts: Counter[str]) -> dict[str, int]:
    """The verdicts of this run: our failures first, because a person must see them, then the others by frequency."""
    by_verdict = {verdict: count for verdict, count in counts.most_common() if verdict and verdict not in _UNJUDGED}
    failed = by_verdict.pop(Verdict.JE, 0)
    return {Verdict.JE.value: failed, **by_verdict} if failed else by_verdict


def _duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 20 min`, `2 d 5 h`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"
