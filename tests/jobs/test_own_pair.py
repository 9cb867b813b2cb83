"""Our own pair of scripts in real boxes: verdicts by the rules of our runner, in the format of huggingface/ioi."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest

from ioi_eval import boxfiles, sample
from ioi_eval.errors import SandboxError
from ioi_eval.jobs import scripts_job
from ioi_eval.jobs.scripts_answer import require_judged, score_and_feedback
from ioi_eval.model import Batch, CheckerProtocol, JobFile, JudgeProgram, SourceFile
from tests.jobs.own_pair import (
    CASE,
    PLAIN,
    SUM,
    Boxes,
    judged,
    judged_job,
    pair_job,
    says_its_plan,
    with_checker,
    with_file,
)

SOLUTIONS: dict[str, dict[str, Any]] = {
    f"{row['problem_id']}/{row['label']}": row for row in map(json.loads, sample.solutions().open(encoding="utf-8"))
}


@pytest.mark.parametrize(
    ("label", "test", "verdict"),
    [
        ("berths/output_limit/flood.cpp", "0-01", "OLE"),
        ("buoys/time_limit/flash-by-flash.cpp", "3-01", "TLE"),
        ("buoys/memory_limit/second-by-second.cpp", "2-01", "MLE"),
        ("buoys/runtime_error/gives-up.cpp", "0-01", "RE"),
        ("buoys/correct/ragged-blanks.cpp", "0-01", "AC"),
        ("lamps/model_solution/halving.cpp", "0-01", "AC"),
        ("lamps/protocol_violation/goes-home.cpp", "0-01", "WA"),
        ("lamps/time_limit/waits-for-more.cpp", "0-01", "TLE"),
        ("keepers/model_solution/halving.cpp", "0-01", "AC"),
        ("keepers/memory_limit/second-keeper.cpp", "2-01", "MLE"),
        ("keepers/runtime_error/second-keeper.cpp", "2-01", "RE"),
    ],
)
def test_sample_solutions(boxes: Boxes, label: str, test: str, verdict: str) -> None:
    """Each verdict of a program that runs, in both task types, equals that of the bundled profile.

    Each job compiles all programs again. So WA and PA in Batch tasks, and CE, are left to the tests of small programs.
    """
    problem = boxes.contest[label.split("/", maxsplit=1)[0]]
    found, score, message = judged(boxes, problem, SOLUTIONS[label]["code"], problem.tests[test])
    assert found == verdict, message
    assert score == (verdict == "AC")


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
def test_checker_protocols(boxes: Boxes, source: str, protocol: str, found: tuple[str, float, str]) -> None:
    """The score and message of a checker, for each protocol."""
    assert judged(boxes, with_checker(source, CheckerProtocol(protocol)), SUM) == found


def test_every_checker_protocol_is_known() -> None:
    """Only `tokens` is refused: its flags have no place in the configuration."""
    known = re.search(r"checker_protocol =~ \^\(([^)]*)\)\$ ]] [|]{2} fail", boxfiles.read("compile").decode())
    assert known is not None
    assert {*known[1].split("|"), CheckerProtocol.TOKENS} == set(CheckerProtocol)


def test_checker_gets_input_answer_and_output(boxes: Boxes) -> None:
    """In the order of CMS, each unchanged."""
    source = """int main(int, char **argv) {
        int a, b, right, said;
        FILE *in = fopen(argv[1], "r"), *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
        if (fscanf(in, "%d %d", &a, &b) != 2 || fscanf(answer, "%d", &right) != 1) return 1;
        if (fscanf(output, "%d", &said) != 1) return 1;
        puts(a == 20 && b == 22 && right == 42 && said == -2 ? "1" : "0");
    }"""
    assert judged(boxes, with_checker(source), SUM.replace("a + b", "a - b"))[:2] == ("AC", 1.0)


@pytest.mark.parametrize("answer", [b"\n", b"\n\n"])
def test_an_empty_expected_output(boxes: Boxes, answer: bytes) -> None:
    """The program must print nothing. One that prints 1 gets 0; with the stock pair it gets 1."""
    case = dataclasses.replace(CASE, answer=answer)
    prints_one = '#include <cstdio>\nint main() { puts("1"); }\n'
    assert judged(boxes, PLAIN, prints_one, case)[:2] == ("WA", 0.0)
    assert judged(boxes, PLAIN, "int main() {}", case)[:2] == ("AC", 1.0)


def test_an_empty_text_is_an_expected_output() -> None:
    """An empty text means that nothing is to be printed. Only our own scripts can distinguish it from no expected
    output.
    """
    ours = scripts_job.own_files(b"")
    row = {"id": "sum", "time_limit": 1, "memory_limit": 1 << 28, "grader_files": []}
    for beside, output, there in ((ours, "", True), (ours, None, False), (None, "", False)):
        job = scripts_job.row_job(row, "", SUM, output, beside=beside)
        assert ("correct_output.txt" in {file.name for file in job.files}) is there


def test_a_program_that_prints_no_score(boxes: Boxes) -> None:
    """The score is 0 with the feedback of the reference's clients. It is no failure of ours."""
    execution = boxes.execute(pair_job(boxes, PLAIN, "int main() {}", dataclasses.replace(CASE, answer=None)))
    require_judged(execution)
    assert score_and_feedback(execution) == ("0", "Unknown error")


def test_without_an_expected_output_the_program_s_own_is_the_score(boxes: Boxes) -> None:
    """Source: the reference's `run`."""
    job = pair_job(boxes, PLAIN, SUM, dataclasses.replace(CASE, answer=None))
    assert score_and_feedback(boxes.execute(job)) == ("42\n", "")


