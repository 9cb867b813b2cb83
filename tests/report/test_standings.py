"""Real contestants: tables, the rows of LiveOIBench, and the points needed for medals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.report.standings import MEDALS, Standings, published_cutoffs, read_standings

CSV = """contestant,points,medal,year
A,600,Gold,2024
B,400.5,silver,2024
C,400.5,silver,2024
D,100,,2024
E,90,bronze,2023
"""


@given(st.lists(st.floats(0, 600), min_size=1), st.floats(0, 600), st.floats(0, 600))
def test_more_points_never_give_a_worse_rank(totals: list[float], one: float, other: float) -> None:
    """A rank is between 1 and the number of contestants plus 1, a percentile between 0 and 100."""
    standings = Standings(contest="c", totals=tuple(totals), cutoffs={"gold": 400.0, "bronze": 200.0})
    low, high = (standings.rank(points) for points in sorted((one, other)))
    assert low.rank is not None
    assert high.rank is not None
    assert low.percentile is not None
    assert high.percentile is not None
    assert 1 <= high.rank <= low.rank <= len(totals) + 1
    assert 0 <= low.percentile <= high.percentile <= 100
    order = [*MEDALS, "none"]
    assert order.index(str(high.medal)) <= order.index(str(low.medal))


def test_a_table_has_a_contest_for_each_year(tmp_path: Path) -> None:
    """With or without a byte order mark. A medal needs the points of its last holder. Equal contestants
    share a rank.
    """
    path = tmp_path / "ioi.csv"
    path.write_text(CSV, encoding="utf-8-sig")
    of_2024, of_2023 = read_standings(str(path))
    assert of_2024.cutoffs == {"gold": 600, "silver": 400.5}
    assert of_2024.rank(400.5).text() == "silver, rank 2 of 4, percentile 25"
    assert of_2024.rank(400).text() == "no medal, rank 4 of 4, percentile 25"
    assert of_2024.rank(0).text() == "no medal, rank 5, behind all 4, percentile 0"
    assert of_2024.rank(400.5).meaning() == (
        "Rank 2 of 4: 1 of 4 contestants have more points. Percentile 25: 25 % of the contestants have fewer points."
    )
    assert (of_2023.rank(91).medal, of_2023.has("2024/nile", practice=False)) == ("bronze", False)
    assert of_2024.has("2024/nile", practice=False)
    assert not of_2024.has("2024/nile", practice=True)
    path.write_text("Points\n" + "1\n" * 399 + "3\n")
    (of_many,) = read_standings(str(path))
    assert of_many.rank(2).text() == "rank 2 of 400, percentile 99"  # not rounded up to 100
    path.write_text("Points\n1\n3\n")
    (any_year,) = read_standings(str(path))
    assert any_year.rank(2).text() == "rank 2 of 2, percentile 50"
    assert any_year.has("1999/x", practice=False)
    path.write_text("points,year\n1,2024.0\n2,2024\n")
    (of_table,) = read_standings(str(path))
    assert (of_table.year, of_table.totals) == ("2024", (1.0, 2.0))


def test_tables_as_spreadsheets_write_them(tmp_path: Path) -> None:
    """Rows may be shorter or longer than the heading, columns may have no name. A medal may be stated to be none. The
    contest is called after its year, else after the file.
    """
    path = tmp_path / "ioi 2024.csv"
    path.write_text("points,medal,,\n300,gold,,,,\n200,None\n100,HM\n90,–\n80\n", encoding="utf-8")
    (found,) = read_standings(str(path))
    assert (found.totals, found.cutoffs) == ((300, 200, 100, 90, 80), {"gold": 300})
    assert found.contest == "ioi 2024"
    path.write_text(CSV)
    assert [each.contest for each in read_standings(str(path))] == ["2024", "2023"]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"points\n1\n\xff\n", "can't decode"), (b"points\n" + b"1" * 200_000, "field"), (None, "Is a directory")],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    """Text in another encoding, a field that is too long for a table, a directory."""
    path = tmp_path / "a.csv"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.csv cannot be read as a CSV table of contestants: .*{words}"):
        read_standings(str(path))


def live(**other: Any) -> dict[str, Any]:
    """A contest in the format of LiveOIBench: some medal limits are unknown, and some contestants have no points."""
    ranking = [
        {"Rank": 1, "a": 100, "Total": 300, "Recalculated_Total": 200},
        {"Rank": 2, "Recalculated_Total": "90.5"},
    ]
    return {
        "contest_id": "APIO-2024-contest", "gold_cutoff": 200.0, "silver_cutoff": None, "bronze_cutoff": float("nan"),
        "contestants_ranking": json.dumps([*ranking, {"Rank": 3, "Recalculated_Total": None}]),
        "problems": json.dumps(["APIO-2024-contest-train", "APIO-2024-contest-show"]), **other,
    }  # fmt: skip


def test_contests_of_liveoibench_are_read(tmp_path: Path) -> None:
    """Points recomputed for its problems have precedence. Lists need not be texts."""
    path = tmp_path / "contests.jsonl"
    no_ranking = {
        "contest_id": "x",
        "contestants_ranking": [],
        "problems": ["y"],
        "bronze_cutoff": 5,
        "gold_cutoff": 10**400,
    }
    path.write_text("".join(json.dumps(row) + "\n" for row in (live(), no_ranking)))
    found, other = read_standings(str(path))
    assert (found.totals, found.cutoffs) == ((200.0, 90.5), {"gold": 200.0})
    assert found.has("2024/APIO-2024-contest-train", practice=False)
    assert found.incomplete(1) == "The results have 1 of its 2 problems: the points are a lower bound."
    assert found.incomplete(2) == ""
    assert other.rank(6).text() == "bronze"
    path.write_text(json.dumps(live(contestants_ranking=None)) + "\n")
    (unranked,) = read_standings(str(path))
    assert unranked.totals == ()


def test_cutoffs_of_liveoibench_may_be_texts(tmp_path: Path) -> None:
    """As in rows that were made from a CSV table; an empty text is an unknown cutoff. A text that is no number is
    refused.
    """
    path = tmp_path / "contests.jsonl"
    path.write_text(json.dumps(live(gold_cutoff="200", silver_cutoff="150.5", bronze_cutoff="")) + "\n")
    (found,) = read_standings(str(path))
    assert found.cutoffs == {"gold": 200.0, "silver": 150.5}
    assert found.rank(200).medal == "gold"
    path.write_text(json.dumps(live(gold_cutoff="high")) + "\n")
    with pytest.raises(InputError, match="'high' is not a number of points"):
        read_standings(str(path))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "name,score\nA,1\n", "needs a column points; its columns are: name, score"),
        ("a.csv", "", "there are no contestants in this table"),
        ("a.csv", "contestant,points\n", "there are no contestants in this table"),
        ("a.csv", "points,Points \n1,2\n", "two columns are called points"),
        ("a.csv", "points,medal\n1,gold\n2,iron\n", "line 3: iron is not a medal"),
        ("a.csv", "points\n1\n\n?\n", r"line 4: '\?' is not a number of points"),
        ("a.csv", "points\nnan\n", "'nan' is not a number of points"),
        ("a.txt", "points\n1\n", r"end it with \.csv \(a table with a column points\), or give rows of LiveOIBench"),
        ("b.jsonl", '{"points": 1}\n', r"b\.jsonl, row 1: .* LiveOIBench_contestants: it lacks the column problems; a"),
        ("b.jsonl", json.dumps(live(problems="{")) + "\n", "this is no contest of .*: problems is not a list; a"),
        ("b.jsonl", json.dumps(live(problems='"train"')) + "\n", "problems is not a list"),
        ("b.jsonl", json.dumps(live(problems="[" * 100_000)) + "\n", "problems is not a list"),
        ("b.jsonl", json.dumps(live(contestants_ranking={"A": 1})) + "\n", "contestants_ranking is not a list"),
        ("b.jsonl", json.dumps(live(contestants_ranking="[7]")) + "\n", "ranking has an item that is not an object"),
        ("b.jsonl", json.dumps(live(contestants_ranking='[{"Total": "?"}]')) + "\n", r"'\?' is not a number of points"),
    ],
)
def test_invalid_tables_are_refused(name: str, text: str, words: str, tmp_path: Path) -> None:
    """The message has the line and what is needed."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=words):
        read_standings(str(tmp_path / name))


def test_a_table_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No shell replaces `~` in `--standings=~/ioi.csv`, or in `ioi-eval.toml`."""
    (tmp_path / "ioi.csv").write_text("points\n1\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [standings.totals for standings in read_standings("~/ioi.csv")] == [(1.0,)]


def test_a_missing_file_is_an_error() -> None:
    """For both kinds of files."""
    for name in ("nowhere.csv", "nowhere.jsonl"):
        with pytest.raises(InputError, match=name):
            read_standings(name)


def test_published_cutoffs_have_a_source_and_an_order() -> None:
    """Gold needs more points than silver, and silver more than bronze."""
    found = published_cutoffs()
    assert [one.year for one in found] == [str(year) for year in range(1999, 2009)]
    for one in found:
        assert 600 > one.cutoffs["gold"] > one.cutoffs["silver"] > one.cutoffs["bronze"] > 0
        assert one.source.startswith("http")
        assert not one.totals
