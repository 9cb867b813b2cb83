"""Build jobs: what they return, when the program is returned, and which files a compiler can read."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.local.compiler import detect
from tests.graders.runner_box import COMPILE_LIMITS, JUDGE, LIMITS, NONCE, WHITE_DIFF, Answer, Box, line, plan

ECHO = b'#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n); }\n'
COMPILER = detect("g++")
SECRET = b"xyzzy-plugh 2\n"
SHORT = {**LIMITS, "cpu_ms": 150}
"""For programs that exceed the time limit."""


def steps_plan(
    *more: str, sees: bool = True, nonce: str = NONCE, artifact: str = "artifact path=a.out into=program"
) -> bytes:
    """A compile plan for the file `source`."""
    return plan(
        "compile",
        line("limits", **COMPILE_LIMITS),
        *(line("sees", path=path) for path in (COMPILER.sees if sees else ())),
        *more,
        line("put", file="source", as_="a.cpp"),
        line("step", argv=[COMPILER.command, "-O1", "-static", "a.cpp", "-o", "a.out"]),
        artifact,
        nonce=nonce,
    )


def build(
    box: Box,
    tests: Sequence[str],
    *,
    source: bytes = ECHO,
    rest: str = "",
    order: str = "order run=needed",
    max_ms: int = 60_000,
    limits: Mapping[str, Any] = LIMITS,
    steps: bytes | None = None,
    program: str = "program file=program static=1",
    program_file: int | None = None,
    judged_by: str = WHITE_DIFF,
    **files: bytes,
) -> Answer:
    """Compile the source and run the tests. The inputs are `<number>.in`; the right output is always `2`."""
    lines = [f"compile plan=steps max_ms={max_ms}", program, *([rest] if rest else [])]
    run_plan = plan("run", *lines, line("limits", **limits), "task kind=batch", judged_by, order, *tests)
    inputs = {"0.in": b"2\n", "1.in": b"3\n", "2.in": b"2\n"}
    job_files: dict[str, bytes | Path | int] = {"steps": steps_plan() if steps is None else steps, "source": source}
    if program_file is not None:
        job_files["program"] = program_file
    return box.run(run_plan, {**job_files, "ans": b"2\n", **inputs, **files})


def line_of_test(number: int, at: str = "") -> str:
    """The plan's line of a test."""
    return f"test id={number} input={number}.in answer=ans{f' at={at}' if at else ''}"


def line_kinds(answer: Answer) -> list[str]:
    """The kind of each line of a complete answer: `step`, `into`, `base64`, or a verdict."""
    assert answer.last.get("end") is True, answer
    return [
        entry.get("verdict") or next(key for key in ("step", "into", "base64") if key in entry)
        for entry in answer.lines
    ]


def test_a_program_is_compiled_and_run(box: Box) -> None:
    """The program is compiled and run in each box. It is not returned if no other job needs it."""
    answer = build(box, [line_of_test(0), line_of_test(1), line_of_test(2)])
    assert line_kinds(answer) == ["step", "into", "AC", "WA", "AC"]
    assert answer.lines[1]["bytes"] > 10_000
    assert answer.last["isolation"] == box.level


@pytest.mark.parametrize(
    ("tests", "rest", "returned"),
    [
        ([line_of_test(0, "0:0")], "rest at=0:1", True),  # nothing has failed
        ([line_of_test(0, "0:0"), line_of_test(1, "0:1")], "rest at=0:2", False),  # the only group has failed earlier
        ([line_of_test(0, "0:0"), line_of_test(1, "0:1")], "rest at=0:2,1:7", True),  # another group has not
        ([line_of_test(1, "0:5")], "rest at=0:2", True),  # the group has failed, but later in its order
        ([line_of_test(1, "0:0")], "rest", True),  # needed in any case
        ([line_of_test(1, "0:0")], "", False),
    ],
)
def test_the_program_is_returned_if_another_job_needs_it(
    plain_box: Box, tmp_path: Path, tests: list[str], rest: str, returned: bool
) -> None:
    """The program is returned if `rest` has a needed test of another job. It is the program that was run."""
    answer = build(plain_box, tests, rest=rest)
    assert line_kinds(answer)[:2] == ["step", "into"]
    assert (line_kinds(answer)[-1] == "base64") is returned
    if returned:
        program = tmp_path / "program"
        program.write_bytes(base64.b64decode(answer.lines[-1]["base64"], validate=True))
        assert program.stat().st_size == answer.lines[-1]["bytes"] == answer.lines[1]["bytes"]
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        assert os.popen(f"echo 17 | {program}").read() == "17\n"


