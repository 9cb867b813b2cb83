"""`ioi-eval run-tests`: the command line of huggingface/ioi's `run_tests/tests_runner.py`, on our scoring.

The options have the names of that program (and our names, with hyphens). The help of each says what it means here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ioi_eval.cli import options
from ioi_eval.cli.grouped import grouped
from ioi_eval.cli.sandboxes import Place, place_of
from ioi_eval.cli.watching import Watch
from ioi_eval.config import PATIENCE_S
from ioi_eval.errors import InputError

Datasets = Annotated[
    str,
    typer.Argument(
        metavar="DATASETS", help="What to score: Hub ids (owner/name-* for several) or files, separated by commas."
    ),
]
Results = Annotated[
    str | None,
    typer.Argument(metavar="RESULTS", help="The Hub data set to push results to; without it nothing is pushed."),
]
LocalResultsPath = Annotated[
    Path, typer.Option("--local_results_path", "--local-results-path", metavar="DIR", help="Where the results go.")
]
IdColumn = Annotated[
    str, typer.Option("--id_column", "--id-column", metavar="C", help="The column that names a submission.")
]
MaxConcurrentRequests = Annotated[
    int | None,
    typer.Option(
        "--max_concurrent_requests",
        "--max-concurrent-requests",
        metavar="N",
        min=1,
        help="At most N jobs at once, and at most as many as there are slots; all slots by default.",
    ),
]
TestBatchSize = Annotated[
    int,
    typer.Option(
        "--test_batch_size",
        "--test-batch-size",
        metavar="N",
        help="Accepted without effect: a job has many tests here, and stops when the result is known.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry_run", "--dry-run", help="Print what would be judged; judge, write and push nothing.")
]
Override = Annotated[
    bool, typer.Option("--override", help="Judge everything again and replace these data sets' results on the Hub.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="S", min=0, help="The same as --patience; jobs keep their own time limits."),
]
AddIncludes = Annotated[
    bool,
    typer.Option(
        "--add_includes", "--add-includes", help="Add missing #include lines; the column `fixes` has what was added."
    ),
]
AddMessagesColumn = Annotated[
    bool,
    typer.Option("--add_messages_column", "--add-messages-column", help="Add prompt and generation as a conversation."),
]
AlwaysExtractCode = Annotated[
    bool,
    typer.Option(
        "--always_extract_code", "--always-extract-code", help="Ignore the column code; extract the program again."
    ),
]
Public = Annotated[bool, typer.Option("--public", help="Make the data set on the Hub public; private by default.")]


@grouped(place=place_of, watch=Watch)
def run_tests(
    datasets_to_evaluate: Datasets,
    results_dataset_name: Results = None,
    *,
    problems: options.Problems = "open-r1/ioi",
    tests: options.Tests = "open-r1/ioi-test-cases",
    local_results_path: LocalResultsPath = Path("results"),
    id_column: IdColumn = "uuid",
    max_concurrent_requests: MaxConcurrentRequests = None,
    test_batch_size: TestBatchSize = 1,
    dry_run: DryRun = False,
    override: Override = False,
    timeout: Timeout = None,
    add_includes: AddIncludes = False,
    add_messages_column: AddMessagesColumn = False,
    always_extract_code: AlwaysExtractCode = False,
    public: Public = False,
    place: Place,
    retry_failed: options.RetryFailed = False,
    watch: Watch,
) -> int:
    """Score several dumps as Hugging Face's tests_runner.py does.

    The options are those of that program. DIR gets a folder for each data set, as `ioi-eval score` writes it, and
    reports/ with an overview. What was judged is not judged again. With RESULTS, the results of each data set are
    pushed there as a configuration of their own; the reports are pushed too.
    """
    from ioi_eval.cli import running_tests
    from ioi_eval.cli.score import ScoreCall

    if test_batch_size < 1 and test_batch_size != -1:
        raise InputError(f"--test_batch_size {test_batch_size}: must be 1 or more, or -1 for all tests at once")
    each = ScoreCall(
        dumps=[],
        problems=problems,
        tests=tests,
        out=local_results_path,
        place=with_their_options(place, at_most=max_concurrent_requests, patience_s=timeout),
        id_column=id_column,
        no_resume=override,
        retry_failed=retry_failed,
        fix_includes=add_includes,
        always_extract_code=always_extract_code,
        add_messages_column=add_messages_column,
        watch=watch,
    )
    wanted = running_tests.Wanted(datasets=datasets_to_evaluate, results=results_dataset_name, public=public, each=each)
    return running_tests.run_tests(wanted, dry_run=dry_run)


def with_their_options(place: Place, *, at_most: int | None, patience_s: float | None) -> Place:
    """The place with `--max_concurrent_requests` and `--timeout`; our own `--workers` and `--patience` take precedence.

    Args:
        place: the place that our own options name.
        at_most: use at most this many of the slots; `None` for no limit.
        patience_s: how long jobs wait while no server is available; `None` for the usual time.
    """
    if at_most is not None and place.workers is None:
        place = replace(place, at_most=at_most)
    if patience_s is not None and place.patience_s == PATIENCE_S:
        place = replace(place, patience_s=patience_s)
    return place
