"""One submission as text: what is left out if nothing ran."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ioi_eval.cli.reporting import remake
from ioi_eval.model import CompileOutcome, Submission, Subtask, TestOutcome, Verdict
from ioi_eval.report.inputs import TextPart
from ioi_eval.report.markdown_pages import write_pages
from ioi_eval.report.result_values import has_test_details
from ioi_eval.report.rows import JudgedSubmission, refused_row, result_row
from ioi_eval.report.submission_text import Limits, TestTexts, listing, submission_text
from ioi_eval.scores import submission_result
from tests.small_problems import small_problem
from tests.small_results import contest_row, write_results

SUBTASKS = (Subtask(name="a", points=40, tests=("1", "2")), Subtask(name="b", points=60, tests=("2", "3")))
PROBLEM = small_problem(subtasks=SUBTASKS)
REASON = "no worker answers"
COMPILED = CompileOutcome(verdict=None)


def failed(*messages: str) -> Mapping[str, TestOutcome]:
    """Tests with JE and these reasons."""
    return {
        str(number): TestOutcome(test=str(number), verdict=Verdict.JE, score=None, message=message)
        for number, message in enumerate(messages, 1)
    }


@pytest.mark.parametrize(
    ("compiled", "outcomes", "reasons", "has_tests"),
    [
        (CompileOutcome(verdict=Verdict.JE, message=REASON), {}, 1, False),
        (COMPILED, failed(REASON, REASON, REASON), 1, False),
        (COMPILED, failed(REASON, REASON, "the disk is full"), 3, True),
        (CompileOutcome(verdict=Verdict.CE, message=REASON), {}, 1, False),
        (COMPILED, {n: TestOutcome(test=n, verdict=Verdict.AC, score=1.0, cpu_ms=3) for n in "123"}, 0, True),
    ],
)
def test_a_table_of_tests_is_shown_if_useful(
    compiled: CompileOutcome, outcomes: Mapping[str, TestOutcome], reasons: int, has_tests: bool
) -> None:
    """If no test ran, for one reason, only the reason is shown. A test that is requested is always shown."""
    submission = Submission(id="s", problem=PROBLEM.key, code="int main() {}")
    result = submission_result(PROBLEM, submission, compiled, outcomes)
    judged = JudgedSubmission(problem=PROBLEM, submission=submission, fingerprint="f", result=result)
    row = result_row({"uuid": "s"}, judged, target_subtask=None)
    assert has_test_details(row) == has_tests
    text = submission_text(row, ("2024/nile", "s"), Limits(), test=None, texts=TestTexts())
    assert (text.count(REASON), "feedback" in text) == (reasons, has_tests)
    text = submission_text(row, ("2024/nile", "s"), Limits(), test="2", texts=TestTexts())
    assert "Test 2: " in text


@pytest.mark.parametrize(
    ("verdicts", "lines"),
    [
        (
            "AC RE AC",
            [["subtask", "verdict", "points", "decided", "by"], ["a", "RE", "0/40", "2"], ["b", "RE", "0/60", "2"]],
        ),
        (
            "WA AC AC",
            [["subtask", "verdict", "points", "decided", "by"], ["a", "WA", "0/40", "1"], ["b", "AC", "60/60"]],
        ),
        ("AC AC AC", [["subtask", "verdict", "points"], ["a", "AC", "40/40"], ["b", "AC", "60/60"]]),
    ],
)
def test_each_subtask_names_the_test_that_decided_it(verdicts: str, lines: list[list[str]]) -> None:
    """It may be in another subtask too, where it is shown: the subtask's own tests may all be SKIPPED."""
    outcomes = {
        str(number): TestOutcome(test=str(number), verdict=Verdict(verdict), score=float(verdict == "AC"), cpu_ms=3)
        for number, verdict in enumerate(verdicts.split(), 1)
    }
    submission = Submission(id="s", problem=PROBLEM.key, code="int main() {}")
    result = submission_result(PROBLEM, submission, COMPILED, outcomes)
    judged = JudgedSubmission(problem=PROBLEM, submission=submission, fingerprint="f", result=result)
    row = result_row({"uuid": "s"}, judged, target_subtask=None)
    text = submission_text(row, ("2024/nile", "s"), Limits(), test=None, texts=TestTexts())
    table = text.partition("subtask ")[1] + text.partition("subtask ")[2].partition("\n\n")[0]
    assert [line.split() for line in table.splitlines() if "──" not in line] == lines