def test_the_program_is_returned_if_time_is_up(plain_box: Box) -> None:
    """After `enough_ms` no further test is started; after `max_ms` of compiling, none at all."""
    slow = b"#include <unistd.h>\n" + ECHO.replace(b"int n;", b"usleep(20000); int n;")
    answer = build(
        plain_box,
        [line_of_test(0), line_of_test(1), line_of_test(2)],
        source=slow,
        order="order run=needed enough_ms=1",
    )
    assert line_kinds(answer) == ["step", "into", "AC", "base64"]
    assert line_kinds(build(plain_box, [line_of_test(0)], max_ms=1)) == ["step", "into", "base64"]


def test_the_program_is_returned_if_a_test_may_be_repeated(plain_box: Box) -> None:
    """It is returned after a late test that ended by itself; not if it was stopped, or would score 0 in time."""
    late, endless = (
        b"#include <time.h>\n" + ECHO.replace(b"int n;", b"while (clock() < %d) {} int n;" % microseconds)
        for microseconds in (170_000, 30_000_000)
    )

    def kinds(test: int, source: bytes) -> list[str]:
        return line_kinds(build(plain_box, [line_of_test(test)], source=source, limits=SHORT))

    assert kinds(0, late) == ["step", "into", "TLE", "base64"]
    assert kinds(1, late) == kinds(0, endless) == ["step", "into", "TLE"]


def test_a_checker_that_failed_on_a_late_output_makes_it_je(plain_box: Box) -> None:
    """Then the score in time is unknown. The test is not repeated, so the program is not returned."""
    late = b"#include <time.h>\n" + ECHO.replace(b"int n;", b"while (clock() < 170000) {} int n;")
    checker = line("checker", protocol="cms", file="checker", **JUDGE)
    answer = build(
        plain_box, [line_of_test(0)], source=late, judged_by=checker, limits=SHORT, checker=b"#!/bin/sh\nexit 3\n"
    )
    assert line_kinds(answer) == ["step", "into", "JE"]
    assert answer.lines[2]["program"] == "checker"


def test_the_program_is_written_to_the_sandbox_s_descriptor(plain_box: Box) -> None:
    """With a descriptor, the program is written there and not to a line."""
    if plain_box.by_directory:
        pytest.skip("files come in a directory")
    fd = os.memfd_create("program")
    try:
        answer = build(plain_box, [line_of_test(0), line_of_test(1)], rest="rest", program_file=fd)
        assert line_kinds(answer) == ["step", "into", "AC", "WA"]
        assert os.fstat(fd).st_size == answer.lines[1]["bytes"]
        assert os.pread(fd, 4, 0) == b"\x7fELF"
    finally:
        os.close(fd)


def test_all_tests_are_needed_if_the_plan_says_so(plain_box: Box) -> None:
    """With `run=all`, all tests are needed, also after a failure."""
    answer = build(plain_box, [line_of_test(1, "0:0")], order="order run=all", rest="rest at=0:1")
    assert line_kinds(answer) == ["step", "into", "WA", "base64"]


def test_nothing_is_run_if_it_does_not_compile(box: Box) -> None:
    """The answer has only the step's line, with the compiler's message."""
    answer = build(box, [line_of_test(0)], source=b"int main( {")
    assert line_kinds(answer) == ["step"]
    assert (answer.lines[0]["code"], answer.lines[0]["limit"]) == (1, None)
    assert "a.cpp:1:5: error" in answer.lines[0]["output"]


NAMES = ("0.in", "ans", "plan", "steps", "source", "program", "sums")
PLACES = ("", "../", "../../", "/box/", "/tmp/", "/piston/jobs/")
SEARCH = """
for file in ./* ../* ../../* /tmp/* /tmp/*/* /box/* /proc/[0-9]*/fd/* /proc/self/fd/*; do
  if [ -f "$file" ]; then cat "$file"; fi
done 2> /dev/null
cp /usr/bin/true a.out
"""


def test_a_compiler_finds_no_file_of_the_job(box: Box) -> None:
    """A compiler finds no file of the job in any of these directories, except the source."""
    paths = [f"{place}{name}" for name in NAMES for place in PLACES]
    looks = "".join(f'#if __has_include("{path}")\n#error found {path}\n#endif\n' for path in paths)
    answer = build(box, [line_of_test(0)], source=looks.encode() + ECHO, ans=SECRET)
    assert line_kinds(answer) == ["step", "into", "WA"], answer.lines[0]["output"]
    assert (
        build(box, [line_of_test(0)], source=b'#if __has_include("a.cpp")\n#error found\n#endif\n').lines[0]["code"]
        == 1
    )


