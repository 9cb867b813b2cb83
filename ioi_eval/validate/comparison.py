"""Comparison of the statements with the results. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.expectations import MODEL_SOLUTION, Expectation, agrees, agrees_as_a_whole, deciding_test, is_judged
from ioi_eval.model import SubmissionResult, SubtaskResult, Verdict
from ioi_eval.report.rows import JudgedSubmission
from ioi_eval.report.texts import points
from ioi_eval.report.totals import distinct_outcomes, judge_error
from ioi_eval.validate.results import TOTAL, Difference, differences
from ioi_eval.validate.statements import StatedSolution, StatedSolutions

_NOTE_CHARS = 1000
_NAMED = 5  # of the rows that state nothing
_DIGITS = 9  # of points: importers state "less than 100" as at most 99.999999


@dataclass(slots=True, kw_only=True)
class Validation:
    """The comparison of all statements with our results.

    Args:
        stated: the solutions, and the rows that were not judged.
        problems: for each problem its numbers of `solutions`, `statements` and `agreements`.
        disagreements, near_limit: their entries in `validation.json`.
        undecided: solutions that we failed to judge, with the reason.
        pending: the number of solutions not judged yet, because the run was interrupted.
        targets: the targets that judged, with their isolation.
        judged: every solution with its result, in order.
    """

    stated: StatedSolutions = field(default_factory=StatedSolutions)
    problems: dict[str, Counter[str]] = field(default_factory=dict)
    disagreements: list[dict[str, Any]] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    pending: int = 0
    near_limit: list[dict[str, Any]] = field(default_factory=list)
    targets: set[str] = field(default_factory=set)
    judged: list[tuple[StatedSolution, JudgedSubmission]] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether every solution was read and judged, and every statement agrees with our results."""
        return not (self.disagreements or self.undecided or self.stated.refused or self.pending)

    def add(self, solution: StatedSolution, result: SubmissionResult) -> None:
        """Compare the result of a solution with the statements about it."""
        found = list(compare(solution, result))
        counts = self.problems.setdefault(str(solution.problem.key), Counter())
        counts.update(solutions=1, statements=solution.statements, agreements=found.count(None))
        self.disagreements += [_disagreement(solution, result, each) for each in found if each is not None]
        error = judge_error(result)
        if error is not None:
            self.undecided.append(f"{solution.problem.key}, {solution.name}: {error}")
        self.near_limit += _near_limit(solution, result)
        if result.isolation is not None:
            self.targets.add(f"{result.target}, isolation {result.isolation}")

    def as_dict(self) -> dict[str, Any]:
        """All of it as a dictionary, for JSON and the reports."""
        return {
            "format": 1,
            "agrees": self.agrees,
            "problems": dict(sorted(self.problems.items())),
            "disagreements": self.disagreements,
            "undecided": self.undecided,
            "refused": self.stated.refused,
            "unstated": len(self.stated.unstated),
            "unstated_names": self.stated.unstated[:_NAMED],
            "unmatched": self.stated.unmatched,
            "pending": self.pending,
            "targets": sorted(self.targets),
            "near_limit": self.near_limit,
        }


def compare(solution: StatedSolution, result: SubmissionResult) -> Iterator[Difference | None]:
    """For each statement a difference, or `None` if it agrees; nothing if we failed to judge."""
    by_name = {subtask.subtask: subtask for subtask in result.subtasks}
    for name, expectation in solution.subtasks.items():
        subtask = by_name[name]
        if agrees(expectation, subtask):
            yield None
        elif is_judged(subtask):
            yield _contradiction(expectation, subtask, _verdict_text(subtask))
    if solution.whole is not None:
        yield from _compare_whole(solution.whole, result)
    if solution.total is not None and result.score is not None:
        (least, most), tolerance = solution.total, 0.5 * 10.0**-solution.problem.score_precision + 1e-9
        if least - tolerance <= result.score <= most + tolerance:
            yield None
        else:
            ends = " to ".join(points(end, _DIGITS) for end in dict.fromkeys((least, most)))
            seen = f"{points(result.score, _DIGITS)} points"
            lost = _costliest(result) if result.score < least else None
            yield Difference(where=TOTAL, subtask=lost, stated=f"{ends} points", seen=seen)
    if solution.others_result is not None:
        yield from differences(solution.others_result, result)


