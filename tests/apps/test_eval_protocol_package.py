"""Inside the real package `eval-protocol`: its decorator, its rows, its result classes. No network."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from apps_rows import DOUBLE, ROWS, ZERO, write_rows

from ioi_eval.sandbox.confinement import PATH

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
    """Nothing of the user's is read or written, and nothing is asked for over the network."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EP_", "IOI_EVAL"))}
    quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1", "EP_NO_UPLOAD": "1"}
    return {**kept, **quiet, "HOME": str(tmp_path), "IOI_EVAL_CACHE": str(tmp_path / "cache")}


@pytest.mark.parametrize("passes", [True, False])
def test_inside_an_evaluation_test(tmp_path: Path, passes: bool) -> None:
    """The decorator runs it, takes its results, and passes or fails by their mean."""
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


def test_classes_are_the_package_s(tmp_path: Path) -> None:
    """Once it has been imported."""
    probe = [shutil.which("python3", path=PATH) or "python3", "-s", "-c", "import numpy"]  # as in a box
    has_numpy = subprocess.run(probe, capture_output=True, check=False).returncode == 0
    code = f"NUMPY = {has_numpy}\n{CLASSES}"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=environment(tmp_path), timeout=300, check=False
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
