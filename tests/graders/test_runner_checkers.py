"""How outputs are judged: each checker protocol, a checker's limits, and the names of its failures."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import CheckerProtocol
from tests.busy_processes import busy_processes
from tests.graders.runner_box import (
    JUDGE,
    LIMITS,
    WHITE_DIFF,
    Box,
    Files,
    batch_plan,
    in_each_kind_of_box,
    line,
    plan,
    run_batch,
    run_game,
)
from tests.one_processor import one_processor

RIGHT_AND_WRONG = {
    CheckerProtocol.CMS: ("cms 1\nfine", "cms 0\nno"),
    CheckerProtocol.TESTLIB: ("testlib 0\nfine", "testlib 1\nno"),
    CheckerProtocol.KATTIS: ("kattis 42\nfine", "kattis 43\nno"),
    CheckerProtocol.WHITE_DIFF: ("answer ", "other"),
    CheckerProtocol.TOKENS: ("answer", "other"),
}
"""A right and a wrong output for each protocol. They tell checker.cpp how to end; without a program, the answer is
`answer`."""


@pytest.mark.parametrize("protocol", CheckerProtocol)
def test_every_protocol_accepts_and_rejects(
    plain_box: Box, program: Callable[..., Path], protocol: CheckerProtocol
) -> None:
    """The runner implements each checker protocol that a problem can name."""
    file = {"file": "checker"} if protocol.has_program else {}
    answer = run_batch(
        plain_box,
        program("contestant"),
        *(f"print 1\n{output}" for output in RIGHT_AND_WRONG[protocol]),
        answer=b"answer\n",
        checker=line("checker", protocol=protocol, **file, **JUDGE),
        files={"checker": program("checker")} if file else {},
    )
    assert answer.verdicts == ["AC", "WA"]


def test_a_manager_needs_a_protocol_with_a_program(plain_box: Box, program: Callable[..., Path]) -> None:
    """A manager with a protocol without a program is a fault of the plan."""
    answer = run_game(plain_box, program, "x", manager={**JUDGE, "protocol": "tokens"})
    assert answer.last["explanation"].endswith("(manager) has a protocol without a program: tokens")


def lines_of(
    box: Box, program: Callable[..., Path], protocol: str, *outputs: str, **limits: int
) -> list[dict[str, Any]]:
    """The lines of tests with these outputs, judged by checker.cpp."""
    checker = line("checker", protocol=protocol, file="checker", **{**JUDGE, **limits})
    answer = run_batch(
        box,
        program("contestant"),
        *(f"print 1\n{output}" for output in outputs),
        answer=b"answer\n",
        checker=checker,
        files={"checker": program("checker")},
    )
    assert answer.last["end"] is True, answer
    return answer.lines


CMS = {
    "cms 1\nfine": ("AC", "1", "fine"),
    "cms 1.0000\nfine": ("AC", "1.0000", "fine"),
    "cms   0.5  \n half ": ("PA", "0.5", "half"),
    "cms 5e-1\nhalf": ("PA", "5e-1", "half"),
    "cms 0.9999\nalmost": ("PA", "0.9999", "almost"),
    "cms 0.0\nno": ("WA", "0.0", "no"),
    "cms -0.0\nno": ("WA", "-0.0", "no"),
    "cms 1\ntranslate:success": ("AC", "1", "Output is correct"),
    "cms 0.3\ntranslate:partial": ("PA", "0.3", "Output is partially correct"),
    "cms 0\ntranslate:wrong": ("WA", "0", "Output isn't correct"),
    "cms 0\ntranslate:else": ("WA", "0", "translate:else"),
    "cms 1": ("AC", "1", ""),
}


def test_cms_scores_and_messages(box: Box, program: Callable[..., Path]) -> None:
    """The score is the first line of stdout, the message the first line of stderr, with CMS's standard texts."""
    lines = lines_of(box, program, "cms", *CMS)
    assert {output: (e["verdict"], e["score"], e["message"]) for output, e in zip(CMS, lines, strict=True)} == CMS
    assert all(entry["judge"]["cpu_us"] > 0 and entry["judge"]["wall_us"] > 0 for entry in lines)


