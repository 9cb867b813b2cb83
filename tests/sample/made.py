"""The rows of the sample contest, generated once a process. Its inputs take a fifth of a second of CPU time."""

from __future__ import annotations

import functools

from tests.sample.generate import contest
from tests.sample.task import Task

IDS = ("berths", "buoys", "lamps", "keepers")


@functools.cache
def tasks() -> dict[str, Task]:
    """The four tasks by their ids."""
    return {task.id: task for task in contest()}
