"""The progress display of a run."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import sys
import termios
import threading
import time
from contextlib import suppress

import pytest

from ioi_eval.cli.messages import tell
from ioi_eval.events import Events
from ioi_eval.pipeline import progress
from ioi_eval.pipeline.progress import Bar, Lines, progress_for
from ioi_eval.pipeline.tally import COPY, RESUMED, Tally, _duration
from tests.displayed import displayed
from tests.events.listener import Listener


def test_a_bar_shows_rate_and_verdicts() -> None:
    """On a terminal, or if it is requested."""
    stream = io.StringIO()
    bar = progress_for(3, stream, bar=True)
    assert isinstance(bar, Bar)
    for verdict in ("AC", "JE", "AC"):
        bar.advance(verdict)
    bar.close()
    last = stream.getvalue().split("\r")[-1]
    assert "3/3" in last
    assert "JE 1 AC 2" in last
    assert re.search(r"\d\.\d\d/s", last)


def test_a_log_has_a_line_at_intervals() -> None:
    """It has no control characters, and not a line for every submission."""
    stream = io.StringIO()
    lines = progress_for(100, stream)
    assert isinstance(lines, Lines)
    lines.advance("AC")
    assert stream.getvalue() == ""
    lines._shown_at -= progress.LINE_S
    lines.advance("WA", tests=1)
    lines.close()
    assert re.fullmatch(r"2/100 submissions, AC 1 WA 1, about \S+ \S+ left, [\d.]+/s, 1 test\n", stream.getvalue())


def test_a_log_shows_the_remaining_time() -> None:
    """It is estimated from the submissions that this run judges. Other rows are counted separately from
    the verdicts.
    """
    stream = io.StringIO()
    lines = Lines(1000, stream)
    lines.tally.started -= 1000
    for became in ("AC", *["resumed"] * 490, "copy", "copy", "refused", *["WA"] * 6):
        lines.tally.count_read()
        if became in ("AC", "WA"):
            lines.tally.count_queued()
        lines.advance(became)
    assert stream.getvalue() == ""
    lines._shown_at -= progress.LINE_S
    lines.tally.count_read()
    lines.tally.count_queued()
    lines.advance("AC")
    assert re.fullmatch(  # 8 of 11 new rows had to be judged, each in 125 s; of 499 rows, 363 are expected
        r"501/1000 submissions, new: WA 6 AC 2, about 12 h 3\d min left, 0\.01/s, "
        r"copies 2, from earlier runs 490, not judged 1\n",
        stream.getvalue(),
    )


def test_copies_take_no_time() -> None:
    """All but one of 10,000 rows are done: copies of ten programs that took 100 s. The last one is estimated at 10 s,
    not minutes.
    """
    tally = Tally(10_000)
    for place in range(10_000):
        tally.count_read()
        if place < 11:
            tally.count_queued()
    tally.counts.update({"AC": 10, "copy": 9989})
    assert tally.left_s(tally.started + 100) == pytest.approx(10)
    tally.counts["AC"] += 1
    assert tally.left_s(tally.started + 100) is None


def test_programs_at_the_start_are_not_extrapolated() -> None:
    """300 programs, then copies of them and rows without code. Only the waiting programs are left, also if rows are
    unread.
    """
    tally = Tally(100_000)
    for place in range(6000):
        tally.count_read()
        if place < 300:
            tally.count_queued()
        elif place % 10 == 9:
            tally.count("NC")
    for _ in range(60):
        tally.count("AC")
    assert tally.judged == 60
    assert tally.left_s(tally.started + 300) == pytest.approx(240 * 5)


def test_rows_of_earlier_runs_do_not_change_the_estimate() -> None:
    """Half of the dump was judged before. Of the new rows every second one has to be judged."""
    tally = Tally(1000)
    for _ in range(500):
        tally.count_read()
        tally.count(RESUMED)
    for place in range(100):
        tally.count_read()
        if place % 2:
            tally.count_queued()
            tally.count("AC")
        else:
            tally.count(COPY)
    assert tally.left_s(tally.started + 50) == pytest.approx(200)


def drawn(columns: int, *became: str) -> list[str]:
    """The output on a terminal with this number of columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    chunks: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # the other end was closed
            while chunk := os.read(ours, 1 << 16):
                chunks.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w") as stream:
        bar = progress_for(1000, stream, load=lambda: (3, 4))
        assert isinstance(bar, Bar)
        for verdict in became:
            bar.tally.count_read()
            bar.tally.count_queued()
            bar.advance(verdict, tests=10)
        bar._show(time.monotonic())
    reader.join()
    os.close(ours)
    shown = b"".join(chunks).decode()
    return [line.rstrip() for line in re.split(r"[\r\n]+|\x1b\[A", shown) if line.strip()]


def test_a_wide_terminal_shows_all_parts() -> None:
    """Judge errors come first, because they must be noticed. Rows of earlier runs do not count in the rate."""
    *_, last = drawn(200, "AC", "AC", "WA", "JE", COPY, *[RESUMED] * 20)
    assert re.search(
        r"25/1000, new: JE 1 AC 2 WA 1, about \S+ \S+ left, 3/4 busy, [\d.]+/s, \d+ tests, copies 1, "
        r"from earlier runs 20",
        last,
    )


