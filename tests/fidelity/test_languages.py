"""Submissions in the languages that a row can name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.model import (
    Batch,
    CheckerProtocol,
    Communication,
    Interactive,
    JudgeProgram,
    Language,
    ProcessIO,
    SourceFile,
    Submission,
    Tokens,
    Verdict,
)

ONLY_C = """
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
int main(void) {
  int *class = malloc(sizeof(int)), (*template)(void) = 0;
  if (scanf("%d", class) != 1) return 1;
  printf("%.0f\\n", sqrt((double)*class));
  return template != 0;
}
"""


def test_c_is_compiled_as_c(full_bench: Any, problem_from: Any) -> None:
    """The program uses names that are keywords in C++, and converts a void pointer without a cast."""
    problem = problem_from({"four": (b"4\n", b"2\n"), "nine": (b"9\n", b"4\n")}, method=Batch(check=Tokens()))
    judged = full_bench.result(problem, ONLY_C, Language.C)
    assert [subtask.verdict for subtask in judged.subtasks] == [Verdict.AC, Verdict.WA]
    assert full_bench.result(problem, ONLY_C).compile.verdict is Verdict.CE


def test_cpp_does_not_compile_as_c(full_bench: Any, problem_from: Any) -> None:
    """A C++ program whose row says C does not compile."""
    problem = problem_from({"one": (b"", b"1\n")})
    judged = full_bench.result(problem, "#include <vector>\nint main() {}", Language.C)
    assert judged.compile.verdict is Verdict.CE


def test_c_is_linked_with_a_grader_in_c(full_bench: Any, problem_from: Any) -> None:
    """A C program is linked with the grader in C, and a C++ program with the grader in C++ of the same task."""
    graders = {
        "graders/grader.c": b'#include <stdio.h>\nint half(int);\nint main(void) { printf("C %d\\n", half(9)); }',
        "graders/grader.cpp": b'#include <cstdio>\nint half(int);\nint main() { std::printf("C++ %d\\n", half(9)); }',
    }
    linked = tuple(SourceFile(path=path, content=content) for path, content in graders.items())
    problem = problem_from({"c": (b"", b"C 4\n"), "cpp": (b"", b"C++ 4\n")}, linked=linked)
    verdicts = {
        language: [subtask.verdict for subtask in full_bench.result(problem, CODE, language).subtasks]
        for language, CODE in (
            (Language.C, "int half(int new) { return new / 2; }"),
            (Language.CPP, "int half(int x) { return x / 2; }"),
        )
    }
    assert verdicts == {Language.C: [Verdict.AC, Verdict.WA], Language.CPP: [Verdict.WA, Verdict.AC]}


# --------------------------------------------------------------------------- Python

PYTHON_BATCH = """
word = input()
if word == "loop":
    while True:
        pass
if word == "grow":
    grown = bytearray(200 << 20)
print({"right": 42, "wrong": 41}[word])
"""


def test_python_is_judged_as_compiled_programs_are(bench: Any, problem_from: Any) -> None:
    """Python programs get the same verdicts, and the result names the interpreter; with a checker, at both levels."""
    checker = SourceFile(
        path="checker/checker.sh",
        content=b'#!/bin/sh\nread -r line < output.txt\n[ "$line" = 42 ] && echo 1.0 || echo 0.25\n',
    )
    tests = {word: (word.encode(), b"") for word in ("right", "wrong", "crash", "loop", "grow")}
    method = Batch(check=JudgeProgram(source=checker))
    problem = problem_from(tests, method=method, memory_limit_bytes=32 << 20)  # reached before the time limit
    judged = bench.result(problem, PYTHON_BATCH, Language.PYTHON)
    assert [subtask.verdict for subtask in judged.subtasks] == ["AC", "PA", "RE", "TLE", "MLE"]
    assert "cpython 3" in judged.target


def test_syntax_error_in_python_is_ce(full_bench: Any, problem_from: Any) -> None:
    """The message is the interpreter's, and no statement of the program is executed."""
    problem = problem_from({"one": (b"", b"1\n")})
    judged = full_bench.result(problem, "print(1)\nexit(0)\ndef f(:\n", Language.PYTHON)
    assert judged.compile.verdict is Verdict.CE
    assert "task.py" in judged.compile.message
    assert "SyntaxError" in judged.compile.message


def test_a_grader_in_python_imports_the_submission(full_bench: Any, problem_from: Any) -> None:
    """The module has the task's name. An exception in the submission is reported with its line."""
    grader = b"import task\nprint(task.solve(int(input())))\n"
    linked = (SourceFile(path="graders/grader.py", content=grader),)
    problem = problem_from({"three": (b"3\n", b"6\n"), "zero": (b"0\n", b"0\n")}, linked=linked)
    judged = full_bench.result(problem, "def solve(n):\n    return 6 // n * n\n", Language.PYTHON)
    assert [subtask.verdict for subtask in judged.subtasks] == [Verdict.AC, Verdict.RE]
    assert 'File "task.py", line 2, in solve' in judged.subtasks[1].tests[0].stderr


def test_a_grader_in_python_that_cannot_be_parsed_is_the_problem_s_fault(full_bench: Any, problem_from: Any) -> None:
    """As with a grader in C++: a final JE with the message, and no points. In Python the program was RE."""
    linked = (SourceFile(path="graders/grader.py", content=b"import task\nprint task.solve(int(raw_input()))\n"),)
    problem = problem_from({"three": (b"3\n", b"3\n")}, linked=linked)
    judged = full_bench.result(problem, "def solve(n):\n    return n\n", Language.PYTHON)
    assert (judged.verdict, judged.score, judged.compile.final) == (Verdict.JE, None, True)
    assert judged.compile.message.startswith("the problem's grader does not compile:")
    assert 'File "grader.py", line 2' in judged.compile.message


