"""The script of the page computes the same intervals as `ioi_eval.estimates`, from the same random numbers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.cli.reporting import remake
from ioi_eval.estimates import mean_estimates, sign_flip
from ioi_eval.report.groups import Grouping
from ioi_eval.report.publication.material import Material
from ioi_eval.report.result_sets import open_results
from ioi_eval.report.texts import half_up
from tests.browser import Tab, needs_chromium
from tests.small_results import apps_row, contest_row, write_results
from tests.test_estimates import AFTER, BEFORE, FIRST_NUMBERS

pytestmark = needs_chromium


def test_the_random_numbers_are_the_same(quiet: Tab, report: Path) -> None:
    """Those of Python are tested in `test_estimates.py`."""
    quiet.open(report)
    assert quiet.value("Array.from({ length: 5 }, mulberry32(SEED)).map((number) => 2 ** 32 * number)") == FIRST_NUMBERS


def test_the_intervals_are_the_same(quiet: Tab, report: Path) -> None:
    """Of shares and of differences, in any order."""
    quiet.open(report)
    dice = random.Random(1)
    columns = [[dice.choice((0.0, dice.uniform(-1, 1))) for _ in range(count)] for count in (2, 5, 6, 10, 300)]
    for values in ([b - a for a, b in zip(BEFORE, AFTER, strict=True)], *columns):
        expected = mean_estimates({"": values})[""].as_dict()
        dice.shuffle(values)
        found = quiet.value(f"estimate({values})")
        assert found == pytest.approx(expected, abs=1e-12)
        assert (found["low"] == 0) == (expected["low"] == 0)


def test_the_randomisation_test_is_the_same(quiet: Tab, report: Path) -> None:
    """With and without all assignments of signs."""
    quiet.open(report)
    dice = random.Random(3)
    rare = []
    for count in (0, 1, 5, 6, *range(7, 30)):
        values = [dice.choice((0.0, 0.25, dice.uniform(-0.5, 1))) for _ in range(count)]
        rare.append(sign_flip(values) < 0.05)
        assert quiet.value(f"isSignFlipRare({values})") == rare[-1], values
    assert set(rare) == {False, True}


@pytest.mark.parametrize("is_apps", [False, True])
@pytest.mark.parametrize("by", ["model", "none"])
def test_the_page_shows_the_intervals_of_the_summary(quiet: Tab, tmp_path: Path, by: str, is_apps: bool) -> None:
    """The mean score, pass@1 and pass@2 of each group, or of all. The rows are in another order than the problems."""
    remake([write_results(tmp_path / "out", _random_rows(is_apps=is_apps))], None, "uuid", by=[by])
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    of = _apps_estimates if is_apps else _contest_estimates
    named = {group["name"]: of(group) for group in summary["groups"]} or {"all submissions": of(summary)}
    assert len(named) == (3 if by == "model" else 1)
    assert all(estimate["low"] < estimate["high"] for estimates in named.values() for estimate in estimates)
    quiet.open(tmp_path / "out" / "report.html")
    means, pass_at_k = (quiet.value(_CELLS.format(section)) for section in ("groups", "pass-at-k"))
    shown = {name: [means[name][0], means[name][2], pass_at_k[name][1]] for name in named}
    assert shown == {name: list(map(_text, estimates)) for name, estimates in named.items()}


@pytest.mark.parametrize("is_apps", [False, True])
def test_a_problem_to_which_all_submissions_have_judge_errors(quiet: Tab, tmp_path: Path, is_apps: bool) -> None:
    """A contest has no mean then. For APPS, whose data set may have one program for each problem, it is left out."""
    rows = [contest_row("a", 1.0), contest_row("b", None, year=2023)]
    if is_apps:
        rows = [
            apps_row("a", True),
            apps_row("b", True, problem_id="18", verdict="JE", passed=None, score=None, error="x"),
        ]
    out = write_results(tmp_path / "out", rows)
    remake([out], None, "uuid")
    summary = json.loads((out / "summary.json").read_text())
    mean = summary["difficulties"][-1]["test_case_average"] if is_apps else summary["average_score"]
    assert (mean and mean["value"]) == (1.0 if is_apps else None)
    quiet.open(out / "report.html")
    shown = quiet.value(_CELLS.format("groups"))["all submissions"]
    assert (shown[0], shown[2], shown[4]) == (*["100.0 %" if is_apps else "–"] * 2, "1")
    exported = Material(open_results(out), grouping=Grouping(), settings={}).groups[()].metrics
    assert [metric.value for metric in exported.values()] == ([1.0, 1.0] if is_apps else [])


_CELLS = """Object.fromEntries([...document.querySelectorAll("#{} tbody tr")].map((row) => {{
  const [name, ...cells] = [...row.children].map((cell) => cell.textContent);
  return [name, cells];
}}))"""


def _random_rows(*, is_apps: bool) -> list[dict[str, Any]]:
    """Four submissions of each of three models to each of 14 problems."""
    dice = random.Random(2)
    rows = []
    for number in range(4 * 3 * 14):
        problem, model = number % 14, f"m{number % 3}"
        passed = [dice.random() < 0.2 + 0.05 * problem for _ in range(2)]
        if is_apps:
            level = ("interview", "competition")[problem % 2]
            rows.append(apps_row(str(number), *passed, problem_id=str(5 * problem), difficulty=level, model=model))
        else:
            name, year = f"p{problem}", 2020 + problem % 5
            rows.append(contest_row(str(number), *map(float, passed), problem_id=name, year=year, model=model))
            for subtask in rows[-1]["all_subtasks_results"]:
                subtask["problem"] = name
    dice.shuffle(rows)
    return rows


def _contest_estimates(values: dict[str, Any]) -> list[dict[str, float]]:
    pass_at_k = [
        {"value": values["pass_at_k"][k], **dict(zip(("low", "high"), values["pass_at_k_interval"][k], strict=True))}
        for k in ("1", "2")
    ]
    return [values["average_score"], *pass_at_k]


def _apps_estimates(values: dict[str, Any]) -> list[dict[str, float]]:
    line = values["difficulties"][-1]
    return [line["test_case_average"], line["strict_accuracy"], line["pass_at_k"]["2"]]


def _text(estimate: dict[str, float]) -> str:
    value, low, high = (half_up(100 * estimate[name], 1) for name in ("value", "low", "high"))
    return f"{value} % [{low},\xa0{high}]"
