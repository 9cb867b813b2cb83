"""`ioi-eval validate`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, argument, option
from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.sandboxes import SandboxGroup, SandboxOptions
from ioi_eval.cli.watching import Watch
from ioi_eval.errors import InputError
from ioi_eval.model.terms import Keep


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateCall:
    """What the user asks for: a group of options."""

    keep: ClassVar = Keep.INPUTS  # no outputs: its results have none
    score_only: ClassVar = False

    solutions: Annotated[
        str | None,
        argument(
            "SOLUTIONS",
            "Programs with what their authors state: rows as in a dump, and expected_subtasks, expected_total or"
            " expected. May be left out with --against.",
        ),
    ] = None
    problems: options.Problems
    tests: options.Tests
    against: Annotated[
        str | None,
        option(
            "--against RESULTS",
            "Results to compare with (those of `score`: DIR); without SOLUTIONS their programs are judged.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        option(
            "--out DIR",
            "Write validation.json, validation.md and results.jsonl there, with a journal: after an interruption "
            "the same command continues.",
        ),
    ] = None
    no_resume: options.NoResume = False
    id_column: Annotated[
        str | None, option("--id-column C", "The column that names a solution; by default label, else uuid.")
    ] = None
    year: options.Years = None
    problem: options.ProblemIds = None
    sandbox: SandboxGroup = field(default_factory=SandboxOptions)
    rules: Annotated[ContestRules, OptionGroup()] = field(default_factory=ContestRules)
    keep_programs: options.KeepPrograms = None
    watch: Annotated[Watch, OptionGroup()] = field(default_factory=Watch)

    @property
    def solution_source(self) -> str:
        """Where the solutions are read from."""
        source = self.solutions or self.against
        if source is None:
            raise InputError("nothing to validate: give SOLUTIONS, or --against RESULTS with their programs")
        return source

    @property
    def sources(self) -> tuple[str, ...]:
        """All sources that are read."""
        return (self.solution_source, self.problems, self.tests, *filter(None, [self.against]))

    def as_dict(self) -> dict[str, Any]:
        """The values that the journal records, under the names that `score` has too."""
        return {
            "solutions": self.solutions,
            "against": self.against,
            "problems": self.problems,
            "tests": self.tests,
            **self.sandbox.as_dict(),
            "id_column": self.id_column or "uuid",
            "years": sorted(self.year or ()),
            "problem_ids": sorted(self.problem or ()),
            **self.rules.as_dict(),
        }


def validate(call: Annotated[ValidateCall, OptionGroup()]) -> int:
    """Compare our verdicts with those that authors state.

    Official solutions are judged on every test, and compared with what their authors state, or with RESULTS of others.
    These have the columns all_subtasks_points and all_subtasks_results, as `score` and huggingface/ioi write them;
    their rows are matched by year, problem_id and the solution's name (--id-column). Exit code 1 if a verdict differs
    from a stated one, or a solution could not be judged.
    """
    from ioi_eval.cli.validating import validate_solutions

    return validate_solutions(replace(call, rules=call.rules.with_stored_time_scale(is_here=call.sandbox.is_here)))
