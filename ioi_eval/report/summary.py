"""What a run comes to, as plain values: `summary.json`, and what the table and the report are made from.

Judge errors are counted apart, everywhere: a score that we failed to find out is neither a 0 nor left out silently.
"""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.languages import rules_of
from ioi_eval.model import ProblemKey, TaskType, Verdict
from ioi_eval.report.groups import Grouping, Groups
from ioi_eval.report.limited import LightRow
from ioi_eval.report.rows import JudgedSubmission
from ioi_eval.report.tally import AVERAGE, CpuSplit, ProblemTally, problem_estimates
from ioi_eval.version import __version__

FORMAT = 1
EXAMPLES = 20  # how many of a kind are named; all are counted, and all are in results.jsonl
KINDS = 100  # how many reasons are told apart


@dataclass(slots=True)
class Refusals:
    """Rows that cannot be judged: all counted by reason, the first of each named."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, example: str) -> None:
        """Take in one.

        Args:
            kind: the reason, without what differs from row to row.
            example: the whole message.
        """
        if kind not in self.counts and len(self.counts) >= KINDS:
            kind = "other reasons"
        self.counts[kind] += 1
        shown = self.examples.setdefault(kind, Counter())
        if example in shown or len(shown) < EXAMPLES:
            shown[example] += 1

    def as_list(self) -> list[dict[str, Any]]:
        """For JSON, the most frequent reason first; what is the same of several rows stands there once."""
        return [
            {
                "reason": kind,
                "rows": count,
                "examples": [words if n == 1 else f"{words} ({n} rows)" for words, n in self.examples[kind].items()],
                "more": count - self.examples[kind].total(),
            }
            for kind, count in self.counts.most_common()
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What only the run itself knows.

    Args:
        started, finished: ISO 8601, UTC.
        interrupted: the user, or a failure, ended it early.
        options: what was asked for.
        workers: how many jobs the sandbox ran at once.
        wall_s: how long judging took.
        judged: how many were judged in this run.
        copies: how many took over the result of an identical program in this run.
        resumed: how many an earlier run had judged.
        cpu: what judging took in this run.
        notes: what users should know.
    """

    started: str
    finished: str
    interrupted: bool
    options: Mapping[str, Any]
    workers: int
    wall_s: float
    judged: int
    copies: int
    resumed: int
    cpu: CpuSplit
    notes: tuple[str, ...] = ()


