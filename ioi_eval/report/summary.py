"""The summary of a run on contest problems: the content of `summary.json`, from which tables and reports are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ioi_eval.model import Problem, ProblemKey, SubmissionResult, Verdict
from ioi_eval.report.groups import Grouping
from ioi_eval.report.result_values import PRACTICE
from ioi_eval.report.run_summary import ReasonCounts, RunFacts, RunSummary, verdict_counts
from ioi_eval.report.tally import AVERAGE, LightRow, ProblemTally, problem_estimates, scores_of
from ioi_eval.report.totals import CpuSplit
from ioi_eval.selection import reasoning_length, select, selected_score, sum_of_points


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
        light = LightRow(
            problem=problem,
            compiles=row["code_compiles"],
            scores=scores_of(result),
            target_subtask=aim,
            length=reasoning_length(dump_row),
        )
        for summary in self._with_group(dump_row):
            if problem.key not in summary._problems:
                summary._problems[problem.key] = ProblemTally(problem=problem)
            summary._problems[problem.key].add(submission, result, light)
            summary._take(row, submission, str(problem.key), reason)
            summary._count_calls_and_cpu(row, result, cpu)
            if aim is None and row["target_subtask"] is not None:
                summary._unknown_targets.add(str(problem.key), row["target_subtask"])

    def _count_calls_and_cpu(self, row: Mapping[str, Any], result: SubmissionResult, cpu: CpuSplit) -> None:
        """Count its refused system calls, whether it is suspicious, and its CPU time; arguments as in `add`."""
        self._suspicious += bool(row["attempted"]) or any(s.verdict is Verdict.SV for s in result.subtasks)
        if row["duplicate_of"] is None:
            self._attempted.update(entry["call"] for entry in row["attempted"])
            self._cpu += cpu

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
            *_unnamed_notes(self._attempted),
        ]

    def _scores(self, *, intervals: bool) -> dict[str, Any]:
        tallies = self._tallies()
        problems = [_problem(tally) for tally in tallies]
        estimates = problem_estimates(tallies, intervals=intervals)
        return {
            "contests": _contests(problems),
            "problems": problems,
            "average_score": estimates[AVERAGE].as_dict() if AVERAGE in estimates else None,
            "pass_at_k": {name: estimate.value for name, estimate in estimates.items() if name != AVERAGE},
            "pass_at_k_interval": {
                name: [estimate.low, estimate.high] for name, estimate in estimates.items() if name != AVERAGE
            },
        }

    def _tallies(self) -> list[ProblemTally]:
        return sorted(self._problems.values(), key=lambda t: (t.problem.key.year, str(t.problem.day), t.problem.key.id))


def _problem(tally: ProblemTally) -> dict[str, Any]:
    problem, together = tally.problem, tally.together
    return {
        "year": problem.key.year,
        "problem": problem.key.id,
        "name": problem.name,
        "day": problem.day,
        "points": tally.points,
        "time_limit_s": problem.time_limit_s or None,  # unknown in `summary_from_rows`
        "memory_limit_bytes": problem.memory_limit_bytes or None,
        "submissions": tally.submissions,
        "undecided": tally.undecided,
        "solved": tally.solved,
        "verdicts": verdict_counts(tally.verdicts),
        "best_score": tally.best,
        "best_submission": tally.best_submission,
        "all_submissions_score": together.score(),
        "limit_50_score": selected_score(tally.rows, select(tally.rows)),
        "subtasks": [
            {
                "subtask": best.subtask,
                "points": best.points,
                "best_score": best.score,
                "best_points": best.weighted_score,
                "best_submission": best.submission,
                "undecided": best.undecided,
            }
            for best in together.subtasks()
        ],
    }


def _contests(problems: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sums over each year's problems (values of `_problem`), without practice problems."""
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


def _unnamed_notes(attempted: Mapping[str, int]) -> list[str]:
    """A note about calls that ended a program and whose names an outer filter hid from the runner."""
    note = (
        "`hidden_call` in `attempted` is a call with no honest use whose name is not known, because a filter outside "
        "the sandbox (a container's) stopped it first; the verdict is SV, as everywhere"
    )
    return [note] if "hidden_call" in attempted else []
