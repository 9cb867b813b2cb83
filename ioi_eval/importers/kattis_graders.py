"""Graders of a Kattis package's own: programs that turn the results of a group's tests into the group's.

What such a program computes cannot be seen from outside, and most in use compute the same: the lowest score times what
the group is worth, rounded down to whole points. So the program is tried, in a box, on results that tell this rule from
others; one that says anything else is refused by name.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from ioi_eval.errors import SandboxError, SetupError, UnsupportedError
from ioi_eval.importers.kattis_groups import TestGroup
from ioi_eval.importers.package import Package
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.local import LocalSandbox

_FOLDER = "graders"
_CASES = 24
_LIMITS = StageLimits(wall_ms=120_000, cpu_ms=60_000)
_RUN = """
while IFS='|' read -r flags results; do
    printf '%s %s\\n' $results | python3 -I grader.py $flags || exit 1
    echo "$?"
done < cases
"""

Results = tuple[tuple[str, float], ...]
"""Verdict and score of each test of a group."""


def try_grader(package: Package, groups: Sequence[TestGroup]) -> dict[str, int]:
    """What the package's own grader makes of groups that name it.

    Args:
        package: its `graders/` is read.
        groups: those with `grading: custom`.

    Returns:
        What each group is worth, by its path: it gets the lowest score of its tests times that, rounded down.

    Raises:
        UnsupportedError: there is no such grader in Python, or it follows another rule.
        SetupError: it could not be tried on this machine.
    """
    if not groups:
        return {}
    sources = [name for name in package.names(_FOLDER) if name.endswith(".py")]
    if len(sources) != 1 or len(package.names(_FOLDER)) != 1:
        stated = ", ".join(package.names(_FOLDER)) or "nothing"
        raise UnsupportedError(f"{package.where}: {_FOLDER}/ holds {stated}; one grader in Python is supported")
    flags = {group.path: str(group.config["grader_flags"] or "") for group in groups}
    cases = _cases()
    asked = [(text, results) for text in dict.fromkeys(flags.values()) for results in cases]
    said = _answers(package.where, package.read(sources[0]), asked)
    different = list(dict.fromkeys(flags.values()))
    by_flags = {text: said[place * len(cases) :][: len(cases)] for place, text in enumerate(different)}
    return {
        path: _points(f"{package.where}: {sources[0]} for {path}", cases, by_flags[text])
        for path, text in flags.items()
    }


def _cases() -> list[Results]:
    """Results that tell the rule from others: sums, means, maxima, the last test, rounding to the nearest."""
    random_ = random.Random(1)
    fixed: list[Results] = [
        (("AC", 1.0),),
        (("AC", 1.0), ("AC", 1.0), ("AC", 1.0)),
        (("AC", 0.5),),
        (("AC", 0.999),),
        (("AC", 0.2), ("AC", 0.9), ("AC", 0.6)),
        (("AC", 0.9), ("AC", 0.2)),
        (("AC", 1.0), ("WA", 0.0)),
        (("TLE", 0.0), ("AC", 1.0)),
        (("AC", 0.0),),
    ]
    while len(fixed) < _CASES:
        fixed.append(tuple(("AC", random_.randrange(1001) / 1000) for _ in range(random_.randrange(1, 6))))
    return fixed


def _answers(where: Path, grader: bytes, asked: Sequence[tuple[str, Results]]) -> list[float | None]:
    """The scores that a grader gives, each by a run of its own."""
    lines = (f"{flags}|{' '.join(f'{verdict} {score}' for verdict, score in results)}\n" for flags, results in asked)
    files: Mapping[str, bytes] = {"run": _RUN.encode(), "grader.py": grader, "cases": "".join(lines).encode()}
    job = Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content) for name, content in files.items()),
        run_limits=_LIMITS,
    )
    try:
        printed = asyncio.run(_run(job)).split("\n")
    except (SandboxError, SetupError) as error:
        raise SetupError(f"{where}: its grader cannot be tried: {error}") from error
    scores: list[float | None] = []
    for place in range(len(asked)):
        words = printed[2 * place].split() if 2 * place + 1 < len(printed) else []
        try:
            scores.append(float(words[1]) if len(words) == 2 else None)
        except ValueError:
            scores.append(None)
    return scores


async def _run(job: Job) -> str:
    async with LocalSandbox(slots=1) as sandbox:
        return (await sandbox.execute(job, sandbox.targets()[0])).run.stdout


def _points(what: str, cases: Sequence[Results], said: Sequence[float | None]) -> int:
    full = said[0]
    if full is None or full < 0 or not full.is_integer():
        raise UnsupportedError(f"{what} gives {full} for full marks; whole points are supported")
    for results, score in zip(cases, said, strict=True):
        lowest = min(one for _, one in results)
        if score != math.floor(lowest * full):
            raise UnsupportedError(
                f"{what} gives {score} for {list(results)}; the lowest score times {full:g}, rounded down, is supported"
            )
    return int(full)
