"""The table of Eval Protocol in `docs/coming-from.md`: every row is tried."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps import EvaluateResult, apps_dataset_to_evaluation_row, evaluate_apps_solution
from tests.apps_rows import DOUBLE, write_rows
from tests.compat.coming_from import PAGE, Cells, apps, cases, read, run, without_row

pytestmark = pytest.mark.usefixtures("kept_in_the_cache")


ONE = {"inputs": ["4\n"], "outputs": ["4\n"]}
THREE = {"inputs": ["1\n", "2\n", "3\n"], "outputs": ["2\n", "4\n", "6\n"]}


def evaluate(code: str, tests: Any = ONE, **arguments: Any) -> EvaluateResult:
    """The result of a program, with the page's call."""
    talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": f"```python\n{code}\n```"}]
    result = evaluate_apps_solution(messages=talk, ground_truth=tests, **arguments)
    assert isinstance(result, EvaluateResult)
    return result


def codes(result: EvaluateResult) -> list[Any]:
    """The result of each test."""
    found: list[Any] = json.loads(result.metrics["raw_results"].reason)
    return found


def _check_import(_: Path) -> None:
    assert evaluate("print(4)").reason == "Passed 1/1 test cases."


def _check_classes(_: Path) -> None:
    from ioi_eval.apps import EvaluationRow, Message, MetricResult

    assert EvaluationRow(messages=[Message(role="user", content="?")], ground_truth="{}").messages[0].content == "?"
    assert isinstance(evaluate("print(4)").metrics["pass_rate"], MetricResult)
    for name, words in (
        ("evaluation_test", "from eval_protocol.pytest import evaluation_test"),
        ("SingleTurnRolloutProcessor", "from eval_protocol.pytest import SingleTurnRolloutProcessor"),
    ):
        with pytest.raises(ImportError, match=words):
            exec(f"from ioi_eval.apps import {name}")
    with pytest.raises(ImportError, match=r"from ioi_eval\.apps import evaluate_apps_solution"):
        exec("from ioi_eval import evaluate_apps_solution")


def _check_call(_: Path) -> None:
    assert "judged_by" not in evaluate("print(4)").metrics
    assert evaluate("print(4)", compat="ioi_eval").metrics["judged_by"].reason == "ioi_eval: lines"
    assert evaluate("print(4)", comparator="tokens").metrics["judged_by"].reason == "ioi_eval: tokens"


def _check_timeout(_: Path) -> None:
    for program in ("while True: pass", "import time\ntime.sleep(99)"):
        assert codes(evaluate(program, execution_timeout=0.1)) == [-1]


def _check_adapter(_: Path) -> None:
    (row,) = apps_dataset_to_evaluation_row([{"question": "?", "input_output": "{}"}])
    assert (row.messages[0].role, row.ground_truth) == ("user", "{}")


def _check_package(_: Path) -> None:
    """Tried if the package is installed."""
    assert (PAGE.parents[1] / "tests/apps/test_eval_protocol_package.py").read_text().count("@evaluation_test(") == 1


def _check_sample(_: Path) -> None:
    from ioi_eval import sample

    assert len(sample.apps_problems().read_text().splitlines()) == 5


def _check_recursion(_: Path) -> None:
    assert evaluate("def f(n):\n    return n and 1 + f(n - 1)\nprint(f(5000) - 4996)").score == 1.0


def _check_imports(_: Path) -> None:
    for program in ("print(gcd(4, 8))", "print(Counter('aaaa')['a'])", "x: List[int] = [4]\nprint(*x)"):
        assert evaluate(program).score == 1.0
    assert evaluate("from __future__ import annotations\nprint(4)").score == 1.0
    assert "line 2" in evaluate("x = 1\nprint(y)").metrics["execution_error_details"].reason


def _check_comparison(_: Path) -> None:
    assert (evaluate("print(' 4')").score, evaluate("print(' 4')", comparator="lines").score) == (1.0, 0.0)
    two = {"inputs": [""], "outputs": ["1\n2\n"]}
    blanks = "print('1 ')\nprint(2)"
    assert (evaluate(blanks, two).score, evaluate(blanks, two, comparator="lines").score) == (0.0, 1.0)


def _check_process(_: Path) -> None:
    program = "import os\nprint(os.read(0, 9).decode())"
    assert (evaluate(program).score, evaluate(program, compat="eval-protocol").score) == (1.0, 0.0)


def _check_all_tests(_: Path) -> None:
    assert str(evaluate("print(0)", THREE).reason).startswith("Passed 0/3 test cases.. First fail details: Inputs: 1")
    assert str(evaluate("print(0)", THREE, compat="eval-protocol").reason).startswith("Passed 0/1 test cases.")
    unequal = evaluate("print(4)", {"inputs": ["", ""], "outputs": ["4"]})
    assert not unequal.is_score_valid
    assert "2 inputs and 1 output" in str(unequal.error)


