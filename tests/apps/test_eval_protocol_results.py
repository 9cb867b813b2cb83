"""Results with the strings and metrics of Eval Protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ioi_eval.apps.eval_protocol_results import (
    empty_code,
    evaluated,
    evaluation,
    judge_failed,
    no_messages,
    read_ground_truth,
)
from ioi_eval.apps.evaluate_result import EvaluateResult, MetricResult
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.apps.verdicts import result_of
from ioi_eval.compat.eval_protocol import GRADER, NO_RESULTS
from ioi_eval.compat.terms import Ending, Graded, TestRun
from ioi_eval.model import HarnessReport, RunDetails, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, CallTest, RowFault
from tests.selecting import where_digits_are_limited


def outcome(verdict: Verdict, *, output: str = "", message: str = "", error: str = "") -> TestOutcome:
    """Of a test."""
    details = RunDetails(report=HarnessReport(error=error))
    return TestOutcome(
        test="0",
        verdict=verdict,
        score=None if verdict is Verdict.JE else float(verdict is Verdict.AC),
        message=message,
        output=output.encode(),
        details=details,
    )


RIGHT, WRONG = outcome(Verdict.AC), outcome(Verdict.WA, output="0\n")


def over_all(row: AppsProblem, tests: Sequence[TestOutcome]) -> EvaluateResult:
    """The result of a program with these outcomes."""
    outcomes = {str(number): test for number, test in enumerate(tests)}
    return evaluated(row, result_of(row, outcomes, AppsSettings()))


def problem(inputs: Any, outputs: Any, **more: Any) -> AppsProblem:
    """A problem from a ground truth that can be judged."""
    found = read_ground_truth({"inputs": inputs, "outputs": outputs, **more})
    assert isinstance(found, AppsProblem)
    return found


def test_a_ground_truth_of_pandas() -> None:
    """A row that pandas read from a Parquet file has arrays in the place of lists."""
    lines, calls = pd.Series([["2"], ["3"]]), [np.array([2], dtype=object)]
    assert problem(np.array(["2\n"], dtype=object), np.array(["4\n"])) == problem(["2\n"], ["4\n"])
    assert problem(lines.to_numpy(), lines.to_numpy()) == problem([["2"], ["3"]], [["2"], ["3"]])
    assert problem(np.array([calls, calls], dtype=object), np.array([4, 5]), fn_name="f") == problem(
        [[[2]], [[2]]], [4, 5], fn_name="f"
    )
    assert problem([np.array(["2", "3"])], (np.array(["4"]),)) == problem([["2", "3"]], [["4"]])
    assert problem([np.array([2, 3])], [(4, 5)], fn_name="f") == problem([[2, 3]], [(4, 5)], fn_name="f")
    (test,) = problem([[(1, np.array([2]))]], [5], fn_name="f").tests
    assert isinstance(test, CallTest)
    assert str(test.given) == "((1, [2]),)"
    theirs = read_ground_truth({"inputs": np.array(["2"]), "outputs": np.array(["4"])}, as_is=True)
    assert isinstance(theirs, EvaluateResult)
    assert theirs.is_score_valid


def test_a_ground_truth_that_is_no_json() -> None:
    """The message has the type."""
    found = read_ground_truth({"inputs": [b"2"], "outputs": ["4"]})
    assert isinstance(found, EvaluateResult)
    assert found.error == "Invalid ground_truth: input 0 is of type bytes; it must be a text or a list of lines"


def test_a_ground_truth_that_is_nested_too_deeply() -> None:
    """It has no valid score."""
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    found = read_ground_truth({"inputs": [deep], "outputs": [1], "fn_name": "f"})
    assert isinstance(found, EvaluateResult)
    assert not found.is_score_valid
    assert "nested" in str(found.error)


def summary(result: EvaluateResult) -> tuple[float, str | None, dict[str, tuple[float, bool, str]]]:
    """All fields of a result."""
    metrics = {name: (metric.score, metric.is_score_valid, metric.reason) for name, metric in result.metrics.items()}
    return result.score, result.reason, metrics


# --------------------------------------------------------------------------- nothing to judge


def test_no_messages() -> None:
    """There is no conversation."""
    words = "No messages provided for evaluation."
    assert summary(no_messages()) == (0.0, "No messages provided.", {"error": (0.0, False, words)})


def test_empty_code() -> None:
    """The answer has no program. The score is valid."""
    words = "Empty code solution after extraction."
    metrics = {"parsability": (0.0, True, words), "error": (0.0, False, words)}
    assert summary(empty_code()) == (0.0, "The provided code solution was empty after extraction.", metrics)
    assert list(empty_code().metrics) == ["parsability", "error"]
    assert empty_code().is_score_valid


@pytest.mark.parametrize(
    ("ground_truth", "reason", "metric"),
    [
        ("", "Ground_truth JSONDecodeError: Expecting value: line 1 column 1 (char 0)", None),
        (
            "{",
            "Ground_truth JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            None,
        ),
        (None, "Invalid ground_truth type.", "Invalid ground_truth type: <class 'NoneType'>"),
        (["a"], "Invalid ground_truth type.", "Invalid ground_truth type: <class 'list'>"),
        ("[1]", "Invalid ground_truth structure after parsing.", None),
        ("{}", "Invalid ground_truth structure after parsing.", None),
        ({"inputs": []}, "Invalid ground_truth structure after parsing.", None),
        ({"outputs": []}, "Invalid ground_truth structure after parsing.", None),
    ],
)
def test_ground_truths_without_tests(ground_truth: object, reason: str, metric: str | None) -> None:
    """Each kind has its documented reason. Its score 0 is valid only under the rules of the package."""
    for as_is in (False, True):
        result = read_ground_truth(ground_truth, as_is=as_is)
        assert isinstance(result, EvaluateResult)
        assert summary(result) == (0.0, reason, {"error": (0.0, False, metric or reason)})
        assert (result.is_score_valid, result.error) == ((True, None) if as_is else (False, reason))


def test_no_tests() -> None:
    """The reason is the package's, without a valid score. Under its rules the profile reports it itself."""
    ground_truths: tuple[object, ...] = ({"inputs": [], "outputs": []}, '{"inputs": [], "outputs": []}')
    for ground_truth in ground_truths:
        result = read_ground_truth(ground_truth)
        assert isinstance(result, EvaluateResult)
        assert (result.reason, result.is_score_valid) == ("Execution utility returned no results.", False)
        assert not isinstance(read_ground_truth(ground_truth, as_is=True), EvaluateResult)


