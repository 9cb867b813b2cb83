"""Submissions that are output files, from the dump to the results: OutputOnly and BatchAndOutput tasks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.addition import Start, Write

Results = Callable[[], list[dict[str, Any]]]

PREFIX = "task_type_parameters_BatchAndOutput_"
SUMS = {"a": (1, 2), "b": (3, 4), "c": (5, 6)}
TESTS = [
    {"year": 2024, "problem_id": "sums", "test_name": name, "test_input": f"{a} {b}\n", "test_output": f"{a + b}\n"}
    for name, (a, b) in SUMS.items()
]
PROGRAM = '#include <cstdio>\nint main() { int a, b; std::scanf("%d %d", &a, &b); std::printf("%d", a + b); }\n'
# Half the points for a right output. Prints what it was told about the test.
CHECKER = '#!/bin/bash\n[[ $(< $2) == $(< $3) ]] && echo 0.5 || echo 0\necho "told $4 of $#" >&2\n'


def problem_rows(task_type: str, files: list[list[str]]) -> list[dict[str, Any]]:
    """Two subtasks; the second one has all three tests."""
    shared = {"year": 2024, "id": "sums", "task_type": task_type, "grader_files": files}
    if task_type == "BatchAndOutput":
        shared |= {"time_limit": 1.0, "memory_limit": 64 << 20}
    subtasks = [("01", 40, ["a"]), ("02", 60, ["a", "b", "c"])]
    return [{**shared, "subtask": name, "score": score, "test_names": tests} for name, score, tests in subtasks]


def row(name: str, **columns: Any) -> dict[str, Any]:
    """A row of the dump."""
    return {"uuid": name, "year": 2024, "problem_id": "sums", **columns}


def feedback(result: dict[str, Any]) -> dict[str, str]:
    """The feedback of each test of the last subtask."""
    return {test["test_name"]: test["feedback"] for test in result["all_subtasks_results"][-1]["test_results"]}


def test_outputs_are_scored(score: Start, write: Write, results: Results, tmp_path: Path) -> None:
    """Missing files score 0, with the message of CMS. A program in such a row is ignored. Equal outputs are judged
    once.
    """
    write("problems.jsonl", *problem_rows("OutputOnly", []))
    write("tests.jsonl", *TESTS)
    right = {"output_a.txt": "3", "output_b.txt": "7", "output_c.txt": "11\n"}
    dump = write(
        "dump.jsonl",
        row("right", outputs=right),
        row("copy", generation=f"```cpp\n{PROGRAM}```", files={"a.out": "3", "b.out": "7", "c.out": "11\n"}),
        row("pairs", language="text", outputs=[["output_a.txt", "3"], ["output_b.txt", "8"], ["output_c.txt", "11"]]),
        row("two missing", outputs={"output_a.txt": "3", "output_b.txt": None}),
        row("nothing", code=PROGRAM),
        row("one too many", outputs={**right, "output_d.txt": "1"}),
    )
    dry = score(dump, "--dry-run")
    assert dry.stdout.splitlines()[2].split() == ["2024/sums", "4", "1", "0"], dry.stdout
    ended = score(dump)
    assert "output_d.txt' is for no test of 2024/sums that takes an output" in ended.stderr + ended.stdout
    by_id = {result["uuid"]: result for result in results()}
    assert {name: (result["verdict"], result["total_score"]) for name, result in by_id.items()} == {
        "right": ("AC", 100),
        "copy": ("AC", 100),
        "pairs": ("WA", 40),
        "two missing": ("WA", 40),
        "nothing": ("NC", 0),
        "one too many": (None, None),
    }
    assert by_id["copy"]["duplicate_of"] == "right"
    assert feedback(by_id["right"]) == dict.fromkeys("abc", "Output is correct")
    assert feedback(by_id["two missing"])["b"] == "File not submitted"
    first = (tmp_path / "out" / "results.jsonl").read_bytes()
    score(dump)
    run = json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]
    assert (run["resumed"], run["judged"]) == (5, 0)
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == first


def test_program_and_outputs(score: Start, write: Write, results: Results) -> None:
    """A submitted file replaces the program's output. On tests that only take files the program is not run. The checker
    is told which of both it judges.
    """
    config = {f"{PREFIX}output_eval": "comparator", f"{PREFIX}output_only_testcases": "b"}
    config |= {f"{PREFIX}output_optional_testcases": "c", f"{PREFIX}compilation": "alone"}
    files = [["graders/grader_config.json", json.dumps(config)], ["checker/checker.sh", CHECKER]]
    write("problems.jsonl", *problem_rows("BatchAndOutput", files))
    write("tests.jsonl", *TESTS)
    dump = write(
        "dump.jsonl",
        row("both", code=PROGRAM, outputs={"output_b.txt": "7"}),
        row("program", code=PROGRAM),
        row("overruled", code=PROGRAM, outputs={"output_b.txt": "7", "output_c.txt": "12"}),
        row("outputs", code=None, outputs={"output_b.txt": "7", "output_c.txt": "11"}),
        row("does not compile", code="int main(", outputs={"output_b.txt": "7", "output_c.txt": "11"}),
        row("for the program", code=PROGRAM, outputs={"output_a.txt": "3"}),
    )
    ended = score(dump)
    assert "output_a.txt' is for no test of 2024/sums that takes an output" in ended.stderr + ended.stdout
    by_id = {result["uuid"]: result for result in results()}
    assert {name: (result["verdict"], result["total_score"]) for name, result in by_id.items()} == {
        "both": ("PA", 50),
        "program": ("WA", 20),
        "overruled": ("WA", 20),
        "outputs": ("WA", 0),
        "does not compile": ("CE", 0),
        "for the program": (None, None),
    }
    assert feedback(by_id["both"]) == {"a": "told batch of 4", "b": "told outputonly of 4", "c": "told batch of 4"}
    assert feedback(by_id["program"])["b"] == "File not submitted"
    assert feedback(by_id["outputs"])["a"] == "File not submitted"


def test_an_imported_task_agrees_with_its_statements(start: Start, tmp_path: Path) -> None:
    """`import cms` of a package whose solutions are files, then `validate` with the written rows."""
    meta = {"code": "sums", "name": "Sums", "task_type": "OutputOnly"}
    files = {"problem.json": json.dumps(meta), "subtasks/1.json": '{"score": 100, "testcases": ["a", "b"]}'}
    for test, result in (("a", "3"), ("b", "7")):
        files |= {f"tests/{test}.in": "?", f"tests/{test}.out": result}
        files[f"solutions/model_solution/author/output_{test}.txt"] = result
    files["solutions/incorrect/half/output_a.txt"] = "3"
    for name, content in files.items():
        (tmp_path / "sums" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sums" / name).write_text(content)
    imported = start("import", "cms", "sums", "--year", "2024", "--out", "rows")
    assert imported.returncode == 0, imported.stderr
    rows = ("--problems", "rows/problems.jsonl", "--tests", "rows/tests.jsonl")
    ended = start("validate", "rows/solutions.jsonl", *rows)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "All 2 statements agree." in ended.stdout
