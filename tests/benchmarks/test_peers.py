"""The drivers of other graders, run in separate processes with stand-ins for these graders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"

RUN_TEST = """
import os, time
calls = []

def run_test(problem, test):
    calls.append(test)
    os.putenv = None  # as a call of the real one, it works once in a process
    begun = time.process_time()
    while time.process_time() - begun < 0.2:
        pass
    print("this is lost")
    return [given == test for given in problem["input_output"]["inputs"]] + [len(calls)]
"""
METRICS = """
import json

def codegen_metrics(samples, generations, k_list, num_process_evaluate, timeout):
    given = [json.loads(sample["input_output"])["inputs"] for sample in samples]
    return [{}, {number: [[code in inputs]] for number, ((code,), inputs) in enumerate(zip(generations, given))}, []]
"""
SCORING = """
from types import SimpleNamespace
from utils import load_ioi_tests

async def score_subtask(client, subtask, submission, test_batch_size):
    said = f"{client} {submission} {test_batch_size}"
    return SimpleNamespace(test_results=[SimpleNamespace(status=f"{name}: {said}") for name in subtask["test_names"]])
"""
CLIENT = """
def PistonClient(url, session, max_requests_per_endpoint):
    return f"{url} {max_requests_per_endpoint}"
"""
UTILS = "from datasets import load_dataset\ndef load_ioi_tests(): pass\n"

ASKS = """
import json, sys
from peers import Peer
peer = Peer(sys.executable, *json.loads(sys.argv[1]))
result = peer(json.loads(sys.argv[2]))
print(json.dumps([result, peer.cpu_s]))
peer.end()
"""


def ask(words: list[str], task: Any) -> tuple[Any, float]:
    """A driver's result, and the CPU time that it reports, in s."""
    command = [sys.executable, "-c", ASKS, json.dumps(words), json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BENCHMARKS, timeout=60)
    result, cpu_s = json.loads(done.stdout)
    return result, cpu_s


def checkout(path: Path, **files: str) -> str:
    """A directory with these files; `__` in a name is a slash."""
    for name, text in files.items():
        file = path / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(path)


def test_hendrycks(tmp_path: Path) -> None:
    """Each program has its own process, whose CPU time counts."""
    path = checkout(tmp_path, eval__testing_util=RUN_TEST)
    row = {"inputs": ["a", "b"], "outputs": [], "fn_name": None}
    result, cpu_s = ask(["hendrycks.py", path], [[row, "a"], [row, "b"]])
    assert result == [[True, False, 1], [False, True, 1]]
    assert cpu_s > 0.4


def test_livecodebench(tmp_path: Path) -> None:
    """Its rows are texts, and programs are in lists."""
    path = checkout(tmp_path, lcb_runner__evaluation__compute_code_generation_metrics=METRICS)
    row = {"inputs": ["a"], "outputs": ["b"], "fn_name": None}
    result, _ = ask(["livecodebench.py", path], [[row, "a"], [row, "c"]])
    assert result == [[True], [False]]


def test_the_client_of_ioi(tmp_path: Path) -> None:
    """The driver does not need the package with which the client loads data sets."""
    path = checkout(tmp_path, run_tests__scoring=SCORING, run_tests__piston_client=CLIENT, run_tests__utils=UTILS)
    task = {"subtask": {"test_names": ["t1", "t2"]}, "code": "x"}
    result, _ = ask(["ioi_client.py", path, "http://there", "3"], task)
    assert result == [f"{name}: http://there/api/v2 3 x 2" for name in ("t1", "t2")]


def test_a_missing_checkout(tmp_path: Path) -> None:
    """The benchmark fails with the reason."""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        ask(["hendrycks.py", str(tmp_path)], [])
    assert "No module named 'testing_util'" in failed.value.stderr
    assert "the other grader ended; what it said is above" in failed.value.stderr


def test_the_tests_of_rows_are_repeated(tmp_path: Path) -> None:
    """Until there are enough. Programs that were late are left out."""
    (tmp_path / "apps.jsonl").write_text(
        r'{"problem_id": 1, "input_output": "{\"inputs\": [[1, \"a\"]], \"outputs\": [[2]], \"fn_name\": \"f\"}"}' "\n"
    )
    (tmp_path / "generations.jsonl").write_text(
        '{"problem_id": 1, "code": "right", "recorded_error": ""}\n'
        '{"problem_id": 1, "code": "late", "recorded_error": "timeoutexception"}\n'
    )
    words = "import sys, apps_peers, pathlib; found = apps_peers.recorded_cases(pathlib.Path(sys.argv[1]), 3)\n"
    words += "print(found['calls'] + found['stdin'], found['calls'][0].task_for('livecodebench'))"
    command = [sys.executable, "-c", words, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BENCHMARKS)
    row = {"fn_name": "f", "inputs": [[1, "a"]] * 3, "outputs": [[2]] * 3}
    lines = {"fn_name": "f", "inputs": ['1\n"a"'] * 3, "outputs": ["2"] * 3}
    assert done.stdout.strip() == f"[Case(row={row}, code='right', own=1)] ({lines}, 'right')"
