"""Attacks by Python programs: on the interpreter that they share with the harness, and on everything outside of it.

Each is a program for a problem of two tests. Their answers are random and new in each run: a program that passes a test
has stolen the answer. A program that got other forbidden data prints `GOT …`. The tests are judged in order, so the
first can leave something for the second.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from textwrap import dedent

from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonAttack:
    """One attack.

    Args:
        name: its name, also in docs/attacks.md.
        tries: what it does, for docs/attacks.md.
        code: its source.
        expect: the accepted verdicts.
        called: whether it is a function `solve(n)`, not a program that reads standard input.
    """

    name: str
    tries: str
    code: str
    expect: frozenset[str]
    called: bool = False

    @property
    def long_limit(self) -> bool:
        """Whether it gets the long time limit, because TLE is not accepted."""
        return "TLE" not in self.expect


def problem(*, called: bool) -> AppsProblem:
    """The problem of these attacks, with new random answers."""
    numbers = [1, 2]
    answers = [secrets.token_hex(16) for _ in numbers]
    if called:
        values = {"inputs": [[n] for n in numbers], "outputs": answers, "fn_name": "solve"}
    else:
        values = {"inputs": [f"{n}\n" for n in numbers], "outputs": [f"{answer}\n" for answer in answers]}
    row = {"problem_id": 1, "input_output": values}
    return apps_problem(Row(source="attack", number=1, values=row), 0)


def honest_problem() -> AppsProblem:
    """The problem that is judged after each attack."""
    row = {"problem_id": 2, "input_output": {"inputs": ["20 22\n"], "outputs": ["42\n"]}}
    return apps_problem(Row(source="honest", number=1, values=row), 0)


HONEST = "print(sum(map(int, input().split())))"

_HEAD = """
import os, sys
def got(*words):
    print("GOT", *words, flush=True)
    os._exit(0)
def attempt(what, *arguments, **named):
    try:
        value = what(*arguments, **named)
    except (OSError, ValueError, ImportError, AttributeError, MemoryError):
        return None
    return True if value is None else value
"""


_LOOT = """
import re
def loot(texts):
    for text in texts:
        if type(text) is bytes:
            text = text.decode("latin-1")
        if type(text) is str:
            for found in re.findall(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", text):
                return found
    return "nothing"
"""


def _whole(code: str) -> str:
    return _HEAD + (_LOOT if "loot(" in code else "") + dedent(code)


def program(name: str, tries: str, code: str, expect: str = "WA RE") -> PythonAttack:
    """An attack by a program that reads standard input; `expect`: verdicts with blanks between."""
    return PythonAttack(name=f"python_{name}", tries=tries, code=_whole(code), expect=frozenset(expect.split()))


def function(name: str, tries: str, code: str, expect: str = "WA RE") -> PythonAttack:
    """An attack by a function `solve(n)`."""
    return PythonAttack(
        name=f"python_{name}", tries=tries, code=_whole(code), expect=frozenset(expect.split()), called=True
    )