def test_locale_of_the_environment(box: Box, program: Callable[..., Path]) -> None:
    """`std::locale("")` exists, although a box has no files of locales."""
    (entry,) = lines_of(box, program, "cms", "locale")
    assert (entry["verdict"], entry["message"]) == ("AC", "C")


NOT_SCORES = [
    "1000",
    "1.0001",
    "-0.1",
    "nan",
    "inf",
    "0x1",
    "1 point",
    "one",
    "1,0",
    "1e",
    ".",
    "-",
    "1_0",
    "1.0.0",
    "١",
    "1e999",
]


def test_invalid_scores_are_faults_of_the_checker(plain_box: Box, program: Callable[..., Path]) -> None:
    """A text that is not exactly one finite number in [0, 1] is JE with the checker at fault."""
    lines = lines_of(plain_box, program, "cms", *(f"cms {text}\nwords" for text in NOT_SCORES), "cms \nwords")
    assert [(e["verdict"], e["score"], e["fault"], e["program"]) for e in lines] == [
        ("JE", None, "score", "checker")
    ] * len(lines)


TESTLIB = {
    "testlib 0\nok fine": ("AC", "1", "ok fine"),
    "testlib 1\nwrong answer 1st number": ("WA", "0", "wrong answer 1st number"),
    "testlib 2\nwrong output format": ("WA", "0", "wrong output format"),
    "testlib 4\nwrong output format": ("WA", "0", "wrong output format"),
    "testlib 8\nunexpected eof": ("WA", "0", "unexpected eof"),
    "testlib 7\npoints 0.25 a quarter": ("PA", "0.25", "points 0.25 a quarter"),
    "testlib 7\npoints 1": ("AC", "1", "points 1"),
    "testlib 7\npoints 0 nothing": ("WA", "0", "points 0 nothing"),
    "testlib 3\nFAIL": ("JE", "exit", ""),
    "testlib 5\npartially correct (5)": ("JE", "exit", ""),
    "testlib 50\npartially correct (34)": ("JE", "exit", ""),
    "testlib 7\npoints 40": ("JE", "score", "points 40"),
    "testlib 7\npoints_info=3": ("JE", "score", "points_info=3"),
    "testlib 7\n": ("JE", "score", ""),
    "testlib 7\nread 3 numbers|points 0.75 many": ("PA", "0.75", "read 3 numbers"),
    "testlib 7\npoints 1 of an author's own|points 0.5 few": ("PA", "0.5", "points 1 of an author's own"),
    "testlib 0\nread 3 numbers|partially correct (40) few": ("JE", "score", ""),
    "testlib 1\npartially correct (1) few": ("JE", "score", ""),
    "testlib 0\npartially correct (0) found|ok fine": ("JE", "score", ""),
    "testlib 7\npartially correct (7) found|points of view": ("JE", "score", ""),
    # The checker quotes several lines of the program's output.
    "testlib 1\nwrong answer found|partially correct (1)": ("WA", "0", "wrong answer found"),
    "testlib 2\npartially correct (2)|wrong output format": ("WA", "0", "partially correct (2)"),
    "testlib 7\npoints 0 found|points 1.0": ("WA", "0", "points 0 found"),
    "testlib 7\npoints 0.25 found|points 40|points |points of view": ("PA", "0.25", "points 0.25 found"),
    "testlib 7\npoints 0 found|partially correct (7)": ("WA", "0", "points 0 found"),
}


def test_testlib_exit_codes(plain_box: Box, program: Callable[..., Path]) -> None:
    """Exit codes are verdicts, points are parts of 1, and the arguments are input, output, answer."""
    lines = lines_of(plain_box, program, "testlib", *TESTLIB)
    for (output, expected), entry in zip(TESTLIB.items(), lines, strict=True):
        if expected[0] == "JE":
            assert (entry["verdict"], entry["fault"]) == expected[:2], output
        else:
            assert (entry["verdict"], entry["score"], entry["message"]) == expected, output