def _check_functions(_: Path) -> None:
    tests = {"fn_name": "f", "inputs": [[1]], "outputs": [2]}
    program = "def f(n):\n    return n + 1"
    assert (evaluate(program, tests).score, evaluate(program, tests, compat="eval-protocol").score) == (1.0, 0.0)


def _check_codes(_: Path) -> None:
    program = "n = int(input())\nif n == 3:\n    1 / 0\nprint(2)"
    assert codes(evaluate(program, THREE)) == [True, False, -1]
    assert (codes(evaluate("(", THREE)), codes(evaluate("(", THREE, compat="eval-protocol"))) == ([-2] * 3, [-2])


def _check_timeouts(_: Path) -> None:
    program = "n = int(input())\nwhile n == 2:\n    pass\nprint(2 * n)"
    result = evaluate(program, THREE, execution_timeout=0.5)
    assert codes(result) == [True, -1, True]
    assert result.reason == ("Passed 2/3 test cases. Execution Error: Global timeout or process killed prematurely")
    theirs = evaluate(program, THREE, execution_timeout=0.5, compat="eval-protocol")
    assert codes(theirs) == [-1] * 3


def _check_errors(_: Path) -> None:
    result = evaluate("1 / 0")
    assert result.reason == "Passed 0/1 test cases. Execution Error: ZeroDivisionError('division by zero')"
    assert json.loads(result.metrics["execution_error_details"].reason)["traceback"].startswith("Traceback")
    program = "print(4)\nimport sys\nsys.exit(1)"
    assert codes(evaluate(program)) == [-1]
    assert codes(evaluate(program, compat="eval-protocol")) == [True]
    absent = "import nothing_like_it"
    assert (codes(evaluate(absent)), codes(evaluate(absent, compat="eval-protocol"))) == ([-1], [-2])


def _check_main(_: Path) -> None:
    program = "def main():\n    print(4)"
    assert (evaluate(program).score, evaluate(program, compat="eval-protocol").score) == (0.0, 1.0)


def _check_syntax(_: Path) -> None:
    assert "SyntaxError(\"expected ':'\", ('solution.py', 2" in str(evaluate("x = 1\nfor i in x").reason)


def _check_no_code(_: Path) -> None:
    result = evaluate("")
    assert result.reason == "The provided code solution was empty after extraction."
    assert list(result.metrics) == ["parsability", "error"]


def _check_extraction(_: Path) -> None:
    draft = "print(0)\n```\nNo:\n```python\nprint(4)"
    assert (evaluate(draft).score, evaluate(draft, compat="eval-protocol").score) == (1.0, 0.0)


def _check_last_message(_: Path) -> None:
    talk = [{"role": "assistant", "content": "```python\nprint(4)\n```"}, {"role": "user", "content": "Thanks!"}]
    assert evaluate_apps_solution(talk, ONE).score == 1.0
    assert evaluate_apps_solution(talk[:1], ONE, compat="eval-protocol").score == 1.0
    assert evaluate_apps_solution(talk, ONE, compat="eval-protocol").score == 0.0


def _check_inline(_: Path) -> None:
    for words in ("`print(4)`", "Use `print(4)`.", "`print(int(input()))` will do"):
        talk = [{"role": "assistant", "content": words}]
        assert [evaluate_apps_solution(talk, ONE, compat=rules).score for rules in (None, "eval-protocol")] == [0.0] * 2
    bare = [{"role": "assistant", "content": "So this will do:\nn = int(input())\nprint(n)"}]
    assert evaluate_apps_solution(bare, ONE).score == 1.0


def _check_question_alone(_: Path) -> None:
    talk = [{"role": "user", "content": "Say what you read."}]
    for rules in (None, "eval-protocol"):
        result = evaluate_apps_solution(messages=talk, ground_truth=ONE, compat=rules)
        assert (result.score, codes(result)) == (0.0, [-2])


def _check_scenarios(_: Path) -> None:
    assert evaluate("n = int(input())\nprint(2 * n if n < 3 else 0)", THREE).reason == "Passed 2/3 test cases."
    late = evaluate("while True: pass", THREE, execution_timeout=0.1)
    assert (late.score, codes(late)) == (0.0, [-1] * 3)
    assert "Global timeout or process killed prematurely" in str(late.metrics["execution_metadata"].reason)
    refused = evaluate("for _ in range(q)  # Missing colon\n    pass", THREE)
    assert (refused.score, codes(refused)) == (0.0, [-2] * 3)
    assert "SyntaxError(" in refused.metrics["execution_error_details"].reason


