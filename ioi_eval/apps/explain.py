"""Shows where graders differ on a program, test by test, and why.

A program is run and judged by our rules and by those of each other grader. These differ in how a program is found in an
answer, how it is run, what is compared, and when the grader stops. Each grader's results are shown in its own terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ioi_eval.apps.dump_reader import AppsCandidate
from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.result import AppsResult
from ioi_eval.compat import grader_named
from ioi_eval.errors import ODD_DATA, RowError, SetupError, internal_error_text
from ioi_eval.model import Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.pipeline.dump_reader import Judgeable
from ioi_eval.problems.apps_submissions import EXTRACTORS, our_extractor, submission

OURS = "ours"
_REASON_CHARS = 200  # characters of a reason


class GradedTest(NamedTuple):
    """A grader's result for a test: empty if it has none, and whether it passes, `None` if the grader does not say."""

    result: str
    passes: bool | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderResult:
    """A grader's result for a program."""

    grader: str  # `ours`, or the name of another grader
    whole: str  # the overall result, in a word or two
    right: bool | None  # whether the program is right; `None` if the grader does not say
    tests: Sequence[GradedTest]
    code: str | None = None  # the program that it found, if it differs from ours in more than blanks at both ends
    we_failed: bool = False  # whether we failed to judge the program by its rules; `whole` says why


async def grader_results(
    entry: Judgeable[AppsCandidate],
    problem: AppsProblem,
    executors: Mapping[str, AppsExecutor],
    unusable: dict[str, str],
) -> tuple[GraderResult, ...]:
    """Each grader's result for a program; `ours` is one of the executors.

    `unusable` has other graders that cannot be used here, with the reason; those that turn out so are added.
    """
    ours = entry.candidate.submission.code
    results = []
    for grader, executor in executors.items():
        if grader in unusable:
            continue
        code = _program(entry, grader)
        if not code:
            reason = entry.candidate.submission.refused or "no code found"
            results.append(_same_on_all(grader, problem, reason, right=False))
            continue
        try:
            result = await executor.score(problem, code)
        except SetupError as error:
            if grader == OURS:
                raise
            unusable[grader] = str(error)
            continue
        except ODD_DATA as error:
            reason = internal_error_text(error, "judging this row")
            results.append(_same_on_all(grader, problem, reason, we_failed=True))
            continue
        grader_result = _our_result(result, problem) if grader == OURS else _their_result(grader, result, problem)
        is_ours = code.strip() == (ours or "").strip()  # (a final newline makes no difference)
        results.append(grader_result if is_ours else replace(grader_result, code=code))
    return tuple(results)


def differ(results: Sequence[GraderResult]) -> bool:
    """Whether graders differ on the program, or on one of its tests. Our failures are no difference."""
    return len({result.right for result in results if not result.we_failed}) > 1 or bool(differing_tests(results))


def differing_tests(results: Sequence[GraderResult]) -> list[int]:
    """The tests on which graders differ."""
    tests = zip(*(result.tests for result in results), strict=True)
    return [number for number, test in enumerate(tests) if len({each.passes for each in test} - {None}) > 1]


def _program(entry: Judgeable[AppsCandidate], grader: str) -> str | None:
    """The program as that grader finds it."""
    extractor = EXTRACTORS.get(grader, our_extractor)
    if extractor is our_extractor:
        return entry.candidate.submission.code
    mine = entry.candidate.submission
    try:
        return submission(entry.row, name=mine.id, problem=mine.problem, extractor=extractor).code
    except RowError:
        return None


def _our_result(result: AppsResult, problem: AppsProblem) -> GraderResult:
    tests = [GradedTest("", None, "")] * len(problem.tests)
    for test in result.tests:
        tests[int(test.test)] = GradedTest(test.verdict.value, test.passed, _line(test.message or "right"))
    if result.score is None:
        whole = _line(f"{result.verdict.value}: {result.message}")
        return GraderResult(grader=OURS, whole=whole, right=None, tests=tests, we_failed=True)
    whole = f"{result.verdict.value} {result.passed}/{result.total}"
    return GraderResult(grader=OURS, whole=whole, right=result.verdict is Verdict.AC, tests=tests)


def _their_result(grader: str, result: AppsResult, problem: AppsProblem) -> GraderResult:
    graded, count = result.graded, len(problem.tests)
    if graded is None:
        return _same_on_all(grader, problem, result.message, we_failed=True)
    if graded.crash:
        return _same_on_all(grader, problem, f"fails: {graded.crash}")
    codes, rules = graded.codes, graded.rules
    whole = f"{graded.worst} {graded.passed}/{len(codes)}"
    # without a code for each test: one for a program that does not load, or hendrycks's fixed number of equal ones
    is_for_all = not grader_named(grader).stops and len(codes) != count and len(set(codes)) == 1
    if is_for_all and codes[0] is not True:
        codes, rules = codes[:1] * count, rules[:1] * count
    tests = [GradedTest("", None, "not run: it had stopped")] * count
    for number, code in enumerate(codes[:count]):
        tests[number] = GradedTest(str(code), code is True, _line(rules[number] if number < len(rules) else ""))
    return GraderResult(grader=grader, whole=whole, right=graded.all_passed, tests=tests)


def _same_on_all(
    grader: str, problem: AppsProblem, reason: str, *, right: bool | None = None, we_failed: bool = False
) -> GraderResult:
    """The result of a program that was not run: the same on every test; `right` as in `GraderResult`."""
    tests = [GradedTest("", right, _line(reason))] * len(problem.tests)
    return GraderResult(grader=grader, whole=_line(reason), right=right, tests=tests, we_failed=we_failed)


def _line(text: str) -> str:
    """A message on one line; of a traceback, its last line."""
    line = text.strip().splitlines()[-1] if "Traceback" in text else " ".join(text.split())
    return line if len(line) <= _REASON_CHARS else f"{line[:_REASON_CHARS]}…"
