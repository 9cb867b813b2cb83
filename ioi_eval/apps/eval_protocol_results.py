"""Makes Eval Protocol's results (its texts and metrics) from what a program did. Pure.

The score is over all tests, as on Eval Protocol's page; by the rules of its code, over those that its code ran.
The strings and structures are the same in both: they describe the first failure.

Source: `evaluate_apps_solution` in eval-protocol 0.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ioi_eval.apps.evaluate_result import EvaluateResult, MetricResult
from ioi_eval.apps.result import AppsResult
from ioi_eval.compat.eval_protocol import NO_RESULTS, failure
from ioi_eval.compat.terms import Code
from ioi_eval.model import TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, RowFault
from ioi_eval.problems import big_json
from ioi_eval.problems.apps import apps_problem, with_lists
from ioi_eval.problems.row import Row

_CODES: Mapping[Verdict, Code] = {Verdict.AC: True, Verdict.WA: False, Verdict.PA: False, Verdict.CE: -2}
"""The code of a test by its verdict; -1 (error or out of time) for all others."""

_STOPPED = {Verdict.TLE: "Time Limit Exceeded", Verdict.MLE: "Memory Limit Exceeded"}


# --------------------------------------------------------------------------- nothing to judge


def no_messages() -> EvaluateResult:
    """The result if there is no conversation."""
    return _invalid("No messages provided.", "No messages provided for evaluation.")


def empty_code() -> EvaluateResult:
    """The result if the last message contains no program."""
    reason = "Empty code solution after extraction."
    result = _invalid("The provided code solution was empty after extraction.", reason)
    result.metrics = {"parsability": MetricResult(score=0.0, reason=reason), **result.metrics}
    return result


def read_ground_truth(ground_truth: object, *, as_is: bool = False) -> AppsProblem | EvaluateResult:
    """The tests in a ground truth (JSON text or an object); or the result that says what is wrong with it.

    With `as_is`, rows are treated as by Eval Protocol's code: a broken row has a valid score of 0, and some rows with a
    fault are judged. By default a broken row has the same text and no valid score, as the program is not at fault.
    """
    value = _parsed(ground_truth)
    if not as_is and isinstance(ground_truth, dict) and isinstance(value, dict):
        try:
            value = {name: with_lists(list(item) if isinstance(item, tuple) else item) for name, item in value.items()}
        except RecursionError:
            return judge_failed("Invalid ground_truth: lists are nested too deeply")
    if not isinstance(value, EvaluateResult) and not isinstance(value["inputs"], list):
        value = evaluation([-1], [{"error": "Invalid or missing in_outs structure"}])
    if isinstance(value, EvaluateResult):
        return value if as_is else _at_fault(value)
    if as_is and all(isinstance(given, str) for given in value["inputs"]):
        value = {**value, "fn_name": None}  # its code calls no function: it fails on arguments, but runs on a text
    problem = apps_problem(Row(source="ground_truth", number=1, values={"input_output": value}))
    if as_is or problem.fault is None:
        return problem
    if problem.fault is RowFault.EMPTY:
        return _at_fault(evaluation([], [{}]))
    return judge_failed(f"Invalid ground_truth: {problem.reason}")


def _parsed(ground_truth: object) -> dict[str, Any] | EvaluateResult:
    value = ground_truth
    if isinstance(value, str):
        try:
            value = big_json.loads(value)
        except json.JSONDecodeError as error:
            return _invalid(f"Ground_truth JSONDecodeError: {error}")
        except big_json.TooLargeError as error:
            return judge_failed(f"Ground_truth cannot be used: {error}")
    elif not isinstance(value, dict):
        return _invalid("Invalid ground_truth type.", f"Invalid ground_truth type: {type(value)}")
    if not isinstance(value, dict) or "inputs" not in value or "outputs" not in value:
        return _invalid("Invalid ground_truth structure after parsing.")
    return value


def judge_failed(message: str) -> EvaluateResult:
    """The result if we failed to judge the solution: no score, which is not a score of 0."""
    return _at_fault(_invalid(message))


def _at_fault(result: EvaluateResult) -> EvaluateResult:
    """The same text without a valid score, as it was not the program that failed."""
    result.is_score_valid = False
    result.error = result.reason
    return result


def _invalid(reason: str, message: str | None = None) -> EvaluateResult:
    metric = MetricResult(score=0.0, reason=message or reason, is_score_valid=False)
    return EvaluateResult(score=0.0, reason=reason, metrics={"error": metric})


# --------------------------------------------------------------------------- judged


def evaluated(problem: AppsProblem, result: AppsResult) -> EvaluateResult:
    """The result by the other grader that judged the program, or over all tests by our rules.

    If we failed to judge one of them, there is no score.
    """
    if (graded := result.graded) is not None:
        if graded.crash not in ("", NO_RESULTS):  # without results there is a valid score of 0
            return judge_failed(graded.crash)
        return evaluation(graded.codes, graded.metadata)
    if result.score is None:
        return judge_failed(result.message or "the solution could not be judged")
    codes = [_CODES.get(outcome.verdict, -1) for outcome in result.tests]
    metadata: dict[str, Any] = {}
    for test, outcome, code in zip(problem.tests, result.tests, codes, strict=True):
        if code is not True:
            metadata = failure(test, outcome.printed_text.rstrip()) if code is False else _error_of(outcome)
            break
    return evaluation(codes, [metadata])


def _error_of(outcome: TestOutcome) -> dict[str, Any]:
    """The `repr` of a program's exception, else what happened; and the exception's traceback."""
    error, traceback = outcome.details.report.error or outcome.message, outcome.message
    if outcome.verdict is Verdict.RE:
        traceback = traceback[max(traceback.find("Traceback"), 0) :]
    elif outcome.verdict is not Verdict.CE:
        name = _STOPPED.get(outcome.verdict, outcome.verdict.value)
        error, traceback = f"{name}: {outcome.message}", ""
    return {"error": error or "the program failed", "traceback": traceback}


def evaluation(codes: Sequence[Code], metadata: Sequence[Mapping[str, Any]]) -> EvaluateResult:
    """The result from the codes of the tests that count, and what describes the first failure: `Graded.metadata`."""
    metrics: dict[str, MetricResult] = {}
    passed = sum(code is True for code in codes)
    score = passed / len(codes) if codes else 0.0
    if codes:
        reason = f"Passed {passed}/{len(codes)} test cases."
        metrics["pass_rate"] = MetricResult(score=score, reason=f"{passed}/{len(codes)}")
        metrics["raw_results"] = _note(json.dumps(list(codes)))
    else:
        reason = NO_RESULTS
        metrics["execution_error"] = _note(reason)
    first = metadata[0] if metadata else {}
    if len(metadata) == 1 and first.get("error"):
        reason += f" Execution Error: {first['error']}"
        metrics["execution_error_details"] = _note(json.dumps(dict(first)))
    elif metadata:
        metrics["execution_metadata"] = _note(json.dumps([dict(entry) for entry in metadata]))
        if score == 0.0 and first.get("error_message") == "Wrong Answer":
            reason += (
                f". First fail details: Inputs: {first.get('inputs', 'N/A')},"
                f" Expected: {first.get('expected', 'N/A')}, Got: {first.get('output', 'N/A')}"
            )
    return EvaluateResult(score=score, reason=reason, metrics=metrics)


def _note(text: str) -> MetricResult:
    return MetricResult(score=0.0, reason=text, is_score_valid=False)
