"""`ioi-eval apps score`: real programs in real boxes, what is written, and every kind of wrong call and row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from addition import Ended, Start, Write
from apps_rows import DOUBLE, FAILS, ROWS, ZERO, doubling

FENCED = f"Twice:\n```python\n{DOUBLE}```\n"
Rows = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def score(start: Start, write: Write) -> Start:
    """Run `ioi-eval apps score` on a dump of the small APPS, into `out`."""
    write("apps.jsonl", *ROWS)

    def run(dump: str | Path, *arguments: str | Path, **other: Any) -> Ended:
        return start("apps", "score", dump, "--dataset", "apps.jsonl", "--out", "out", *arguments, **other)

    return run


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """What `score` wrote: `rows("results.jsonl")`."""
    return lambda name: [json.loads(line) for line in (tmp_path / "out" / name).open()]


def test_a_dump_is_scored(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """Programs, generations, conversations, lists; a function; nothing; a copy: results, records, report."""
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "uuid": "a", "code": DOUBLE, "model": "m"},
        {"problem_id": "apps_1", "uuid": "b", "generation": [FENCED, "I cannot."]},
        {"problem_id": 1, "uuid": "c", "messages": [{"role": "assistant", "content": f"```python\n{ZERO}```"}]},
        {"problem_id": 2, "uuid": "d", "code": "def twice(n):\n    return 2 * n\n"},
        {"problem_id": 0, "uuid": "e", "code": DOUBLE},
        {"problem_id": 0, "uuid": "f", "code": FAILS},
        {"problem_id": 0, "uuid": "g", "code": "print(\n"},
    )
    ended = score(dump)
    assert ended.returncode == 0, ended.stderr
    found = rows("results.jsonl")
    assert [(r["submission"], r["verdict"], r["passed"], r["total"], r["duplicate_of"]) for r in found] == [
        ("a", "AC", 3, 3, None), ("b/0", "AC", 4, 4, None), ("b/1", "NC", 0, 4, None), ("c", "WA", 1, 4, None),
        ("d", "AC", 2, 2, None), ("e", "AC", 3, 3, "a"), ("f", "RE", 0, 3, None), ("g", "CE", 0, 3, None),
    ]  # fmt: skip
    by_id = {row["submission"]: row for row in found}
    assert (by_id["a"]["model"], by_id["a"]["difficulty"], by_id["a"]["judged_by"]) == ("m", "introductory", "lines")
    assert by_id["b/0"]["generation"] == FENCED
    assert by_id["b/0"]["extraction"] == "fence:python"
    wrong = by_id["c"]["test_results"][1]
    assert (wrong["verdict"], wrong["passed"], wrong["output"]) == ("WA", False, "0\n")
    assert "2" in wrong["message"]
    assert wrong["memory_bytes"] > 1_000_000
    assert "ValueError" in by_id["f"]["test_results"][0]["message"]
    assert rows("mcpbr.jsonl")[3] == {
        "instance_id": "apps_1", "resolved": False, "passed": 1, "total": 4, "pass_rate": 0.25,
    }  # fmt: skip
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    lines = {line["difficulty"]: line for line in summary["difficulties"]}
    assert lines["introductory"]["strict_accuracy"]["value"] == 0.5
    assert lines["interview"]["test_case_average"]["value"] == pytest.approx((1 + 0 + 0.25) / 3)
    assert lines["all"]["problems"] == 3
    assert "pass@1" in (tmp_path / "out" / "report.md").read_text()
    assert "8 of 8 submissions scored, by lines" in ended.stdout

    again = score(dump)
    assert again.returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]["judged"] == 0
    assert rows("results.jsonl") == found


def test_rows_that_cannot_be_judged_are_named(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """Unknown problems, broken rows of the data set, wrong types: neither 0 nor passed, and the exit code is 1."""
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "code": DOUBLE},
        {"problem_id": 77, "code": DOUBLE},
        {"problem_id": 3, "code": DOUBLE},
        {"problem_id": 4, "code": DOUBLE},
        {"problem_id": 5, "code": DOUBLE},
        {"problem_id": 0, "code": 7},
        {"code": DOUBLE},
    )
    ended = score(dump)
    assert ended.returncode == 1, ended.stderr
    assert "1 of 7 submissions scored" in ended.stdout
    assert [row["score"] for row in rows("results.jsonl")] == [1.0, *[None] * 6]
    assert rows("mcpbr.jsonl")[2:5] == [
        {"instance_id": "apps_3", "resolved": False, "error": "its input_output has 2 inputs and 1 outputs"},
        {"instance_id": "apps_4", "resolved": False, "error": "No test cases provided"},
        {"instance_id": "apps_5", "resolved": False, "error": "Could not parse test cases"},
    ]
    for words in ("unknown problem 77", "problem 3 cannot be judged", "code is no text", "problem_id is missing"):
        assert words in ended.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["invalid_problems"] == ["3", "4", "5"]
    lines = {line["difficulty"]: line for line in summary["difficulties"]}
    assert (lines["all"]["invalid_problems"], lines["all"]["test_case_average"]["value"]) == (3, 1.0)


def test_which_problems_are_taken(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """By difficulty, by id, by number, by a file of mcpbr's, by an audit: the others are passed over."""
    dump = write("dump.jsonl", *({"problem_id": n, "code": DOUBLE} for n in (0, 1, 4)))

    def taken(*arguments: str) -> list[str]:
        ended = score(dump, "--no-resume", *arguments)
        assert ended.returncode == 0, ended.stderr
        return [row["instance_id"] for row in rows("mcpbr.jsonl")]

    assert taken("--filter-difficulty", "Introductory") == ["apps_0"]
    assert taken("-t", "apps_1") == ["apps_1"]
    assert taken("-n", "2") == ["apps_0", "apps_1"]
    (tmp_path / "c.yaml").write_text("sample_size: 1\nfilter_difficulty: [introductory]\nmodel: x\n")
    assert taken("--config", "c.yaml") == ["apps_0"]
    assert taken("--config", "c.yaml", "--filter-difficulty", "interview") == ["apps_1"]
    (tmp_path / "broken.txt").write_text("0\napps_4\n")
    assert taken("--exclude", "broken.txt") == ["apps_1"]


