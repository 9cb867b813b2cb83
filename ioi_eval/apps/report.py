"""Formats the summary of APPS results: a table by difficulty, for the terminal and `report.md`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ioi_eval.estimates import INTERVALS, LEAST_PROBLEMS
from ioi_eval.model.methods import ComparatorKind
from ioi_eval.report import markdown
from ioi_eval.report.run_summary import CONTINUE
from ioi_eval.report.terminal import (
    IN_BRACKETS,
    LEFT_OUT,
    counts_of_run,
    has_interval,
    incomplete_heading,
    near_limit,
    reason_lists,
    share,
)
from ioi_eval.report.texts import counted, printable, table

_FEW = 3
_LEGEND = (
    "Test case average: mean share of tests passed. Strict accuracy: mean share of programs that pass all tests. "
    "Both are means over problems, first over a problem's own programs. pass@k: unbiased estimator, for k up "
    f"to the scored programs of the problem with the fewest. In brackets, if there are at least {LEAST_PROBLEMS} "
    f"problems: {INTERVALS}. "
    "The means leave out rows that are not judged, and judge errors."
)


def terminal_report(summary: Mapping[str, Any]) -> str:
    """The table, the verdict counts, the notes, and the programs that could not be judged."""
    counts = summary["submissions"]
    head, rows = _table(summary)
    scored = f"{counts['scored']} of {counted(counts['rows'], 'submission')} scored, {' '.join(_rules(summary))}"
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items())
    lines = [
        f"{scored}; verdicts: {verdicts}" if verdicts else scored,
        counts_of_run(summary["this_run"]),
    ]
    if counts["undecided"]:
        lines.append(f"{counts['undecided']} without a score, because of a judge error (JE), so {LEFT_OUT}; see below")
    lines += filter(None, [near_limit(summary)])
    if counts["pending"]:
        lines.append(f"{counts['pending']} still to be judged: {CONTINUE}")
    lines += [f"note: {note}" for note in summary["notes"]]
    failures = reason_lists(summary["failures"], "without a score, because of a judge error (JE)")
    groups = [table(*_groups(summary))] if summary["groups"] else []
    heading = filter(None, [incomplete_heading(summary)])
    difficulties = [table(head, rows)]
    if any(has_interval(line["strict_accuracy"]) for line in summary["difficulties"]):
        difficulties.append(IN_BRACKETS)
    return "\n\n".join(
        [*heading, *groups, "\n".join(difficulties), "\n".join(lines), *failures, *reason_lists(summary["refused"])]
    )


def markdown_report(summary: Mapping[str, Any]) -> str:
    """The whole report."""
    head, rows = _table(summary)
    how, rules = _rules(summary)
    failures = [
        (failure["reason"], str(failure["rows"]), ", ".join(failure["examples"][:_FEW]))
        for failure in summary["failures"]
    ]
    interpreters = [
        f"Interpreter: {name} ({counted(count, 'submission')})" for name, count in summary["interpreters"].items()
    ]
    parts = [
        "# APPS results",
        "\n".join([*markdown.counts_of(summary), f"- {how.capitalize()}: **{markdown.cell(rules)}**"]),
        markdown.groups_section(summary, *_groups(summary), legend=_LEGEND),
        "## By difficulty",
        markdown.markdown_table(head, rows),
        _LEGEND,
        "## Verdicts",
        markdown.verdict_table(summary["verdicts"]),
        *chain.from_iterable(_group(summary["by"], group) for group in summary["groups"]),
        f"## Judge errors (JE)\n\n{markdown.markdown_table(('error', 'programs', 'such as'), failures)}"
        if failures
        else "",
        *markdown.refused_rows(summary),
        markdown.run_section(summary, [*interpreters, f"CPU of this run: {summary['this_run']['cpu_s']:.1f} s"]),
        markdown.bullets("Notes", summary["notes"]),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _rules(summary: Mapping[str, Any]) -> tuple[str, str]:
    """By which rules programs were judged: what to write before the name, and the name."""
    name = str(summary["judged_by"])
    is_comparator = name.partition(":")[0] in frozenset(ComparatorKind)
    return ("outputs compared by" if is_comparator else "judged by the rules of"), name


def _group(by: Sequence[str], group: Mapping[str, Any]) -> tuple[str, ...]:
    """A group's own table and verdicts."""
    head = f"## {', '.join(map(markdown.cell, by))}: {markdown.cell(group['name'])}"
    return head, markdown.markdown_table(*_table(group)), markdown.verdict_table(group["verdicts"])


def _groups(summary: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A line for each group: all its difficulties together."""
    groups = summary["groups"]
    lines = [{**group["difficulties"][-1], "difficulty": group["name"]} for group in groups if group["difficulties"]]
    (_, *head), rows = _table({"difficulties": lines})
    return (", ".join(map(printable, summary["by"])), *head), rows


def _table(summary: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    lines = summary["difficulties"]
    ks = list(dict.fromkeys(k for line in lines for k in line["pass_at_k"]))
    head = ("difficulty", "problems", "programs", "JE", "broken problems", "test case average", "strict accuracy")
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
