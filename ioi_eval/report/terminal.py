"""The results of a contest for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ioi_eval.errors import listed
from ioi_eval.estimates import INTERVALS
from ioi_eval.report.result_files import REPORT, RESULTS
from ioi_eval.report.result_values import PRACTICE
from ioi_eval.report.run_summary import BIASED, CONTINUE
from ioi_eval.report.texts import counted, percent, points, printable, table

_LISTED = 5  # items of a list that is shortened
_ALL_IN = (REPORT, RESULTS)  # the files with the items that a shortened list omits


def terminal_report(summary: Mapping[str, Any]) -> str:
    """The overview of `Summary.as_dict` for the terminal: problems, scores per subtask, verdicts, and failures."""
    scores = [
        incomplete_heading(summary),
        *_groups(summary),
        *_problems(summary),
        *_contests(summary),
        _verdicts(summary),
    ]
    return "\n\n".join(filter(None, [*scores, *_cost(summary), near_limit(summary), *_failures(summary)]))


def incomplete_heading(summary: Mapping[str, Any]) -> str:
    """The first line about a stopped run of either family: of which submissions its numbers are; else empty."""
    counts = summary["submissions"]
    if not counts["pending"]:
        return ""
    head = f"{'Interrupted' if summary['interrupted'] else 'Not complete'}: the"
    if stopped_by := summary["this_run"].get("stopped_by"):
        head = f"Stopped early: {printable(stopped_by)}.\nThe"
    judged = f"{counts['scored'] + counts['undecided']} of {counted(counts['rows'], 'submission')}"
    text = f"{head} numbers are of the {judged} judged so far; {BIASED}."
    problems = summary.get("problems_pending") or ()
    if not problems:
        return text
    has = "has" if len(problems) == 1 else "have"
    named = listed(map(printable, problems), most=5)
    return f"{text}\n{counted(len(problems), 'problem')} {has} no judged submission yet: {named}."


SUMS = ("all_submissions_score", "limit_50_score")
PROBLEM_HEAD = ("problem", "submissions", "best", "all", "50", "verdicts")
_LEGEND = (
    "(best: best submission; all: sum of best subtasks over all submissions; "
    "50: over 50, chosen without knowing scores)"
)
IN_BRACKETS = f"(in brackets: {INTERVALS})"
LEFT_OUT = "left out of the means, which may be too low or too high"
"""What follows from judge errors: one that depends on the output (a checker fails on right ones) biases the means."""
_BOUNDED = "(?: at least so many points, as a judge error (JE) has no score)"


def problem_cells(problem: Mapping[str, Any]) -> list[str]:
    """The cells of a problem: name, submissions, best submission, sum of best subtasks (all, and 50), verdicts."""
    return [
        _name_of(problem),
        str(problem["submissions"]),
        f"{points(problem['best_score'])}/{points(problem['points'])}",
        *(of_full_marks(problem, name) for name in SUMS),
        " ".join(f"{verdict} {count}" for verdict, count in problem["verdicts"].items()),
    ]


Values = Mapping[str, Any]
"""A summary, or an entry in it."""


def of_full_marks(of: Values, score: str, problems: Sequence[Values] | None = None) -> str:
    """Points and full marks: `30/100`, or `30?/100` as `bounded` has it."""
    return f"{bounded(of, score, problems)}/{points(of['points'])}"


def bounded(of: Values, score: str, problems: Sequence[Values] | None = None) -> str:
    """The points of a problem, or of a contest with these `problems`, followed by `?` if they are a lower bound."""
    is_bound = any(_may_be_more(problem, score) for problem in (problems or [of]))
    return points(of[score]) + "?" * is_bound


def problems_of(summary: Values, contest: Values) -> list[Values]:
    """The problems of a contest in a summary, or in one of its groups."""
    return [
        problem for problem in summary["problems"] if problem["year"] == contest["year"] and problem["day"] != PRACTICE
    ]


def _may_be_more(problem: Values, score: str) -> bool:
    """Whether judge errors may hide points: in a subtask, or, for the 50 (which are not counted by
    subtask), in any submission."""
    if any(map(_hides_points, problem["subtasks"])):
        return True
    return bool(problem["undecided"]) and problem[score] != problem["all_submissions_score"]


def _name_of(problem: Values) -> str:
    return f"{problem['year']}/{problem['problem']}"


def _hides_points(subtask: Values) -> bool:
    return bool(subtask["undecided"]) and subtask["best_points"] != subtask["points"]


def _best_points(subtask: Values) -> str:
    return f"{points(subtask['best_points'])}{'?' * _hides_points(subtask)}/{points(subtask['points'])}"


def _has_bounds(summary: Values) -> bool:
    contests = [problems_of(of, contest) for of in (summary, *summary["groups"]) for contest in of["contests"]]
    return any(_may_be_more(problem, name) for name in SUMS for problem in chain(summary["problems"], *contests))


def _problems(summary: Mapping[str, Any]) -> Iterable[str]:
    problems = summary["problems"]
    if not problems:
        return ("No submission was judged.",)
    best = [(_name_of(problem), " ".join(map(_best_points, problem["subtasks"]))) for problem in problems]
    legend = [_LEGEND] * (not summary["groups"])  # else it is below the table of groups, which comes first
    legend += [_BOUNDED] * _has_bounds(summary)
    return (
        "\n".join([table(PROBLEM_HEAD, map(problem_cells, problems), left=frozenset({0, 5})), *legend]),
        table(("problem", "best per subtask"), best, left=frozenset({0, 1})),
    )


def share(estimate: Mapping[str, Any] | None) -> str:
    """A mean share with its interval: `62.50 % [41.67, 83.33]`; `–` if there is none."""
    return "–" if estimate is None else percent(estimate["value"], estimate["low"], estimate["high"])


def has_interval(estimate: Mapping[str, Any] | None) -> bool:
    """Whether a mean has an interval."""
    return estimate is not None and estimate["low"] is not None


def group_cells(summary: Mapping[str, Any], *, max_ks: int = 20) -> tuple[list[str], list[list[str]]]:
    """A line for each group of a summary: name, counts, means with intervals, at most `max_ks` pass@k, and contests."""
    groups = summary["groups"]
    ks = list(dict.fromkeys(k for group in groups for k in group["pass_at_k"]))[:max_ks]
    years = sorted({contest["year"] for group in groups for contest in group["contests"]})
    head = [", ".join(map(printable, summary["by"])), "scored", "JE", "problems", "mean score"]
    head += [*(f"pass@{k}" for k in ks), *(f"{year} {name}" for year in years for name in ("all", "50"))]
    return head, [_group_row(group, ks, years) for group in groups]


def _group_row(group: Mapping[str, Any], ks: Sequence[str], years: Sequence[int]) -> list[str]:
    counts, contests = group["submissions"], {contest["year"]: contest for contest in group["contests"]}
    row = [group["name"], str(counts["scored"]), str(counts["undecided"]), str(len(group["problems"]))]
    row.append(share(group["average_score"]))
    values, intervals = group["pass_at_k"], group["pass_at_k_interval"]
    row.extend(percent(values[k], *intervals[k]) if k in values else "–" for k in ks)
    for contest in map(contests.get, years):
        row += [bounded(contest, name, problems_of(group, contest)) if contest else "–" for name in SUMS]
    return row


def no_mean(summary: Mapping[str, Any]) -> str:
    """Why a summary, or a group of one, has no mean score, and perhaps no pass@k; empty if it has, or nothing was
    judged."""
    if summary["average_score"]:
        return ""
    problems = summary["problems"]
    if blank := [_name_of(each) for each in problems if each["submissions"] == each["undecided"]]:
        names = listed(map(printable, blank), most=_LISTED)
        return f"no mean score and no pass@k, as all submissions to {names} have JE"
    without = [printable(_name_of(problem)) for problem in problems if not problem["points"]]
    return f"no mean score, as no points are given for {listed(without, most=_LISTED)}" if without else ""


def _groups(summary: Mapping[str, Any]) -> Iterable[str]:
    if summary["groups"]:
        reasons = (f"({group['name']}: {why})" for group in summary["groups"] if (why := no_mean(group)))
        brackets = [IN_BRACKETS] * any(has_interval(group["average_score"]) for group in summary["groups"])
        yield "\n".join([table(*group_cells(summary, max_ks=1)), *brackets, _LEGEND, *reasons])


def _contests(summary: Mapping[str, Any]) -> Iterable[str]:
    for contest in summary["contests"]:
        if contest["problems"] > 1:
            every, limited = (bounded(contest, name, problems_of(summary, contest)) for name in SUMS)
            yield (
                f"{contest['year']}: {every} of {points(contest['points'])} points on {contest['problems']} problems "
                f"with all submissions, {limited} with 50 each"
            )


def _verdicts(summary: Mapping[str, Any]) -> str:
    counts = summary["submissions"]
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items())
    of_others = "a copy of another" if counts["copies"] == 1 else "copies of others"
    copies = f" ({counts['copies']} {of_others})" if counts["copies"] else ""
    rows = counted(counts["rows"], "submission")
    return f"{counts['scored']} of {rows} scored{copies}{'; verdicts: ' if verdicts else ''}{verdicts}"


def _cost(summary: Mapping[str, Any]) -> Iterable[str]:
    run = summary["this_run"]
    if run["judged"]:
        cpu = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in run["cpu_s"].items())
        yield f"{counts_of_run(run)} {duration(summary)}, {counted(run['workers'], 'job')} at once; CPU: {cpu}"
    else:
        yield counts_of_run(run)


def duration(summary: Mapping[str, Any]) -> str:
    """How long the run took: `in 3.0 s`. That of several results is a sum, which nobody has waited for."""
    runs, seconds = len(summary["options"].get("results", ())), summary["this_run"]["wall_s"]
    return f"in {seconds:.1f} s" if runs < 2 else f"in {runs} runs of {seconds:.1f} s together"


def counts_of_run(run: Mapping[str, Any]) -> str:
    """A summary's `this_run`, as the numbers of results: `12 judged, 3 copies, 40 from earlier runs`."""
    copies = f"{run['copies']} {'copy' if run['copies'] == 1 else 'copies'}"
    others = ((run["copies"], copies), (run["resumed"], f"{run['resumed']} from earlier runs"))
    return ", ".join([f"{run['judged']} judged", *(text for count, text in others if count)])


