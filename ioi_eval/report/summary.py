"""The summary of a run on contest problems: the content of `summary.json`, from which tables and reports are made.

Results are added one by one for each problem; the memory does not grow with the number of tests.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.estimates import means_of_problems
from ioi_eval.model import Problem, ProblemKey, SubmissionResult, Subtask, SubtaskResult, Verdict
from ioi_eval.report.groups import Grouping
from ioi_eval.report.result_values import PRACTICE, light_row
from ioi_eval.report.run_summary import ReasonCounts, RunFacts, RunSummary, verdict_counts
from ioi_eval.report.totals import CpuSplit
from ioi_eval.scores import contribution, total_points
from ioi_eval.selection import ResultRow, reasoning_length, select, selected_score, sum_of_points

_HIDDEN_CALL = (
    "`hidden_call` in `attempted` is a call with no honest use whose name is not known, because a filter outside the "
    "sandbox (a container's) stopped it first; the verdict is SV, as everywhere"
)


@dataclass(slots=True)
class _SubtaskTally:
    """All results in one subtask: the best, the submission that was the first to have it, and how many are unknown."""

    subtask: Subtask
    best: SubtaskResult | None = None
    submission: str | None = None
    unknown: int = 0

    def add(self, submission: str, result: SubtaskResult) -> None:
        """Add a result. Equal scores are compared by their points, because those of the reference are rounded to two
        decimals: 0.9964 is 1.0 there, and 99.64 of 100 points."""
        if result.score is None:
            self.unknown += 1
        elif self.best is None or _score_and_points(result) > _score_and_points(self.best):
            self.best, self.submission = result, submission

    def as_dict(self) -> dict[str, Any]:
        """For JSON. An unknown result might be better than the best, unless that has full marks. Without a best one all
        results are unknown: there is at least one."""
        best = self.best
        return {
            "subtask": self.subtask.name,
            "points": self.subtask.points,
            "best_score": best.score if best else None,
            "best_points": best.weighted_score if best else None,
            "best_submission": self.submission,
            "undecided": 0 if best and best.score == 1.0 else self.unknown,
        }


def _score_and_points(result: SubtaskResult) -> tuple[float, float]:
    return result.score or 0.0, result.weighted_score or 0.0


@dataclass(slots=True, kw_only=True)
class ProblemTally:
    """All submissions of one problem."""

    problem: Problem
    total_score: float = 0.0
    best: float | None = None
    best_submission: str | None = None
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    subtasks: Sequence[_SubtaskTally] = field(init=False)
    rows: list[ResultRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.subtasks = tuple(map(_SubtaskTally, self.problem.subtasks))

    def add(self, submission: str, result: SubmissionResult, row: ResultRow) -> None:
        """Add a submission, with its light row; its result may be that of another one with the same program."""
        self.rows.append(row)
        self.verdicts[result.verdict] += 1
        if result.score is not None:
            self.total_score += result.score
            if self.best is None or result.score > self.best:
                self.best, self.best_submission = result.score, submission
        names, known = [each.subtask for each in result.subtasks], [each.subtask.name for each in self.subtasks]
        if names != known:
            raise InputError(
                f"submission {submission} to {self.problem.key} was judged with the subtasks {names}, others with"
                f" {known}; score them apart"
            )
        for tally, subtask in zip(self.subtasks, result.subtasks, strict=True):
            tally.add(submission, subtask)

    @property
    def sum_of_best_subtasks(self) -> float:
        """The points of the best result in each subtask, added, and rounded once. One without a known score counts 0.

        Source: IOI regulations since 2017; CMS's `score_mode: max_subtask`.
        """
        best = (contribution(self.problem, each.subtask, each.best) for each in self.subtasks if each.best)
        return total_points(itertools.chain.from_iterable(best), self.problem.score_precision) or 0.0

    @property
    def points(self) -> float:
        """Full marks of the problem."""
        return sum_of_points(subtask.points for subtask in self.problem.subtasks)

    @property
    def means(self) -> tuple[float | None, int, int]:
        """The entry of the problem for `means_of_problems`."""
        judged = len(self.rows) - self.verdicts[Verdict.JE]
        share = self.total_score / judged / self.points if judged and self.points else None
        return share, judged, self.verdicts[Verdict.AC]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        problem = self.problem
        return {
            "year": problem.key.year,
            "problem": problem.key.id,
            "name": problem.name,
            "day": problem.day,
            "points": self.points,
            "time_limit_s": problem.time_limit_s or None,  # unknown in `summary_from_rows`
            "memory_limit_bytes": problem.memory_limit_bytes or None,
            "submissions": len(self.rows),
            "undecided": self.verdicts[Verdict.JE],
            "solved": self.verdicts[Verdict.AC],
            "verdicts": verdict_counts(self.verdicts),
            "best_score": self.best,
            "best_submission": self.best_submission,
            "all_submissions_score": self.sum_of_best_subtasks,
            "limit_50_score": selected_score(self.rows, select(self.rows)),
            "subtasks": [tally.as_dict() for tally in self.subtasks],
        }


class Summary(RunSummary):
    """Adds up results of contest problems; `unusable` has those that cannot be judged, and why."""

    def __init__(self, *, grouping: Grouping | None = None) -> None:
        super().__init__(Summary, grouping)
        self.unusable: Mapping[ProblemKey, Exception] = {}
        self.dump_notes: Sequence[str] = ()
        self._problems: dict[ProblemKey, ProblemTally] = {}
        self._attempted: Counter[str] = Counter()
        self._suspicious = 0
        self._unknown_targets = ReasonCounts()
        self._cpu = CpuSplit()

    def add(
        self,
        row: Mapping[str, Any],
        dump_row: Mapping[str, Any],
        problem: Problem,
        result: SubmissionResult,
        *,
        submission: str,
        cpu: CpuSplit,
        reason: str,
    ) -> None:
        """Add a submission, by its row in the results, whose subtasks are not read.

        Args:
            result: its scores; a copy has those of another submission.
            cpu: the CPU time of judging; that of a copy does not count.
            reason: why there is no program, or none that compiles; empty if it is not known, or there is one.
        """
        aim = {subtask.name: subtask.name for subtask in problem.subtasks}.get(row["target_subtask"])
        # A row with unexpected values fails here, before any sum is changed.
        light = light_row(
            compiles=row["code_compiles"],
            target_subtask=aim,
            subtasks=[
                (each.subtask, each.points, each.score, problem.score_precision, each.weighted_score, each.verdict)
                for each in result.subtasks
            ],
            length=reasoning_length(dump_row),
        )
        for summary in self._with_group(dump_row):
            if problem.key not in summary._problems:
                summary._problems[problem.key] = ProblemTally(problem=problem)
            summary._problems[problem.key].add(submission, result, light)
            summary._take(row, submission, str(problem.key), reason)
            summary._suspicious += bool(row["attempted"]) or any(s.verdict is Verdict.SV for s in result.subtasks)
            if row["duplicate_of"] is None:
                summary._attempted.update(entry["call"] for entry in row["attempted"])
                summary._cpu += cpu
            if aim is None and row["target_subtask"] is not None:
                summary._unknown_targets.add(str(problem.key), row["target_subtask"])

    def _own(self, run: RunFacts) -> dict[str, Any]:  # noqa: ARG002 - not needed
        return {
            "unusable_problems": {str(key): str(error) for key, error in self.unusable.items()},
            "attempted": dict(self._attempted.most_common()),
            "suspicious": self._suspicious,
            "cpu_s": self._cpu.as_dict(),
        }

    @classmethod
    def this_run(cls, run: RunFacts) -> dict[str, Any]:
        """How much a run judged, how long it took, where its CPU time went, and our own time (`ours_s`)."""
        cpu = run.counts.cpu
        ours_s = round(max(0.0, run.counts.wall_s * run.counts.jobs_at_once - cpu.total), 3)
        return {**super().this_run(run), "cpu_s": cpu.as_dict(), "ours_s": ours_s}

    def _notes(self) -> list[str]:
        return [
            *self.dump_notes,
            *(f"problem {tally.problem.key}: {note}" for tally in self._tallies() for note in tally.problem.notes),
            *_target_notes(self._unknown_targets),
            *([_HIDDEN_CALL] if "hidden_call" in self._attempted else []),
        ]

    def _scores(self, *, intervals: bool) -> dict[str, Any]:
        tallies = self._tallies()
        problems = [tally.as_dict() for tally in tallies]
        average, passing = means_of_problems([tally.means for tally in tallies], intervals=intervals)
        return {
            "contests": _contests(problems),
            "problems": problems,
            "average_score": None if average is None else average.as_dict(),
            "pass_at_k": {str(k): estimate.value for k, estimate in passing.items()},
            "pass_at_k_interval": {str(k): [estimate.low, estimate.high] for k, estimate in passing.items()},
        }

    def _tallies(self) -> list[ProblemTally]:
        return sorted(self._problems.values(), key=lambda t: (t.problem.key.year, str(t.problem.day), t.problem.key.id))


def _contests(problems: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sums over each year's problems, without practice problems."""
    years: dict[int, list[Mapping[str, Any]]] = {}
    for problem in problems:
        if problem["day"] != PRACTICE:
            years.setdefault(problem["year"], []).append(problem)
    return [
        {
            "year": year,
            "problems": len(group),
            **{
                name: sum_of_points(problem[name] for problem in group)
                for name in ("points", "all_submissions_score", "limit_50_score")
            },
            "undecided": sum(problem["undecided"] for problem in group),
        }
        for year, group in years.items()
    ]


def _target_notes(unknown_targets: ReasonCounts) -> list[str]:
    """Notes about targets that are not subtasks of their problem, maybe from a wrong column: they get no score."""
    notes = []
    for entry in unknown_targets.as_list():
        rows, their = ("1 row was", "its") if entry["rows"] == 1 else (f"{entry['rows']} rows were", "their")
        notes.append(
            f"problem {entry['reason']}: {rows} written for a subtask that it does not have, such as "
            f"{unknown_targets.quoted(entry['reason'])}: {their} target_subtask_score is null"
        )
    return notes
