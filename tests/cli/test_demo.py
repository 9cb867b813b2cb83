"""`ioi-eval demo`: the two samples, from the command to the reports."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import Mapping
from pathlib import Path

from ioi_eval import sample
from ioi_eval.cli.demo import write_sample
from tests.cli.addition import COMMAND, Start
from tests.cli.ended_early import ended_after_a_result

README = Path(__file__).parents[2] / "README.md"


def test_the_samples_have_the_expected_results(start: Start, tmp_path: Path) -> None:
    """Every generation has its expected result. A second run judges nothing and writes the same files."""
    ended = start("demo", "--out", "out", "--log-file", "out/log.jsonl")
    assert ended.returncode == 0, ended.stderr
    logged = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").open()]
    assert [event["command"] for event in logged if event["event"] == "run_begins"] == [
        "ioi-eval score", "ioi-eval apps score",
    ]  # fmt: skip
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
    check_apps(tmp_path, ended.stdout)
    again = start("demo", "--out", "out")
    assert again.returncode == 0
    assert f"0 judged, {len(results)} from earlier runs\n" in again.stdout
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == first
    for half in ("out", "out/apps"):
        assert json.loads((tmp_path / half / "summary.json").read_text())["this_run"]["judged"] == 0


def check_apps(folder: Path, stdout: str) -> None:
    """The programs in Python have their expected results. The files that the demo leaves can be used in other calls."""
    stated = [json.loads(line) for line in sample.apps_expected().open()]
    results = [json.loads(line) for line in (folder / "out/apps/results.jsonl").open()]
    assert [row["uuid"] for row in results] == [row["uuid"] for row in stated]
    for row, expected in zip(results, stated, strict=True):
        worth = (row["verdict"], row["passed"], row["total"])
        assert worth == (expected["expected_verdict"], expected["expected_passed"], expected["expected_total"]), row
    assert "Report:  out/apps/report.md" in stdout
    assert "Programs and problems: out/apps-sample" in stdout


def test_an_interrupt_ends_it(environment: Mapping[str, str], tmp_path: Path) -> None:
    """The second sample is not judged after an interrupt in the first."""
    command, journal = [*COMMAND, "demo", "--out", "out", "--workers", "1"], tmp_path / "out" / "journal"
    ended = ended_after_a_result(command, journal, environment, tmp_path, signal.SIGINT)
    assert ended.returncode == 130, ended.stderr
    assert "The sample of APPS" not in ended.stdout


def test_readme_s_commands_work_on_the_sample(start: Start, tmp_path: Path) -> None:
    """The commands are run unchanged on the demo's files. The slow program is left out, because its verdict depends on
    the load.
    """
    dump = write_sample(tmp_path / "ioi-eval-demo") / "dump.jsonl"
    slow = {row["uuid"] for row in map(json.loads, sample.apps_expected().open()) if row["expected_verdict"] == "TLE"}
    quick = [line for line in dump.open() if json.loads(line)["uuid"] not in slow]
    assert len(quick) == 17
    dump.write_text("".join(quick))
    text = README.read_text(encoding="utf-8").replace(" \\\n", " ")
    calls = [
        shlex.split(line) for line in text.splitlines() if line.startswith("    ioi-eval apps") and "sample" in line
    ]
    assert [call[2] for call in calls] == ["score", "explain", "audit", "score"]
    for call in calls:
        ended = start(*call[1:])
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout


def test_the_sample_by_other_rules(start: Start, tmp_path: Path) -> None:
    """The problem with several answers is judged by its checker, the one with recursion by the rules of Eval Protocol's
    page.
    """
    (tmp_path / "checker.cpp").write_bytes(sample.apps_checker().read_bytes())
    stated = [json.loads(line) for line in sample.apps_expected().open()]
    for problem, options, column in (
        (3, ("--comparator", "checker:checker.cpp"), "expected_passed_by_checker"),
        (4, ("--compat", "eval-protocol-page"), "expected_passed_by_page"),
    ):
        ended = start(
            *("apps", "score", sample.apps_dump(), "--dataset", sample.apps_problems(), "--out", "out"),
            *("--timeout", "2", "-t", str(problem), *options),
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        passed = [json.loads(line)["passed"] for line in (tmp_path / "out/results.jsonl").open()]
        assert passed == [row[column] for row in stated if row["problem_id"] == problem]
