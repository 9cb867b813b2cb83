"""A Kattis package's own graders: programs that compute the result of a group from the results of its tests.

What such a program computes is only known by running it. Most of them compute the same: the lowest score times the
group's points, rounded down to whole points or not rounded. So the program is run in a box on made-up results that
distinguish these rules from others; a grader with another rule is refused by name. For groups of groups the grader may
compute the sum, like the default grader.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ioi_eval.errors import SandboxError, SetupError, UnsupportedError
from ioi_eval.importers.kattis_data import VERDICT_FLAGS, TestGroup
from ioi_eval.importers.kattis_groups import GradedGroup
from ioi_eval.importers.kattis_programs import refuse_python_2
from ioi_eval.importers.package import Package
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.local.sandbox import LocalSandbox

_FOLDER = "graders"
_CASES = 24
_PRINTED = 1e-6  # points: the largest error of a sum that is printed with `%f`
_LIMITS = StageLimits(wall_ms=120_000, cpu_ms=60_000)
_RUN = """
while IFS='|' read -r flags results; do
    printf '%s %s\\n' $results | python3 -I grader.py $flags || exit 1
    echo "$?"
done < cases
"""

Flags = tuple[str, ...]
Results = tuple[tuple[str, float], ...]
"""Verdict and score of each test of a group."""


def try_grader(package: Package, groups: Sequence[TestGroup]) -> dict[str, GradedGroup]:
    """Find out how the package's own grader scores the groups that use it.

    Args:
        package: its `graders/` is read.
        groups: the groups with `grading: custom`.

    Returns:
        For each group's path, how it is scored.

    Raises:
        UnsupportedError: there is no such grader in Python, or it follows another rule.
        SetupError: it could not be tried on this machine.
    """
    if not groups:
        return {}
    source = _source(package)
    cases = _cases()
    different = list(dict.fromkeys(group.flags for group in groups))
    questions = [(flags, results) for flags in different for results in cases]
    answers = _answers(package.where, package.read(source), questions)
    by_flags = {flags: answers[index * len(cases) :][: len(cases)] for index, flags in enumerate(different)}
    return {group.path: _rule(f"{source} for {group.path}", cases, by_flags[group.flags]) for group in groups}


def without_own_sums(package: Package, root: TestGroup) -> TestGroup:
    """The groups. If the package's own grader only computes sums, groups of groups get the default grading.

    Raises:
        UnsupportedError: there is no such grader in Python, or it does not compute the sum.
        SetupError: it could not be tried on this machine.
    """
    outer = [group for group in root.walk() if group.groups and group.config["grading"] == "custom"]
    if not outer:
        return root
    source = _source(package)
    questions: list[tuple[Flags, Results]] = []
    expected: list[float] = []
    for group in outer:
        counted = slice(-1, None) if "ignore_sample" in group.flags else slice(None)
        worth = [not _is_worth_nothing(inner) for inner in group.groups]
        for results in _points_of(worth):
            questions.append((group.flags, results))
            expected.append(sum(points for _, points in results[counted]))
    answers = _answers(package.where, package.read(source), questions)
    for (flags, results), sum_, points in zip(questions, expected, answers, strict=True):
        if points is None or abs(points - sum_) > _PRINTED:
            raise UnsupportedError(
                f"{source} gives {points} for groups of {list(results)} with the flags"
                f" {' '.join(flags) or '(none)'}, not {sum_:g}; the sum of groups is supported (with ignore_sample:"
                " without the samples)"
            )
    return _with_default_grading(root, {group.path for group in outer})


def _with_default_grading(group: TestGroup, paths: Collection[str]) -> TestGroup:
    if group.path in paths:
        verdict_flags = " ".join(flag for flag in group.flags if flag in VERDICT_FLAGS)
        group = group.with_settings(grading="default", grader_flags=verdict_flags)
    return replace(group, groups=tuple(_with_default_grading(inner, paths) for inner in group.groups))


def _is_worth_nothing(group: TestGroup) -> bool:
    """Whether no submission can get points in a group, as in most groups of samples."""
    ranges = str(group.config.get("range", "0 0")).split()
    return group.config.get("accept_score") == 0 and all(word == "0" for word in ranges)


def _points_of(worth: Sequence[bool]) -> list[Results]:
    """Points of groups that distinguish a sum from other rules: all points, none, and mixtures.

    Args:
        worth: for each group, whether it can have points.
    """
    random_ = random.Random(2)
    drawn = [[random_.randrange(50) for _ in worth] for _ in range(_CASES // 4)]
    return [
        tuple(
            (("AC" if points else "WA"), float(points) if counts else 0.0)
            for points, counts in zip(case, worth, strict=True)
        )
        for case in ([0] * len(worth), *drawn)
    ]


def _source(package: Package) -> str:
    sources = [name for name in package.names(_FOLDER) if name.endswith(".py")]
    if len(sources) != 1 or len(package.names(_FOLDER)) != 1:
        stated = ", ".join(package.names(_FOLDER)) or "nothing"
        raise UnsupportedError(f"{_FOLDER}/ holds {stated}; one grader in Python is supported")
    refuse_python_2(package, sources[0])
    return sources[0]


def _cases() -> list[Results]:
    """Results that distinguish our rule from others: sums, means, maxima, the last test, rounding to the nearest."""
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


def _answers(where: Path, grader: bytes, questions: Sequence[tuple[Flags, Results]]) -> list[float | None]:
    """The scores that a grader gives; it is run once for each question."""
    cases = ""
    for flags, results in questions:
        cases += f"{' '.join(flags)}|{' '.join(f'{verdict} {score}' for verdict, score in results)}\n"
    files: Mapping[str, bytes] = {"run": _RUN.encode(), "grader.py": grader, "cases": cases.encode()}
    job = Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content) for name, content in files.items()),
        run_limits=_LIMITS,
    )
    try:
        printed = asyncio.run(_run(job)).split("\n")
    except (SandboxError, SetupError) as error:
        raise SetupError(f"{where}: its grader cannot be tried: {error}") from error
    return [_score(printed[2 * index]) if 2 * index + 1 < len(printed) else None for index in range(len(questions))]


def _score(line: str) -> float | None:
    """The score after the verdict; `None` if it is not finite, because it would count as near to every other score."""
    words = line.split()
    try:
        score = float(words[1]) if len(words) == 2 else math.nan
    except ValueError:
        return None
    return score if math.isfinite(score) else None


async def _run(job: Job) -> str:
    async with LocalSandbox(slots=1) as sandbox:
        return (await sandbox.execute(job, sandbox.targets()[0])).run.stdout


def _rule(what: str, cases: Sequence[Results], scores: Sequence[float | None]) -> GradedGroup:
    full = scores[0]
    if full is None or full < 0 or not full.is_integer():
        raise UnsupportedError(f"{what} gives {full} for full marks; whole points are supported")
    exact = [min(score for _, score in results) * full for results in cases]
    for rounded, wanted in ((True, [float(math.floor(points)) for points in exact]), (False, exact)):
        tolerance = 0 if rounded else _PRINTED
        wrong = [index for index, score in enumerate(scores) if score is None or abs(score - wanted[index]) > tolerance]
        if not wrong:
            return GradedGroup(points=int(full), rounded=rounded)
    raise UnsupportedError(
        f"{what} gives {scores[wrong[0]]} for {list(cases[wrong[0]])};"
        f" the lowest score times {full:g}, rounded down or not at all, is supported"
    )
