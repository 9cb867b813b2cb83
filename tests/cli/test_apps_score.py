"""`ioi-eval apps score`: real programs in real boxes, the files it writes, and every kind of wrong call and row."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.report.result_files import result_rows
from tests.apps_rows import DOUBLE, FAILS, ROWS, ZERO, apps_row, doubling
from tests.cli.addition import PROBLEMS, TESTS, Ended, Start, Write, submission_row

FENCED = f"Twice:\n```python\n{DOUBLE}```\n"
Rows = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def score(start: Start, write: Write) -> Start:
    """Run `ioi-eval apps score` on a dump for the small data set, into `out`."""
    write("apps.jsonl", *ROWS)

    def run(dump: str | Path, *arguments: str | Path, **other: Any) -> Ended:
        return start("apps", "score", dump, "--dataset", "apps.jsonl", "--out", "out", *arguments, **other)

    return run


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """The rows of a file that `score` wrote, for example `rows("results.jsonl")`."""
    out = tmp_path / "out"
    return lambda name: (
        list(result_rows(out)) if name == "results.jsonl" else list(map(json.loads, (out / name).open()))
    )


def test_rows_without_a_problem_are_no_programs_for_one(score: Start, write: Write) -> None:
    """The first line counts them separately."""
    ended = score(write("dump.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE}, {"uuid": "b", "code": DOUBLE}))
    assert "1 program for 1 problem, 1 row without a problem; reading" in ended.stderr


def test_a_dump_is_scored(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """Programs, generations, conversations, lists, a function, a row without code, and a copy: results, journal and
    report are right.
    """
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
    assert "8 programs for 3 problems" in ended.stderr
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
        "instance_id": "apps_1", "resolved": False, "passed": 1, "total": 4, "pass_rate": 0.25, "judged_by": "lines",
    }  # fmt: skip
    assert "judged by ioi_eval's own rules: outputs are compared by lines; all tests; 10 s of CPU" in ended.stderr
    assert "(--compat NAME for another grader's)\n" in ended.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    lines = {line["difficulty"]: line for line in summary["difficulties"]}
    assert lines["introductory"]["strict_accuracy"]["value"] == 0.5
    assert lines["interview"]["test_case_average"]["value"] == pytest.approx((1 + 0 + 0.25) / 3)
    assert lines["all"]["problems"] == 3
    report = (tmp_path / "out" / "report.md").read_text()
    assert "- Outputs compared by: **lines**\n" in report
    assert "pass@1" in report
    assert "JE  broken problems  test case average" in ended.stdout
    assert (
        "8 of 8 submissions scored, outputs compared by lines; verdicts: 4 AC, 1 WA, 1 RE, 1 CE, 1 NC\n7 judged, 1 copy"
    ) in ended.stdout

    again = score(dump)
    assert again.returncode == 0
    assert "0 judged, 8 from earlier runs" in again.stdout
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]["judged"] == 0
    assert rows("results.jsonl") == found


def test_verdicts_and_reasons_for_missing_programs_are_printed(score: Start, write: Write, rows: Rows) -> None:
    """The output has the number of programs per verdict. The notes and each row say why code is missing."""
    cpp = "```cpp\n#include <iostream>\nint main() {}\n```\n"
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "uuid": "right", "code": DOUBLE},
        {"problem_id": 0, "uuid": "list", "generation": [f"```python\n{DOUBLE}", f"<think>{DOUBLE}", cpp]},
        {"problem_id": 0, "uuid": "talk", "messages": [{"role": "assistant", "content": "```python\nprint("}]},
        {"problem_id": 0, "uuid": "cpp", "code": cpp.splitlines()[2]},
    )
    ended = score(dump)
    assert ended.returncode == 0, ended.stderr
    assert "6 of 6 submissions scored, outputs compared by lines; verdicts: 1 AC, 1 CE, 4 NC\n" in ended.stdout
    cut = "the text ends inside a block that is not closed (was the generation cut off?)"
    assert f"note: 2 without code (NC): {cut}, such as 'list/0'\n" in ended.stdout
    assert "note: 1 without code (NC): the text ends inside the model's thoughts" in ended.stdout
    wrong = "a block is tagged as C++, but the row is judged as Python 3 (as all programs for APPS)"
    assert f"note: 1 without code (NC): {wrong}, such as 'list/2'\n" in ended.stdout
    assert (
        "note: 1 with a compile error (CE): the program looks like C++, but the row is judged as Python 3 ("
        in ended.stdout
    )
    messages = {row["submission"]: row["message"] for row in rows("results.jsonl")}
    assert (messages["list/0"], messages["list/2"]) == (f"no code found: {cut}", f"no code found: {wrong}")


def test_padded_ids_are_those_of_the_data_set(score: Start, start: Start, write: Write, rows: Rows) -> None:
    """The results have the data set's id, without padding."""
    dump = write("dump.jsonl", {"problem_id": "0000", "uuid": "a", "code": DOUBLE})
    ended = score(dump)
    assert ended.returncode == 0, ended.stderr
    assert [(row["problem_id"], row["verdict"]) for row in rows("results.jsonl")] == [("0", "AC")]
    explained = start("apps", "explain", dump, "--dataset", "apps.jsonl", "--compat", "mcpbr")
    assert "differ on 0 of 1 program\n" in explained.stdout


