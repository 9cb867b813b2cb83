"""`evaluate_apps_solution` on real boxes: documented results, from any thread, inside an event loop, and in forks."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ioi_eval.apps import EvaluateResult, apps_dataset_to_evaluation_row, evaluate_apps_solution
from ioi_eval.apps.background import Background, background
from ioi_eval.apps.settings import AppsSettings, read_checker
from ioi_eval.errors import InputError, SetupError
from ioi_eval.model import Isolation
from ioi_eval.model.methods import Comparator
from tests.apps_rows import DOUBLE, ZERO
from tests.forks import in_a_fork

pytestmark = pytest.mark.usefixtures("kept_in_the_cache")

TESTS = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}
SECOND_FAILS = "n = int(input())\nprint(2 * n // (2 - n))\n"


def says(code: str) -> list[dict[str, str]]:
    """A conversation in which the model submits a program."""
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": f"So:\n```python\n{code}\n```\n"}]


def evaluate(code: str, tests: Any = TESTS, **kwargs: Any) -> EvaluateResult:
    """The result of a program."""
    result = evaluate_apps_solution(says(code), tests, **kwargs)
    assert isinstance(result, EvaluateResult)
    return result


def notes(result: EvaluateResult) -> dict[str, Any]:
    """The reasons of the metrics, parsed if they are JSON."""
    reasons = {name: metric.reason for name, metric in result.metrics.items()}
    return {name: words if name == "pass_rate" else json.loads(words) for name, words in reasons.items()}


def test_full_pass() -> None:
    """The ground truth is a JSON text."""
    result = evaluate(DOUBLE, json.dumps(TESTS))
    assert (result.score, result.reason, result.is_score_valid) == (1.0, "Passed 2/2 test cases.", True)
    assert notes(result) == {"pass_rate": "2/2", "raw_results": [True, True], "execution_metadata": [{}]}
    assert result.metrics["pass_rate"].is_score_valid
    assert not result.metrics["raw_results"].is_score_valid


def test_wrong_answer() -> None:
    """The first failure is in the result, and all tests count."""
    result = evaluate(ZERO)
    words = "Passed 0/2 test cases.. First fail details: Inputs: 1\n, Expected: 2\n, Got: 0"
    assert (result.score, result.reason) == (0.0, words)
    wrong = {"output": "0", "expected": "2\n", "inputs": "1\n", "error_message": "Wrong Answer"}
    assert notes(result)["execution_metadata"] == [wrong]


def test_runtime_error() -> None:
    """The exception in Python's notation (3.14 has another), with its traceback."""
    result = evaluate(SECOND_FAILS)
    details = notes(result)["execution_error_details"]
    words = details["error"]
    assert words in {f"ZeroDivisionError('{what}by zero')" for what in ("integer division or modulo ", "division ")}
    assert (result.score, result.reason) == (0.5, f"Passed 1/2 test cases. Execution Error: {words}")
    assert details["traceback"].startswith("Traceback (most recent call last):")
    assert notes(result)["raw_results"] == [True, -1]


def test_syntax_error_and_time() -> None:
    """−2 if the program does not compile, −1 if it exceeds the time limit, with the package's texts."""
    result = evaluate("print(", {"inputs": ["1\n"], "outputs": ["2\n"]})
    assert str(result.reason).startswith("Passed 0/1 test cases. Execution Error: SyntaxError(")
    assert notes(result)["raw_results"] == [-2]
    result = evaluate("while True:\n    pass\n", {"inputs": ["1\n"], "outputs": ["2\n"]}, execution_timeout=0.1)
    assert notes(result)["raw_results"] == [-1]
    words = "Global timeout or process killed prematurely"
    assert result.reason == f"Passed 0/1 test cases. Execution Error: {words}"
    details = {"error": words, "details": "No results returned from subprocess."}
    assert notes(result)["execution_error_details"] == details
    ours = evaluate("while True: pass", TESTS, execution_timeout=0.1, compat="ioi_eval")
    assert "Time Limit Exceeded" in str(ours.reason)


ONE = {"inputs": ["4\n"], "outputs": ["4\n"]}
DEEP = "def f(n):\n    return n and 1 + f(n - 1)\nprint(f(5000) - 4996)\n"


