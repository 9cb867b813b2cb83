"""Runs the grader of LiveCodeBench: `livecodebench.py CHECKOUT`, with an interpreter that has numpy and tqdm.

A task is a list of rows and programs, its result the list of the codes of each program. They are given to
`codegen_metrics` with one worker. For each program it starts a process, and a second one that receives its results.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

from answering import answer

TIMEOUT_S = 6  # the grader's default for a test


def main() -> None:
    """Answer tasks. The codes: true up to the first failure, then -2 (wrong), -3 (timeout) or -4 (an error)."""
    sys.path.insert(0, sys.argv[1])
    os.environ["TQDM_DISABLE"] = "1"
    module = importlib.import_module("lcb_runner.evaluation.compute_code_generation_metrics")

    def work(task: list[tuple[dict[str, Any], str]]) -> list[list[Any]]:
        samples = [{"input_output": json.dumps(row)} for row, _ in task]
        programs = [[code] for _, code in task]
        _, results, _ = module.codegen_metrics(samples, programs, [1], num_process_evaluate=1, timeout=TIMEOUT_S)
        return [results[number][0] for number in range(len(task))]

    answer(work)


if __name__ == "__main__":
    main()