def _check_security(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("4")
    for program in (f"print(open({str(secret)!r}).read())", "import socket\nsocket.socket()"):
        result = evaluate(program)
        assert (result.score, codes(result)) == (0.0, [-1])
        assert "Error" in str(result.reason)


def _check_resources(tmp_path: Path) -> None:
    apps(tmp_path, "ioi-eval apps score DUMP --dataset SRC --out DIR")
    tests = json.loads((tmp_path / "DIR/tests.jsonl").read_text().splitlines()[0])
    assert any("time" in key or "memory" in key for key in json.dumps(tests).split('"'))
    assert codes(evaluate("print(len(bytearray(10**8) * 1) and 4)\n", memory_mb=50)) == [-1]


def _check_metrics(_: Path) -> None:
    assert list(evaluate("print(4)").metrics) == ["pass_rate", "raw_results", "execution_metadata"]
    assert list(evaluate("1 / 0").metrics) == ["pass_rate", "raw_results", "execution_error_details"]
    assert list(evaluate_apps_solution([], ONE).metrics) == ["error"]
    empty = evaluate("print(4)", {"inputs": [], "outputs": []})
    assert "execution_error" in empty.metrics


def _check_ground_truths(_: Path) -> None:
    for tests, words in (
        (None, "Invalid ground_truth type."),
        ({}, "Invalid ground_truth structure after parsing."),
        ("{", "Ground_truth JSONDecodeError: "),
    ):
        result = evaluate("print(4)", tests)
        assert str(result.reason).startswith(words)
        assert not result.is_score_valid
        assert evaluate("print(4)", tests, compat="eval-protocol").is_score_valid


def _check_failures(_: Path) -> None:
    result = evaluate("print(4)", python="/no/python")
    assert not result.is_score_valid
    assert "/no/python" in str(result.error)


def _check_rows(tmp_path: Path) -> None:
    tests = {"inputs": ["1\n"], "outputs": ["2\n"]}
    write_rows(
        tmp_path / "other.jsonl", [{"id": 1, "input_output": tests}, {"id": 2, "input_output": json.dumps(tests)}]
    )
    write_rows(tmp_path / "DUMP.jsonl", [{"problem_id": n, "code": DOUBLE} for n in (1, 2)])
    ended = run(tmp_path, "ioi-eval apps score DUMP.jsonl --dataset other.jsonl --out DIR")
    assert ended.returncode == 0, ended.stderr
    assert [row["verdict"] for row in read(tmp_path / "DIR/results.jsonl")] == ["AC", "AC"]


def _check_columns(_: Path) -> None:
    from ioi_eval import sample

    columns = ["problem_id", "question", "solutions", "input_output", "difficulty", "url", "starter_code"]
    assert all(list(row) == columns for row in read(sample.apps_problems()))


def _check_threshold(tmp_path: Path) -> None:
    apps(tmp_path, "ioi-eval apps score DUMP --dataset SRC --out DIR")
    assert "test case average" in (tmp_path / "DIR/report.md").read_text()


EVAL_PROTOCOL: dict[str, Callable[[Path], None]] = {
    "import evaluate_apps_solution": _check_import,
    "from eval_protocol.models": _check_classes,
    "`evaluate_apps_solution(messages": _check_call,
    "execution_timeout": _check_timeout,
    "apps_dataset_to_evaluation_row": _check_adapter,
    "@evaluation_test": _check_package,
    "apps_sample_dataset.jsonl": _check_sample,
    "setrecursionlimit": _check_recursion,
    "standard_imports": _check_imports,
    "actual_output": _check_comparison,
    "sys.executable": _check_process,
    "zip(inputs, outputs)": _check_all_tests,
    "fn_name": _check_functions,
    "`True`, `False`": _check_codes,
    "Timeout errors": _check_timeouts,
    "Runtime errors": _check_errors,
    "`def main():`": _check_main,
    "Compilation errors": _check_syntax,
    "67% success rate": _check_scenarios,
    "Code extraction failure": _check_no_code,
    "_extract_python_code": _check_extraction,
    "Inline code snippets": _check_inline,
    "messages[-1]": _check_last_message,
    "content=problem_description": _check_question_alone,
    "File system access": _check_security,
    "Memory usage": _check_resources,
    "`pass_rate`": _check_metrics,
    "Invalid ground_truth type": _check_ground_truths,
    "Error during code execution": _check_failures,
    '{"id": 1': _check_rows,
    "`problem_id`, `question`": _check_columns,
    "threshold_of_success": _check_threshold,
}


@pytest.mark.parametrize(("row", "keys"), cases("Eval Protocol", EVAL_PROTOCOL))
def test_a_row_is_right(row: Cells, keys: list[str], tmp_path: Path) -> None:
    """The statement of the row is true."""
    assert len(keys) == 1, "every row has one check"
    EVAL_PROTOCOL[keys[0]](tmp_path)


def test_every_check_has_its_row() -> None:
    """No check is left over from a deleted row."""
    assert without_row("Eval Protocol", EVAL_PROTOCOL) == []
