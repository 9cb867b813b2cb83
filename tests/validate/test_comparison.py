"""Authors' labels compared with observed results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from ioi_eval.errors import SetupError, UnavailableError
from ioi_eval.expectations import Expectation
from ioi_eval.model import Language, OutputFile, Problem, SourceFile, Submission, SubmissionResult
from ioi_eval.problems.submissions import submission_from_row
from ioi_eval.report.validation import deciding_test_text, markdown_validation, near_limit, terminal_validation
from ioi_eval.validate import ValidationRun, rows_of_validation
from ioi_eval.validate.comparison import Validation, compare
from ioi_eval.validate.statements import StatedSolution, StatedSolutions
from tests.scored import outcome, result_of, sampled_problem

PROBLEM = sampled_problem(40, 60)
SUBMISSION = Submission(id="s", problem=PROBLEM.key, code="x")


def result(*verdicts: str, **of_first: object) -> SubmissionResult:
    """A result with these verdicts of the three tests."""
    outcomes = {
        name: outcome(
            name, verdict, message=f"words of {name}", cpu_ms=100 * int(name), memory_bytes=(4 - int(name)) << 20
        )
        for name, verdict in zip("123", verdicts, strict=True)
    }
    outcomes["1"] = replace(outcomes["1"], **of_first)  # type: ignore[arg-type]
    return result_of(PROBLEM, outcomes, keep_all=True)


def solution(
    subtasks: Mapping[str, str] | None = None, whole: str | None = None, total: tuple[float, float] | None = None
) -> StatedSolution:
    """A solution with these statements."""
    return StatedSolution(
        name="sol.cpp",
        problem=PROBLEM,
        submission=SUBMISSION,
        subtasks={name: Expectation.parse(text) for name, text in (subtasks or {}).items()},
        whole=None if whole is None else Expectation.parse(whole),
        total=total,
        others_result=None,
    )


def test_each_statement_is_compared() -> None:
    """Statements that agree are counted. For others the report says what was observed."""
    stated = solution({"00-samples": "AC", "01": "WA", "02": "TLE"}, total=(0.0, 0.0))
    found = list(compare(stated, result("AC", "WA", "AC")))
    assert [one if one is None else (one.where, one.stated, one.seen) for one in found] == [
        None, None, ("02", "TLE", "WA"), None,
    ]  # fmt: skip


def test_evidence_for_a_total() -> None:
    """Fewer points than stated: the test that failed in the subtask that lost the most, and each subtask's verdict."""
    validation = Validation()
    validation.add(solution(total=(100.0, 100.0)), result("AC", "AC", "TLE"))
    (found,) = validation.disagreements
    assert (found["where"], found["seen"]) == ("(total)", "40 points")
    assert (found["evidence"]["test"], found["evidence"]["message"]) == ("3", "words of 3")
    shown = 'test 3: TLE, 0.300 s of 2 s, 1.0 MiB, "words of 3"; 00-samples AC, 01 AC, 02 TLE'
    assert shown in terminal_validation(validation.as_dict())
    validation.add(solution(total=(100.0, 100.0)), result("WA", "AC", "PA"))
    assert validation.disagreements[1]["seen"] == "30 points"
    assert validation.disagreements[1]["evidence"]["test"] == "1", "it costs 40 points, the other subtask 30 of its 60"


def test_evidence_if_no_test_decided() -> None:
    """The compiler's message, or the verdict of each subtask: every disagreement has evidence."""
    validation = Validation()
    validation.add(solution(total=(50.0, 50.0)), result("AC", "AC", "AC"))
    (found,) = validation.disagreements
    assert found["evidence"] is None
    assert found["note"] == "00-samples AC, 01 AC, 02 AC"
    assert found["note"] in terminal_validation(validation.as_dict())


