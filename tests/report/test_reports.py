"""The summary for users: the table on the terminal and the Markdown report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import (
    CompileOutcome,
    Problem,
    ProblemKey,
    ScoreType,
    Submission,
    Subtask,
    TestOutcome,
    Verdict,
)
from ioi_eval.pipeline.dump_reader import DumpReading
from ioi_eval.problems.row import Row
from ioi_eval.report.groups import Grouping
from ioi_eval.report.markdown import markdown_report, markdown_table
from ioi_eval.report.result_sets import Family, ResultSet
from ioi_eval.report.rows import JudgedSubmission, result_row
from ioi_eval.report.run_summary import KINDS, ReasonCounts, RunCounts, RunFacts
from ioi_eval.report.summary import Summary
from ioi_eval.report.summary_from_rows import summary_from_rows
from ioi_eval.report.terminal import share, terminal_report
from ioi_eval.report.texts import half_up, points, printable, table
from ioi_eval.report.totals import CpuSplit
from ioi_eval.scores import submission_result
from tests.scored import add_to
from tests.small_problems import small_problem
from tests.small_results import contest_row, refused

RUN = RunFacts(
    started="2026-01-01T00:00:00+00:00",
    finished="2026-01-01T00:01:00+00:00",
    interrupted=False,
    options={},
    counts=RunCounts(jobs_at_once=2, wall_s=60, judged=3, cpu=CpuSplit(compile=10, run=80, check=5)),
    notes=("an unfinished record dropped",),
)


def problem(name: str, day: str | None = "1") -> Problem:
    """A problem with two subtasks over two tests."""
    return small_problem(
        key=ProblemKey(year=2024, id=name),
        name=f"{name}|title",
        day=day,
        subtasks=(Subtask(name="a", points=40, tests=("1",)), Subtask(name="b", points=60, tests=("1", "2"))),
    )


NILE, TREE, PRACTICE = problem("nile"), problem("tree", "2"), problem("practice", "practice")


def add(
    summary: Summary,
    of: Problem,
    name: str,
    *scores: float | None,
    target: str | None = "b",
    row: Mapping[str, Any] | None = None,
    duplicate_of: str | None = None,
) -> None:
    """Add a submission with these scores, written for a subtask. `None` is a judge error."""
    outcomes = {
        str(number): TestOutcome(
            test=str(number),
            verdict=Verdict.JE if score is None else Verdict.AC if score == 1 else Verdict.PA if score else Verdict.WA,
            score=score,
            message="checker crashed",
            cpu_ms=100,
            near_limit=score == 0.5,
            attempted={"fork": 1} if score == 0.25 else {},
        )
        for number, score in enumerate(scores, 1)
    }
    submission = Submission(id=name, problem=of.key, code="x")
    result = submission_result(of, submission, CompileOutcome(verdict=None, cpu_ms=200), outcomes, target="local")
    add_to(
        summary,
        JudgedSubmission(problem=of, submission=submission, fingerprint="f", result=result, duplicate_of=duplicate_of),
        row or {},
        target_subtask=target,
    )


def results_in(*directories: str) -> list[ResultSet]:
    """Results without a summary."""
    return [
        ResultSet(directory=Path(name), family=Family.CONTEST, summary={}, id_column="uuid") for name in directories
    ]


def example() -> dict[str, Any]:
    """Two problems and a practice problem, with a JE, refused and pending rows."""
    summary = Summary()
    summary.unusable = {ProblemKey(year=2024, id="sphinx"): ValueError("score type Sum")}
    add(summary, NILE, "n1", 1, 0.5)
    add(summary, NILE, "n2", 0.25, 1)
    add(summary, TREE, "t1", 1, None)
    add(summary, PRACTICE, "p1", 1, 1)
    summary.refused.add("unknown problem 2024/nil", "dump.jsonl, row 7: unknown problem 2024/nil")
    summary.pending = 2
    return summary.as_dict(RUN)


def test_the_score_of_all_submissions_is_by_subtask() -> None:
    """IOI's rule: each subtask counts with its best submission. A JE makes the score a lower bound."""
    values = example()
    nile, tree = (next(p for p in values["problems"] if p["problem"] == name) for name in ("nile", "tree"))
    assert (nile["best_score"], nile["all_submissions_score"]) == (70, 70)
    assert [s["best_submission"] for s in nile["subtasks"]] == ["n1", "n1"]
    assert (tree["best_score"], tree["all_submissions_score"], tree["undecided"]) == (None, 40, 1)
    assert [s["undecided"] for s in tree["subtasks"]] == [0, 1]