@pytest.mark.parametrize(("size", "told"), [(None, "more lines"), (51, "51 bytes in all"), (50, "25 lines in all")])
def test_a_beginning_does_not_tell_the_number_of_lines(size: int | None, told: str) -> None:
    """Of an output, and of stderr, of which the results may have only a beginning."""
    test = {"test_name": "1", "status": "RE", "stderr": "x\n" * 21}
    row = {
        "verdict": "RE",
        "all_subtasks_results": [{"subtask": "a", "points": 1, "status": "RE", "test_results": [test]}],
    }
    texts = TestTexts(output=TextPart(content=b"7\n" * 25, size=size))
    text = submission_text(row, ("2024/nile", "s"), Limits(), test="1", texts=texts)
    assert text.count(f"… ({told})") == 1 + (size is None)
    assert text.endswith("  | … (more lines)")


@pytest.mark.parametrize(
    ("verdict", "has_checker", "told"),
    [
        ("WA", False, 'First difference: line 1: expected "8", found "7"'),
        ("PA", True, "The problem has a checker of its own, which may accept several outputs."),
        ("WA", True, "The problem has a checker of its own, which may accept several outputs."),
        ("TLE", False, ""),
        ("RE", True, ""),
    ],
)
def test_an_output_is_compared_if_the_comparison_decided(verdict: str, told: str, *, has_checker: bool) -> None:
    """A checker may accept an output that differs from the official one. A program that was killed has printed less."""
    test = {"test_name": "1", "status": verdict}
    row = {
        "verdict": verdict,
        "all_subtasks_results": [{"subtask": "a", "points": 1, "status": verdict, "test_results": [test]}],
    }
    official, printed = (TextPart(content=content, size=2) for content in (b"8\n", b"7\n"))
    texts = TestTexts(expected=official, output=printed, has_checker=has_checker)
    text = submission_text(row, ("2024/nile", "s"), Limits(), test="1", texts=texts)
    assert text.partition("Expected (2 bytes):\n  | 8")[2] == (f"\n{told}" if told else "")


def test_a_row_that_was_not_judged_has_no_points() -> None:
    """The reason is shown instead."""
    row = refused_row({"uuid": "s", "year": 2024, "problem_id": "nile"}, "row 3: there is no such problem")
    text = submission_text(row, ("2024/nile", "s"), Limits(), test=None, texts=TestTexts())
    assert text.splitlines()[:2] == ["2024/nile  s: not judged", "  why not judged: row 3: there is no such problem"]
    assert "points" not in text


def test_a_judge_error_has_no_score_but_a_verdict() -> None:
    """Only rows without a verdict are called not judged, here as in the reports."""
    row = {"verdict": "JE", "total_score": None, "error": "no compiler for Rust is found"}
    text = submission_text(row, ("2024/nile", "s"), Limits(), test=None, texts=TestTexts())
    assert "  why there is no score: no compiler for Rust is found" in text.splitlines()
    assert "not judged" not in text


def test_a_judge_error_whose_score_is_written_as_0_has_none(tmp_path: Path) -> None:
    """With `--unscored-as zero` rows have a 0, which looked like points in `show`, in pages and in logs."""
    row = contest_row("a", None, 1.0) | {"total_score": 50.0, "all_subtasks_points": 50.0}
    row["all_subtasks_results"][0] |= {"score": 0.0, "weighted_score": 0.0}
    name = ("2024/nile", "a")
    text = submission_text(row, name, Limits(), test=None, texts=TestTexts())
    assert text.splitlines()[0] == "2024/nile  a: JE, – of 100 points"
    lines = [line.split()[:3] for line in text.splitlines()]
    assert ["00", "JE", "–/50"] in lines
    assert ["01", "AC", "50/50"] in lines
    assert listing([(name, row)], most=1).splitlines()[-1].split() == ["2024/nile", "a", "JE", "–"]
    out = write_results(tmp_path / "out", [row])
    assert remake([out], None) == 1
    page = write_pages(tmp_path / "pages", out, id_column="uuid")[1].read_text()
    assert page.rstrip().splitlines()[-1] == "| a | – | JE | – | –/50 (JE) | 50/50 (AC) |"


@pytest.mark.parametrize(("status", "shown"), [("PA", "01: PA"), (None, "01")])
def test_a_target_without_a_result_has_no_status(status: str | None, shown: str) -> None:
    """Judging failed, or the problem does not have the subtask."""
    row = {"verdict": "AC", "target_subtask": "01", "target_subtask_status": status}
    text = submission_text(row, ("2024/nile", "s"), Limits(), test=None, texts=TestTexts())
    assert f"  written for subtask {shown}\n" in f"{text}\n"


@pytest.mark.parametrize(
    ("target", "shown"),
    [("local, CPython 3.11", "the embedded sandbox, CPython 3.11"), ("localities", "localities")],
)
def test_the_embedded_sandbox_has_its_name(target: str, shown: str) -> None:
    """As in the documentation, not as in the result files."""
    row = {"uuid": "s", "year": 2024, "problem_id": "nile", "verdict": "AC", "target": target}
    text = submission_text(row, ("2024/nile", "s"), Limits(), test=None, texts=TestTexts())
    assert f"  judged on: {shown}\n" in f"{text}\n"
