"""Official outputs which show that the model solution failed.

With the IOI's testlib an output can begin with two lines: a secret and the grader's result (`OK`, `SV`, …). The checker
requires them in the official output too. If the model solution failed while the tests were generated (a small stack is
enough for that), its output is not an answer. The checker then reports a failure of the judge, and every solution gets
0.
Source: testlib as it is changed for CMS, `readBothGraderResults`.
"""

from __future__ import annotations

from ioi_eval.errors import InputError
from ioi_eval.model import Problem

_ASKS = b"readBothGraderResults"
_GOOD = "OK"
_FAILED = ("SV", "PV", "WA", "FAIL")


def has_stated_results(problem: Problem) -> bool:
    """Whether the checker requires the grader's result in official outputs."""
    return problem.checker is not None and _ASKS in problem.checker.source.content


def check_answer(name: str, text: str) -> None:
    """Refuse an official output which shows that the model solution failed.

    Args:
        name: the output's path in the package.
        text: its content.

    Raises:
        InputError: it is empty, or the grader's result is not `OK`.
    """
    stated = text.split(maxsplit=2)[1:2]
    if stated and stated[0] not in _FAILED:
        return
    problem = f"says {stated[0]}, but the checker needs {_GOOD}" if stated else "does not say how the grader ended"
    raise InputError(
        f"{name} {problem}: the model solution failed on this test; generate it again, with `ulimit -s unlimited`"
    )
