"""A comparison of two sets of results, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.estimates import INTERVALS, LEAST_PROBLEMS, SIGNIFICANT
from ioi_eval.report.result_sets import Family
from ioi_eval.report.terminal import LEFT_OUT
from ioi_eval.report.texts import Cells, counted, percent, printable, table
from ioi_eval.report.two_runs import Change, Comparison, RowFilter

NAMES = ("before", "after")
"""The usual names of the two sides."""

_MCNEMAR = "(McNemar's exact test: the probability of a split at least as uneven by chance)"


def names_of(before: RowFilter, after: RowFilter) -> tuple[str, str]:
    """The names of the two sides: the value that selects the rows of a side, if there is one and they differ."""
    names = (before.value or NAMES[0], after.value or NAMES[1])
    return names if names[0] != names[1] else NAMES


def comparison_text(comparison: Comparison, *, most: int, names: tuple[str, str] = NAMES) -> str:
    """The comparison as text: at most `most` changes, then the means. `names` are those of the two sides."""
    paired = bool(comparison.pairs)
    old, new = names = (printable(names[0]), printable(names[1]))
    parts = []
    if comparison.changes:
        parts.append(_changes(comparison.changes, names, most))
    facts = [(f"{counted(comparison.pairs, 'pair')} on " if paired else "") + counted(comparison.problems, "problem")]
    if without := comparison.problems - comparison.with_points:
        facts.append(f"{counted(without, 'problem')} worth no points, so not in the mean score")
    if paired:
        flips = sum(change.flipped for change in comparison.changes)
        facts.append(f"changed verdicts: {flips}; only the score changed: {len(comparison.changes) - flips}")
    only = "only in {}, so in no pair" if paired else "problems only in {}, so in no mean"
    of_rows = "submission without a score" if comparison.unscored == 1 else "submissions without a score"
    no_score = "without a score in one of the two" if paired else of_rows
    left_out = (
        (comparison.only_before, only.format(old)),
        (comparison.only_after, only.format(new)),
        (comparison.unscored, f"{no_score}, so {LEFT_OUT}"),
    )
    facts += [f"{number} {text}" for number, text in left_out if number]
    if paired:
        p = "" if comparison.p is None else f"; p = {comparison.p:.3g} {_MCNEMAR}"
        facts.append(f"solved only in {old}: {comparison.lost}; only in {new}: {comparison.won}{p}")
    parts.append("\n".join(facts))
    if comparison.means:
        parts.append(_means(comparison, names))
    parts += [f"note: {printable(note)}" for note in comparison.notes]
    return "\n\n".join(parts)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison, as values for JSON."""
    return {
        "family": comparison.family.name.lower(),
        "pairs": comparison.pairs,
        "problems": comparison.problems,
        "with_points": comparison.with_points,
        "only_before": comparison.only_before,
        "only_after": comparison.only_after,
        "unscored": comparison.unscored,
        "pending_before": comparison.pending[0],
        "pending_after": comparison.pending[1],
        "lost": comparison.lost,
        "won": comparison.won,
        "mcnemar_p": comparison.p,
        "regressed": comparison.regressed,
        "sign_flip_p": dict(comparison.sign_flip_p),
        "means": {name: mean.as_dict() for name, mean in comparison.means.items()},
        "changes": [
            {
                "problem": change.name[0],
                "submission": change.name[1],
                "before": {"verdict": change.before.verdict or None, "score": change.before.share},
                "after": {"verdict": change.after.verdict or None, "score": change.after.share},
                "worse": change.worse,
                "reasons": list(change.reasons),
            }
            for change in comparison.changes
        ],
        "notes": list(comparison.notes),
    }


def _changes(changes: Sequence[Change], names: tuple[str, str], most: int) -> str:
    """A table of at most `most` changes. What differs in all of them, such as an option of the run, is below it."""
    common = [reason for reason in changes[0].reasons if all(reason in change.reasons for change in changes)]
    rows = [_line(change, common) for change in changes[:most]]
    head: Cells = ("problem", "submission", *names, "score, %", "also differs" if common else "what differs")
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    lines = [table(head, rows, left=frozenset({0, 1, 2, 3, 5}))]
    if len(changes) > most:
        lines.append(f"… and {len(changes) - most} more")
    if common:
        lines.append(f"what differs in {'all of these' if len(changes) > 1 else 'it'}: {', '.join(common)}")
    return "\n".join(lines)


def _line(change: Change, common: Sequence[str]) -> tuple[str, ...]:
    verdicts = [printable(result.verdict or "not judged") for result in (change.before, change.after)]
    shares = ["–" if result.share is None else f"{100 * result.share:.6g}" for result in (change.before, change.after)]
    reasons = ", ".join(reason for reason in change.reasons if reason not in common)
    return (*map(printable, change.name), *verdicts, " → ".join(shares), reasons)


def _means(comparison: Comparison, names: tuple[str, str]) -> str:
    rows = []
    counts = {"score": comparison.with_points, "solved": comparison.problems}
    labels = {"score": "test case average" if comparison.family is Family.APPS else "mean score", "solved": "pass@1"}
    for what, label in labels.items():
        if not counts[what]:
            continue
        before, after, difference = (comparison.means[f"{what} {when}"] for when in (*NAMES, "difference"))
        cells = (percent(mean.value, mean.low, mean.high) for mean in (before, after))
        rows.append((label, *cells, percent(difference.value, difference.low, difference.high, is_difference=True)))
    legend = f"(means over problems; in brackets {INTERVALS})"
    if any(comparison.pending):
        legend = "(means over problems; no intervals, as a run is not complete)"
    elif comparison.problems < LEAST_PROBLEMS:
        legend = (
            f"(means over problems; with fewer than {LEAST_PROBLEMS} there are no intervals, and a difference may be "
            "chance)"
        )
    else:
        legend += "".join(
            f"\n{label}: {_conclusion(comparison, what)}"
            for what, label in labels.items()
            if what in comparison.sign_flip_p
        )
    return table(("", *names, "difference, percentage points"), rows) + f"\n{legend}"


def _conclusion(comparison: Comparison, what: str) -> str:
    if not comparison.interval_without_0(what):
        return "the difference may be chance, as its interval contains 0"
    p = f"a randomisation test has p = {comparison.sign_flip_p[what]:.2g}"
    if comparison.more_than_chance(what):
        return f"the difference is more than chance: its interval does not contain 0, and {p}"
    return f"the difference may be chance: its interval does not contain 0, but {p}, not below {SIGNIFICANT}"