def test_an_assembler_finds_no_file_of_the_job(box: Box) -> None:
    """`.incbin`, with which the assembler opens files itself, finds no file of the job."""
    for path in ("ans", "../ans", "/proc/self/fd/5", "/proc/1/fd/5"):
        source = f'asm(".incbin \\"{path}\\"");\n'.encode() + ECHO
        answer = build(box, [line_of_test(0)], source=source, ans=SECRET)
        assert line_kinds(answer) == ["step"], path
        assert "file not found" in answer.lines[0]["output"].lower() or "can't open" in answer.lines[0]["output"], (
            answer
        )


def test_a_step_can_read_no_file_of_the_job(box: Box) -> None:
    """A step of any commands cannot read files of the job, although the runner has them open at that time."""
    steps = plan(
        "compile",
        line("limits", **COMPILE_LIMITS),
        *(line("sees", path=path) for path in ("/usr", "/bin", "/lib", "/lib64")),
        line("put", file="source", as_="own.cpp"),
        line("step", argv=["sh", "-c", SEARCH]),
        "artifact path=a.out into=program",
    )
    answer = build(
        box,
        [line_of_test(0)],
        steps=steps,
        program="program file=program static=0 sees=/usr sees=/lib sees=/lib64",
        ans=SECRET,
    )
    assert line_kinds(answer) == ["step", "into", "WA"], answer
    assert "scanf" in answer.lines[0]["output"], "it prints what it can read: its own file"
    assert "xyzzy" not in answer.lines[0]["output"]


@pytest.mark.parametrize(
    ("steps", "program", "words"),
    [
        (steps_plan("system"), "", "without `system`"),
        (steps_plan(nonce="0" * 32), "", "another nonce"),
        (steps_plan(artifact="artifact path=a.out"), "", "only artifact is the program"),
        (steps_plan(artifact="artifact path=a.out into=other"), "", "only artifact is the program"),
        (steps_plan("artifact path=a.cpp into=program"), "", "only artifact is the program"),
        (plan("run", line("limits", **LIMITS)), "", "has no line `program`"),
        (b"", "", "cut off"),
        (None, "program file=source static=1", "only artifact is the program"),
        (None, "program file=program interpreter=/bin/sh", "programs are not compiled"),
    ],
)
def test_contradictory_plans_are_refused(plain_box: Box, steps: bytes | None, program: str, words: str) -> None:
    """A contradictory plan is a fault, and nothing is executed."""
    answer = build(plain_box, [line_of_test(0)], steps=steps, program=program or "program file=program static=1")
    assert (answer.last["fault"], answer.lines) == ("plan", [])
    assert words in answer.last["explanation"]
    assert answer.last["nonce"] == NONCE


def test_order_and_dependencies_of_lines(plain_box: Box) -> None:
    """`compile` must be before `program`, `rest` needs `compile`, and the job has no file with the program's name."""
    limits = line("limits", **LIMITS)
    tail = (limits, "task kind=batch", WHITE_DIFF, "order run=all", line_of_test(0))
    files = {"steps": steps_plan(), "source": ECHO, "program": ECHO, "0.in": b"2\n", "ans": b"2\n"}
    job_files = "program file=program static=1"
    for lines, words in (
        ((job_files, "compile plan=steps max_ms=1"), "stands after `program`"),
        ((job_files, "rest at=0:0"), "for programs that the job compiles"),
        (("compile plan=none max_ms=1", job_files), "no file none"),
        (("compile plan=steps max_ms=1", job_files), "has a file program"),
    ):
        answer = plain_box.run(plan("run", *lines, *tail), files)
        assert (answer.last["fault"], answer.lines) == ("plan", [])
        assert words in answer.last["explanation"]


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n"], ids=["read-only", "not-empty"])
def test_a_file_that_cannot_take_the_program_is_refused(plain_box: Box, content: bytes) -> None:
    """It is refused before compiling. Otherwise its old content would be run if the program does not compile."""
    if plain_box.by_directory:
        pytest.skip("files come in a directory")
    fd = os.memfd_create("program")
    try:
        os.write(fd, content)
        reopened = os.open(f"/proc/self/fd/{fd}", os.O_RDWR if content else os.O_RDONLY)
        try:
            answer = build(plain_box, [line_of_test(0)], source=b"int main( {", program_file=reopened)
        finally:
            os.close(reopened)
    finally:
        os.close(fd)
    assert (answer.last["fault"], answer.lines) == ("plan", [])
    assert "has a file program" in answer.last["explanation"]
