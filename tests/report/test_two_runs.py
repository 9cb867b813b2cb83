"""Comparison of two sets of results: changed verdicts with reasons, differences with intervals, and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ioi_eval.cli.options import ContestRules
from ioi_eval.errors import InputError
from ioi_eval.report.groups import label_of
from ioi_eval.report.result_sets import ResultSet, open_results
from ioi_eval.report.two_runs import Comparison, RowFilter, compare_runs
from ioi_eval.report.two_runs_text import comparison_json, comparison_text, names_of

SAME = {
    "year": 2024, "code": "x", "fingerprint": "f", "target": "local g++ 12", "isolation": "full", "time_scale": 1.0,
    "near_limit": False,
}  # fmt: skip


def row(name: str, verdict: str | None, score: float | None, problem: str = "nile", **other: Any) -> dict[str, Any]:
    """The result row of a contest problem with one subtask of 100 points."""
    subtasks = [{"subtask": "a", "points": 100, "weighted_score": score, "status": verdict}] if verdict else []
    found = {"uuid": name, "problem_id": problem, "verdict": verdict, "total_score": score}
    return {**SAME, **found, "all_subtasks_results": subtasks, **other}


def apps_row(name: str, verdict: str, passed: int | None, total: int = 4, **other: Any) -> dict[str, Any]:
    """A result row for APPS."""
    found = {"submission": name, "problem_id": "1", "verdict": verdict, "passed": passed, "total": total}
    return {**SAME, **found, "judged_by": "lines", **other}


def results(directory: Path, *rows: dict[str, Any], **summary: Any) -> ResultSet:
    """Write results with these rows."""
    directory.mkdir(exist_ok=True)
    (directory / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (directory / "summary.json").write_text(json.dumps({"ioi_eval": "1", "options": {}, **summary}))
    return open_results(directory)


def compared(tmp_path: Path, before: list[dict[str, Any]], after: list[dict[str, Any]], **how: Any) -> Comparison:
    """The comparison of these rows."""
    return compare_runs(results(tmp_path / "a", *before), results(tmp_path / "b", *after), **how)


def test_changed_verdicts_come_first_with_reasons(tmp_path: Path) -> None:
    """Worse ones come first, changes of only the score last. A JE is not a score."""
    before = [row(name, "AC", 100) for name in "abcdefg"] + [
        row("h", "WA", 0),
        row("i", "PA", 50),
        row("j", "JE", None),
    ]
    after = [
        row("a", "AC", 100),
        row("b", "WA", 0, code="y", fingerprint="g"),
        row("c", "TLE", 0, target="local g++ 13", fingerprint="g"),
        row("d", "TLE", 0, time_scale=2.0, fingerprint="g"),
        row("e", "TLE", 0, near_limit=True),
        row("f", "WA", 0),
        row("g", "JE", None),
        row("h", "AC", 100, fingerprint="g"),
        row("i", "PA", 60, all_subtasks_results=[{"subtask": "b", "points": 100, "status": "PA"}]),
        row("j", "AC", 100),
    ]
    found = compared(tmp_path, before, after)
    assert {change.name[1]: change.reasons for change in found.changes} == {
        "b": ("program",), "c": ("machine",), "d": ("limits",), "e": ("near limit",),
        "f": ("nothing: judged in the same way",), "g": ("nothing: judged in the same way",),
        "h": ("problem, limits or rules (fingerprint)",), "i": ("problem",), "j": ("nothing: judged in the same way",),
    }  # fmt: skip
    assert [change.name[1] for change in found.changes] == [*"bcdefg", "h", "j", "i"]
    assert (found.pairs, found.unscored, found.lost, found.won) == (10, 2, 5, 1)
    assert found.p == pytest.approx(0.21875)
    assert found.regressed
    text = comparison_text(found, most=3)
    assert text.splitlines()[2].split()[:4] == ["2024/nile", "b", "AC", "WA"]
    assert "… and 6 more" in text
    assert "changed verdicts: 8; only the score changed: 1" in text
    assert "solved only in before: 5; only in after: 1; p =" in text
    assert json.loads(json.dumps(comparison_json(found)))["changes"][0]["reasons"] == ["program"]


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        (("PA", 60), ("PA", 50), True),
        (("PA", 50), ("PA", 60), False),
        (("AC", 100), ("PA", 100), True),  # its score was rounded
        (("PA", 100), ("AC", 100), False),
        (("WA", 0), ("TLE", 0), False),
        (("WA", 0), ("JE", None), True),
        (("JE", None), ("WA", 0), False),
    ],
)
def test_a_lower_score_and_the_loss_of_ac_are_worse(
    tmp_path: Path, before: tuple[str, float | None], after: tuple[str, float | None], worse: bool
) -> None:
    """So is a score that is no longer known. A change between verdicts of programs that do not solve is not."""
    found = compared(tmp_path, [row("a", *before)], [row("a", *after)])
    assert [change.worse for change in found.changes] == [worse]
    assert found.regressed is worse


def test_submissions_without_a_score_are_not_in_the_means_of_problems(tmp_path: Path) -> None:
    """A JE is not 0 points."""
    rows = [row("a", "PA", 50), row("b", "JE", None), row("c", "JE", None, "tree")]
    found = compared(tmp_path, rows, [row("d", "PA", 60), row("e", "AC", 100, "tree")], by_problem=True)
    assert (found.problems, found.unscored) == (1, 2)
    assert "\n2 submissions without a score, so left out of the means" in comparison_text(found, most=1)
    assert (found.means["score before"].value, found.means["score after"].value) == (0.5, 0.6)


def test_of_several_rows_of_a_submission_the_first_that_was_judged_counts(tmp_path: Path) -> None:
    """The others were refused, such as a row with a repeated id."""
    several = [row("a", None, None, code=None), row("a", "AC", 100), row("a", "WA", 0), row("a", None, None)]
    found = compared(tmp_path, several, [row("a", "AC", 100)])
    assert (found.pairs, found.unscored, found.changes) == (1, 0, ())


def test_what_is_not_recorded_is_no_difference(tmp_path: Path) -> None:
    """Rows of the reference state no machine, and no fingerprint. A row that was refused has no subtasks. Summaries of
    other versions lack options.
    """
    bare: dict[str, Any] = {"fingerprint": None, "target": None, "isolation": None}
    best = row("a", "AC", 100, **bare)
    for other in (row("a", "WA", 0, **bare), row("a", "WA", 0), row("a", None, None, **bare)):
        for sides in (([best], [other]), ([other], [best])):
            assert [change.reasons for change in compared(tmp_path, *sides).changes] == [("not recorded",)]
    stated = results(tmp_path / "a", best, options={"std": "gnu++20", "time_limit_s": 2})
    unknown = results(tmp_path / "b", row("a", "WA", 0, **bare), ioi_eval=None)
    for pair in ((stated, unknown), (unknown, stated)):
        assert [change.reasons for change in compare_runs(*pair).changes] == [("not recorded",)]


def test_a_time_near_the_limit_in_either_run_is_a_reason(tmp_path: Path) -> None:
    """The program may have been late by chance."""
    near, far = row("a", "AC", 100, near_limit=True), row("a", "TLE", 0)
    for sides in (([near], [far]), ([far], [near])):
        assert [change.reasons for change in compared(tmp_path, *sides).changes] == [("near limit",)]


def test_what_differs_in_all_changes_is_printed_once(tmp_path: Path) -> None:
    """An option of the runs differs in every row. Without it the column would be empty, so there is none."""
    before = [row("a", "AC", 100), row("b", "AC", 100)]
    after = [row(name, "TLE", 200 / 3, time_scale=2.0, fingerprint="g") for name in "ab"]
    lines = comparison_text(compared(tmp_path, before, after), most=1).splitlines()
    assert lines[0].split() == ["problem", "submission", "before", "after", "score,", "%"]
    assert lines[2].split() == ["2024/nile", "a", "AC", "TLE", "100", "→", "66.6667"]
    assert lines[3:5] == ["… and 1 more", "what differs in all of these: limits"]
    after[1]["code"] = "y"
    lines = comparison_text(compared(tmp_path, before, after), most=2).splitlines()
    assert lines[0].endswith("  also differs")
    assert (lines[2].split()[-1], lines[3].split()[-1]) == ("66.6667", "program")
    assert lines[4] == "what differs in all of these: limits"


def test_settings_of_the_runs_are_reasons(tmp_path: Path) -> None:
    """Another version or standard is the reason "rules", another limit is "limits"."""
    before = results(tmp_path / "a", row("a", "AC", 100), options={"std": None, "time_limit_s": 1})
    after = results(tmp_path / "b", row("a", "CE", 0, fingerprint="g"), options={"std": "gnu++20", "time_limit_s": 2})
    assert compare_runs(before, after).changes[0].reasons == ("limits", "rules")
    newer = results(tmp_path / "c", row("a", "CE", 0, fingerprint="g"), ioi_eval="2")
    found = compare_runs(before, newer)
    assert found.changes[0].reasons == ("rules",)
    assert "judged by ioi_eval 1" in found.notes[0]


@pytest.mark.parametrize("option", sorted(ContestRules().as_dict().keys() - {"time_scale"}))
def test_every_rule_of_a_contest_is_a_reason(tmp_path: Path, option: str) -> None:
    """`time_scale` is compared row by row."""
    before = results(tmp_path / "a", row("a", "AC", 100), options={option: "one"})
    after = results(tmp_path / "b", row("a", "CE", 0, fingerprint="g"), options={option: "another"})
    assert compare_runs(before, after).changes[0].reasons == ("rules",)


@pytest.mark.parametrize("by_problem", [False, True])
def test_a_problem_without_points_is_in_pass_at_1_only(tmp_path: Path, by_problem: bool) -> None:
    """It has no share of full marks. It was a problem with 0 %, which halved a difference between two problems."""
    free = {"all_subtasks_results": [{"subtask": "a", "points": 0, "weighted_score": 0, "status": "AC"}]}
    before = [row("a", "AC", 100), row("b", "AC", 0, problem="free", **free)]
    after = [row("a", "PA", 50), row("b", "AC", 0, problem="free", **free)]
    found = compared(tmp_path, before, after, by_problem=by_problem)
    assert (found.problems, found.with_points) == (2, 1)
    assert (found.means["score before"].value, found.means["score difference"].value) == (1.0, -0.5)
    assert (found.means["solved before"].value, found.means["solved difference"].value) == (1.0, -0.5)
    assert "1 problem worth no points, so not in the mean score" in comparison_text(found, most=3)
    alone = compared(tmp_path, before[1:], after[1:], by_problem=by_problem)
    assert "mean score  " not in comparison_text(alone, most=3)
    assert not alone.regressed
    worth = [row("b", "AC", 100, problem="free")]
    for sides in ((before[1:], worth), (worth, before[1:])):  # the problem was changed
        assert compared(tmp_path, *sides, by_problem=by_problem).with_points == 0


def test_both_families_are_compared(tmp_path: Path) -> None:
    """For APPS the share of tests is compared in place of points."""
    found = compared(tmp_path, [apps_row("a", "WA", 2), apps_row("b", "AC", 4)], [apps_row("a", "AC", 4)])
    assert [(c.before.share, c.after.share, c.worse) for c in found.changes] == [(0.5, 1.0, False)]
    assert (found.only_before, found.regressed) == (1, True)
    assert "\ntest case average  " in comparison_text(found, most=1)


def test_another_grader_is_no_other_problem_or_program(tmp_path: Path) -> None:
    """Its `total` is the number of its codes, and it may have stripped the program. `compare` named both as reasons."""
    ours = [apps_row("a", "WA", 2, code="print(1)\n"), apps_row("b", "WA", 2, code=" print(1)")]
    theirs = {"judged_by": "hendrycks", "codes": [True, False], "code": "print(1)"}
    found = compared(tmp_path, ours, [apps_row(name, "RE", 1, 2, **theirs) for name in "ab"])
    assert {change.name[1]: change.reasons for change in found.changes} == {"a": ("rules",), "b": ("program", "rules")}
    found = compared(tmp_path, ours[:1], [apps_row("a", "RE", 1, 2, code="print(1)")])
    assert [change.reasons for change in found.changes] == [("problem",)]


def test_each_row_that_was_refused_is_a_submission(tmp_path: Path) -> None:
    """A refused row for APPS has its id in the column of the dump only. All of a problem were one submission, as were
    rows of a contest without an id.
    """
    judged = apps_row("a", "AC", 4, uuid="a")
    refused = [{**apps_row("", "", None), "submission": None, "verdict": None, "uuid": name} for name in "bc"]
    found = compared(tmp_path, [judged, *refused], [judged, *refused])
    assert (found.pairs, found.unscored, found.only_before, found.only_after) == (3, 2, 0, 0)
    found = compared(tmp_path, [judged, *refused], [judged, *(apps_row(name, "AC", 4, uuid=name) for name in "bc")])
    assert (found.pairs, found.unscored, found.only_before, found.only_after) == (3, 2, 0, 0)
    unnamed = [row("", None, None), row("", None, None)]
    for each in unnamed:
        del each["uuid"]
    found = compared(tmp_path, [row("a", "AC", 100), *unnamed], [row("a", "AC", 100), *unnamed])
    assert (found.pairs, found.unscored) == (3, 2)


def test_only_a_submission_with_a_verdict_can_be_missing(tmp_path: Path) -> None:
    """A row that was refused had no result that could be lost."""
    both = row("a", "AC", 100.0)
    found = compared(tmp_path, [both, row("b", None, None)], [both])
    assert (found.only_before, found.regressed) == (1, False)
    found = compared(tmp_path, [both, row("b", "WA", 0.0)], [both])
    assert (found.only_before, found.regressed) == (1, True)


def test_models_are_compared_by_their_problems(tmp_path: Path) -> None:
    """Also for two groups of one run. Their submissions have different ids."""
    rows = [
        row(f"{model}{problem}{number}", "AC" if good else "WA", 100.0 * good, problem, model=model)
        for model, good in (("m1", 0), ("m2", 1))
        for problem in ("p", "q")
        for number in range(2)
    ]
    one = results(tmp_path / "a", *rows)
    only = (RowFilter.parse("model=m1"), RowFilter.parse("model=m2"))
    found = compare_runs(one, one, only=only, by_problem=True)
    assert (found.problems, found.p, found.means["score difference"].value) == (2, None, 1.0)
    text = comparison_text(found, most=5, names=names_of(*only))
    assert "2 problems" in text
    words = [line.split() for line in text.splitlines()]
    assert ["m1", "m2", "difference,", "percentage", "points"] in words
    assert words[-1][:3] == ["(means", "over", "problems;"]
    assert "+100.00\n" in text
    assert "[" not in text
    assert "with fewer than 6 there are no intervals" in text
    assert comparison_json(found)["sign_flip_p"] == {}
    assert names_of(RowFilter(), only[0]) == ("before", "m1")
    assert names_of(only[0], only[0]) == names_of(RowFilter(), RowFilter()) == ("before", "after")
    with pytest.raises(InputError, match=r"no submission in common.*such as m1p0 of 2024/p.*--by-problem"):
        compare_runs(one, one, only=only)


@pytest.mark.parametrize("model", ["org/" + 70 * "m", "two  blanks"])
def test_rows_are_selected_by_a_long_value(tmp_path: Path, model: str) -> None:
    """A report shows it shortened, with a hash; both may be typed."""
    one = results(tmp_path / "a", row("a", "AC", 100, model=model), row("b", "WA", 0, model="other"))
    for typed in (model, label_of(model)):
        only = (RowFilter.parse(f"model={typed}"), RowFilter.parse("model=other"))
        assert compare_runs(one, one, only=only, by_problem=True).means["score difference"].value == -1


@pytest.mark.parametrize(("stored", "typed"), [(1.0, "1.0"), (1, "1.0"), (1.0, "1"), ("1.0", "1.0"), (0.5, "0.50")])
def test_rows_are_selected_by_a_number(tmp_path: Path, stored: object, typed: str) -> None:
    """As it is in `results.jsonl`, or as a report shows it. It may also be stored as text."""
    one = results(tmp_path / "a", row("a", "AC", 100, temperature=stored), row("b", "WA", 0, temperature=None))
    only = (RowFilter.parse(f"temperature={typed}"), RowFilter())
    assert compare_runs(one, one, only=only).pairs == 1
    with pytest.raises(InputError, match="no row has 'nan'"):
        compare_runs(one, one, only=(RowFilter.parse("temperature=nan"), RowFilter()))


def test_a_sentence_on_the_significance_of_a_difference(tmp_path: Path) -> None:
    """For each mean, by its interval. For fewer than six problems it says that they are too few."""
    before = [row(f"p{n}", "PA", 50, f"p{n}") for n in range(6)]
    after = [row(f"p{n}", "AC" if n == 0 else "PA", 100 if n == 0 else 60, f"p{n}") for n in range(6)]
    more, chance = (
        "the difference is more than chance: its interval",
        "the difference may be chance, as its interval",
    )
    for by_problem in (False, True):
        text = comparison_text(compared(tmp_path, before, after, by_problem=by_problem), most=5)
        assert f"\nmean score: {more} does not contain 0" in text
        assert f"\npass@1: {chance} contains 0" in text
        assert compared(tmp_path, after, before, by_problem=by_problem).regressed
        assert not compared(tmp_path, before, after, by_problem=by_problem).regressed
        assert compared(tmp_path, after[:4], before[:4], by_problem=by_problem).regressed is not by_problem
        text = comparison_text(compared(tmp_path, before[:4], after[:4], by_problem=by_problem), most=5)
        assert more not in text
        assert chance not in text
        assert "with fewer than 6 there are no intervals" in text
    lost = comparison_text(compared(tmp_path, after, before[::-1]), most=5)
    assert f"mean score: {more}" in lost


@pytest.mark.parametrize("by_problem", [False, True])
def test_a_difference_is_more_than_chance_only_if_the_randomisation_test_agrees(
    tmp_path: Path, by_problem: bool
) -> None:
    """Three of eight problems got worse: the interval does not contain 0, but two of eight assignments of signs have a
    sum as far from 0. It was "more than chance", and a regression.
    """
    before = [row(f"p{n}", "AC", 100, f"p{n}") for n in range(8)]
    after = [row(f"p{n}", "PA" if n < 3 else "AC", 40 if n < 3 else 100, f"p{n}") for n in range(8)]
    found = compared(tmp_path, before, after, by_problem=by_problem)
    assert (found.means["score difference"].high or 0) < 0
    assert comparison_json(found)["sign_flip_p"] == {"score": 0.25, "solved": 0.25}
    text = comparison_text(found, most=5)
    assert "may be chance: its interval does not contain 0, but a randomisation test has p = 0.25, not below" in text
    assert "more than chance" not in text
    assert found.regressed is not by_problem


@pytest.mark.parametrize(
    ("rows", "how", "words"),
    [
        ([apps_row("a", "AC", 4)], {}, "results of contest problems, .* of APPS problems: they cannot be compared"),
        ([row("z", "AC", 100)], {}, "have no submission in common: the first has 1 submission such as a of 2024/nile"),
        (
            [row("a", "AC", 100)],
            {"only": (RowFilter(), RowFilter.parse("modl=x"))},
            "b: no column modl with a value; .* uuid",
        ),
        (
            [row("a", "AC", 100, model="y")],
            {"only": (RowFilter(), RowFilter.parse("modle=y"))},
            r"no column modle with a value; .* Did you mean model\?$",
        ),
        (
            [row("a", "AC", 100, model="")],
            {"only": (RowFilter(), RowFilter.parse("model=x"))},
            "no column model with a value; (?!.*Did you mean model)",
        ),
        (
            [row("a", "AC", 100, model="y")],
            {"only": (RowFilter(), RowFilter.parse("model=x"))},
            "no row has 'x' in the column model, which has y$",
        ),
        (
            [row("a", "AC", 100, model=name) for name in ("heron-2", "crane")],
            {"only": (RowFilter(), RowFilter.parse("model=heron"))},
            r"no row has 'heron' in the column model, which has heron-2, crane. Did you mean heron-2\?$",
        ),
        ([row("a", "AC", 100, "tree")], {"by_problem": True}, "for 2024/nile, the second for 2024/tree; name"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(
    tmp_path: Path, rows: list[dict[str, Any]], how: dict[str, Any], words: str
) -> None:
    """The message says what to do."""
    with pytest.raises(InputError, match=words):
        compared(tmp_path, [row("a", "AC", 100)], rows, **how)


def test_the_first_row_may_have_no_id(tmp_path: Path) -> None:
    """It was refused for this reason. The id column must be in the first row that was judged."""
    refused, judged = row("", None, None), row("a", "AC", 100.0)
    del refused["uuid"]
    assert len(list(results(tmp_path / "a", refused, judged).rows())) == 2
    with pytest.raises(InputError, match="has no column uuid"):
        results(tmp_path / "b", refused)


def test_invalid_results_are_refused(tmp_path: Path) -> None:
    """Empty, damaged, from another program, without the id column. Results of the reference have no summary and are
    accepted.
    """
    with pytest.raises(InputError, match="is empty"):
        results(tmp_path / "a")
    with pytest.raises(
        InputError, match="line 1: this is not a row of results, as it has neither all_subtasks_results nor judged_by"
    ):
        results(tmp_path / "a", {"uuid": "x"})
    with pytest.raises(InputError, match="no column uuid; name the one that names submissions with --id-column"):
        results(tmp_path / "a", {"id": "x", "all_subtasks_results": []})
    with pytest.raises(InputError, match="must be COLUMN=VALUE"):
        RowFilter.parse("model")
    with pytest.raises(InputError, match="must be COLUMN=VALUE"):
        RowFilter.parse("=o3")
    found = results(tmp_path / "a", row("a", "AC", 100))
    (tmp_path / "a" / "summary.json").write_text("{")
    with pytest.raises(InputError, match=r"summary.json cannot be read"):
        open_results(found.directory)
    (tmp_path / "a" / "summary.json").unlink()
    theirs = {"uuid": "a", "year": 2024, "problem_id": "nile", "code": "x", "all_subtasks_points": 100.0}
    subtasks = [{"subtask": "a", "points": 100, "score": 1.0, "status": "AC"}]
    (tmp_path / "a" / "results.jsonl").write_text(json.dumps({**theirs, "all_subtasks_results": subtasks}) + "\n")
    again = open_results(tmp_path / "a")
    assert compare_runs(again, again).means["solved after"].value == 1.0


def test_rows_of_the_reference_have_our_columns(tmp_path: Path) -> None:
    """Every command that reads results sees verdict and points. A subtask without a status is refused."""
    theirs = {"uuid": "a", "year": 2024, "problem_id": "nile", "code": "x", "code_compiles": True}
    subtasks = [{"subtask": name, "points": 50, "score": 0.5, "status": "PA"} for name in "ab"]
    found = results(tmp_path / "a", {**theirs, "all_subtasks_results": subtasks})
    assert list(found.rows(("verdict", "total_score"))) == [{"total_score": 50.0, "verdict": "PA"}]
    found = results(tmp_path / "a", {**theirs, "all_subtasks_results": [{"subtask": "a", "points": 5, "score": 1.0}]})
    with pytest.raises(InputError, match=r"line 1: this is not a row of results \(KeyError: 'status'\)"):
        list(found.rows())


@pytest.mark.parametrize("line", ["[1]", "5", "null", '{"uuid": "b", "all_subtasks_results": [5]}'])
@pytest.mark.parametrize("tests", [True, False])
def test_a_later_line_that_is_no_row_of_results_is_refused(tmp_path: Path, line: str, tests: bool) -> None:
    """Every command that reads results names the line, and ends without a traceback."""
    found = results(tmp_path / "a", row("a", "AC", 100))
    with (tmp_path / "a" / "results.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match="line 2: this is not a row of results"):
        list(found.rows(tests=tests))


OUTCOMES = st.lists(st.sampled_from([("AC", 100.0), ("WA", 0.0), ("PA", 50.0), ("JE", None)]), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OUTCOMES, st.randoms(use_true_random=False))
def test_swapping_the_runs_swaps_the_results(tmp_path: Path, outcomes: list[Any], dice: Any) -> None:
    """Lost and won are swapped, and differences have the opposite sign. A run does not differ from itself."""
    shuffled = list(outcomes)
    dice.shuffle(shuffled)
    sides = [
        [row(str(n), verdict, score, problem=f"p{n % 3}") for n, (verdict, score) in enumerate(side)]
        for side in (outcomes, shuffled)
    ]
    there, back = compared(tmp_path, *sides), compared(tmp_path, *reversed(sides))
    assert (there.lost, there.won, there.p, there.unscored) == (back.won, back.lost, back.p, back.unscored)
    assert len(there.changes) == len(back.changes)
    if there.means:
        assert there.means["score difference"].value == pytest.approx(-back.means["score difference"].value)
    itself = compared(tmp_path, sides[0], sides[0])
    assert (itself.changes, itself.lost, itself.won, itself.p, itself.regressed) == ((), 0, 0, 1.0, False)
