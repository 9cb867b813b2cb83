"""`ioi-eval merge`: two shards are scored and merged, and the whole dump is scored into the result."""

from __future__ import annotations

import json
from pathlib import Path

from ioi_eval.journal import RecordKind
from tests.cli.addition import NARROW, PROBLEMS, RIGHT, TESTS, Start, Write, submission_row
from tests.journal.test_merging import write as write_journal


def test_shards_of_a_dump(start: Start, write: Write, tmp_path: Path) -> None:
    """The run over the whole dump judges nothing and writes the results of the shards."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")
    rows = [
        submission_row("a"),
        submission_row("b", NARROW),
        submission_row("c"),
        submission_row("d", RIGHT + "// 2\n"),
        submission_row("e"),
    ]
    for name, shard in (("one", rows[:2]), ("two", rows[2:])):
        assert start("score", write(f"{name}.jsonl", *shard), *sources, "--out", name).returncode == 0
    merged = start("merge", "one", "two", "--out", "all")
    assert merged.returncode == 0, merged.stderr
    assert "all: 4 results, 1 copy, 0 failures of judge programs; left out, because they were there already: 0" in (
        merged.stdout
    )
    assert "Now start `ioi-eval score` with all rows and --out all" in merged.stdout
    scored = start("score", write("all.jsonl", *rows), *sources, "--out", "all")
    assert scored.returncode == 0
    assert (
        "stored in all: 5 results (a result of another target, limit, rule or version of a problem is not used)"
        in scored.stderr
    )
    results = [json.loads(line) for line in (tmp_path / "all" / "results.jsonl").open()]
    assert [(row["uuid"], row["verdict"]) for row in results] == [
        ("a", "AC"), ("b", "WA"), ("c", "AC"), ("d", "AC"), ("e", "AC"),
    ]  # fmt: skip
    assert json.loads((tmp_path / "all" / "summary.json").read_text())["this_run"]["judged"] == 0
    again = start("merge", "one", "two", "--out", "all")
    assert again.returncode == 2
    assert "all has a journal already" in again.stderr


def test_runs_that_disagree(start: Start, tmp_path: Path) -> None:
    """The exit code is 1. The first conflicts are named, and copies without a program are counted."""
    for name, points in (("one", 5), ("two", 9)):
        write_journal(tmp_path / name, *((RecordKind.RESULT, f"s{number}", number, points) for number in range(22)))
    write_journal(tmp_path / "three", (RecordKind.COPY, "x", 99, None))
    ended = start("merge", "one", "two", "three", "--out", "all")
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.count("the same program, judged in the same way") == 20
    assert ended.stderr.endswith("and 2 conflicts more\n")
    assert "Copies of programs that no run has judged: 1. The next run judges them.\n" in ended.stdout
    assert "22 conflicts: the directory that is named first counts.\n" in ended.stdout
    ended = start("merge", "one", "--out", "alone")
    assert ended.returncode == 0, ended.stderr
    assert "onflict" not in ended.stdout + ended.stderr
    assert "no run has judged" not in ended.stdout
