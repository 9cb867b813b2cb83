"""`--push-to-hub`: results are pushed to a stand-in of the Hub and read with `datasets`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

import pytest
from huggingface_hub import HfApi

from ioi_eval.cli.dump_run import push
from ioi_eval.cli.run_options import RunOptions
from ioi_eval.pipeline import DumpOutcome
from ioi_eval.report.hub import HubResults
from ioi_eval.report.parquet import write_parquet
from tests.cli.addition import COMMAND, NARROW, PROBLEMS, TESTS, Pushed, Start, Write, submission_row
from tests.cli.test_hub_data_sets import DOUBLE
from tests.hub_stand_in import Hub
from tests.small_results import apps_row


@pytest.fixture
def score(write: Write) -> tuple[str | Path, ...]:
    """The arguments of `score` for a dump with two programs."""
    problems, tests = write("problems.jsonl", *PROBLEMS), write("tests.jsonl", *TESTS)
    dump = write("monday.jsonl", submission_row("one"), submission_row("two", NARROW))
    return "score", dump, "--problems", problems, "--tests", tests, "--out", "out", "--push-to-hub", "me/results"


def test_a_contest_s_results_are_pushed(
    start: Start, write: Write, score: tuple[str | Path, ...], hub: Hub, pushed: Pushed
) -> None:
    """They are pushed to a private data set, in a configuration with the dump's name, with the reports. Rows of an
    earlier, larger dump stay.
    """
    ended = start(*score, env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert "Pushed:  me/results, configuration monday" in ended.stdout
    assert (hub.root / "me" / "results" / ".private").exists()
    for name in ("report.md", "report.html", "summary.json"):
        assert (hub.root / "me" / "results" / "reports" / "monday" / name).is_file()
    points = {row["uuid"]: row["all_subtasks_points"] for row in pushed("monday")}
    assert points == {"one": 100, "two": 0}

    write("monday.jsonl", submission_row("two"))
    ended = start(*score, "--no-resume", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert "kept there: 1 row not of this dump" in ended.stdout
    verdicts = {row["uuid"]: row["verdict"] for row in pushed("monday")}
    assert verdicts == {"one": "AC", "two": "AC"}


def test_rows_with_labels_as_ids_are_matched_by_label(
    start: Start, write: Write, score: tuple[str | Path, ...], hub: Hub, pushed: Pushed
) -> None:
    """A row that is not in the new dump stays, as with other ids."""
    one, two = ({"label": row.pop("uuid"), **row} for row in (submission_row("one"), submission_row("two", NARROW)))
    for rows in ((one, two), (one,)):
        write("monday.jsonl", *rows)
        ended = start(*score, env=hub.environment)
        assert ended.returncode == 0, ended.stderr
    found = {row["label"]: row["verdict"] for row in pushed("monday")}
    assert found.keys() == {"one", "two"}


def test_results_of_apps_are_pushed(start: Start, write: Write, hub: Hub, pushed: Pushed) -> None:
    """Each program is a row. A second push of the same dump replaces its rows."""
    problems = write("problems.jsonl", DOUBLE)
    codes = ["print(2 * int(input()))", "print(4)"]
    dump = write("dump.jsonl", {"problem_id": 7, "code": codes}, {"problem_id": 7, "code": codes[1]})
    call = ("apps", "score", dump, "--dataset", problems, "--out", "out", "--push-to-hub", "me/results")
    for _ in range(2):
        ended = start(*call, env=hub.environment)
        assert ended.returncode == 0, ended.stderr
        rows = pushed("dump")
        assert len({row["submission"] for row in rows}) == len(rows)
        assert sorted(row["passed"] for row in rows) == [1, 1, 2]


def test_refused_rows_of_apps_are_told_apart(
    start: Start, write: Write, hub: Hub, pushed: Pushed, tmp_path: Path
) -> None:
    """They have no submission, so the id tells them apart. A row that is judged now replaces its refused row, and the
    reverse. A row without an id is there only once.
    """
    problems, right, bad = write("problems.jsonl", DOUBLE), "print(2 * int(input()))", {"language": "C"}
    row = {"problem_id": 7, "code": right}
    call = ("apps", "score", tmp_path / "dump.jsonl", "--dataset", problems, "--push-to-hub", "me/results", "--out")
    first = [{**row, "uuid": name, **bad} for name in ("a", "b", None)] + [{**row, "uuid": name} for name in "cd"]
    second = [{**row, "uuid": "a"}, {**row, "uuid": "c", **bad}, {**row, "uuid": None, **bad}]
    for number, rows in enumerate((first, second)):
        write("dump.jsonl", *rows)
        ended = start(*call, f"out{number}", env=hub.environment)
        assert "Pushed:" in ended.stdout, ended.stderr
    found = pushed("dump")
    verdicts = sorted((str(row["uuid"]), row["verdict"]) for row in found)
    assert verdicts == [("None", None), ("a", "AC"), ("b", None), ("c", None), ("d", "AC")]


def test_an_impossible_push_is_refused_before_judging(
    start: Start, score: tuple[str | Path, ...], hub: Hub, tmp_path: Path
) -> None:
    """A token without write access, an invalid name, or `--public` alone."""
    ended = start(*score, env={**hub.environment, "HF_TOKEN": "hf_other"})
    assert (ended.returncode, "cannot be pushed to me/results" in ended.stderr) == (2, True), ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    ended = start(*score[:-1], "results")
    assert (ended.returncode, "it has the form owner/name" in ended.stderr) == (2, True), ended.stderr
    for dry in ((), ("--dry-run",)):
        ended = start(*score[:-2], "--public", *dry)
        assert (ended.returncode, "--push-to-hub" in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (DumpOutcome(summary={}, interrupted=True, stopped_by=None), "interrupted"),
        (DumpOutcome(summary={}, interrupted=False, stopped_by="no worker left"), "stopped early (no worker left)"),
    ],
    ids=["interrupted", "stopped"],
)
def test_a_part_of_the_results_is_not_pushed(
    capsys: pytest.CaptureFixture[str], outcome: DumpOutcome, reason: str
) -> None:
    """With `replace` it would take the place of all rows."""
    hub, call = HubResults(name="me/results", api=HfApi("http://127.0.0.1:9")), cast("RunOptions", None)
    assert push(hub, "monday", call, outcome, replace=True) == 0
    line = "monday is not pushed to me/results; a run that continues this one pushes it"
    kept = "and keeps the rows that RESULTS already has"
    assert capsys.readouterr().err == f"ioi-eval: {reason}: {line}, {kept}\n"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"text": "mine"}],
            "has rows that are not results of contest problems, which these would replace (its columns: text)",
        ),
        ([apps_row("a", True)], "has rows that are not results of contest problems, which these would replace"),
        (None, "is not a Parquet file"),
    ],
    ids=["other rows", "the other family", "damaged"],
)
def test_a_file_without_results_is_not_replaced_on_the_hub(
    start: Start, score: tuple[str | Path, ...], hub: Hub, rows: list[dict[str, object]] | None, words: str
) -> None:
    """The results of the run stay in `out`. If another data set is named, they are pushed without judging again."""
    there = hub.root / "me" / "results" / "monday" / "train-00000-of-00001.parquet"
    there.parent.mkdir(parents=True)
    (hub.root / "me" / "results" / ".private").touch()
    if rows is None:
        there.write_bytes(b"no table")
    else:
        write_parquet(there, lambda: iter(rows))
    before = there.read_bytes()
    ended = start(*score, env=hub.environment)
    assert ended.returncode == 1, ended.stderr
    assert there.read_bytes() == before
    (line,) = [line for line in ended.stderr.splitlines() if "me/results" in line]
    assert "monday/train-00000-of-00001.parquet of the data set me/results" in line
    assert words in line
    assert "name another data set, or remove the file on the Hub; the results are in out" in line
    ended = start(*score[:-1], "me/others", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert (hub.root / "me" / "others" / "monday" / there.name).is_file()


@pytest.mark.parametrize("same", [False, True], ids=["two dumps", "two parts of a dump"])
def test_two_pushes_at_once(  # noqa: PLR0917 (parametrised)
    start: Start, write: Write, hub: Hub, pushed: Pushed, tmp_path: Path, same: bool
) -> None:
    """Both have read the data set before the other writes. At the end, the data set and its card have both results."""
    problems, tests = write("problems.jsonl", *PROBLEMS), write("tests.jsonl", *TESTS)
    (hub.root / "me" / "results").mkdir(parents=True)
    for name in (".private", ".together"):
        (hub.root / "me" / "results" / name).touch()
    parts = {"one": "monday", "two": "monday" if same else "tuesday"}
    calls = []
    for uuid, name in parts.items():
        (tmp_path / uuid).mkdir()
        dump = write(f"{uuid}/{name}.jsonl", submission_row(uuid, None, generation="no code"))
        sources = ("--problems", problems, "--tests", tests)
        calls.append(("score", dump, *sources, "--out", f"out-{uuid}", "--push-to-hub", "me/results"))
    words = [*COMMAND, *map(str, calls[0])]
    process = subprocess.Popen(words, cwd=tmp_path, env=hub.environment, stderr=subprocess.PIPE, text=True)
    ended = start(*calls[1], env=hub.environment)
    _, errors = process.communicate()
    assert (process.returncode, ended.returncode) == (0, 0), (errors, ended.stderr)
    found = {name: {row["uuid"] for row in pushed(name)} for name in set(parts.values())}
    assert found == ({"monday": {"one", "two"}} if same else {"monday": {"one"}, "tuesday": {"two"}})