@pytest.mark.parametrize(
    ("code", "tests", "page", "ours"),
    [
        (DEEP, ONE, 1.0, 0.0),
        ("print(gcd(8, 12))", ONE, 1.0, 0.0),
        ("print(Counter('aaaa')['a'])", ONE, 1.0, 0.0),
        ("print(3 + len(List[int].__args__))", ONE, 1.0, 0.0),
        ("print(' 4')", ONE, 1.0, 0.0),
        ("print('1 \\n2')", {"inputs": [""], "outputs": ["1\n2\n"]}, 0.0, 1.0),
        ("from __future__ import annotations\nprint(pow(2, 5, 7))", ONE, 1.0, 1.0),
        ("print(abs(-4), open(0).read() and '')", ONE, 1.0, 1.0),
        ("if __name__ == '__main__':\n    print(4)\n    exit()", ONE, 1.0, 1.0),
        ("import sys\nprint(sys.stdin.buffer.read().decode())\nsys.exit(1)", ONE, 0.0, 0.0),
        ("import os\nos.write(1, b'4')\nos._exit(0)", ONE, 1.0, 1.0),
    ],
)  # fmt: skip
def test_the_page_s_rules_are_the_default(code: str, tests: Any, page: float, ours: float) -> None:
    """The page's prelude and comparison apply. One argument selects our rules, and the result names the rules."""
    result = evaluate(code, tests)
    assert (result.score, result.is_score_valid) == (page, True), result
    assert set(result.metrics) <= {"pass_rate", "raw_results", "execution_metadata", "execution_error_details"}
    assert evaluate(code, tests, compat="eval-protocol-page").model_dump() == result.model_dump()
    for argument in ({"compat": "ioi_eval"}, {"comparator": "lines"}):
        other = evaluate(code, tests, **argument)
        assert (other.score, other.metrics["judged_by"].reason) == (ours, "ioi_eval: lines"), other


def test_a_deep_recursion_in_a_function() -> None:
    """The prelude is used for functions too."""
    tests = {"fn_name": "f", "inputs": [[5000]], "outputs": [5000]}
    assert evaluate("def f(n):\n    return n and 1 + f(n - 1)\n", tests).score == 1.0


def test_a_recursion_without_end() -> None:
    """600,000 frames are an error of the program. It is reported quickly and with a short text."""
    result = evaluate("def f(n):\n    return f(n + 1)\nf(0)\n", ONE)
    assert notes(result)["raw_results"] == [-1]
    words = "RecursionError('maximum recursion depth exceeded')"
    assert result.reason == f"Passed 0/1 test cases. Execution Error: {words}"


def test_without_an_assistant_the_last_message_counts() -> None:
    """As in the page's example. By our rules a user's message is not an answer."""
    talk = [{"role": "user", "content": f"```python\n{DOUBLE}```"}]
    assert evaluate_apps_solution(talk, TESTS).score == 1.0
    result = evaluate_apps_solution(talk, TESTS, compat="ioi_eval")
    assert result.reason == "The provided code solution was empty after extraction."


def test_a_block_that_was_cut_off_is_no_program_by_our_rules() -> None:
    """As in `apps score`. The page's rules take any text with a function."""
    talk = [{"role": "assistant", "content": "```python\nimport sys\ndef main():\n    print(4)\nmain()\n"}]
    assert evaluate_apps_solution(talk, ONE).score == 1.0
    result = evaluate_apps_solution(talk, ONE, compat="ioi_eval")
    assert result.reason == "The provided code solution was empty after extraction."


def test_functions_are_called() -> None:
    """Eval Protocol's own code gives 0 for every such row."""
    tests = {"fn_name": "twice", "inputs": [[1], [2]], "outputs": [2, 4]}
    assert evaluate("def twice(n):\n    return 2 * n\n", tests).score == 1.0
    assert evaluate("def twice(n):\n    return n\n", tests).score == 0.0


