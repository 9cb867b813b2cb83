"""A Kattis package's own graders: programs that compute the result of a group from the results of its tests.

What such a program computes is only known by running it. Most of them compute the same: the lowest score times the
group's points, rounded down or to the nearest point, or not rounded; full marks are 1, a number in the group's
`grader_flags` (`rescale 1000 30`), or the end of its `range`. So the program is run in a box on made-up results that
distinguish these rules from others. If scores are counts, for example of queries, points may fall with them in any way:
the program is run on each score up to 2048, and the points become a table. A grader with another rule is refused by
name.

For groups of groups the grader may compute the sum, like the default grader. If a group with its own grader holds one
group only, which takes the minimum or maximum of its tests, the grader gets one result.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from pathlib import Path

from ioi_eval.boxfiles import runner_rules
from ioi_eval.config import Environment
from ioi_eval.errors import SandboxError, SetupError, UnsupportedError
from ioi_eval.importers.kattis_data import ACCEPTED_IN_PART, VERDICT_FLAGS, TestGroup
from ioi_eval.importers.package import Package
from ioi_eval.importers.python_2 import refuse_python_2
from ioi_eval.model import Job, JobFile, JobKind, StageLimits, StepRounding
from ioi_eval.sandbox.local.sandbox import LocalSandbox

_DIRECTORY = "graders"
_FULL_SCORE = re.compile(r"0*(?!1$)[1-9][0-9]{0,8}")  # from 2; a longer number is no score
_CASES = 36
_TRIED = range(2049)  # whole scores on which a grader is run, if it has no simple rule
_LARGEST = 10**9  # of the scores in a table
_LARGEST_DRAWN = 1000  # points of a group that states no `range`
_PRINTED = 1e-6  # points: the largest error of a sum that is printed with `%f`
_ROUNDINGS: Mapping[StepRounding, Callable[[float], float]] = {  # of points, as the runner rounds
    StepRounding.DOWN: math.floor,
    StepRounding.LENIENTLY: lambda points: math.floor(points + 1 / runner_rules()["kLenientParts"]),
    StepRounding.NEAREST: lambda points: math.floor(points + math.nextafter(0.5, 0)),
    StepRounding.NEAREST_EVEN: round,
}
_LIMITS = StageLimits(wall_ms=120_000, cpu_ms=60_000)
_RUN = "exec python3 -I on_cases.py"
_ON_CASES = """
# Runs the grader on each line of `cases`, in a process of its own. To start an interpreter for each takes longer.
import os, sys
grader = compile(open("grader.py", "rb").read(), "grader.py", "exec")
for line in open("cases"):
    flags, _, results = line.rpartition("|")
    words = results.split()
    stdin = os.memfd_create("results")
    os.write(stdin, "".join(f"{verdict} {score}\\n" for verdict, score in zip(words[::2], words[1::2])).encode())
    os.lseek(stdin, 0, os.SEEK_SET)
    if os.fork() == 0:
        os.dup2(stdin, 0)
        sys.argv = ["grader.py", *flags.split()]
        exec(grader, {"__name__": "__main__", "__file__": "grader.py"})
        sys.stdout.flush()
        os._exit(0)
    os.close(stdin)
    status = os.wait()[1]
    if os.WIFSIGNALED(status):  # too little memory, for example
        os.kill(os.getpid(), 9)
    if status != 0:
        sys.exit(1)
    print("|", end="", flush=True)
"""

Flags = tuple[str, ...]
Results = tuple[tuple[str, float], ...]
"""Verdict and score of each test of a group."""
_Ask = Callable[[Flags, tuple[Results, ...]], list[float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedGroup:
    """How the package's own grader scores a group: the lowest score of its tests / `full_score` * `points`.

    `rounding` says how the result is rounded to whole points; `None` if it is not. If there is a `table`, a test's
    score is first replaced by its points there. With the `full_score` 0, each accepted test has full marks.
    """

    points: int
    full_score: int
    rounding: StepRounding | None = None
    table: tuple[tuple[int, int], ...] = ()  # a score, and the points up to it

    def columns(self) -> dict[str, object]:
        """The columns of the group's tests."""
        values: dict[str, object] = {"full_score": self.full_score} if self.full_score != 1 or self.table else {}
        values |= {"score_table": self.table} if self.table else {}
        values |= {"score_steps": max(self.points, 1)} if self.rounding else {}
        values |= {"step_rounding": self.rounding.value} if self.rounding not in (None, StepRounding.DOWN) else {}
        return values


