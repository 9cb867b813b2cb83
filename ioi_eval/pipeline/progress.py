"""Shows the progress of a run: a bar on a terminal or in a notebook, a line per minute in a log.

Both show the same values in this order, as many as fit on the line: the program that is being compiled, judge errors
and the other verdicts, the time that is left, running jobs, the rate, the tests, and the rows that were not judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar, Self, TextIO

from ioi_eval.concurrency import in_thread
from ioi_eval.events import Event, Events
from ioi_eval.pipeline.tally import Load, Tally

LINE_S = 60.0  # between two lines in a log
DRAW_S = 0.2  # between two drawings of a bar
EVENT_S = 10.0
CHECK_S = 1.0
_COLUMNS = 80  # of a terminal whose width is unknown
_LEAST_BAR = 10

_UNIT = "submissions"


class Progress(ABC):
    """Counts the rows of a run, and shows the progress to a person and as events.

    `advance` counts a row that is done. Rows that are read, and those that are to be judged, are counted by `tally`.

    Args:
        stream: where it is shown; stderr if not given.
        unit: what a row is called.
        events: the progress is emitted to it; its events say which program is being compiled.
        load: returns how many jobs run, and how many could; `None` if that is unknown.
    """

    every_s: ClassVar[float]

    def __init__(
        self,
        total: int,
        stream: TextIO | None = None,
        *,
        unit: str = _UNIT,
        events: Events | None = None,
        load: Load | None = None,
    ) -> None:
        self.tally = Tally(total)
        self._stream = stream or sys.stderr
        self._unit, self._events, self._load = unit, events, load
        self._shown_at = self._emitted_at = self.tally.started
        self._compiling: dict[str, None] = {}
        if events is not None:
            events.add(self)

    def advance(self, verdict: str, tests: int = 0, *, has_program: bool = True) -> None:
        """Count a row that is done. The progress is shown if that is due.

        Args:
            verdict: how it ended: its verdict, another word that is counted with verdicts, or `COPY`, `RESUMED` or
                `REFUSED`; empty if its results were written.
            has_program: whether there is a program to run; there is none if it is too large, for example.
        """
        self.tally.count(verdict, tests, has_program=has_program)
        self.show_if_due()

    def show_if_due(self) -> None:
        """Show the progress and emit its event, if these are due. Called every second."""
        now = time.monotonic()
        if now - self._shown_at >= self.every_s:
            self._shown_at = now
            self._show(now)
        if self._events is not None and now - self._emitted_at >= EVENT_S:
            self._emit(now)

    def _emit(self, now: float) -> None:
        self._emitted_at = now
        busy, jobs = (None, None) if self._load is None else self._load()
        if self._events is not None:
            self._events.emit("progress", **self.tally.as_dict(now), busy=busy, jobs=jobs)

    def listen(self, event: Event) -> None:
        """Note which of a problem's own programs are being compiled: its submissions wait for them."""
        if event["event"] not in ("problem_preparing", "problem_prepared"):
            return
        name = " of ".join(filter(None, (event["program"], event["problem"])))
        if event["event"] == "problem_preparing":
            self._compiling[name] = None
        else:
            self._compiling.pop(name, None)

    def _parts(self, now: float) -> list[str]:
        compiling = [f"compiling {name}" for name in list(self._compiling)[:1]]
        return [*compiling, *self.tally.parts(now, self._load)]

    def writing(self) -> Self:
        """The progress of writing the results, after judging. Only `advance` and `close` are called on it."""
        return type(self)(self.tally.total, self._stream, unit="rows of results written")

    def close(self) -> None:
        """Show the last state, and emit it: this part of the run is over."""
        self._load = None  # nothing runs any more
        self._emit(time.monotonic())
        self._end()
        if self._events is not None:
            self._events.remove(self)

    @abstractmethod
    def _show(self, now: float) -> None:
        """Show the progress."""

    def _end(self) -> None:  # noqa: B027 - lines end by themselves
        """Show the last state, which stays visible."""