def test_of_equal_scores_the_first_is_best() -> None:
    """Each judge error is counted."""
    summary = Summary()
    for number in range(3):
        add(summary, NILE, f"a{number}", 0.5, 0.25)
        add(summary, NILE, f"b{number}", 0.25, 0.5)
        add(summary, NILE, f"c{number}", None, 1)
    (nile,) = summary.as_dict(RUN)["problems"]
    assert [(s["best_score"], s["best_submission"], s["undecided"]) for s in nile["subtasks"]] == [
        (0.5, "a0", 3),
        (0.25, "a0", 3),
    ]
    assert nile["best_submission"] == "a0"
    assert (nile["submissions"], nile["undecided"]) == (9, 3)


def test_a_copy_costs_nothing_and_calls_nothing() -> None:
    """It was not judged: its row has what the equal program called. It is as suspicious as that one."""
    summary = Summary()
    add(summary, NILE, "s", 0.25, 1)
    add(summary, NILE, "copy", 0.25, 1, duplicate_of="s")
    values = summary.as_dict(RUN)
    assert (values["attempted"], values["suspicious"], values["submissions"]["copies"]) == ({"fork": 1}, 2, 1)
    assert (values["cpu_s"]["compile"], values["cpu_s"]["run"]) == (0.2, 0.2)
    assert (values["targets"], values["isolation"]) == ({"local": 1}, {})
    assert sum(values["extraction"].values()) == 2


@pytest.mark.parametrize(("attempted", "noted"), [({}, False), ({"hidden_call": 1}, True)])
def test_a_security_violation_is_suspicious(attempted: dict[str, int], noted: bool) -> None:
    """Also if no call was counted. A call that a filter outside the sandbox hid is explained."""
    outcomes = {n: TestOutcome(test=n, verdict=Verdict.SV, score=0.0, attempted=attempted) for n in "12"}
    submission = Submission(id="s", problem=NILE.key, code="x")
    result = submission_result(NILE, submission, CompileOutcome(verdict=None), outcomes)
    summary = Summary()
    add_to(summary, JudgedSubmission(problem=NILE, submission=submission, fingerprint="f", result=result), {})
    values = summary.as_dict(RUN)
    assert values["suspicious"] == 1
    assert any("`hidden_call` in `attempted`" in note for note in values["notes"]) is noted


def test_problems_are_in_the_order_of_year_and_day() -> None:
    """Whatever the order of the rows."""
    summary = Summary()
    for name, day in (("a", "2"), ("c", "1"), ("b", "1")):
        add(summary, problem(name, day), name, 1, 1)
    assert [each["problem"] for each in summary.as_dict(RUN)["problems"]] == ["b", "c", "a"]