def test_inputs_that_are_no_list() -> None:
    """The reason is the package's."""
    result = read_ground_truth({"inputs": "1", "outputs": ["1"]})
    assert isinstance(result, EvaluateResult)
    assert not result.is_score_valid
    assert result.reason == "Passed 0/1 test cases. Execution Error: Invalid or missing in_outs structure"


@pytest.mark.parametrize(
    "ground_truth",
    [
        {"inputs": ["1", "2"], "outputs": ["1"]},
        {"inputs": [1], "outputs": ["1"]},
        {"inputs": ["1"], "outputs": {"a": 1}},
        '{"inputs": [[1' + "0" * 1_000_001 + ']], "outputs": [1], "fn_name": "f"}',
    ],
)
def test_broken_tests_have_no_valid_score(ground_truth: object) -> None:
    """A row that cannot be judged is neither 0 nor a pass. The score is not valid, and the error has the reason."""
    result = read_ground_truth(ground_truth)
    assert isinstance(result, EvaluateResult)
    assert not result.is_score_valid
    assert result.error
    assert result.error == result.reason


def test_broken_tests_for_the_profile() -> None:
    """The profile judges them as the package does."""
    found = read_ground_truth({"inputs": ["1", "2"], "outputs": ["1"]}, as_is=True)
    assert isinstance(found, AppsProblem)
    assert found.fault is RowFault.UNEQUAL


def test_a_function_with_a_text_as_input() -> None:
    """The package ignores `fn_name`, and gives the text to the program. By default the row is broken."""
    for name in ("main", "two words", 5):
        ground_truth = {"inputs": ["1"], "outputs": ["2"], "fn_name": name}
        found = read_ground_truth(ground_truth, as_is=True)
        assert isinstance(found, AppsProblem)
        assert (found.fault, found.fn_name) == (None, None)
        assert isinstance(read_ground_truth(ground_truth), EvaluateResult)


# --------------------------------------------------------------------------- judged


