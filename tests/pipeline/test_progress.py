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
from ioi_eval.pipeline.progress import Bar, Lines, Tally, progress_for
from tests.displayed import displayed
from tests.events.listener import Listener


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
    assert "JE 1 AC 2" in last
    assert re.search(r"\d\.\d\d/s", last)


def test_a_log_gets_a_line_now_and_then() -> None:
    """No control characters, and not a line for every submission."""
    stream = io.StringIO()
    lines = progress_for(100, stream)
    assert isinstance(lines, Lines)
    lines.advance("AC")
    assert stream.getvalue() == ""
    lines._shown -= progress.LINE_S
    lines.advance("WA")
    lines.close()
    assert re.fullmatch(r"2/100 submissions, AC 1 WA 1, about \S+ \S+ left, [\d.]+/s\n", stream.getvalue())


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
    lines._shown -= progress.LINE_S
    lines.read()
    lines.queue()
    lines.advance("AC")
    assert re.fullmatch(  # 8 of 11 that were new had to be judged, each in 125 s: of 499 it will be 363
        r"501/1000 submissions, new: WA 6 AC 2, about 12 h 3\d min left, 0\.01/s, "
        r"without 2 copies, 490 from earlier runs, 1 refused\n",
        stream.getvalue(),
    )


def test_rows_that_are_skipped_say_nothing_about_the_others() -> None:
    """Like rows from earlier runs that come one by one."""
    tallies = [Tally(1000), Tally(1000)]
    tallies[0].skip("resumed", 900)
    for _ in range(900):
        tallies[1].read()
        tallies[1].count("resumed")
    for tally in tallies:
        tally.started = 0.0
        tally.read()
        tally.queue()
        tally.count("AC")
    assert tallies[0].as_dict(10.0) == tallies[1].as_dict(10.0)
    assert tallies[0].left_s(10.0) == 990.0


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


def drawn(columns: int, *became: str) -> list[str]:
    """What a terminal of so many columns is shown."""
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
            bar.read()
            bar.queue()
            bar.advance(verdict, tests=10)
        bar._show(time.monotonic())
    reader.join()
    os.close(ours)
    shown = b"".join(chunks).decode()
    return [line.rstrip() for line in re.split(r"[\r\n]+|\x1b\[A", shown) if line.strip()]


def test_a_wide_terminal_shows_all() -> None:
    """Judge errors first, as nobody may miss them; what earlier runs did is not in the rate."""
    *_, last = drawn(200, "AC", "AC", "WA", "JE", progress.COPY, *[progress.RESUMED] * 20)
    assert re.search(
        r"25/1000, new: JE 1 AC 2 WA 1, about \S+ \S+ left, 3/4 busy, [\d.]+/s, \d+ tests, without 1 copies, "
        r"20 from earlier runs",
        last,
    )


@pytest.mark.parametrize("columns", [0, 20, 40, 60, 80, 120])
def test_a_narrow_terminal_shows_what_matters_most(columns: int) -> None:
    """No line is wider than it, as each drawing would leave a line behind; parts are shown whole or not at all."""
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
def test_parts_are_shown_whole(room: int, text: str) -> None:
    """But for the first, of which a part is better than nothing."""
    assert progress.fitted(["one", "two", "3 4"], room) == text


def test_what_is_compiled_is_shown_first() -> None:
    """While the first problem's checker is compiled, nothing else happens."""
    stream, events = io.StringIO(), Events()
    bar = progress_for(3, stream, bar=True, events=events)
    what = {"problem": "2024/nile", "program": "checker", "target": "local"}
    events.emit("problem_preparing", **what)
    bar._shown -= progress.DRAW_S
    bar.beat()
    assert "compiling checker of 2024/nile" in stream.getvalue().split("\r")[-1]
    events.emit("problem_prepared", **what, seconds=1.0, error=None)
    bar._shown -= progress.DRAW_S
    bar.beat()
    assert "compiling" not in stream.getvalue().split("\r")[-1]
    bar.close()


def test_progress_is_told() -> None:
    """Now and then, and at the end; nothing after it."""
    listener = Listener()
    events = Events([listener])
    lines = progress_for(10, io.StringIO(), events=events, load=lambda: (2, 4))
    lines.advance("AC", tests=3)
    assert listener.told == []
    lines._emitted -= progress.EVENT_S
    lines.beat()
    lines.advance(progress.RESUMED)
    lines.close()
    first, last = listener.told
    assert (first["event"], first["done"], first["tests"], first["busy"], first["jobs"]) == ("progress", 1, 3, 2, 4)
    assert (last["done"], last["resumed"], last["judged"], last["busy"]) == (2, 1, 1, None)


def test_a_message_beside_a_bar_has_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a notebook, which shows no terminal's movements but the one to the beginning of the line."""
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
def test_writing_is_shown_too(bar: bool) -> None:
    """It may take minutes, in which a run seems to hang."""
    stream = io.StringIO()
    writing = progress_for(3, stream, bar=bar).writing()
    if isinstance(writing, Lines):
        writing._shown -= progress.LINE_S
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
            shown._shown -= progress.LINE_S
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
