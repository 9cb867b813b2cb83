"""Rows of a small data set in the format of APPS, and files with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DOUBLE = "print(2 * int(input()))\n"
ZERO = "print(0)\n"
FAILS = "raise ValueError('no')\n"


def apps_row(problem: Any, inputs: Sequence[Any], outputs: Sequence[Any], **other: Any) -> dict[str, Any]:
    """A row as in codeparrot/apps."""
    fn_name = other.pop("fn_name", None)
    tests = {"inputs": list(inputs), "outputs": list(outputs), **({"fn_name": fn_name} if fn_name else {})}
    row = {
        "problem_id": problem, "question": "?", "solutions": "", "input_output": json.dumps(tests),
        "difficulty": "interview", "url": "", "starter_code": "",
    }  # fmt: skip
    return {**row, **other}


def doubling(problem: Any, numbers: Sequence[int] = (1, 2, 3), **other: Any) -> dict[str, Any]:
    """A problem that `DOUBLE` solves. `ZERO` passes those of its tests whose number is 0."""
    return apps_row(problem, [f"{n}\n" for n in numbers], [f"{2 * n}\n" for n in numbers], **other)


ROWS = (
    doubling(0, difficulty="introductory", solutions=json.dumps([DOUBLE])),
    doubling(1, (0, 1, 2, 3), difficulty="interview", solutions=json.dumps([DOUBLE, ZERO])),
    apps_row(2, [[1], [2]], [[2], [4]], fn_name="twice", difficulty="competition"),
    apps_row(3, ["1\n", "2\n"], ["1\n"], difficulty="competition"),
    {**doubling(4), "input_output": ""},
    {**doubling(5), "input_output": "{"},
)
"""Two sound ones, one that is called, and three that cannot be judged: unequal, without tests, broken."""


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
