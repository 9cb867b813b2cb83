"""Batch tasks whose programs read an input file and write an output file, from the rows to the verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.jobs import scripts_job
from ioi_eval.model import Batch, Language, Problem, TestCase, Verdict
from ioi_eval.problems.ioi import draft_problem
from ioi_eval.problems.row import Row

PROGRAM = """
#include <cstdio>
#include <cstdlib>
int main() {
  FILE *in = std::fopen("input.txt", "r"), *out;
  int a;
  if (!in || std::fscanf(in, "%d", &a) != 1) return 3;
  std::puts("this is not the output");
  if (a == 0) return 0;
  if (a < 0) std::abort();
  out = std::fopen("output.txt", "w");
  std::fprintf(out, "%d\\n", 2 * a);
}
"""
TESTS = {"right": (b"2\n", b"4\n"), "wrong": (b"2\n", b"5\n"), "nothing": (b"0\n", b"4\n"), "dies": (b"-1\n", b"4\n")}


def draft(input_file: str, output_file: str) -> Problem:
    """The problem of a row whose configuration names these files with CMS's parameters."""
    prefix = "task_type_parameters_Batch_io_"
    config = {f"{prefix}0_inputfile": input_file, f"{prefix}1_outputfile": output_file}
    values = {
        **{"year": 2024, "id": "task", "subtask": "1", "score": 1, "test_names": list(TESTS)},
        **{"task_type": "Batch", "time_limit": 1.0, "memory_limit": 64 << 20},
        "grader_files": [["graders/grader_config.json", json.dumps(config)]],
    }
    return draft_problem([Row(source="rows", number=1, values=values)])


def test_judged_by_the_output_file(bench: Any, problem_from: Any) -> None:
    """The file is judged, not stdout. If it is missing, the score is 0, with CMS's message."""
    outcomes = bench.outcomes(problem_from(TESTS, method=draft("input.txt", "output.txt").method), PROGRAM)
    assert {name: (test.verdict, test.score) for name, test in outcomes.items()} == {
        "right": (Verdict.AC, 1.0),
        "wrong": (Verdict.WA, 0.0),
        "nothing": (Verdict.WA, 0.0),
        "dies": (Verdict.RE, 0.0),
    }
    assert outcomes["nothing"].message == "Evaluation didn't produce file output.txt"


def test_only_input_file_or_only_output_file(full_bench: Any, problem_from: Any) -> None:
    """If a task names only its input file or only its output file, the other is stdout or stdin."""
    code = '#include <cstdio>\nint main() { int a; std::scanf("%d", &a); std::printf("%d", 2 * a); }'
    right = {"right": TESTS["right"]}
    to_file = code.replace("int a;", 'int a; std::freopen("o", "w", stdout);')
    from_file = code.replace("int a;", 'int a; std::freopen("i", "r", stdin);')
    for method, program in ((Batch(output_file="o"), to_file), (Batch(input_file="i"), from_file)):
        assert full_bench.outcomes(problem_from(right, method=method), program)["right"].verdict is Verdict.AC


def test_in_python(bench: Any, problem_from: Any) -> None:
    """Python programs read and write the same files."""
    code = 'with open("i") as i, open("o", "w") as o:\n    print(2 * int(i.read()), file=o)\nprint("not this")\n'
    method = Batch(input_file="i", output_file="o")
    problem = problem_from({"right": TESTS["right"]}, method=method, time_limit_s=2.0)
    result = bench.result(problem, code, Language.PYTHON)
    assert [test.verdict for subtask in result.subtasks for test in subtask.tests] == [Verdict.AC], result


@pytest.mark.parametrize("name", ["a/b", "..", ".", "x" * 256, "a\0b"])
def test_invalid_names_are_refused(name: str) -> None:
    """A path, a name that is too long, or one with a NUL is an error that names the file and the parameter."""
    with pytest.raises(InputError, match=r"io_1_outputfile in graders/grader_config\.json is"):
        draft("input.txt", name)


def test_one_file_for_both_is_refused() -> None:
    """The same file as input and output is refused: the program would overwrite its input."""
    with pytest.raises(UnsupportedError, match=r"'data\.txt' to input and output"):
        draft("data.txt", "data.txt")


def test_the_scripts_of_cms_ioi_refuse_named_files() -> None:
    """The scripts of the `cms_ioi` package read stdin and stdout only, and would give 0."""
    case = TestCase(name="right", input=b"2\n", answer=b"4\n")
    reason = scripts_job.why_package_cannot_judge_test(replace(draft("input.txt", ""), cxx_std="gnu++17"), case)
    assert reason is not None
    assert reason.endswith("its programs read stdin and write stdout, and no files by name")
