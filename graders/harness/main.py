"""The harness's command line.

run --task FD [--report FD] [--grader NAME]     do what a task asks, with the streams on 0, 1 and 2
serve --control FD [--grader NAME]              fork for each request: see `warm.py`
probe                                           print what this interpreter is
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from . import program


def probe() -> dict[str, Any]:
    """What this interpreter is, for the results."""
    try:
        import numpy
    except ImportError:
        numpy = None
    return {
        "python": f"{sys.implementation.name} {sys.version.split()[0]}",
        "numpy": numpy.__version__ if numpy else None,
    }


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    command = arguments[0]
    options = {arguments[i]: arguments[i + 1] for i in range(1, len(arguments), 2)}
    if command == "probe":
        print(json.dumps(probe()), flush=True)
        return 0
    grader = None
    if "--grader" in options:
        from . import other_graders

        grader = other_graders.OtherGrader(options["--grader"])
    if command == "serve":
        from . import warm

        return warm.serve(int(options["--control"]), grader)
    task_fd = int(options["--task"])
    task = program.Task(program.read_all(task_fd))
    os.close(task_fd)
    return program.perform(task, program.Report(int(options["--report"]) if "--report" in options else None), grader)
