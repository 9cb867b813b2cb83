"""The part of `summary.json` that is the same for all families of problems.

Judge errors are always counted separately: a score that we failed to determine is neither 0 nor silently left out.
"""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ioi_eval.model import Verdict
from ioi_eval.report.groups import Grouping, Groups, group_notes
from ioi_eval.report.totals import CpuSplit
from ioi_eval.version import __version__

FORMAT = 1
EXAMPLES = 20  # the most examples of a kind; all are counted, and all are in results.jsonl
KINDS = 100  # the most reasons that are counted separately
_SHOWN_CHARS = 100  # of an example in a note: a column may have megabytes

UNKNOWN = "unknown"
"""The time of a run in a summary that was made from rows alone."""

BIASED = "submissions without code are judged first, so means are biased"
"""Why the results of a part of a run do not represent the whole: a row without a program needs no job, so its result is
there first."""

CONTINUE = "repeat the command of the run (without --no-resume)"
"""How a run that ended early is continued. Says "of the run", because `report` prints it too. `--no-resume` is called
`--override` in `run-tests`; `judge_dump` names both."""

_FAILED = {Verdict.NC: "without code (NC)", Verdict.CE: "with a compile error (CE)"}


@dataclass(slots=True)
class ReasonCounts:
    """Counts rows without a result, a program or a score by reason, and keeps the first messages of each reason."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, example: str) -> None:
        """Add a row: the reason without details of the row (`kind`), and the whole message (`example`)."""
        if kind not in self.counts and len(self.counts) >= KINDS:
            kind = "other reasons"
        self.counts[kind] += 1
        examples = self.examples.setdefault(kind, Counter())
        if example in examples or len(examples) < EXAMPLES:
            examples[example] += 1

    def quoted(self, kind: str) -> str:
        """The first example of a reason, quoted, with the number of its rows if there are several."""
        text, count = next(iter(self.examples[kind].items()))
        text = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
        return repr(text) if count == 1 else f"{text!r} ({count} rows)"

    def notes(self) -> list[str]:
        """A note for each reason, with an example."""
        return [f"{count} {kind}, such as {self.quoted(kind)}" for kind, count in self.counts.most_common()]

    def as_list(self) -> list[dict[str, Any]]:
        """For JSON, the most frequent reason first; equal messages of several rows are listed once."""
        return [
            {
                "reason": kind,
                "rows": count,
                "examples": [text if n == 1 else f"{text} ({n} rows)" for text, n in self.examples[kind].items()],
                "more": count - self.examples[kind].total(),
            }
            for kind, count in self.counts.most_common()
        ]


@dataclass(slots=True, kw_only=True)
class RunCounts:
    """The counts of a run.

    Args:
        judged: how many rows it judged, or knew to be without a program.
        copies: how many rows got the result of an identical program.
        resumed: how many rows an earlier run had judged.
        jobs_at_once: the most jobs that the sandbox could run at once: workers may join a cluster during the run.
        stopped_by: why it ended early by itself; `None` if it did not.
    """

    judged: int = 0
    copies: int = 0
    resumed: int = 0
    jobs_at_once: int = 0
    cpu: CpuSplit = field(default_factory=CpuSplit)
    wall_s: float = 0.0
    stopped_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Facts about a run that its results do not contain: when it was (ISO 8601, UTC; `UNKNOWN` if no summary states
    that), and whether the user or a failure ended it early (`interrupted`)."""

    started: str
    finished: str
    interrupted: bool
    options: Mapping[str, Any]
    counts: RunCounts
    notes: tuple[str, ...] = ()


