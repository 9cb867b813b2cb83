"""The common part of the drivers of other graders: tasks and answers are lines of JSON.

These programs are run by an interpreter with the other grader's packages, and import nothing of ours.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

_USED = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_OF_PROCESSES = resource.getrusage  # saved here, because graders and programs may hide the module


def answer(work: Callable[[Any], Any]) -> None:
    """Answer each line of the standard input until it ends, with `{"result": …, "cpu_s": …}`.

    `cpu_s` is the CPU time of this process and of its ended children, in seconds. Output of the grader or of a program
    is discarded.

    Args:
        work: computes the result of a task; both are JSON values.
    """
    tasks, answers = sys.stdin, os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in iter(tasks.readline, ""):
        result = work(json.loads(line))
        spent_s = sum(used.ru_utime + used.ru_stime for used in map(_OF_PROCESSES, _USED))
        print(json.dumps({"result": result, "cpu_s": spent_s}), file=answers, flush=True)