def test_points_of_a_sum_are_rounded_in_the_same_way_everywhere() -> None:
    """115 of 200 tests are 57.5 of 100 points, so 58. 100 times the mean is a little less as a float. `report` makes
    the summary from rows, which have the mean only.
    """
    names = tuple(str(number) for number in range(200))
    summed = small_problem(
        score_precision=0, score_type=ScoreType.SUM, subtasks=(Subtask(name="all", points=100, tests=names),)
    )
    outcomes = {
        name: TestOutcome(test=name, verdict=verdict, score=float(verdict is Verdict.AC))
        for name, verdict in zip(names, [Verdict.AC] * 115 + [Verdict.WA] * 85, strict=True)
    }
    submission = Submission(id="s", problem=summed.key, code="x")
    result = submission_result(summed, submission, CompileOutcome(verdict=None), outcomes)
    judged = JudgedSubmission(problem=summed, submission=submission, fingerprint="f", result=result)
    named = {"uuid": "s", "year": 2024, "problem_id": "nile"}
    summary = Summary()
    add_to(summary, judged, named)
    row = result_row(named, judged, target_subtask=None)
    again = summary_from_rows([("s", row)], results_in("out"))
    sums = ("best_score", "all_submissions_score", "limit_50_score")
    for values in (summary.as_dict(RUN), again):
        (only,) = values["problems"]
        assert [only[name] for name in sums] == [58, 58, 58]
    assert (only["time_limit_s"], only["memory_limit_bytes"]) == (None, None)  # rows do not have them


def test_rows_with_a_repeated_id_have_one_reason_in_a_joined_summary() -> None:
    """As in that of a run, which knows the reasons. Here they are found in the messages about the rows."""
    reading = DumpReading("run, id", None)
    places = [(source, number) for source in ("a.jsonl", "b.jsonl") for number in (1, 2)]
    found = [
        reading.refuse_repeated_id(Row(source=source, number=number, values={}), name, "2024/nile")
        for name in ("x", "it's", "two\nlines")
        for source, number in places
    ]
    repeated = [one for one in found if one is not None]
    assert len(repeated) == 9
    rows = [("x", refused("x", one.message)) for one in repeated]
    values = summary_from_rows(rows, results_in("a", "b"))
    assert {one.kind: 9 for one in repeated} == {one["reason"]: one["rows"] for one in values["refused"]}


def test_a_joined_summary_has_the_limits_that_all_runs_have() -> None:
    """Those of the last run were stated for all."""
    problem = {"year": 2024, "problem": "nile", "name": "Nile", "day": "1", "memory_limit_bytes": 1 << 28}
    results = results_in("a", "b", "c")
    for each, seconds in zip(results, (1.0, 4.0, 1.0), strict=True):
        each.summary["problems"] = [{**problem, "time_limit_s": seconds}]
    for joined, time_limit_s in ((results, None), ([results[0], results[2]], 1.0)):
        (only,) = summary_from_rows([("s", contest_row("s", 1.0))], joined)["problems"]
        assert (only["name"], only["time_limit_s"], only["memory_limit_bytes"]) == ("Nile", time_limit_s, 1 << 28)


def test_a_joined_summary_has_what_all_runs_have_still_to_judge() -> None:
    """Their rows may be in any group."""
    results = results_in("a", "b")
    for each, name in zip(results, ("2024/oak", "2024/elm"), strict=True):
        counts = {"submissions": {"pending": 2, "rows": 3}}
        each.summary |= {**counts, "problems_pending": [name], "by": ["model"]}
        each.summary["groups"] = [{"group": {"model": "m"}, **counts}]
    values = summary_from_rows([("s", contest_row("s", 1.0, model="m"))], results)
    assert values["submissions"]["pending"] == 4
    assert values["problems_pending"] == ["2024/elm", "2024/oak"]
    assert [group["submissions"]["pending"] for group in values["groups"]] == [0]
    assert values["notes"][-1] == "4 rows still to be judged: in none of the groups"


@pytest.mark.parametrize(("column", "pending"), [("model", {"m": 0, "n": 2}), ("prompt", {"m": 0})])
def test_groups_whose_rows_are_still_to_be_judged_stay(column: str, pending: dict[str, int]) -> None:
    """If the summary is made again, by the same columns. A group without rows is not in it."""
    (results,) = results_in("a")
    results.summary["submissions"] = {"pending": 2, "rows": 3}
    results.summary["by"] = [column]
    results.summary["groups"] = [
        {"group": {column: name}, "submissions": {"pending": count}} for name, count in (("m", 0), ("n", 2), ("o", 0))
    ]
    rows = [("s", contest_row("s", 1.0, model="m"))]
    values = summary_from_rows(rows, [results], Grouping(columns=("model",)))
    assert {group["name"]: group["submissions"]["pending"] for group in values["groups"]} == pending
    assert values["submissions"]["pending"] == 2


