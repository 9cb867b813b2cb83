"""Run jobs whose outputs come back to our side, and their answers. Pure.

A function's result is compared as data, and other graders compare in their own ways: both happen here, far from the
program. What comes back is bounded; of a longer output only its length is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ioi_eval.extract.fences import encodable
from ioi_eval.jobs.protocol import by_number, integer, outcome_of, string, text, whole_lines
from ioi_eval.model import Isolation, Stage, TestOutcome

_UNJUDGED = {"verdict": "JE", "score": None, "program": "reader", "words": "nobody has judged it yet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the harness said of a run, or the program in its name: a claim, never a score.

    Args:
        phase: `compile`, `load`, `run` or `done`; empty if nothing was said that can be read.
        exit: it was an exit, not an error.
        error: the `repr` of what was raised.
        traceback: its end.
    """

    phase: str = ""
    exit: bool = False
    error: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """One test.

    Args:
        outcome: what the runner says. Where it leaves the judging to us the verdict is JE, until we have judged.
        judged: whether the verdict is the runner's.
        output_bytes: how many were printed.
        idle_s: how long it neither ran nor waited for a processor.
        report: of the harness.
    """

    outcome: TestOutcome
    judged: bool
    output_bytes: int = 0
    idle_s: float = 0.0
    report: Report = Report()

    @property
    def output(self) -> bytes:
        """The first bytes of what was printed."""
        return self.outcome.output or b""

    @property
    def whole(self) -> bool:
        """Whether all of the output came back."""
        return len(self.output) == self.output_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnedAnswer:
    """The tests that were run, by their number in the plan."""

    tests: Mapping[int, Returned]
    isolation: Isolation


def returned_answer(stage: Stage, nonce: str, *, names: Mapping[int, str], time_limit_s: float) -> ReturnedAnswer:
    """Read the answer to a run plan as `run_answer` does, with outputs and reports where it has them."""
    lines, isolation = whole_lines(stage, nonce)
    tests = by_number(lines, lambda number, line: _returned(line, names[number], time_limit_s))
    return ReturnedAnswer(tests=tests, isolation=isolation)


def _returned(line: dict[str, object], name: str, time_limit_s: float) -> Returned:
    judged = line["verdict"] is not None
    if not judged and line["score"] is not None:
        raise ValueError("a score without a verdict")
    outcome = outcome_of(line if judged else {**line, **_UNJUDGED}, name, time_limit_s)
    return Returned(
        outcome=outcome,
        judged=judged,
        output_bytes=integer(line, "output_bytes") if "output_bytes" in line else 0,
        idle_s=integer(line, "idle_us") / 1e6,
        report=_report(text(string(line, "report"))) if "report" in line else Report(),
    )


def _report(line: str) -> Report:
    """The report, if it is one. A program can write what it likes there, and gains nothing by it.

    JSON can carry halves of characters, which no file of ours can.
    """
    try:
        said = json.loads(line)
        return Report(
            phase=encodable(str(said["phase"])),
            exit=said.get("exit") is True,
            error=encodable(str(said.get("error", ""))),
            traceback=encodable(str(said.get("traceback", ""))),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Report()
