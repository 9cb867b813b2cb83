"""What authors state about their solutions, and whether a result agrees. Pure.

Two vocabularies are in use. Labels of official packages (`incorrect`, `time_limit`, …) have the meaning that TPS
gives them; our own names (`TLE`, `WA`, …, and `FAILED` for anything but full marks) mean the verdict itself. Both
are about a *subtask*, whose verdict is that of its first test with the lowest score.

Sometimes only a label of the whole solution is known: a CMS export sorts solutions into directories by their label and
drops the exceptions that TPS states per subtask. In IOI 2024's *sphinx*, `correct/subtask1.cpp` scores 3 of 100
and `failed/GA_heuristic.cpp` 64: the label is the verdict of the subtasks without an exception. So a result contradicts
it only if *no* subtask that is worth points agrees with it (`agrees_as_a_whole`). `model_solution` has no exceptions:
any subtask can contradict it.

Source: TPS, `scripts/internal/invoke_util.py` and `scripts/exporters/CMS.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ioi_eval.errors import InputError
from ioi_eval.model import SubtaskResult, TestOutcome, Verdict

MODEL_SOLUTION = "model_solution"
_CORRECT = frozenset({Verdict.AC})
_CRASHED = frozenset({Verdict.RE, Verdict.MLE})
_NOT_CORRECT = frozenset(Verdict) - {Verdict.AC, Verdict.JE, Verdict.SKIPPED}

_VERDICTS: Mapping[str, frozenset[Verdict]] = {
    MODEL_SOLUTION: _CORRECT,
    "correct": _CORRECT,
    "incorrect": frozenset({Verdict.WA}),
    "protocol_violation": frozenset({Verdict.WA}),
    "security_violation": frozenset({Verdict.WA}),
    "partially_correct": frozenset({Verdict.PA}),
    "time_limit": frozenset({Verdict.TLE}),
    "memory_limit": _CRASHED,  # TPS has no verdict of its own for memory
    "runtime_error": _CRASHED,
    "time_limit_and_runtime_error": _CRASHED | {Verdict.TLE},
    "failed": _NOT_CORRECT,
    "FAILED": _NOT_CORRECT,
    **{verdict.value: frozenset({verdict}) for verdict in Verdict if verdict not in (Verdict.JE, Verdict.SKIPPED)},
}
_VIOLATIONS = ("protocol violation", "security violation")  # in messages; TPS has verdicts of their own for these


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What authors state about a solution, as a whole or in one subtask."""

    name: str  # the label as the authors wrote it
    verdicts: frozenset[Verdict]
    required_text: str = ""  # which the checker's or manager's message must contain, in upper or lower case
    forbidden_texts: tuple[str, ...] = ()  # which it must not contain

    @classmethod
    def parse(cls, text: str) -> Expectation:
        """Read an expectation: a name, or several names with commas between them (`WA,TLE`), any of which may hold."""
        names = [name.strip() for name in text.split(",")]
        if unknown := [name for name in names if name not in _VERDICTS]:
            raise InputError(f"unknown expectation {unknown[0]!r}; known are {', '.join(_VERDICTS)}")
        verdicts = frozenset[Verdict]().union(*(_VERDICTS[name] for name in names))
        return cls(
            name=text,
            verdicts=verdicts,
            required_text=message if (message := text.replace("_", " ")) in _VIOLATIONS else "",
            forbidden_texts=_VIOLATIONS if text == "incorrect" else (),
        )


def is_judged(result: SubtaskResult) -> bool:
    """Whether the result can be compared: a failure of ours neither agrees nor disagrees."""
    return result.verdict not in (Verdict.JE, Verdict.SKIPPED)


def deciding_test(result: SubtaskResult) -> TestOutcome | None:
    """The test that gave the subtask its verdict; `None` if no test was run.

    It is the first one with the lowest score. Under `GroupThreshold` a score over the threshold may decide instead:
    then the verdict is not that of the first one, and the test with the highest score is taken. (If the first one is
    WA too, it is taken although it did not decide.)
    """
    scored = [(test.score, test) for test in result.tests if test.score is not None]
    if result.score is None or not scored:
        return None
    lowest = min(scored, key=itemgetter(0))
    is_over_threshold = result.score == 0.0 and result.verdict is not lowest[1].verdict
    return (max(scored, key=itemgetter(0)) if is_over_threshold else lowest)[1]


def agrees(expectation: Expectation, result: SubtaskResult) -> bool:
    """Whether the result in a subtask agrees with the expectation. Never true for a failure of ours."""
    deciding = deciding_test(result)
    message = deciding.message.lower() if deciding else ""
    forbidden = any(text in message for text in expectation.forbidden_texts)
    return result.verdict in expectation.verdicts and expectation.required_text in message and not forbidden


def agrees_as_a_whole(expectation: Expectation, results: Sequence[SubtaskResult]) -> bool:
    """Whether the results in all subtasks are compatible with a label of the whole solution.

    Subtasks worth 0 points (samples) count only if all are worth 0.
    """
    counted = [result for result in results if result.points > 0] or results
    if expectation.name == MODEL_SOLUTION:
        return bool(results) and all(agrees(expectation, result) for result in results)
    return any(agrees(expectation, result) for result in counted)