def test_what_only_a_run_knows_is_kept_if_its_rows_are_the_same() -> None:
    """A summary of other rows is not that of the run."""
    (results,) = results_in("a")
    rows = [("s", contest_row("s", 1.0))]
    results.summary |= summary_from_rows(rows, [results])
    results.summary |= {"python": "3.0", "notes": ["of the run"], "options": {"std": "gnu++20"}}
    same = summary_from_rows(rows, [results])
    assert (same["python"], same["notes"], same["options"]["std"]) == ("3.0", ["of the run"], "gnu++20")
    other = summary_from_rows([*rows, ("t", contest_row("t", 0.0))], [results])
    assert other["python"] != "3.0"
    assert other["notes"] == []


def test_practice_problems_do_not_count_in_a_contest() -> None:
    """The reference counts them in "/600"."""
    (contest,) = example()["contests"]
    assert (contest["problems"], contest["points"], contest["all_submissions_score"]) == (2, 200, 110)


def test_a_contest_with_judge_errors_is_marked_as_a_lower_bound() -> None:
    """With the JE, 110 of 200 points are only known to be reached."""
    assert "| 2024 | 2 | 110?/200 |" in markdown_report(example())


def test_without_a_mean_the_reason_is_named() -> None:
    """In the report, and below the terminal's table of groups, where the legend of its words is too."""
    summary = Summary(grouping=Grouping(columns=("model",)))
    for model, of, score in (("m1", NILE, 1.0), ("m1", TREE, None), ("m2", NILE, 0.5)):
        add(summary, of, f"{model}{of.key.id}", 1, score, row={"model": model})
    values = summary.as_dict(RUN)
    why = "no mean score and no pass@k, as all submissions to 2024/tree have JE"
    assert f"- {why}\n" in markdown_report(values)
    text = terminal_report(values)
    table_of_groups, _ = text.split("\n\n", 1)
    assert table_of_groups.splitlines()[-1] == f"(m1: {why})"
    assert "(best: best submission" in table_of_groups
    assert text.count("(best: best submission") == 1


def test_a_problem_without_points_has_no_mean_score() -> None:
    """It has pass@k."""
    summary = Summary()
    free = replace(TREE, subtasks=tuple(replace(subtask, points=0) for subtask in TREE.subtasks))
    for of in (NILE, free):
        add(summary, of, of.key.id, *[1.0] * len(of.tests))
    values = summary.as_dict(RUN)
    assert (values["average_score"], values["pass_at_k"]["1"]) == (None, 1.0)
    assert "- no mean score, as no points are given for 2024/tree\n" in markdown_report(values)


def test_counts_add_up_to_all_rows() -> None:
    """Rows = scored + undecided + refused + pending."""
    values = example()
    counts = values["submissions"]
    assert counts["rows"] == 7 == counts["scored"] + counts["undecided"] + counts["refused"] + counts["pending"]
    assert not values["complete"]
    assert values["near_limit"] == 1
    assert (values["attempted"], values["suspicious"]) == ({"fork": 1}, 1)
    assert values["this_run"]["ours_s"] == 25


def test_pass_at_k_needs_k_samples_of_every_problem() -> None:
    """A JE is not a sample: tree has no sample that counts."""
    assert example()["pass_at_k"] == {}
    summary = Summary()
    for number in range(10):
        add(summary, NILE, str(number), 1, 1 if number < 3 else 0.5)
    values = {"1": 3 / 10, "2": 1 - 7 / 10 * 6 / 9, "5": 11 / 12, "10": 1.0}
    assert summary.as_dict(RUN)["pass_at_k"] == pytest.approx(values, rel=1e-12)