def test_a_quoted_output_is_no_line_of_testlib(plain_box: Box, program: Callable[..., Path]) -> None:
    """The score is on the checker's own line, also if that quotes a long word with the words of such a line in it."""
    starts = ("points 1 ", "partially correct (")
    words = [start + "y" * (4000 - len(start) - n) for start in starts for n in (0, 1)]
    answer = run_batch(
        plain_box,
        program("contestant"),
        *(f"print 1\nxx {word}" for word in words),
        checker=line("checker", protocol="testlib", file="checker", **JUDGE),
        files={"checker": b'#!/bin/sh\n{ printf "points 0.25 "; cat output.txt; echo; } >&2; exit 7\n'},
    )
    assert [(entry["verdict"], entry.get("score")) for entry in answer.lines] == [("PA", "0.25")] * len(words)


IN_POINTS = {
    "testlib 0\nok fine": ("1", "1", "1", "1"),
    "testlib 1\nwrong answer": ("0", "0", "0", "0"),
    "testlib 7\npoints 20 all": ("1", "1", "1", "0.5"),
    "testlib 7\npoints 5 a quarter": ("0.25", "1", "0", "1"),
    "testlib 7\npoints 20.5 too many": (None, "1", None, None),
}
"""The scores of tests with 20 points, of tests whose points do not count, of tests with all 20 points or none, and of
tests with a table.
"""


def test_testlib_points_of_a_full_score(plain_box: Box, program: Callable[..., Path]) -> None:
    """Points are parts of the test's full score, and an accepted output has all of it."""
    for place, scoring in enumerate(("full=20", "full=0", "full=20 steps=1", "full=20 table=5:20,20:10")):
        outputs = {f"{number}.in": f"print 1\n{output}".encode() for number, output in enumerate(IN_POINTS)}
        tests = [f"test id={number} input={number}.in answer=ans {scoring}" for number in range(len(IN_POINTS))]
        checker = line("checker", protocol="testlib", file="checker", **JUDGE)
        files: Files = {"program": program("contestant"), "checker": program("checker"), "ans": b"answer\n", **outputs}
        lines = plain_box.run(batch_plan(tests, checker=checker), files).lines
        seen = {output: entry["score"] for output, entry in zip(IN_POINTS, lines, strict=True)}
        assert seen == {output: expected[place] for output, expected in IN_POINTS.items()}


@pytest.mark.parametrize("protocol", CheckerProtocol)
def test_full_marks_without_points_are_all_steps(
    plain_box: Box, program: Callable[..., Path], protocol: CheckerProtocol
) -> None:
    """An output that is accepted without points has the full score, also if scores of other outputs are rounded."""
    file = {"file": "checker"} if protocol.has_program else {}
    right, wrong = (f"print 1\n{output}".encode() for output in RIGHT_AND_WRONG[protocol])
    tests = [f"test id={number} input={number}.in answer=ans full=20 steps=10" for number in range(2)]
    files: Files = {"program": program("contestant"), "ans": b"answer\n", "0.in": right, "1.in": wrong}
    checker = line("checker", protocol=protocol, **file, **JUDGE)
    answer = plain_box.run(
        batch_plan(tests, checker=checker), {**files, **({"checker": program("checker")} if file else {})}
    )
    assert answer.verdicts == ["AC", "WA"]


KATTIS = {
    "kattis 42\nwell done": ("AC", "1", "well done"),
    "kattis 43\nnot so": ("WA", "0", "not so"),
    "kattis 42 0.5\nhalf": ("PA", "0.5", "half"),
    "kattis 43 0.5\nrejected all the same": ("WA", "0", "rejected all the same"),
    "kattis 42 7\ntoo much": ("JE", "score", ""),
    "kattis 0\nno verdict": ("JE", "exit", ""),
    "kattis 1\nno verdict": ("JE", "exit", ""),
}


def test_kattis_exit_codes_and_files(plain_box: Box, program: Callable[..., Path]) -> None:
    """42 and 43 are verdicts, any other code is JE. Score and message come from the feedback files."""
    lines = lines_of(plain_box, program, "kattis", *KATTIS)
    for (output, expected), entry in zip(KATTIS.items(), lines, strict=True):
        if expected[0] == "JE":
            assert (entry["verdict"], entry["fault"]) == expected[:2], output
        else:
            assert (entry["verdict"], entry["score"], entry["message"]) == expected, output


