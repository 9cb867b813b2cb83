"""The summary of a contest's results, made again from the results: `ioi-eval report` writes it to `summary.json`.

Rows do not have titles, limits, compile times and, except those of the reference, days; nor do they show what is still
to be judged. These are taken from the existing summary, or left out if there is none. If nobody changed the results,
the new summary is equal to the existing one; if somebody did, all scores are those of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ioi_eval.errors import ODD_DATA, InputError
from ioi_eval.model import (
    Batch,
    CompileOutcome,
    Language,
    Problem,
    ProblemKey,
    SubmissionResult,
    Subtask,
    SubtaskResult,
    Verdict,
)
from ioi_eval.problems.submissions import stated_language
from ioi_eval.report.failure_reasons import failure_reason
from ioi_eval.report.groups import Grouping, group_notes
from ioi_eval.report.result_files import wrong_file
from ioi_eval.report.result_sets import ResultSet
from ioi_eval.report.result_values import NamedRow, day_of, problem_name_of
from ioi_eval.report.run_summary import UNKNOWN, RunCounts, RunFacts, RunSummary, time_of
from ioi_eval.report.summary import Summary
from ioi_eval.report.totals import CpuSplit
from ioi_eval.selection import ResultRow

_RUN_ENTRIES = (
    *("ioi_eval", "python", "started", "finished", "interrupted", "this_run", "options"),
    *("unusable_problems", "invalid_problems", "refused", "cpu_s"),
)
"""The entries that rows do not have, or not as exactly as the existing summary."""

_LIMITS = ("time_limit_s", "memory_limit_bytes")

_PLACE = re.compile(r"^.*?, row \d+: ")
_REPEATED_ID = re.compile(r"(.+?) ['\"].* of problem .* is already in .*row \d+, and only that one counts; ", re.DOTALL)


def summary_from_rows(
    rows: Iterable[NamedRow], results: Sequence[ResultSet], grouping: Grouping | None = None
) -> dict[str, Any]:
    """The summary of the rows of some results, which need no tests; by default with the groups of the runs."""
    known_problems = _known_problems(results)
    problems: dict[ProblemKey, Problem] = {}
    summary = Summary(grouping=grouping or grouping_of_runs(results))

    def add(name: str, row: ResultRow) -> None:
        verdict = Verdict(row["verdict"])
        key = ProblemKey(year=int(problem_name_of(row)[0]), id=str(row["all_subtasks_results"][0]["problem"]))
        if key not in problems:
            problems[key] = _problem(key, known_problems.get(str(key), {}), row)
        language = stated_language(row) or Language.CPP
        summary.add(
            row,
            row,
            problems[key],
            _result(row, key, name, verdict),
            submission=name,
            cpu=CpuSplit(run=row["cpu_s"]),
            reason=failure_reason(
                row,
                verdict,
                language=language,
                extraction=row["extraction"],
                message=str(row.get("compile_message") or ""),
            ),
        )

    remade = values_of_rows(summary, rows, add, results)
    known = _cpu_of(each.summary for each in results).as_dict()  # rows have only `run`
    remade["cpu_s"] = {**known, "run": remade["cpu_s"]["run"]}
    remade["options"] = {**remade["options"], "id_column": results[0].id_column}
    return remade


def values_of_rows(
    summary: RunSummary, rows: Iterable[NamedRow], add: Callable[[str, ResultRow], None], results: Sequence[ResultSet]
) -> dict[str, Any]:
    """The same for any family of problems: `add` adds a row that was judged to the `summary`."""
    for number, (name, row) in enumerate(rows, 1):
        try:
            if row["verdict"] is None:
                error = str(row["error"])
                summary.refuse(_reason_in(error), error, row)
            else:
                add(name, row)
        except ODD_DATA as error:
            directories = [each.directory for each in results]
            where = f"row {number} of {', '.join(map(str, directories))}"
            text = f"{where} is not a row of results ({type(error).__name__}: {error})"
            raise InputError(next(filter(None, map(wrong_file, directories)), text)) from error
    if len(results) == 1:
        summary.add_what_rows_lack(results[0].summary)
    summary.pending = sum(each.pending.count for each in results)
    summary.pending_problems.update(name for each in results for name in each.summary.get("problems_pending", ()))
    remade = summary.as_dict(_facts_of(results))
    _copy_from_run(remade, results[0].summary if len(results) == 1 else {})
    return remade


def _reason_in(error: str) -> str:
    """The reason in the message about a row that was refused, the same for all rows that it applies to."""
    reason = _PLACE.sub("", error)
    repeated = _REPEATED_ID.match(reason)
    return f"the same {repeated[1]} and problem as an earlier row" if repeated else reason


def _copy_from_run(remade: dict[str, Any], earlier: Mapping[str, Any]) -> None:
    """Copy entries and the notes from the run's summary, if it has the same numbers of rows; but not those on its
    groups, as the groups are new."""
    if all(remade[name] == earlier.get(name) for name in ("submissions", "verdicts")):
        remade |= {name: earlier[name] for name in _RUN_ENTRIES if name in earlier}
        if "notes" in earlier:
            old = group_notes(earlier)
            remade["notes"] = [*(note for note in earlier["notes"] if note not in old), *group_notes(remade)]


def grouping_of_runs(results: Sequence[ResultSet]) -> Grouping:
    """The columns by which any of these runs grouped its rows."""
    return Grouping(columns=tuple(dict.fromkeys(column for each in results for column in each.summary.get("by", ()))))


def _facts_of(results: Sequence[ResultSet]) -> RunFacts:
    summaries = [each.summary for each in results]
    started, finished = (
        [time for each in summaries if (time := time_of(each, name))] for name in ("started", "finished")
    )
    runs = [each.get("this_run") or {} for each in summaries]
    joined = {"results": [str(each.directory) for each in results], "id_column": results[0].id_column}
    return RunFacts(
        started=min(started, default=UNKNOWN),
        finished=max(finished, default=UNKNOWN),
        interrupted=any(bool(each.get("interrupted")) for each in summaries),
        options=(results[0].options if len(results) == 1 else None) or joined,
        counts=RunCounts(
            **{name: sum(run.get(name, 0) for run in runs) for name in ("judged", "copies", "resumed", "wall_s")},
            jobs_at_once=max((run.get("workers", 0) for run in runs), default=0),
            stopped_by=next(filter(None, (run.get("stopped_by") for run in runs)), None),
            cpu=_cpu_of(runs),
        ),
    )


def _cpu_of(summaries: Iterable[Mapping[str, Any]]) -> CpuSplit:
    """The sum of the `cpu_s` of summaries, or of their runs. That of APPS is one number."""
    parts = (each.get("cpu_s") or {} for each in summaries)
    return sum((_cpu_split(part) if isinstance(part, Mapping) else CpuSplit(run=part) for part in parts), CpuSplit())


def _cpu_split(stated: Mapping[str, float]) -> CpuSplit:
    """The times that this version knows: a later one may write more."""
    return CpuSplit(**{each.name: stated[each.name] for each in fields(CpuSplit) if each.name in stated})


def _known_problems(results: Sequence[ResultSet]) -> Mapping[str, Mapping[str, Any]]:
    """What the summaries say of each problem; a limit only if all of them have the same."""
    known: dict[str, Mapping[str, Any]] = {}
    for each in results:
        for name, entry in each.known_problems.items():
            earlier = known.get(name, entry)
            differing = [limit for limit in _LIMITS if entry.get(limit) != earlier.get(limit)]
            known[name] = {**entry, **dict.fromkeys(differing)}
    return known


def _problem(key: ProblemKey, known: Mapping[str, Any], row: ResultRow) -> Problem:
    """A problem, as far as a row and the existing summary (`known`) describe it: without tests."""
    subtasks = row["all_subtasks_results"]
    return Problem(
        key=key,
        name=str(known.get("name") or ""),
        day=day_of(row, known.get("day")),
        method=Batch(),
        time_limit_s=known.get("time_limit_s") or 0.0,
        memory_limit_bytes=known.get("memory_limit_bytes") or 0,
        score_precision=subtasks[0]["score_precision"],
        subtasks=tuple(Subtask(name=subtask["subtask"], points=subtask["points"], tests=()) for subtask in subtasks),
        tests={},
        cxx_std="",
    )


def _result(row: ResultRow, key: ProblemKey, name: str, verdict: Verdict) -> SubmissionResult:
    """The scores in a row. With `--unscored-as zero` only the verdict shows that a score is not known."""
    return SubmissionResult(
        submission=name,
        problem=key,
        verdict=verdict,
        score=None if verdict is Verdict.JE else row["total_score"],
        compile=CompileOutcome(verdict=None),
        subtasks=tuple(
            SubtaskResult(
                subtask=each["subtask"],
                verdict=Verdict(each["status"]),
                score=None if each["status"] == Verdict.JE else each["score"],
                points=each["points"],
                weighted_score=each["weighted_score"],
                tests=(),
            )
            for each in row["all_subtasks_results"]
        ),
    )