def try_grader(package: Package, groups: Sequence[TestGroup]) -> dict[str, GradedGroup]:
    """Find out how the package's own grader scores the groups that use it, by their paths.

    Raises:
        SetupError: it could not be tried on this machine.
    """
    if not groups:
        return {}
    source = _source(package)
    grader = package.read(source)

    @cache  # several groups may have the same flags
    def ask(flags: Flags, cases: tuple[Results, ...]) -> list[float | None]:
        return _answers(package.where, grader, [(flags, results) for results in cases])

    rules: dict[str, GradedGroup] = {}
    for group in groups:
        rule = _rule(ask, group)
        if isinstance(rule, str):
            table = _table(ask, group)
            if table is None:
                raise UnsupportedError(
                    f"{source} for {group.path} {rule}. If scores are whole numbers, another rule is supported: whole"
                    " points that never rise as the highest score of the tests rises, and for the score 0 are the end"
                    " of the group's range"
                )
            rule = table
        rules[group.path] = rule
    return rules


def _full_score(ask: _Ask, group: TestGroup) -> int:
    """The score that means full marks: a number in the group's flags, 1 or the end of its `range`, if that score gives
    all its points; else 1.
    """
    most = _most(group)
    numbers = [*(int(flag) for flag in group.flags if _FULL_SCORE.fullmatch(flag)), 1]
    if most.is_integer() and 1 < most <= _LARGEST:
        numbers.append(int(most))
    answers = ask(group.flags, tuple((("AC", float(number)),) for number in numbers))
    return next((number for number, points in zip(numbers, answers, strict=True) if points == most), 1)


def _gets_one(group: TestGroup) -> bool:
    """Whether the grader gets one result for the group."""
    return bool(group.one_result) or len(group.tests) == 1


def _most(group: TestGroup) -> float:
    """The upper end of the group's `range`; infinite if none is stated."""
    return group.range[1] if group.range else math.inf


def without_own_sums(package: Package, root: TestGroup) -> TestGroup:
    """The groups. If the package's own grader only computes sums, groups of groups get the default grading.

    If the only group of a group with its own grader takes the minimum of its tests, it is removed, and its tests belong
    to the outer group.

    Raises:
        SetupError: it could not be tried on this machine.
    """
    root = replace(root, groups=tuple(group.with_each(_joined) for group in root.groups))
    outer = [group for group in root.walk() if group.groups and group.config["grading"] == "custom"]
    if not outer:
        return root
    source = _source(package)
    questions: list[tuple[Flags, Results]] = []
    expected: list[float] = []
    for group in outer:
        if _is_worth_nothing(group):
            continue
        counted = slice(-1, None) if "ignore_sample" in group.flags else slice(None)
        for results in _points_of([0 if _is_worth_nothing(inner) else _most(inner) for inner in group.groups]):
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
    paths = {group.path for group in outer}
    return root.with_each(lambda group: _with_default_grading(group) if group.path in paths else group)


def _joined(group: TestGroup) -> TestGroup:
    """The only group in a group with its own grader, in place of that one, if it takes the minimum or maximum of its
    tests; else the group itself."""
    is_outer = len(group.groups) == 1 and not group.tests and group.config["grading"] == "custom"
    only = group.groups[0] if is_outer else None
    if only is None or only.groups or only.config["grading"] != "default" or not only.aggregations:
        return group
    aggregation = only.aggregations[-1]
    if aggregation not in ("min", "max") or (aggregation == "max" and not ACCEPTED_IN_PART.isdisjoint(only.flags)):
        raise UnsupportedError(
            f"{only.path} takes the {' '.join(only.flags)} of its tests for {_DIRECTORY}/; min and max are supported"
        )
    flags = only.config["output_validator_flags"]
    config = {**group.config, "output_validator_flags": flags}
    return replace(only, path=group.path, config=config, configured=group.configured, one_result=aggregation)