def test_solution_files(score: Start, rows: Rows, tmp_path: Path) -> None:
    """A file for a problem that is named; a folder of them."""
    (tmp_path / "work" / "apps_0").mkdir(parents=True)
    (tmp_path / "work" / "apps_0" / "solution.py").write_text(DOUBLE)
    assert score("work").returncode == 0
    assert rows("mcpbr.jsonl")[0]["resolved"]
    assert score("work/apps_0/solution.py", "-t", "1", "--no-resume").returncode == 0
    assert rows("mcpbr.jsonl") == [
        {"instance_id": "apps_1", "resolved": True, "passed": 4, "total": 4, "pass_rate": 1.0}
    ]


def test_limits_and_comparators_are_obeyed(score: Start, write: Write, rows: Rows) -> None:
    """A short time, little memory, other rules; each is another outcome, so nothing is taken from the journal."""
    slow = "n = int(input())\nwhile True:\n    pass\n"
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "code": slow},
        {"problem_id": 1, "code": "n = int(input())\nb = bytearray(10**9)\nprint(2 * n)\n"},
        {"problem_id": 1, "code": "print(f'{2 * int(input())}.0')\n"},
    )
    assert score(dump, "--timeout", "0.5", "--memory", "200", "--comparator", "float:1e-6").returncode == 0
    found = rows("results.jsonl")
    assert [row["verdict"] for row in found] == ["TLE", "MLE", "AC"]
    assert found[2]["judged_by"] == "float:1e-6"
    assert score(dump, "--timeout", "0.5", "--memory", "200", "--fail-fast").returncode == 0
    assert [row["verdict"] for row in rows("results.jsonl")] == ["TLE", "MLE", "WA"]
    assert [test["verdict"] for test in rows("results.jsonl")[0]["test_results"]] == ["TLE", "SKIPPED", "SKIPPED"]