class Summary:
    """Adds up results as they stream by.

    Args:
        unusable: problems that cannot be judged, and why.
        grouping: by which columns of the dump all of it is given for each group too.
    """

    def __init__(
        self, *, unusable: Mapping[ProblemKey, Exception] | None = None, grouping: Grouping | None = None
    ) -> None:
        self._groups: Groups[Summary] = Groups(grouping or Grouping(), Summary)
        self.refused = Refusals()
        self.pending = 0
        self._unusable = {str(key): str(error) for key, error in (unusable or {}).items()}
        self._problems: dict[ProblemKey, ProblemTally] = {}
        self._undecided: list[dict[str, Any]] = []
        self._copies = 0
        self._near_limit = 0
        self._isolation: Counter[str] = Counter()
        self._targets: Counter[str] = Counter()
        self._extraction: Counter[str] = Counter()
        self._attempted: Counter[str] = Counter()
        self._suspicious = 0
        self._aimless = Refusals()
        self._unfenced = Refusals()
        self._cpu = CpuSplit()

    def add(self, judged: JudgedSubmission, row: Mapping[str, Any], *, target_subtask: str | None) -> None:
        """Take in a submission.

        Args:
            judged: what became of it.
            row: the dump's.
            target_subtask: the subtask that it was written for, if the dump tells.
        """
        totals, aim = judged.totals, self._tally(judged).subtasks.get(target_subtask)
        light = LightRow(row, judged.problem, compiles=totals.compiles, scores=totals.scores, target_subtask=aim)
        aimless = target_subtask if aim is None else None
        self._add(judged, row, light, aimless)
        if (group := self._groups.of(row)) is not None:
            group._add(judged, row, light, aimless)

    def refuse(self, kind: str, message: str, row: Mapping[str, Any]) -> None:
        """Take in a row that cannot be judged.

        Args:
            kind: the reason, without what differs from row to row.
            message: the whole message.
            row: the dump's.
        """
        self.refused.add(kind, message)
        if (group := self._groups.of(row)) is not None:
            group.refused.add(kind, message)

    def postpone(self, row: Mapping[str, Any]) -> None:
        """Take in a row of the dump that is not judged yet."""
        self.pending += 1
        if (group := self._groups.of(row)) is not None:
            group.pending += 1

    def _tally(self, judged: JudgedSubmission) -> ProblemTally:
        tally = self._problems.get(judged.result.problem)
        if tally is None:
            tally = self._problems[judged.result.problem] = ProblemTally(problem=judged.problem)
        return tally

    def _add(self, judged: JudgedSubmission, row: Mapping[str, Any], light: LightRow, aimless: str | None) -> None:
        result, submission, totals = judged.result, judged.submission.id, judged.totals
        self._tally(judged).add(submission, result, light)
        self._extraction[judged.submission.extraction] += 1
        if aimless is not None:
            self._aimless.add(str(result.problem), aimless)
        if _is_unfenced(judged, row):
            self._unfenced.add(rules_of(judged.submission.language).name, submission)
        if result.score is None and len(self._undecided) < EXAMPLES:
            self._undecided.append({"submission": submission, "problem": str(result.problem), "error": totals.error})
        self._suspicious += totals.suspicious
        self._near_limit += totals.near_limit
        if judged.duplicate_of is not None:
            self._copies += 1
            return
        self._attempted.update(totals.attempted.keys())
        if result.isolation is not None:
            self._isolation[result.isolation] += 1
        if result.target:
            self._targets[result.target] += 1
        self._cpu += totals.cpu

    @property
    def undecided(self) -> int:
        """Submissions that we, or a judge program, failed to judge."""
        return sum(tally.undecided for tally in self._problems.values())

    @property
    def complete(self) -> bool:
        """Whether every row of the dump has been judged."""
        return not (self.undecided or self.pending or self.refused.counts)

    def as_dict(self, run: RunFacts) -> dict[str, Any]:
        """All of it, for JSON."""
        tallies = self._tallies()
        return {
            **heading(FORMAT, run, complete=self.complete),
            **self._scores(),
            "undecided": self._undecided,
            "refused": self.refused.as_list(),
            "unusable_problems": self._unusable,
            "isolation": dict(self._isolation),
            "targets": dict(self._targets),
            "extraction": dict(self._extraction),
            "attempted": dict(self._attempted.most_common()),
            "suspicious": self._suspicious,
            "near_limit": self._near_limit,
            "cpu_s": self._cpu.as_dict(),
            "this_run": this_run(run),
            "options": dict(run.options),
            "by": list(self._groups.grouping.columns),
            "groups": self._groups.as_list(Summary._scores),
            "notes": [
                *run.notes,
                *_problem_notes(tallies),
                *_target_notes(self._aimless),
                *_unfenced_notes(self._unfenced),
                *_unnamed_notes(self._attempted),
                *self._groups.notes,
            ],
        }

    def _scores(self) -> dict[str, Any]:
        """What all submissions, or those of a group, are worth."""
        tallies = self._tallies()
        problems = [_problem(tally) for tally in tallies]
        submissions = sum(tally.submissions for tally in tallies)
        refused = self.refused.counts.total()
        estimates = problem_estimates(tallies)
        return {
            "submissions": {
                "rows": submissions + refused + self.pending,
                "scored": submissions - self.undecided,
                "undecided": self.undecided,
                "refused": refused,
                "pending": self.pending,
                "copies": self._copies,
            },
            "verdicts": _verdicts(sum((tally.verdicts for tally in tallies), Counter())),
            "contests": _contests(problems),
            "problems": problems,
            "average_score": estimates[AVERAGE].as_dict() if AVERAGE in estimates else None,
            "pass_at_k": {name: round(one.value, 6) for name, one in estimates.items() if name != AVERAGE},
            "pass_at_k_interval": {name: [one.low, one.high] for name, one in estimates.items() if name != AVERAGE},
        }

    def _tallies(self) -> list[ProblemTally]:
        return sorted(self._problems.values(), key=lambda t: (t.problem.key.year, str(t.problem.day), t.problem.key.id))


def heading(summary_format: int, run: RunFacts, *, complete: bool) -> dict[str, Any]:
    """What every summary begins with: what made it, and when."""
    return {
        "format": summary_format,
        "ioi_eval": __version__,
        "python": platform.python_version(),
        "started": run.started,
        "finished": run.finished,
        "interrupted": run.interrupted,
        "complete": complete,
    }