@pytest.mark.parametrize(
    ("messages", "tests", "reason"),
    [
        ([], TESTS, "No messages provided."),
        (says(""), TESTS, "The provided code solution was empty after extraction."),
        ([{"role": "assistant", "content": None}], TESTS, "The provided code solution was empty after extraction."),
        (says("x"), "{", "Ground_truth JSONDecodeError: "),
        (says("x"), None, "Invalid ground_truth type."),
        (says("x"), {"inputs": []}, "Invalid ground_truth structure after parsing."),
        (says("x"), {"inputs": [], "outputs": []}, "Execution utility returned no results."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_nothing_to_judge(messages: Any, tests: Any, reason: str) -> None:
    """The documented result, without a sandbox."""
    result = evaluate_apps_solution(messages, tests)
    assert (result.score, str(result.reason)[: len(reason)]) == (0.0, reason)
    assert result.is_score_valid == (reason[:2] in ("No", "Th"))  # a missing program is the model's fault


@pytest.mark.parametrize("outputs", [[], ["1\n"]])
def test_no_inputs_by_the_rules_of_the_code(outputs: list[str]) -> None:
    """A valid score of 0, as of the package."""
    result = evaluate(DOUBLE, {"inputs": [], "outputs": outputs}, compat="eval-protocol")
    assert (result.score, result.reason) == (0.0, "Execution utility returned no results.")
    assert result.is_score_valid


def test_unequal_rows_have_no_valid_score() -> None:
    """The result is neither a valid 0 nor a pass."""
    result = evaluate(DOUBLE, {"inputs": ["1\n"], "outputs": []})
    assert not result.is_score_valid
    assert "1 input and 0 outputs" in str(result.error)


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"execution_timeout": -1}, "execution_timeout is -1; it must be a number of seconds above 0"),
        ({"execution_timeout": "10"}, "execution_timeout is '10'"),
        ({"execution_timeout": 10**400}, "execution_timeout is 10"),
        (
            {"compat": "hendrycks"},
            "compat is 'hendrycks'; it must be one of eval-protocol-page, eval-protocol, ioi_eval",
        ),
        (
            {"compat": "eval-protocol", "comparator": "exact"},
            "eval-protocol has its own rules; remove comparator='exact'",
        ),
        ({"comparator": "fuzzy"}, "no such comparator 'fuzzy'"),
        ({"isolation": "strong"}, "isolation is 'strong'; it must be one of full, reduced, none"),
        ({"memory_mb": "x"}, "memory_mb is 'x'; it must be a whole number"),
        ({"comparator": 5}, "comparator is 5; it must be a text"),
        ({"comparator": False}, "comparator is False; it must be a text"),
        ({"isolation": ["full"]}, r"isolation is \['full'\]; it must be one of full, reduced, none"),
        ({"python": None}, "python is None; it must be a text"),
        ({"slots": 0}, "slots is 0; it must be a whole number from 1 to 100,000"),
        ({"slots": 10**9}, "slots is 1000000000; it must be a whole number"),
        ({"slots": True}, "slots is True; it must be a whole number"),
        ({"python": ""}, "python is empty; it must be an interpreter's name or path"),
    ],
)
def test_invalid_arguments(kwargs: dict[str, Any], words: str) -> None:
    """They raise an error of the caller's and give no score."""
    with pytest.raises(InputError, match=words):
        evaluate(DOUBLE, **kwargs)


def test_unknown_arguments_give_a_warning() -> None:
    """The signature accepts any argument, so a misspelt one would be ignored. The warning is at the caller's line."""
    with pytest.warns(UserWarning, match=r"ignores execution_timout, memory; it has .*memory_mb") as caught:
        evaluate_apps_solution(says(""), TESTS, execution_timout=1, memory=64, python="python3")
    assert [warning.filename for warning in caught] == [__file__]


def test_a_failing_sandbox_gives_no_valid_score() -> None:
    """Here the interpreter does not exist."""
    result = evaluate(DOUBLE, python="/no/python")
    assert not result.is_score_valid
    assert "/no/python" in str(result.error)
    assert result.score == 0.0