def test_the_table_shows_problems_and_failures() -> None:
    """On any terminal it has what a user needs first."""
    text = terminal_report(example())
    lines = text.splitlines()
    assert lines[0] == (
        "Not complete: the numbers are of the 4 of 7 submissions judged so far; submissions without code are "
        "judged first, so means are biased."
    )
    assert lines[2].split() == ["problem", "submissions", "best", "all", "50", "verdicts"]
    assert "(best: best submission; all: sum of best subtasks over all submissions; 50: " in text
    assert re.search(r"^2024/nile +2 +70/100 +70/100 +70/100 +PA 2$", text, re.MULTILINE)
    assert re.search(r"^2024/tree +1 +–/100 +40\?/100 +40\?/100 +JE 1$", text, re.MULTILINE)
    assert "\n(?: at least so many points, as a judge error (JE) has no score)\n" in text
    assert re.search(r"^2024/nile +40/40 30/60$", text, re.MULTILINE)
    assert re.search(r"^2024/tree +40/40 –\?/60$", text, re.MULTILINE)
    for words in (
        "3 of 7 submissions scored; verdicts: ",
        "1 without a score, because of a judge error (JE):\n  t1 (2024/tree): test 2: checker crashed",
        "Judge errors are left out of the means, which may be too low or too high.",
        "1 not judged: unknown problem 2024/nil:\n  dump.jsonl, row 7",
        "3 judged in 60.0 s, 2 jobs at once; CPU: compile 10.0 s, run 80.0 s, check 5.0 s",
        "2 still to be judged: repeat the command of the run",
        "2024: 110? of 200 points on 2 problems with all submissions, 110? with 50 each",
        "an unfinished record dropped",
    ):
        assert words in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)


def test_a_run_that_judges_nothing_again_says_why_errors_stay() -> None:
    """They are final, and the user may have started the command again because of them."""
    summary = dict(example())
    assert "--retry-failed" not in terminal_report(summary)
    summary["this_run"] = {**summary["this_run"], "judged": 0, "copies": 0, "resumed": 1}
    assert "--retry-failed" not in terminal_report(summary)  # a report with others, whose errors may be judged again
    summary["this_run"]["resumed"] = 7
    assert "does not compile: correct it, or score again with --retry-failed." in terminal_report(summary)


def test_an_error_of_several_submissions_is_printed_once() -> None:
    """A checker that does not compile fails all submissions to its problem, with the compiler's long message."""
    summary = dict(example())
    errors = [("a", "tree", "no checker"), ("b", "tree", "no checker"), ("c", "nile", "no checker"), ("d", "tree", "x")]
    summary["undecided"] = [{"submission": i, "problem": p, "error": e} for i, p, e in errors]
    summary["submissions"] = {**summary["submissions"], "undecided": 7}
    assert (
        "7 without a score, because of a judge error (JE):\n  a and 1 more (tree): no checker\n  c (nile): no checker\n"
        "  d (tree): x\n"
    ) in terminal_report(summary)
    assert (
        "| submissions | problem | error |\n| --- | --- | --- |\n| a and 1 more | tree | no checker |\n"
        "| c | nile | no checker |\n| d | tree | x |\n\n… and 3 more, in `results.jsonl`."
    ) in markdown_report(summary)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            "the problem's checker does not compile: In file included from c.cpp:2:\nc.cpp:1:5: error: no\n"
            "    1 | int main({\n      |     ^~~~\nc.cpp:1:11: error: expected",
            "the problem's checker does not compile: c.cpp:1:5: error: no",
        ),
        (
            "the problem's grader does not compile: undefined reference to f\ncollect2: error: ld returned 1",
            "the problem's grader does not compile: undefined reference to f collect2: error: ld returned 1",
        ),
        ("test 1: two\nlines: error: x", "test 1: two lines: error: x"),
    ],
)
def test_of_a_compilers_message_reports_have_the_first_error(error: str, shown: str) -> None:
    """All its lines in one, with the markers below the code, cannot be read."""
    summary = {**example(), "undecided": [{"submission": "a", "problem": "tree", "error": error}]}
    summary["submissions"] = {**summary["submissions"], "undecided": 1}
    assert f"(JE):\n  a (tree): {shown}\n" in terminal_report(summary)
    assert f"| a | tree | {shown} |" in markdown_report(summary)


