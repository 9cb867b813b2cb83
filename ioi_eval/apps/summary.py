"""The summary of results for APPS. Pure.

By difficulty it has the test case average, strict accuracy and pass@k. Problems are the sample: a mean is over problems
(first over a problem's own programs), and a confidence interval comes from resampling problems. Programs and rows
that could not be judged are counted separately: they are not wrong answers.

Source: arXiv 2105.09938 for "test case average" and "strict accuracy", arXiv 2107.03374 for pass@k.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.apps.catalog import CatalogEntry
from ioi_eval.errors import InputError
from ioi_eval.estimates import KS, means_of_problems
from ioi_eval.model import Verdict
from ioi_eval.model.apps import difficulty_order
from ioi_eval.report.compact import TEST_RESULTS
from ioi_eval.report.groups import Grouping
from ioi_eval.report.run_summary import ReasonCounts, RunFacts, RunSummary
from ioi_eval.report.texts import counted
from ioi_eval.selection import ResultRow

ALL = "all"
UNKNOWN = "unknown"

_LACKS = re.compile(r"^ModuleNotFoundError(?:\(\"|: )No module named '([\w.]{1,100})[^\n]*\Z", re.MULTILINE)
_MAX_MODULES = 5
_COUNTED_MODULES = 1000
"""The most missing modules that are counted: a program can fail with any name, so there could be millions."""


class AppsSummary(RunSummary):
    """Sums up results of programs for APPS, also by the columns of the dump in `grouping`. `ks` are those of pass@k;
    `None` for those of a fixed list for which there are enough samples."""

    def __init__(self, ks: Sequence[int] | None = None, *, grouping: Grouping | None = None) -> None:
        super().__init__(lambda: AppsSummary(ks), grouping)
        self.ks = ks
        self.skipped_rows: Callable[[], int] = lambda: 0  # rows for problems that were not selected
        self._table = DifficultyTable()
        self._unusable: dict[str, str] = {}
        self._unusable_before: Counter[str] = Counter()
        self._pythons: Counter[str] = Counter()
        self._failures = ReasonCounts()
        self._lacking: Counter[str] = Counter()
        self._cpu_s = 0.0

    def add(self, row: ResultRow, dump_row: Mapping[str, Any], *, reason: str, errors: Iterable[str]) -> None:
        """Add a submission, by its row in the results, with tests.

        `reason` as in `RunSummary`. `errors` are the exceptions with which it ended on tests: their `repr`, or messages
        that end with a traceback.
        """
        lacking = set(filter(None, map(missing_module, errors)))
        for summary in self._with_group(dump_row):
            summary._add(row, reason, lacking)

    def _add(self, row: ResultRow, reason: str, lacking: Collection[str]) -> None:
        problem, verdict = str(row["problem_id"]), Verdict(row["verdict"])
        self._take(row, row["submission"], problem, reason)
        passed, total = row["passed"], row["total"]
        if not total:  # a grader judged a row without tests: this counts as one test
            passed, total = int(verdict is Verdict.AC), 1
        is_unknown = verdict is Verdict.JE
        self._table.add(problem, str(row["difficulty"] or ""), passed=None if is_unknown else passed, total=total)
        self._lacking.update(name for name in lacking if name in self._lacking or len(self._lacking) < _COUNTED_MODULES)
        if is_unknown:
            self._failures.add(row["message"] or "", f"{row['submission']} (problem {problem})")
        if row["duplicate_of"] is None:
            self._pythons.update([row["python"]] if row["python"] else [])
            self._cpu_s += sum(test.get("time_s") or 0.0 for test in row.get(TEST_RESULTS) or ())

    def refuse_problem(self, catalog_entry: CatalogEntry, kind: str, row: Mapping[str, Any]) -> None:
        """Add a row for a problem that cannot be judged. The message is about the problem, so it is reported once."""
        self.refuse(kind, f"problem {catalog_entry.id} cannot be judged: {catalog_entry.unusable}", row)
        for summary in self._with_group(row):
            summary._unusable[catalog_entry.id] = catalog_entry.difficulty

    def _add_what_rows_lack(self, earlier: Mapping[str, Any]) -> None:
        """Also how many problems of each difficulty cannot be judged, if the summary is of as many refused rows."""
        super()._add_what_rows_lack(earlier)
        lines = earlier.get("difficulties", ())
        if self.refused.counts.total() == earlier.get("submissions", {}).get("refused"):
            self._unusable_before.update(
                {line["difficulty"]: line["invalid_problems"] for line in lines if line["difficulty"] != ALL}
            )

    def _own(self, run: RunFacts) -> dict[str, Any]:
        return {
            "judged_by": run.options.get("judged_by"),
            "failures": self._failures.as_list(),
            "invalid_problems": sorted(self._unusable),
            "interpreters": dict(self._pythons),
            "cpu_s": round(self._cpu_s, 3),
        }

    def _notes(self) -> list[str]:
        number = self.skipped_rows()
        skipped = [f"{counted(number, 'row')} skipped, for problems that were not selected"] if number else []
        return [*skipped, *self._missing_ks(), *self._missing_modules()]

    def _scores(self, *, intervals: bool) -> dict[str, Any]:
        unusable = Counter(self._unusable.values()) + self._unusable_before
        return {"difficulties": self._table.lines(self._chosen_ks(), unusable, intervals=intervals)}

    def _chosen_ks(self) -> tuple[int, ...]:
        """The given ks; else those for which every problem has enough samples."""
        if self.ks is not None:
            return tuple(dict.fromkeys(self.ks))
        least = min(self._table.judged.values(), default=1)
        return tuple(k for k in KS if k <= least)

    def _missing_modules(self) -> list[str]:
        """Modules that programs import but the interpreter does not have: this may not be the programs' fault."""
        return [
            f"{counted(count, 'program')} failed because there is no module {name}: if it should be there, install it "
            "where programs are run, or give another interpreter with --python"
            for name, count in self._lacking.most_common(_MAX_MODULES)
        ]

    def _missing_ks(self) -> list[str]:
        """Why a requested pass@k is missing."""
        counts = self._table.judged
        if not counts:
            return []
        problem, least = min(counts.items(), key=lambda item: item[1])
        return [
            f"pass@{k} of all problems is not reported: each must have {k} judged programs, and problem {problem} has "
            f"{least}"
            for k in self._chosen_ks()
            if k > least
        ]


