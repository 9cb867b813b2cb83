#!/usr/bin/env python3
"""Evaluate a data set of generated solutions through the Python API, and print each problem's best score.

    scripts/evaluate_generations.py [DUMP PROBLEMS TESTS [DIR]]

Without arguments it evaluates the sample contest's dump. DIR (`evaluation` by default) gets results.jsonl, tests.jsonl,
inputs.jsonl, summary.json, report.md and the journal. If you start it again, it continues where it stopped.
`ioi-eval score` can do more (clusters, options, several ways of reading a dump); this script shows the functions that
it uses.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import use_environment

if TYPE_CHECKING:
    from collections.abc import Mapping


async def evaluate(dump: str, problem_rows: str, test_rows: str, directory: Path) -> int:
    """Score the rows without a score, write all results, print the best scores. Returns 1 if not all was judged."""
    from ioi_eval import ArtifactStore, BlobStore, LocalSandbox, Scorer, load_problems, open_source
    from ioi_eval.journal import Journal
    from ioi_eval.pipeline import Settings, score_dump
    from ioi_eval.pipeline.contest import ContestFamily
    from ioi_eval.pipeline.contest_dump import ContestDumpReader, RowSelection, survey
    from ioi_eval.pipeline.progress import progress_for
    from ioi_eval.problems.loading import LoadingProblems

    rows, everything = open_source(dump), RowSelection()
    seen = survey(rows, everything)
    problems = load_problems(
        open_source(problem_rows, all_splits=True),
        open_source(test_rows),
        BlobStore(),
        years={problem.year for problem in seen.problems},
        ids={problem.id for problem in seen.problems},
    )
    options = {"dump": dump, "problems": problem_rows, "tests": test_rows}
    async with LocalSandbox() as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore())
        await scorer.learn_tools(seen.languages)
        dump_reader = ContestDumpReader(
            rows, everything, LoadingProblems.complete(problems), fingerprints=scorer.fingerprints
        )
        with Journal(directory, options=options) as journal:
            outcome = await score_dump(
                directory,
                ContestFamily(dump_reader, scorer),
                journal=journal,
                settings=Settings(jobs_at_once=sandbox.targets()[0].slots, options=options),
                progress=progress_for(seen.rows, bar=None),
            )
    show(outcome.summary)
    print(f"results\t{directory / 'results.jsonl'}")
    return outcome.exit_code


def show(summary: Mapping[str, Any]) -> None:
    """Print the best scores, and what was not judged. (JE means that we or a checker failed; it is not a zero.)"""
    for problem in summary["problems"]:
        if problem["best_score"] is not None:
            print(f"{problem['year']}/{problem['problem']}\t{problem['best_score']:g}")
    counts = summary["submissions"]
    print(f"not judged\t{counts['undecided'] + counts['refused'] + counts['pending']}")
    for undecided in summary["undecided"]:
        print(f"{undecided['submission']}: {undecided['error']}", file=sys.stderr)
    for refused in summary["refused"]:
        print(*refused["examples"], sep="\n", file=sys.stderr)


def main() -> int:
    """Read the command line, and turn our errors into one message."""
    from ioi_eval import sample
    from ioi_eval.errors import IoiEvalError, first_own_error

    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    if len(sys.argv) not in (1, 4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    sources = sys.argv[1:4] or [str(path) for path in (sample.dump(), sample.problems(), sample.tests())]
    directory = Path(sys.argv[4] if len(sys.argv) == 5 else "evaluation")
    try:
        return asyncio.run(evaluate(sources[0], sources[1], sources[2], directory))
    except (IoiEvalError, BaseExceptionGroup) as error:
        ours = first_own_error(error)
        if not isinstance(ours, IoiEvalError):
            raise
        print(ours, file=sys.stderr)
        return 2


if __name__ == "__main__":
    use_environment()
    sys.exit(main())
