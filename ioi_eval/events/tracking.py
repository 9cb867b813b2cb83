"""Passes events to wandb or trackio, in a separate process: `--track`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Final

from ioi_eval.errors import InputError
from ioi_eval.events import Event
from ioi_eval.events.lines import EventLines

FINISH_S: Final = 30.0
"""How long the end of a run waits for a tracker to send everything."""

TRACKERS: Final = ("wandb", "trackio")


class TrackerProcess:
    """Passes events to a separate process, in which wandb or trackio runs.

    So that package can neither slow down nor end the run if it waits for a network, starts threads, or fails. If the
    process reads too slowly, so that the pipe to it is full, events are left out.

    `tracker` is the package's name, and perhaps a project after a colon: `wandb`, `trackio:olympiad`.
    """

    def __init__(self, tracker: str, say: Callable[[str], None]) -> None:
        package, _, project = tracker.partition(":")
        if package not in TRACKERS:
            known = " and ".join(TRACKERS)
            raise InputError(f"--track {tracker} is unknown; {known} are supported, also with a project (NAME:PROJECT)")
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:  # without origin, it is only a directory with that name
            raise InputError(
                f"--track {package} needs a package that is not installed: pip install '.[{package}]' in the "
                "checkout of ioi_eval"
            )
        self._package, self._say = package, say
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - `close` reads it when the process has ended
        theirs, ours = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ioi_eval.events.tracker", package, project or "ioi-eval"],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            start_new_session=True,  # Ctrl-C must reach the run only, which then sends its last events
        )
        os.close(theirs)
        os.set_blocking(ours, False)
        self._lines = EventLines(ours, package)  # without `say`: `close` reports failures

    def listen(self, event: Event) -> None:
        """Pass the event to the process."""
        self._lines.listen(event)

    def close(self) -> None:
        """Let the process finish; say where the curves are, or why there are none."""
        self._lines.close()
        try:
            if self.process.poll() is None:
                self._say(
                    f"waiting until {self._package} has sent everything, at most {FINISH_S:g} s; Ctrl-C ends the"
                    " waiting and changes no results"
                )
            output, _ = self.process.communicate(timeout=FINISH_S)
        except subprocess.TimeoutExpired:
            self._say(f"{self._package} is still sending after {FINISH_S:g} s; it goes on (process {self.process.pid})")
            self._report_lost_events()
            return
        except KeyboardInterrupt:
            self._say(f"{self._package} may still be sending; it goes on without us (process {self.process.pid})")
            raise
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        if self.process.returncode:
            self._say(
                f"{self._package} failed: {lines[-1] if lines else 'it printed no message'}. The results are complete"
            )
            return
        if output.strip():
            self._say(f"{self._package}: {output.decode('utf-8', 'replace').strip()}")
        self._report_lost_events()

    def _report_lost_events(self) -> None:
        if self._lines.failure:
            self._say(
                f"{self._package} was too slow for some events, which are missing there; the results are complete"
            )
