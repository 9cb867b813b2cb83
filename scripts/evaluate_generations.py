#!/usr/bin/env python3
"""Evaluate a data set of generated solutions through the Python API, and print each problem's best score.

    scripts/evaluate_generations.py [DUMP PROBLEMS TESTS]

Without arguments it evaluates the sample contest's dump. `ioi-eval score` does more (resuming, duplicates, reports):
this shows what is underneath, for those who score inside their own loop.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterator

from ioi_eval import (
    ArtifactStore,
    BlobStore,
    LocalSandbox,
    Problem,
    ProblemKey,
    Scorer,
    Submission,
    load_problems,
    open_source,
    sample,
)
from ioi_eval.config import Environment
from ioi_eval.problems.submissions import submission_from_row


def submissions(dump: str, problems: dict[ProblemKey, Problem]) -> Iterator[Submission]:
    """The dump's programs, one by one: a dump may be larger than memory."""
    for row in open_source(dump).iterate():
        submission = submission_from_row(row)
        if submission.problem in problems:
            yield submission
        else:
            print(f"{submission.id}: no problem {submission.problem}", file=sys.stderr)


async def evaluate(dump: str, problem_rows: str, test_rows: str) -> None:
    """Score everything with one worker a slot, then print the best scores."""
    cache = Environment.read().cache
    loaded = load_problems(
        open_source(problem_rows, all_splits=True), open_source(test_rows), BlobStore(cache / "blobs")
    )
    problems = dict(loaded.problems)
    best: dict[ProblemKey, float] = defaultdict(float)
    undecided = 0
    async with LocalSandbox() as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
        waiting = submissions(dump, problems)

        async def work() -> None:
            nonlocal undecided
            for submission in waiting:
                result = await scorer.score(problems[submission.problem], submission)
                if result.score is None:  # JE: our failure or a checker's. It is not a zero.
                    undecided += 1
                    print(f"{submission.id}: not judged: {result.compile.message}", file=sys.stderr)
                else:
                    best[submission.problem] = max(best[submission.problem], result.score)

        async with asyncio.TaskGroup() as group:
            for _ in range(sandbox.targets()[0].slots):
                group.create_task(work())
    for key, score in best.items():
        print(f"{key}\t{score:g}")
    print(f"not judged\t{undecided}")


if __name__ == "__main__":
    if len(sys.argv) not in (1, 4):
        sys.exit(__doc__)
    sources = sys.argv[1:] or [str(path) for path in (sample.dump(), sample.problems(), sample.tests())]
    asyncio.run(evaluate(*sources))
