"""Which results agree with the authors' labels: TPS's rules, and the labels of a CMS export."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ioi_eval.errors import InputError
from ioi_eval.expectations import Expectation, agrees, agrees_as_a_whole, deciding_test, is_judged
from ioi_eval.model import SubtaskResult, TestOutcome, Verdict

ALL = set(Verdict)
OURS = {Verdict.JE, Verdict.SKIPPED}
MEANINGS = {
    "model_solution": {"AC"},
    "correct": {"AC"},
    "incorrect": {"WA"},
    "partially_correct": {"PA"},
    "time_limit": {"TLE"},
    "memory_limit": {"RE", "MLE"},
    "runtime_error": {"RE", "MLE"},
    "time_limit_and_runtime_error": {"RE", "MLE", "TLE"},
    "failed": {str(verdict) for verdict in ALL - OURS - {Verdict.AC}},
    "FAILED": {str(verdict) for verdict in ALL - OURS - {Verdict.AC}},
    "protocol_violation": set[str](),  # needs the message "protocol violation"
    "security_violation": set[str](),  # needs the message "security violation"
    "TLE": {"TLE"},
    "AC": {"AC"},
    "SV": {"SV"},
    "CE": {"CE"},
}


def seen(verdict: str, points: float = 10, message: str = "") -> SubtaskResult:
    """A result in a subtask, which one test with this message decided."""
    test = TestOutcome(test="1", verdict=Verdict(verdict), score=0.0, message=message)
    return SubtaskResult(
        subtask="01-a", verdict=Verdict(verdict), score=0.0, points=points, weighted_score=0.0, tests=(test,)
    )


@pytest.mark.parametrize("name", MEANINGS)
def test_each_expectation_agrees_with_exactly_its_verdicts(name: str) -> None:
    """Every verdict is tried against every expectation. JE agrees with none."""
    agreeing = {str(verdict) for verdict in Verdict if agrees(Expectation.parse(name), seen(verdict))}
    assert agreeing == MEANINGS[name]


@pytest.mark.parametrize("kind", ["protocol", "security"])
def test_a_violation_is_recognised_by_its_message(kind: str) -> None:
    """IOI's testlib prints "protocol violation" with small or capital letters, and then more text."""
    expectation = Expectation.parse(f"{kind}_violation")
    assert agrees(expectation, seen("WA", message=f"{kind.title()} Violation\nSolution exited"))
    assert agrees(expectation, seen("WA", message=f"Output isn't correct: {kind.title()} violation"))
    assert not agrees(expectation, seen("WA", message="Output isn't correct"))
    assert not agrees(expectation, seen("RE", message=f"{kind.title()} violation"))


@pytest.mark.parametrize("kind", ["Protocol", "Security"])
def test_a_violation_is_not_incorrect(kind: str) -> None:
    """TPS has verdicts of their own for them. For us all are WA, and the label `WA` agrees with all."""
    violation = seen("WA", message=f"{kind} Violation")
    assert not agrees(Expectation.parse("incorrect"), violation)
    assert agrees(Expectation.parse("incorrect"), seen("WA", message="Output isn't correct"))
    for name in ("WA", "failed", "FAILED"):
        assert agrees(Expectation.parse(name), violation)


def test_unknown_expectation_lists_the_known_ones() -> None:
    """The error for a misspelt label lists the known labels."""
    with pytest.raises(InputError, match=r"unknown expectation 'wrong'.*incorrect.*FAILED"):
        Expectation.parse("wrong")


def test_verdicts_that_are_ours_cannot_be_expected() -> None:
    """No author can expect a failure of ours, such as JE."""
    for verdict in OURS:
        with pytest.raises(InputError):
            Expectation.parse(verdict.value)


