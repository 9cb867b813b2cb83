"""A task that is judged quickly: two numbers on stdin, their sum on stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.forked_commands import COMMAND, Ended

__all__ = ["COMMAND", "Ended"]

Start = Callable[..., Ended]
Write = Callable[..., Path]
Pushed = Callable[[str], list[dict[str, Any]]]

RIGHT = '#include <cstdio>\nint main() { long long a, b; scanf("%lld %lld", &a, &b); printf("%lld\\n", a + b); }\n'
NARROW = RIGHT.replace("long long", "int").replace("%lld", "%d")
ASKS = f"#include <sys/socket.h>\nint asked = socket(AF_INET, SOCK_STREAM, 0);\n{RIGHT}"
ENDS = f"#include <sys/syscall.h>\n#include <unistd.h>\nlong asked = syscall(SYS_ptrace, 0, 0, 0);\n{RIGHT}"
"""By a call that filters of containers let pass, so that it is told."""

SLOW = "int main() { for (volatile long i = 0;; i = i + 1) {} }\n"


def problem_row(subtask: str, points: float, *tests: str, **other: Any) -> dict[str, Any]:
    """A row of the problem "add": two numbers on stdin, their sum on stdout, no grader, no checker."""
    row = {
        "year": 2024, "id": "add", "name": "Add", "day": "1", "subtask": subtask, "score": points,
        "score_precision": 2, "time_limit": 1.0, "memory_limit": 1 << 28, "task_type": "Batch",
        "test_names": list(tests), "grader_files": [],
    }  # fmt: skip
    return {**row, **other}


PROBLEMS = (problem_row("00-samples", 0, "0-01"), problem_row("01-full", 100, "0-01", "1-01"))
TESTS = tuple(
    {
        "year": 2024, "day": "1", "problem_name": "Add", "problem_id": "add", "test_name": name,
        "test_input": f"{a} {b}\n", "test_output": f"{a + b}\n",
    }
    for name, a, b in (("0-01", 1, 2), ("1-01", 3_000_000_000, 4))
)  # fmt: skip


def submission_row(uuid: str, code: str | None = RIGHT, **other: Any) -> dict[str, Any]:
    """A row of a dump."""
    return {"uuid": uuid, "year": 2024, "problem_id": "add", "code": code, **other}
