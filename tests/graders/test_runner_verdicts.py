"""Verdicts of a batch task: the runner's verdict for each behaviour of a program, in each box."""

from __future__ import annotations

import signal
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.graders.runner_box import Box, Files, line, plan, run_batch, small_disk
from tests.graders.runner_box import batch_plan as a_plan

ENDS = {
    "sum 1": ("AC", 0, 0),
    "wrong 1": ("WA", 0, 0),
    "silent 1": ("WA", 0, 0),
    "exit 1": ("RE", 1, 0),
    "exit 137": ("RE", 137, 0),  # a shell's exit code for SIGKILL is an ordinary exit code here
    "abort 1": ("RE", 0, signal.SIGABRT),
    "segv 1": ("RE", 0, signal.SIGSEGV),
    "throw 1": ("RE", 0, signal.SIGABRT),
    f"raise {int(signal.SIGSYS)}": ("RE", 98, 0),  # the filter's signal: it cannot be sent
    f"raise {int(signal.SIGKILL)}": ("RE", 0, signal.SIGKILL),
    f"raise {int(signal.SIGTERM)}": ("RE", 0, signal.SIGTERM),
    f"raise {int(signal.SIGPIPE)}": ("RE", 0, signal.SIGPIPE),
    f"raise {int(signal.SIGXCPU)}": ("RE", 0, signal.SIGXCPU),
    "honest 1": ("AC", 0, 0),
    "system 1": ("AC", 0, 0),
    "say 1": ("AC", 0, 0),
}


def test_how_programs_end(box: Box, program: Callable[..., Path]) -> None:
    """Exit codes and signals give the expected verdicts. An honest program has no refused calls."""
    answer = run_batch(box, program("contestant"), *ENDS)
    seen = {
        mode: (entry["verdict"], entry["code"], entry["signal"]) for mode, entry in zip(ENDS, answer.lines, strict=True)
    }
    assert seen == ENDS
    assert answer.lines[list(ENDS).index("honest 1")]["attempted"] == {}
    assert answer.last["isolation"] == box.level


def test_dynamically_linked_program(box: Box, program: Callable[..., Path]) -> None:
    """With `static=0`, a dynamically linked program finds its libraries."""
    answer = run_batch(box, program("contestant", static=False), "honest 1", "sum 1", static=0)
    assert answer.verdicts == ["AC", "AC"]


def test_line_of_an_accepted_test(plain_box: Box, program: Callable[..., Path]) -> None:
    """A line has all fields of the protocol, with plausible times and memory."""
    entry = run_batch(plain_box, program("contestant"), "burn 50", answer=b"51\n").only
    assert set(entry) == {
        "test", "verdict", "score", "message", "cpu_us", "wall_us", "idle_us", "memory_bytes", "code", "signal",
        "limit", "attempted", "stderr", "judge",
    }  # fmt: skip
    assert (entry["verdict"], entry["score"], entry["message"]) == ("AC", "1", "Output is correct")
    assert 50_000 <= entry["cpu_us"] < 2_000_000
    assert entry["wall_us"] >= entry["cpu_us"] * 0.9
    assert 300_000 < entry["memory_bytes"] < 8_000_000
    assert entry["limit"] is None
    assert entry["attempted"] == {}


def test_refused_calls_are_noted(box: Box, program: Callable[..., Path]) -> None:
    """A refused call is listed with its count, and the test is judged as usual."""
    entry = run_batch(box, program("contestant"), "system 1").only
    assert entry["verdict"] == "AC"
    assert set(entry["attempted"]) <= {"clone", "vfork", "fork"}
    assert sum(entry["attempted"].values()) == 1


def test_stderr_is_kept_byte_for_byte(plain_box: Box, program: Callable[..., Path]) -> None:
    """Bytes that are not printable ASCII are written as escapes, one for each byte."""
    entry = run_batch(plain_box, program("contestant"), "say 1").only
    assert entry["stderr"].encode("latin-1") == b'caf\xc3\xa9 "quoted" \\ \x01 \xff\n'


def test_much_stderr_is_cut(box: Box, program: Callable[..., Path]) -> None:
    """A program may write more to stderr than its output limit; the first 2,000 bytes are returned."""
    entry = run_batch(box, program("contestant"), "stderr 3000", output_bytes=1 << 20, answer=b"3001\n").only
    assert entry["verdict"] == "AC"
    assert entry["stderr"] == (("e" * 1023 + "\n") * 2)[:2000]


def test_output_over_the_limit(box: Box, program: Callable[..., Path]) -> None:
    """Output up to the limit is judged. One byte more is OLE, even if the program ignores the signal."""
    contestant = program("contestant")
    whole = ("x" * 1023 + "\n") * 64
    exact = run_batch(box, contestant, "output 64", output_bytes=65536, answer=whole.encode())
    assert exact.verdicts == ["AC"]
    over = run_batch(box, contestant, "output 64", "output-stubborn 64", output_bytes=65535, answer=whole.encode())
    assert over.verdicts == ["OLE", "OLE"]
    assert [entry["limit"] for entry in over.lines] == ["output", "output"]
    endless = run_batch(box, contestant, "output 1000000000", "output-stubborn 1000000000", output_bytes=1 << 20)
    assert endless.verdicts == ["OLE", "OLE"]


