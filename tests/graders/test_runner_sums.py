"""The file `sums`: the runner judges nothing if a file differs from what the client has sent."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest

from ioi_eval.model import JobFile
from ioi_eval.sandbox.piston import literals, wire
from tests.graders.runner_box import Answer, Box, plan

LINES = (
    "limits cpu_ms=1000 memory_bytes=268435456 output_bytes=16777216 stderr_bytes=1000 processes=1 threads=1",
    "task kind=batch",
    "checker protocol=white-diff cpu_ms=1000 wall_ms=1000 memory_bytes=268435456",
    "order run=all",
    "test id=0 input=t0.in answer=t0.ans output=t0%20.out",
)


def answer_with_sums(box: Box, sent: dict[str, bytes], arrived: dict[str, bytes]) -> Answer:
    """The answer to a job that was sent with some files and arrived with others."""
    plan_bytes = plan("run", *LINES, least="none")
    files = [JobFile(name=name, content=content) for name, content in {"plan": plan_bytes, **sent}.items()]
    sums = wire.sums_file(files, [literals.literal(file.content) for file in files if isinstance(file.content, bytes)])
    assert isinstance(sums.content, bytes)
    return box.run(plan_bytes, {**arrived, sums.name: sums.content})


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 65536, 200_001])
def test_unchanged_files_are_accepted(plain_box: Box, size: int) -> None:
    """Unchanged files of several sizes are accepted."""
    output = secrets.token_bytes(size).replace(b"\0", b"x") + b"1\n"
    files = {"t0.in": b"", "t0.ans": output, "t0 .out": output}
    assert answer_with_sums(plain_box, files, files).verdicts == ["AC"]


@pytest.mark.parametrize("name", ["t0.in", "t0.ans", "t0 .out"])
def test_a_changed_file_is_a_fault(plain_box: Box, name: str) -> None:
    """One changed bit in a file is a fault of the system that names the file."""
    files = {"t0.in": b"2\n", "t0.ans": b"1" * 100_000 + b"\n", "t0 .out": b"1" * 100_000 + b"\n"}
    changed = bytearray(files[name])
    changed[len(changed) // 2] ^= 1
    answer = answer_with_sums(plain_box, files, {**files, name: bytes(changed)})
    assert answer.code == 3
    assert answer.last["fault"] == "system"
    assert answer.last["explanation"] == f"the job's file {name} was changed on the way"
    assert answer.lines == []


def test_a_changed_runner_is_a_fault(boxes: Callable[[str], Box]) -> None:
    """A runner that is sent with the job compares its own file too. (It starts in spite of most damage.)"""
    files = {"t0.in": b"", "t0.ans": b"1\n", "t0 .out": b"1\n", "runner": b"one"}
    box = boxes("dir-reduced")
    assert answer_with_sums(box, files, files).verdicts == ["AC"]
    answer = answer_with_sums(box, files, {**files, "runner": b"two"})
    assert (answer.code, answer.lines, answer.last["fault"]) == (3, [], "system")
    assert answer.last["explanation"] == "the job's file runner was changed on the way"
