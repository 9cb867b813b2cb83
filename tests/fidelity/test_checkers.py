"""The exact rules of checkers: how each protocol reports with exit code, output and files, and what is not a score.

The checker is a script that executes the commands in the test's input. The submission prints one line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.model import Batch, CheckerProtocol, JudgeProgram, SourceFile, Verdict
from tests.fidelity.managers import Case, wrong

PROGRAM = '#include <cstdio>\nint main() { std::puts("printed"); }'
CHECKER = SourceFile(path="checker/checker.sh", content=b"#!/bin/bash\n. ./input.txt\n")
JE, AC, PA, WA = Verdict.JE, Verdict.AC, Verdict.PA, Verdict.WA


def checked_by(protocol: CheckerProtocol, args: tuple[str, ...] = ()) -> Batch:
    """Batch with the checker."""
    return Batch(check=JudgeProgram(source=CHECKER, protocol=protocol, args=args))


def mismatches(full_bench: Any, problem_from: Any, protocol: CheckerProtocol, cases: dict[str, Case]) -> list[str]:
    """Run all cases. Returns descriptions of those with another outcome than expected."""
    tests = {name: (case.commands.encode(), b"expected\n") for name, case in cases.items()}
    problem = problem_from(tests, method=checked_by(protocol))
    return wrong(cases, full_bench.outcomes(problem, PROGRAM), "checker")


def prints(text: str) -> str:
    """The command of a checker that prints exactly this text."""
    return f"printf '%b' '{text}'"


SCORES = {
    "1": (AC, 1.0),
    "1\\n": (AC, 1.0),
    "1.0\\n": (AC, 1.0),
    "1.0000\\n": (AC, 1.0),
    " 1 \\n": (AC, 1.0),
    "\\t1\\r\\n": (AC, 1.0),
    "+1": (AC, 1.0),
    "1e0": (AC, 1.0),
    "0.1E1": (AC, 1.0),
    "0": (WA, 0.0),
    "0.0000\\n": (WA, 0.0),
    "-0": (WA, 0.0),
    "1e-400": (WA, 0.0),
    "0.5": (PA, 0.5),
    ".5": (PA, 0.5),
    "0.99996\\n": (PA, 0.99996),
    "0.9999999999\\n": (PA, 0.9999999999),
    "1e-5\\n": (PA, 1e-5),
    "5E-1": (PA, 0.5),
    "0.25\\n1\\n": (PA, 0.25),
    "0.25\\r\\nignored": (PA, 0.25),
    "": (JE, None),
    "\\n": (JE, None),
    "\\n1\\n": (JE, None),
    "nan": (JE, None),
    "inf": (JE, None),
    "-inf": (JE, None),
    "-0.1": (JE, None),
    "-1e-9": (JE, None),
    "1.0001": (JE, None),
    "1.00000000001": (JE, None),
    "2": (JE, None),
    "100": (JE, None),
    "1e400": (JE, None),
    "1 extra": (JE, None),
    "1,0": (JE, None),
    "1_0": (JE, None),
    "1\\0000": (JE, None),
    "1.0.0": (JE, None),
    "1e": (JE, None),
    ".": (JE, None),
    "0x1": (JE, None),
    "0x1p-1": (JE, None),
    "OK": (JE, None),
    "٠.5": (JE, None),
    "1" + " " * 4000 + "\\n": (AC, 1.0),
    "1" + " " * 4094 + "\\nextra": (AC, 1.0),
    "1" + " " * 5000 + "extra": (JE, None),
    "0." + "0" * 5000 + "1\\n": (JE, None),
}


def test_cms_score_is_the_first_line_of_stdout(full_bench: Any, problem_from: Any) -> None:
    """The score is a decimal number in [0, 1], perhaps with blanks around it. Anything else is JE, not a score."""
    cases = {
        f"{place:02}": Case(prints(text), verdict, score, "score" if verdict is JE else "")
        for place, (text, (verdict, score)) in enumerate(SCORES.items())
    }
    assert mismatches(full_bench, problem_from, CheckerProtocol.CMS, cases) == []


def test_cms_message_is_the_first_line_of_stderr(full_bench: Any, problem_from: Any) -> None:
    """CMS's three names of standard texts are replaced by the texts. All other bytes are kept."""
    cases = {
        "plain": Case("echo 1; echo well done >&2", AC, 1.0, "well done"),
        "first line": Case("echo 0; printf ' no \\nmore\\n' >&2", WA, 0.0, "no"),
        "success": Case("echo 1; echo translate:success >&2", AC, 1.0, "Output is correct"),
        "partial": Case("echo 0.5; echo translate:partial >&2", PA, 0.5, "Output is partially correct"),
        "wrong": Case("echo 0; echo 'translate: wrong' >&2", WA, 0.0, "Output isn't correct"),
        "unknown": Case("echo 0; echo translate:other >&2", WA, 0.0, "translate:other"),
        "utf-8": Case("echo 0; echo größer >&2", WA, 0.0, "größer"),
        "not utf-8": Case("echo 0; printf 'a\\377b\\n' >&2", WA, 0.0, "a\ufffdb"),
        "quotes": Case("echo 0; printf '\"\\\\\\t{}\\n' >&2", WA, 0.0, '"\\\t{}'),
    }
    assert mismatches(full_bench, problem_from, CheckerProtocol.CMS, cases) == []