@pytest.mark.parametrize(("messages", "what"), [("print(1)", "a text"), (5, "of type int")])
def test_other_values_are_refused_as_a_conversation(messages: Any, what: str) -> None:
    """They are a mistake of the caller, and not an answer without code."""
    with pytest.raises(InputError, match=f"messages is {what}; give a list"):
        evaluate_apps_solution(messages, TESTS)


def test_a_changed_checker_is_used_in_the_next_call(tmp_path: Path) -> None:
    """Although the sandbox and its state are kept for the whole process. If the file is deleted, there is no score."""
    checker = tmp_path / "checker.sh"
    for score in (1, 0, 1):
        checker.write_text(f"#!/bin/sh\necho {score}\n")
        assert evaluate(DOUBLE, comparator=f"checker:{checker}").score == score
    checker.unlink()
    with pytest.raises(InputError, match=r"checker\.sh cannot be read"):
        evaluate(DOUBLE, comparator=f"checker:{checker}")


def test_a_checker_that_cannot_be_started_is_refused(tmp_path: Path) -> None:
    """A script without `#!` would fail on each output. A compiled checker needs none."""
    script = tmp_path / "checker.py"
    script.write_text("print(1)\n")
    with pytest.raises(InputError, match=r"checker\.py is neither .* make its first line #!/usr/bin/env python3"):
        evaluate(DOUBLE, comparator=f"checker:{script}")
    binary = tmp_path / "checker"
    binary.write_bytes(b"\x7fELF")
    checker = Comparator.parse(f"checker:{binary}")
    assert read_checker(AppsSettings(comparator=checker)) == b"\x7fELF"


def test_from_an_event_loop_and_from_many_threads() -> None:
    """The caller's loop is not used. All calls share one sandbox."""

    async def inside() -> EvaluateResult:
        return evaluate(DOUBLE)

    assert asyncio.run(inside()).score == 1.0
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda code: evaluate(code).score, [DOUBLE, ZERO, SECOND_FAILS] * 3))
    assert found == [1.0, 0.0, 0.5] * 3


def test_a_fork_opens_its_own_sandbox() -> None:
    """For example in the workers of a data loader."""
    assert evaluate(DOUBLE).score == 1.0
    assert in_a_fork(lambda: evaluate(DOUBLE).score) == 1.0


def test_a_fork_with_the_number_of_its_ancestor_opens_its_own_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of processes are reused, and the first process of each PID namespace is 1."""
    number = os.getpid()
    assert evaluate(DOUBLE).score == 1.0
    inherited = background(Isolation.REDUCED)
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: number)
        assert in_a_fork(lambda: _without_waiting(inherited))


def _without_waiting(inherited: Background) -> bool:
    """Whether a sandbox of its own is opened, and the inherited one can be closed."""
    signal.alarm(60)
    inherited.close()
    return background(Isolation.REDUCED) is not inherited and evaluate(DOUBLE).score == 1.0


def test_the_first_call_says_how_many_jobs_run_at_once() -> None:
    """Calls share one sandbox, so a later call cannot have another number."""

    def calls() -> int:
        assert evaluate(DOUBLE, slots=3).score == 1.0
        assert evaluate(DOUBLE, slots=3).score == evaluate(DOUBLE).score == 1.0
        with pytest.raises(
            InputError, match="slots is 2, and an earlier call opened the sandbox with 3; give the same or none"
        ):
            evaluate(DOUBLE, slots=2)
        return background(Isolation.REDUCED).slots

    assert in_a_fork(calls) == 3


def test_objects_are_messages_too() -> None:
    """Here with our rules of extraction: the last block of the assistant's last message."""
    from ioi_eval.apps import Message

    blocks = f"```python\n{ZERO}```\nNo:\n```python\n{DOUBLE}```"
    talk = [Message(role="user", content="?"), Message(role="assistant", content=blocks)]
    assert evaluate_apps_solution(talk, TESTS).score == 1.0


class PolarsSeries(list[Any]):
    """A list that has the method of a series of polars, and no truth value."""

    def __bool__(self) -> bool:
        raise TypeError("the truth value of a Series is ambiguous")

    def to_list(self) -> list[Any]:
        """The values."""
        return list(self)


