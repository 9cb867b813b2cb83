"""Jobs that compile the program and then run it: what comes back, when the program does, and what a compiler sees."""

from __future__ import annotations

import base64
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from ioi_eval.sandbox.local.compiler import detect
from tests.graders.runner_box import COMPILE_LIMITS, JUDGE, LIMITS, NONCE, WHITE_DIFF, Answer, Box, line, plan

ECHO = b'#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n); }\n'
COMPILER = detect("g++")
SECRET = b"xyzzy-plugh 2\n"


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
    steps: bytes | None = None,
    program: str = "program file=program static=1",
    program_file: int | None = None,
    judged_by: str = WHITE_DIFF,
    **files: bytes,
) -> Answer:
    """Compile the source and run the tests, whose inputs are `<number>.in`; the right output is always `2`."""
    lines = [f"compile plan=steps max_ms={max_ms}", program, *([rest] if rest else [])]
    run_plan = plan("run", *lines, line("limits", **LIMITS), "task kind=batch", judged_by, order, *tests)
    inputs = {"0.in": b"2\n", "1.in": b"3\n", "2.in": b"2\n"}
    given: dict[str, bytes | Path | int] = {"steps": steps_plan() if steps is None else steps, "source": source}
    if program_file is not None:
        given["program"] = program_file
    return box.run(run_plan, {**given, "ans": b"2\n", **inputs, **files})


def one(number: int, at: str = "") -> str:
    """A test's line."""
    return f"test id={number} input={number}.in answer=ans{f' at={at}' if at else ''}"


def kinds(answer: Answer) -> list[str]:
    """What the lines of a whole answer are, in order: `step`, `into`, `base64`, or a verdict."""
    assert answer.last.get("end") is True, answer
    return [
        entry.get("verdict") or next(key for key in ("step", "into", "base64") if key in entry)
        for entry in answer.lines
    ]


def test_a_program_is_compiled_and_run(box: Box) -> None:
    """In every box; if no other job needs the program, its bytes do not come back."""
    answer = build(box, [one(0), one(1), one(2)])
    assert kinds(answer) == ["step", "into", "AC", "WA", "AC"]
    assert answer.lines[1]["bytes"] > 10_000
    assert answer.last["isolation"] == box.level


@pytest.mark.parametrize(
    ("tests", "rest", "returned"),
    [
        ([one(0, "0:0")], "rest at=0:1", True),  # nothing has failed
        ([one(0, "0:0"), one(1, "0:1")], "rest at=0:2", False),  # the only group has failed before
        ([one(0, "0:0"), one(1, "0:1")], "rest at=0:2,1:7", True),  # another group has not
        ([one(1, "0:5")], "rest at=0:2", True),  # the group has failed, but later in its order
        ([one(1, "0:0")], "rest", True),  # needed in any case
        ([one(1, "0:0")], "", False),
    ],
)
def test_the_program_comes_back_if_another_job_needs_it(
    plain_box: Box, tmp_path: Path, tests: list[str], rest: str, returned: bool
) -> None:
    """By the rule that says which tests are needed. It is the program that was run."""
    answer = build(plain_box, tests, rest=rest)
    assert kinds(answer)[:2] == ["step", "into"]
    assert (kinds(answer)[-1] == "base64") is returned
    if returned:
        program = tmp_path / "program"
        program.write_bytes(base64.b64decode(answer.lines[-1]["base64"], validate=True))
        assert program.stat().st_size == answer.lines[-1]["bytes"] == answer.lines[1]["bytes"]
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        assert os.popen(f"echo 17 | {program}").read() == "17\n"


def test_it_comes_back_if_the_time_is_up(plain_box: Box) -> None:
    """After `enough_ms` a needed test is not started; after `max_ms` of compiling, none is."""
    slow = b"#include <unistd.h>\n" + ECHO.replace(b"int n;", b"usleep(20000); int n;")
    answer = build(plain_box, [one(0), one(1), one(2)], source=slow, order="order run=needed enough_ms=1")
    assert kinds(answer) == ["step", "into", "AC", "base64"]
    assert kinds(build(plain_box, [one(0)], max_ms=1)) == ["step", "into", "base64"]


def test_it_comes_back_if_a_test_may_be_run_again(plain_box: Box) -> None:
    """One that was late and ended by itself; not if it was stopped, or would have scored 0 in time."""
    late, endless = (
        b"#include <time.h>\n" + ECHO.replace(b"int n;", b"while (clock() < %d) {} int n;" % microseconds)
        for microseconds in (1_050_000, 30_000_000)
    )
    assert kinds(build(plain_box, [one(0)], source=late)) == ["step", "into", "TLE", "base64"]
    assert kinds(build(plain_box, [one(1)], source=late)) == ["step", "into", "TLE"]
    assert kinds(build(plain_box, [one(0)], source=endless)) == ["step", "into", "TLE"]


def test_it_comes_back_if_a_checker_failed_on_a_late_output(plain_box: Box) -> None:
    """The score in time is not known then, so the time may be measured again."""
    late = b"#include <time.h>\n" + ECHO.replace(b"int n;", b"while (clock() < 1050000) {} int n;")
    checker = line("checker", protocol="cms", file="checker", **JUDGE)
    answer = build(plain_box, [one(0)], source=late, judged_by=checker, checker=b"#!/bin/sh\nexit 3\n")
    assert kinds(answer) == ["step", "into", "TLE", "base64"]
    assert "in_time" not in answer.lines[2]