def test_files_by_name(boxes: Boxes) -> None:
    """Input and output of the program are files if the configuration names them."""
    problem = dataclasses.replace(PLAIN, method=Batch(input_file="sum.in", output_file="sum.out"))
    code = SUM.replace("int a, b;", 'int a, b; freopen("sum.in", "r", stdin); freopen("sum.out", "w", stdout);')
    assert judged(boxes, problem, code) == ("AC", 1.0, "Output is correct")
    assert judged(boxes, problem, SUM)[1] == 0.0


def test_headers_in_directories(boxes: Boxes) -> None:
    """As in the bundled profile, headers are included from directories, and may include files with other endings. A
    program sees no other file of the problem. The script needs no `realpath`, which has other options in BusyBox.
    """
    hidden = ("lib/f.cpp", "lib/answers", "lib/testlib.h", "manager_data.inc", "grader.java", "grader.cpp")

    def file(path: str, text: str) -> SourceFile:
        return SourceFile(path=path, content=text.encode())

    checker = JudgeProgram(
        source=file("checker/checker.cpp", '#include <cstdio>\n#include "lib/one.h"\nint main() { puts(kOne); }'),
        files=(file("checker/lib/one.h", 'const char* kOne = "1";'),),
    )
    problem = dataclasses.replace(
        PLAIN,
        method=Batch(check=checker),
        linked=(file("graders/grader.cpp", '#include "lib/f.h"\n#include "g.tpp"\nint main() { return f() + g(); }'),),
        headers=(
            file("graders/lib/f.h", '#pragma once\n#include "part.inc"\n#include "../up.inc"\n#include "f.h"\n'),
            file("graders/lib/part.inc", "int f();\n"),
            file("graders/up.inc", "\n"),
            file("graders/g.tpp", "static int g() { return 0; }\n"),
            *(file(f"graders/{name}", " ") for name in hidden[:-1]),
        ),
    )
    asked = "".join(f'#if __has_include("{name}")\n#error found {name}\n#endif\n' for name in hidden)
    code = f'{asked}#include "lib/part.inc"\n#include "g.tpp"\nint f() {{ return g(); }}'
    script = boxfiles.read("compile").replace(b"umask 077\n", b"umask 077\nrealpath() { return 1; }\n")
    found = judged_job(boxes, with_file(pair_job(boxes, problem, code), "compile", script))
    assert found[:2] == ("AC", 1.0), found


def test_page_faults_give_no_more_time(boxes: Boxes) -> None:
    """A server may allow so little time that a program with much memory would exceed the server's limit, which gives no
    verdict.
    """
    pages = "munmap(mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), 1 << 20);"
    code = f"#include <sys/mman.h>\nint main() {{ for (;;) {pages} }}"
    problem = dataclasses.replace(PLAIN, time_limit_s=0.2, memory_limit_bytes=2 << 30)
    assert judged(boxes, problem, code)[0] == "TLE"
    plan = boxes.execute(says_its_plan(pair_job(boxes, problem, code))).run.stderr
    assert " job_wall_ms=0" in plan


def test_the_problem_s_own_standard(boxes: Boxes) -> None:
    """The problem requires C++20."""
    code = '#include <cstdio>\nint main() { puts(__cplusplus > 201703 ? "42" : "17"); }\n'
    assert judged(boxes, PLAIN, code)[0] == "WA"
    assert judged(boxes, dataclasses.replace(PLAIN, cxx_std="gnu++20"), code)[0] == "AC"


def test_a_checker_is_compiled_to_its_contest_s_standard(boxes: Boxes) -> None:
    """As in the bundled profile, also if submissions are compiled to another standard."""
    source = 'static_assert(__cplusplus > 201703, "C++20");\nint main() { puts("1"); }\n'
    problem = with_checker(source, CheckerProtocol.CMS)
    assert judged(boxes, problem, SUM, judge_cxx_std="gnu++20")[0] == "AC"
    with pytest.raises(SandboxError, match="the checker does not compile"):
        judged(boxes, problem, SUM)


def test_a_checker_in_c_is_refused(boxes: Boxes) -> None:
    """The pair compiles judge programs in C++ only, and would compare outputs itself if it found no checker."""
    checker = SourceFile(path="checker/checker.c", content=b"int main(void) { return 0; }\n")
    problem = dataclasses.replace(PLAIN, method=Batch(check=JudgeProgram(source=checker)))
    with pytest.raises(SandboxError, match="a checker in C is not supported here"):
        judged(boxes, problem, SUM)


def test_a_manager_in_c_is_refused_where_one_is_needed(boxes: Boxes) -> None:
    """By that reason. A task of another type does not use it."""
    manager = SourceFile(path="graders/manager.c", content=b"int main(void) { return 0; }\n")
    problem = dataclasses.replace(PLAIN, headers=(manager,))
    with pytest.raises(SandboxError, match="a manager in C is not supported here"):
        judged(boxes, problem, SUM, task_type="Communication")
    assert judged(boxes, problem, SUM)[0] == "AC"


def test_the_pair_is_in_the_job() -> None:
    """`compile`, `run` and the runner are beside the test. The runner is executable."""
    row = {"id": "Sum", "time_limit": 1, "memory_limit": 1 << 26, "grader_files": []}
    files = {
        file.name: file for file in scripts_job.row_job(row, "", SUM, "", beside=scripts_job.own_files(b"ELF")).files
    }
    assert {"compile", "run", "compiler_files"} <= set(files)
    assert files["runner"] == JobFile(name="runner", content=b"ELF", executable=True)