def test_a_score_multiplier_is_a_part_of_the_full_score(plain_box: Box, program: Callable[..., Path]) -> None:
    """Of a test with 20 points; and of one whose points do not count, where an accepted output has full marks."""
    commands = [
        ("full=20", "echo 0.5 > ${3}score_multiplier.txt"),
        ("full=20", "echo 5 > ${3}score_multiplier.txt"),
        ("full=20", "echo 5 > ${3}score.txt"),
        ("full=0", "echo 0.5 > ${3}score_multiplier.txt"),
    ]
    tests = [f"test id={number} input={number}.in {full}" for number, (full, _) in enumerate(commands)]
    inputs = {f"{number}.in": f"print 1\n{command}\n".encode() for number, (_, command) in enumerate(commands)}
    checker = line("checker", protocol="kattis", file="checker", **JUDGE)
    script = b'#!/bin/sh\neval "$(cat)"\nexit 42\n'
    job = batch_plan(tests, checker=checker)
    lines = plain_box.run(job, {"program": program("contestant"), "checker": script, **inputs}).lines
    assert [(entry["verdict"], entry["score"]) for entry in lines] == [
        ("PA", "0.5"),
        ("JE", None),
        ("PA", "0.25"),
        ("AC", "1"),
    ]


FAULTS = {
    "crash 1": "signal",
    "exit 1": "exit",
    "exit 42": "exit",
    "loop 1": "time",
    "eat 1": "memory",
}


@in_each_kind_of_box
def test_checker_faults_are_named(box: Box, program: Callable[..., Path]) -> None:
    """A checker that crashes, has a wrong exit code, or is over a limit is JE with its name. Later tests are judged."""
    lines = lines_of(box, program, "cms", *FAULTS, "cms 1\nfine", cpu_ms=500, wall_ms=60_000, memory_bytes=100 << 20)
    assert [entry["verdict"] for entry in lines] == ["JE"] * len(FAULTS) + ["AC"]
    assert [entry["fault"] for entry in lines[:-1]] == list(FAULTS.values())
    assert {entry["program"] for entry in lines[:-1]} == {"checker"}
    assert all(entry["explanation"] for entry in lines[:-1])


@pytest.mark.parametrize(
    ("failure", "fault"),
    [("kill -9 $$", "signal"), ("kill -SEGV $$", "signal"), ("exit 9", "exit"), ("exit 0", "score")],
)
def test_an_output_is_judged_again_if_the_checker_failed(
    plain_box: Box, program: Callable[..., Path], failure: str, fault: str
) -> None:
    """A checker that fails once, as when the machine kills it, does not make the test JE; one that fails twice is at
    fault, also if it was killed, because it may need too much memory for this output.
    """
    with tempfile.TemporaryDirectory() as directory:  # in bwrap, the checker makes it again
        Path(directory).chmod(0o777)
        count = f"mkdir -p {directory}; echo >> {directory}/runs; runs=$(wc -l < {directory}/runs)"
        answer = run_batch(
            plain_box, program("contestant"), *(f"print 1\n{count}; {commands}; echo $runs >&2; echo 1"
            for commands in (f"[ $runs = 2 ] || {failure}", "[ $runs = 3 ]", failure, "[ $runs = 6 ]")),
            checker=line("checker", protocol="cms", file="checker", **JUDGE),
            files={"checker": b'#!/bin/sh\neval "$(tail -n +2 input.txt)"\n'},
        )  # fmt: skip
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == [
        ("AC", "2"),
        ("AC", "3"),
        ("JE", ""),
        ("AC", "6"),
    ]
    assert (answer.lines[2]["program"], answer.lines[2]["fault"]) == ("checker", fault)