def _with_default_grading(group: TestGroup) -> TestGroup:
    verdict_flags = " ".join(flag for flag in group.flags if flag in VERDICT_FLAGS)
    return group.with_settings(grading="default", grader_flags=verdict_flags)


def _is_worth_nothing(group: TestGroup) -> bool:
    """Whether no submission can get points in a group, as in most groups of samples."""
    return group.config.get("accept_score") == 0 and ("range" not in group.config or group.range == (0, 0))


def _points_of(most: Sequence[float]) -> list[Results]:
    """Points of groups that distinguish a sum from other rules: none, all, and mixtures. `most` may be infinite."""
    random_ = random.Random(2)
    full = [int(min(max(0, points), _LARGEST_DRAWN)) for points in most]  # 0 also for nan
    drawn = [[random_.randint(0, points) for points in full] for _ in range(_CASES // 4)]
    return [
        tuple(("AC" if points else "WA", float(points)) for points in case) for case in ([0] * len(most), full, *drawn)
    ]


def _source(package: Package) -> str:
    sources = [name for name in package.names(_DIRECTORY) if name.endswith(".py")]
    if len(sources) != 1 or len(package.names(_DIRECTORY)) != 1:
        stated = ", ".join(package.names(_DIRECTORY)) or "nothing"
        raise UnsupportedError(f"{_DIRECTORY}/ holds {stated}; one grader in Python is supported")
    refuse_python_2(sources[0], package.text(sources[0]))
    return sources[0]


def _cases(full_score: int, *, one_result: bool) -> tuple[Results, ...]:
    """Results that distinguish our rules from others (sums, means, maxima, the last test), and, by halves of points,
    from each other.
    """
    random_ = random.Random(1)
    halves = (0.25, 0.75, 0.125, 0.375, 0.0625, 0.1875, 0.03125, 0.09375, 0.1, 0.3, 0.7, 0.9)
    fixed: list[Results] = [
        (("AC", 1.0),),
        (("AC", 1.0), ("AC", 1.0), ("AC", 1.0)),
        (("AC", 0.5),),
        (("AC", 0.999),),
        (("AC", 0.99999),),
        (("AC", 1 - 5e-10),),
        (("AC", 0.2), ("AC", 0.9), ("AC", 0.6)),
        (("AC", 0.9), ("AC", 0.2)),
        (("AC", 1.0), ("WA", 0.0)),
        (("TLE", 0.0), ("AC", 1.0)),
        (("AC", 0.0),),
        *((("AC", score),) for score in halves),
    ]
    cases = [case for case in fixed if not one_result or len(case) == 1]
    while len(cases) < _CASES:
        count = 1 if one_result else random_.randrange(1, 6)
        cases.append(tuple(("AC", random_.randrange(1001) / 1000) for _ in range(count)))
    return tuple(tuple((verdict, round(score * full_score, 10)) for verdict, score in case) for case in cases)


def _answers(where: Path, grader: bytes, questions: Sequence[tuple[Flags, Results]]) -> list[float | None]:
    """The scores that a grader gives; it is run once for each question."""
    cases = ""
    for flags, results in questions:
        cases += f"{' '.join(flags)}|{' '.join(f'{verdict} {score}' for verdict, score in results)}\n"
    scripts = {"run": _RUN.encode(), "on_cases.py": _ON_CASES.encode()}
    files: Mapping[str, bytes] = {**scripts, "grader.py": grader, "cases": cases.encode("utf-8", "replace")}
    job = Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content) for name, content in files.items()),
        run_limits=_LIMITS,
    )
    try:
        *printed, _ = asyncio.run(_run(job)).split("|")  # what a run that failed has printed does not count
    except (SandboxError, SetupError) as error:
        raise SetupError(f"{where}: its grader cannot be tried: {error}") from error
    return [_score(printed[index]) if index < len(printed) else None for index in range(len(questions))]


