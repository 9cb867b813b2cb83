"""A run with nothing new leaves the result files unchanged. After any change they are written again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.config import Unscored
from ioi_eval.pipeline import unchanged
from ioi_eval.pipeline.contest_dump import RowSelection
from ioi_eval.pipeline.unchanged import digest_of_package
from tests.pipeline.scripted import Contest, ScriptedScorer, programs
from tests.test_architecture import PACKAGE

ROWS = programs("0.5", "1", "0.5", "CE", None)


def files(contest: Contest) -> dict[str, tuple[int, int]]:
    """The result files with their modification times."""
    return {
        name: (status.st_ino, status.st_mtime_ns)
        for name in ("results.jsonl", "tests.jsonl", "inputs.jsonl")
        for status in [os.stat(contest.out / name)]
    }


def test_results_are_not_written_again_if_nothing_is_new(contest: Contest, scorer: ScriptedScorer) -> None:
    """No result file is written again. The summary is that of the last run."""
    contest.write(*ROWS)
    first = contest.run(scorer).summary
    before, judged = files(contest), list(scorer.judged)
    for _ in range(3):
        outcome = contest.run(scorer)
        assert (files(contest), scorer.judged, outcome.exit_code) == (before, judged, 0)
        run = outcome.summary["this_run"]
        assert (run["judged"], run["copies"], run["resumed"]) == (0, 0, 5)
        summary = json.loads((contest.out / "summary.json").read_text())
        for values in (outcome.summary, summary):
            same = {name for name in first if values[name] == json.loads(json.dumps(first[name]))}
            assert first.keys() - same <= {"this_run", "started", "finished"}
    assert contest.progress.verdicts == ["resumed"] * 5


def edited(name: str) -> Callable[[Contest], dict[str, Any]]:
    """A function that changes a file."""

    def change(contest: Contest) -> dict[str, Any]:
        path = contest.out / name
        path.write_bytes(path.read_bytes()[:-1] + b" \n")
        return {}

    return change


def deleted(name: str) -> Callable[[Contest], dict[str, Any]]:
    """A function that deletes a file."""

    def change(contest: Contest) -> dict[str, Any]:
        (contest.out / name).unlink()
        return {}

    return change


def grown(contest: Contest) -> dict[str, Any]:
    """Add a row."""
    contest.write(*ROWS, {**ROWS[0], "uuid": "new"})
    return {}


def corrected(contest: Contest) -> dict[str, Any]:
    """Change a column that judging does not read. The dump keeps its size and modification time."""
    status = contest.dump.stat()
    contest.dump.write_bytes(contest.dump.read_bytes().replace(b"prompt 1", b"prompt X"))
    os.utime(contest.dump, ns=(status.st_atime_ns, status.st_mtime_ns))
    return {}


CHANGES: dict[str, Callable[[Contest], dict[str, Any]]] = {
    "results edited": edited("results.jsonl"),
    "tests deleted": deleted("tests.jsonl"),
    "inputs deleted": deleted("inputs.jsonl"),
    "summary edited": edited("summary.json"),
    "summary deleted": deleted("summary.json"),
    "state damaged": edited(".written.json"),
    "dump grown": grown,
    "dump corrected": corrected,
    "option": lambda _: {"options": {"std": "gnu++20"}},
    "unscored": lambda _: {"unscored": Unscored.ZERO},
    "selection": lambda _: {"selection": RowSelection(limit=4)},
    "failed again": lambda _: {"retry_failed": True},
    "started over": lambda _: {"resume": False},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_has_results_written_again(
    contest: Contest, scorer: ScriptedScorer, change: Callable[[Contest], dict[str, Any]], tmp_path: Path
) -> None:
    """They equal those of a run in a new directory."""
    contest.write(*ROWS)
    contest.run(scorer)
    before = files(contest)
    settings = change(contest)
    contest.run(ScriptedScorer(), **settings)
    if change is not CHANGES["state damaged"]:
        assert files(contest) != before
    fresh = Contest(tmp_path / "fresh")
    fresh.directory.mkdir()
    fresh.dump = contest.dump
    fresh.run(ScriptedScorer(), **settings)
    for name in ("results.jsonl", "tests.jsonl", "inputs.jsonl"):
        assert (contest.out / name).read_bytes() == (fresh.out / name).read_bytes()


def test_another_fingerprint_has_results_written_again(contest: Contest, scorer: ScriptedScorer) -> None:
    """Rules, limits or tests: anything in the fingerprint."""
    contest.write(*ROWS)
    contest.run(scorer)
    other = ScriptedScorer("2")
    contest.run(other)
    assert sorted(other.judged) == sorted(scorer.judged)


def test_a_changed_package_has_results_written_again(
    contest: Contest, scorer: ScriptedScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A corrected column or report is written although the version has the same number. Nothing is judged again."""
    contest.write(*ROWS)
    contest.run(scorer)
    before, judged = files(contest), list(scorer.judged)
    with monkeypatch.context() as corrected_package:
        corrected_package.setattr(unchanged, "digest_of_package", lambda _: "other")
        contest.run(scorer)
        after = files(contest)
        contest.run(scorer)
    assert (after != before, files(contest) == after, scorer.judged) == (True, True, judged)


def test_the_digest_of_the_package_covers_what_makes_results(tmp_path: Path) -> None:
    """Each module, and files that reports are made from. Not what Python compiles from modules, the sample, or what is
    no file.
    """
    package = tmp_path / "ioi_eval"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "sample"))
    before = digest_of_package(str(package))
    assert before == digest_of_package(str(PACKAGE))
    for name in (
        *("estimates.py", "scores.py", "report/summary.py", "report/page/page.css", "report/ioi_cutoffs.csv"),
        *("pipeline/contest.py", "apps/summary.py", "extract/fences.py", "rows/__init__.py", "cli/scoring.py"),
    ):
        content = (package / name).read_bytes()
        (package / name).write_bytes(content + b"\n")
        digest_of_package.cache_clear()
        assert digest_of_package(str(package)) != before, name
        (package / name).write_bytes(content)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "scores.pyc").touch()
    (package / "dangling.py").symlink_to("nowhere")
    os.mkfifo(package / "fifo")
    digest_of_package.cache_clear()
    assert digest_of_package(str(package)) == before


def test_failures_of_ours_are_judged_again(contest: Contest, scorer: ScriptedScorer) -> None:
    """Results with a JE of ours are not final."""
    contest.write(*programs("1", "JE"))
    contest.run(scorer)
    contest.run(scorer)
    assert scorer.judged == ["u0", "u1", "u1"]
