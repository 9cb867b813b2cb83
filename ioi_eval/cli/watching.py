"""`--progress`, `--log-file` and `--track`: where the events of a run are sent."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ioi_eval.cli.exits import exit_code_of
from ioi_eval.cli.grouped import option
from ioi_eval.cli.messages import tell
from ioi_eval.cli.options import Bar
from ioi_eval.errors import InputError, first_own_error
from ioi_eval.version import __version__

if TYPE_CHECKING:
    from ioi_eval.cli.sandboxes import OpenSandbox
    from ioi_eval.events import Events

LogFile = Annotated[
    Path | None,
    option(
        "--log-file FILE",
        "Append what happens to FILE: a line of JSON for each program, judge error, lost worker, and so on.",
    ),
]

_SUMMARY = ("complete", "interrupted", "submissions", "verdicts", "average_score", "pass_at_k")
"""The entries of `summary.json` in its event: those whose size does not grow with the number of problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Where the events of a run are sent: a group of options."""

    bar: Bar = None
    log_file: LogFile = None
    track: Annotated[
        list[str] | None,
        option(
            "--track wandb|trackio",
            "Send the progress to this service; NAME:PROJECT for another project than ioi-eval. May be repeated.",
        ),
    ] = None

    def run(
        self, command: str, options: Mapping[str, Any], work: Callable[[Events], int], *, read: Sequence[str] = ()
    ) -> int:
        """Do the work of a command, and send events at its beginning and at its end, also after an error."""
        events = self._events({"command": command, "options": options}, read)
        try:
            code = work(events)
        except BaseException as error:
            cause = first_own_error(error)
            events.emit("run_ends", exit_code=exit_code_of(cause), error=str(cause) or type(cause).__name__)
            raise
        else:
            events.emit("run_ends", exit_code=code, error=None)
            return code
        finally:
            with suppress(KeyboardInterrupt):  # the user does not want to wait for trackers; the results are complete
                events.close()

    def _events(self, call: Mapping[str, Any], read: Sequence[str]) -> Events:
        from ioi_eval.events import Events

        log = None
        if self.log_file is not None:
            from ioi_eval.cli.outputs import refuse_inside
            from ioi_eval.events.lines import log_file

            refuse_inside("--log-file", self.log_file, read)
            log = log_file(self.log_file)
        trackers = []
        if self.track:
            from ioi_eval.events.tracking import TrackerProcess

            trackers = [TrackerProcess(name, tell) for name in self.track]
        events = Events([*([] if log is None else [log]), *trackers])
        here = {"ioi_eval": __version__, "python": platform.python_version(), "machine": platform.platform()}
        events.emit("run_begins", **call, **here)
        if log is not None:
            if log.failure:
                events.close()
                raise InputError(f"--log-file {self.log_file} cannot be written: {log.failure}; name another file")
            log.say = tell
        return events


def emit_judging_begins(events: Events, entered: OpenSandbox, **values: object) -> None:
    """Send the event that judging of a dump begins, with the targets and its other values (`event.json`)."""
    targets = [
        {
            "name": target.name,
            "profile": target.profile,
            "compiler": target.toolchain.version,
            "isolation": target.isolation,
            "slots": target.slots,
        }
        for target in entered.sandbox.targets()
    ]
    events.emit("judging_begins", **values, targets=targets)


def emit_summary(events: Events, summary: Mapping[str, Any], *, out: Path | None) -> None:
    """Send the event with the summary of a dump, whose results are in `out`."""
    values = {name: summary[name] for name in _SUMMARY if name in summary}
    if "difficulties" in summary:
        values["difficulties"] = {line["difficulty"]: line for line in summary["difficulties"]}
    events.emit("summary", out=out, **values)