# --------------------------------------------------------------------------- by difficulty


@dataclass(slots=True)
class _DifficultyTally:
    """The programs for one difficulty: for each problem the share of tests that each of its programs passed."""

    shares: dict[str, list[float]] = field(default_factory=dict)
    unjudged: int = 0


def missing_module(error: str) -> str | None:
    """The module whose absence ended a test; `error` is the exception's `repr`, or ends with its traceback.

    If what should contain the module is no package (`import os.path.join`), the program is wrong.
    """
    lacks = _LACKS.search(error.rstrip())
    return lacks[1] if lacks and "is not a package" not in lacks[0] else None


class DifficultyTable:
    """The table: a line for each difficulty that occurs, from easy to hard, and one for all."""

    def __init__(self) -> None:
        self._by_difficulty: dict[str, _DifficultyTally] = {}
        self._everything = _DifficultyTally()

    def add(self, problem: str, difficulty: str, *, passed: int | None, total: int) -> None:
        """Add a program that passed so many tests; `None` if it could not be judged. The difficulty may be empty."""
        if passed is not None and (not 0 <= passed <= total or total == 0):
            raise InputError(
                f"a program for problem {problem} passed {passed} of {total} tests: these numbers are not possible"
            )
        for tally in (self._by_difficulty.setdefault(difficulty or UNKNOWN, _DifficultyTally()), self._everything):
            if passed is None:
                tally.unjudged += 1
            else:
                tally.shares.setdefault(problem, []).append(passed / total)

    @property
    def judged(self) -> Mapping[str, int]:
        """How many programs for each problem were judged."""
        return {problem: len(shares) for problem, shares in self._everything.shares.items()}

    def lines(
        self, ks: Sequence[int] = (1,), unusable: Mapping[str, int] | None = None, *, intervals: bool = True
    ) -> list[dict[str, Any]]:
        """The lines, for JSON. Means are `None` without a judged program.

        A line has pass@k only if each of its problems has k judged programs. `unusable` says how many rows of each
        difficulty cannot be judged.
        """
        refused = Counter[str]()
        for difficulty, count in (unusable or {}).items():
            refused[difficulty or UNKNOWN] += count
        names = self._by_difficulty.keys() | refused.keys()
        lines = [
            _line(name, self._by_difficulty.get(name, _DifficultyTally()), refused[name], ks, intervals=intervals)
            for name in sorted(names, key=difficulty_order)
        ]
        return [*lines, _line(ALL, self._everything, refused.total(), ks, intervals=intervals)]


def _line(name: str, tally: _DifficultyTally, unusable: int, ks: Sequence[int], *, intervals: bool) -> dict[str, Any]:
    shares = list(tally.shares.values())
    problems = [(math.fsum(each) / len(each), len(each), sum(share == 1.0 for share in each)) for each in shares]
    average, passing = means_of_problems(problems, (1, *ks), intervals=intervals)
    pass_at = {k: estimate.as_dict() for k, estimate in passing.items()}
    return {
        "difficulty": name,
        "problems": len(shares),
        "submissions": sum(map(len, shares)),
        "undecided": tally.unjudged,
        "invalid_problems": unusable,
        "test_case_average": None if average is None else average.as_dict(),
        "strict_accuracy": pass_at.get(1),
        "pass_at_k": {str(k): pass_at[k] for k in ks if k in pass_at},
    }
