"""Our own pair of scripts, in real boxes, with the runner and without: the same rules either way."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from own_pair import CASE, PLAIN, SUM, Boxes, judged, with_checker

from ioi_eval import sample
from ioi_eval.jobs import classic
from ioi_eval.jobs.classic_answer import compile_outcome, score_and_feedback
from ioi_eval.jobs.classic_answer import test_outcome as outcome_of
from ioi_eval.model import Blob, CheckerProtocol, JobFile

SOLUTIONS: dict[str, dict[str, Any]] = {
    f"{row['problem_id']}/{row['label']}": row for row in map(json.loads, sample.solutions().open(encoding="utf-8"))
}


@pytest.mark.parametrize(
    ("label", "test", "verdict"),
    [
        ("berths/model_solution/heap.cpp", "0-01", "AC"),
        ("berths/partially_correct/one-each.cpp", "0-01", "PA"),
        ("berths/incorrect/one-for-all.cpp", "0-01", "WA"),
        ("berths/output_limit/flood.cpp", "0-01", "OLE"),
        ("berths/time_limit/exhaustive.cpp", "2-01", "TLE"),
        ("buoys/memory_limit/second-by-second.cpp", "2-01", "MLE"),
        ("buoys/runtime_error/gives-up.cpp", "0-01", "RE"),
        ("buoys/correct/ragged-blanks.cpp", "0-01", "AC"),
        ("lamps/model_solution/halving.cpp", "0-01", "AC"),
        ("lamps/protocol_violation/goes-home.cpp", "0-01", "WA"),
        ("lamps/runtime_error/last-lamp.cpp", "0-01", "RE"),
        ("lamps/time_limit/waits-for-more.cpp", "0-01", "TLE"),
        ("keepers/model_solution/halving.cpp", "0-01", "AC"),
        ("keepers/incorrect/shared-notebook.cpp", "0-01", "WA"),
        ("keepers/memory_limit/second-keeper.cpp", "2-01", "MLE"),
        ("keepers/runtime_error/second-keeper.cpp", "2-01", "RE"),
        ("keepers/compile_error/two-arguments.cpp", "0-01", "CE"),
    ],
)
def test_sample_solutions(boxes: Boxes, runner: Blob | None, label: str, test: str, verdict: str) -> None:
    """Every verdict of the sample contest, in both kinds of tasks, is the bundled profile's."""
    problem = boxes.contest[label.split("/", maxsplit=1)[0]]
    found, score, message = judged(boxes, runner, problem, SOLUTIONS[label]["code"], problem.tests[test])
    assert found == verdict, message
    assert score == {"AC": 1.0, "PA": 0.7, "CE": None}.get(verdict, 0.0)


@pytest.mark.parametrize(
    ("source", "protocol", "found"),
    [
        ('int main() { puts(" 0.25 "); fputs("half\\nmore", stderr); }', "cms", ("PA", 0.25, "half")),
        ('int main() { puts("1"); fputs("translate:success", stderr); }', "cms", ("AC", 1.0, "Output is correct")),
        (
            'int main() { puts("0"); fputs("na\\xc3\\xafve \\"\\\\n\\" %d", stderr); }',
            "cms",
            ("WA", 0.0, 'naïve "\\n" %d'),
        ),
        ("int main() { return 1; }", "testlib", ("WA", 0.0, "")),
        ('int main() { fputs("points 0.5", stderr); return 7; }', "testlib", ("PA", 0.5, "points 0.5")),
        ("int main() { return 42; }", "kattis", ("AC", 1.0, "")),
        ("int main() { return 43; }", "kattis", ("WA", 0.0, "")),
    ],
)
def test_checker_protocols(
    boxes: Boxes, runner: Blob | None, source: str, protocol: str, found: tuple[str, float, str]
) -> None:
    """Score and message of a checker, in each protocol."""
    assert judged(boxes, runner, with_checker(source, CheckerProtocol(protocol)), SUM) == found


def test_checker_gets_input_answer_and_output(boxes: Boxes, runner: Blob | None) -> None:
    """In CMS's order, each as it is."""
    source = """int main(int, char **argv) {
        int a, b, right, said;
        FILE *in = fopen(argv[1], "r"), *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
        if (fscanf(in, "%d %d", &a, &b) != 2 || fscanf(answer, "%d", &right) != 1) return 1;
        if (fscanf(output, "%d", &said) != 1) return 1;
        puts(a == 20 && b == 22 && right == 42 && said == -2 ? "1" : "0");
    }"""
    assert judged(boxes, runner, with_checker(source), SUM.replace("a + b", "a - b"))[:2] == ("AC", 1.0)


@pytest.mark.parametrize("answer", [None, b"", b"\n\n"])
def test_no_expected_output_is_an_empty_one(boxes: Boxes, runner: Blob | None, answer: bytes | None) -> None:
    """A program that prints 1 does not get 1 for it, as it does from the stock pair."""
    case = dataclasses.replace(CASE, answer=answer)
    prints_one = '#include <cstdio>\nint main() { puts("1"); }\n'
    assert judged(boxes, runner, PLAIN, prints_one, case)[:2] == ("WA", 0.0)
    assert judged(boxes, runner, PLAIN, "int main() {}", case)[:2] == ("AC", 1.0)


