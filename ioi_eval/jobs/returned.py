"""Reads the answers of run jobs, with the outputs that our side judges. Pure.

A function's result is compared as data, and other graders compare in their own ways. Both are done on our side, where
the program cannot interfere. The size of a returned output is limited; for a longer output, only its length is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ioi_eval.extract.fences import encodable
from ioi_eval.jobs.protocol import by_number, integer, outcome_of, string, text, whole_lines
from ioi_eval.model import Isolation, Report, Returned, Stage, TestOutcome

_UNJUDGED = {"verdict": "JE", "score": None, "program": "reader", "words": "nobody has judged it yet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAnswer:
    """The outcomes of the tests that were run, by their number in the plan."""

    tests: Mapping[int, TestOutcome]
    isolation: Isolation


def run_answer(stage: Stage, nonce: str, *, names: Mapping[int, str], time_limit_s: float) -> RunAnswer:
    """Read the answer to a run plan.

    Args:
        stage: the job's run stage.
        nonce: the plan's.
        names: test numbers of the plan → test names.
        time_limit_s: to mark near-limit results.

    Raises:
        TransportError: the answer is incomplete.
        IsolationError, RejectedError: the runner refused.
    """
    lines, isolation = whole_lines(stage, nonce)
    tests = by_number(lines, lambda number, line: _outcome(line, names[number], time_limit_s))
    return RunAnswer(tests=tests, isolation=isolation)


def _outcome(line: dict[str, object], name: str, time_limit_s: float) -> TestOutcome:
    judged = line["verdict"] is not None
    if not judged and line["score"] is not None:
        raise ValueError("a score without a verdict")
    returned = Returned(
        judged=judged,
        output_bytes=integer(line, "output_bytes") if "output_bytes" in line else 0,
        idle_s=integer(line, "idle_us") / 1e6,
        report=_report(text(string(line, "report"))) if "report" in line else Report(),
    )
    return replace(outcome_of(line if judged else {**line, **_UNJUDGED}, name, time_limit_s), returned=returned)


def _report(line: str) -> Report:
    """The harness's report; empty if the line is not one. A program can forge it, but no score depends on it.

    Lone surrogates are replaced: JSON can contain them, our files cannot.
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
