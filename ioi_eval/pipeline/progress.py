"""What a person sees while a run goes on: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections import Counter, deque
from typing import Protocol, TextIO

from ioi_eval.model import Verdict

LINE_S = 60.0  # in a log
DRAW_S = 0.2  # of a bar
COPY, RESUMED, REFUSED = "copy", "resumed", "refused"
"""What became of a row that was not judged, in a verdict's stead."""

_UNJUDGED = {COPY: "copies", RESUMED: "from earlier runs", REFUSED: "refused"}
_FREE = frozenset({*_UNJUDGED, Verdict.NC, ""})
RECENT = 2000  # rows


class Progress(Protocol):
    """Is told of every row: when it is read, when it is to be judged, and when it is done."""

    def read(self) -> None:
        """A row was read from the dump."""
        ...

    def queue(self) -> None:
        """A row is to be judged itself: it holds a program, is no copy, and no earlier run has judged it."""
        ...

    def advance(self, verdict: str) -> None:
        """A row is done; what became of it: a verdict, or `COPY`, `RESUMED`, `REFUSED`; empty where it was written."""
        ...

    def writing(self) -> Progress:
        """Judging is over: what shows how far the writing of the results is, whose rows only `advance`."""
        ...

    def close(self) -> None:
        """This part of the run is over."""
        ...


class Tally:
    """What was counted, and what it leaves to wait.

    Copies and rows without a program cost next to nothing, and nobody knows before how many there are. So the time that
    is left is that of what is still to be judged itself: what waits for it, and as large a part of the rows that are
    not read yet as it was of the `RECENT` ones before. (Of all rows before it would be too many: programs that are the
    same come to be more, the more were read.)

    Args:
        total: how many rows there are.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.rows_read = self.queued = 0
        self.counts: Counter[str] = Counter()
        self.started = time.monotonic()
        self._news: deque[bool] = deque(maxlen=RECENT)  # of the rows that were read last, which are to be judged

    def read(self) -> None:
        """A row was read."""
        self.rows_read += 1
        self._news.append(False)

    def queue(self) -> None:
        """The row that was read last, or one before it, is to be judged."""
        self.queued += 1
        if self._news:
            self._news[-1] = True

    def count(self, became: str) -> None:
        """A row is done; as `Progress.advance`."""
        self.counts[became] += 1
        if became == RESUMED and self._news:
            self._news.pop()  # it tells nothing of the others

    @property
    def judged(self) -> int:
        """How many were judged themselves, and had to be run for that."""
        return self.counts.total() - sum(self.counts[name] for name in _FREE)

    def left_s(self, now: float) -> float | None:
        """How long judging the rest may take, in seconds; `None` where nothing is left, or nothing is known."""
        left: float = self.total - self.counts.total()
        if self.rows_read:  # else nobody tells: all are judged themselves
            share = sum(self._news) / len(self._news) if self._news else 0.0
            left = max(0, self.queued - self.judged) + max(0, self.total - self.rows_read) * share
        return left * (now - self.started) / self.judged if left and self.judged else None

    def describe(self, now: float, *before: str) -> str:
        """`about 12 min left: AC 5 WA 2 (without 10 copies, 3 from earlier runs)`, behind other words."""
        left_s = self.left_s(now)
        times = (*before, *([] if left_s is None else [f"about {_duration(left_s)} left"]))
        return ": ".join(filter(None, (", ".join(times), _counts(self.counts))))


class Bar:
    """A tqdm bar with rate, remaining time, verdict counts and failures.

    Args:
        total: how many rows there are.
        stream: where it is drawn.
        unit: what a row is called.
    """

    def __init__(self, total: int, stream: TextIO | None = None, *, unit: str = "sub") -> None:
        import tqdm

        self._tally = Tally(total)
        self._stream = stream or sys.stderr
        self._drawn = -math.inf
        self._undrawn = 0
        self._bar = tqdm.tqdm(
            total=total,
            unit=unit,
            dynamic_ncols=True,
            smoothing=0.05,
            file=self._stream,
            mininterval=0,
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]",
        )

    def read(self) -> None:
        """Count it."""
        self._tally.read()

    def queue(self) -> None:
        """Count it."""
        self._tally.queue()

    def advance(self, verdict: str) -> None:
        """Draw it, if the last drawing is not too fresh."""
        self._tally.count(verdict)
        self._undrawn += 1
        now = time.monotonic()
        if now - self._drawn >= DRAW_S:
            self._drawn = now
            self._draw(now)

    def _draw(self, now: float) -> None:
        with contextlib.suppress(OSError):  # of a terminal that is closed: the run goes on
            self._bar.set_postfix_str(self._tally.describe(now), refresh=False)
            self._bar.update(self._undrawn)
        self._undrawn = 0

    def writing(self) -> Bar:
        """Another bar."""
        return Bar(self._tally.total, self._stream, unit=" rows written")

    def close(self) -> None:
        """Leave the last state standing."""
        self._draw(time.monotonic())
        with contextlib.suppress(OSError):
            self._bar.close()


class Lines:
    """A line a minute, for logs, with the rate of what this run does itself and what that leaves to wait.

    Args:
        total: how many rows there are.
        stream: where they go.
        unit: what a row is called.
    """

    def __init__(self, total: int, stream: TextIO | None = None, *, unit: str = "submissions") -> None:
        self._tally = Tally(total)
        self._stream = stream or sys.stderr
        self._unit = unit
        self._last = self._tally.started

    def read(self) -> None:
        """Count it."""
        self._tally.read()

    def queue(self) -> None:
        """Count it."""
        self._tally.queue()

    def advance(self, verdict: str) -> None:
        """Write a line, if the last is old enough."""
        tally = self._tally
        tally.count(verdict)
        now = time.monotonic()
        if now - self._last >= LINE_S:
            self._last = now
            done = tally.counts.total()
            rate = (done - tally.counts[RESUMED]) / (now - tally.started)
            told = tally.describe(now, f"{rate:.2f}/s")
            with contextlib.suppress(OSError):  # of a terminal that is closed: the run goes on
                print(f"{done}/{tally.total} {self._unit}, {told}", file=self._stream, flush=True)

    def writing(self) -> Lines:
        """Lines of their own."""
        return Lines(self._tally.total, self._stream, unit="rows of results written")

    def close(self) -> None:
        """Nothing to clear away."""


def progress_for(total: int, stream: TextIO | None = None, *, bar: bool | None = None) -> Progress:
    """A bar where somebody looks, else lines.

    Args:
        total: how many rows there are.
        stream: stderr if not given.
        bar: whatever the stream is.
    """
    stream = stream or sys.stderr
    return Bar(total, stream) if (stream.isatty() if bar is None else bar) else Lines(total, stream)


def _counts(counts: Counter[str]) -> str:
    """`AC 5 WA 2 (without 10 copies, 3 from earlier runs)`: verdicts are counted where they are judged."""
    verdicts = " ".join(
        f"{verdict} {count}" for verdict, count in counts.most_common() if verdict and verdict not in _UNJUDGED
    )
    others = ", ".join(f"{counts[name]} {words}" for name, words in _UNJUDGED.items() if counts[name])
    return f"{verdicts} (without {others})" if verdicts and others else verdicts or others


def _duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 20 min`, `2 d 5 h`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"
