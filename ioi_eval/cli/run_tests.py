"""`ioi-eval run-tests`: the command line of huggingface/ioi's `run_tests/tests_runner.py`, on our scoring.

The options have the names of that program (and our names, with hyphens). The help of each says what it means here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, argument, option
from ioi_eval.cli.sandboxes import SandboxGroup, SandboxOptions
from ioi_eval.cli.score import ScoreCall
from ioi_eval.cli.watching import Watch
from ioi_eval.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTestsCall:
    """What the user asks for: a group of options."""

    datasets_to_evaluate: Annotated[
        str, argument("DATASETS", "What to score: Hub ids (owner/name-* for several) or files, separated by commas.")
    ]
    results_dataset_name: Annotated[
        str | None, argument("RESULTS", "The Hub data set to push results to; without it nothing is pushed.")
    ] = None
    problems: options.Problems = "open-r1/ioi"
    tests: options.Tests = "open-r1/ioi-test-cases"
    local_results_path: Annotated[
        Path, option("--local_results_path --local-results-path DIR", "Where the results go.")
    ] = Path("results")
    id_column: Annotated[str, option("--id_column --id-column C", "The column that names a submission.")] = "uuid"
    max_concurrent_requests: Annotated[
        int | None,
        option(
            "--max_concurrent_requests --max-concurrent-requests N",
            "At most N jobs at once, and at most as many as there are slots; all slots by default.",
            min=1,
        ),
    ] = None
    test_batch_size: Annotated[
        int,
        option(
            "--test_batch_size --test-batch-size N",
            "Accepted without effect: a job has many tests here, and stops when the result is known.",
        ),
    ] = 1
    override: Annotated[
        bool, option("--override", "Judge everything again and replace these data sets' results on the Hub.")
    ] = False
    timeout: Annotated[
        float | None, option("--timeout S", "The same as --patience; jobs keep their own time limits.", min=0)
    ] = None
    add_includes: Annotated[
        bool,
        option("--add_includes --add-includes", "Add missing #include lines; the column `fixes` has what was added."),
    ] = False
    add_messages_column: Annotated[
        bool, option("--add_messages_column --add-messages-column", "Add prompt and generation as a conversation.")
    ] = False
    always_extract_code: Annotated[
        bool,
        option("--always_extract_code --always-extract-code", "Ignore the column code; extract the program again."),
    ] = False
    public: Annotated[bool, option("--public", "Make the data set on the Hub public; private by default.")] = False
    retry_failed: options.RetryFailed = False
    sandbox: SandboxGroup = field(default_factory=SandboxOptions)
    watch: Annotated[Watch, OptionGroup()] = field(default_factory=Watch)

    @property
    def common(self) -> ScoreCall:
        """The options for each data set; its `out` is the directory for all."""
        return ScoreCall(
            dumps=[],
            problems=self.problems,
            tests=self.tests,
            out=self.local_results_path,
            sandbox=with_their_options(self.sandbox, at_most=self.max_concurrent_requests, patience_s=self.timeout),
            id_column=self.id_column,
            no_resume=self.override,
            retry_failed=self.retry_failed,
            fix_includes=self.add_includes,
            always_extract_code=self.always_extract_code,
            add_messages_column=self.add_messages_column,
            watch=self.watch,
        )

    def as_dict(self) -> dict[str, Any]:
        """The options of the command, without those that are set for each data set."""
        return {
            "results": self.results_dataset_name,
            "public": self.public,
            "problems": self.problems,
            "tests": self.tests,
            "out": self.local_results_path,
            **self.common.sandbox.as_dict(),
            "id_column": self.id_column,
            "override": self.override,
            "add_includes": self.add_includes,
            "add_messages_column": self.add_messages_column,
            "always_extract_code": self.always_extract_code,
            "retry_failed": self.retry_failed,
        }


def run_tests(
    call: Annotated[RunTestsCall, OptionGroup()],
    dry_run: Annotated[
        bool, option("--dry_run --dry-run", "Print what would be judged; judge, write and push nothing.")
    ] = False,
) -> int:
    """Score several dumps as Hugging Face's tests_runner.py does.

    The options are those of that program. DIR gets a directory for each data set, as `ioi-eval score` writes it, and
    reports/ with an overview. What was judged is not judged again. With RESULTS, the results of each data set are
    pushed there as a configuration of their own; the reports are pushed too.
    """
    from ioi_eval.cli.running_tests import run_tests as score_data_sets

    size = call.test_batch_size
    if size < 1 and size != -1:
        raise InputError(f"--test_batch_size {size}: must be 1 or more, or -1 for all tests at once")
    return score_data_sets(call, dry_run=dry_run)


def with_their_options(chosen: SandboxOptions, *, at_most: int | None, patience_s: float | None) -> SandboxOptions:
    """The options with `--max_concurrent_requests` and `--timeout`; ours (`--workers`, `--patience`) come first."""
    if at_most is not None and chosen.workers is None:
        chosen = replace(chosen, at_most=at_most)
    if patience_s is not None and chosen.patience is None:
        chosen = replace(chosen, patience=patience_s)
    return chosen