def test_cms_checker_that_fails_is_at_fault(full_bench: Any, problem_from: Any) -> None:
    """A non-zero exit code, a signal, too much CPU time or idle time is JE, whatever the checker has printed."""
    cases = {
        "exit 1": Case("echo 1; exit 1", JE, None, "exit code 1"),
        "exit 255": Case(
            "echo 1; echo why >&2; exit 255", JE, None, "exit code 255, which protocol cms does not have: why"
        ),
        "segfault": Case("echo 1; kill -SEGV $$", JE, None, "signal 11"),
        "aborted": Case("echo 1; kill -ABRT $$", JE, None, "signal 6"),
        "busy": Case("echo 1; while :; do :; done", JE, None, "over its"),
        "hangs": Case("echo 1; exec sleep 1000", JE, None, "over its"),
    }
    assert mismatches(full_bench, problem_from, CheckerProtocol.CMS, cases) == []


def test_a_checker_in_c_is_compiled_as_c(full_bench: Any, problem_from: Any) -> None:
    """With names that are keywords in C++, and with its headers."""
    source = b'#include "half.h"\nint main(void) { double class = half(); printf("%.2f\\n", sqrt(class * class)); }\n'
    header = b"#include <stdio.h>\n#include <math.h>\nstatic double half(void) { return 0.5; }\n"
    checker = JudgeProgram(
        source=SourceFile(path="checker/checker.c", content=source),
        files=(SourceFile(path="checker/half.h", content=header),),
    )
    problem = problem_from({"any": (b"", b"")}, method=Batch(check=checker))
    assert [(test.verdict, test.score) for test in full_bench.outcomes(problem, "int main() {}").values()] == [
        (PA, 0.5)
    ]


def test_cms_checker_gets_three_files(full_bench: Any, problem_from: Any) -> None:
    """The arguments are input, answer and output; stdin is empty."""
    files = 'cmp "$1" input.txt && [ "$(cat "$2")" = expected ] && [ "$(cat "$3")" = printed ]'
    cases = {
        "contents": Case(f"{files} && echo 1", AC, 1.0),
        "names": Case('[ "$*" = "input.txt correct_output.txt output.txt" ] && echo 1', AC, 1.0),
        "stdin": Case('[ -z "$(cat)" ] && echo 1', AC, 1.0),
        "own directory": Case("echo scratch > notes && [ -s notes ] && echo 1", AC, 1.0),
        "clean directory": Case("[ ! -e notes ] && echo 1", AC, 1.0),
    }
    assert mismatches(full_bench, problem_from, CheckerProtocol.CMS, cases) == []


@pytest.mark.parametrize("protocol", [protocol for protocol in CheckerProtocol if protocol.has_program])
def test_checker_arguments_follow_the_files(full_bench: Any, problem_from: Any, protocol: CheckerProtocol) -> None:
    """Arguments of the test come after the files, with any characters. Source: Kattis, `validator_flags`."""
    code = 42 if protocol is CheckerProtocol.KATTIS else 0
    commands = f'[ "$4|$5|$6|$7|$#" = "float_tolerance|1e-6|a b,c%||7" ] && echo 1 && exit {code}; exit 3'
    arguments = ("float_tolerance", "1e-6", "a b,c%", "")
    tests = {"a": (commands.encode(), b"")}
    problem = problem_from(tests, method=checked_by(protocol, args=arguments))
    assert full_bench.outcomes(problem, PROGRAM)["a"].verdict is AC


def test_test_without_answer_has_an_empty_one(full_bench: Any, problem_from: Any) -> None:
    """The checker gets an empty answer file, because checkers open all three files even if they do not need them."""
    problem = problem_from({"a": (b"[ -e $2 ] && [ ! -s $2 ] && echo 1", None)}, method=checked_by(CheckerProtocol.CMS))
    assert full_bench.outcomes(problem, PROGRAM)["a"].verdict is AC


def test_testlib_exit_codes(full_bench: Any, problem_from: Any) -> None:
    """0 is AC; 1, 2, 4 and 8 are WA; 7 is a score in points; all others are JE, also 3, testlib's own failure."""
    cases = {f"exit {code}": Case(f"echo no >&2; exit {code}", WA, 0.0, "no") for code in (1, 2, 4, 8)}
    cases |= {f"exit {code}": Case(f"exit {code}", JE, None, f"exit code {code}") for code in (3, 5, 6, 9, 16, 50, 116)}
    cases |= {
        "exit 0": Case("echo ok 3 numbers >&2", AC, 1.0, "ok 3 numbers"),
        "stdout is not read": Case("echo 0", AC, 1.0),
        "crash": Case("kill -SEGV $$", JE, None, "signal 11"),
        "points": Case("echo points 0.3 nearly >&2; exit 7", PA, 0.3, "points 0.3 nearly"),
        "all points": Case("echo points 1 >&2; exit 7", AC, 1.0),
        "no points": Case("echo points 0.0 >&2; exit 7", WA, 0.0),
        "points of 100": Case("echo points 30 >&2; exit 7", JE, None, "30"),
        "points missing": Case("echo nearly >&2; exit 7", JE, None, "score"),
        "partially": Case("echo 'partially correct (0) half' >&2; exit 0", JE, None, "partially correct (0)"),
        "partially, as wrong": Case("echo 'partially correct (1) half' >&2; exit 1", JE, None, "partially correct (1)"),
        "points nan": Case("echo points nan >&2; exit 7", JE, None, "nan"),
        "order of files": Case(
            '[ "$(cat "$2")" = printed ] && [ "$(cat "$3")" = expected ] && cmp $1 input.txt || exit 3', AC, 1.0
        ),
    }
    assert mismatches(full_bench, problem_from, CheckerProtocol.TESTLIB, cases) == []