def test_full_pass() -> None:
    """All tests are right."""
    result = over_all(problem(["1\n", "2\n"], ["1\n", "2\n"]), [RIGHT, RIGHT])
    assert summary(result) == (
        1.0,
        "Passed 2/2 test cases.",
        {
            "pass_rate": (1.0, True, "2/2"),
            "raw_results": (0.0, False, "[true, true]"),
            "execution_metadata": (0.0, False, "[{}]"),
        },
    )


def test_wrong_answer() -> None:
    """If no test passed, the first failure is in the reason. All tests count."""
    result = over_all(problem(["1\n", "2\n", "3\n"], ["1\n", "2\n", "3\n"]), [WRONG, WRONG, outcome(Verdict.RE)])
    assert result.reason == ("Passed 0/3 test cases.. First fail details: Inputs: 1\n, Expected: 1\n, Got: 0")
    assert result.metrics["pass_rate"].reason == "0/3"
    assert result.metrics["raw_results"].reason == "[false, false, -1]"
    metadata = [{"output": "0", "expected": "1\n", "inputs": "1\n", "error_message": "Wrong Answer"}]
    assert json.loads(result.metrics["execution_metadata"].reason) == metadata


def test_partly_wrong() -> None:
    """If a test passed, the failure is only in the metadata."""
    result = over_all(problem(["1\n", "2\n", "3\n"], ["1\n", "2\n", "3\n"]), [RIGHT, WRONG, RIGHT])
    assert (result.score, result.reason) == (2 / 3, "Passed 2/3 test cases.")
    assert json.loads(result.metrics["execution_metadata"].reason)[0]["inputs"] == "2\n"


def test_runtime_error() -> None:
    """The `repr` of the first error is in the reason, its traceback in the details."""
    failed = outcome(Verdict.RE, error="ZeroDivisionError('division by zero')", message="exit code 1: Traceback…")
    result = over_all(problem(["1\n", "2\n"], ["1\n", "2\n"]), [RIGHT, failed])
    assert result.score == 0.5
    assert result.reason == "Passed 1/2 test cases. Execution Error: ZeroDivisionError('division by zero')"
    details = json.loads(result.metrics["execution_error_details"].reason)
    assert details == {"error": "ZeroDivisionError('division by zero')", "traceback": "Traceback…"}
    assert "execution_metadata" not in result.metrics


def test_syntax_error() -> None:
    """A program that does not compile fails every test."""
    failed = outcome(Verdict.CE, error="SyntaxError('invalid syntax')")
    one = over_all(problem(["1\n"], ["1\n"]), [failed])
    assert one.reason == "Passed 0/1 test cases. Execution Error: SyntaxError('invalid syntax')"
    assert one.metrics["raw_results"].reason == "[-2]"
    three = over_all(problem(["1"] * 3, ["1"] * 3), [failed] * 3)
    assert three.metrics["raw_results"].reason == "[-2, -2, -2]"


def test_zero_tests() -> None:
    """There is nothing to count."""
    words = "Execution utility returned no results."
    metrics = {"execution_error": (0.0, False, words), "execution_metadata": (0.0, False, "[{}]")}
    assert summary(over_all(replace(problem(["1"], ["1"]), tests=()), [])) == (0.0, words, metrics)


def test_long_texts_are_shortened() -> None:
    """Inputs to 300 characters, outputs to 200, cut in the middle."""
    result = over_all(problem(["i" * 500], ["e" * 500]), [outcome(Verdict.WA, output="o" * 500)])
    (failure,) = json.loads(result.metrics["execution_metadata"].reason)
    assert failure["inputs"] == "i" * 150 + "...(truncated) ..." + "i" * 150
    assert failure["expected"] == "e" * 100 + "...(truncated) ..." + "e" * 100
    assert failure["output"] == "o" * 100 + "...(truncated) ..." + "o" * 100


def test_functions_are_judged() -> None:
    """Arguments and results of functions are shown as JSON."""
    row = problem([[[2, 3], "a"]], [{"1": 10**30}], fn_name="f")
    result = over_all(row, [outcome(Verdict.WA, output="{}")])
    assert result.reason is not None
    assert 'Inputs: [[2, 3], "a"], Expected: {"1": 1' in result.reason


