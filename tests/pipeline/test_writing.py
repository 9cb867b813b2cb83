"""Result files are written completely or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from ioi_eval.errors import SetupError
from ioi_eval.pipeline.writing import replacing
from tests.pipeline.scripted import Contest, ScriptedScorer, programs


def test_the_input_of_the_test_that_gave_the_verdict_is_written(contest: Contest, scorer: ScriptedScorer) -> None:
    """Not that of tests before it, in the same subtask or in another, that have a part of the score."""
    contest.write(*programs("0.5 0.2 0", "0.5 0.2 0.3"))
    contest.run(scorer)
    lines = map(orjson.loads, (contest.out / "inputs.jsonl").read_bytes().splitlines())
    assert [line["test"] for line in lines] == ["2-01", "0-01"]


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path: Path) -> None:
    """If writing ends early, the old file stays, and there is no other file."""
    path = tmp_path / "results.jsonl"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"half of the new", None])  # type: ignore[list-item]
    assert path.read_text() == "old"
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The message names the journal, if there is one. A report of several directories has none, and needs none."""
    (tmp_path / "journal").touch()
    (tmp_path / "results.jsonl").mkdir()
    for path, words in (
        (
            tmp_path / "no" / "results.jsonl",
            r"No such file or directory\. Fix the cause and run the same command again",
        ),
        (tmp_path / "results.jsonl", rf"Is a directory\. The results are in {tmp_path}/journal; fix the cause and run"),
    ):
        with pytest.raises(SetupError, match=rf"results\.jsonl cannot be written: {words}"), replacing(path):
            pass


FILL = """
import pathlib, resource, signal, sys
from ioi_eval.errors import SetupError
from tests.pipeline.scripted import Contest, ScriptedScorer
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    Contest(pathlib.Path(sys.argv[1])).run(ScriptedScorer())
except SetupError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [60_000, 300_000], ids=["journal", "results"])
def test_a_run_can_be_resumed_after_a_full_disk(contest: Contest, limit: int) -> None:
    """The disk is full for the journal or for the results. Stored results are not judged again."""
    contest.write(*({**row, "prompt": "x" * 2000} for row in programs(*(f"1 // {n}" for n in range(200)))))
    child = [sys.executable, "-c", FILL, str(contest.directory), str(limit)]
    run = subprocess.run(
        child, capture_output=True, text=True, check=True, env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert "File too large" in run.stdout
    assert not (contest.out / "results.jsonl").exists()
    scorer = ScriptedScorer()
    assert contest.run(scorer).exit_code == 0
    assert len(scorer.judged) == (0 if limit > 100_000 else pytest.approx(100, abs=60))
    assert len(contest.results()) == 200
    assert {orjson.loads(line)["total_score"] for line in (contest.out / "results.jsonl").open()} == {100}
