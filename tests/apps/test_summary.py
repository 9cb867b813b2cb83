"""Means by difficulty: over problems, not over solutions, without solutions that could not be judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.apps.summary import AppsSummary, DifficultyTable, missing_module
from ioi_eval.errors import InputError
from ioi_eval.report.run_summary import RunCounts, RunFacts
from tests.small_results import apps_row

RUN = RunFacts(started="", finished="", interrupted=False, options={}, counts=RunCounts())

Solution = tuple[str, str, int | None, int]
"""Problem, difficulty, tests passed, tests."""


def solutions(problem: str, difficulty: str, *passed: int | None, total: int = 4) -> list[Solution]:
    """Solutions of one problem."""
    return [(problem, difficulty, p, total) for p in passed]


def summarize(
    found: Iterable[Solution], *, ks: Sequence[int] = (1,), unusable: Mapping[str, int] | None = None
) -> list[dict[str, Any]]:
    """The lines of the summary for these solutions."""
    table = DifficultyTable()
    for problem, difficulty, passed, total in found:
        table.add(problem, difficulty, passed=passed, total=total)
    return table.lines(ks, unusable)


def value(estimate: Mapping[str, float] | None) -> float | None:
    """The mean."""
    return None if estimate is None else estimate["value"]


def test_one_solution_a_problem() -> None:
    """Test case average and strict accuracy as in the paper."""
    table = summarize(
        [
            *solutions("1", "interview", 4),
            *solutions("2", "interview", 2),
            *solutions("3", "introductory", 0),
            *solutions("4", "introductory", 1),
        ]
    )
    assert [line["difficulty"] for line in table] == ["introductory", "interview", "all"]
    assert [value(line["test_case_average"]) for line in table] == [0.125, 0.75, 0.4375]
    assert [value(line["strict_accuracy"]) for line in table] == [0.0, 0.5, 0.25]
    assert [value(line["pass_at_k"]["1"]) for line in table] == [0.0, 0.5, 0.25]
    assert [(line["problems"], line["submissions"]) for line in table] == [(2, 2), (2, 2), (4, 4)]


def test_problems_have_equal_weight() -> None:
    """A problem counts once, whatever its number of solutions."""
    (line, everything) = summarize([*solutions("1", "interview", 4, 4, 4, 4), *solutions("2", "interview", 0)])
    assert value(line["test_case_average"]) == 0.5
    assert value(line["strict_accuracy"]) == 0.5
    assert (line["problems"], line["submissions"]) == (2, 5)
    assert value(everything["strict_accuracy"]) == 0.5


def test_pass_at_k() -> None:
    """A k is reported only if every problem has at least k solutions."""
    several = [*solutions("1", "interview", 4, 0, 0), *solutions("2", "interview", 4, 4)]
    (line, _) = summarize(several, ks=(1, 2, 3, 10))
    assert value(line["pass_at_k"]["1"]) == pytest.approx((1 / 3 + 1) / 2)
    assert value(line["pass_at_k"]["2"]) == pytest.approx((2 / 3 + 1) / 2)
    assert line["pass_at_k"].keys() == {"1", "2"}


def test_solutions_that_could_not_be_judged() -> None:
    """Judge errors and broken rows are counted, and change no mean."""
    judged = [*solutions("1", "interview", 4), *solutions("2", "interview", 0)]
    (without, _) = summarize(judged)
    (line, everything) = summarize(
        [*judged, *solutions("1", "interview", None), *solutions("3", "interview", None)],
        unusable={"interview": 2, "competition": 1},
    )[0::2]
    assert (line["undecided"], line["invalid_problems"]) == (2, 2)
    assert (line["test_case_average"], line["problems"]) == (without["test_case_average"], 2)
    assert (everything["undecided"], everything["invalid_problems"]) == (2, 3)


def test_without_judged_solutions() -> None:
    """There is no number, instead of 0."""
    for table in (summarize([], ks=(1, 2)), summarize(solutions("1", "interview", None), ks=(1, 2))):
        line = table[-1]
        assert (line["difficulty"], line["problems"], line["test_case_average"], line["strict_accuracy"]) == (
            "all",
            0,
            None,
            None,
        )
        assert line["pass_at_k"] == {}


def test_order_of_lines() -> None:
    """From easy to hard, then other difficulties, then all."""
    names = ["competition", "", "zen", "introductory", "abc", "interview"]
    table = summarize([one for number, name in enumerate(names) for one in solutions(str(number), name, 4)])
    assert [line["difficulty"] for line in table] == [
        *("introductory", "interview", "competition", "abc", "unknown", "zen", "all")
    ]


def test_intervals() -> None:
    """The interval is that of the binomial distribution, contains the mean, and is the same every time."""
    many = [one for number in range(400) for one in solutions(str(number), "interview", 4 if number % 4 == 0 else 0)]
    (line, _) = summarize(many)
    width = 1.96 * math.sqrt(0.25 * 0.75 / 400)
    assert line["strict_accuracy"]["low"] == pytest.approx(0.25 - width, abs=0.008)
    assert line["strict_accuracy"]["high"] == pytest.approx(0.25 + width, abs=0.008)
    assert summarize(many) == summarize(many)
    assert summarize(many)[0] != summarize(many[:-4])[0]


def test_one_problem_has_no_interval() -> None:
    """One value has no spread."""
    (line, _) = summarize(solutions("1", "interview", 4, 2))
    assert line["test_case_average"] == {"value": 0.75, "low": None, "high": None}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=30))
def test_bounds(pairs: list[tuple[int, int]]) -> None:
    """Means are in their intervals, strict accuracy is at most the average, and pass@k does not fall as k grows."""
    table = summarize((solutions(str(p), "interview", passed)[0] for p, passed in pairs), ks=(1, 2, 3))
    for line in table:
        assert 0 <= line["strict_accuracy"]["value"] <= line["test_case_average"]["value"] <= 1
        assert line["pass_at_k"]["1"]["value"] == pytest.approx(line["strict_accuracy"]["value"])
        reported = [estimate["value"] for estimate in line["pass_at_k"].values()]
        assert reported == sorted(reported)
        for estimate in (line["test_case_average"], line["strict_accuracy"], *line["pass_at_k"].values()):
            if estimate["low"] is not None and estimate["high"] is not None:
                assert estimate["low"] - 1e-9 <= estimate["high"] + 1e-9
                assert 0 <= estimate["low"] <= 1 + 1e-9


@pytest.mark.parametrize(("passed", "total"), [(5, 4), (-1, 4), (0, 0)])
def test_impossible_numbers(passed: int, total: int) -> None:
    """More passed tests than tests are a mistake of the caller."""
    with pytest.raises(InputError, match="not possible"):
        summarize(solutions("1", "interview", passed, total=total))


@pytest.mark.parametrize("k", [0, -1])
def test_impossible_k(k: int) -> None:
    """k is at least 1."""
    with pytest.raises(InputError, match="at least 1"):
        summarize([], ks=(k,))


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("ModuleNotFoundError(\"No module named 'numpy.linalg'\")", "numpy.linalg"),
        ("ModuleNotFoundError(\"No module named 'os.path.join'; 'os.path' is not a package\")", None),
        ("exit code 1: x\nModuleNotFoundError: No module named 'os.x'; 'os' is not a package", None),
        ("exit code 1: Traceback (most recent call last):\nModuleNotFoundError: No module named 'numpy'", "numpy"),
        ("exit code 1\nModuleNotFoundError: No module named 'a'\n\nDuring this:\nKeyError: 1", None),
        ('KeyError("ModuleNotFoundError(\\"No module named \'numpy\'\\")")', None),
        (f"ModuleNotFoundError: No module named '{'a' * 4000}'", "a" * 100),
        ("", None),
    ],
)
def test_missing_module(text: str, module: str | None) -> None:
    """A test ended because of it: it is the last exception, not one that the program caught."""
    assert missing_module(text) == module


def test_programs_cannot_fill_the_memory_with_names_of_modules() -> None:
    """A program can fail with any name in each of its tests, so only the first names are counted."""
    summary = AppsSummary()
    for number in range(200):
        names = ["numpy", *(f"m{number}_{test}" for test in range(10))]
        errors = [f"ModuleNotFoundError: No module named '{name}'" for name in names]
        summary.add(apps_row("a", False), {}, reason="", errors=errors)
    assert len(summary._lacking) == 1000
    assert summary._lacking["numpy"] == 200


def summed(*rows: dict[str, Any], ks: Sequence[int] | None = None) -> AppsSummary:
    """The summary of these rows of results."""
    summary = AppsSummary(ks)
    for row in rows:
        summary.add(row, {}, reason="", errors=())
    return summary


def lines_of(summary: AppsSummary) -> dict[str, dict[str, Any]]:
    """The lines of the table, by difficulty."""
    return {line["difficulty"]: line for line in summary.as_dict(RUN)["difficulties"]}


def test_a_row_without_tests_counts_as_one_test() -> None:
    """Some other graders judge it."""
    without = {"passed": 0, "total": 0, "test_results": []}
    right = apps_row("a", True, problem_id="1", **without)
    wrong = apps_row("b", False, problem_id="2", **without)
    assert value(lines_of(summed(right))["all"]["test_case_average"]) == 1.0
    assert value(lines_of(summed(right, wrong))["all"]["test_case_average"]) == 0.5
    failed = apps_row("c", False, problem_id="3", **without, verdict="JE", score=None)
    assert lines_of(summed(right, failed))["all"]["problems"] == 1


def test_a_judge_error_is_in_no_mean() -> None:
    """It is counted with its reason, and makes no sample for pass@k."""
    failed = {"verdict": "JE", "passed": None, "error": "no space", "message": "no space", "score": None}
    rows = [apps_row("a", True, True), apps_row("b", False, True), apps_row("c", False, False, **failed)]
    summary = summed(*rows)
    values = summary.as_dict(RUN)
    (line, _) = values["difficulties"]
    assert (line["difficulty"], line["undecided"], line["submissions"]) == ("interview", 1, 2)
    assert value(line["test_case_average"]) == 0.75
    assert line["pass_at_k"].keys() == {"1", "2"}
    assert [(one["reason"], one["rows"], one["examples"]) for one in values["failures"]] == [
        ("no space", 1, ["c (problem 17)"])
    ]


def test_a_copy_was_not_run() -> None:
    """Its program counts; the interpreter and the time are those of the program that was judged."""
    timeless = apps_row("c", False)
    timeless["test_results"][0]["time_s"] = None
    rows = [apps_row("a", True, True), apps_row("b", True, True, duplicate_of="a"), timeless | {"python": ""}]
    values = summed(*rows).as_dict(RUN)
    assert (values["interpreters"], values["cpu_s"], values["submissions"]["copies"]) == ({"3.11": 1}, 0.2, 1)
    assert values["difficulties"][0]["submissions"] == 3


@pytest.mark.parametrize(
    ("ks", "shown", "missing"),
    [(None, {"1", "2"}, []), ((2, 4, 2), {"2"}, ["pass@4"]), ((2, 3), {"2"}, ["pass@3"]), ((1,), {"1"}, [])],
)
def test_the_ks_of_pass_at_k(ks: tuple[int, ...] | None, shown: set[str], missing: list[str]) -> None:
    """Without any, those of the list for which each problem has enough programs. A given one is noted if it is too
    large for a problem.
    """
    rows = [apps_row(str(number), True, problem_id="1") for number in range(5)]
    rows += [apps_row(str(number), True, problem_id="2", difficulty=None) for number in range(2)]
    values = summed(*rows, ks=ks).as_dict(RUN)
    assert values["difficulties"][-1]["pass_at_k"].keys() == shown
    assert ks is not None or all(line["pass_at_k"].keys() == shown for line in values["difficulties"])
    assert [note.split()[0] for note in values["notes"]] == missing
    assert all("each must have" in note and "problem 2 has 2" in note for note in values["notes"])


@pytest.mark.parametrize("ks", [None, (2,)])
def test_without_judged_programs_no_k_is_missing(ks: tuple[int, ...] | None) -> None:
    """There is no pass@k either."""
    values = summed(ks=ks).as_dict(RUN)
    assert (values["difficulties"][-1]["pass_at_k"], values["notes"]) == ({}, [])


def test_rows_that_were_not_selected_are_noted() -> None:
    """And only if there are any."""
    summary = summed()
    summary.skipped_rows = lambda: 2
    assert summary.as_dict(RUN)["notes"] == ["2 rows skipped, for problems that were not selected"]


@pytest.mark.parametrize(("refused", "invalid"), [(1, [0, 3]), (2, [0, 0])])
def test_problems_that_cannot_be_judged_are_those_of_the_run(refused: int, invalid: list[int]) -> None:
    """If the summary is made again: rows do not have their difficulty. Not if other rows were refused."""
    earlier = {
        "submissions": {"pending": 4, "refused": refused},
        "difficulties": [
            {"difficulty": "zen", "invalid_problems": 3},
            {"difficulty": "all", "invalid_problems": 3},
        ],
    }
    summary = summed(apps_row("a", True), apps_row("b", True))
    summary.refuse("cannot be judged", "row 3 cannot be judged", {})
    summary.add_what_rows_lack(earlier)
    lines = lines_of(summary)
    assert [lines[name]["invalid_problems"] if name in lines else 0 for name in ("interview", "zen")] == invalid
    assert lines["all"]["invalid_problems"] == sum(invalid)
    assert summary.as_dict(RUN)["submissions"]["pending"] == 4
