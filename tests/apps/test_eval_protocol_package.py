"""Our functions inside the real package `eval-protocol`: its decorator, rows and result classes, without network."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps import evaluate_apps_solution
from ioi_eval.sandbox.local.confinement import PATH
from tests.apps_rows import DOUBLE, ROWS, ZERO, write_rows

ABSENT = importlib.util.find_spec("eval_protocol") is None
pytestmark = pytest.mark.skipif(ABSENT, reason="eval-protocol is not installed: pip install -e .[eval-protocol]")

EVALUATION = '''
import asyncio
from eval_protocol.models import EvaluateResult, EvaluationRow, Message
from eval_protocol.pytest import RolloutProcessor, evaluation_test
from ioi_eval.apps import apps_dataset_to_evaluation_row, evaluate_apps_solution

ANSWERS = {answers!r}


class Answers(RolloutProcessor):
    """Hands in a program for each question, as a model would."""

    def __call__(self, rows, config):
        async def answered(row):
            row.messages.append(Message(role="assistant", content=ANSWERS[row.messages[0].content]))
            return row

        return [asyncio.create_task(answered(row)) for row in rows]


@evaluation_test(
    input_dataset=[{dataset!r}],
    dataset_adapter=apps_dataset_to_evaluation_row,
    completion_params=[{{"model": "none"}}],
    rollout_processor=Answers(),
    passed_threshold={threshold},
    num_runs=1,
    mode="pointwise",
    disable_browser_open=True,
)
def test_apps(row: EvaluationRow) -> EvaluationRow:
    result = evaluate_apps_solution(row.messages, row.ground_truth)
    assert isinstance(result, EvaluateResult)
    row.evaluation_result = result
    with open({log!r}, "a") as file:
        file.write(result.model_dump_json() + "\\n")
    return row
'''

CLASSES = """
import eval_protocol.models as theirs
from ioi_eval.apps import apps_dataset_to_evaluation_row, evaluate_apps_solution
tests = '{"inputs": ["1\\\\n"], "outputs": ["2\\\\n"]}'
row, = apps_dataset_to_evaluation_row([{"question": "?", "input_output": tests}])
assert isinstance(row, theirs.EvaluationRow) and isinstance(row.messages[0], theirs.Message)
row.messages.append(theirs.Message(role="assistant", content="```python\\nprint(2 * int(input()))\\n```"))
for compat in (None, "eval-protocol"):
    if compat and not NUMPY:
        continue
    result = evaluate_apps_solution(row.messages, row.ground_truth, compat=compat)
    assert isinstance(result, theirs.EvaluateResult), result
    assert isinstance(result.metrics["pass_rate"], theirs.MetricResult)
    assert (result.score, result.reason) == (1.0, "Passed 1/1 test cases."), result
assert isinstance(evaluate_apps_solution([], "{}"), theirs.EvaluateResult)
"""


def environment(tmp_path: Path) -> dict[str, str]:
    """No file of the user is read or written, and there is no network access."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EP_", "IOI_EVAL"))}
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1", "EP_NO_UPLOAD": "1"}
    return {**kept, **quiet, "HOME": str(tmp_path), "IOI_EVAL_CACHE": str(tmp_path / "cache")}


@pytest.mark.parametrize("passes", [True, False])
def test_inside_an_evaluation_test(tmp_path: Path, passes: bool) -> None:
    """The decorator runs the test, uses its results, and passes or fails by their mean."""
    rows = [{**ROWS[0], "question": "first"}, {**ROWS[1], "question": "second"}]
    dataset = write_rows(tmp_path / "apps.jsonl", rows)
    answers = {"first": f"```python\n{DOUBLE}```", "second": f"```python\n{ZERO}```"}
    log = tmp_path / "results.jsonl"
    text = EVALUATION.format(answers=answers, dataset=str(dataset), threshold=0.6 if passes else 0.7, log=str(log))
    (tmp_path / "test_evaluation.py").write_text(text)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_evaluation.py"],
        capture_output=True, text=True, cwd=tmp_path, env=environment(tmp_path), timeout=300, check=False,
    )  # fmt: skip
    assert (ended.returncode == 0) is passes, ended.stdout + ended.stderr
    results = sorted(map(json.loads, log.open()), key=lambda result: -result["score"])
    assert [result["score"] for result in results] == [1.0, 0.25]
    assert results[0]["reason"] == "Passed 3/3 test cases."
    assert results[1]["metrics"]["raw_results"]["reason"] == "[true, false, false, false]"


def test_result_classes_are_the_package_s(tmp_path: Path) -> None:
    """If the package was imported."""
    probe = [shutil.which("python3", path=PATH) or "python3", "-s", "-c", "import numpy"]  # as in a box
    has_numpy = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    code = f"NUMPY = {has_numpy}\n{CLASSES}"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=environment(tmp_path), timeout=300, check=False
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


ONE = {"inputs": ["4\n"], "outputs": ["4\n"]}
TWO = {"inputs": ["1\n", "2\n"], "outputs": ["1\n", "2\n"]}


def says(code: str) -> list[dict[str, str]]:
    """A conversation in which the model submits a program."""
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": f"So:\n```python\n{code}\n```\n"}]