def _costliest(result: SubmissionResult) -> SubtaskResult | None:
    """The subtask that lost the most points; of several the first. `None` if all have full marks."""
    lost = {subtask.subtask: subtask.points - (subtask.weighted_score or 0.0) for subtask in result.subtasks}
    most = max(result.subtasks, key=lambda subtask: lost[subtask.subtask], default=None)
    return most if most is not None and lost[most.subtask] > 0 else None


def _compare_whole(label: Expectation, result: SubmissionResult) -> Iterator[Difference | None]:
    contradicting = [subtask for subtask in result.subtasks if is_judged(subtask) and not agrees(label, subtask)]
    if agrees_as_a_whole(label, result.subtasks):
        yield None
    elif all(map(is_judged, result.subtasks)) or (label.name == MODEL_SOLUTION and contradicting):
        text = ", ".join(f"{subtask.subtask} {_verdict_text(subtask)}" for subtask in result.subtasks)
        yield _contradiction(label, contradicting[-1], text, where="(whole)")


def _contradiction(expectation: Expectation, subtask: SubtaskResult, seen: str, *, where: str = "") -> Difference:
    return Difference(
        where=where or subtask.subtask,
        subtask=subtask,
        stated=expectation.name,
        seen=seen,
        by_memory=Verdict.MLE in expectation.verdicts,
    )


def _disagreement(solution: StatedSolution, result: SubmissionResult, difference: Difference) -> dict[str, Any]:
    """A statement that was contradicted, with the test that decided (`evidence`; `None` if no test did).

    `note` is, of a total, the verdict of each subtask; if no test decided, the compiler's message.
    """
    evidence = _evidence(solution, difference)
    return {
        "problem": str(solution.problem.key),
        "solution": solution.name,
        "where": difference.where,
        "stated": difference.stated,
        "seen": difference.seen,
        "evidence": evidence,
        "note": _note(result) if difference.where == TOTAL or evidence is None else "",
    }


def _note(result: SubmissionResult) -> str:
    if result.compile.verdict is not None:
        return result.compile.message[:_NOTE_CHARS]
    return ", ".join(f"{subtask.subtask} {_verdict_text(subtask)}" for subtask in result.subtasks)


def _evidence(solution: StatedSolution, difference: Difference) -> dict[str, Any] | None:
    """The named test, else the deciding one. If all tests are AC, the one that came closest to failing. With the
    figures that a person needs to see which side is right."""
    subtask = difference.subtask
    tests = () if subtask is None else subtask.tests
    ran = [outcome for outcome in tests if outcome.verdict not in (Verdict.SKIPPED, Verdict.JE)]
    if subtask is None or not ran:
        return None
    named = next((outcome for outcome in ran if outcome.test == difference.test), None)
    deciding = named or deciding_test(subtask) or ran[0]
    if subtask.verdict is Verdict.AC and named is None:
        deciding = max(ran, key=lambda o: (o.memory_bytes if difference.by_memory else o.cpu_ms) or 0)
    return {
        "test": deciding.test,
        "verdict": deciding.verdict,
        "cpu_s": deciding.time_s,
        "limit_s": solution.problem.time_limit_s,
        "memory_bytes": deciding.memory_bytes,
        "message": deciding.message,
        "stderr": deciding.stderr,
    }


def _near_limit(solution: StatedSolution, result: SubmissionResult) -> Iterator[dict[str, Any]]:
    """The times near the time limit, which on another machine may be on its other side. `margin` is (limit − time) /
    limit; `reran`: the time is that of a repetition alone on the machine."""
    limit_s = solution.problem.time_limit_s
    for outcome in distinct_outcomes(result):
        cpu_s = outcome.time_s
        if outcome.near_limit and cpu_s is not None:
            yield {
                "problem": str(solution.problem.key),
                "solution": solution.name,
                "test": outcome.test,
                "verdict": outcome.verdict,
                "cpu_s": cpu_s,
                "limit_s": limit_s,
                "margin": round(1 - cpu_s / limit_s, 4),
                "reran": outcome.reran,
            }


def _verdict_text(subtask: SubtaskResult) -> str:
    score = f" ({subtask.score:.6g})" if subtask.score not in (None, 0.0, 1.0) else ""
    return f"{subtask.verdict}{score}"