def test_evidence_is_the_deciding_test() -> None:
    """The first test with the lowest score. If all are AC, the test that is closest to the stated limit."""
    validation = Validation()
    validation.add(solution({"02": "TLE"}), result("AC", "AC", "WA"))
    for label in ("TLE", "MLE"):
        validation.add(solution({"01": label}), result("AC", "AC", "AC"))
    wrong, *others = (found["evidence"] for found in validation.disagreements)
    assert (wrong["test"], wrong["message"], wrong["cpu_s"]) == ("3", "words of 3", 0.3)
    assert [each["test"] for each in others] == ["2", "1"]


def test_points_are_compared_at_the_problems_precision() -> None:
    """Stated totals are rounded: a difference in the second decimal counts, one in the third does not."""
    seen = result("PA", "AC", "AC")  # 0.5 × 40 + 60
    for total, agrees in ((80.0, True), (80.004, True), (80.01, False), (79.99, False)):
        (found,) = compare(solution(total=(total, total)), seen)
        assert (found is None) == agrees


def test_a_je_neither_agrees_nor_disagrees() -> None:
    """Statements on subtasks that were judged still count."""
    stated = solution({"00-samples": "AC", "01": "AC", "02": "AC"}, total=(100, 100))
    assert list(compare(stated, result("AC", "AC", "JE"))) == [None, None]
    assert list(compare(solution(whole="correct"), result("JE", "JE", "JE"))) == []
    validation = Validation()
    validation.add(stated, result("AC", "AC", "JE"))
    assert validation.undecided == ["2024/nile, sol.cpp: test 3: words of 3"]
    assert not validation.agrees
    assert validation.as_dict()["problems"] == {"2024/nile": {"solutions": 1, "statements": 4, "agreements": 2}}


@pytest.mark.parametrize(
    ("label", "verdicts", "agrees"),
    [
        ("model_solution", ("AC", "AC", "AC"), True),
        ("model_solution", ("AC", "AC", "PA"), False),
        ("model_solution", ("AC", "WA", "JE"), False),
        ("correct", ("WA", "AC", "AC"), True),
        ("time_limit", ("AC", "TLE", "AC"), True),
        ("time_limit", ("WA", "WA", "TLE"), False),
        ("time_limit", ("AC", "AC", "JE"), None),
    ],
)
def test_a_label_of_a_whole_solution(label: str, verdicts: tuple[str, ...], agrees: bool | None) -> None:
    """It is contradicted if no subtask agrees. A model solution is contradicted if any subtask disagrees."""
    found = list(compare(solution(whole=label), result(*verdicts)))
    assert [one is None for one in found] == ([] if agrees is None else [agrees])


def test_times_near_a_limit_are_listed_with_their_margin() -> None:
    """Each test once, even if several subtasks have it. Below the limit the margin is positive."""
    validation = Validation()
    validation.add(solution({"01": "AC"}), result("AC", "AC", "AC", near_limit=True, cpu_ms=1900.0))
    validation.add(solution({"01": "TLE"}), result("TLE", "AC", "AC", near_limit=True, cpu_ms=2100.0, reran=True))
    assert [(one["test"], one["margin"]) for one in validation.near_limit] == [("1", 0.05), ("1", -0.05)]
    assert validation.agrees
    first, second = (near_limit(one) for one in validation.as_dict()["near_limit"])
    assert first == "2024/nile, sol.cpp, test 1: AC, 1.900 s of 2 s (margin +5.0%)"
    assert second.endswith("(margin -5.0%, measured alone)")