def test_results_of_the_other_family_are_not_replaced(score: Start, start: Start, write: Write, tmp_path: Path) -> None:
    """Neither `score` nor `apps score` writes into a directory with results of the other. Nothing is changed."""
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE})
    assert score(dump).returncode == 0
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    contest = write("contest.jsonl", submission_row("a"))
    assert start("score", contest, *sources, "--out", "ioi").returncode == 0
    kept = {path: path.read_bytes() for out in ("out", "ioi") for path in (tmp_path / out).iterdir()}
    for ended, words in (
        (start("score", contest, *sources, "--out", "out"), "--out out holds results of ioi-eval apps score, which"),
        (score(dump, "--out", "ioi"), "--out ioi holds results of ioi-eval score, which this would replace; choose"),
    ):
        assert ended.returncode == 2
        assert words in ended.stderr
    assert {path: path.read_bytes() for path in kept} == kept


def test_a_journal_of_the_other_family_is_not_continued(
    score: Start, start: Start, write: Write, tmp_path: Path
) -> None:
    """A run that was killed leaves only its journal. No other command writes into it: `merge` and the run's own command
    would then refuse the directory, and what was judged would be lost."""
    dump = write("dump.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE})
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    contest = write("contest.jsonl", submission_row("a"))
    assert score(dump).returncode == start("score", contest, *sources, "--out", "ioi").returncode == 0
    for out in ("out", "ioi"):
        for path in (tmp_path / out).iterdir():
            if path.name != "journal":
                path.unlink()
    assert start("merge", "ioi", "--out", "merged").returncode == 0
    for ended, words in (
        (start("score", contest, *sources, "--out", "out"), "--out out holds the journal of ioi-eval apps score, "),
        (score(dump, "--out", "ioi"), "--out ioi holds the journal of ioi-eval score, whose results are not written"),
        (score(dump, "--out", "merged"), "--out merged holds the journal of ioi-eval score, "),
        (start("validate", contest, *sources, "--out", "ioi"), "--out ioi holds the journal of ioi-eval score, "),
    ):
        assert ended.returncode == 2
        assert words in ended.stderr
    assert "1 judged" not in score(dump).stdout
    assert "1 judged" not in start("score", contest, *sources, "--out", "merged").stdout


def test_a_warning_if_fewer_results_replace_more(score: Start, write: Write, rows: Rows) -> None:
    """This also holds if the same number of rows is for another problem. With a data set of other problems nothing is
    replaced.
    """
    dump = write("dump.jsonl", *({"problem_id": n, "uuid": "a", "code": DOUBLE} for n in (0, 1)))
    assert "will be replaced" not in score(dump, "-t", "0").stderr
    warning = "the results of 1 row in out will be replaced by those of 1; the journal keeps all, and the command "
    assert f"{warning}without --task restores them\n" in score(dump, "-t", "apps_1").stderr
    write("apps.jsonl", doubling(7))
    ended = score(dump)
    assert ended.returncode == 2
    assert "apps.jsonl has none of the problems of " in ended.stderr
    assert ", which asks for 0, 1; it has 7. Check --dataset\n" in ended.stderr
    assert [row["problem_id"] for row in rows("results.jsonl")] == ["1"]


def test_rows_that_cannot_be_judged_are_named(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """Unknown problems, broken rows of the data set, wrong types: such a row has no score and does not pass. The exit
    code is 1.
    """
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "code": DOUBLE},
        {"problem_id": 77, "code": DOUBLE},
        {"problem_id": 3, "code": DOUBLE},
        {"problem_id": 3, "code": DOUBLE},
        {"problem_id": 4, "code": DOUBLE},
        {"problem_id": 5, "code": DOUBLE},
        {"problem_id": 0, "code": 7},
        {"code": DOUBLE},
    )
    ended = score(dump)
    assert ended.returncode == 1, ended.stderr
    assert "1 of 8 submissions scored" in ended.stdout
    assert [row["score"] for row in rows("results.jsonl")] == [1.0, *[None] * 7]
    assert rows("mcpbr.jsonl")[3:6] == [
        {"instance_id": problem, "resolved": False, "error": words, "judged_by": "lines"}
        for problem, words in (
            ("apps_3", "its input_output has 2 inputs and 1 output"),
            ("apps_4", "No test cases provided"),
            ("apps_5", "Could not parse test cases"),
        )
    ]
    for words in (
        "unknown problem 77",
        "problem 3 cannot be judged",
        "code is 7; it must be a text",
        "problem_id is missing",
    ):
        assert words in ended.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert ended.stdout.count("problem 3 cannot be judged") == 1, "a reason is told once"
    assert "has 2 inputs and 1 output (2 rows)" in ended.stdout
    assert summary["invalid_problems"] == ["3", "4", "5"]
    lines = {line["difficulty"]: line for line in summary["difficulties"]}
    assert (lines["all"]["invalid_problems"], lines["all"]["test_case_average"]["value"]) == (3, 1.0)


