"""Rows of APPS and runs of programs, for the graders that compare only printed output."""

from __future__ import annotations

from typing import Any

from ioi_eval.compat.terms import Ending, TestRun
from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row


def problem(inputs: list[Any], outputs: list[Any], fn_name: str | None = None) -> AppsProblem:
    """A row."""
    values = {"input_output": {"inputs": inputs, "outputs": outputs, "fn_name": fn_name}}
    return apps_problem(Row(source="test", number=1, values=values), 0)


def printed(text: str, **more: Any) -> TestRun:
    """A run that printed this."""
    return TestRun(ending=Ending.FINISHED, output=text.encode(), **more)
