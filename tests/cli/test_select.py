"""`ioi-eval select`: a table of selection methods, computed from our results or the reference's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.addition import Start, Write
from tests.small_results import contest_row, refused, write_results


def result(name: str, scores: tuple[float, float], problem: str = "add", **other: Any) -> dict[str, Any]:
    """A result as the reference writes it: samples, and a subtask of 100 points."""
    results = [
        {"subtask": subtask, "points": points, "score": score, "weighted_score": score * points, "status": "PA"}
        for subtask, points, score in (("00", 0, scores[0]), ("01", 100, scores[1]))
    ]
    row = {"uuid": name, "year": 2024, "problem_id": problem, "code": "x", "code_compiles": True}
    return {**row, "target_subtask": "01", "all_subtasks_results": results, **other}


@pytest.fixture
def results_of_three_models(write: Write, tmp_path: Path) -> None:
    """Results of three models, with a practice problem."""
    (tmp_path / "out").mkdir()
    write(
        "out/results.jsonl",
        result("a", (0, 0.25), model="m1"), result("b", (1, 0.5), model="m1"), result("c", (0, 1.0), model="m2"),
        result("d", (1, 1.0), "easy", model="m2", day="practice"),
    )  # fmt: skip


@pytest.mark.usefixtures("results_of_three_models")
def test_methods_are_columns_of_the_table(start: Start) -> None:
    """By group, with a sum without the practice problem. The oracle is named as one."""
    ended = start("select", "out", "--by", "none", "--limit", "1")
    assert ended.returncode == 0, ended.stderr
    lines = [line.split() for line in ended.stdout.splitlines()]
    assert lines[2][:6] == ["2024/add", "3", "100", "100", "50", "25"]
    assert [line[:5] for line in lines if line[:3] == ["2024", "in", "all"]] == [["2024", "in", "all", "3", "100"]]
    assert "oracle: the best choice, or nearly, with knowledge of all scores; no result of a model" in ended.stdout
    assert not any(words in ended.stdout for words in ("without a score", "Left out"))
    groups = json.loads(start("select", "out", "--json", "--selection", "reference").stdout)["groups"]
    assert [group["name"] for group in groups] == ["m1", "m2"]
    assert groups[0]["problems"][0]["scores"]["reference"]["value"] == 50


def test_a_column_day_of_the_dump_is_not_the_day_of_the_contest(start: Start, write: Write, tmp_path: Path) -> None:
    """It may be a date. The summary names the days; rows of the reference have them, because they have no summary."""
    days = {"contest": None, "easy": "practice", "last": "Day 2"}
    (tmp_path / "out").mkdir()
    ours = {"verdict": "PA", "fingerprint": "of a", "duplicate_of": None, "day": "2024-09-01"}
    write("out/results.jsonl", *(result("a", (1, 0.5), problem, **ours) for problem in days))
    problems = [{"year": 2024, "problem": name, "day": day} for name, day in days.items()]
    write("out/summary.json", {"options": {}, "problems": problems})
    (group,) = json.loads(start("select", "out", "--json").stdout)["groups"]
    assert [line["name"] for line in group["days"]] == ["2024, Day 2"]
    assert [line["scores"]["all"]["value"] for line in group["years"]] == [100]


def test_submissions_without_a_score_are_mentioned(start: Start, write: Write, tmp_path: Path) -> None:
    """Also if a run of the reference wrote zeros for them."""
    failed = result("a", (0, 0))
    failed["all_subtasks_results"][1]["status"] = "JE"
    (tmp_path / "out").mkdir()
    write("out/results.jsonl", failed, result("b", (0, 0.5)))
    assert "without a score because of a judge error (JE): their subtasks" in start("select", "out").stdout


def test_a_submission_without_a_score_is_not_the_best_one(start: Start, tmp_path: Path) -> None:
    """As in `summary.json`. Its subtasks with a score count in the sum of best subtasks, there too."""
    write_results(tmp_path / "out", [contest_row("a", 1.0, None), contest_row("b", 0.0, 0.5)])
    ended = start("select", "out", "--json", "--selection", "single", "--selection", "all")
    scores = json.loads(ended.stdout)["groups"][0]["problems"][0]["scores"]
    assert {method: score["value"] for method, score in scores.items()} == {"single": 25, "all": 75}


def test_rows_that_could_not_be_judged_are_no_submissions(start: Start, write: Write, tmp_path: Path) -> None:
    """For example because their problem is mistyped. They take no place within the limit, and are counted."""
    reason = "problem 2024/ad is not among the problems"
    typo = refused("a", reason, year=2024, problem_id="ad", code="x", model="m1")
    twice = refused("b", "the id b occurs twice", year=2024, problem_id="add", code="x", model="m1")
    other = refused("c", reason, year=2024, problem_id="ad", code="x", model="m2")
    (tmp_path / "out").mkdir()
    write("out/results.jsonl", typo, twice, other, result("b", (0, 0.5), model="m1"))
    whole = start("select", "out", "--by", "none", "--limit", "1")
    assert whole.returncode == 0, whole.stderr
    assert whole.stdout.splitlines()[2].split() == [
        "2024/add",
        "1",
        "50",
        "50",
        "50",
        "50",
        *["50", "[50,", "50]"],
        "50",
    ]
    assert "2024/ad " not in whole.stdout
    assert "Left out: 3 rows that could not be judged." in whole.stdout
    groups = json.loads(start("select", "out", "--json").stdout)["groups"]
    assert [(group["name"], len(group["problems"]), group["refused"]) for group in groups] == [
        ("m1", 1, 2),
        ("m2", 0, 1),
    ]
    assert "m2:" in start("select", "out").stdout


@pytest.mark.usefixtures("results_of_three_models")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--selection", "best"),
            "no such value 'best'; there are: single, all, round-robin, first, random, oracle, reference",
        ),
        (("--selection", "reference", "--limit", "5"), "always selects 50"),
        (("--by", "prompt"), "--by prompt: no row has anything"),
    ],
)
def test_wrong_calls_say_what_to_do(start: Start, arguments: tuple[str, ...], words: str) -> None:
    """The exit code is 2."""
    ended = start("select", "out", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr


def test_points_are_compared_with_contestants(start: Start, write: Write, tmp_path: Path) -> None:
    """By day and year, with the medal and rank that they would have. Published medal limits are used only for a whole
    IOI.
    """
    (tmp_path / "out").mkdir()
    rows = [result(name, (0, 0.5), f"p{n}", day=str(1 + n // 3), year=2008) for n, name in enumerate("abcdef")]
    write("out/results.jsonl", *rows, result("x", (0, 1.0), "easy", day="practice", year=2008))
    (tmp_path / "ioi.csv").write_text("contestant,points,medal\nA,500,gold\nB,299,silver\nC,100,\nD,0,\n")
    methods = ("--selection", "all", "--selection", "random")
    ended = start("select", "out", *methods, "--standings", "ioi.csv")
    assert ended.returncode == 0, ended.stderr
    lines = [" ".join(line.split()) for line in ended.stdout.splitlines()]
    assert "2008, day 1 3 150 150 [150, 150]" in lines
    assert "2008 in all 6 300 300 [300, 300]" in lines
    assert "all 300 silver, rank 2 of 4, percentile 75" in lines
    assert any(line.startswith("Rank 2 of 4: 1 of 4 contestants have more points. Percentile 75") for line in lines)
    assert "Points needed for medals: gold 500, silver 299. Source: ioi.csv" in lines
    found = json.loads(start("select", "out", "--json", "--selection", "all").stdout)["groups"][0]["contests"]
    assert [(one["name"], one["ranks"]["all"]["medal"], one["ranks"]["all"]["rank"]) for one in found] == [
        ("IOI 2008", "silver", None)
    ]
    write("out/results.jsonl", *rows[:5])
    assert json.loads(start("select", "out", "--json").stdout)["groups"][0]["contests"] == []
    (tmp_path / "ioi.csv").write_text("points,year\n500,2007\n")
    wrong = start("select", "out", "--standings", "ioi.csv")
    assert (wrong.returncode, "but none has a problem of out/results.jsonl" in wrong.stderr) == (2, True)


def test_standings_of_the_contest_of_one_group(start: Start, write: Write, tmp_path: Path) -> None:
    """A group without points in that contest does not hinder the others."""
    (tmp_path / "out").mkdir()
    rows = [result(f"p{n}", (0, 0.5), f"p{n}", model="a") for n in range(6)]
    write("out/results.jsonl", *rows, result("x", (0, 0.5), "other", model="b", year=2007))
    (tmp_path / "ioi.csv").write_text("points,year\n500,2024\n1,2024\n")
    ended = start("select", "out", "--json", "--selection", "all", "--by", "model", "--standings", "ioi.csv")
    assert ended.returncode == 0, ended.stderr
    assert [len(group["contests"]) for group in json.loads(ended.stdout)["groups"]] == [1, 0]


def test_a_tie_with_a_contestant_is_a_tie(start: Start, write: Write, tmp_path: Path) -> None:
    """Points with decimals are added exactly: as binary numbers these are a little less than 251.71 together."""
    shares = (0.4363, 0.3748, 0.9685, 0.1674, 0.52, 0.0501)
    (tmp_path / "out").mkdir()
    write("out/results.jsonl", *(result(f"p{n}", (0, share), f"p{n}") for n, share in enumerate(shares)))
    (tmp_path / "ioi.csv").write_text("points,medal\n251.71,gold\n1,bronze\n")
    ended = start("select", "out", "--json", "--selection", "all", "--standings", "ioi.csv")
    (contest,) = json.loads(ended.stdout)["groups"][0]["contests"]
    assert contest["scores"]["all"]["value"] == 251.71
    assert (contest["ranks"]["all"]["medal"], contest["ranks"]["all"]["rank"]) == ("gold", 1)