def test_a_checker_cannot_use_up_the_ids_of_processes(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """It has 1,000 processes, besides those of the program. A script that starts itself without end could otherwise
    keep other programs on this machine from starting threads."""
    answer = run_batch(
        boxes("bwrap-root" if os.geteuid() == 0 else "bwrap-user"),
        program("contestant"),
        "print 1\n300",
        "print 1\n1500",
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
        files={"checker": b"#!/bin/sh\nfor i in $(seq $(tail -n 1 input.txt)); do sleep 1000 & done\necho 1\n"},
    )
    few, many = answer.lines
    assert few["verdict"] == "AC"
    assert (many["verdict"], many["program"], many["fault"]) == ("JE", "checker", "exit")
    assert "Cannot fork" in many["explanation"]


def test_both_judgements_of_an_output_share_a_limit(plain_box: Box, program: Callable[..., Path]) -> None:
    """Of wall clock. Otherwise a job could reach its deadline, and the program would run again in the next one."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o777)
        counted = f"mkdir -p {directory}; echo >> {directory}/runs; sleep 6; wc -l < {directory}/runs >&2"
        answer = run_batch(
            plain_box, program("contestant"), "print 1",
            checker=line("checker", protocol="cms", file="checker", **{**JUDGE, "wall_ms": 10_000}),
            files={"checker": f"#!/bin/sh\n{counted}; exit 9\n".encode()},
        )  # fmt: skip
    (entry,) = answer.lines
    assert (entry["verdict"], entry["program"], entry["fault"]) == ("JE", "checker", "exit")
    assert entry["explanation"].endswith(": 1\n")


def test_a_checker_that_waits_for_a_processor(plain_box: Box, program: Callable[..., Path]) -> None:
    """If it waited for most of its wall clock limit, the machine is too busy: the checker is not at fault."""
    with one_processor(), busy_processes(8, sessions=True):
        (entry,) = lines_of(plain_box, program, "cms", "loop 1", wall_ms=1000)
    assert (entry["verdict"], entry["fault"], entry["program"]) == ("JE", "overload", "runner")


def test_what_the_kernel_may_do_to_a_judge_program(plain_box: Box, program: Callable[..., Path]) -> None:
    """If memory runs out, it is killed before other programs. Its CPU time is not limited to less than its wall clock:
    the kernel counts ticks for this limit, and a program can choose when its manager runs.
    """
    limits = {**JUDGE, "cpu_ms": 1000, "wall_ms": 60_000}
    script = b"#!/bin/sh\necho 1\necho $(cat /proc/self/oom_score_adj) $(ulimit -t) >&2\n"
    entry = run_batch(
        plain_box, program("contestant"), "sum 1", files={"checker": script},
        checker=line("checker", protocol="cms", file="checker", **limits),
    ).only  # fmt: skip
    order, cpu_s = map(int, entry["message"].split())
    assert (order, cpu_s > 60) == (1000, True)


def test_checker_that_stalls(plain_box: Box, program: Callable[..., Path]) -> None:
    """A checker that sleeps is stopped at its wall clock limit."""
    (entry,) = lines_of(plain_box, program, "cms", "sleep 1", wall_ms=300)
    assert (entry["verdict"], entry["fault"], entry["program"]) == ("JE", "stall", "checker")
    assert entry["judge"]["wall_us"] >= 300_000


def test_checker_that_prints_without_end(plain_box: Box, program: Callable[..., Path]) -> None:
    """A checker with too much output is killed before its CPU limit, because its output is kept in memory."""
    lines = lines_of(plain_box, program, "cms", "talk 1", "talk 2", "cms 1\nfine", cpu_ms=5_000, wall_ms=60_000)
    assert [(entry["verdict"], entry.get("program")) for entry in lines] == [("JE", "checker")] * 2 + [("AC", None)]
    assert all(entry["explanation"].startswith("it wrote more than 272 MiB") for entry in lines[:2])


def test_processes_of_a_checker_are_killed(plain_box: Box, program: Callable[..., Path]) -> None:
    """A daemon that a checker starts ends with the test, and does not delay it."""
    lines = lines_of(plain_box, program, "cms", "daemon 1", "daemon 1", "cms 1\nfine")
    assert [entry["verdict"] for entry in lines] == ["AC"] * 3


def test_a_checker_that_is_not_a_program(plain_box: Box, program: Callable[..., Path]) -> None:
    """It is JE with the checker at fault, for all languages of the submission, so that the JE becomes final."""
    compiled: dict[str, Any] = {}
    interpreted = {"interpreter": "/bin/echo", "sees": ("/usr", "/bin", "/lib", "/lib64"), "start": "cold"}
    for language in (compiled, interpreted):
        job = plan(
            *("run", line("program", file="program", **language), line("limits", **LIMITS), "task kind=batch"),
            line("checker", protocol="cms", file="checker", **JUDGE),
            *("order run=all", "test id=0 input=in answer=ans"),
        )
        files: Files = {
            "program": program("contestant"),
            "checker": b"not even a program",
            "in": b"sum 1\n",
            "ans": b"",
        }
        entry = plain_box.run(job, files).only
        assert (entry["verdict"], entry.get("fault"), entry.get("program")) == ("JE", "exit", "checker"), entry


def test_a_failed_program_is_not_checked(plain_box: Box, program: Callable[..., Path]) -> None:
    """The checker of a test whose program failed is not started."""
    entry = run_batch(
        plain_box, program("contestant"), "exit 1", answer=b"answer", files={"checker": b"not even a program"},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    ).only  # fmt: skip
    assert (entry["verdict"], entry["judge"]) == ("RE", {"cpu_us": 0, "wall_us": 0})


def test_checker_may_be_a_script(box: Box, program: Callable[..., Path]) -> None:
    """A checker with a #! line runs in each box."""
    script = b"#!/bin/sh\ncmp -s output.txt correct_output.txt && echo 1 || echo 0\necho by a script >&2\n"
    answer = run_batch(
        box, program("contestant"), "sum 1", "sum 2", files={"checker": script},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    )  # fmt: skip
    assert [(entry["verdict"], entry["message"]) for entry in answer.lines] == [
        ("AC", "by a script"),
        ("WA", "by a script"),
    ]


@pytest.mark.parametrize("interpreter", ["/none/python3", "/etc/passwd"])
def test_a_script_without_its_interpreter_is_the_machine_s_fault(
    plain_box: Box, program: Callable[..., Path], interpreter: str
) -> None:
    """A machine that lacks the interpreter of a script, or cannot execute it, has not started the checker."""
    entry = run_batch(
        plain_box, program("contestant"), "sum 1", files={"checker": f"#!{interpreter}\necho 1\n".encode()},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    ).only  # fmt: skip
    assert (entry["verdict"], entry["fault"], entry["program"]) == ("JE", "start", "runner"), entry["explanation"]
    assert entry["explanation"].startswith("the checker was not started: execute it: ")


def test_checker_gets_an_empty_answer_if_there_is_none(plain_box: Box, program: Callable[..., Path]) -> None:
    """A test without an answer gives the checker an empty file."""
    script = b"#!/bin/sh\ntest -e $2 && test ! -s $2 && echo 1\n"
    text = batch_plan(["test id=0 input=in"], checker=line("checker", protocol="cms", file="checker", **JUDGE))
    answer = plain_box.run(text, {"program": program("contestant"), "in": b"sum 1", "checker": script})
    assert answer.verdicts == ["AC"]


# Pairs of texts that are equal, or different, for CMS's white_diff.
EQUAL = [
    (b"1\n", b"1\n"), (b"1", b"1\n"), (b"1\n", b"1"), (b"1 2\n", b"1  2\n"), (b" 1\t2 \n", b"1 2\n"),
    (b"1\r\n", b"1\n"),
    (b"1\v2\f3\n", b"1 2 3\n"), (b"1\n\n\n", b"1\n"), (b"1\n", b"1\n \n\t\n"), (b"", b"\n \n"), (b"", b""),
    (b"   ", b""),
    (b"1\n   ", b"1"), (b"\n1\n", b" \n1\n"), (b"a" * 100_000 + b"\n", b"a" * 100_000), (b"\xff\x00\n", b"\xff\x00"),
    (b" " * 20_000 + b"1" + b" " * 20_000 + b"2", b"1 2"),
]  # fmt: skip
DIFFERENT = [
    (b"1\n", b"2\n"), (b"12\n", b"1 2\n"), (b"1 2\n", b"1\n2\n"), (b"\n1\n", b"1\n"), (b"1\n\n2\n", b"1\n2\n"),
    (b"1\n", b""),
    (b"", b"1\n"), (b"1\n2\n", b"1\n"), (b"1\n", b"1\n2\n"), (b"a\n", b"A\n"), (b"1\n", b"1.0\n"),
    (b"1 \n\n 2", b"1\n"),
    (b"a" * 100_000, b"a" * 99_999 + b"b"), (b"1\x00\n", b"1\n"), (b"\xc2\xa01\n", b"1\n"), (b"1\n\x85", b"1\n"),
]  # fmt: skip


def test_white_diff(plain_box: Box, program: Callable[..., Path]) -> None:
    """All runs of ASCII blanks are equal; those at the ends of lines, and blank last lines, do not count."""
    tests: list[str] = []
    files: dict[str, bytes | Path] = {"program": program("contestant")}
    for number, (output, answer) in enumerate(EQUAL + DIFFERENT):
        files |= {f"{number}.in": b"print 1\n" + output, f"{number}.ans": answer}
        tests.append(f"test id={number} input={number}.in answer={number}.ans")
    verdicts = plain_box.run(batch_plan(tests, checker=WHITE_DIFF), files).verdicts
    assert verdicts == ["AC"] * len(EQUAL) + ["WA"] * len(DIFFERENT)


def test_messages_show_where_outputs_first_differ(plain_box: Box, program: Callable[..., Path]) -> None:
    """Also where white space counts: the line is that of the word, not that of the white space before it."""
    for protocol, flags in (("white-diff", {}), ("tokens", {}), ("tokens", {"args": "space_change_sensitive"})):
        checker = line("checker", protocol=protocol, **flags, **JUDGE)
        answer = run_batch(plain_box, program("contestant"), "print 1\na\nb", answer=b"a\nc\n", checker=checker)
        assert answer.only["message"] == 'Output isn\'t correct: line 2: expected "c", found "b"'


def reference_white_diff(output: bytes, answer: bytes) -> bool:
    """A second implementation of CMS's rule: compares the words of each line and ignores blank last lines."""
    blanks = b" \t\n\v\f\r"
    ours, theirs = (
        [line.translate(bytes.maketrans(blanks, b" " * 6)).split(b" ") for line in text.split(b"\n")]
        for text in (output, answer)
    )
    canonical = [[[word for word in words if word] for words in lines] for lines in (ours, theirs)]
    for lines in canonical:
        while lines and not lines[-1]:
            lines.pop()
    return canonical[0] == canonical[1]


@pytest.mark.parametrize("seed", range(3))
def test_white_diff_agrees_with_its_rule(boxes: Callable[[str], Box], program: Callable[..., Path], seed: int) -> None:
    """On random texts of blanks and letters, the runner's comparison agrees with the second implementation."""
    import random

    source = random.Random(seed)
    box = boxes("fds-reduced-user")
    tests: list[str] = []
    files: dict[str, bytes | Path] = {"program": program("contestant")}
    expected: list[str] = []
    for number in range(100):
        output = bytes(source.choices(b"ab \t\n\r", k=source.randrange(12)))
        answer = bytes(source.choices(b"ab \t\n\r", k=source.randrange(12)))
        if source.random() < 0.5:
            answer = output.replace(b"\t", b"  ").replace(b"\r", b" ") + b" \n" * source.randrange(3)
        files |= {f"{number}.in": b"print 1\n" + output, f"{number}.ans": answer}
        tests.append(f"test id={number} input={number}.in answer={number}.ans")
        expected.append("AC" if reference_white_diff(output, answer) else "WA")
    assert box.run(batch_plan(tests, checker=WHITE_DIFF), files).verdicts == expected


DIRECTORY = rb"""#!/bin/sh
# Prints its directory, what is in it, where the links lead, and its process id. Then it does what the test's input says
# from its second line on.
echo 1
links=$(for name in *; do echo "$name:$(readlink "$name" || echo file)"; done)
echo "$(pwd)" $links "$(readlink "$PWD.fd")" $$ >&2
eval "$(tail -n +2 input.txt)"
"""
LINKS = {"input.txt": 10, "correct_output.txt": 11, "output.txt": 12, "checker": 13}
LATE = "(sleep 1; echo late > note) > /dev/null 2>&1 &"  # it is killed before
WAIT = "sleep 1.3"  # so that the late note would be there for the next checker
CHANGES = [
    "",
    "echo left > note",
    "mv output.txt old; cp old output.txt; rm old",
    "mkdir sub; echo left > sub/note",
    "rm input.txt; ln -s /proc/self/fd/11 input.txt",
    "chmod 755 .",
    LATE,
    WAIT,
    "",
]


def test_a_checker_does_not_find_what_another_one_left(box: Box, program: Callable[..., Path]) -> None:
    """The directory of a checker has links to its files only. The next test's checker gets it if it is unchanged."""
    answer = run_batch(
        box, program("contestant"), *(f"sum 1\n{change}\n" for change in CHANGES), files={"checker": DIRECTORY},
        checker=line("checker", protocol="cms", file="checker", **JUDGE),
    )  # fmt: skip
    assert answer.verdicts == ["AC"] * len(CHANGES)
    seen = [entry["message"].split() for entry in answer.lines]
    for directory, *links, target, pid in seen:
        assert set(links) == {f"{name}:{directory}.fd/{number}" for name, number in LINKS.items()}
        assert target == f"/proc/{pid}/fd"
    directories = [words[0] for words in seen]
    unchanged = [after == before for before, after in itertools.pairwise(directories)]
    assert unchanged == [change in ("", LATE, WAIT) for change in CHANGES[:-1]]


LEFT = {
    "ln -s /etc/passwd nextpass.in": "its nextpass.in cannot be opened: Too many levels of symbolic links",
    "mkdir nextpass.in": "its nextpass.in is not a file",
    "mkfifo nextpass.in": "its nextpass.in is not a file",
    "ln -s nothing score.txt": "its score.txt cannot be opened: Too many levels of symbolic links",
    "mkdir score.txt": "its score.txt is not a file",
    "mkfifo judgemessage.txt": "its judgemessage.txt is not a file",
    "rm -r ../feedback; touch ../feedback": "its score.txt cannot be opened: Not a directory",
}
"""What a validator does in its feedback directory, and why the test is JE then."""


def lines_of_validators(box: Box, program: Callable[..., Path], *commands: str) -> list[dict[str, Any]]:
    """The lines of tests whose validators accept after running these commands in their feedback directory."""
    answer = run_batch(
        box,
        program("contestant"),
        *(f"print 1\n{command}\nexit 42" for command in commands),
        checker=line("checker", protocol="kattis", file="checker", passes=2, **JUDGE),
        files={"checker": b'#!/bin/bash\ncommands=$(cat)\ncd feedback && eval "$commands"\n'},
    )
    assert answer.last.get("end") is True, answer.last
    return answer.lines


def test_what_a_validator_leaves_is_its_own_failure(plain_box: Box, program: Callable[..., Path]) -> None:
    """A link, a directory or a FIFO in place of a file that counts makes this test JE, and no other. The score of an
    output that is rejected does not count.
    """
    lines = lines_of_validators(plain_box, program, *LEFT, "true", "mkdir score.txt; exit 43")
    judged = [(entry["verdict"], entry.get("program"), entry.get("explanation")) for entry in lines]
    assert judged == [*(("JE", "checker", why) for why in LEFT.values()), ("AC", None, None), ("WA", None, None)]


def test_an_unreadable_file_of_a_validator_is_its_own_failure(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """A file that its mode forbids to read makes this test JE, and no other. (A runner that is root can read it.)"""
    names = ("score.txt", "nextpass.in", "judgemessage.txt")
    lines = lines_of_validators(
        boxes("fds-reduced-user"), program, *(f"echo 1 > {name}; chmod 0 {name}" for name in names), "true"
    )
    reasons = [entry.get("explanation") for entry in lines]
    assert reasons == [*(f"its {name} cannot be opened: Permission denied" for name in names), None]
    assert [entry["verdict"] for entry in lines] == ["JE"] * 3 + ["AC"]