def test_without_a_worker_no_time_is_estimated() -> None:
    """The line says that nothing can be judged now."""
    lines = progress_for(10, io.StringIO(), load=lambda: (0, 0))
    lines.advance("AC")
    parts = lines.tally.parts(time.monotonic(), lambda: (0, 0))
    assert parts[:2] == ["AC 1", "no worker can be used"]
    assert not [part for part in parts if "left" in part or "busy" in part]


@pytest.mark.parametrize("columns", [0, 20, 40, 60, 80, 120])
def test_a_narrow_terminal_shows_the_first_parts(columns: int) -> None:
    """No line is wider than the terminal, because each update would then leave a line behind. Parts are shown
    completely or not at all.
    """
    lines = drawn(columns, *["AC"] * 7, *["JE"] * 2, *["WA"] * 5, *["TLE"] * 3)
    assert max(map(len, lines)) < (columns or 80)
    assert "17/1000"[: max(columns - 6, 0)] in lines[-1] or columns == 0
    if columns >= 40:
        assert "JE 2 AC 7" in lines[-1]
    assert ("busy" in lines[-1]) == (columns in (0, 80, 120)) or columns == 60


@pytest.mark.parametrize(
    ("room", "text"),
    [(0, ""), (3, "one"), (2, "on"), (7, "one"), (8, "one, two"), (12, "one, two"), (99, "one, two, 3 4")],
)
def test_parts_are_shown_completely(room: int, text: str) -> None:
    """Except the first part, which may be cut."""
    assert progress.fitting_parts(["one", "two", "3 4"], room) == text


def test_the_compilation_at_the_start_is_shown() -> None:
    """While the first problem's checker is compiled, nothing else changes."""
    stream, events = io.StringIO(), Events()
    bar = progress_for(3, stream, bar=True, events=events)
    what = {"problem": "2024/nile", "program": "checker", "target": "local"}
    events.emit("problem_preparing", **what)
    bar._shown_at -= progress.DRAW_S
    bar.show_if_due()
    assert "compiling checker of 2024/nile" in stream.getvalue().split("\r")[-1]
    events.emit("problem_prepared", **what, seconds=1.0, error=None)
    bar._shown_at -= progress.DRAW_S
    bar.show_if_due()
    assert "compiling" not in stream.getvalue().split("\r")[-1]
    bar.close()


def test_progress_is_reported_to_listeners() -> None:
    """At intervals and at the end. After the end nothing is reported."""
    listener = Listener()
    events = Events([listener])
    lines = progress_for(10, io.StringIO(), events=events, load=lambda: (2, 4))
    lines.advance("AC", tests=3)
    assert listener.told == []
    lines._emitted_at -= progress.EVENT_S
    lines.show_if_due()
    lines.advance(RESUMED)
    lines.close()
    first, last = listener.told
    assert (first["event"], first["done"], first["tests"], first["busy"], first["jobs"]) == ("progress", 1, 3, 2, 4)
    assert (last["done"], last["resumed"], last["judged"], last["busy"]) == (2, 1, 1, None)


def test_a_message_beside_a_bar_has_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a notebook, which supports only the return to the beginning of a line."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    tell("before")
    bar = progress_for(3, bar=True)
    bar.advance("AC")
    tell("a worker is lost", "and another one")
    for verdict in ("JE", "AC"):
        bar.advance(verdict)
    bar.close()
    tell("between")
    writing = bar.writing()
    writing.advance("")
    writing.close()
    first, second, third, judged, fourth, written = displayed(stream.getvalue())
    assert (first, fourth) == ("ioi-eval: before", "ioi-eval: between")
    assert (second, third) == ("ioi-eval: a worker is lost", "ioi-eval: and another one")
    assert re.match(r"100%\|[█#]+\| 3/3, JE 1 AC 2, ", judged)
    assert re.match(r" 33%\|[^|]+\| 1/3, rows of results written", written)


@pytest.mark.parametrize("bar", [True, False])
def test_writing_of_results_is_shown(bar: bool) -> None:
    """It may take minutes, in which the run would seem to hang."""
    stream = io.StringIO()
    writing = progress_for(3, stream, bar=bar).writing()
    if isinstance(writing, Lines):
        writing._shown_at -= progress.LINE_S
    writing.advance("")
    writing.advance("")
    writing.close()
    assert "written" in stream.getvalue()
    assert ("2/3" if bar else "1/3") in stream.getvalue()


@pytest.mark.parametrize("bar", [True, False])
def test_a_closed_terminal_does_not_end_the_run(bar: bool) -> None:
    """A user who logs out while a run continues still gets the results."""
    source, sink = os.pipe()
    os.close(source)  # writing to it is now an error
    stream = os.fdopen(sink, "w", buffering=1)
    try:
        shown = progress_for(3, stream, bar=bar)
        if isinstance(shown, Lines):
            shown._shown_at -= progress.LINE_S
        shown.advance("AC")
        shown.close()
        shown.writing().close()
    finally:
        with suppress(BrokenPipeError):  # what is left in the buffer cannot be written
            stream.close()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59.4, "59 s"), (60, "1 min"), (3569, "59 min"), (3571, "1 h 0 min"), (86399, "1 d 0 h"), (190_000, "2 d 4 h")],
)
def test_a_duration_is_shown_in_two_units(seconds: float, words: str) -> None:
    """At most two units are shown."""
    assert _duration(seconds) == words