def test_the_reports_are_complete() -> None:
    """Disagreements, times near limits and counts. Texts of others stay inside their line and cell."""
    validation = Validation(stated=StatedSolutions(refused=["row 3: bad"], unstated=list("uvwxyz")))
    validation.add(solution({"02": "AC"}), result("AC", "AC", "WA"))
    validation.add(
        solution(whole="time_limit"), result("WA", "WA", "WA", message="a | b\nc\x1b[2J", stderr="terminate called")
    )
    validation.add(replace(solution({"02": "AC"}), name="odd\x1b[2J.cpp"), result("AC", "AC", "WA"))
    values = validation.as_dict()
    text, document = terminal_validation(values), markdown_validation(values)
    for words in (
        "subtask 02: stated AC, seen WA\n  test 3: WA, 0.300 s of 2 s, 1.0 MiB",
        "row 3: bad",
        "Left out, because no verdict is stated: 6 solutions (u; v; w; x; y; and 1 more).",
    ):
        assert words in text
    assert "Left out, because no verdict is stated: 6 solutions (u; v; w; x; y; and 1 more)." in document
    assert "\x1b" not in text
    assert "3 of 3 statements disagree; not judged: 1 solution." in text
    assert "| 2024/nile | sol.cpp | 02 | AC | WA | test 3: WA" in document
    assert deciding_test_text(None) == "no test was run"


def test_a_single_statement() -> None:
    """Its sentence is in the singular."""
    validation = Validation()
    validation.add(solution({"02": "AC"}), result("AC", "AC", "WA"))
    assert "The only statement disagrees." in terminal_validation(validation.as_dict())