def test_the_report_is_complete_and_escapes_cells() -> None:
    """Ids and messages are untrusted text. They cannot end a table cell."""
    text = markdown_report(example())
    assert "\n2 submissions, 0 solved." in text
    assert "\n1 submission, 0 solved." in text
    for words in (
        "- State: **not complete; submissions without code are judged first, so means are biased**",
        "### 2024/nile (nile\\|title)",
        "- Judge errors (JE), without a score: **1**; left out of the means, which may be too low or too high\n",
        "## Judge errors (JE)",
        "- Not judged: **1**\n",
        "- Still to be judged: **2**\n",
        "| a | 40/40 | 1 | n1 |  |",
        "| b | –/60 | – | – | 1 |",
        "## Not judged: unknown problem 2024/nil\n\n- dump.jsonl, row 7\n\n##",
        "## Problems that cannot be judged\n\n- score type Sum",
        "compile 10.0 s, run 80.0 s, check 5.0 s",
        "Refused system calls, by submissions: fork 1",
        "## Notes\n\n- an unfinished record dropped",
    ):
        assert words in text
    assert markdown_table(("a",), [("x | y\n<script>`",)]).splitlines()[2] == "| x \\| y &lt;script>\\` |"
    assert markdown_table(("a column | of <a> dump",), []).splitlines()[0] == "| a column \\| of &lt;a> dump |"
    strange = "\x1b[31m \u202e ![image](http://example.com/p.png)"
    shown = "\N{REPLACEMENT CHARACTER}[31m \N{REPLACEMENT CHARACTER} ![image]\\(http://example.com/p.png)"
    assert markdown_table(("a",), [(strange,)]).splitlines()[2] == f"| {shown} |"
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| 2024/")}
    assert widths == {7}


def test_question_marks_are_explained_only_if_there_are_any() -> None:
    """The explanation says that points are a lower bound."""
    summary = Summary()
    add(summary, NILE, "0", 1, 1)
    assert "?" not in terminal_report(summary.as_dict(RUN))
    add(summary, NILE, "1", 1, None)  # full marks are no lower bound
    assert "?" not in terminal_report(summary.as_dict(RUN))


def test_a_judge_error_that_hides_no_points_leaves_totals_exact() -> None:
    """Its subtask without a score has full marks already, and the other one is decided by a zero. Only points that may
    be more have a question mark.
    """
    summary = Summary()
    add(summary, NILE, "0", 1, 0.5)
    add(summary, NILE, "1", None, 0)
    add(summary, TREE, "2", 1, 1)
    values = summary.as_dict(RUN)
    assert [(s["best_points"], s["undecided"]) for s in values["problems"][0]["subtasks"]] == [(40, 0), (30, 0)]
    assert "2024: 170 of 200 points on 2 problems" in terminal_report(values)
    assert "?" not in terminal_report(values)
    assert "| 2024 | 2 | 170/200 | 170/200 |" in markdown_report(values)


def test_full_marks_of_several_subtasks_are_full_marks() -> None:
    """1.1 + 2.2 is 3.3000000000000003 as floats, and the total of a submission is rounded to 3.3."""
    subtasks = (Subtask(name="a", points=1.1, tests=("1",)), Subtask(name="b", points=2.2, tests=("2",)))
    tenths, summary = replace(NILE, subtasks=subtasks), Summary()
    add(summary, tenths, "0", 1, 1)
    add(summary, tenths, "1", 1, None)
    values = summary.as_dict(RUN)
    assert [values[of][0]["points"] for of in ("problems", "contests")] == [3.3, 3.3]
    assert values["average_score"]["value"] == 1.0
    assert "?" not in terminal_report(values)


