"""The runner accepts plans and arguments only if it understands them completely."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import pytest

from tests.graders.runner_box import COMPILE_LIMITS, JUDGE, LIMITS, NONCE, WHITE_DIFF, Answer, Box, Files, line, plan

PROGRAM = "program file=program"
RUN_LIMITS = line("limits", **LIMITS)
TASK = "task kind=batch"
ORDER = "order run=all"
TEST = "test id=0 input=in answer=ans"
GOOD = (PROGRAM, RUN_LIMITS, TASK, WHITE_DIFF, ORDER, TEST)
COMPILE = line("limits", **COMPILE_LIMITS) + "\nsystem"
MANAGER = line("manager", file="program", **JUDGE)


def good_lines_with(replaced: str, *by: str) -> tuple[str, ...]:
    """The lines of the valid plan, with one of them replaced."""
    return tuple(new for old in GOOD for new in (by if old == replaced else (old,)))


BAD_PLANS = {
    "an unknown line": plan("run", *GOOD, "colour value=blue"),
    "a line of the other mode": plan("run", *GOOD, "step argv=true"),
    "a line twice": plan("run", *GOOD, ORDER),
    "no limits": plan("run", *good_lines_with(RUN_LIMITS)),
    "no program": plan("run", *good_lines_with(PROGRAM)),
    "no checker": plan("run", *good_lines_with(WHITE_DIFF)),
    "no order": plan("run", *good_lines_with(ORDER)),
    "an unknown key": plan("run", *good_lines_with(ORDER, "order run=all soon=1")),
    "a missing key": plan("run", *good_lines_with(RUN_LIMITS, "limits cpu_ms=1000")),
    "a key twice": plan("run", *good_lines_with(ORDER, "order run=all run=all")),
    "an unknown choice": plan("run", *good_lines_with(ORDER, "order run=some")),
    "a number that is none": plan("run", *good_lines_with(RUN_LIMITS, line("limits", **{**LIMITS, "cpu_ms": "fast"}))),
    "a negative number": plan("run", *good_lines_with(RUN_LIMITS, line("limits", **{**LIMITS, "cpu_ms": -5}))),
    "a limit of nothing": plan("run", *good_lines_with(RUN_LIMITS, line("limits", **{**LIMITS, "memory_bytes": 0}))),
    "a huge number": plan("run", *good_lines_with(RUN_LIMITS, line("limits", **{**LIMITS, "cpu_ms": 10**30}))),
    "batch with two processes": plan("run", *good_lines_with(RUN_LIMITS, line("limits", **{**LIMITS, "processes": 2}))),
    "passes with a named file": plan(
        "run",
        *(PROGRAM, RUN_LIMITS, "task kind=batch input_file=a.in output_file=a.out"),
        *(line("checker", protocol="kattis", file="program", passes=2, **JUDGE), ORDER, TEST),
    ),
    "batch with a manager": plan("run", *GOOD, MANAGER),
    "communication without a manager": plan("run", *good_lines_with(TASK, "task kind=communication io=std_io")),
    **{
        f"two steps with {protocol}": plan(
            "run",
            *(PROGRAM, line("limits", **{**LIMITS, "processes": 2}), "task kind=two-steps"),
            *(f"checker protocol={protocol}", ORDER, TEST),
        )
        for protocol in ("none", "compare rule=exact")
    },
    "white-diff without an answer": plan("run", *good_lines_with(TEST, "test id=0 input=in")),
    "a file that is not there": plan("run", *good_lines_with(TEST, "test id=0 input=other answer=ans")),
    "a place that is none": plan("run", *good_lines_with(TEST, TEST + " at=1:2,3")),
    "a bad encoding": plan("run", *good_lines_with(TEST, "test id=0 input=in%2 answer=ans")),
    "lower-case hexadecimal": plan("run", *good_lines_with(TEST, "test id=0 input=%69n answer=%6ens")),
    "another version": plan("run", *GOOD).replace(b"ioi-eval-runner 1", b"ioi-eval-runner 2"),
    "no end": plan("run", *GOOD).removesuffix(b"end\n"),
    "half an end": plan("run", *GOOD).removesuffix(b"\n"),
    "nothing": b"\n",
    "a short nonce": plan("run", *GOOD, nonce="0123"),
    "an unknown mode": plan("play", *GOOD),
    "mode before isolation": plan("run", *GOOD).replace(
        b"isolation least=none\nmode run", b"mode run\nisolation least=none"
    ),
    "a step that leaves its directory": plan("compile", COMPILE, "put file=in as=../in"),
    "a step at an absolute path": plan("compile", COMPILE, "put file=in as=/tmp/in"),
    "a step without a command": plan("compile", COMPILE, "step"),
}


@pytest.mark.parametrize("what", BAD_PLANS)
def test_bad_plan_is_a_fault(what: str, boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """A plan with something that the runner does not understand runs nothing: a fault line, and exit code 3."""
    files: Files = {"program": program("contestant"), "in": b"sum 1\n", "ans": b"2\n"}
    answer = boxes("fds-reduced-user").run(BAD_PLANS[what], files)
    assert answer.code == 3
    assert answer.lines == []
    assert answer.last["fault"] == "plan", answer.last
    assert len(answer.last["explanation"]) > 10


def test_fault_repeats_the_nonce(boxes: Callable[[str], Box]) -> None:
    """A fault line has the nonce of the job if the runner has read it."""
    answer = boxes("fds-reduced-user").run(plan("run", "nonsense"), {})
    assert answer.last["nonce"] == NONCE


def test_unavailable_isolation_is_a_fault(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """If the box is weaker than the plan requires, nothing runs, and the fault names both levels."""
    files: Files = {"program": program("contestant"), "in": b"sum 1\n", "ans": b"2\n"}
    answer = boxes("fds-reduced-user").run(plan("run", *GOOD, least="full"), files)
    assert (answer.code, answer.last["fault"]) == (3, "isolation")
    assert "full is needed, only reduced is available" in answer.last["explanation"]


@pytest.mark.root
def test_root_is_refused(runner: Path, program: Callable[..., Path], tmp_path: Path) -> None:
    """Started as root of the machine, the runner has no other user id for contestants: a fault of isolation."""
    (tmp_path / "plan").write_bytes(plan("run", *GOOD, least="reduced"))
    (tmp_path / "in").write_bytes(b"sum 1\n")
    (tmp_path / "ans").write_bytes(b"2\n")
    (tmp_path / "program").write_bytes(program("contestant").read_bytes())
    done = subprocess.run([str(runner), "--dir", str(tmp_path)], capture_output=True, check=False)
    last = json.loads(done.stdout)
    assert (done.returncode, last["fault"]) == (3, "isolation")
    assert "started as root" in last["explanation"]


def test_good_plan_runs_everywhere(box: Box, program: Callable[..., Path]) -> None:
    """In each box, the same plan gives the same line, and an end line with nonce, count, checksum and isolation."""
    files: Files = {"program": program("contestant"), "in": b"sum 1\n", "ans": b"2\n"}
    answer = box.run(plan("run", *GOOD, least=box.level), files)
    assert answer.only["verdict"] == "AC"
    assert answer.last == {"end": True, "nonce": NONCE, "lines": 1, "isolation": box.level, "runner": 1, "sum": ANY}
    assert answer.code == 0


def test_nothing_starts_without_the_signal_to_start(box: Box) -> None:
    """With `--wait`, the runner waits for a signal on stdin. At the end of file, it ends without running anything."""
    script = line("step", argv=["sh", "-c", "echo begun"])
    answer = replace(box, more=("--wait",)).run(plan("compile", line("limits", **COMPILE_LIMITS), script), {})
    assert (answer.code, answer.lines, answer.last) == (4, [], {})


def test_names_and_words_are_decoded(boxes: Callable[[str], Box]) -> None:
    """File names and arguments may have any bytes."""
    lines = [COMPILE, line("put", file="a b", as_="dir é/x"), line("step", argv=["printf", "%s", "", " a=b,%", "ü"])]
    answer = boxes("fds-reduced-user").run(plan("compile", *lines), {"a b": b"content"})
    assert answer.lines[0]["output"].encode("latin-1").decode() == " a=b,%ü"


def test_files_in_the_directory_are_removed_before_programs_start(
    boxes: Callable[[str], Box], program: Callable[..., Path], tmp_path: Path
) -> None:
    """With `--dir`, all files that the plan names are unlinked: the directory is empty when programs run."""
    lines = (COMPILE, "put file=deep/in as=x", "step argv=ls argv=-A argv=..")
    answer = boxes("dir-reduced").run(plan("compile", *lines), {"deep/in": b"1"})
    assert answer.last["end"] is True
    assert "plan" not in answer.lines[0]["output"]


def test_version_and_probe(runner: Path, boxes: Callable[[str], Box]) -> None:
    """`--version` prints the version of the protocol, and `--probe` the available isolation."""
    version = subprocess.run([str(runner), "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == "ioi-eval-runner 1\n"
    box = boxes("fds-reduced-user")
    probe = json.loads(subprocess.run(box.command(str(runner), "--probe"), capture_output=True, check=True).stdout)
    assert set(probe) == {
        "probe", "userns", "pidns", "mountns", "netns", "landlock", "seccomp", "notify", "hidden", "uids",
        "isolation",
    }  # fmt: skip
    assert probe["isolation"] == "reduced"
    assert isinstance(probe["hidden"], list)


@pytest.mark.parametrize(
    "arguments",
    [[], ["--dir"], ["--what"], ["--probe", "--version"], ["--probe", "--most", "x"], ["--fds", "", "--stored", "/"]],
)
def test_wrong_call_is_refused(runner: Path, arguments: list[str]) -> None:
    """Unknown arguments end with exit code 2 and a usage line."""
    done = subprocess.run([str(runner), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: runner")
    assert done.stdout == ""


def test_descriptor_table_is_checked(runner: Path) -> None:
    """A descriptor table without valid open descriptors is a fault, not a crash."""
    for table in ("plan", "plan=x", "plan=999", "plan=1"):
        done = subprocess.run([str(runner), "--fds", table], capture_output=True, text=True, check=False)
        assert done.returncode == 3
        assert re.search(r'"fault":"plan"', done.stdout)


def test_answer_without_lines(boxes: Callable[[str], Box]) -> None:
    """An answer without lines is complete."""
    answer: Answer = boxes("fds-reduced-user").run(plan("compile", COMPILE), {})
    assert (answer.lines, answer.last["lines"]) == ([], 0)
