"""The process of `--track`: reads events from standard input, and passes settings and numbers to wandb or trackio.

    python -m ioi_eval.events.tracker PACKAGE PROJECT < events

Both packages have the same three functions: `init`, `log`, `finish`. If they fail, only this process fails.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_CONFIG = ("command", "ioi_eval", "python", "machine", "options")
"""The values of the first event that describe the run."""

_CURVES = ("progress", "summary")
"""The events whose numbers are drawn."""

_QUIET = {"WANDB_SILENT": "true", "WANDB_CONSOLE": "off"}


def numbers(values: Mapping[str, Any], before: str = "") -> dict[str, float]:
    """All numbers of an event, or of an object in it whose path is `before`, by their paths: `verdicts/AC`."""
    result: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            result |= numbers(value, f"{before}{name}/")
        elif isinstance(value, int | float):
            result[f"{before}{name}"] = value
    return result


def track(package: str, project: str, lines: Iterable[bytes]) -> str:
    """Pass the events of one run, each a line of JSON, to a tracker; other lines are skipped. Returns the address or
    directory of the run, if the package has one, else its project."""
    tracker = importlib.import_module(package)
    events = _events(lines)
    first = next(events, None)
    if first is None:
        return ""
    run = tracker.init(project=project, config={name: first.get(name) for name in _CONFIG})
    for event in events:
        if event["event"] in _CURVES:
            before = "" if event["event"] == "progress" else "summary/"
            tracker.log(numbers({k: v for k, v in event.items() if k not in ("time", "run", "event")}, before))
    url, directory = getattr(run, "url", None), getattr(run, "dir", None)
    tracker.finish()
    return str(url or directory or f"project {project}")


def _events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and "event" in event:
                yield event


def main() -> None:
    """Read events to their end. The output of the packages goes to stderr, so that stdout has the answer only."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    package, project = sys.argv[1:]
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    answer.write(track(package, project, sys.stdin.buffer))
    answer.close()


if __name__ == "__main__":
    main()