@pytest.mark.parametrize("compat", ["eval-protocol-page", "eval-protocol", "ioi_eval"])
def test_a_conversation_of_a_table(compat: str) -> None:
    """A row that pandas read from a Parquet file has an array in the place of a list."""
    talks: list[Any] = [np.array(says(DOUBLE), dtype=object), PolarsSeries(says(DOUBLE)), tuple(says(DOUBLE))]
    if compat != "eval-protocol":  # which needs a text
        parts = np.array([{"type": "text", "text": DOUBLE}], dtype=object)
        talks.append([{"role": "assistant", "content": parts}])
    for talk in talks:
        assert evaluate_apps_solution(talk, TESTS, compat=compat).score == 1.0
    nothing: Any = np.array([])
    assert evaluate_apps_solution(nothing, TESTS, compat=compat).reason == "No messages provided."
    with pytest.raises(InputError, match="messages is one message; give a list"):
        evaluate_apps_solution(says(DOUBLE)[1], TESTS, compat=compat)  # type: ignore[arg-type]


def test_rows() -> None:
    """The row has the question, and the unchanged tests."""
    (row,) = apps_dataset_to_evaluation_row([{"question": "?", "input_output": "{}", "id": 1}])
    assert (row.messages[0].role, row.messages[0].content, row.ground_truth) == ("user", "?", "{}")
    with pytest.raises(InputError, match="row 0 has no question; it has: id"):
        apps_dataset_to_evaluation_row([{"id": 1}])
    table: Any = pd.DataFrame([{"question": "?", "input_output": "{}"}])
    assert len(apps_dataset_to_evaluation_row([line for _, line in table.iterrows()])) == 1
    with pytest.raises(InputError, match=r"row 0 is of type str; give dictionaries .*to_dict\('records'\)"):
        apps_dataset_to_evaluation_row(table)
    nothing: Any = None
    with pytest.raises(InputError, match="data is of type NoneType; give a list of dictionaries"):
        apps_dataset_to_evaluation_row(nothing)


def test_the_process_ends(tmp_path: Path) -> None:
    """The thread of the sandbox does not keep the interpreter from ending."""
    code = (
        "from ioi_eval.apps import evaluate_apps_solution as e\n"
        f"print(e([{{'role': 'assistant', 'content': {DOUBLE!r}}}], {TESTS!r}).score)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert ended.stdout == "1.0\n"
    assert ended.stderr == ""


def test_a_fork_ends_too() -> None:
    """It inherits the exit handlers, but not the thread that would run them."""
    code = (
        "import os, signal, sys\n"
        "from ioi_eval.apps.background import background\n"
        "from ioi_eval.model import Isolation\n"
        "background(Isolation.NONE)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(20)\n"
        "    sys.exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    words = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]  # Python 3.12 warns about forks
    ended = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert (ended.stdout, ended.stderr) == ("7\n", "")


def test_a_fork_while_another_thread_opens(tmp_path: Path) -> None:
    """If a thread of the parent is opening a sandbox, the child does not wait for it."""
    script = (
        "import os, signal, threading\n"
        "from ioi_eval.apps import background\n"
        "opening, forked = threading.Event(), threading.Event()\n"
        "def slowly(*_):\n"
        "    opening.set()\n"
        "    forked.wait()\n"
        "def told(*_):\n"
        "    os.write(1, b'opened')\n"
        "background.Background = slowly\n"
        "threading.Thread(target=background.background, args=('reduced',)).start()\n"
        "opening.wait()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(20)\n"
        "    background.Background = told\n"
        "    background.background('reduced')\n"
        "    os._exit(0)\n"
        "forked.set()\n"
        "os.waitpid(child, 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True, cwd=tmp_path)
    assert done.stdout == b"opened"


def test_a_sandbox_that_cannot_be_opened_leaves_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call tries again, and a trainer may make thousands without the garbage collector."""
    monkeypatch.setenv("CXX", "/nonexistent/g++")
    gc.disable()
    try:
        before = os.listdir("/proc/self/fd")
        for _ in range(2):
            with pytest.raises(SetupError, match="no C\\+\\+ compiler"):
                Background(Isolation.REDUCED)
        assert os.listdir("/proc/self/fd") == before
    finally:
        gc.enable()
