"""The dry run: what a run would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ioi_eval.journal import Index
from ioi_eval.model import ProblemKey
from ioi_eval.pipeline.contest import ContestDumpReader
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.report.run_summary import ReasonCounts
from ioi_eval.report.terminal import reason_lists
from ioi_eval.report.texts import table


@dataclass(slots=True, kw_only=True)
class ProblemPlan:
    """How many rows of a problem would be judged, would be copies, and were judged by an earlier run."""

    to_judge: int = 0
    copies: int = 0
    resumed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would do.

    Args:
        problems: the counts of each problem.
        refused: rows that cannot be judged.
    """

    problems: Mapping[ProblemKey, ProblemPlan] = field(default_factory=dict)
    refused: ReasonCounts = field(default_factory=ReasonCounts)

    def describe(self) -> str:
        """The plan as text."""
        head = ("problem", "to judge", "copies", "judged before")
        rows = [
            (str(key), str(problem_plan.to_judge), str(problem_plan.copies), str(problem_plan.resumed))
            for key, problem_plan in sorted(self.problems.items(), key=lambda item: str(item[0]))
        ]
        total = [sum(int(row[column]) for row in rows) for column in (1, 2, 3)]
        parts = [table(head, [*rows, ("all", *map(str, total))])] if rows else ["No submission can be judged."]
        return "\n\n".join([*parts, *reason_lists(self.refused.as_list(), files=())])


def plan(dump_reader: ContestDumpReader, index: Index, *, dedupe: bool = True, retry_failed: bool = False) -> DryRun:
    """Read a dump without judging or writing anything.

    Args:
        dump_reader: the dump's rows.
        index: of the journal that a run would continue.
        dedupe: identical programs are judged once.
        retry_failed: judge rows again on which a judge program failed.
    """
    problems: dict[ProblemKey, ProblemPlan] = {}
    refused = ReasonCounts()
    leaders: set[bytes] = set()
    for entry in dump_reader.entries(dump_reader.begin(index.stored_level)):
        if isinstance(entry, Refused):
            refused.add(entry.kind, entry.message)
            continue
        candidate, keys = entry.candidate, entry.candidate.keys
        problem_plan = problems.setdefault(candidate.problem.key, ProblemPlan())
        has_leader = index.leader_offset(keys) is not None or keys.program in leaders
        if index.is_judged(keys, retry_failed=retry_failed):
            problem_plan.resumed += 1
        elif dedupe and candidate.size is not None and has_leader:
            problem_plan.copies += 1
        else:
            leaders.add(keys.program)
            problem_plan.to_judge += 1
    return DryRun(problems=problems, refused=refused)
