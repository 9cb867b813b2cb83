"""Formats the summary of APPS results: a table by difficulty, for the terminal and `report.md`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ioi_eval.estimates import INTERVALS
from ioi_eval.report.markdown import cell, groups_section, markdown_table, near_limit_line, state_of, verdict_table
from ioi_eval.report.terminal import counts_of_run, incomplete_heading, near_limit, refusal_lists, share
from ioi_eval.report.texts import counted, printable, table

_SHOWN = 20
_FEW = 3
_LEGEND = (
    "Test case average: mean share of tests passed. Strict accuracy: mean share of programs that pass all tests. "
    "Both are means over problems, first over a problem's own programs. pass@k: unbiased estimator, for every k "
    f"for which each problem has at least k scored programs. In brackets: {INTERVALS}. "
    "The means leave out rows that are not judged, and judge errors."
)


def terminal_report(summary: Mapping[str, Any]) -> str:
    """The table, the verdict counts, the notes, and the programs that could not be judged."""
    counts = summary["submissions"]
    head, rows = _table(summary)
    scored = f"{counts['scored']} of {counted(counts['rows'], 'submission')} scored, by {summary['judged_by']}"
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items())
    lines = [
        f"{scored}: {verdicts}" if verdicts else scored,
        f"this run: {counts_of_run(summary['this_run'])}",
    ]
    if counts["undecided"]:
        lines.append(f"{counts['undecided']} without a score, because of a judge error (JE); see below")
    lines += filter(None, [near_limit(summary)])
    if counts["pending"]:
        lines.append(f"{counts['pending']} still to be judged: run the same command again")
    lines += [f"note: {note}" for note in summary["notes"]]
    failures = refusal_lists(summary["failures"], "without a score, because of a judge error (JE)")
    groups = [table(*_groups(summary))] if summary["groups"] else []
    heading = filter(None, [incomplete_heading(summary)])
    return "\n\n".join(
        [*heading, *groups, table(head, rows), "\n".join(lines), *failures, *refusal_lists(summary["refused"])]
    )


def markdown_report(summary: Mapping[str, Any]) -> str:
    """The whole report."""
    counts, run = summary["submissions"], summary["this_run"]
    head, rows = _table(summary)
    parts = [
        "# APPS results",
        f"- State: **{state_of(summary)}**\n- Judged by: **{cell(str(summary['judged_by']))}**\n"
        f"- Submissions: **{counts['rows']}**, of them {counts['scored']} scored ({counts['copies']} as copies of"
        f" identical programs), {counts['undecided']} without a score because of a judge error (JE),"
        f" {counts['refused']} not judged, {counts['pending']} still to be judged",
        *filter(None, [groups_section(summary, *_groups(summary), legend=_LEGEND)]),
        "## By difficulty",
        markdown_table(head, rows),
        _LEGEND,
        "## Verdicts",
        verdict_table(summary["verdicts"]),
        *chain.from_iterable(_group(summary["by"], group) for group in summary["groups"]),
    ]
    if summary["undecided"]:
        rows = [
            (failure["reason"], str(failure["rows"]), ", ".join(failure["examples"][:_FEW]))
            for failure in summary["failures"]
        ]
        parts += ["## Judge errors (JE)", markdown_table(("error", "programs", "such as"), rows)]
    for refused in summary["refused"]:
        listed = [f"- {cell(example)}" for example in refused["examples"][:_SHOWN]]
        more = refused["more"] + len(refused["examples"]) - len(listed)
        listed += [f"- … and {more} more, in `results.jsonl`"] if more > 0 else []
        parts += [f"## Not judged: {cell(refused['reason'])}", "\n".join(listed)]
    lines = [
        f"- ioi_eval {summary['ioi_eval']}; {summary['started']} to {summary['finished']}",
        f"- This run: {run['judged']} judged, {run['copies']} copies, {run['resumed']} from earlier runs; "
        f"{run['wall_s']:.1f} s with {run['workers']} at once, {run['cpu_s']:.1f} s of CPU",
        *(
            f"- {what}: {cell(name)} ({counted(count, 'submission')})"
            for what, column in (("Interpreter", "interpreters"), ("Target", "targets"), ("Isolation", "isolation"))
            for name, count in summary[column].items()
        ),
        near_limit_line(summary),
        *(f"- Note: {cell(note)}" for note in summary["notes"]),
    ]
    return "\n\n".join([*parts, "## Run", "\n".join(lines)]) + "\n"


def _group(by: Sequence[str], group: Mapping[str, Any]) -> tuple[str, ...]:
    """A group's own table and verdicts."""
    head = f"## {', '.join(map(cell, by))}: {cell(group['name'])}"
    return head, markdown_table(*_table(group)), verdict_table(group["verdicts"])


def _groups(summary: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A line for each group: all its difficulties together."""
    groups = summary["groups"]
    lines = [{**group["difficulties"][-1], "difficulty": group["name"]} for group in groups if group["difficulties"]]
    (_, *head), rows = _table({"difficulties": lines})
    return (", ".join(map(printable, summary["by"])), *head), rows


def _table(summary: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    lines = summary["difficulties"]
    ks = list(dict.fromkeys(k for line in lines for k in line["pass_at_k"]))
    head = ("difficulty", "problems", "programs", "JE", "broken rows", "test case average", "strict accuracy")
    rows = [
        (
            line["difficulty"],
            *(str(line[name]) for name in ("problems", "submissions", "undecided", "invalid_problems")),
            share(line["test_case_average"]),
            share(line["strict_accuracy"]),
            *(share(line["pass_at_k"].get(k)) for k in ks),
        )
        for line in lines
    ]
    return (*head, *(f"pass@{k}" for k in ks)), rows