class RuleScorer:
    """Judges by a rule, and always on all tests.

    Args:
        says: gives the result of a submission; it may raise what a scorer raises.
    """

    def __init__(self, says: Callable[[Submission], SubmissionResult]) -> None:
        self.says = says
        self.judged: list[str] = []

    def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
        """One fingerprint, from problem and program."""
        return (f"{problem.key} {submission.code}",)

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Judge a submission by the rule."""
        assert exhaustive
        assert problem is PROBLEM
        self.judged.append(submission.id)
        return self.says(submission)


def validated(
    stated: StatedSolutions, scorer: RuleScorer, *, workers: int = 1, advance: Callable[[str], None] = lambda _: None
) -> Validation:
    """The results of a validation that is not interrupted."""
    validating = ValidationRun(stated, scorer)
    asyncio.run(validating.run(workers=workers, on_result=lambda result, _: advance(result.verdict)))
    return validating.validation()


def test_solutions_are_judged_exhaustively_by_several_workers() -> None:
    """Results are in the order of the solutions, whichever ends first."""

    class SlowScorer(RuleScorer):
        at_once = most = 0
        busy = asyncio.Event()

        async def score(
            self, problem: Problem, submission: Submission, *, exhaustive: bool = False
        ) -> SubmissionResult:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            if self.at_once == 3:
                self.busy.set()
            await self.busy.wait()
            for _ in range(10 - int(submission.id)):
                await asyncio.sleep(0)
            self.at_once -= 1
            return await super().score(problem, submission, exhaustive=exhaustive)

    solutions = tuple(
        replace(solution({"02": "AC"}), name=str(n), submission=Submission(id=str(n), problem=PROBLEM.key, code=f"{n}"))
        for n in range(10)
    )
    scorer = SlowScorer(lambda submission: result("AC", "AC", "WA" if int(submission.id) % 2 else "AC"))
    told: list[str] = []
    stated = StatedSolutions(solutions=list(solutions))
    validation = validated(stated, scorer, workers=3, advance=told.append)
    assert scorer.most == 3
    assert len(told) == 10
    assert [one["solution"] for one in validation.disagreements] == ["1", "3", "5", "7", "9"]
    rows = list(rows_of_validation(validation))
    assert [row["label"] for row in rows] == [str(n) for n in range(10)]
    assert [row["fingerprint"] for row in rows] == [f"2024/nile {n}" for n in range(10)]
    assert [test["status"] for test in rows[1]["all_subtasks_results"][2]["test_results"]] == ["AC", "WA"]


def test_the_programs_of_a_validation_can_be_judged_again() -> None:
    """`validate --against DIR/results.jsonl` judges them. A program in Python was judged as C++, one of several files
    as one file, and outputs as nothing.
    """
    files = (SourceFile(path="a.py", content=b"import b\n"), SourceFile(path="b.py", content=b"x = 1\n"))
    several = replace(
        SUBMISSION, code="import b\n\nx = 1\n", sources=files, language=Language.PYTHON, extraction="column:sources"
    )
    outputs = (OutputFile(test="2", content=b"7\n"),)
    for submission in (several, replace(SUBMISSION, code=None, outputs=outputs, extraction="outputs")):
        stated = StatedSolutions(solutions=[replace(solution({"02": "AC"}), submission=submission)])
        (row,) = rows_of_validation(validated(stated, RuleScorer(lambda _: result("AC", "AC", "AC"))))
        assert replace(submission_from_row(row), outputs=()) == replace(
            submission, outputs=(), extraction="column:sources" if submission.code else "none"
        )
        assert row.get("outputs") == ({"output_2.txt": "7\n"} if submission.outputs else None)


def test_judged_solutions_are_compared_if_no_endpoint_is_left() -> None:
    """If a cluster fails in the middle, existing results are compared. The other solutions are undecided and count as
    no agreement.
    """

    def says(submission: Submission) -> SubmissionResult:
        if submission.id != "0":
            raise UnavailableError("no endpoint is left")
        return result("AC", "AC", "AC")

    solutions = tuple(
        replace(solution({"02": "AC"}), name=str(n), submission=Submission(id=str(n), problem=PROBLEM.key, code=f"{n}"))
        for n in range(4)
    )
    told: list[str] = []
    stated = StatedSolutions(solutions=list(solutions))
    validation = validated(stated, RuleScorer(says), advance=told.append)
    assert told == ["AC", "JE", "JE", "JE"]
    assert not validation.agrees
    assert len(validation.undecided) == 3
    assert "no endpoint is left" in terminal_validation(validation.as_dict())


def test_a_validation_that_ends_early() -> None:
    """The solutions that were not judged are counted; the others are compared."""

    def says(submission: Submission) -> SubmissionResult:
        if submission.id == "1":
            raise SetupError("nothing can be judged any more")
        return result("AC", "AC", "AC")

    solutions = [
        replace(solution({"02": "AC"}), submission=Submission(id=str(n), problem=PROBLEM.key, code=f"{n}"))
        for n in range(4)
    ]
    validating = ValidationRun(StatedSolutions(solutions=solutions), RuleScorer(says))
    with pytest.raises(ExceptionGroup):
        asyncio.run(validating.run(workers=1, on_result=lambda _, __: None))
    validation = validating.validation()
    assert validation.pending == 3
    assert [judged.result.submission for _, judged in validation.judged] == ["0"]
    assert not validation.agrees


def test_identical_solutions_are_judged_once_except_after_je() -> None:
    """A set of results may have a program a hundred times. After a JE each copy is judged."""

    codes = ("right", "hard", "right", "hard")
    solutions = tuple(
        replace(solution({"02": "AC"}), submission=Submission(id=str(n), problem=PROBLEM.key, code=code))
        for n, code in enumerate(codes)
    )
    scorer = RuleScorer(lambda submission: result("AC", "AC", "AC" if submission.code == "right" else "JE"))
    validation = validated(StatedSolutions(solutions=list(solutions)), scorer)
    assert scorer.judged == ["0", "1", "3"]
    assert [judged.result.submission for _, judged in validation.judged] == ["0", "1", "2", "3"]
    assert len(validation.undecided) == 2


def test_points_can_be_stated_as_a_range() -> None:
    """For example more than 0 and less than all, for a partially accepted solution."""
    seen = result("PA", "AC", "AC")  # 80 points
    for bounds, agrees in (((1e-6, 99.9), True), ((80, 90), True), ((0, 79), False), ((81, 100), False)):
        (found,) = compare(solution(total=bounds), seen)
        assert (found is None) is agrees
        assert found is None or found.stated == f"{bounds[0]:g} to {bounds[1]:g} points"
