"""The progress display of a run."""

from __future__ import annotations

import io
import os
import re
from contextlib import suppress

import pytest

from ioi_eval.pipeline import progress
from ioi_eval.pipeline.progress import Bar, Lines, Tally, progress_for


def test_a_bar_shows_rate_and_verdicts() -> None:
    """On a terminal, or where it is asked for."""
    stream = io.StringIO()
    bar = progress_for(3, stream, bar=True)
    assert isinstance(bar, Bar)
    for verdict in ("AC", "JE", "AC"):
        bar.advance(verdict)
    bar.close()
    last = stream.getvalue().split("\r")[-1]
    assert "3/3" in last
    assert "sub/s" in last
    assert "AC 2 JE 1" in last


def test_a_log_gets_a_line_now_and_then() -> None:
    """No control characters, and not a line for every submission."""
    stream = io.StringIO()
    lines = progress_for(100, stream)
    assert isinstance(lines, Lines)
    lines.advance("AC")
    assert stream.getvalue() == ""
    lines._last -= progress.LINE_S
    lines.advance("WA")
    lines.close()
    assert stream.getvalue().startswith("2/100 submissions")
    assert stream.getvalue().endswith("AC 1 WA 1\n")


def test_a_log_tells_the_time_that_is_left() -> None:
    """Going by what this run does itself; what it need not judge is counted apart from the verdicts."""
    stream = io.StringIO()
    lines = Lines(1000, stream)
    lines._tally.started -= 1000
    for became in ("AC", *["resumed"] * 490, "copy", "copy", "refused", *["WA"] * 6):
        lines.read()
        if became in ("AC", "WA"):
            lines.queue()
        lines.advance(became)
    assert stream.getvalue() == ""
    lines._last -= progress.LINE_S
    lines.read()
    lines.queue()
    lines.advance("AC")
    assert re.fullmatch(  # 8 of 11 that were new had to be judged, each in 125 s: of 499 it will be 363
        r"501/1000 submissions, 0\.01/s, about 12 h 3\d min left: "
        r"WA 6 AC 2 \(without 2 copies, 490 from earlier runs, 1 refused\)\n",
        stream.getvalue(),
    )


def test_copies_take_no_time() -> None:
    """All but one of 10,000 rows are done, as copies of ten that took 100 s: that one takes 10 s, not minutes."""
    tally = Tally(10_000)
    for place in range(10_000):
        tally.read()
        if place < 11:
            tally.queue()
    tally.counts.update({"AC": 10, "copy": 9989})
    assert tally.left_s(tally.started + 100) == pytest.approx(10)
    tally.counts["AC"] += 1
    assert tally.left_s(tally.started + 100) is None


def test_programs_that_came_first_do_not_come_all_the_time() -> None:
    """300 programs, then copies of them and rows without one: what waits is left, whatever is not read yet."""
    tally = Tally(100_000)
    for place in range(6000):
        tally.read()
        if place < 300:
            tally.queue()
        elif place % 10 == 9:
            tally.count("NC")
    for _ in range(60):
        tally.count("AC")
    assert tally.judged == 60
    assert tally.left_s(tally.started + 300) == pytest.approx(240 * 5)


def test_rows_of_earlier_runs_tell_nothing_of_the_others() -> None:
    """Half of the dump was judged before; of what is new every second program is to be judged."""
    tally = Tally(1000)
    for _ in range(500):
        tally.read()
        tally.count(progress.RESUMED)
    for place in range(100):
        tally.read()
        if place % 2:
            tally.queue()
            tally.count("AC")
        else:
            tally.count(progress.COPY)
    assert tally.left_s(tally.started + 50) == pytest.approx(200)


@pytest.mark.parametrize("bar", [True, False])
def test_writing_is_shown_too(bar: bool) -> None:
    """It may take minutes, in which a run seems to hang."""
    stream = io.StringIO()
    writing = progress_for(3, stream, bar=bar).writing()
    if isinstance(writing, Lines):
        writing._last -= progress.LINE_S
    writing.advance("")
    writing.advance("")
    writing.close()
    assert "written" in stream.getvalue()
    assert ("2/3" if bar else "1/3") in stream.getvalue()


@pytest.mark.parametrize("bar", [True, False])
def test_a_terminal_that_is_closed_stops_nothing(bar: bool) -> None:
    """Who logs out while a run goes on gets its results all the same."""
    source, sink = os.pipe()
    os.close(source)  # whatever is written there is an error
    with suppress(BrokenPipeError), os.fdopen(sink, "w", buffering=1) as stream:
        shown = progress_for(3, stream, bar=bar)
        if isinstance(shown, Lines):
            shown._last -= progress.LINE_S
        shown.advance("AC")
        shown.close()
        shown.writing().close()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59.4, "59 s"), (60, "1 min"), (3569, "59 min"), (3571, "1 h 0 min"), (86399, "1 d 0 h"), (190_000, "2 d 4 h")],
)
def test_a_duration_is_told_roughly(seconds: float, words: str) -> None:
    """Two units at most."""
    assert progress._duration(seconds) == words
