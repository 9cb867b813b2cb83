"""Groups: their columns, their names, and that each has its own numbers."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.model import CompileOutcome, Submission, Subtask, TestOutcome, Verdict
from ioi_eval.report.groups import (
    MAX_GROUPS,
    NONE,
    OTHERS,
    Grouping,
    Groups,
    group_name,
    group_notes,
    grouping_of,
    label_of,
)
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.publication.material import Material
from ioi_eval.report.result_sets import open_results
from ioi_eval.report.rows import JudgedSubmission, to_json
from ioi_eval.report.run_summary import RunCounts, RunFacts
from ioi_eval.report.selection_table import selection_table
from ioi_eval.report.summary import Summary
from ioi_eval.report.terminal import terminal_report
from ioi_eval.report.two_runs import RowFilter, compare_runs
from ioi_eval.rows import open_source
from ioi_eval.scores import submission_result
from ioi_eval.selection import SelectionMethod
from tests.row_files import jsonl
from tests.scored import add_to
from tests.small_problems import small_problem
from tests.small_results import contest_row, write_results

RUN = RunFacts(
    started="2026-01-01T00:00:00+00:00", finished="2026-01-01T00:01:00+00:00", interrupted=False, options={},
    counts=RunCounts(jobs_at_once=2, wall_s=60, judged=3),
)  # fmt: skip


def grouping(tmp_path: Path, rows: list[dict[str, Any]], *by: str) -> tuple[str, ...]:
    """The columns that are chosen for a dump with these rows."""
    return grouping_of([open_source(jsonl(tmp_path / "dump.jsonl", rows))], by).columns


def test_a_column_whose_own_name_has_a_dot(tmp_path: Path) -> None:
    """pandas calls a column like this if it flattens objects. It is read wherever rows are grouped by it."""
    rows = [contest_row("a", 1.0, **{"model.name": "m"}), contest_row("b", 0.0, **{"model.name": "n"})]
    assert grouping(tmp_path, rows, "model.name") == ("model.name",)
    assert grouping(tmp_path, rows) == ("model.name",)
    found = write_results(tmp_path / "out", rows)
    results, by = open_results(found), Grouping(columns=("model.name",))
    groups = selection_table(results, [SelectionMethod.ALL], limit=50, seeds=1, grouping=by, standings=[])
    assert [group["name"] for group in groups] == ["m", "n"]
    assert [group.name for group in Material(results, grouping=by, settings={}).groups.values()] == ["m", "n"]
    sides = (RowFilter.parse("model.name=m"), RowFilter.parse("model.name=n"))
    assert compare_runs(results, results, only=sides, by_problem=True).problems == 1


def test_different_groups_have_different_names() -> None:
    """Also if a value looks like the name of a group. Exports make a file for each name."""
    columns = ("a", "b")
    values = ["x", "x, b y", "y, b z", "z", '"x', '"x, b y"', '"', 'y"', 'y", b "z', '"z"', "x,", "x, b", "(none)"]
    names = {group_name(columns, labels): labels for labels in product(values, values)}
    assert len(names) == len(values) ** 2
    assert group_name(columns, ("x", "z")) == "a x, b z"
    assert group_name(columns, ("x, b y", "z")) == 'a "x, b y", b z'
    assert group_name(("a",), ("x, b y",)) == "x, b y"


def test_a_column_with_the_name_of_a_result_column(tmp_path: Path) -> None:
    """Results have it as `dump_<name>`. They are grouped by it, as the dump was."""
    assert Grouping(columns=("verdict", "target.os")).labels({"verdict": "old", "target": {"os": "x"}}) == ("old", "x")
    rows = [contest_row(name, 1.0, dump_verdict=name, dump_target={"os": name}) for name in ("m", "n")]
    results = open_results(write_results(tmp_path / "out", rows))
    for column in ("verdict", "target.os"):
        by = grouping_of([open_source(results.path)], [column])
        groups = selection_table(results, [SelectionMethod.ALL], limit=50, seeds=1, grouping=by, standings=[])
        assert [group["name"] for group in groups] == ["m", "n"]
        sides = (RowFilter.parse(f"{column}=m"), RowFilter.parse(f"{column}=n"))
        assert compare_runs(results, results, only=sides, by_problem=True).problems == 1


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ({"model": "a"}, ("model",)),
        ({"model_kwargs": {"seed": 1}, "model_name": "a"}, ("model_name",)),
        ({"model_kwargs": {"seed": 1}}, ()),
        ({"model_version": "a", "temperature": 1}, ("model_version",)),
        ({"problem_id": "add"}, ()),
        ({"model": None, "model_name": "a"}, ("model_name",)),
        ({"model": None}, ()),
    ],
)
def test_a_column_that_names_the_model_is_found(tmp_path: Path, row: dict[str, Any], columns: tuple[str, ...]) -> None:
    """By its name, if it has texts. Settings of a model are not chosen."""
    assert grouping(tmp_path, [row]) == columns


def test_the_first_rows_of_every_dump_show_the_column(tmp_path: Path) -> None:
    """The first dump may have no model."""
    without = jsonl(tmp_path / "a.jsonl", [{"code": "x"}] * 150)
    named = jsonl(tmp_path / "b.jsonl", [{"model": "a"}])
    assert grouping_of([open_source(without), open_source(named)], ()).columns == ("model",)


def test_requested_columns_have_precedence(tmp_path: Path) -> None:
    """Several columns, also separated by commas; fields of columns; `none` for no groups."""
    rows = [{"model": "a", "temperature": 0.7, "metadata": {"prompt": "p"}}]
    assert grouping(tmp_path, rows, "temperature,model", "metadata.prompt", "model") == (
        "temperature", "model", "metadata.prompt",
    )  # fmt: skip
    assert grouping(tmp_path, rows, "temperature, ,model,") == ("temperature", "model")
    assert grouping(tmp_path, rows, "none") == ()


def test_a_column_that_only_later_rows_have(tmp_path: Path) -> None:
    """Results of several dumps, of which a later one has the column that the run was grouped by."""
    assert grouping(tmp_path, [{"code": "x"}] * 150 + [{"code": "x", "prompt": "p"}], "prompt") == ("prompt",)


def test_a_column_that_no_row_has_is_refused(tmp_path: Path) -> None:
    """The message lists the existing columns."""
    with pytest.raises(InputError, match="--by modell: no row has anything in that column") as error:
        grouping(tmp_path, [{"model": "a", "code": "x"}], "modell")
    assert str(error.value).endswith("; the columns are: model, code. Did you mean model?")


def test_labels_are_short_and_distinct() -> None:
    """Numbers look the same from all tables. A long prompt is shown by its beginning and a hash. There are no control
    characters.
    """
    grouping = Grouping(columns=("a",))
    assert [grouping.labels({"a": value})[0] for value in (1, 1.0, "x", True, None, math.nan, "", 0.7, 1e300)] == [
        "1", "1", "x", "true", NONE, NONE, NONE, "0.7", "1e+300",
    ]  # fmt: skip
    one, other = (grouping.labels({"a": "p" * 500 + end})[0] for end in "ab")
    assert one != other
    assert len(one) <= 60
    assert grouping.labels({"a": one}) == (one,)
    assert "\x1b" not in grouping.labels({"a": "\x1b[2J"})[0]
    assert grouping.labels({"a": {"b": [1]}}) == ('{"b":[1]}',)
    assert Grouping(columns=("m.t", "x", "m.t.u")).labels({"m": {"t": 2}}) == ("2", NONE, NONE)


def test_a_value_has_the_label_that_it_has_in_results() -> None:
    """Otherwise `report` would divide the rows into other groups than the run: results have a date as a text, and
    neither integers of any size nor deep nesting.
    """
    nested: list[Any] = []
    for _ in range(200_000):  # the depth that JSON may have in Python 3.12 and newer is not set by us
        nested = [nested]
    day = datetime.date(2024, 5, 1)
    values = (day, datetime.datetime(2024, 5, 1, 12, 30), b"o3", math.inf, {"n": 2**70}, 10**5_000, [day, b"x"], nested)
    for value in values:
        written = orjson.loads(to_json({"a": value}))
        assert Grouping(columns=("a",)).labels({"a": value}) == Grouping(columns=("a",)).labels(written)
    assert label_of(day) == "2024-05-01"
    assert orjson.loads(to_json({"a": day, "n": 2**70}))["a"] == "2024-05-01"


@given(st.lists(st.one_of(st.text(max_size=90), st.integers(), st.booleans(), st.lists(st.integers())), max_size=20))
def test_every_row_is_in_one_group(values: list[Any]) -> None:
    """No row is lost or counted twice, and labels can be displayed anywhere."""
    groups: Groups[list[Any]] = Groups(Grouping(columns=("a",)), list)
    for value in values:
        found = groups.of({"a": value})
        assert found is not None
        found.append(value)
    listed = groups.as_list(lambda group: {"rows": list(group)})
    assert sum(len(group["rows"]) for group in listed) == len(values)
    assert all(group["name"].isprintable() for group in listed)


def test_groups_are_in_numerical_order() -> None:
    """10 comes after 2, and names come after numbers."""
    groups: Groups[list[Any]] = Groups(Grouping(columns=("a",)), list)
    for value in ("b", 10, 2, 0.5, "a"):
        groups.of({"a": value})
    assert [group["name"] for group in groups.as_list(lambda _: {})] == ["0.5", "2", "10", "a", "b"]


def test_the_number_of_groups_is_limited() -> None:
    """Later groups are joined, with a note, because a table of a hundred thousand lines is useless."""

    def notes(of: Groups[list[Any]]) -> list[str]:
        pending = {"submissions": {"pending": 0}}
        return group_notes({"by": ["a"], "groups": of.as_list(lambda _: pending), **pending})

    groups: Groups[list[Any]] = Groups(Grouping(columns=("a",)), list)
    for value in range(2 * MAX_GROUPS):
        if value == MAX_GROUPS:
            assert notes(groups) == []  # no group has been joined yet
        found = groups.of({"a": value})
        assert found is not None
        found.append(value)
    listed = groups.as_list(lambda group: {"rows": len(group)})
    assert len(listed) == MAX_GROUPS + 1
    assert {group["name"]: group["rows"] for group in listed}[OTHERS] == MAX_GROUPS
    assert "more than 200 groups by a" in notes(groups)[0]
    few: Groups[list[Any]] = Groups(Grouping(columns=("a",)), list)
    few.of({"a": OTHERS})  # a model of that name
    assert notes(few) == []


def _example() -> dict[str, Any]:
    """Two models with two programs each on one problem. One model solves it twice, the other has one WA and one JE."""
    problem = small_problem(subtasks=(Subtask(name="a", points=100, tests=("1", "2")),))
    summary = Summary(grouping=Grouping(columns=("model",)))
    for number, (model, score) in enumerate([("good", 1.0), ("good", 1.0), ("bad|er", 0.0), ("bad|er", None)]):
        verdict = {1.0: Verdict.AC, 0.0: Verdict.WA, None: Verdict.JE}[score]
        outcomes = {
            name: TestOutcome(test=name, verdict=verdict, score=score) for s in problem.subtasks for name in s.tests
        }
        submission = Submission(id=str(number), problem=problem.key, code="x")
        result = submission_result(problem, submission, CompileOutcome(verdict=None), outcomes)
        judged = JudgedSubmission(problem=problem, submission=submission, fingerprint="f", result=result)
        add_to(summary, judged, {"model": model})
    summary.refuse("no program", "row 5: no program", {"model": "good"})
    summary.postpone({}, str(problem.key))
    return summary.as_dict(RUN)


def test_each_group_has_all_numbers_of_its_own() -> None:
    """The numbers of the whole are the same as without groups."""
    values = _example()
    groups = {group["name"]: group for group in values["groups"]}
    assert values["by"] == ["model"]
    assert groups.keys() == {"good", "bad|er", NONE}
    assert (groups["good"]["pass_at_k"]["1"], groups["bad|er"]["pass_at_k"]["1"]) == (1.0, 0.0)
    assert (groups["good"]["average_score"]["value"], groups["bad|er"]["average_score"]["value"]) == (1.0, 0.0)
    assert groups["bad|er"]["submissions"]["undecided"] == 1
    assert groups["good"]["submissions"]["refused"] == 1
    assert groups[NONE]["submissions"]["pending"] == 1
    assert values["submissions"]["rows"] == sum(group["submissions"]["rows"] for group in values["groups"]) == 6
    assert values["pass_at_k"]["1"] == pytest.approx(2 / 3, abs=1e-6)


def test_the_table_of_an_incomplete_run_has_no_intervals() -> None:
    """Nor have groups that are complete. Problems without a result are named."""
    names = ("nile", "tree", "oak", "elm", "ash", "fir")
    subtasks = (Subtask(name="a", points=100, tests=("1",)),)
    problems = [small_problem(name=name, subtasks=subtasks) for name in names]
    for pending, interrupted in ((0, False), (2, True), (2, False)):
        summary = Summary(grouping=Grouping(columns=("model",)))
        for number, (problem, score) in enumerate(zip(problems * 2, (*[0.0] * 3, *[1.0] * 9), strict=True)):
            outcomes = {"1": TestOutcome(test="1", verdict=Verdict.AC if score else Verdict.WA, score=score)}
            submission = Submission(id=str(number), problem=problem.key, code="x")
            result = submission_result(problem, submission, CompileOutcome(verdict=None), outcomes)
            judged = JudgedSubmission(problem=problem, submission=submission, fingerprint="f", result=result)
            add_to(summary, judged, {"model": "m"})
        for name in ("2024/nile", "2024/sphinx")[:pending]:
            summary.postpone({"model": "other"}, name)
        values = summary.as_dict(replace(RUN, interrupted=interrupted))
        shown = terminal_report(values)
        assert ("[" in shown, "[" in markdown_report(values)) == (not pending, not pending)
        assert ("too narrow with fewer than 20 problems" in shown) == (not pending)
        assert (values["average_score"]["low"] is None) == bool(pending)
        head = f"{'Interrupted' if interrupted else 'Not complete'}: the numbers are of the 12 of 14 submissions judged"
        assert shown.startswith(head) == bool(pending)
        assert values["problems_pending"] == ["2024/sphinx"] * bool(pending)
        assert ("\n1 problem has no judged submission yet: 2024/sphinx.\n" in shown) == bool(pending)
        assert re.search(r"^m +12 +0 +6 +75\.00 %", shown, re.MULTILINE)


def test_reports_show_groups_and_pool_nothing() -> None:
    """First a table of all groups, then the tables of each group. There is no pass@k over several models."""
    values = _example()
    report = markdown_report(values)
    assert "## Groups by model" in report
    assert "In brackets, if there are at least 6 problems: 95 % bootstrap intervals" in report
    assert "## model: bad\\|er" in report
    head = report[: report.index("## Groups")]
    assert "pass@1" not in head
    assert "| good | 2 | 0 | 1 | 100.00 % | 100.00 % |" in report
    assert report.count("### Problems") == 2
    shown = terminal_report(values)
    assert any(line.startswith("bad|er") for line in shown.splitlines())
