"""Tasks whose programs read and write named files: which files exist, and which of their outputs are accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.graders.runner_box import JUDGE, LIMITS, Answer, Box, line, plan, small_disk

CHECKER = line("checker", protocol="cms", file="checker", **JUDGE)
# The right output is one more than the number in the judge's input. The message is the content of the output file.
CHECKER_SOURCE = b"""#!/bin/sh
read -r word number < input.txt
read -r found < output.txt
[ "$found" = $((number + 1)) ] && echo 1 || echo 0
echo "$found" >&2
"""
MISSING = "Evaluation didn't produce file out.txt"
MIB = 1 << 20


def run(box: Box, program: Path, *inputs: str, task: str = "input_file=in.txt output_file=out.txt") -> Answer:
    """Run the program of `files.cpp` on inputs, with outputs of at most 2 MiB."""
    tests = [f"test id={number} input={number}.in" for number in range(len(inputs))]
    lines = ["program file=program", line("limits", **{**LIMITS, "output_bytes": 2 * MIB}), f"task kind=batch {task}"]
    files: dict[str, bytes | Path] = {f"{number}.in": text.encode() for number, text in enumerate(inputs)}
    files |= {"program": program, "checker": CHECKER_SOURCE}
    return box.run(plan("run", *lines, CHECKER, "order run=all", *tests), files)


def test_files_by_name(box: Box, program: Callable[..., Path]) -> None:
    """The program can read its input file, write its output file, and use no other file.

    Stdin is empty, and stdout is discarded.
    """
    answer = run(box, program("files"), "sum 41", "print 20", "sum 7", "closed 1", "keep 2", "other 3")
    assert answer.verdicts == ["AC"] * 6, answer.lines
    assert [entry["message"] for entry in answer.lines] == ["42", "21", "8", "2", "3", "4"]


def test_the_input_may_be_large(plain_box: Box, program: Callable[..., Path]) -> None:
    """An input that is larger than the scratch directory's limit does not count for that limit."""
    answer = run(plain_box, program("files"), "sum 41\n" + "x" * (40 * MIB))
    assert answer.only["verdict"] == "AC", answer.lines


def test_no_output_file(plain_box: Box, program: Callable[..., Path]) -> None:
    """Without an output file the score is 0, with CMS's message, and the checker does not run. RE comes first.

    A file that was only opened for writing is an empty output.
    """
    nothing, failed, empty = run(plain_box, program("files"), "nothing 1", "exit 1", "empty 1").lines
    assert (empty["verdict"], empty["message"]) == ("WA", "")
    assert (nothing["verdict"], nothing["score"], nothing["message"]) == ("WA", "0", MISSING)
    assert nothing["judge"] == {"cpu_us": 0, "wall_us": 0}
    assert (failed["verdict"], failed["code"], failed["message"]) == ("RE", 3, "")


def test_a_program_cannot_change_the_judges_input(plain_box: Box, program: Callable[..., Path]) -> None:
    """If a program replaces its input file, the judge still uses the original. Files cannot be renamed."""
    replaced, renamed = run(plain_box, program("files"), "replace 1", "rename 1").lines
    assert (replaced["verdict"], replaced["message"]) == ("WA", "7")
    assert (renamed["verdict"], renamed["message"]) == ("WA", MISSING)


@pytest.mark.parametrize("level", ["bwrap-user", "fds-reduced-user", "none"])
def test_only_a_plain_file_is_an_output(boxes: Callable[[str], Box], level: str, program: Callable[..., Path]) -> None:
    """Links, FIFOs and directories are not outputs: the runner neither follows nor opens them, nor waits."""
    box = boxes("fds-reduced-user") if level == "none" else boxes(level)
    if level == "none":
        box = replace(box, most="none", level="none")
    modes = ["symlink 1", "hardlink 1", "fifo 1", "daemon 1", *(["directory 1"] if level == "bwrap-user" else [])]
    answer = run(box, program("files"), *modes)
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == [("WA", MISSING)] * len(modes)


