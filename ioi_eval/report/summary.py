"""What a run on contest problems comes to, as plain values: `summary.json`, and what the table and the report show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ioi_eval.languages import rules_of
from ioi_eval.model import ProblemKey, TaskType, Verdict
from ioi_eval.report.groups import Grouping
from ioi_eval.report.rows import JudgedSubmission
from ioi_eval.report.run_summary import Refusals, RunFacts, RunSummary, verdict_counts
from ioi_eval.report.tally import AVERAGE, LightRow, ProblemTally, problem_estimates
from ioi_eval.report.totals import CpuSplit


class Summary(RunSummary):
    """Adds up results of contest problems.

    Args:
        unusable: problems that cannot be judged, and why.
        grouping: by which columns of the dump all of it is given for each group too.
    """

    def __init__(
        self, *, unusable: Mapping[ProblemKey, Exception] | None = None, grouping: Grouping | None = None
    ) -> None:
        super().__init__(Summary, grouping)
        self._unusable = {str(key): str(error) for key, error in (unusable or {}).items()}
        self._problems: dict[ProblemKey, ProblemTally] = {}
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
        tally = self._problems.get(judged.result.problem) or ProblemTally(problem=judged.problem)
        totals, aim = judged.totals, tally.subtasks.get(target_subtask)
        # An odd row fails here, before anything knows of it.
        light = LightRow(row, judged.problem, compiles=totals.compiles, scores=totals.scores, target_subtask=aim)
        aimless = target_subtask if aim is None else None
        self._add(judged, row, light, aimless)
        if (group := self._groups.of(row)) is not None:
            group._add(judged, row, light, aimless)

    def _tally(self, judged: JudgedSubmission) -> ProblemTally:
        tally = self._problems.get(judged.result.problem)
        if tally is None:
            tally = self._problems[judged.result.problem] = ProblemTally(problem=judged.problem)
        return tally

    def _add(self, judged: JudgedSubmission, row: Mapping[str, Any], light: LightRow, aimless: str | None) -> None:
        result, submission, totals = judged.result, judged.submission.id, judged.totals
        self._tally(judged).add(submission, result, light)
        self._take(
            result,
            (submission, str(result.problem)),
            code=judged.submission.code,
            extraction=judged.submission.extraction,
            near_limit=totals.near_limit,
            error=None if result.score is not None else totals.error or "judge error",
            is_copy=judged.duplicate_of is not None,
        )
        if aimless is not None:
            self._aimless.add(str(result.problem), aimless)
        if _is_unfenced(judged, row):
            self._unfenced.add(rules_of(judged.submission.language).name, submission)
        self._suspicious += totals.suspicious
        if judged.duplicate_of is None:
            self._attempted.update(totals.attempted.keys())
            self._cpu += totals.cpu

    def _own(self, run: RunFacts) -> dict[str, Any]:  # noqa: ARG002 - nothing of it is told
        return {
            "unusable_problems": self._unusable,
            "attempted": dict(self._attempted.most_common()),
            "suspicious": self._suspicious,
            "cpu_s": self._cpu.as_dict(),
        }

    @classmethod
    def this_run(cls, run: RunFacts) -> dict[str, Any]:
        """What a run did and took, and where its CPU time went."""
        ours_s = round(max(0.0, run.wall_s * run.workers - run.cpu.total), 3)
        return {**super().this_run(run), "cpu_s": run.cpu.as_dict(), "ours_s": ours_s}

    def _notes(self) -> list[str]:
        return [
            *_problem_notes(self._tallies()),
            *_target_notes(self._aimless),
            *_unfenced_notes(self._unfenced),
            *_unnamed_notes(self._attempted),
        ]

    def _scores(self) -> dict[str, Any]:
        tallies = self._tallies()
        problems = [_problem(tally) for tally in tallies]
        estimates = problem_estimates(tallies)
        return {
            "verdicts": verdict_counts(sum((tally.verdicts for tally in tallies), Counter())),
            "contests": _contests(problems),
            "problems": problems,
            "average_score": estimates[AVERAGE].as_dict() if AVERAGE in estimates else None,
            "pass_at_k": {name: round(one.value, 6) for name, one in estimates.items() if name != AVERAGE},
            "pass_at_k_interval": {name: [one.low, one.high] for name, one in estimates.items() if name != AVERAGE},
        }

    def _tallies(self) -> list[ProblemTally]:
        return sorted(self._problems.values(), key=lambda t: (t.problem.key.year, str(t.problem.day), t.problem.key.id))


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
        "verdicts": verdict_counts(tally.verdicts),
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