@pytest.mark.parametrize(
    ("label", "verdicts", "agreement"),
    [
        ("model_solution", ["AC", "AC"], True),
        ("model_solution", ["AC", "PA"], False),
        ("correct", ["AC", "WA"], True),  # sphinx, correct/subtask1.cpp
        ("correct", ["PA", "WA"], False),
        ("failed", ["AC", "AC", "WA"], True),  # sphinx, failed/GA_heuristic.cpp
        ("failed", ["AC", "AC"], False),
        ("incorrect", ["AC", "TLE", "WA"], True),
        ("incorrect", ["AC", "TLE"], False),
        ("time_limit", ["AC", "TLE"], True),
        ("time_limit", ["AC", "WA"], False),  # machine, time_limit/sol_tle.cpp with the packaged manager
        ("partially_correct", ["PA", "WA"], True),
        ("incorrect", ["CE", "CE"], False),
        ("failed", ["CE", "CE"], True),
        ("failed", ["JE", "JE"], False),
        ("model_solution", [], False),
    ],
)
def test_label_of_a_whole_solution(label: str, verdicts: list[str], agreement: bool) -> None:
    """A label is contradicted if no subtask agrees with it. The label `model_solution` is contradicted if any subtask
    disagrees.
    """
    assert agrees_as_a_whole(Expectation.parse(label), [seen(verdict) for verdict in verdicts]) is agreement


def test_subtasks_without_points_do_not_decide() -> None:
    """Subtasks worth 0 points count only if all are worth 0 points."""
    incorrect = Expectation.parse("incorrect")
    assert not agrees_as_a_whole(incorrect, [seen("WA", points=0), seen("AC")])
    assert agrees_as_a_whole(incorrect, [seen("WA", points=0), seen("AC", points=0)])
    assert agrees_as_a_whole(incorrect, [seen("WA", points=0.5), seen("AC")])


def test_the_lowest_score_decides_not_the_first_of_its_kind() -> None:
    """Two tests with partial scores have the same verdict. The message is that of the lower score."""
    tests = (
        TestOutcome(test="1", verdict=Verdict.PA, score=0.9, message="nearly"),
        TestOutcome(test="2", verdict=Verdict.PA, score=0.1, message="hardly"),
        TestOutcome(test="3", verdict=Verdict.PA, score=0.1, message="again"),
    )
    result = SubtaskResult(subtask="01-a", verdict=Verdict.PA, score=0.1, points=20, weighted_score=2.0, tests=tests)
    assert deciding_test(result) is tests[1]


def test_without_a_score_or_a_test_no_test_decides() -> None:
    """With JE the lowest score is not known. A program that does not compile runs on no test."""
    passed = TestOutcome(test="1", verdict=Verdict.AC, score=1.0)
    result = SubtaskResult(
        subtask="01-a", verdict=Verdict.JE, score=None, points=20, weighted_score=None, tests=(passed,)
    )
    assert deciding_test(result) is None
    not_compiled = replace(result, verdict=Verdict.CE, score=0.0, weighted_score=0.0, tests=())
    assert deciding_test(not_compiled) is None
    assert agrees(Expectation.parse("failed"), not_compiled)


def test_a_score_over_the_threshold_decides() -> None:
    """Under GroupThreshold such a test makes the subtask WA, though no test has 0. In a solved subtask none does."""
    tests = (
        TestOutcome(test="1", verdict=Verdict.PA, score=0.3),
        TestOutcome(test="2", verdict=Verdict.PA, score=0.9),
        TestOutcome(test="3", verdict=Verdict.PA, score=0.9),
    )
    late = TestOutcome(test="4", verdict=Verdict.TLE, score=0.0)
    for seen in (tests, (*tests, late)):
        result = SubtaskResult(subtask="01-a", verdict=Verdict.WA, score=0.0, points=20, weighted_score=0.0, tests=seen)
        assert deciding_test(result) is tests[1]
        solved = replace(result, verdict=Verdict.AC, score=1.0, weighted_score=20.0, tests=tests)
        assert deciding_test(solved) is tests[0]


def test_the_message_of_the_deciding_test_counts() -> None:
    """It is that of the test which gave the subtask its verdict."""
    tests = (
        TestOutcome(test="1", verdict=Verdict.AC, score=1.0, message="fine"),
        TestOutcome(test="2", verdict=Verdict.WA, score=0.0, message="Protocol violation"),
        TestOutcome(test="3", verdict=Verdict.SKIPPED, score=None),
    )
    result = SubtaskResult(subtask="01-a", verdict=Verdict.WA, score=0.0, points=20, weighted_score=0.0, tests=tests)
    assert is_judged(result)
    assert agrees(Expectation.parse("protocol_violation"), result)