class Bar(Progress):
    """A tqdm bar."""

    every_s = DRAW_S

    def __init__(self, total: int, stream: TextIO | None = None, **options: Any) -> None:
        import tqdm

        super().__init__(total, stream, **options)
        self._bar = tqdm.tqdm(
            total=total,
            file=self._stream,
            mininterval=0,
            ncols=_columns(self._stream),
            bar_format="{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix}",
            delay=1,  # it is not drawn here, where an error could not be suppressed
        )
        self._bar.delay = 0
        with contextlib.suppress(OSError):
            self._bar.refresh()

    def _show(self, now: float) -> None:
        columns = self._bar.ncols = _columns(self._stream)
        tally, parts = self.tally, [*([] if self._unit == _UNIT else [self._unit]), *self._parts(now)]
        room = columns - len(f"100%|| {tally.total}/{tally.total}, ") - _LEAST_BAR
        self._bar.n = tally.counts.total()
        with contextlib.suppress(OSError):  # the terminal was closed: the run goes on
            self._bar.set_postfix_str(fitting_parts(parts, room), refresh=True)

    def _end(self) -> None:
        self._show(time.monotonic())
        with contextlib.suppress(OSError):
            self._bar.close()


class Lines(Progress):
    """A line per minute, for logs."""

    every_s = LINE_S

    def _show(self, now: float) -> None:
        done = self.tally.counts.total()
        with contextlib.suppress(OSError):  # the terminal was closed: the run goes on
            line = f"{done}/{self.tally.total} {self._unit}, {', '.join(self._parts(now))}"
            print(line, file=self._stream, flush=True)


class NotebookLine(io.StringIO):
    """A file for bars: the last drawing of each is displayed, on a line of its own below a notebook's cell.

    A notebook shows and saves everything that a kernel writes to stdout or stderr, also every drawing of a bar. A
    display with an id is replaced instead, by all front ends and in the saved notebook, so that only its last state
    remains. Unlike a widget, it needs no further package, and no script to be shown.
    """

    encoding = "utf-8"

    def __init__(self) -> None:
        super().__init__()
        self._line = self._shown = ""
        self._handle: Any = None

    def write(self, text: str, /) -> int:
        """Store a drawing, to display it: it begins with a carriage return. A newline ends the bar."""
        if text == "\n":
            self._line, self._shown, self._handle = "", "", None
        else:
            self._line = text.rpartition("\r")[2].rstrip() or self._line
        return len(text)

    def flush(self) -> None:
        """Display the last drawing, in place of the one before."""
        if self._line == self._shown:
            return
        self._shown, values = self._line, {"text/plain": self._line}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(values, raw=True, display_id=True)
        else:
            self._handle.update(values, raw=True)


def progress_for(
    total: int,
    stream: TextIO | None = None,
    *,
    bar: bool | None = None,
    events: Events | None = None,
    load: Load | None = None,
) -> Progress:
    """A bar on a terminal and in a notebook, else lines.

    Args:
        bar: whether it is a bar; `None` to decide by the stream.
        stream, events, load: as in `Progress`.
    """
    stream = stream or sys.stderr
    notebook = _is_of_notebook(stream)
    chosen = Bar if (notebook or stream.isatty() if bar is None else bar) else Lines
    where = NotebookLine() if notebook and chosen is Bar else stream
    return chosen(total, where, events=events, load=load)


async def with_progress(progress: Progress, work: Awaitable[None], *, check: Callable[[], None] | None = None) -> None:
    """Do the work; every second meanwhile call `check`, in a thread, and then `progress.show_if_due`.

    Raises:
        ExceptionGroup: of the errors that the work or `check` raised.
    """

    async def keep_showing() -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            if check is not None:
                await in_thread(check)
            progress.show_if_due()

    async with asyncio.TaskGroup() as group:
        showing = group.create_task(keep_showing())
        await work
        showing.cancel()


def fitting_parts(parts: Sequence[str], room: int) -> str:
    """As many parts as fit, from the first and most important on; if not even that fits, its beginning."""
    text = ""
    for part in parts:
        longer = f"{text}, {part}" if text else part
        if len(longer) > room:
            return text or part[: max(room, 0)]
        text = longer
    return text


def _is_of_notebook(stream: TextIO) -> bool:
    """Whether the stream's text is shown below a notebook's cell."""
    kernel = sys.modules.get("ipykernel.iostream")
    return kernel is not None and isinstance(stream, kernel.OutStream)


def _columns(stream: TextIO) -> int:
    """The width of a terminal, without the last column, after which some terminals begin a new line."""
    try:  # a notebook's stream has the descriptor of the terminal in which Jupyter was started
        columns = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError, io.UnsupportedOperation):
        columns = 0
    return (columns or _COLUMNS) - 1