class RunSummary(ABC):
    """Adds up results one by one, also for each group by the columns of `grouping`."""

    def __init__(self, make: Callable[[], Self], grouping: Grouping | None) -> None:
        self._groups: Groups[Self] = Groups(grouping or Grouping(), make)
        self.refused = ReasonCounts()
        self.pending = 0
        self._examples: list[dict[str, Any]] = []
        self._verdicts: Counter[Verdict] = Counter()
        self._extraction: Counter[str] = Counter()
        self._isolation: Counter[str] = Counter()
        self._targets: Counter[str] = Counter()
        self._copies = 0
        self.pending_problems: set[str] = set()
        self._judged_problems: set[str] = set()
        self._near_limit = 0
        self._reasons = ReasonCounts()

    def _with_group(self, row: Mapping[str, Any]) -> tuple[Self, ...]:
        """The summaries to which a row of the dump is added: this one and, if there are groups, that of its group."""
        return (self, self._groups.of(row)) if self.by else (self,)

    def refuse(self, kind: str, message: str, row: Mapping[str, Any]) -> None:
        """Add a row of the dump that cannot be judged; `kind` and `message` as in `ReasonCounts.add`."""
        for summary in self._with_group(row):
            summary.refused.add(kind, message)

    def postpone(self, row: Mapping[str, Any], problem: str) -> None:
        """Add a row of the dump that is not judged yet; `problem` as in the summary (`2024/nile`)."""
        for summary in self._with_group(row):
            summary.pending += 1
            summary.pending_problems.add(problem)

    def add_what_rows_lack(self, earlier: Mapping[str, Any]) -> None:
        """Add from the earlier summary of the same run what rows do not have. All rows must have been added. Groups get
        it if they are by the same columns."""
        self._add_what_rows_lack(earlier)
        for group in earlier.get("groups", ()):
            labels = tuple(group["group"].values())
            if tuple(group["group"]) == self.by and (group["submissions"]["pending"] or labels in self._groups):
                self._groups.labelled(labels)._add_what_rows_lack(group)

    def _add_what_rows_lack(self, earlier: Mapping[str, Any]) -> None:
        """As `add_what_rows_lack`, without groups; `earlier` may be an entry of `groups`."""
        self.pending = earlier.get("submissions", {}).get("pending", 0)

    def _take(self, row: Mapping[str, Any], submission: str, problem: str, reason: str) -> None:
        """Add what all families have. `reason`: why there is no program, or none that compiles; empty if not known."""
        self._judged_problems.add(problem)
        self._verdicts[Verdict(row["verdict"])] += 1
        self._extraction[row["extraction"]] += 1
        self._near_limit += bool(row["near_limit"])
        if reason:
            self._reasons.add(f"{_FAILED[row['verdict']]}: {reason}", submission)
        if row["verdict"] == Verdict.JE and len(self._examples) < EXAMPLES:
            error = "judge error" if row["error"] is None else row["error"]
            self._examples.append({"submission": submission, "problem": problem, "error": error})
        if row["duplicate_of"] is not None:
            self._copies += 1
            return
        self._isolation.update([row["isolation"]] if row["isolation"] else [])
        self._targets.update([row["target"]] if row["target"] else [])

    @property
    def complete(self) -> bool:
        """Whether every row of the dump has been judged."""
        return not (self._verdicts[Verdict.JE] or self.pending or self.refused.counts)

    @property
    def by(self) -> tuple[str, ...]:
        """The columns by which submissions are grouped."""
        return self._groups.grouping.columns

    def as_dict(self, run: RunFacts) -> dict[str, Any]:
        """The whole summary, for JSON."""
        values = {
            **heading(FORMAT, run, complete=self.complete),
            **self._all_scores(intervals=not self.pending),
            "problems_pending": sorted(self.pending_problems - self._judged_problems),
            "undecided": self._examples,
            "refused": self.refused.as_list(),
            "isolation": dict(self._isolation),
            "targets": dict(self._targets),
            "extraction": dict(self._extraction),
            "near_limit": self._near_limit,
            **self._own(run),
            "this_run": self.this_run(run),
            "options": dict(run.options),
            "by": list(self.by),
            "groups": self._groups.as_list(lambda group: group._all_scores(intervals=not self.pending)),
        }
        return {**values, "notes": [*run.notes, *self._notes(), *self._reasons.notes(), *group_notes(values)]}

    def _all_scores(self, *, intervals: bool) -> dict[str, Any]:
        """The counts and scores of all submissions, or of a group. Means have no intervals as long as a submission of
        the run, of whichever group, is pending: the judged ones are not a random sample."""
        judged, undecided = self._verdicts.total(), self._verdicts[Verdict.JE]
        refused = self.refused.counts.total()
        counts = {
            "rows": judged + refused + self.pending,
            "scored": judged - undecided,
            "undecided": undecided,
            "refused": refused,
            "pending": self.pending,
            "copies": self._copies,
        }
        verdicts = verdict_counts(self._verdicts)
        return {"submissions": counts, "verdicts": verdicts, **self._scores(intervals=intervals)}

    @abstractmethod
    def _scores(self, *, intervals: bool) -> dict[str, Any]:
        """The scores in the form of this family of problems, for all submissions or for a group."""

    @abstractmethod
    def _own(self, run: RunFacts) -> dict[str, Any]:
        """Entries of this family of problems that are not given for groups."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Notes for the user about the results."""

    @classmethod
    def this_run(cls, run: RunFacts) -> dict[str, Any]:
        """How much a run judged, and how long it took."""
        return {
            "judged": run.counts.judged,
            "copies": run.counts.copies,
            "resumed": run.counts.resumed,
            "workers": run.counts.jobs_at_once,
            "stopped_by": run.counts.stopped_by,
            "wall_s": round(run.counts.wall_s, 3),
            "cpu_s": round(run.counts.cpu.total, 3),
        }


