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
    submission_from_row,
)
from ioi_eval.errors import IoiEvalError, RowError, UnsupportedError, ours_alone
from ioi_eval.problems.submissions import check_fits
from ioi_eval.report.outcomes import judge_error


def submissions(dump: str, problems: dict[ProblemKey, Problem], skipped: list[str]) -> Iterator[Submission]:
    """The dump's programs, one by one: a dump may be larger than memory. Rows without use are named in `skipped`."""
    for row in open_source(dump).iterate():
        try:
            submission = submission_from_row(row)
            if submission.problem not in problems:
                raise row.error(f"there is no problem {submission.problem}")
            check_fits(submission, problems[submission.problem])
        except RowError as error:
            skipped.append(str(error))
        except UnsupportedError as error:
            skipped.append(str(row.error(str(error))))
        else:
            yield submission


async def evaluate(dump: str, problem_rows: str, test_rows: str) -> int:
    """Score everything with one worker a slot, then print the best scores. Gives 1 if something was not judged."""
    loaded = load_problems(open_source(problem_rows, all_splits=True), open_source(test_rows), BlobStore())
    problems = dict(loaded.problems)
    best: dict[ProblemKey, float] = defaultdict(float)
    not_judged: list[str] = []
    async with LocalSandbox() as sandbox:
        scorer = Scorer(sandbox, artifacts=ArtifactStore())
        waiting = submissions(dump, problems, not_judged)

        async def work() -> None:
            for submission in waiting:
                result = await scorer.score(problems[submission.problem], submission)
                if result.score is None:  # JE: our failure or a checker's. It is not a zero.
                    not_judged.append(f"{submission.id}: {judge_error(result)}")
                else:
                    best[submission.problem] = max(best[submission.problem], result.score)

        async with asyncio.TaskGroup() as group:
            for _ in range(sandbox.targets()[0].slots):
                group.create_task(work())
    for key, score in best.items():
        print(f"{key}\t{score:g}")
    print(f"not judged\t{len(not_judged)}")
    for words in not_judged:
        print(words, file=sys.stderr)
    return 1 if not_judged else 0


if __name__ == "__main__":
    if len(sys.argv) not in (1, 4):
        sys.exit(__doc__)
    sources = sys.argv[1:] or [str(path) for path in (sample.dump(), sample.problems(), sample.tests())]
    try:
        sys.exit(asyncio.run(evaluate(*sources)))
    except (IoiEvalError, BaseExceptionGroup) as error:
        ours = ours_alone(error)
        if not isinstance(ours, IoiEvalError):
            raise
        print(ours, file=sys.stderr)
        sys.exit(2)
