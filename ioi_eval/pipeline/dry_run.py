"""The dry run: what a run would do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval.journal import Index
from ioi_eval.model import ProblemKey
from ioi_eval.pipeline.dump_reader import DumpReader, Refused
from ioi_eval.report.run_summary import ReasonCounts
from ioi_eval.report.terminal import reason_lists
from ioi_eval.report.texts import counted, table

TO_JUDGE, COPIES, JUDGED_BEFORE = COLUMNS = ("to judge", "copies", "judged before")


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a run would do.

    Args:
        problems: how many rows of each problem would be judged, would be copies, and were judged by an earlier run.
        stored, unmatched: how many results the journal has, and how many of them no row has.
    """

    problems: Mapping[ProblemKey | str, Counter[str]]
    refused: ReasonCounts
    stored: int = 0
    unmatched: int = 0

    def describe(self) -> str:
        """The plan as text."""
        lines = sorted((str(key), counts) for key, counts in self.problems.items())
        lines.append(("all", sum(self.problems.values(), Counter[str]())))
        rows = [(name, *(str(counts[column]) for column in COLUMNS)) for name, counts in lines]
        parts = [table(("problem", *COLUMNS), rows)] if self.problems else ["No submission can be judged."]
        if self.unmatched and any(counts[TO_JUDGE] for counts in self.problems.values()):
            parts.append(
                f"Of {counted(self.stored, 'stored result')}, {self.unmatched} fit no row: they are of other rows, "
                "programs, targets, limits, rules or versions of problems."
            )
        return "\n\n".join([*parts, *reason_lists(self.refused.as_list(), files=())])


def plan(dump_reader: DumpReader[Any], index: Index, *, dedupe: bool = True, retry_failed: bool = False) -> DryRun:
    """Read a dump without judging or writing anything; `index` is of the journal that a run would continue."""
    problems: defaultdict[ProblemKey | str, Counter[str]] = defaultdict(Counter)
    refused = ReasonCounts()
    leaders: set[bytes] = set()
    matched: set[bytes] = set()
    for entry in dump_reader.entries(index.stored_level):
        if isinstance(entry, Refused):
            refused.add(entry.kind, entry.message)
            continue
        candidate, keys = entry.candidate, entry.candidate.keys
        counts = problems[candidate.problem_key]
        if index.find(keys) is not None:
            matched.add(keys.submission)
        has_leader = index.leader_offset(keys) is not None or keys.program in leaders
        if index.is_judged(keys, retry_failed=retry_failed):
            counts[JUDGED_BEFORE] += 1
        elif dedupe and candidate.size is not None and has_leader:
            counts[COPIES] += 1
        else:
            leaders.add(keys.program)
            counts[TO_JUDGE] += 1
    stored = index.stored
    return DryRun(problems=problems, refused=refused, stored=stored, unmatched=stored - len(matched))
