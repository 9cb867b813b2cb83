"""Official outputs that say of themselves that they are none.

With the IOI's testlib an output can begin with a secret and how the grader ended (`OK`, `SV`, …), in a line each, which
the checker asks of the official output as well. Where the model solution failed while the tests were generated, for
which a small stack is enough, that output is no answer: the checker calls it a failure of the judge, and every
solution gets 0.
Source: testlib as it is changed for CMS, `readBothGraderResults`.
"""

from __future__ import annotations

from pathlib import Path

from ioi_eval.errors import InputError
from ioi_eval.model import Problem

_ASKS = b"readBothGraderResults"
_GOOD = "OK"
_FAILED = ("SV", "PV", "WA", "FAIL")


def has_stated_results(problem: Problem) -> bool:
    """Whether the checker asks of official outputs how the grader ended."""
    return problem.checker is not None and _ASKS in problem.checker.content


def check_answer(where: Path, name: str, text: str) -> None:
    """Refuse an output that says that its making failed.

    Args:
        where: the package, for messages.
        name: the output's path in it.
        text: its content.

    Raises:
        InputError: it is empty, or the grader did not end well.
    """
    stated = text.split(maxsplit=2)[1:2]
    if stated and stated[0] not in _FAILED:
        return
    said = f"says {stated[0]}, where the checker needs {_GOOD}" if stated else "does not say how the grader ended"
    raise InputError(
        f"{where}: {name} {said}: the model solution failed on this test; generate it again, with `ulimit -s unlimited`"
    )
