"""`ioi-eval demo`: the sample contest, end to end."""

from __future__ import annotations

import json
from pathlib import Path

from addition import Start

from ioi_eval import sample


def test_the_sample_contest_comes_out_as_it_should(start: Start, tmp_path: Path) -> None:
    """Every generation is worth what is stated of it; a second run has nothing to judge and writes the same."""
    ended = start("demo", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    assert "Report:  out/report.md" in ended.stdout
    first = (tmp_path / "out" / "results.jsonl").read_bytes()
    results = [json.loads(line) for line in first.splitlines()]
    stated = [json.loads(line) for line in sample.dump_expected().open()]
    assert [row["uuid"] for row in results] == [row["uuid"] for row in stated]
    for row, expected in zip(results, stated, strict=True):
        seen = {s["subtask"]: s["status"] for s in row["all_subtasks_results"]}
        assert (row["verdict"], row["total_score"]) == (expected["expected_verdict"], expected["expected_total"]), row
        for subtask, verdict in expected["expected_subtasks"].items():
            assert seen[subtask] == verdict or (verdict == "FAILED" and seen[subtask] != "AC"), (row["uuid"], subtask)
    copies = sum(row["duplicate_of"] is not None for row in results)
    assert f"{len(results) - copies} judged, {copies} copies in " in ended.stdout
    again = start("demo", "--out", "out")
    assert again.returncode == 0
    assert f"0 judged, {len(results)} from earlier runs\n" in again.stdout
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == first
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]["judged"] == 0
