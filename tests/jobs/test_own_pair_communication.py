"""Our own pair of scripts with managers: Communication tasks and their configuration."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest

from ioi_eval.config import Policy
from ioi_eval.jobs import run_setups
from ioi_eval.jobs.scripts_answer import score_and_feedback
from ioi_eval.model import JudgeProgram, ProcessIO, SourceFile, TestCase
from tests.jobs.own_pair import Boxes, judged, pair_job, says_its_plan, talking, with_config


@pytest.mark.parametrize("io", ProcessIO)
@pytest.mark.parametrize("processes", [1, 3])
def test_communication(boxes: Boxes, processes: int, io: ProcessIO) -> None:
    """FIFOs as arguments or as stdin and stdout, one process and several, which get their index; and the manager's own
    arguments.
    """
    problem = talking(processes, io)
    case = TestCase(name="t", input=b"7\n", answer=None)
    words = f"{processes} processes, argument a,b%c*"
    index_free = "int answer(int n, int) { return n; }"
    assert judged(boxes, problem, index_free, case) == ("AC", 1.0, words)
    if processes > 1:
        takes_turns = "int answer(int n, int index) { return n + index - 1; }"
        assert judged(boxes, problem, takes_turns, case)[:2] == ("AC", 1.0)


def test_checker_after_the_manager(boxes: Boxes) -> None:
    """If a Communication task has a checker, it judges the output of the manager."""
    checker = SourceFile(
        path="checker/checker.cpp",
        content=b"""#include <cstdio>
        int main(int, char **argv) {
            int said; FILE *output = fopen(argv[3], "r");
            if (fscanf(output, "%d", &said) != 1) return 1;
            puts(said == 21 ? "1" : "0");
        }""",
    )
    problem = talking(3, ProcessIO.STD_IO, result='"%d", sum', checker=JudgeProgram(source=checker))
    case = TestCase(name="t", input=b"7\n", answer=b"21\n")
    assert judged(boxes, problem, "int answer(int n, int) { return n; }", case)[:2] == ("AC", 1.0)


@pytest.mark.parametrize("protocol", ["testlib", "kattis"])
def test_a_protocol_without_a_checker(boxes: Boxes, protocol: str) -> None:
    """The manager decides, as in `ioi-eval score`."""
    case = TestCase(name="t", input=b"7\n", answer=None)
    found = judged(
        boxes, talking(1, ProcessIO.FIFO_IO), "int answer(int n, int) { return n; }", case, checker_protocol=protocol
    )
    assert found == ("AC", 1.0, "1 processes, argument a,b%c*")


def test_a_loaded_machine_is_not_the_manager_s_fault(boxes: Boxes) -> None:
    """The runner gives up a test, which is our failure, before the wall-clock limit of the manager or of the stage."""
    problem = dataclasses.replace(talking(3, ProcessIO.STD_IO), time_limit_s=2.5)
    case = TestCase(name="t", input=b"7\n", answer=None)
    job = pair_job(boxes, problem, "int answer(int n, int) { return n; }", case)
    words = boxes.execute(says_its_plan(job)).run.stderr
    plan = dict(re.findall(r"([a-z_]+)=(\d+)", words[words.index("manager file") :]))
    cpu_ms, wall_ms = int(plan["cpu_ms"]), int(plan["wall_ms"])
    given_up_ms = 10 * (2500 + cpu_ms) + 10_000  # Source: PROTOCOL.md
    assert cpu_ms == 3 * 3500
    assert wall_ms == run_setups.longest_test_ms(problem, Policy()) > given_up_ms
    assert job.run_limits.wall_ms > wall_ms


@pytest.mark.parametrize("shape", ["flat", "object", "text"])
def test_forms_of_the_configuration(boxes: Boxes, shape: str) -> None:
    """Flat keys, a nested object, or JSON as a text: the forms in rows of the data set and in CMS packages."""
    problem = talking(3, ProcessIO.FIFO_IO)
    prefix = "task_type_parameters_Communication_"
    params = {f"{prefix}num_processes": 3, f"{prefix}user_io": "fifo_io", f"{prefix}compilation": "stub"}
    config: dict[str, Any] = {"task_type": "Communication", "code": "sum", "time_limit": 1, "memory_limit": 67108864.0}
    shapes: dict[str, dict[str, Any]] = {
        "flat": params,
        "object": {"task_type_params": params},
        "text": {"task_type_params": json.dumps(params)},
    }
    config |= shapes[shape]
    case = TestCase(name="t", input=b"7\n", answer=None)
    job = pair_job(boxes, problem, "int answer(int n, int) { return n; }", case)
    execution = boxes.execute(with_config(job, json.dumps(config, indent=2)))
    assert score_and_feedback(execution) == ("1\n", "3 processes, argument -\n")