def test_an_unknown_target_subtask_is_noted() -> None:
    """Its score is nowhere, and the note says why. A dump may have a million such rows."""
    summary = Summary()
    for number in range(3):
        add(summary, NILE, str(number), 1, 1, target=f"{number}")
    add(summary, NILE, "4", 1, 1, target=None)
    add(summary, NILE, "5", 1, 1)
    add(summary, TREE, "1", 1, 1)
    words = "3 rows were written for a subtask that it does not have, such as '0': their target_subtask_score is null"
    assert summary.as_dict(RUN)["notes"][1:] == [f"problem 2024/nile: {words}"]
    one = Summary()
    add(one, NILE, "0", 1, 1, target="0")
    assert "1 row was written for a subtask that it does not have, such as '0': its target" in str(one.as_dict(RUN))
    add(one, NILE, "1", 1, 1, target="0")
    assert "2 rows were written for a subtask that it does not have, such as '0' (2 rows): " in str(one.as_dict(RUN))
    long = Summary()
    add(long, NILE, "0", 1, 1, target="x" * 1000)
    assert f"such as '{'x' * 100}…': its target" in str(long.as_dict(RUN))


def not_run(submission: Submission, outcome: CompileOutcome) -> JudgedSubmission:
    """The submission with this compile outcome; nothing was run."""
    result = submission_result(NILE, submission, outcome, {}, target="local")
    return JudgedSubmission(problem=NILE, submission=submission, fingerprint="f", result=result)


def test_programs_without_a_fence_are_noted() -> None:
    """They are NC. The note helps a user who removed the fences."""
    summary = Summary()
    bare = "int main() { return 0; }"
    for name, text in (("a", bare), ("b", "I cannot."), ("c", f"```cpp\n{bare}"), ("d", None), ("e", bare)):
        submission = Submission(id=name, problem=NILE.key, code=None)
        nothing = CompileOutcome(verdict=Verdict.NC, message="no code found")
        add_to(summary, not_run(submission, nothing), {"generation": text})
    bare_note, cut_note, empty_note = summary.as_dict(RUN)["notes"][1:]
    assert bare_note.startswith("2 without code (NC): the text looks like C++ without a fence; ")
    assert bare_note.endswith("belongs in `code`, such as 'a'")
    assert cut_note.startswith("1 without code (NC): the text ends inside a block that is not closed")
    empty = "the row's columns for a program are empty, or its messages have no answer"
    assert empty_note == f"1 without code (NC): {empty}, such as 'd'"


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ({}, "the row has no `language`"),
        ({"language": "unknown"}, "the row has no `language`"),
        ({"language": "C++"}, "its `language`"),
    ],
)
def test_blocks_in_another_language_are_noted(language: dict[str, str], source: str) -> None:
    """In a dump of Python programs without `language` all rows score 0. The notes and each row give the reason."""
    summary = Summary()
    row = {"generation": "So:\n```python\nprint(1)\n```\n", **language}
    submission = Submission(id="a", problem=NILE.key, code=None, extraction="none")
    judged = not_run(submission, CompileOutcome(verdict=Verdict.NC, message="no code found"))
    add_to(summary, judged, row)
    reason = f"a block is tagged as Python 3, but the row is judged as C++ ({source})"
    assert summary.as_dict(RUN)["notes"][1:] == [f"1 without code (NC): {reason}, such as 'a'"]
    assert result_row(row, judged, target_subtask=None)["compile_message"] == f"no code found: {reason}"


def test_reasons_of_compile_errors_are_noted() -> None:
    """A model's text in `code`, or a program in another language. A program that was extracted from a text is in its
    tag's language.
    """
    summary = Summary()
    fenced = "Here it is:\n```cpp\nint main() {}\n```\n"
    python = "n = int(input())\nprint(n)\n"
    rows = (("a", fenced, "column:code"), ("b", "int", "column:code"), ("c", fenced, "fence:cpp"))
    for name, code, found_by in (*rows, ("d", python, "column:code")):
        submission = Submission(id=name, problem=NILE.key, code=code, extraction=found_by)
        error = CompileOutcome(verdict=Verdict.CE, message="error: stray '`' in program")
        judged = not_run(submission, error)
        add_to(summary, judged, {"code": code})
        assert result_row({"code": code}, judged, target_subtask=None)["compile_message"] == error.message
    fence_note, language_note = summary.as_dict(RUN)["notes"][1:]
    assert fence_note.startswith("1 with a compile error (CE): `code` has Markdown fences; ")
    assert "belongs in `generation`, such as 'a'" in fence_note
    reason = "the program looks like Python 3, but the row is judged as C++ (the row has no `language`)"
    assert language_note == f"1 with a compile error (CE): {reason}, such as 'd'"