def test_a_grader_in_python_imports_it_by_the_name_of_the_submission_format(full_bench: Any, problem_from: Any) -> None:
    """The module has the name of the submission format if that differs from the task's name."""
    linked = (SourceFile(path="graders/grader.py", content=b"import halves\nprint(halves.solve(int(input())))\n"),)
    problem = problem_from({"four": (b"4\n", b"2\n")}, linked=linked, source_name="halves")
    judged = full_bench.result(problem, "def solve(n):\n    return n // 2\n", Language.PYTHON)
    assert judged.verdict is Verdict.AC


def test_a_file_in_python_imports_the_file_that_is_started(full_bench: Any, problem_from: Any) -> None:
    """As with graders of Kattis's `include/python3`, which call the submission that imports them."""
    grader = b"if __name__ != '__main__':\n    import solve\n    print(solve.double(int(input())))\n"
    sources = (
        SourceFile(path="solve.py", content=b"import grader\ndef double(n):\n    return 2 * n\n"),
        SourceFile(path="grader.py", content=grader),
    )
    problem = problem_from({"two": (b"2\n", b"4\n")})
    submission = Submission(id="s", problem=problem.key, code="", sources=sources, language=Language.PYTHON)
    assert full_bench.score(problem, submission).verdict is Verdict.AC


INTERACTOR = b"""#!/bin/sh
read -r number < input.txt
echo "$number"
read -r answer
[ "$answer" = "$((number * 2))" ] && exit 42 || exit 43
"""


def test_python_talks_to_an_interactor(bench: Any, problem_from: Any) -> None:
    """The interactor is connected to stdin and stdout of the Python program, at both isolation levels."""
    interactor = SourceFile(path="interactor/interactor.sh", content=INTERACTOR)
    problem = problem_from(
        {"seven": (b"7\n", b""), "zero": (b"0\n", b""), "odd": (b"x\n", b"")},
        method=Interactive(manager=JudgeProgram(source=interactor, protocol=CheckerProtocol.KATTIS)),
    )
    judged = bench.result(problem, "print(int(input()) * 2 or 1)", Language.PYTHON)
    assert [subtask.verdict for subtask in judged.subtasks] == [Verdict.AC, Verdict.WA, Verdict.RE]


MANAGER = b"""#!/bin/sh
exec 4>"$2" 3<"$1" 6>"$4" 5<"$3"
cat input.txt >&4
read -r told <&3
echo "$told" >&6
read -r answer <&5
echo "told $told, answered $answer" >&2
[ "$answer" = 42 ] && echo 1.0 || echo 0.0
"""
STUB = b"""import sys
import task
source, sink, index = open(sys.argv[1]), open(sys.argv[2], "w"), int(sys.argv[3])
print((task.encode, task.decode)[index](source.readline().strip()), file=sink, flush=True)
"""


def test_two_processes_in_python_with_a_stub(full_bench: Any, problem_from: Any) -> None:
    """The stub gets FIFOs and index as arguments. The two processes do not share memory."""
    manager = JudgeProgram(source=SourceFile(path="graders/manager.sh", content=MANAGER))
    problem = problem_from(
        {"one": (b"42\n", None)},
        method=Communication(manager=manager, processes=2, process_io=ProcessIO.FIFO_IO),
        linked=(SourceFile(path="graders/stub.py", content=STUB),),
    )
    through = "def encode(text):\n    return text[::-1]\ndef decode(text):\n    return text[::-1]\n"
    kept = "kept = []\ndef encode(text):\n    kept.append(text)\n    return 'x'\n"
    kept += "def decode(text):\n    return kept or 'none'\n"
    for code, verdict, words in ((through, Verdict.AC, "told 24"), (kept, Verdict.WA, "answered none")):
        (subtask,) = full_bench.result(problem, code, Language.PYTHON).subtasks
        assert (subtask.verdict, words in subtask.tests[0].message) == (verdict, True), subtask


# --------------------------------------------------------------------------- several files

TWO_FILES = {
    Language.CPP: {
        "graders/grader.cpp": "#include <iostream>\nint a(int); int b(int); int main() { std::cout << b(a(3)); }",
        "first.cpp": "static int add = 1; int a(int x) { return x + add; }",
        "second.cpp": "static int add = 2; int b(int x) { return x * add; }",
    },
    Language.C: {
        "graders/grader.c": '#include <stdio.h>\nint a(int); int b(int); int main(void) { printf("%d\\n", b(a(3))); }',
        "first.c": "static int class = 1; int a(int x) { return x + class; }",
        "second.c": "static int class = 2; int b(int x) { return x * class; }",
    },
    Language.PYTHON: {
        "graders/grader.py": "from first import a\nfrom second import b\nprint(b(a(3)))\n",
        "first.py": "add = 1\ndef a(x):\n    return x + add\n",
        "second.py": "def b(x):\n    return x * 2\n",
    },
}


@pytest.mark.parametrize("language", list(TWO_FILES), ids=str)
def test_a_program_of_two_files(full_bench: Any, problem_from: Any, language: Language) -> None:
    """The files are compiled separately, so their local names do not conflict. A compiler error names the file."""
    grader, first, second = (SourceFile(path=path, content=text.encode()) for path, text in TWO_FILES[language].items())
    problem = problem_from({"three": (b"", b"8\n")}, linked=(grader,))
    submission = Submission(id="two", problem=problem.key, code="…", sources=(first, second), language=language)
    assert full_bench.score(problem, submission).verdict is Verdict.AC
    broken = replace(submission, sources=(first, replace(second, content=second.content + b"}{")))
    judged = full_bench.score(problem, broken)
    assert judged.verdict is Verdict.CE
    assert second.name in judged.compile.message