def near_limit(summary: Mapping[str, Any]) -> str:
    """The line about submissions near the time limit, whose verdict may differ on another machine; empty if none."""
    if not summary["near_limit"]:
        return ""
    is_single = summary["near_limit"] == 1
    return (
        f"{counted(summary['near_limit'], 'submission')} {'has' if is_single else 'have'} a CPU time near the time "
        f"limit (near_limit): {'its verdict' if is_single else 'their verdicts'} may differ in the next "
        "run or on another machine; --near-limit-repeats N runs a late test alone up to N times, the fastest counts"
    )


def _failures(summary: Mapping[str, Any]) -> Iterable[str]:
    counts, run = summary["submissions"], summary["this_run"]
    if counts["undecided"]:
        items = [f"{submissions} ({problem}): {error}" for submissions, problem, error in judge_errors(summary)]
        head = f"{counts['undecided']} without a score, because of a judge error (JE)"
        yield _list(head, items, len(items) + counts["undecided"] - len(summary["undecided"]))
        yield f"Judge errors are {LEFT_OUT}."
        known = run["resumed"] + run["copies"]  # fewer if this is a report with results of others
        if not run["judged"] and known >= counts["rows"] - counts["refused"] - counts["pending"]:  # all in the journal
            yield (
                "These are not judged again, because a checker or manager failed, or does not compile: correct it, "
                "or score again with --retry-failed."
            )
    yield from reason_lists(summary["refused"])
    if counts["pending"]:
        yield f"{counts['pending']} still to be judged: {CONTINUE}."
    if summary["notes"]:
        yield _list("Notes", summary["notes"], len(summary["notes"]))