CASES: dict[str, tuple[list[dict[str, str]], Any]] = {
    "pass": (says("print(input())"), TWO),
    "text": (says("print(input())"), json.dumps(TWO)),
    "wrong at once": (says("print(0)"), TWO),
    "wrong later": (says("print(1)"), TWO),
    "error at once": (says("print(1 / 0)"), TWO),
    "error later": (says("n = int(input())\nprint(n // (2 - n))"), TWO),
    "syntax": (says("for i in range(3)\n    print(i)"), ONE),
    "name": (says("print(x)"), ONE),
    "import": (says("import nothing_like_it\nprint(4)"), ONE),
    "loop": (says("while True:\n    pass"), ONE),
    "loop later": (says("n = int(input())\nwhile n == 2:\n    pass\nprint(n)"), TWO),
    "sleep": (says("import time\ntime.sleep(9)"), ONE),
    "killed": (says("import os\nos._exit(0)"), ONE),
    "exit 0": (says("print(4)\nexit()"), ONE),
    "exit 1": (says("import sys\nprint(4)\nsys.exit(1)"), ONE),
    "no messages": ([], ONE),
    "empty": ([{"role": "assistant", "content": ""}], ONE),
    "thoughts": ([{"role": "assistant", "content": "<think>Hm.</think>"}], ONE),
    "words": ([{"role": "assistant", "content": "I cannot do that."}], ONE),
    "two blocks": ([{"role": "assistant", "content": "```python\nprint(4)\n```\n```python\nprint(5)\n```"}], ONE),
    "no JSON": (says("print(4)"), "{"),
    "None": (says("print(4)"), None),
    "keys": (says("print(4)"), {"inputs": []}),
    "no tests": (says("print(4)"), {"inputs": [], "outputs": []}),
    "prelude": (says("print(gcd(8, 12) if Counter('a')['a'] and List else 0)"), ONE),
    "recursion": (says("def f(n):\n    return n and 1 + f(n - 1)\nprint(f(5000) - 4996)"), ONE),
    "blanks": (says("print(' 4 ')"), ONE),
    "close": (says("print(4.000001)"), ONE),
    "function": (says("def f(n):\n    return n"), {"fn_name": "f", "inputs": [[4]], "outputs": [4]}),
    "main": (says("def main():\n    print(4)"), ONE),
    "file": (says("import os\nos.close(os.open('/etc/passwd', os.O_RDONLY))\nprint(4)"), ONE),
    "network": (says("import socket\nsocket.socket().close()\nprint(4)"), ONE),
}
REFUSED = {"file", "network"}
"""What programs may do there and not here."""

ALSO_BY_DEFAULT = (
    *("pass", "text", "wrong later", "error later", "name", "loop", "sleep", "exit 0", "no messages", "empty"),
    *("thoughts", "prelude", "recursion", "blanks"),
)
"""Cases in which the page and the package's code agree; the others are in `docs/coming-from.md`."""

THEIRS = """
import contextlib, json, sys
from eval_protocol.models import Message
from eval_protocol.rewards.apps_coding_reward import evaluate_apps_solution
cases, results = json.load(open(sys.argv[1])), {}
for name, (messages, tests) in cases.items():
    messages = [Message(**message) for message in messages]
    with contextlib.redirect_stdout(sys.stderr):
        result = evaluate_apps_solution(messages=messages, ground_truth=tests, execution_timeout=1)
    results[name] = result.model_dump()
json.dump(results, open(sys.argv[2], "w"))
"""


def without_traceback(result: dict[str, Any]) -> dict[str, Any]:
    """Score, reason and metrics. Only the presence of a traceback counts, because it has local file names."""
    metrics = {name: {**metric} for name, metric in result["metrics"].items()}
    if details := metrics.get("execution_error_details"):
        reason = json.loads(details["reason"])
        details["reason"] = {**reason, "traceback": "traceback" in reason}
    return {"score": result["score"], "reason": result["reason"], "metrics": metrics}


def test_results_are_the_package_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Reasons, metrics and codes for 30 programs, answers and ground truths equal those of the package. Two rows are
    refused.
    """
    pytest.importorskip("numpy", reason="its code needs it")
    monkeypatch.setenv("IOI_EVAL_CACHE", str(cache))
    (tmp_path / "cases.json").write_text(json.dumps(CASES))
    command = [sys.executable, "-c", THEIRS, "cases.json", "results.json"]
    subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment(tmp_path), timeout=300, check=True)
    theirs = json.loads((tmp_path / "results.json").read_text())
    assert len(set(CASES) - REFUSED) == 30
    for name, (messages, tests) in CASES.items():
        for compat in ("eval-protocol", "eval-protocol-page"):
            if compat == "eval-protocol-page" and name not in ALSO_BY_DEFAULT:
                continue
            ours = evaluate_apps_solution(messages, tests, execution_timeout=1, compat=compat).model_dump()
            if name in REFUSED:
                assert (theirs[name]["score"], ours["score"]) == (1.0, 0.0), name
            else:
                assert without_traceback(ours) == without_traceback(theirs[name]), (name, compat)
