"""The summary for people: `report.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ioi_eval.estimates import INTERVALS, LEAST_PROBLEMS
from ioi_eval.report import terminal
from ioi_eval.report.result_values import VERDICT_NAMES
from ioi_eval.report.run_summary import BIASED, CONTINUE, time_of
from ioi_eval.report.texts import counted, half_up, points, printable

_SEVERAL = 2
_LACKING = {
    "undecided": "without a score because of a judge error (JE)",
    "refused": "not judged",
    "pending": "still to be judged",
}
LOWER_BOUND = "A `?` marks a lower bound, because of judge errors."
_TOGETHER = "sum of best subtasks"
_PROBLEM_HEAD = ("problem", "submissions", "best submission", f"{_TOGETHER}, all", f"{_TOGETHER}, 50", "verdicts")
_GROUPS_LEGEND = (
    "mean score: share of full marks that a submission gets; pass@k: unbiased estimator, solved = full marks in every "
    "subtask. Both are means over a group's own problems. In brackets, if there are at least "
    f"{LEAST_PROBLEMS} problems: {INTERVALS}. Groups with different problems, or with few, cannot be compared. "
    f"all, 50: {_TOGETHER} over all submissions of a contest, or over 50 to each problem. "
    "`ioi-eval compare --by-problem` shows whether two groups differ."
)


def markdown_report(summary: Mapping[str, Any]) -> str:
    """The whole report of `Summary.as_dict`."""
    sections = [
        _overview(summary),
        groups_section(summary, *terminal.group_cells(summary), legend=_GROUPS_LEGEND),
        *_tables(summary),
        *(_group(summary["by"], group) for group in summary["groups"]),
        _judge_errors(summary),
        *refused_rows(summary),
        bullets("Problems that cannot be judged", [text for _, text in sorted(summary["unusable_problems"].items())]),
        _run(summary),
        bullets("Notes", summary["notes"]),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _overview(summary: Mapping[str, Any]) -> str:
    # a pass@k over several models describes none of them
    estimates = _estimates(summary) if len(summary["groups"]) < _SEVERAL else []
    return "\n".join(["# Results", "", *counts_of(summary), *estimates, "", verdict_table(summary["verdicts"])])


def counts_of(summary: Mapping[str, Any]) -> list[str]:
    """The state of a run and its counts, a line each; for summaries of both families."""
    counts = summary["submissions"]
    lines = [
        f"- State: **{_state_of(summary)}**",
        f"- Submissions: **{counts['rows']}**, of them {counts['scored']} scored "
        f"({counts['copies']} as copies of identical programs)",
    ]
    if counts["undecided"]:
        lines.append(f"- Judge errors (JE), without a score: **{counts['undecided']}**; {terminal.LEFT_OUT}")
    if counts["refused"]:
        lines.append(f"- Not judged: **{counts['refused']}**")
    if counts["pending"]:
        lines.append(f"- Still to be judged: **{counts['pending']}**")
    return lines


def _state_of(summary: Mapping[str, Any]) -> str:
    """Whether a run is complete; if it was stopped, what follows from that."""
    state = "complete" if summary["complete"] else "not complete"
    if summary["interrupted"]:
        state = f"{'stopped early' if summary['this_run'].get('stopped_by') else 'interrupted'}; {CONTINUE} to continue"
    return f"{state}; {BIASED}" if summary["submissions"]["pending"] else state


def _estimates(summary: Mapping[str, Any]) -> list[str]:
    lines = []
    if why := terminal.no_mean(summary):
        lines.append(f"- {why}")
    if summary["average_score"]:
        lines.append(f"- Mean score: {terminal.share(summary['average_score'])} of full marks")
    if summary["pass_at_k"]:
        intervals = summary["pass_at_k_interval"]
        values = ", ".join(
            f"pass@{k} = {half_up(v, 4)}{_interval(*intervals[k])}" for k, v in summary["pass_at_k"].items()
        )
        lines.append(f"- {values} (unbiased, mean over problems; solved = full marks in every subtask)")
    if summary["average_score"] and summary["average_score"]["low"] is not None:
        lines.append(f"- In brackets: {INTERVALS}")
    return lines


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{half_up(low, 4)}, {half_up(high, 4)}]"


def _tables(summary: Mapping[str, Any], level: str = "##") -> Iterable[str]:
    yield _contests(summary, level)
    yield _problems(summary, level)
    yield from (_problem(problem, f"{level}#") for problem in summary["problems"])


def _group(by: Sequence[str], group: Mapping[str, Any]) -> str:
    head = f"## {', '.join(map(cell, by))}: {cell(group['name'])}"
    counts = group["submissions"]
    line = f"- Submissions: **{counts['rows']}**, of them {counts['scored']} scored"
    more = [f", {counts[what]} {text}" for what, text in _LACKING.items() if counts[what]]
    counted_lines = "\n".join([line + "".join(more), *_estimates(group)])
    parts = [head, counted_lines, verdict_table(group["verdicts"]), *_tables(group, "###")]
    return "\n\n".join(part for part in parts if part)


def groups_section(
    summary: Mapping[str, Any], head: Sequence[str], rows: Iterable[Sequence[str]], *, legend: str
) -> str:
    """The section of a summary of either family with a table of its groups and a legend; empty without groups."""
    if not summary["groups"]:
        return ""
    by = ", ".join(map(cell, summary["by"]))
    return f"## Groups by {by}\n\n{markdown_table(head, rows)}\n\n{legend}"


def _contests(summary: Mapping[str, Any], level: str) -> str:
    rows = [
        (
            str(contest["year"]),
            str(contest["problems"]),
            *(terminal.of_full_marks(contest, name, terminal.problems_of(summary, contest)) for name in terminal.SUMS),
        )
        for contest in summary["contests"]
    ]
    head = ("year", "problems", f"{_TOGETHER}, all submissions", f"{_TOGETHER}, 50 per problem")
    return f"{level} Contests\n\nWithout practice problems.\n\n{markdown_table(head, rows)}" if rows else ""


def _problems(summary: Mapping[str, Any], level: str) -> str:
    rows = [terminal.problem_cells(problem) for problem in summary["problems"]]
    if not rows:
        return ""
    legend = (
        f"{_TOGETHER}: each subtask counts with the most points that one of the submissions has for it. The 50 are "
        f"chosen as by `ioi-eval select`. {LOWER_BOUND}"
    )
    return f"{level} Problems\n\n{markdown_table(_PROBLEM_HEAD, rows)}\n\n{legend}"


def _problem(problem: Mapping[str, Any], level: str) -> str:
    rows = [
        (
            s["subtask"],
            f"{points(s['best_points'])}/{points(s['points'])}",
            "–" if s["best_score"] is None else f"{s['best_score']:.6g}",
            s["best_submission"] or "–",
            str(s["undecided"] or ""),
        )
        for s in problem["subtasks"]
    ]
    head = ("subtask", "best points", "best score", "first submission with it", "judge errors (JE)")
    name = f" ({cell(problem['name'])})" if problem["name"] else ""
    submissions = counted(problem["submissions"], "submission")
    return (
        f"{level} {problem['year']}/{cell(problem['problem'])}{name}\n\n"
        f"{submissions}, {problem['solved']} solved.\n\n{markdown_table(head, rows)}"
    )


def _judge_errors(summary: Mapping[str, Any]) -> str:
    if not summary["undecided"]:
        return ""
    table = markdown_table(("submissions", "problem", "error"), terminal.judge_errors(summary))
    more = summary["submissions"]["undecided"] - len(summary["undecided"])
    return f"## Judge errors (JE)\n\n{table}{_more(more)}"


def refused_rows(summary: Mapping[str, Any]) -> Iterable[str]:
    """A section for each reason why rows were not judged, with examples; for summaries of both families."""
    for refused in summary["refused"]:
        listed = bullets(f"Not judged: {refused['reason']}", terminal.examples_without_reason(refused))
        yield listed + _more(refused["more"])


def _run(summary: Mapping[str, Any]) -> str:
    run, cpu = summary["this_run"]["cpu_s"], summary["cpu_s"]
    lines = [
        f"CPU of this run: compile {run['compile']:.1f} s, run {run['run']:.1f} s, check {run['check']:.1f} s; "
        f"all results: {cpu['compile']:.1f}, {cpu['run']:.1f}, {cpu['check']:.1f}"
    ]
    if summary["attempted"]:
        calls = ", ".join(f"{call} {count}" for call, count in summary["attempted"].items())
        lines.append(f"Refused system calls, by submissions: {calls}")
    return run_section(summary, lines)


def run_section(summary: Mapping[str, Any], more: Iterable[str]) -> str:
    """The section about the run, with more lines of the family; for summaries of both."""
    run = summary["this_run"]
    times = " to ".join(filter(None, (time_of(summary, name) for name in ("started", "finished"))))
    lines = [
        f"ioi_eval {summary['ioi_eval']}, Python {summary['python']}" + (f"; {times}" if times else ""),
        f"This run: {terminal.counts_of_run(run)} {terminal.duration(summary)}, "
        f"{counted(run['workers'], 'job')} at once",
        *(
            f"{what}: {name} ({counted(count, 'submission')})"
            for what, column in (("Target", "targets"), ("Isolation", "isolation"))
            for name, count in summary[column].items()
        ),
        f"CPU time near the time limit (may differ elsewhere): {counted(summary['near_limit'], 'submission')}",
        *more,
    ]
    return bullets("Run", lines)


def verdict_table(counts: Mapping[str, int]) -> str:
    """How many submissions have each verdict, with its full name."""
    rows = [(verdict, VERDICT_NAMES.get(verdict, ""), str(count)) for verdict, count in counts.items()]
    return markdown_table(("verdict", "meaning", "submissions"), rows)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; characters that would end a cell are escaped."""
    first, *others = (f"| {' | '.join(map(cell, row))} |" for row in (head, *rows))
    return "\n".join([first, f"|{' --- |' * len(head)}", *others])


def bullets(head: str, items: Sequence[str]) -> str:
    """A section with a list; empty without items."""
    return "\n".join([f"## {cell(head)}", "", *(f"- {cell(item)}" for item in items)]) if items else ""


def _more(count: int) -> str:
    return f"\n\n… and {count} more, in `results.jsonl`." if count > 0 else ""


def cell(text: str) -> str:
    """Untrusted text (an id, a message, a program's output in a checker's message) as one line for a table cell.

    It has no control characters when it is printed. When it is rendered it has no tags, no images, and no
    links except those that GitHub makes of URLs: their text is where they lead.
    """
    short = printable(str(text), length=300)
    return (
        short.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`").replace("](", "]\\(")
    )