def test_descriptors_environment_and_arguments_of_a_contestant(box: Box, program: Callable[..., Path]) -> None:
    """A contestant has three descriptors, one environment variable, and `./program` as its only argument."""
    contestant = program("contestant")
    assert run_batch(box, contestant, "descriptors 1", answer=b"0 1 2\n").verdicts == ["AC"]
    assert run_batch(box, contestant, "environment 1", answer=b"PATH=/usr/bin:/bin\n").verdicts == ["AC"]
    assert run_batch(box, contestant, "arguments 1", answer=b"./program\n").verdicts == ["AC"]


def test_locale_of_the_environment(box: Box, program: Callable[..., Path]) -> None:
    """`std::locale("")` exists, although a box has no files of locales: it is C's, as under isolate."""
    assert run_batch(box, program("contestant"), "locale 1", answer=b"C\n").verdicts == ["AC"]


def test_scratch_directory_is_new_for_each_test(box: Box, program: Callable[..., Path]) -> None:
    """A file that one test leaves does not exist in the next."""
    answer = run_batch(box, program("contestant"), "leave-file 1", "find-file 1", "leave-file 1", "find-file 1")
    assert answer.verdicts == ["AC"] * 4


def test_scratch_directory_is_bounded(box: Box, program: Callable[..., Path]) -> None:
    """Over 16 MiB or 256 files, the program gets an error (full isolation) or is stopped with OLE (reduced)."""
    answer = run_batch(box, program("contestant"), "big-file 64", "many-files 5000", output_bytes=128 << 20)
    if box.level == "full":
        assert answer.verdicts == ["WA", "WA"]  # it prints that there is no room
    else:
        assert answer.verdicts == ["OLE", "OLE"]
        assert [entry["limit"] for entry in answer.lines] == ["files", "files"]


def test_the_last_file_that_a_program_may_make(box: Box, program: Callable[..., Path]) -> None:
    """256 files fit into the scratch directory, and one more does not."""
    answer = run_batch(box, program("contestant"), "many-files 256", "many-files 257", answer=b"257\n")
    full = box.level == "full"
    assert [(entry["verdict"], entry["limit"]) for entry in answer.lines] == [
        ("AC", None),
        ("WA", None) if full else ("OLE", "files"),
    ]


@pytest.mark.root
def test_programs_own_files_are_no_full_disk(
    boxes: Callable[[str], Box], built: Path, program: Callable[..., Path]
) -> None:
    """Otherwise a program could fill a small disk to get a fault instead of no points."""
    with small_disk(built / "disk-of-a-program", 20) as disk:
        answer = run_batch(replace(boxes("fds-reduced-user"), scratch=disk), program("contestant"), "big-file 64")
    assert answer.only["verdict"] in ("OLE", "WA")  # WA if it is not looked at before its end
    with small_disk(built / "disk-of-a-programs-files", 100, files=280) as disk:
        answer = run_batch(replace(boxes("fds-reduced-user"), scratch=disk), program("contestant"), "many-files 5000")
    assert answer.only["verdict"] in ("OLE", "WA")


@pytest.mark.root
def test_no_room_for_more_files(boxes: Callable[[str], Box], built: Path, program: Callable[..., Path]) -> None:
    """If fewer files fit on the disk than a program may make, that is a fault of the system, not a wrong answer."""
    with small_disk(built / "disk-of-few-files", 100, files=100) as disk:
        answer = run_batch(replace(boxes("fds-reduced-user"), scratch=disk), program("contestant"), "many-files 100")
    assert answer.last["fault"] == "system", answer
    assert "fewer than 256 more files fit" in answer.last["explanation"]


def test_every_test_gets_its_input_from_the_start(box: Box, program: Callable[..., Path]) -> None:
    """Several tests with the same input file each read it from the start: offsets are not shared."""
    tests = [f"test id={number} input=in answer=ans" for number in (7, 3, 5)]
    answer = box.run(a_plan(tests), {"program": program("contestant"), "in": b"sum 1\n", "ans": b"2\n"})
    assert answer.verdicts == ["AC"] * 3
    assert [entry["test"] for entry in answer.lines] == [7, 3, 5]


PROGRAM_WITHOUT_ITS_LINKERS_NAME = (
    b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0x400000, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    + struct.pack("<IIQQQQQQ", 3, 4, 1 << 20, 0, 0, 28, 28, 1)  # the name is said to begin at 1 MiB
)