def test_report_makes_the_same_files_from_unchanged_results(
    score: Start, start: Start, write: Write, tmp_path: Path
) -> None:
    """Byte by byte: with groups, ks, rows of broken problems, missing modules, and programs that cannot be found."""
    dump = write(
        "dump.jsonl",
        *({"problem_id": n, "model": m, "code": DOUBLE} for n, m in ((0, "a"), (0, "b"), (1, "a"), (3, "a"), (5, "b"))),
        {"problem_id": 1, "model": "b", "code": FAILS},
        {"problem_id": 2, "model": "b", "generation": "no idea"},
        {"problem_id": 0, "model": "a", "code": "import not_there\n"},
        {"problem_id": 4, "model": "broken", "code": DOUBLE},
    )
    for options in (("--pass-at", "2", "--pass-at", "1"), ("--pass-at", "7"), ("--by", "none"), ()):
        ended = score(dump, *options)
        assert ended.returncode == 1, ended.stderr
        before = {name: (tmp_path / "out" / name).read_bytes() for name in ("summary.json", "report.md")}
        assert b"no module not_there" in before["summary.json"]
        assert start("report", "out").returncode == 1
        assert {name: (tmp_path / "out" / name).read_bytes() for name in before} == before


def test_problems_can_be_selected(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """By difficulty, id, number, a file of mcpbr's, or an audit. Other problems are left out."""
    dump = write("dump.jsonl", *({"problem_id": n, "code": DOUBLE} for n in (0, 1, 4)))

    def taken(*arguments: str) -> list[str]:
        ended = score(dump, "--no-resume", *arguments)
        assert ended.returncode == 0, ended.stderr
        return [row["instance_id"] for row in rows("mcpbr.jsonl")]

    assert taken("--filter-difficulty", "Introductory") == ["apps_0"]
    assert taken("-t", "apps_1") == ["apps_1"]
    assert taken("-n", "2") == ["apps_0", "apps_1"]
    (tmp_path / "c.yaml").write_text("sample_size: 1\nfilter_difficulty: [introductory]\nmodel: x\n")
    assert taken("--config", "c.yaml") == taken("-c", "c.yaml") == ["apps_0"]
    assert taken("--config", "c.yaml", "--filter-difficulty", "interview") == ["apps_1"]
    (tmp_path / "broken.txt").write_text("0\napps_4\n")
    assert taken("--exclude", "broken.txt") == ["apps_1"]


def test_solution_files(score: Start, rows: Rows, tmp_path: Path) -> None:
    """A dump can be a file with a solution to a problem that is named, or a directory of such files."""
    (tmp_path / "work" / "apps_0").mkdir(parents=True)
    (tmp_path / "work" / "apps_0" / "solution.py").write_text(DOUBLE)
    assert score("work").returncode == 0
    assert rows("mcpbr.jsonl")[0]["resolved"]
    assert score("work/apps_0/solution.py", "-t", "1", "--no-resume").returncode == 0
    assert rows("mcpbr.jsonl") == [
        {"instance_id": "apps_1", "resolved": True, "passed": 4, "total": 4, "pass_rate": 1.0, "judged_by": "lines"}
    ]


def test_limits_and_comparators_take_effect(score: Start, write: Write, rows: Rows) -> None:
    """A short time limit, little memory, or another comparator changes the outcome, so no result is taken from the
    journal.

    (The limits are far from the programs' needs: beside jobs that take much memory, the kernel took 0.5 s of CPU time
    for 200 MB of page faults.)
    """
    slow = "n = int(input())\nwhile n == 1:\n    pass\n"
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "code": slow},
        {"problem_id": 1, "code": "n = int(input())\nb = bytearray(10**9)\nprint(2 * n)\n"},
        {"problem_id": 1, "code": "print(f'{2 * int(input())}.0')\n"},
    )
    assert score(dump, "--timeout", "1", "--memory", "100", "--comparator", "float:1e-6").returncode == 0
    found = rows("results.jsonl")
    assert [row["verdict"] for row in found] == ["TLE", "MLE", "AC"]
    assert found[2]["judged_by"] == "float:1e-6"
    assert score(dump, "--timeout", "1", "--memory", "100", "--fail-fast").returncode == 0
    assert [row["verdict"] for row in rows("results.jsonl")] == ["TLE", "MLE", "WA"]
    assert [test["verdict"] for test in rows("results.jsonl")[0]["test_results"]] == ["TLE", "SKIPPED", "SKIPPED"]


