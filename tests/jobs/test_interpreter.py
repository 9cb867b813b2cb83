"""What an interpreter says of itself."""

from __future__ import annotations

import json

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.jobs.harness import interpreter_of
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.model import Isolation


def answer(version: str) -> CompileAnswer:
    """The answer to `interpreter_recipe` of an interpreter with this version."""
    values: dict[str, object] = {
        "python": version,
        "numpy": None,
        "packages": "",
        "executable": "/usr/bin/python3",
        "origin": "/usr/bin",
        "reads": [],
    }
    step = StepLine(code=0, signal=0, limit=None, cpu_ms=1.0, output=json.dumps(values))
    return CompileAnswer(steps=(step,), artifacts={"harness.bin": b"code"}, isolation=Isolation.FULL)


def test_only_cpython_is_accepted() -> None:
    """The harness calls CPython's own functions. PyPy was accepted, and each row was JE with its stack trace."""
    assert str(interpreter_of(answer("cpython 3.13.1"), "python3")) == "cpython 3.13.1"
    with pytest.raises(SetupError) as raised:
        interpreter_of(answer("pypy 3.9.16"), "pypy3")
    assert str(raised.value) == (
        "the interpreter pypy3 is pypy 3.9.16, and tests can be forked from CPython only: give one with --python "
        "(python= in Python)"
    )