def _score(text: str) -> float | None:
    """The score after the verdict; `None` if it is not finite, because it would count as near to every other score."""
    words = text.split()
    try:
        score = float(words[1]) if len(words) == 2 else math.nan
    except ValueError:
        return None
    return score if math.isfinite(score) else None


async def _run(job: Job) -> str:
    async with LocalSandbox(slots=1, compiler=Environment.read().compiler) as sandbox:
        stage = (await sandbox.execute(job, sandbox.targets()[0])).run
    if stage.code is None:
        raise SandboxError(f"it was stopped: {stage.message or stage.signal}")
    return stage.stdout


def _rule(ask: _Ask, group: TestGroup) -> GradedGroup | str:
    """The rule if it is the lowest score times the points; else how it differs."""
    full_score = _full_score(ask, group)
    cases = _cases(full_score, one_result=_gets_one(group))
    scores = ask(group.flags, cases)
    full = scores[0]
    if full is None or full < 0 or not full.is_integer():
        return f"gives {full} for full marks; whole points are supported"
    if full == 0 and 0 < _most(group) < math.inf:
        return (
            f"gives 0 points for the score {full_score}, though the group is worth up to {_most(group):g}; full"
            " marks of 1, of a number in its grader_flags, or of the end of its range are supported"
        )
    if group.one_result == "max" and len(group.tests) > 1:
        return "gets the highest score of the tests; the lowest is supported"
    exact = [min(score for _, score in results) * full / full_score for results in cases]
    for rounding in (*_ROUNDINGS, None):
        wanted = exact if rounding is None else [_ROUNDINGS[rounding](points) for points in exact]
        tolerance = _PRINTED if rounding is None else 0
        wrong = [index for index, score in enumerate(scores) if score is None or abs(score - wanted[index]) > tolerance]
        if not wrong:
            return GradedGroup(points=int(full), full_score=full_score, rounding=rounding)
    return (
        f"gives {scores[wrong[0]]} for {list(cases[wrong[0]])};"
        f" the lowest score times {full / full_score:g}, rounded down, to the nearest point or not at all, is supported"
    )


def _table(ask: _Ask, group: TestGroup) -> GradedGroup | None:
    """The rule if whole scores give whole points, from those of the whole group, which fall as the scores rise.

    The table ends where the grader fails.
    """

    def given(scores: Sequence[int]) -> list[float | None]:
        return ask(group.flags, tuple((("AC", float(score)),) for score in scores))

    most = _most(group)
    takes_lowest = len(group.tests) > 1 and group.one_result == "min"
    if not most.is_integer() or most <= 0 or takes_lowest or given([0]) != [most]:
        return None
    tried = given(_TRIED)
    points = [int(value or 0) for value in takewhile(range(int(most) + 1).__contains__, tried)]
    ends = {value: score for score, value in enumerate(points)}
    if len(points) == len(tried):
        if given([_LARGEST]) != tried[-1:]:
            return None
        ends[points[-1]] = _LARGEST
    if points != sorted(points, reverse=True) or not _gives_fewest(ask, group, points):
        return None
    table = tuple((score, value) for value, score in ends.items())
    return GradedGroup(points=int(most), full_score=int(most) if len(table) > 1 else 0, table=table[len(table) == 1 :])


def _gives_fewest(ask: _Ask, group: TestGroup, points: Sequence[int]) -> bool:
    """Whether a group gets the points of the test with the fewest, which are `points` by its score, and 0 if it is
    rejected.
    """
    random_ = random.Random(1)
    changes = [score for score in range(1, len(points)) if points[score] != points[score - 1]]
    drawn = [0, len(points) - 1, *changes, *(score - 1 for score in changes)]
    several = [random_.choices(drawn, k=1 if _gets_one(group) else random_.randrange(1, 6)) for _ in range(_CASES)]
    accepted: list[Results] = [tuple(("AC", float(score)) for score in scores) for scores in several]
    rejected = [(*case[1:], ("WA", case[0][1] if group.one_result == "max" else 0.0)) for case in accepted]
    expected = [min(points[score] for score in scores) for scores in several] + [0] * len(rejected)
    return ask(group.flags, (*accepted, *rejected)) == expected