def test_conventions_and_missing_modules(score: Start, start: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """With `--conventions` a top-level return is accepted. A missing module is named, also by a summary that is made
    from the rows.
    """
    dump = write(
        "dump.jsonl",
        {"problem_id": 0, "code": f"{DOUBLE}return\n"},
        {"problem_id": 0, "code": "import not_there.at_all\n"},
    )
    ended = score(dump)
    assert [row["verdict"] for row in rows("results.jsonl")] == ["CE", "RE"]
    assert "1 program failed because there is no module not_there" in ended.stdout
    (tmp_path / "out" / "summary.json").unlink()
    assert start("report", "out").returncode == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert "1 program failed because there is no module not_there" in " ".join(summary["notes"])
    assert score(dump, "--conventions").returncode == 0
    assert [row["verdict"] for row in rows("results.jsonl")] == ["AC", "RE"]


def test_a_failure_of_the_checker_is_final(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """The same output would make it fail again. The row has no score and is named. It is judged again only with
    `--retry-failed`. Other rows are judged.
    """
    (tmp_path / "checker.cpp").write_text(
        "#include <cstdlib>\n#include <fstream>\n#include <iostream>\n"
        "int main(int, char** v) { long a = 0, b = 0; std::ifstream(v[2]) >> a; std::ifstream(v[3]) >> b;\n"
        'if (b == 7) abort(); std::cout << (a == b ? "1" : "0"); }'
    )
    programs = (DOUBLE, ZERO, "print(7)")
    dump = write("dump.jsonl", *({"problem_id": 0, "uuid": str(n), "code": code} for n, code in enumerate(programs)))
    options = ("--comparator", "checker:checker.cpp")
    ended = score(dump, *options)
    assert ended.returncode == 1, ended.stderr
    found = rows("results.jsonl")
    assert [(row["verdict"], row["score"] is None) for row in found] == [("AC", False), ("WA", False), ("JE", True)]
    assert "checker:checker.cpp failed on this output: killed by signal 6" in found[2]["error"]
    assert "1 without a score, because of a judge error (JE): checker:checker.cpp failed" in ended.stdout
    for arguments, judged in (((), 0), (("--retry-failed",), 1)):
        assert score(dump, *options, *arguments).returncode == 1
        assert json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]["judged"] == judged
        assert [row["error"] for row in rows("results.jsonl")] == [row["error"] for row in found]


def test_another_grader(score: Start, write: Write, rows: Rows) -> None:
    """mcpbr requires exit code 0 and compares blanks strictly. The results have its codes and rules."""
    code = "import sys\nprint(2 * int(input()))\nsys.exit(1)\n"
    dump = write("dump.jsonl", {"problem_id": 0, "code": code}, {"problem_id": 0, "code": DOUBLE})
    ended = score(dump, "--compat", "mcpbr")
    assert ended.returncode == 0, ended.stderr
    assert [(row["judged_by"], row["codes"]) for row in rows("results.jsonl")] == [
        ("mcpbr", [False] * 3), ("mcpbr", [True] * 3),
    ]  # fmt: skip
    assert rows("results.jsonl")[0]["rules"][0] == "exit code 1"
    assert "2 of 2 submissions scored, judged by the rules of mcpbr; verdicts: " in ended.stdout
    assert "judged by the rules of mcpbr" in ended.stderr


def test_a_timeout_counts_as_failed_for_mcpbr(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """The test is not passed and the task is not resolved. It counts as the program's failure, not as ours. So does
    output that is no UTF-8.
    """
    programs = (DOUBLE, "while True: pass\n")
    dump = write("dump.jsonl", *({"problem_id": 0, "code": code} for code in programs))
    ended = score(dump, "--compat", "mcpbr", "--timeout", "1")
    assert ended.returncode == 0, ended.stderr
    assert [row["verdict"] for row in rows("results.jsonl")] == ["AC", "TLE"]
    assert rows("results.jsonl")[1]["rules"] == ["out of time"] * 3
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    line = next(line for line in summary["difficulties"] if line["difficulty"] == "all")
    assert (line["submissions"], line["undecided"]) == (2, 0)
    assert line["strict_accuracy"]["value"] == 1 / 2
    failed = {"instance_id": "apps_0", "resolved": False, "passed": 0, "total": 3, "pass_rate": 0.0}
    assert rows("mcpbr.jsonl") == [{**failed, "resolved": True, "passed": 3, "pass_rate": 1.0}, failed]
    dump = write("dump.jsonl", {"problem_id": 0, "code": "import sys\nsys.stdout.buffer.write(b'\\xff')\n"})
    assert score(dump, "--compat", "mcpbr").returncode == 0
    assert rows("mcpbr.jsonl") == [failed]


def test_lone_surrogates_do_not_end_a_run(score: Start, write: Write, rows: Rows) -> None:
    """A program's message or a test can contain a lone surrogate, which no file can hold. It is replaced, and the next
    program is judged.
    """
    half = apps_row(0, ["1\n"], ["\ud800\n"])
    write("apps.jsonl", half)
    raises = "class E(Exception):\n    def __repr__(self):\n        return chr(0xD800)\nraise E(chr(0xD800))\n"
    dump = write("dump.jsonl", {"problem_id": 0, "code": raises}, {"problem_id": 0, "code": DOUBLE})
    ended = score(dump, "--compat", "eval-protocol")
    assert ended.returncode == 0, ended.stderr
    first, second = rows("results.jsonl")
    assert (first["verdict"], second["verdict"]) == ("RE", "WA")
    assert "\ufffd" in first["test_results"][0]["message"]


def test_names_that_are_no_utf8_do_not_end_a_run(score: Start, write: Write, rows: Rows, tmp_path: Path) -> None:
    """The name of the dump (in the journal, messages and summary) and of the result directory."""
    dump = write(os.fsdecode(b"d\xff.jsonl"), {"problem_id": 0, "code": DOUBLE}, {"problem_id": 77, "code": DOUBLE})
    out = tmp_path / os.fsdecode(b"o\xff")
    ended = score(dump, "--out", out)
    assert ended.returncode == 1, ended.stderr
    assert "Results: " in ended.stdout
    out.rename(tmp_path / "out")
    assert [row["score"] for row in rows("results.jsonl")] == [1.0, None]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["options"]["dump"].endswith("d?.jsonl")


def test_pass_at_k(score: Start, write: Write, tmp_path: Path) -> None:
    """A k above some problem's number of programs is not reported for all problems, with the reason."""
    dump = write("dump.jsonl", {"problem_id": 0, "code": [DOUBLE, ZERO]}, {"problem_id": 1, "code": [DOUBLE]})
    ended = score(dump, "--pass-at", "1", "--pass-at", "2")
    assert ended.returncode == 0
    assert (
        "pass@2 of all problems is not reported: each must have 2 judged programs, and problem 1 has 1" in ended.stdout
    )
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["options"]["pass_at"] == [1, 2]
    by_name = {line["difficulty"]: line["pass_at_k"] for line in summary["difficulties"]}
    assert by_name["introductory"]["2"]["value"] == 1.0
    assert list(by_name["all"]) == ["1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--timeout", "-1"], "a time limit of -1 s is not possible"),
        (["--timeout", "nan"], "nan is not a finite number"),
        (["--memory", "0"], "a memory limit of 0 MiB"),
        (["--memory", "2"], "a memory limit of 2 MiB is too little for Python itself; give at least 16 MiB"),
        (["--dataset", "dump.jsonl"], "dump.jsonl: there is no column input_output, which contains the tests"),
        (["--id-column", "label"], "no row has label; the columns are: problem_id, code"),
        (["--comparator", "fuzzy"], "no such comparator 'fuzzy'; there are: exact, lines"),
        (["--comparator", "checker:none.cpp"], "none.cpp cannot be read"),
        (["--compat", "codeforces"], "no such grader 'codeforces'; there are: hendrycks"),
        (["--compat", "mcpbr", "--comparator", "exact"], "has its own rules"),
        (["--compat", "hendrycks", "--fail-fast"], "leave --fail-fast out"),
        (["--filter-difficulty", "hard"], "has no problem of difficulty hard; there are: competition"),
        (["-t", "1"], "has no program for any of the problems that were asked for; it has programs for 0\n"),
        (["-n", "0"], "-n"),
        (["--sampling", "best"], "no such value 'best'; there are: sequential, random, stratified"),
        (["--sampling", "random"], "add -n N, or leave them out"),
        (["--seed", "5"], "add -n N, or leave them out"),
        (["--pass-at", "0"], "--pass-at"),
        (["--split", "dev", "--dataset", "."], "no such split 'dev'"),
        (["--dataset", "contest.jsonl"], "contest.jsonl: these are contest problems; `ioi-eval score` judges them"),
        (["--dataset", "none.jsonl"], "there is no file or directory none.jsonl"),
        (["--exclude", "none.txt"], "none.txt, the list of problems to leave out, cannot be read"),
        (["--config", "none.yaml"], "the configuration none.yaml cannot be read"),
        (
            ["--benchmark=apps"],
            "--benchmark is an option of mcpbr; in ioi-eval apps score it is: nothing",
        ),
        (["-o", "results.json"], "-o is an option of mcpbr; in ioi-eval apps score it is: --out DIR"),
        (["--sampling-strategy", "random"], "it is: --sampling sequential, random or stratified"),
        (["--random-seed", "7"], "it is: --seed N"),
        (["--model", "m"], "no model is asked here: DUMP has its programs"),
        (["--python", "/no/python"], "/no/python"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_has_exit_code_2(
    score: Start, write: Write, tmp_path: Path, arguments: list[str], words: str
) -> None:
    """The message names the mistake. Nothing is judged, and no result directory is created."""
    write("contest.jsonl", {"id": "sum", "grader_files": [], "test_names": ["1"]})
    ended = score(write("dump.jsonl", {"problem_id": 0, "code": DOUBLE}), *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_data_set_with_an_id_twice(score: Start, write: Write) -> None:
    """The data set is refused, because its results could not be told apart."""
    dump = write("dump.jsonl", {"problem_id": 1, "code": DOUBLE})
    write("apps.jsonl", doubling(1), doubling("1"))
    ended = score(dump)
    assert ended.returncode == 2
    assert "both have the id 1" in ended.stderr


def test_results_cannot_be_inside_the_dump(score: Start, write: Write, tmp_path: Path) -> None:
    """A directory that is read as a dump is refused for results, which would be read as programs in the next run.
    Nothing is judged.
    """
    (tmp_path / "dump").mkdir()
    write("dump/a.jsonl", {"problem_id": 0, "code": DOUBLE})
    ended = score("dump", "--out", "dump/out")
    assert ended.returncode == 2
    assert "--out dump/out lies in dump" in ended.stderr
    assert not (tmp_path / "dump" / "out").exists()
    ended = score("dump/a.jsonl", "--dataset", "dump", "--out", "dump/out")
    assert "--out dump/out lies in dump" in ended.stderr


def test_each_group_has_a_table(score: Start, write: Write, tmp_path: Path) -> None:
    """As for contests, also with several dumps."""
    one = write("one.jsonl", {"problem_id": 0, "uuid": "a", "code": DOUBLE, "model": "m1"})
    two = write("two.jsonl", {"problem_id": 0, "uuid": "b", "code": FAILS, "model": "m2"})
    ended = score(one, two)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    strict = {group["name"]: group["difficulties"][-1]["strict_accuracy"]["value"] for group in summary["groups"]}
    assert strict == {"m1": 1.0, "m2": 0.0}
    report = (tmp_path / "out" / "report.md").read_text()
    assert "## Groups by model" in report
    assert "In brackets, if there are at least 6 problems: 95 % bootstrap intervals" in report
    assert "## model: m2" in report
    assert "m1" in ended.stdout.splitlines()[2]
    ended = score(one, "--by", "prompt")
    assert (ended.returncode, "--by prompt: no row has anything" in ended.stderr) == (2, True)
