"""The sample contest's problems and solutions, as tests use them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from ioi_eval import sample
from ioi_eval.blobs import BlobStore
from ioi_eval.model import Problem, ProblemKey, Submission
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source

SOLUTIONS = [orjson.loads(line) for line in sample.solutions().read_bytes().splitlines()]


def problems(cache: Path) -> dict[ProblemKey, Problem]:
    """The sample contest; from a copy beside the cache, if there is one."""
    given = [sample.problems(), sample.tests()]
    rows, tests = (cache / path.name if (cache / path.name).exists() else path for path in given)
    loaded = load_problems(open_source(rows), open_source(tests), BlobStore(cache / "blobs"))
    assert not loaded.unusable
    return dict(loaded.problems)


def name_of(row: dict[str, Any]) -> str:
    """`problem/label`."""
    return f"{row['problem_id']}/{row['label']}"


def solution(label: str) -> Submission:
    """A solution of the sample contest, by `problem/label`."""
    row = next(row for row in SOLUTIONS if name_of(row) == label)
    return Submission(id=label, problem=ProblemKey(year=row["year"], id=row["problem_id"]), code=row["code"])
