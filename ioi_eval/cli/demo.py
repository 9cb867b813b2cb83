"""`ioi-eval demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ioi_eval.cli import options
from ioi_eval.cli.exits import INTERRUPTED
from ioi_eval.cli.grouped import option
from ioi_eval.cli.watching import LogFile, Watch

TIME_LIMIT_S = 2.0
"""Limit of a test of the sample of APPS: programs that end need less than a tenth; the others are stopped soon."""


def demo(
    out: Annotated[Path, option("--out DIR", "The directory for the results.")] = Path("ioi-eval-demo"),
    workers: options.WorkersHere = None,
    progress: options.Bar = None,
    log_file: LogFile = None,
) -> int:
    """Score the two samples that come with the package.

    They are a contest of four small tasks, and five problems in the format of APPS. DIR gets the results of the
    contest, DIR/apps those of the other sample, and DIR/apps-sample that sample itself.
    """
    from ioi_eval import sample
    from ioi_eval.cli import apps_scoring, scoring
    from ioi_eval.cli.apps import AppsScoreCall
    from ioi_eval.cli.apps_options import AppsRules, ChosenProblems
    from ioi_eval.cli.sandboxes import SandboxChoice, SandboxOptions
    from ioi_eval.cli.score import ScoreCall

    sandbox = SandboxOptions(sandbox=SandboxChoice.EMBEDDED, workers=workers)
    watch = Watch(bar=progress, log_file=log_file)
    print("The sample contest: programs in C++ for four tasks in the manner of the IOI\n", flush=True)
    problems, tests = str(sample.problems()), str(sample.tests())
    contest = scoring.score(
        ScoreCall(dumps=[str(sample.dump())], problems=problems, tests=tests, out=out, sandbox=sandbox, watch=watch)
    )
    if contest == INTERRUPTED:
        return contest
    print("\nThe sample of APPS: programs in Python for five problems\n", flush=True)
    files = write_sample(out)
    apps = apps_scoring.score(
        AppsScoreCall(
            dumps=[str(files / "dump.jsonl")],
            problems=ChosenProblems(dataset=str(files / "problems.jsonl")),
            rules=AppsRules(timeout=TIME_LIMIT_S),
            out=out / "apps",
            sandbox=sandbox,
            watch=watch,
        )
    )
    print(f"Programs and problems: {files}")
    return max(contest, apps)


def write_sample(out: Path) -> Path:
    """Write the sample of APPS beside the results, for users to try other commands with it. Returns its directory."""
    from ioi_eval import sample
    from ioi_eval.errors import SetupError

    files = out / "apps-sample"
    names = ("problems.jsonl", "dump.jsonl", "checker.cpp")
    try:
        files.mkdir(parents=True, exist_ok=True)
        for name, path in zip(names, (sample.apps_problems(), sample.apps_dump(), sample.apps_checker()), strict=True):
            (files / name).write_bytes(path.read_bytes())
    except OSError as error:
        raise SetupError(f"the sample of APPS cannot be written to {files}: {error.strerror}") from error
    return files