@pytest.mark.parametrize("mode", ["huge 3", "huge 200", "hole 3", "hole 200"])
def test_too_large(plain_box: Box, program: Callable[..., Path], mode: str) -> None:
    """The output limit applies to the size of the file, also if it is sparse."""
    entry = run(plain_box, program("files"), mode).only
    assert (entry["verdict"], entry["score"], entry["limit"]) == ("OLE", "0", "output")


@pytest.mark.root
def test_full_disk(boxes: Callable[[str], Box], built: Path, program: Callable[..., Path]) -> None:
    """If there is no room for an output file, that is a fault of the system, not a wrong answer."""
    with small_disk(built / "full-disk", 1) as disk:
        answer = run(replace(boxes("fds-reduced-user"), scratch=disk), program("files"), "huge 2")
    assert answer.last["fault"] == "system", answer
    assert "less than 20 MiB are free" in answer.last["explanation"]


@pytest.mark.root
def test_the_output_is_no_full_disk(boxes: Callable[[str], Box], built: Path, program: Callable[..., Path]) -> None:
    """A program cannot choose between a fault and its score by its output's size: all get the fault, or none."""
    box = boxes("fds-reduced-user")
    with small_disk(built / "disk-for-an-output", 21) as disk:
        answers = [run(replace(box, scratch=disk), program("files"), mode) for mode in ("sum 41", "huge 200")]
    assert [answer.only["verdict"] for answer in answers] == ["AC", "OLE"]
    with small_disk(built / "disk-for-no-output", 19) as disk:
        answers = [run(replace(box, scratch=disk), program("files"), mode) for mode in ("sum 41", "huge 200")]
    assert [answer.last["fault"] for answer in answers] == ["system", "system"]


def test_submitted_outputs(plain_box: Box, program: Callable[..., Path]) -> None:
    """A checker judges submitted outputs like those of a program. If no test runs a program, none is needed."""
    lines = [line("limits", **{**LIMITS, "output_bytes": 100}), "task kind=batch", CHECKER, "order run=needed"]
    tests = ["test id=0 input=0.in output=right at=0:0", "test id=1 input=0.in output=long at=0:1"]
    tests += ["test id=2 input=0.in output=right at=0:2", "test id=3 input=0.in output=wrong at=1:0"]
    files = {"0.in": b"word 41", "right": b"42\n", "wrong": b"41\n", "long": b"42\n" * 100, "checker": CHECKER_SOURCE}
    answer = plain_box.run(plan("run", *lines, *tests), files)
    assert [(entry["test"], entry["verdict"], entry["message"]) for entry in answer.lines] == [
        (0, "AC", "42"),
        (1, "OLE", ""),
        (3, "WA", "41"),
    ]
    assert {entry["cpu_us"] + entry["memory_bytes"] for entry in answer.lines} == {0}
    beside = ["program file=program", *lines, "test id=0 input=0.in output=wrong", "test id=1 input=sum.in"]
    answer = plain_box.run(plan("run", *beside), files | {"program": program("contestant"), "sum.in": b"sum 6"})
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == [("WA", "41"), ("AC", "7")]


def test_a_test_needs_a_program_or_an_output(boxes: Callable[[str], Box]) -> None:
    """A plan with a test without program and output is a fault."""
    lines = [line("limits", **LIMITS), "task kind=batch", CHECKER, "order run=all"]
    tests = ["test id=0 input=0.in output=right", "test id=1 input=0.in"]
    files = {"0.in": b"word 41", "right": b"42\n", "checker": CHECKER_SOURCE}
    answer = boxes("fds-reduced-user").run(plan("run", *lines, *tests), files)
    assert (answer.code, answer.last["fault"]) == (3, "plan")


@pytest.mark.parametrize(
    "task",
    [
        "input_file=%",
        "input_file=.",
        "output_file=..",
        "input_file=a/b",
        "output_file=a%00",
        "input_file=a output_file=a",
    ],
)
def test_names_of_files(boxes: Callable[[str], Box], program: Callable[..., Path], task: str) -> None:
    """A file name that is empty, invalid or a path is a fault of the plan."""
    answer = run(boxes("fds-reduced-user"), program("files"), "sum 1", task=task)
    assert (answer.code, answer.last["fault"]) == (3, "plan")