@pytest.mark.parametrize("static", [1, 0])
@pytest.mark.parametrize("content", [b"\x7fELF, or so it says", PROGRAM_WITHOUT_ITS_LINKERS_NAME])
def test_file_that_is_not_a_program(plain_box: Box, content: bytes, static: int) -> None:
    """A file that the kernel cannot execute because of its content is RE with exit code 127."""
    entry = plain_box.run(
        a_plan(["test id=0 input=in answer=in"], static=static), {"program": content, "in": b"1\n"}
    ).only
    assert (entry["verdict"], entry["score"], entry["code"], entry["signal"]) == ("RE", "0", 127, 0)


NEEDED: dict[str, list[Any]] = {
    # test 1 is a zero at 0:1: test 2 is after it; test 3 is also in a second group, before that group's zero
    "at": ["0:0", "0:1", "0:2", "0:3,1:0", "1:1", None],
    "modes": ["sum 1", "wrong 1", "sum 1", "sum 1", "exit 1", "sum 1"],
    "run": [0, 1, 3, 4, 5],
}


def _ordered(at: list[str | None], modes: list[str], run: str) -> tuple[bytes, dict[str, bytes]]:
    tests = []
    for number, place in enumerate(at):
        where = f" at={place}" if place else ""
        tests.append(f"test id={number} input={number}.in answer=ans{where}")
    return a_plan(tests, order=run), {f"{number}.in": mode.encode() for number, mode in enumerate(modes)}


def test_only_needed_tests_are_run(plain_box: Box, program: Callable[..., Path]) -> None:
    """With `run=needed`, a test runs if it is before the first zero of one of its groups; with `all`, always."""
    files: Files = {"program": program("contestant"), "ans": b"2\n"}
    text, inputs = _ordered(NEEDED["at"], NEEDED["modes"], "needed")
    assert [entry["test"] for entry in plain_box.run(text, {**files, **inputs}).lines] == NEEDED["run"]
    text, inputs = _ordered(NEEDED["at"], NEEDED["modes"], "all")
    assert [entry["test"] for entry in plain_box.run(text, {**files, **inputs}).lines] == [0, 1, 2, 3, 4, 5]


def test_after_enough_time_no_further_test_is_started(plain_box: Box, program: Callable[..., Path]) -> None:
    """After `enough_ms`, no further test is started, but the first always is."""
    files: Files = {"program": program("contestant"), "ans": b"2\n"}
    for enough_ms, run in ((1, [0]), (2000, [0, 1]), (60_000, [0, 1, 2])):
        text, inputs = _ordered([None] * 3, ["sum 1", "sleep 2200", "sum 1"], f"all enough_ms={enough_ms}")
        if enough_ms == 1:
            inputs["0.in"] = b"sleep 20"
        assert [entry["test"] for entry in plain_box.run(text, {**files, **inputs}).lines] == run


def test_a_zero_affects_later_tests_of_its_group(plain_box: Box, program: Callable[..., Path]) -> None:
    """Tests may be in any order: those before a zero in their group are needed, those after it are not."""
    files: Files = {"program": program("contestant"), "ans": b"2\n"}
    text, inputs = _ordered(["0:2", "0:3", "0:0", "0:1"], ["wrong 1", "sum 1", "wrong 1", "sum 1"], "needed")
    assert [entry["test"] for entry in plain_box.run(text, {**files, **inputs}).lines] == [0, 2]


def test_a_judge_error_does_not_count_as_zero(plain_box: Box, program: Callable[..., Path]) -> None:
    """After a JE, further tests of the group run: a zero may still come, and decides."""
    checker = line("checker", protocol="cms", file="checker", cpu_ms=5000, wall_ms=9000, memory_bytes=1 << 30)
    tests = [f"test id={number} input={number}.in answer=ans at=0:{number}" for number in range(3)]
    files: Files = {
        "program": program("contestant"), "checker": program("checker"), "ans": b"answer\n",
        "0.in": b"print 1\ncrash now", "1.in": b"print 1\ncms 0\nno", "2.in": b"print 1\ncms 1\nyes",
    }  # fmt: skip
    answer = plain_box.run(a_plan(tests, checker=checker, order="needed"), files)
    assert answer.verdicts == ["JE", "WA"]


def test_a_plan_without_tests(plain_box: Box, program: Callable[..., Path]) -> None:
    """The answer to a plan without tests has only the end line."""
    answer = plain_box.run(a_plan([]), {"program": program("contestant")})
    assert (answer.lines, answer.last["lines"]) == ([], 0)


@pytest.mark.parametrize("level", ["full", "reduced"])
def test_sufficient_isolation_is_accepted(boxes: Callable[[str], Box], level: str) -> None:
    """A box with at least the required isolation accepts the plan."""
    box = boxes("bwrap-root" if level == "full" else "fds-reduced-root")
    limits = {
        "cpu_ms": 1000,
        "wall_ms": 9000,
        "memory_bytes": 1 << 29,
        "processes": 9,
        "output_bytes": 9,
        "file_bytes": 9,
    }
    assert box.run(plan("compile", line("limits", **limits), least=level), {}).last["end"] is True