@where_digits_are_limited
def test_an_integer_too_long_to_print() -> None:
    """The message says why it is not shown."""
    huge = read_ground_truth('{"inputs": [[1]], "outputs": [1' + "0" * 7000 + '], "fn_name": "f"}')
    assert isinstance(huge, AppsProblem)
    assert "an integer of 23254 bits" in str(over_all(huge, [WRONG]).reason)


def test_a_je_has_no_valid_score() -> None:
    """If one test is JE, the score is invalid whatever the other tests are, and it is never a valid 0."""
    result = over_all(problem(["1", "2"], ["1", "2"]), [RIGHT, outcome(Verdict.JE, message="the sandbox died")])
    assert (result.is_score_valid, result.error, result.reason) == (False, "the sandbox died", "the sandbox died")
    assert not result.metrics["error"].is_score_valid
    assert judge_failed("words").error == "words"


@pytest.mark.parametrize(("crash", "is_valid"), [("it fails on this row", False), (NO_RESULTS, True)])
def test_a_grader_without_a_result(crash: str, is_valid: bool) -> None:
    """If it fails on a row there is no valid score. That there are no results is a valid 0 in its code."""
    failed = AppsResult(verdict=Verdict.JE, passed=0, total=1, graded=Graded(crash=crash))
    result = evaluated(problem(["1"], ["1"]), failed)
    assert (result.score, result.is_score_valid, result.reason) == (0.0, is_valid, crash)
    assert list(result.metrics) == ["execution_error" if is_valid else "error"]


def test_results_of_the_profile() -> None:
    """The reasons and counts are the package's, which stops at the first failure."""
    row = problem(["1\n", "2\n", "3\n"], ["1\n", "2\n", "3\n"])
    graded = GRADER.grade(row, [TestRun(ending=Ending.FINISHED, output=b"0\n")])
    result = evaluation(graded.codes, graded.metadata)
    assert result.reason == "Passed 0/1 test cases.. First fail details: Inputs: 1\n, Expected: 1\n, Got: 0"
    killed = GRADER.grade(row, [TestRun(ending=Ending.TIMED_OUT)])
    result = evaluation(killed.codes, killed.metadata)
    assert result.reason == "Passed 0/3 test cases."
    assert len(json.loads(result.metrics["execution_metadata"].reason)) == 3


def test_real_sample(shared: Path) -> None:
    """The three rows of the package's sample can be judged, given as text or as objects."""
    for line in (shared / "tasks/apps/apps_sample_dataset.jsonl").read_text().splitlines():
        text = json.loads(line)["input_output"]
        found = read_ground_truth(text)
        assert isinstance(found, AppsProblem)
        assert found == read_ground_truth(json.loads(text))
        assert over_all(found, [RIGHT]).reason == "Passed 1/1 test cases."


# --------------------------------------------------------------------------- the values themselves


def test_results_have_the_interface_of_the_package() -> None:
    """Fields are attributes and keys, defaults are the package's, and all values can be dumped."""
    metric = MetricResult(score=0.5, reason="r")
    result = EvaluateResult(score=0.5, metrics={"m": metric})
    assert (metric["score"], metric.get("nothing"), "reason" in metric, "nothing" in metric) == (0.5, None, True, False)
    assert metric.keys() == ["is_score_valid", "score", "reason"]
    assert metric.values() == [True, 0.5, "r"]
    assert dict(metric.items()) == {name: metric[name] for name in metric}
    assert result.keys() == [
        *("score", "is_score_valid", "reason", "metrics", "step_outputs", "error", "trajectory_info"),
        *("final_control_plane_info", "agg_score", "standard_error"),
    ]
    dumped = result.model_dump()
    assert dumped["metrics"] == {"m": {"is_score_valid": True, "score": 0.5, "reason": "r"}}
    assert json.dumps(dumped)
    assert [name for name in result if result[name] is None] == [
        *("reason", "step_outputs", "error", "trajectory_info", "final_control_plane_info", "agg_score"),
        "standard_error",
    ]
    result.score = 0.7
    assert result["score"] == 0.7
    with pytest.raises(KeyError, match="nothing"):
        result["nothing"]


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_metrics_are_bounded(score: float) -> None:
    """A metric's score is in [0, 1]."""
    with pytest.raises(ValueError, match="in \\[0, 1\\]"):
        MetricResult(score=score, reason="")