def test_another_grader(score: Start, write: Write, rows: Rows) -> None:
    """mcpbr asks for exit code 0 and takes no other blanks; its codes and rules stand in the results."""
    code = "import sys\nprint(2 * int(input()))\nsys.exit(1)\n"
    dump = write("dump.jsonl", {"problem_id": 0, "code": code}, {"problem_id": 0, "code": DOUBLE})
    ended = score(dump, "--compat", "mcpbr")
    assert ended.returncode == 0, ended.stderr
    assert [(row["judged_by"], row["codes"]) for row in rows("results.jsonl")] == [
        ("mcpbr", [False] * 3), ("mcpbr", [True] * 3),
    ]  # fmt: skip
    assert rows("results.jsonl")[0]["rules"][0] == "exit code 1"


def test_pass_at_k(score: Start, write: Write, tmp_path: Path) -> None:
    """A k that is larger than some problem's number of programs is not reported, and says why."""
    dump = write("dump.jsonl", {"problem_id": 0, "code": [DOUBLE, ZERO]}, {"problem_id": 1, "code": [DOUBLE]})
    ended = score(dump, "--pass-at", "1", "--pass-at", "2")
    assert ended.returncode == 0
    assert "pass@2 is not reported: each problem must have 2 judged programs, and 1 has 1" in ended.stdout
    lines = json.loads((tmp_path / "out" / "summary.json").read_text())["difficulties"]
    by_name = {line["difficulty"]: line["pass_at_k"] for line in lines}
    assert by_name["introductory"]["2"]["value"] == 1.0
    assert list(by_name["all"]) == ["1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--timeout", "-1"], "a time limit of -1 s makes no sense"),
        (["--timeout", "nan"], "a time limit of nan s makes no sense"),
        (["--memory", "0"], "a memory limit of 0 bytes"),
        (["--comparator", "fuzzy"], "there is no comparator 'fuzzy'; there are: exact, lines"),
        (["--comparator", "float:x"], "is not of the form float:ABS"),
        (["--comparator", "checker:none.cpp"], "none.cpp cannot be read"),
        (["--compat", "codeforces"], "there is no profile 'codeforces'; there are: hendrycks"),
        (["--compat", "mcpbr", "--comparator", "exact"], "has its own rules"),
        (["--filter-difficulty", "hard"], "has no problem of difficulty hard; there are: competition"),
        (["-t", "1000"], "has no problem of id 1000"),
        (["-t", "1"], "has no program for any of the problems that were asked for"),
        (["-n", "0"], "-n"),
        (["--sampling", "best"], "--sampling best: must be one of sequential, random, stratified"),
        (["--pass-at", "0"], "--pass-at"),
        (["--split", "dev", "--dataset", "."], "has no split 'dev'"),
        (["--dataset", "none.jsonl"], "there is no file or folder none.jsonl"),
        (["--exclude", "none.txt"], "none.txt, the list of problems to leave out, cannot be read"),
        (["--config", "none.yaml"], "the configuration none.yaml cannot be read"),
        (["--python", "/no/python"], "/no/python"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_2(score: Start, write: Write, arguments: list[str], words: str) -> None:
    """What was wrong is named, and nothing is judged."""
    ended = score(write("dump.jsonl", {"problem_id": 0, "code": DOUBLE}), *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_data_set_with_an_id_twice(score: Start, write: Write) -> None:
    """Is refused, as results could not be told apart."""
    dump = write("dump.jsonl", {"problem_id": 1, "code": DOUBLE})
    write("apps.jsonl", doubling(1), doubling("1"))
    ended = score(dump)
    assert ended.returncode == 2
    assert "both have the id 1" in ended.stderr