def test_an_empty_summary_is_no_error() -> None:
    """Possibly nothing was judged."""
    values = Summary().as_dict(RUN)
    assert "No submission was judged." in terminal_report(values)
    assert "0 of 0 submissions scored" in terminal_report(values)
    assert markdown_report(values).startswith("# Results")


def test_the_number_of_reasons_is_limited() -> None:
    """A dump with a million different mistakes fills neither memory nor the terminal."""
    refused = ReasonCounts()
    for number in range(10_000):
        refused.add(f"unknown problem {number}", f"row {number}")
    assert len(refused.as_list()) == KINDS + 1
    assert sum(one["rows"] for one in refused.as_list()) == 10_000
    assert all(len(one["examples"]) <= 20 for one in refused.as_list())
    for number in (*range(30), 0):
        refused.add("unknown problem 7", f"example {number}")
    (known,) = (one for one in refused.as_list() if one["reason"] == "unknown problem 7")
    examples = ["row 7", "example 0 (2 rows)", *(f"example {number}" for number in range(1, 19))]
    assert known == {"reason": "unknown problem 7", "rows": 32, "examples": examples, "more": 11}
    text = markdown_report({**example(), "refused": [known]})
    assert "- example 18\n\n… and 11 more, in `results.jsonl`." in text


def test_untrusted_text_is_harmless_on_the_terminal() -> None:
    """Escape sequences and line breaks in ids, and long messages."""
    assert printable("a\x1b[2J\nb\u202e") == "a�[2J b�"
    assert len(printable("x" * 10_000)) == 501


def test_tables_are_aligned() -> None:
    """Numbers on the right, names on the left."""
    assert table(("a", "n"), [("xx", "1"), ("y", "10")]) == "a    n\n──  ──\nxx   1\ny   10"
    assert [points(value) for value in (None, 100.0, 33.33, 0.12345)] == ["–", "100", "33.33", "0.1235"]


def test_a_half_is_rounded_up() -> None:
    """As on the page, also if a sum of floats is a little below the half. Negative values are rounded away from 0."""
    numbers = [(28.125, 2), (62.5, 0), (0.1 + 0.7 - 0.3, 0), (-0.125, 2), (0.0, 2), (28.12, 2)]
    assert [half_up(*one) for one in numbers] == ["28.13", "63", "1", "-0.13", "0.00", "28.12"]
    assert half_up(28.125, 2, sign="+") == "+28.13"
    assert [points(value, 2) for value in (15.125, 20.625, 100.0, 0.0)] == ["15.13", "20.63", "100", "0"]
    values = {**example(), "pass_at_k": {"1": 0.28125}, "pass_at_k_interval": {"1": [0.03125, 0.5]}}
    assert "- pass@1 = 0.2813 [0.0313, 0.5000] (" in markdown_report(values)
    assert "Mean score:" not in markdown_report(values)
    assert "In brackets" not in markdown_report(values)
    mean = {"average_score": {"value": 0.28125, "low": 0.0, "high": 1.0}}
    assert "- Mean score: 28.13 % [0.00, 100.00] of full marks\n" in markdown_report({**values, **mean})
    assert "- In brackets: " in markdown_report({**values, **mean})
    alone = {"average_score": {"value": 0.28125, "low": None, "high": None}}
    assert "In brackets" not in markdown_report({**values, **alone})
    assert share({"value": 0.28125, "low": 0.0, "high": 1.0}) == "28.13 % [0.00, 100.00]"