def heading(summary_format: int, run: RunFacts, *, complete: bool) -> dict[str, Any]:
    """The beginning of every summary: which program wrote it, and when."""
    return {
        "format": summary_format,
        "ioi_eval": __version__,
        "python": platform.python_version(),
        "started": run.started,
        "finished": run.finished,
        "interrupted": run.interrupted,
        "complete": complete,
    }


def time_of(summary: Mapping[str, Any], name: str) -> str:
    """When a run `started` or `finished`, as its summary states it; empty if that is not known."""
    stated = str(summary.get(name) or UNKNOWN)
    return "" if stated == UNKNOWN else stated


def renewed(values: Mapping[str, Any], run: RunFacts, this_run: Mapping[str, Any]) -> dict[str, Any]:
    """An earlier summary of the same results, updated for this run. Its `notes` must be only those of the results."""
    return {
        **values,
        **heading(values["format"], run, complete=values["complete"]),
        "this_run": {**values["this_run"], **this_run},
        "options": dict(run.options),
        "notes": [*run.notes, *values["notes"]],
    }


def verdict_counts(counts: Mapping[Verdict, int]) -> dict[str, int]:
    """The counts in the order of `Verdict`, without zeros."""
    return {verdict.value: counts[verdict] for verdict in Verdict if counts.get(verdict)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """How many submissions of a run are not judged yet, and how many it has (`rows`; 0 if unknown). It is false if
    there are none."""

    count: int = 0
    rows: int = 0

    def __bool__(self) -> bool:
        return self.count > 0

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Pending:
        """The numbers of the run with this summary, which may be empty."""
        counts = summary.get("submissions")
        found = [counts.get(name) if isinstance(counts, Mapping) else None for name in ("pending", "rows")]
        count, rows = (value if isinstance(value, int) else 0 for value in found)
        return cls(count=count, rows=rows)

    def warning(self, name: str) -> str:
        """One sentence without a full stop: that the run with this name is not complete, and what follows from that."""
        of = f" of {self.rows}" if self.rows else ""
        some = f"{self.count}{of} submission{'s' * (max(self.count, self.rows) != 1)}"
        return f"{name} is not complete: {some} {'is' if self.count == 1 else 'are'} still to be judged; {BIASED}"
