"""The golden files: plans that Python writes and the runner reads, lines that the runner writes and Python reads.

Each plan in `tests/golden/` has its answer next to it. Times and sizes in an answer are 0. If the protocol changes,
these files and the version are changed by hand.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval.jobs.plan import RunnerPlan, word_list
from ioi_eval.jobs.runner_answer import compile_answer, run_answer
from ioi_eval.model import Isolation, Stage, Verdict
from tests.graders.runner_box import NONCE, Box

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
MIB = 1 << 20


def plan_by_python(name: str) -> RunnerPlan:
    """The plan with this name, as Python writes it."""
    mode = "compile" if name == "compile" else "run"
    plan = RunnerPlan(mode=mode, nonce=NONCE, least=Isolation.REDUCED)
    if name == "compile":
        plan.line(
            "limits", cpu_ms=10_000, wall_ms=60_000, memory_bytes=512 * MIB, processes=1000, output_bytes=65536,
            file_bytes=64 * MIB,
        )  # fmt: skip
        plan.line("system")
        plan.line("put", file="f0", **{"as": "a file.txt"})
        plan.line("step", argv=("cat", "a file.txt"))
        plan.line("put", file="f1", **{"as": "deep/é.txt"})
        plan.line("step", argv=("sh", "-c", "cat deep/* > out; echo '100%, \"done\"' >&2", ""))
        plan.line("artifact", path="out")
        plan.line("artifact", path="deep/é.txt", **{"as": "second"})
        plan.line("artifact", path="missing")
        return plan
    if name in ("compare", "none"):
        shell = 'read -r line <&3; eval "$line"'
        plan.line(
            "program", file="program", interpreter="/bin/sh", argv=("-c", shell, "with an é"), env=("A=1", "B="),
            sees=("/usr", "/bin", "/lib", "/lib64", "/nowhere/at all"), start="cold", **{"with": "more"},
        )  # fmt: skip
    else:
        plan.line("program", file="program", static=1)
    plan.line(
        "limits", cpu_ms=1000, memory_bytes=256 * MIB, output_bytes=16 * MIB, stderr_bytes=65536,
        processes=2 if name == "communication" else 1, threads=64,
    )  # fmt: skip
    judge = {"cpu_ms": 10_000, "wall_ms": 60_000, "memory_bytes": 4096 * MIB}
    if name in ("compare", "none"):
        plan.line("task", kind="batch")
        if name == "compare":
            plan.line("checker", protocol="compare", rule="float:1e-6:1e-9", return_bytes=4)
        else:
            plan.line("checker", protocol="none", return_bytes=8)
        plan.line("order", run="needed")
        for number, place in enumerate(("0:0", "0:1", "0:2", None)):
            other = "other" if number == 3 else None
            plan.line("test", id=number, input=f"t{number}.in", answer="ans", program=other, at=place)
    elif name == "batch":
        plan.line("task", kind="batch")
        plan.line("checker", protocol="cms", file="checker", **judge)
        plan.line("order", run="needed")
        for number, place in enumerate(("0:0", "0:1", "0:2,1:0", "0:3", "1:1", None, None)):
            plan.line("test", id=number, input=f"t{number}.in", answer="ans", at=place)
    elif name == "files":
        files_lines(plan, judge)
    else:
        plan.line("task", kind="communication", io="fifo_io")
        plan.line("manager", file="manager", **judge, args=word_list(["log file", "", "a,b"]))
        plan.line("order", run="all")
        for number in range(4):
            plan.line("test", id=number, input=f"t{number}.in")
    return plan


def files_lines(plan: RunnerPlan, judge: dict[str, int]) -> None:
    """Lines of a task with an input file and an output file, and of its tests."""
    plan.line("task", kind="batch", input_file="in.txt", output_file="out.txt")
    plan.line("checker", protocol="white-diff", **judge)
    plan.line("order", run="all")
    for number in range(3):
        plan.line("test", id=number, input=f"t{number}.in", answer="ans")


FILES = {
    "compile": {"f0": b"first\xff\n", "f1": b"abc"},
    "batch": {
        "ans": b"answer\n",
        "t0.in": b"print 1\ncms 1.0000\nfine",
        "t1.in": b"print 1\ncms 0.5\nhalf caf\xc3\xa9",
        "t2.in": b"exit 3",
        "t3.in": b"not run: it stands behind a zero",
        "t4.in": b"not run either",
        "t5.in": b"print 1\ncrash 1",
        "t6.in": b"system 1",
    },
    "files": {"ans": b"2\n", "t0.in": b"sum 1", "t1.in": b"sum 2", "t2.in": b"nothing 1"},
    "communication": {
        "t0.in": b"play play",
        "t1.in": b"play second-fail",
        "t2.in": b"garbage play",
        "t3.in": b"arguments play",
    },
}
_TASK = b'read -r a; read -r b <&5; echo "$a" $b; echo "$A$B$1" >&4; exit $b\n'
FILES["compare"] = {
    "program": _TASK,
    "more": b"0\n",
    "other": b"echo $0 >&2; exit 3\n",
    "ans": b"1.5 0\n",
    "t0.in": b"1.5000001\n",
    "t1.in": b"1.6",
    "t2.in": b"not run",
    "t3.in": b"",
}
FILES["none"] = {**FILES["compare"], "t1.in": b"\xff\xfe longer than eight"}
NAMES = list(FILES)


@pytest.mark.parametrize("name", NAMES)
def test_python_writes_the_golden_plan(name: str) -> None:
    """Python writes the golden plan, byte for byte."""
    assert plan_by_python(name).encode() == (GOLDEN / f"{name}.plan").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_runner_answers_with_the_golden_lines(
    name: str, plain_box: Box, program: Callable[..., Path], tmp_path: Path
) -> None:
    """The runner reads the golden plan. Its answer is the golden one, except for times and sizes."""
    files: dict[str, bytes | Path] = {**FILES[name]}
    if name == "batch":
        files |= {"program": program("contestant"), "checker": program("checker")}
    elif name == "files":
        files["program"] = program("files")
    elif name == "communication":
        files |= {"program": program("stub", "-DFIFOS"), "manager": program("manager")}
    answer = plain_box.run((GOLDEN / f"{name}.plan").read_bytes(), files)
    text = "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in answer.lines)
    text = re.sub(r'"(cpu_us|wall_us|idle_us|memory_bytes)":\d+', r'"\1":0', text)
    last = {**answer.last, "sum": f"{zlib.crc32(text.encode()):08x}", "isolation": "full"}
    assert answer.last["isolation"] == plain_box.level
    assert text + json.dumps(last, separators=(",", ":")) + "\n" == golden_lines(name)


def golden_lines(name: str) -> str:
    """The golden answer, read from its file."""
    return (GOLDEN / f"{name}.lines").read_text(encoding="ascii")


def stage(text: str) -> Stage:
    """An answer as a sandbox returns it."""
    return Stage(stdout=text, stderr="", code=0)


def test_python_reads_golden_compile_lines() -> None:
    """Steps and artifacts are read with the exact bytes."""
    answer = compile_answer(stage(golden_lines("compile")), NONCE, least=Isolation.NONE)
    assert [(step.code, step.limit) for step in answer.steps] == [(0, None), (0, None)]
    assert answer.steps[0].output == "first\ufffd\n"
    assert answer.steps[1].output == '100%, "done"\n'
    assert dict(answer.artifacts) == {"out": b"abc", "second": b"abc"}
    assert answer.isolation is Isolation.FULL


def test_python_reads_golden_batch_lines() -> None:
    """Verdicts, scores and messages are read. Tests that were not needed are absent."""
    outcomes = run_answer(stage(golden_lines("batch")), NONCE, tests=7, time_limit_s=1.0, least=Isolation.NONE).tests
    assert {number: outcome.verdict for number, outcome in outcomes.items()} == {
        0: Verdict.AC,
        1: Verdict.PA,
        2: Verdict.RE,
        5: Verdict.JE,
        6: Verdict.JE,
    }
    assert (outcomes[1].score, outcomes[1].message) == (0.5, "half café")
    assert (outcomes[2].score, outcomes[2].exit_code) == (0.0, 3)
    assert outcomes[5].score is None
    assert outcomes[5].failed_program == "checker"
    assert dict(outcomes[6].attempted) == {"clone": 1}


def test_python_reads_golden_communication_lines() -> None:
    """The manager's message, its fault, and the failure of a process are read."""
    outcomes = run_answer(
        stage(golden_lines("communication")), NONCE, tests=4, time_limit_s=1.0, least=Isolation.NONE
    ).tests
    assert [outcome.verdict for outcome in outcomes.values()] == [Verdict.AC, Verdict.RE, Verdict.JE, Verdict.RE]
    assert outcomes[0].message == "all numbers came back"
    assert outcomes[2].failed_program == "manager"


def test_python_reads_golden_returned_lines() -> None:
    """Returned outputs are read as bytes, cut to the limit. A test that is not judged yet has no score."""
    tests = run_answer(stage(golden_lines("none")), NONCE, tests=4, time_limit_s=1.0, least=Isolation.NONE).tests
    assert [number for number, test in tests.items() if test.details.judged_in_box] == [3]
    assert {test.verdict for test in tests.values() if not test.details.judged_in_box} == {Verdict.JE}
    assert (tests[0].output, tests[0].details.output_bytes, tests[0].has_whole_output) == (b"1.500000", 12, False)
    assert tests[1].output == b"\xff\xfe longe"
    assert tests[3].exit_code == 3


def test_python_reads_golden_compare_lines() -> None:
    """The message with the first difference, and the start of the output, are read."""
    tests = run_answer(stage(golden_lines("compare")), NONCE, tests=4, time_limit_s=1.0, least=Isolation.NONE).tests
    assert [test.verdict for test in tests.values()] == [Verdict.AC, Verdict.WA, Verdict.RE]
    assert tests[1].message == 'line 1: expected "1.5 0", found "1.6 0"'
    assert tests[1].output == b"1.6 "
