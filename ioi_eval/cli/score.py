"""`ioi-eval score`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, argument, option
from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.run_options import RunOptions
from ioi_eval.config import Unscored

if TYPE_CHECKING:
    from ioi_eval.pipeline.contest_dump import RowSelection


@dataclass(frozen=True, kw_only=True)
class ScoreCall(RunOptions):
    """What the user asks for: a group of options."""

    row_options: ClassVar = {"--year": "years", "--problem": "problem_ids", "--limit": "limit"}

    dumps: Annotated[list[str], argument("DUMP", "The generations: files, directories, or Hub ids.")]
    problems: options.Problems
    tests: options.Tests
    year: options.Years = None
    problem: options.ProblemIds = None
    limit: Annotated[int | None, option("--limit N", "Only the first N rows of those selected.", min=1)] = None
    rules: Annotated[ContestRules, OptionGroup()] = field(default_factory=ContestRules)
    score_only: Annotated[
        bool,
        option(
            "--score-only",
            "Run first the tests that most programs have failed so far, so that fewer are needed. Scores stay the"
            " same; verdicts may differ from those of a usual run.",
        ),
    ] = False
    fix_includes: Annotated[
        bool, option("--fix-includes", "Add missing #include lines; the column `fixes` has what was added.")
    ] = False
    always_extract_code: Annotated[
        bool,
        option("--always-extract-code", "Ignore the column code, which may be out of date; extract the program again."),
    ] = False
    add_messages_column: Annotated[
        bool, option("--add-messages-column", "Add prompt and generation to the results as a conversation.")
    ] = False
    unscored_as: Annotated[
        Unscored, option("--unscored-as null|zero", "The value of a score that is not known (JE).")
    ] = Unscored.NULL
    keep_programs: options.KeepPrograms = None
    suspicious: Annotated[
        bool, option("--suspicious", "Afterwards also list the submissions that tried forbidden system calls.")
    ] = False

    @property
    def selection(self) -> RowSelection:
        """Which rows are judged."""
        from ioi_eval.pipeline.contest_dump import RowSelection

        return RowSelection(years=frozenset(self.year or ()), problems=frozenset(self.problem or ()), limit=self.limit)

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources that are read."""
        return (*self.dumps, self.problems, self.tests)

    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""
        return {
            "dump": self.dump,
            "problems": self.problems,
            "tests": self.tests,
            **self.sandbox.as_dict(),
            "id_column": self.id_column,
            "years": sorted(self.selection.years),
            "problem_ids": sorted(self.selection.problems),
            "limit": self.limit,
            "dedupe": not self.no_dedupe,
            "retry_failed": self.retry_failed,
            **self.rules.as_dict(),
            "score_only": self.score_only,
            "fix_includes": self.fix_includes,
            "always_extract_code": self.always_extract_code,
            "add_messages_column": self.add_messages_column,
            "unscored_as": self.unscored_as,
            "keep": self.keep,
        }


def score(
    call: Annotated[ScoreCall, OptionGroup()],
    dry_run: Annotated[
        bool, option("--dry-run", "Print what would be judged; judge nothing and write nothing to DIR.")
    ] = False,
) -> int:
    """Score a dump of programs for contest problems.

    Programs run on this machine or on a Piston cluster. If a run was interrupted, or the dump has grown, start the same
    command again: it continues where it stopped.

    The --out directory gets results.jsonl (the dump's rows with scores), tests.jsonl (each test), inputs.jsonl (of
    the tests that gave the verdicts), summary.json, report.md, report.html and the journal.
    """
    from ioi_eval.cli import scoring

    call = replace(call, rules=call.rules.with_stored_time_scale(is_here=call.sandbox.is_here))
    return scoring.dry_run(call) if dry_run else scoring.score(call)