def renewed(values: Mapping[str, Any], run: RunFacts, this_run: Mapping[str, Any]) -> dict[str, Any]:
    """An earlier summary of the same results, with what is of this run; its `notes` are those of the results alone."""
    return {
        **values,
        **heading(values["format"], run, complete=values["complete"]),
        "this_run": {**values["this_run"], **this_run},
        "options": dict(run.options),
        "notes": [*run.notes, *values["notes"]],
    }


def _problem(tally: ProblemTally) -> dict[str, Any]:
    problem, together = tally.problem, tally.together.score()
    return {
        "year": problem.key.year,
        "problem": problem.key.id,
        "name": problem.name,
        "day": problem.day,
        "points": tally.points,
        "time_limit_s": problem.time_limit_s,
        "memory_limit_bytes": problem.memory_limit_bytes,
        "submissions": tally.submissions,
        "undecided": tally.undecided,
        "solved": tally.solved,
        "verdicts": _verdicts(tally.verdicts),
        "best_score": tally.best,
        "best_submission": tally.best_submission,
        "all_submissions_score": together.at_least,
        "limit_50_score": tally.best_of_50,
        "subtasks": [
            {
                "subtask": best.subtask,
                "points": best.points,
                "best_score": best.score,
                "best_points": best.weighted_score,
                "best_submission": best.submission,
                "undecided": best.undecided,
            }
            for best in together.subtasks
        ],
    }


def _contests(problems: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sums over a year's problems, as `_problem` tells of them. Practice problems are no part of a contest."""
    years: dict[int, list[Mapping[str, Any]]] = {}
    for problem in problems:
        if problem["day"] != "practice":
            years.setdefault(problem["year"], []).append(problem)
    return [
        {
            "year": year,
            "problems": len(group),
            **{
                name: math.fsum(problem[name] for problem in group)
                for name in ("points", "all_submissions_score", "limit_50_score")
            },
            "undecided": sum(problem["undecided"] for problem in group),
        }
        for year, group in years.items()
    ]


def this_run(run: RunFacts) -> dict[str, Any]:
    """What a run did and took."""
    return {
        "judged": run.judged,
        "copies": run.copies,
        "resumed": run.resumed,
        "workers": run.workers,
        "wall_s": round(run.wall_s, 3),
        "cpu_s": run.cpu.as_dict(),
        "ours_s": round(max(0.0, run.wall_s * run.workers - run.cpu.total), 3),
    }


def _problem_notes(tallies: Iterable[ProblemTally]) -> list[str]:
    return [f"problem {tally.problem.key}: {note}" for tally in tallies for note in tally.problem.notes]


def _target_notes(aimless: Refusals) -> list[str]:
    """Targets that are no subtask of their problem, so that `target_subtask_score` says nothing: a wrong column?"""
    notes = []
    for one in aimless.as_list():
        rows, their = ("1 row was", "its") if one["rows"] == 1 else (f"{one['rows']} rows were", "their")
        notes.append(
            f"problem {one['reason']}: {rows} written for a subtask that it does not have, such as "
            f"{one['examples'][0]!r}: {their} target_subtask_score is null"
        )
    return notes


def _unnamed_notes(attempted: Mapping[str, int]) -> list[str]:
    """Calls that ended a program, and whose name a filter around the sandbox has kept from the runner."""
    words = (
        "`hidden_call` in `attempted` is a call with no honest use that a filter around the sandbox, as a container "
        "has, answered first: the verdict is SV as everywhere, its name is not known"
    )
    return [words] if "hidden_call" in attempted else []


def _is_unfenced(judged: JudgedSubmission, row: Mapping[str, Any]) -> bool:
    """Whether nothing was found in a text that may be a program itself."""
    text = row.get("generation")
    return (
        judged.result.verdict is Verdict.NC
        and judged.problem.task_type is not TaskType.OUTPUT_ONLY
        and isinstance(text, str)
        and not any(fence in text for fence in ("```", "~~~"))
        and rules_of(judged.submission.language).looks_unfenced(text)
    )


def _unfenced_notes(unfenced: Refusals) -> list[str]:
    """Generations that may be programs as they stand: without fences they are no code."""
    return [
        f"{one['rows']} without code (NC) {'looks' if one['rows'] == 1 else 'look'} like {one['reason']} without a "
        f"fence, such as {one['examples'][0]!r}: only fenced blocks of a `generation` count; a bare program belongs in "
        "`code`"
        for one in unfenced.as_list()
    ]


def _verdicts(counts: Counter[Verdict]) -> dict[str, int]:
    """In the order of `Verdict`, without zeros."""
    return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}