def judge_errors(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The examples of judge errors in a summary: for each error the submissions, shortened, the problem, the error.

    They are printed as one line each, so of a compiler's message there is only the first error.
    """
    with_error: dict[tuple[str, str], list[str]] = {}
    for entry in summary["undecided"]:
        with_error.setdefault((entry["problem"], _without_later_lines(entry["error"] or "")), []).append(
            entry["submission"]
        )
    return [(listed(ids, most=1), problem, error) for (problem, error), ids in with_error.items()]


def _without_later_lines(error: str) -> str:
    """A judge error in which a compiler's message has only its first error. A linker's message stays whole."""
    what, says, message = error.partition(" does not compile: ")
    first = next((line for line in message.splitlines() if "error:" in line), "")
    return f"{what}{says}{first}" if first and not first.startswith("collect2:") else error


def reason_lists(
    reasons: Iterable[Mapping[str, Any]], what: str = "not judged", *, files: Sequence[str] = _ALL_IN
) -> Iterable[str]:
    """Lists of rows, one for each reason in a summary's `refused` or `failures`, with its first examples.

    `what` says what happened to the rows; `files` have all of them.
    """
    for entry in reasons:
        head = f"{entry['rows']} {what}: {printable(entry['reason'])}"
        yield _list(head, examples_without_reason(entry), len(entry["examples"]) + entry["more"], files=files)


def examples_without_reason(entry: Mapping[str, Any]) -> list[str]:
    """The examples of a reason without the reason itself, which is printed above them."""
    return [example.removesuffix(f": {entry['reason']}") for example in entry["examples"]]


def _list(head: str, items: Sequence[str], count: int, *, files: Sequence[str] = _ALL_IN) -> str:
    lines = [head if head.endswith("?") else f"{head}:", *(f"  {printable(item)}" for item in items[:_LISTED])]
    if count > _LISTED:
        lines.append(f"  … and {count - _LISTED} more" + (f" ({', '.join(files)})" if files else ""))
    return "\n".join(lines)
