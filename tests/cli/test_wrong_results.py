"""Results that a command cannot use, and groups too small for intervals. Each case has a message of one line that says
what to do.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.addition import PROBLEMS, TESTS, Start, Write, submission_row
from tests.hub_stand_in import Hub, put_rows
from tests.small_results import apps_row, contest_row, write_results


@pytest.fixture
def sets(tmp_path: Path) -> None:
    """Results of a contest, of APPS, of a newer version, and with groups of one row."""
    write_results(tmp_path / "one", [contest_row("a", 1.0)])
    write_results(tmp_path / "empty", [])
    write_results(tmp_path / "apps", [apps_row("a", True)])
    (tmp_path / "contestants.csv").write_text("points\n100\n")
    write_results(tmp_path / "new", [contest_row("a", 1.0)], {"format": 99, "ioi_eval": "9.9"})
    scores = {"m1": 1.0, "m2": 0.0, "m3": None}
    write_results(tmp_path / "models", [contest_row(name, score, model=name) for name, score in scores.items()])


@pytest.mark.usefixtures("sets")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(
            (arguments, "new/summary.json has format 99, of ioi_eval 9.9: this version reads format 1; install that")
            for arguments in (
                ("report", "new"),
                ("report", "one", "new", "--out", "all"),
                ("compare", "one", "new"),
                ("show", "new", "a"),
                ("select", "new"),
                ("export", "new", "--to", "junit"),
            )
        ),
        (("compare", "one", "apps"), "one holds results of contest problems, apps of APPS problems: they cannot be"),
        (("select", "apps"), "apps holds results of APPS problems: only contests limit submissions"),
        (("report", "one", "apps", "--out", "all"), "make a report of each"),
        (("report", "one", "--by", "prompt"), "--by prompt: no row has anything in that column; the"),
        (("compare", "one", "one", "--only-a", "prompt=x"), "one: no column prompt"),
        (("report", "me/results"), "me/results/results.jsonl does not exist; check the path"),
        (("report", "empty"), "empty/results.jsonl is empty: there are no results to look at"),
        (("report", "one", "empty", "--out", "all"), "empty/results.jsonl is empty: there are no results to look at"),
        (
            ("report", "one", "--standings", "no.csv"),
            "no.csv cannot be read as a CSV table of contestants: No such file",
        ),
        (
            ("report", "apps", "--standings", "contestants.csv"),
            "results of APPS problems have no contests to compare with",
        ),
        (("compare", "one", "me/results"), "me/results/results.jsonl does not exist; check the path"),
    ],
)
def test_results_that_cannot_be_used(start: Start, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    """Nothing is written."""
    before = sorted(tmp_path.rglob("*"))
    ended = start(*arguments)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert words in ended.stderr
    assert sorted(tmp_path.rglob("*")) == before


Keys = tuple[str | int, ...]
_WITHOUT_YEAR = {"day": "1", "problem": "nile", "submissions": 2, "verdicts": {}}


@pytest.mark.parametrize(
    ("file", "keys", "value", "names", "words"),
    [
        ("results.jsonl", ("all_subtasks_results", 1), None, "compare", "line 2: all_subtasks_results[1] is null, and"),
        ("results.jsonl", ("all_subtasks_results", 0, "weighted_score"), "x", "select", "type number or null"),
        ("results.jsonl", ("all_subtasks_results", 1, "weighted_score"), 1e308, "select", "at most 1000000000"),
        ("results.jsonl", ("all_subtasks_results", 0, "subtask"), ..., "compare", "[0] lacks subtask; correct it, or"),
        ("results.jsonl", ("verdict",), [], "report", "line 2: verdict is [], and must be one of AC, PA, WA"),
        ("results.jsonl", ("total_score",), "50", "compare", "line 2: total_score is \"50\", and must be of type"),
        ("results.jsonl", ("time_scale",), "x", "compare show", "time_scale is \"x\", and must be of type number"),
        ("tests.jsonl", ("test_results", 0), 0, "show export", "line 2: test_results[0] is 0, and must be of type obj"),
        ("tests.jsonl", ("subtasks", "00", 0), 9, "show export", "subtasks has the number of a test that it do"),
        ("inputs.jsonl", ("bytes",), [], "report", "line 1: bytes is [], and must be of type integer; delete the fil"),
        ("inputs.jsonl", ("test",), {}, "report", "line 1: test is {}, and must be of type string; delete the fi"),
        ("summary.json", ("problems_pending",), 1.5, "report", "problems_pending is 1.5, and must be of type array; d"),
        ("summary.json", ("problems", 0, "memory_limit_bytes"), "", "report", "memory_limit_bytes is \"\", and must"),
        ("summary.json", ("problems", 0), _WITHOUT_YEAR, "select", "problems[0] lacks year; delete it: `ioi-eval"),
        ("summary.json", ("notes",), 5, "report", "notes is 5, and must be of type array; delete it: `ioi-ev"),
    ],
)  # fmt: skip
def test_files_of_a_run_that_somebody_edited(
    start: Start, tmp_path: Path, *, file: str, keys: Keys, value: object, names: str, words: str
) -> None:
    """A value of another type, or a missing one, is named with its file and line. All files stay as they are."""
    out = tmp_path / "out"
    rows = [contest_row("a", 1.0, 1.0), contest_row("b", 0.0, 1.0)]
    write_results(out, rows, inputs={("2024/nile", "00-01"): b"7\n"})
    assert start("report", "out").returncode == 0  # makes a summary
    lines = (out / file).read_text(encoding="utf-8").splitlines() if file.endswith(".jsonl") else []
    values = json.loads(lines[-1] if lines else (out / file).read_bytes())
    *place, last = keys
    inner = values
    for key in place:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    (out / file).write_text("\n".join([*lines[:-1], json.dumps(values)]) + "\n", encoding="utf-8")
    calls = {
        "compare": ("compare", "out", "out"), "select": ("select", "out"), "show": ("show", "out", "b"),
        "report": ("report", "out"), "export": ("export", "out", "--to", "junit"),
    }  # fmt: skip
    before = {path: path.read_bytes() for path in out.glob("*.json*")}
    for command in names.split():
        ended = start(*calls[command])
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
        assert f"out/{file}" in ended.stderr
        assert words in ended.stderr
        assert {path: path.read_bytes() for path in out.glob("*.json*")} == before


def test_a_directory_with_a_journal_of_another_version(score: Start, write: Write, tmp_path: Path) -> None:
    """A run does not write into that directory."""
    write("dump.jsonl", submission_row("a"))
    journal = tmp_path / "out" / "journal"
    journal.parent.mkdir()
    journal.write_bytes(b"ioi-eval journal 99\nsomething else")
    ended = score("dump.jsonl")
    assert ended.returncode == 2
    assert "out/journal: not a journal of this version of ioi-eval; move it away, or choose another" in ended.stderr
    assert journal.read_bytes() == b"ioi-eval journal 99\nsomething else"
    assert not (tmp_path / "out" / "results.jsonl").exists()


@pytest.mark.usefixtures("sets")
def test_groups_of_one_row(start: Start, tmp_path: Path) -> None:
    """They have values without an interval. A group whose only row is JE has no values."""
    ended = start("report", "models", "--by", "model")
    assert ended.returncode == 1, ended.stderr
    groups = json.loads((tmp_path / "models" / "summary.json").read_text())["groups"]
    assert {group["name"]: group["average_score"] for group in groups} == {
        "m1": {"value": 1.0, "low": None, "high": None}, "m2": {"value": 0.0, "low": None, "high": None}, "m3": None,
    }  # fmt: skip
    assert [line.split()[:6] for line in ended.stdout.splitlines()[2:5]] == [
        ["m1", "1", "0", "1", "100.00", "%"], ["m2", "1", "0", "1", "0.00", "%"], ["m3", "0", "1", "1", "–", "–"],
    ]  # fmt: skip

    ended = start("compare", "models", "models", "--only-a", "model=m1", "--only-b", "model=m2", "--by-problem")
    assert ended.returncode == 0, ended.stderr
    assert "with fewer than 6 there are no intervals, and a difference may be chance)" in ended.stdout
    assert "[" not in ended.stdout
    ended = start("compare", "models", "models", "--only-a", "model=m1", "--only-b", "model=m3", "--by-problem")
    assert ended.returncode == 2
    assert "models and models have no problem in common that was judged in both" in ended.stderr


def test_private_data_sets_on_the_hub(start: Start, write: Write, hub: Hub, tmp_path: Path) -> None:
    """Without a token they cannot be told from missing ones, so the message names HF_TOKEN."""
    problems, tests = write("problems.jsonl", *PROBLEMS), write("tests.jsonl", *TESTS)
    dump = write("dump.jsonl", submission_row("a", None, generation="no"))
    for name, rows in (("dump", [submission_row("a", None, generation="no")]), ("problems", PROBLEMS)):
        (put_rows(hub.root, f"me/{name}", rows) / ".private").touch()
    stranger = {**hub.environment, "HF_TOKEN": "hf_other"}
    for arguments, name in (
        (("me/dump", "--problems", problems), "me/dump"),
        ((dump, "--problems", "me/problems"), "me/problems"),
    ):
        call = ("score", *arguments, "--tests", tests, "--out", "out")
        ended = start(*call, env=stranger)
        assert ended.returncode == 2
        last = ended.stderr.splitlines()[-1]
        assert f"there is no file or directory {name}, so it was taken for a data set of the Hub" in last
        assert "HF_TOKEN if it is not public" in last
        assert ".." not in last
        assert not (tmp_path / "out").exists()
    ended = start(
        "score", "me/dump", "--problems", "me/problems", "--tests", tests, "--out", "out", env=hub.environment
    )
    assert ended.returncode == 0, ended.stderr
