"""What a person sees while a run goes on: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Protocol, TextIO

LINE_S = 60.0  # in a log
COPY, RESUMED, REFUSED = "copy", "resumed", "refused"
"""What became of a row that was not judged, in a verdict's stead."""

_UNJUDGED = {COPY: "copies", RESUMED: "from earlier runs", REFUSED: "refused"}


class Progress(Protocol):
    """Is told of every row that is done."""

    def advance(self, verdict: str) -> None:
        """A row is done; what became of it: a verdict, or `COPY`, `RESUMED`, `REFUSED`."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


class Bar:
    """A tqdm bar with rate, remaining time, verdict counts and failures.

    Args:
        total: how many rows there are.
        stream: where it is drawn.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        import tqdm

        self._counts: Counter[str] = Counter()
        self._bar = tqdm.tqdm(
            total=total, unit="sub", dynamic_ncols=True, smoothing=0.05, file=stream or sys.stderr, mininterval=0.2
        )

    def advance(self, verdict: str) -> None:
        """Draw it, if the last drawing is not too fresh."""
        self._counts[verdict] += 1
        self._bar.set_postfix_str(_counts(self._counts), refresh=False)
        self._bar.update(1)

    def close(self) -> None:
        """Leave the last state standing."""
        self._bar.close()


class Lines:
    """A line a minute, for logs, with the rate of what this run does itself and what that leaves to wait.

    Args:
        total: how many rows there are.
        stream: where they go.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._counts: Counter[str] = Counter()
        self._total = total
        self._stream = stream or sys.stderr
        self._started = self._last = time.monotonic()

    def advance(self, verdict: str) -> None:
        """Write a line, if the last is old enough."""
        self._counts[verdict] += 1
        now = time.monotonic()
        if now - self._last >= LINE_S:
            self._last = now
            done = self._counts.total()
            rate = (done - self._counts[RESUMED]) / (now - self._started)
            left = f", about {_duration((self._total - done) / rate)} left" if rate and done < self._total else ""
            print(
                f"{done}/{self._total} submissions, {rate:.2f}/s{left}: {_counts(self._counts)}",
                file=self._stream,
                flush=True,
            )

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
    verdicts = " ".join(f"{verdict} {count}" for verdict, count in counts.most_common() if verdict not in _UNJUDGED)
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
