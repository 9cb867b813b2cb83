"""What is shown while a run goes on."""

from __future__ import annotations

import io

from ioi_eval.pipeline import progress
from ioi_eval.pipeline.progress import Bar, Lines, progress_for


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
