"""Submissions in the languages that a row may name."""

from __future__ import annotations

from typing import Any

from ioi_eval.model import CheckerProtocol, Language, Verdict

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
    """Names that are keywords in C++, and a void pointer that becomes another by itself."""
    problem = problem_from(
        {"four": (b"4\n", b"2\n"), "nine": (b"9\n", b"4\n")}, checker_protocol=CheckerProtocol.TOKENS
    )
    judged = full_bench.result(problem, ONLY_C, Language.C)
    assert [subtask.verdict for subtask in judged.subtasks] == [Verdict.AC, Verdict.WA]
    assert full_bench.result(problem, ONLY_C).compile.verdict is Verdict.CE


def test_cpp_is_no_c(full_bench: Any, problem_from: Any) -> None:
    """A C++ program that calls itself C does not compile."""
    problem = problem_from({"one": (b"", b"1\n")})
    judged = full_bench.result(problem, "#include <vector>\nint main() {}", Language.C)
    assert judged.compile.verdict is Verdict.CE