def test_files_by_name(boxes: Boxes) -> None:
    """With the runner they are judged; without it they are refused, which is no score."""
    problem = dataclasses.replace(PLAIN, input_file="sum.in", output_file="sum.out")
    code = SUM.replace("int a, b;", 'int a, b; freopen("sum.in", "r", stdin); freopen("sum.out", "w", stdout);')
    job = classic.job(problem, CASE, code, pair=classic.own_pair(), runner=boxes.runner)
    assert score_and_feedback(boxes.execute(job)) == ("1\n", "Output is correct\n")
    job = classic.job(problem, CASE, SUM, pair=classic.own_pair(), runner=boxes.runner)
    assert score_and_feedback(boxes.execute(job))[0] == "0\n"
    outcome = compile_outcome(boxes.execute(classic.job(problem, CASE, code, pair=classic.own_pair())))
    assert (outcome.verdict, outcome.final) == ("JE", False)
    assert "programs that use files by name (sum.in) are judged with the runner only" in outcome.message


def test_a_time_over_the_limit_is_told(boxes: Boxes) -> None:
    """By the runner: so much, and what the output would have been worth."""
    code = "#include <ctime>\n" + SUM.replace("if (", "while (clock() < CLOCKS_PER_SEC / 4) {} if (")
    problem = dataclasses.replace(PLAIN, time_limit_s=0.2)
    execution = boxes.execute(classic.job(problem, CASE, code, pair=classic.own_pair(), runner=boxes.runner))
    outcome = outcome_of(execution, CASE.name)
    assert (outcome.verdict.value, outcome.in_time_score, outcome.limit) == ("TLE", 1.0, "cpu"), outcome
    assert outcome.cpu_ms is not None
    assert outcome.cpu_ms >= 200


def test_a_program_that_slept_is_told_of(boxes: Boxes) -> None:
    """Its time says nothing of what it would have been worth: it is not run again."""
    code = "#include <unistd.h>\nint main() { pause(); }"
    problem = dataclasses.replace(PLAIN, time_limit_s=0.2)
    execution = boxes.execute(classic.job(problem, CASE, code, pair=classic.own_pair(), runner=boxes.runner))
    outcome = outcome_of(execution, CASE.name)
    assert (outcome.verdict.value, outcome.limit, outcome.may_be_in_time) == ("TLE", "idle", False), outcome


def test_pages_give_no_more_time(boxes: Boxes) -> None:
    """A server may allow so little that a program with much memory would outlast it, which would be no verdict."""
    pages = "munmap(mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), 1 << 20);"
    code = f"#include <sys/mman.h>\nint main() {{ for (;;) {pages} }}"
    problem = dataclasses.replace(PLAIN, time_limit_s=0.2, memory_limit_bytes=2 << 30)
    execution = boxes.execute(classic.job(problem, CASE, code, pair=classic.own_pair(), runner=boxes.runner))
    outcome = outcome_of(execution, CASE.name)
    assert (outcome.verdict.value, outcome.in_time_score) == ("TLE", None), outcome
    assert outcome.cpu_ms is not None
    assert outcome.cpu_ms < 1500


def test_the_problem_s_own_standard(boxes: Boxes) -> None:
    """C++20 where the problem says so."""
    code = '#include <compare>\n#include <cstdio>\nint main() { puts((1 <=> 2) < 0 ? "42" : ""); }\n'
    assert judged(boxes, None, PLAIN, code)[0] == "CE"
    assert judged(boxes, None, dataclasses.replace(PLAIN, cxx_std="gnu++20"), code)[0] == "AC"


def test_a_checker_is_compiled_to_its_contest_s_standard(boxes: Boxes) -> None:
    """As in the bundled profile, also where submissions are compiled to another one."""
    source = '#include <cstdio>\n#include <span>\nint main() { int one = 1; printf("%d", std::span(&one, 1)[0]); }\n'
    problem = dataclasses.replace(with_checker(source, CheckerProtocol.CMS), cxx_std="gnu++20")
    assert judged(boxes, boxes.runner, problem, SUM)[0] == "AC"
    older = classic.to_standard(problem, "gnu++17")
    for judge_std, compiles in (("gnu++20", True), (None, False)):
        job = classic.job(older, CASE, SUM, pair=classic.own_pair(), runner=boxes.runner, judge_std=judge_std)
        assert (compile_outcome(boxes.execute(job)).verdict is None) == compiles


def test_the_pair_travels_in_a_classic_job() -> None:
    """`compile`, `run` and the runner lie beside the test, the runner executable."""
    job = classic.job(PLAIN, CASE, SUM, pair=classic.own_pair(), runner=b"ELF")
    files = {file.name: file for file in job.files}
    assert {"compile", "run", "runner"} <= set(files)
    assert files["runner"] == JobFile(name="runner", content=b"ELF", executable=True)
    assert classic.own_pair()[0].startswith(b"#!/usr/bin/env bash\n")
