"""What the drivers of other graders share: tasks come as lines of JSON, and so do the answers.

The programs here are run by the interpreter that has the other grader's packages, and import nothing of ours.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

_USED = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_OF_PROCESSES = resource.getrusage  # graders and programs may hide the module


def answer(work: Callable[[Any], Any]) -> None:
    """Answer each line of the standard input until it ends, by `{"result": …, "cpu_s": …}`.

    `cpu_s` is the CPU time of this process and of its ended children, in seconds. What the grader or a program prints
    is lost.

    Args:
        work: makes the result of a task; both are values of JSON.
    """
    tasks, answers = sys.stdin, os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in iter(tasks.readline, ""):
        result = work(json.loads(line))
        spent_s = sum(used.ru_utime + used.ru_stime for used in map(_OF_PROCESSES, _USED))
        print(json.dumps({"result": result, "cpu_s": spent_s}), file=answers, flush=True)
