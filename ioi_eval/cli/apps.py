"""`ioi-eval apps`: its commands' arguments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ioi_eval.cli import options
from ioi_eval.cli.apps_options import AppsRules, ChosenProblems
from ioi_eval.cli.grouped import OptionGroup, argument, option
from ioi_eval.cli.run_options import RunOptions
from ioi_eval.cli.sandboxes import ProfileChoice, SandboxOptions
from ioi_eval.model.terms import Keep

if TYPE_CHECKING:
    from ioi_eval.apps.settings import AppsSettings


_PROGRAMS = (
    "The programs: rows with problem_id and code, generation or messages (or lists of them); a solution.py (with"
    " -t ID); a directory of ID/solution.py"
)
_WHERE = OptionGroup({"profile": ProfileChoice.BUNDLED, "patience": None})
_PROBLEMS = OptionGroup({"config": None})
_RULES = OptionGroup({"compat": None, "fail_fast": False, "conventions": False})


@dataclass(frozen=True, kw_only=True)
class AppsScoreCall(RunOptions):
    """What the user asks for: a group of options."""

    row_options: ClassVar = {"--filter-difficulty": "difficulties", "--task": "ids", "--sample": "limit"}

    dumps: Annotated[list[str], argument("DUMP", f"{_PROGRAMS}; or several of these.")]
    problems: Annotated[ChosenProblems, OptionGroup()]
    rules: Annotated[AppsRules, OptionGroup()] = field(default_factory=AppsRules)
    pass_at: Annotated[
        list[int] | None,
        option(
            "--pass-at K",
            "Report pass@K; may be repeated. By default those"
            " of 1, 2, 5, 10, 25, 50, 100, … for which every problem has K judged programs.",
            min=1,
        ),
    ] = None
    keep: options.KeepTexts = Keep.FAILING
    sandbox: Annotated[SandboxOptions, _WHERE] = field(default_factory=SandboxOptions)

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources that are read."""
        return (*self.dumps, self.problems.dataset)

    @cached_property
    def settings(self) -> AppsSettings:
        """How programs are run and judged."""
        return self.rules.settings(self.problems.configuration, isolation=self.sandbox.isolation)

    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""
        settings = self.settings
        return {
            "dump": self.dump,
            **self.problems.as_dict(),
            "judged_by": settings.judged_by,
            "time_limit_s": settings.cpu_s,
            "memory_limit_bytes": settings.memory_limit_bytes,
            "python": settings.python,
            "near_limit_repeats": settings.near_limit_repeats,
            "fail_fast": settings.fail_fast,
            "conventions": settings.conventions,
            **self.sandbox.as_dict(),
            "id_column": self.id_column,
            "dedupe": not self.no_dedupe,
            "keep": self.keep,
            "pass_at": self.pass_at,
        }


def score(call: Annotated[AppsScoreCall, OptionGroup()]) -> int:
    """Score a dump of Python programs for APPS problems.

    If a run was interrupted, start the same command again: it continues where it stopped.

    The --out directory gets results.jsonl (each program), tests.jsonl (its tests), inputs.jsonl (of the tests that
    gave the verdicts), mcpbr.jsonl (the same in mcpbr's format), summary.json, report.md (by difficulty: test case
    average, strict accuracy, pass@k), report.html and the journal.
    """
    from ioi_eval.cli.apps_scoring import score as score_programs

    return score_programs(call)


@dataclass(frozen=True, kw_only=True)
class AuditCall:
    """What the user asks for: a group of options."""

    problems: Annotated[ChosenProblems, _PROBLEMS]
    out: Annotated[Path | None, option("--out FILE", "Write the list to FILE, results and journal to FILE.run.")] = None
    solutions: Annotated[int | None, option("--solutions N", "At most N solutions of each problem.", min=1)] = None
    rules: Annotated[AppsRules, _RULES] = field(default_factory=AppsRules)
    sandbox: Annotated[SandboxOptions, _WHERE] = field(default_factory=SandboxOptions)
    bar: options.Bar = None

    @cached_property
    def settings(self) -> AppsSettings:
        """How programs are run and judged: as the data set's own solutions need it."""
        rules = replace(self.rules, conventions=True)
        return rules.settings(self.problems.configuration, isolation=self.sandbox.isolation)


def audit(call: Annotated[AuditCall, OptionGroup()]) -> int:
    """List the rows that are broken or whose solutions fail.

    The data set's own reference solutions are judged, which shows these rows. `apps score --exclude FILE` leaves out
    the rows that cannot be judged, and those that no reference solution passes. Rows that only some solutions pass are
    in the list too, but are not left out.
    """
    from ioi_eval.cli.apps_audit import audit as audit_rows

    return audit_rows(call)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainCall:
    """What the user asks for: a group of options."""

    dump: Annotated[str, argument("DUMP", f"{_PROGRAMS}.")]
    problems: Annotated[ChosenProblems, _PROBLEMS]
    rules: Annotated[AppsRules, _RULES] = field(default_factory=AppsRules)
    compat: Annotated[
        list[str] | None, option("--compat P", "Compare with this grader; may be repeated. By default with all.")
    ] = None
    everything: Annotated[bool, option("--all", "Show also programs on which all graders agree.")] = False
    id_column: options.IdColumn = "uuid"
    sandbox: Annotated[SandboxOptions, _WHERE] = field(default_factory=SandboxOptions)
    bar: options.Bar = None


def explain(call: Annotated[ExplainCall, OptionGroup()]) -> int:
    """Show the tests that other graders judge differently.

    Each program is judged by our rules and by those of other graders. hendrycks needs an interpreter with numpy: see
    --python. Exit codes: 0 every program was judged, whether graders differ or not; 1 some could not be judged; 2
    the command or its data is wrong, or a grader of --compat cannot be used here.
    """
    from ioi_eval.cli.apps_explaining import explain as explain_dump

    return explain_dump(call)