def test_kattis_exit_codes_and_files(full_bench: Any, problem_from: Any) -> None:
    """42 accepts, 43 rejects, all others are JE, also 0. The feedback directory exists, and its path ends with `/`.

    Source: Kattis problem package format, "Output Validators".
    """
    cases = {f"exit {code}": Case(f"exit {code}", JE, None, f"exit code {code}") for code in (0, 1, 2, 41, 44, 134)}
    cases |= {
        "accepts": Case("exit 42", AC, 1.0, ""),
        "rejects": Case("exit 43", WA, 0.0, ""),
        "killed": Case("kill -SEGV $$", JE, None, "signal 11"),
        "message": Case("echo '  line 3: 5 is not 6 ' > ${3}judgemessage.txt; exit 43", WA, 0.0, "line 3: 5 is not 6"),
        "score": Case("echo 0.25 > ${3}score.txt; exit 42", PA, 0.25, ""),
        "full score": Case("printf 1.0 > ${3}score.txt; exit 42", AC, 1.0, ""),
        "score of rejected": Case("echo 0.5 > ${3}score.txt; exit 43", WA, 0.0, ""),
        "score above 1": Case("echo 50 > ${3}score.txt; exit 42", JE, None, "50"),
        "score of words": Case("echo half > ${3}score.txt; exit 42", JE, None, "half"),
        "empty score": Case(": > ${3}score.txt; exit 42", JE, None, "score"),
        "long score": Case("printf '1%5000s' x > ${3}score.txt; exit 42", JE, None, "not a score"),
        "part": Case("echo 0.25 > ${3}score_multiplier.txt; exit 42", PA, 0.25, ""),
        "all parts": Case("echo 1 > ${3}score_multiplier.txt; exit 42", AC, 1.0, ""),
        "part of rejected": Case("echo 0.5 > ${3}score_multiplier.txt; exit 43", WA, 0.0, ""),
        "part above 1": Case("echo 1.5 > ${3}score_multiplier.txt; exit 42", JE, None, "1.5"),
        "score and part": Case("echo 1 | tee ${3}score.txt > ${3}score_multiplier.txt; exit 42", JE, None, "both"),
        "directory": Case('[ -d "$3" ] && [ "${3: -1}" = / ] && [ -z "$(ls "$3")" ] && exit 42', AC, 1.0),
        "stdin is the output": Case('[ "$(cat)" = printed ] && exit 42', AC, 1.0),
        "files": Case('cmp "$1" input.txt && [ "$(cat "$2")" = expected ] && [ $# = 3 ] && exit 42', AC, 1.0),
    }
    assert mismatches(full_bench, problem_from, CheckerProtocol.KATTIS, cases) == []


@pytest.mark.parametrize("name", ["score.txt", "nextpass.in"])
def test_unreadable_feedback_file_is_a_judge_error(full_bench: Any, problem_from: Any, name: str) -> None:
    """A file that cannot be read is JE. If it counted as absent, the test would get full marks."""
    commands = f"ln -s {name} ${{3}}{name}; [ -L ${{3}}{name} ] && exit 42; exit 43"
    method = replace(checked_by(CheckerProtocol.KATTIS), passes=2)
    problem = problem_from({"a": (commands.encode(), b"")}, method=method)
    outcome = full_bench.outcomes(problem, PROGRAM)["a"]
    assert (outcome.verdict, outcome.score) == (JE, None)
    assert f"its {name} cannot be opened" in outcome.message


@pytest.mark.parametrize("protocol", [protocol for protocol in CheckerProtocol if protocol.has_program])
def test_failed_program_is_not_checked(full_bench: Any, problem_from: Any, protocol: CheckerProtocol) -> None:
    """A program that fails gets RE and 0, even if the checker would accept its output."""
    cases = {"crash": b"echo 1; [ $3 = feedback/ ] && exit 42; exit 0"}
    problem = problem_from({name: (commands, b"") for name, commands in cases.items()}, method=checked_by(protocol))
    outcome = full_bench.outcomes(problem, '#include <cstdio>\nint main() { std::puts("printed"); return 1; }')["crash"]
    assert (outcome.verdict, outcome.score, outcome.exit_code) == (Verdict.RE, 0.0, 1)
