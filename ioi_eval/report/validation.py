"""The findings of a validation as text: for the terminal and as `validation.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ioi_eval.report.markdown import cell, markdown_table
from ioi_eval.report.texts import counted, printable, table

_HEAD = ("problem", "solutions", "statements", "agreements")


def terminal_validation(values: Mapping[str, Any]) -> str:
    """Every disagreement of `Validation.as_dict` with its evidence, times close to a limit, and the counts."""
    parts = [_disagreement(entry) for entry in values["disagreements"]]
    parts += _listed("Not judged, because judging failed (JE)", values["undecided"])
    parts += _listed("Not judged", values["refused"])
    parts += _listed("Times near the time limit", [near_limit(entry) for entry in values["near_limit"]])
    parts += _left_out(values)
    if values["problems"]:
        parts.append(table(_HEAD, _counts(values)))
    parts.append(_conclusion(values))
    return "\n\n".join(parts)


def markdown_validation(values: Mapping[str, Any]) -> str:
    """The findings of `Validation.as_dict` as a Markdown document."""
    head = ("problem", "solution", "subtask", "stated", "seen", "evidence")
    disagreements = [
        (entry["problem"], entry["solution"], entry["where"], entry["stated"], entry["seen"], evidence_of(entry))
        for entry in values["disagreements"]
    ]
    parts = ["# Validation", _conclusion(values), markdown_table(_HEAD, _counts(values))]
    if disagreements:
        parts += ["## Disagreements", markdown_table(head, disagreements)]
    for title, items in (
        ("Not judged, because judging failed", values["undecided"]),
        ("Not judged", values["refused"]),
        ("Times near the time limit", [near_limit(entry) for entry in values["near_limit"]]),
    ):
        if items:
            parts += [f"## {title}", "\n".join(f"- {cell(item)}" for item in items)]
    parts += map(cell, _left_out(values))
    return "\n\n".join(parts) + "\n"


def evidence_of(disagreement: Mapping[str, Any]) -> str:
    """One line about the test that decided a disagreement, and the note about all subtasks or what else decided."""
    note: str = disagreement.get("note", "")
    deciding = disagreement["evidence"]
    return "; ".join(filter(None, ("" if deciding is None and note else deciding_test_text(deciding), note)))


def deciding_test_text(values: Mapping[str, Any] | None) -> str:
    """One line about the deciding test: verdict, time, memory, the checker's message."""
    if values is None:
        return "no test was run"
    parts = [f"test {values['test']}: {values['verdict']}"]
    if values["cpu_s"] is not None:
        parts.append(f"{values['cpu_s']:.3f} s of {values['limit_s']:g} s")
    if values["memory_bytes"] is not None:
        parts.append(f"{values['memory_bytes'] / 2**20:.1f} MiB")
    parts += [f'"{values[name].strip()}"' for name in ("message", "stderr") if values[name].strip()]
    return ", ".join(parts)


def near_limit(values: Mapping[str, Any]) -> str:
    """One line about a time close to a limit, with the margin."""
    alone = ", measured alone" if values["reran"] else ""
    return (
        f"{values['problem']}, {values['solution']}, test {values['test']}: {values['verdict']}, "
        f"{values['cpu_s']:.3f} s of {values['limit_s']:g} s (margin {values['margin']:+.1%}{alone})"
    )


def _disagreement(values: Mapping[str, Any]) -> str:
    where = values["where"] if values["where"].startswith("(") else f"subtask {values['where']}"
    lines = [
        f"{values['problem']}, {values['solution']}, {where}: stated {values['stated']}, seen {values['seen']}",
        evidence_of(values),
    ]
    return "\n  ".join(printable(line.strip()) for line in lines)


def _listed(head: str, items: Sequence[str]) -> Iterable[str]:
    if items:
        yield "\n".join([f"{head}:", *(f"  {printable(item)}" for item in items)])


def _counts(values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows = [(name, *(str(c[k]) for k in _HEAD[1:])) for name, c in values["problems"].items()]
    if len(rows) > 1:
        rows.append(("all", *(str(sum(c[k] for c in values["problems"].values())) for k in _HEAD[1:])))
    return rows


def _left_out(values: Mapping[str, Any]) -> Iterable[str]:
    """What was not compared, and why, except for what could not be judged."""
    if values["unstated"]:
        names = [printable(name) for name in values["unstated_names"]]
        if more := values["unstated"] - len(names):
            names.append(f"and {more} more")
        unstated = counted(values["unstated"], "solution")
        yield f"Left out, because no verdict is stated: {unstated} ({'; '.join(names)})."
    if values["unmatched"]:
        results = counted(values["unmatched"], "stated result")
        yield (
            f"{results} without a solution: year, problem_id and name (label, else uuid; or the column of --id-column) "
            "must match."
        )
    if values["pending"]:
        pending = counted(values["pending"], "solution")
        yield f"Interrupted: {pending} still to be judged. With --out, the same command goes on where it stopped."


def _conclusion(values: Mapping[str, Any]) -> str:
    statements = sum(counts["statements"] for counts in values["problems"].values())
    if values["agrees"]:
        return "The only statement agrees." if statements == 1 else f"All {statements} statements agree."
    failed = len(values["undecided"]) + len(values["refused"]) + values["pending"]
    more = f"; not judged: {counted(failed, 'solution')}" if failed else ""
    if statements == len(values["disagreements"]) == 1:
        return f"The only statement disagrees{more}."
    return f"{len(values['disagreements'])} of {statements} statements disagree{more}."