def test_it_is_written_to_the_sandbox_s_descriptor(plain_box: Box) -> None:
    """Then it is never in a line, and it is the program that ran."""
    if plain_box.by_directory:
        pytest.skip("files come in a directory")
    fd = os.memfd_create("program")
    try:
        answer = build(plain_box, [one(0), one(1)], rest="rest", program_file=fd)
        assert kinds(answer) == ["step", "into", "AC", "WA"]
        assert os.fstat(fd).st_size == answer.lines[1]["bytes"]
        assert os.pread(fd, 4, 0) == b"\x7fELF"
    finally:
        os.close(fd)


def test_all_tests_are_needed_if_the_plan_says_so(plain_box: Box) -> None:
    """Also after a failure."""
    answer = build(plain_box, [one(1, "0:0")], order="order run=all", rest="rest at=0:1")
    assert kinds(answer) == ["step", "into", "WA", "base64"]


def test_nothing_is_run_if_it_does_not_compile(box: Box) -> None:
    """There is the step's line only, with the compiler's message."""
    answer = build(box, [one(0)], source=b"int main( {")
    assert kinds(answer) == ["step"]
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
    """Wherever it looks for their names."""
    paths = [f"{place}{name}" for name in NAMES for place in PLACES]
    looks = "".join(f'#if __has_include("{path}")\n#error found {path}\n#endif\n' for path in paths)
    answer = build(box, [one(0)], source=looks.encode() + ECHO, ans=SECRET)
    assert kinds(answer) == ["step", "into", "WA"], answer.lines[0]["output"]
    assert build(box, [one(0)], source=b'#if __has_include("a.cpp")\n#error found\n#endif\n').lines[0]["code"] == 1


def test_an_assembler_finds_none_either(box: Box) -> None:
    """It opens files without the compiler."""
    for path in ("ans", "../ans", "/proc/self/fd/5", "/proc/1/fd/5"):
        source = f'asm(".incbin \\"{path}\\"");\n'.encode() + ECHO
        answer = build(box, [one(0)], source=source, ans=SECRET)
        assert kinds(answer) == ["step"], path
        assert "file not found" in answer.lines[0]["output"].lower() or "can't open" in answer.lines[0]["output"], (
            answer
        )


def test_a_step_can_read_no_file_of_the_job(box: Box) -> None:
    """Not even a step that is a program of its author's: answers are open files of the runner at that moment."""
    steps = plan(
        "compile",
        line("limits", **COMPILE_LIMITS),
        *(line("sees", path=path) for path in ("/usr", "/bin", "/lib", "/lib64")),
        line("put", file="source", as_="own.cpp"),
        line("step", argv=["sh", "-c", SEARCH]),
        "artifact path=a.out into=program",
    )
    answer = build(
        box, [one(0)], steps=steps, program="program file=program static=0 sees=/usr sees=/lib sees=/lib64", ans=SECRET
    )
    assert kinds(answer) == ["step", "into", "WA"], answer
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
def test_a_plan_that_cannot_be_meant_is_refused(plain_box: Box, steps: bytes | None, program: str, words: str) -> None:
    """Nothing is executed."""
    answer = build(plain_box, [one(0)], steps=steps, program=program or "program file=program static=1")
    assert (answer.last["fault"], answer.lines) == ("plan", [])
    assert words in answer.last["words"]
    assert answer.last["nonce"] == NONCE


def test_lines_that_need_each_other(plain_box: Box) -> None:
    """`compile` comes before `program`, `rest` only with it, and the job has no file of the program's name."""
    limits = line("limits", **LIMITS)
    tail = (limits, "task kind=batch", WHITE_DIFF, "order run=all", one(0))
    files = {"steps": steps_plan(), "source": ECHO, "program": ECHO, "0.in": b"2\n", "ans": b"2\n"}
    given = "program file=program static=1"
    for lines, words in (
        ((given, "compile plan=steps max_ms=1"), "stands after `program`"),
        ((given, "rest at=0:0"), "for programs that the job compiles"),
        (("compile plan=none max_ms=1", given), "no file none"),
        (("compile plan=steps max_ms=1", given), "has a file program"),
    ):
        answer = plain_box.run(plan("run", *lines, *tail), files)
        assert (answer.last["fault"], answer.lines) == ("plan", [])
        assert words in answer.last["words"]


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n"], ids=["read-only", "not-empty"])
def test_a_file_that_cannot_take_the_program_is_refused(plain_box: Box, content: bytes) -> None:
    """Before anything is compiled: else what is in it would be run where the compiler refuses the program."""
    if plain_box.by_directory:
        pytest.skip("files come in a directory")
    fd = os.memfd_create("program")
    try:
        os.write(fd, content)
        reopened = os.open(f"/proc/self/fd/{fd}", os.O_RDWR if content else os.O_RDONLY)
        try:
            answer = build(plain_box, [one(0)], source=b"int main( {", program_file=reopened)
        finally:
            os.close(reopened)
    finally:
        os.close(fd)
    assert (answer.last["fault"], answer.lines) == ("plan", [])
    assert "has a file program" in answer.last["words"]
