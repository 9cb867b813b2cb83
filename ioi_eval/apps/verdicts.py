"""Makes the result of a test from the outcome of a run, and the result of a program from its tests. Pure.

There are two ways: our own rules (`judged`), and another grader's (`run_of`, then its `grade`, then `graded_result`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ioi_eval.apps.outcomes import AppsResult, AppsSettings
from ioi_eval.compat.terms import Ending, Graded, Profile, TestRun, judges
from ioi_eval.model import Report, Returned, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, RowFault
from ioi_eval.problems import big_json
from ioi_eval.problems.apps_values import Foreign, Value, ValueFormatError, decode, result_is_right

_SHOWN = 200  # characters of a value
_MOST_BITS = 200_000  # longer integers take long to write in decimal
_TRACEBACK = 1000  # characters of a traceback's end
_RETURNS_NOTHING = "the function returned nothing, and what it changes in its arguments does not count"


def refusal_of(problem: AppsProblem, settings: AppsSettings) -> str:
    """Why a problem cannot be judged under these settings; empty if it can.

    Some profiles judge broken rows.
    """
    profile = settings.profile
    if profile is None:
        if problem.fault is None and problem.fn_name is not None and settings.comparator.program:
            return f"the comparator {settings.comparator} judges what programs print, and this row asks for a function"
        return problem.reason
    if problem.fault is None:
        return ""
    crash = "" if problem.fault is RowFault.UNEQUAL else profile.grade(problem, ()).crash
    return crash or ("" if judges(problem) else problem.reason)


# --------------------------------------------------------------------------- our own rules


def returns_right(test: AppsTest, came: TestOutcome, settings: AppsSettings) -> bool:
    """Whether a function's result is right, which the runner does not decide."""
    return isinstance(test, CallTest) and came.is_whole and result_is_right(test, came.printed, settings.comparator)


def judged(test: AppsTest, came: TestOutcome, settings: AppsSettings, *, passed: bool) -> TestOutcome:
    """The result of a test by our own rules; `passed` is used if the runner does not decide."""
    if came.final:
        words = f"{settings.comparator} failed on this output, twice: {came.message.removeprefix('checker: ')}"
        return _result(came, settings, Verdict.JE, words)
    if not came.returned.judged and isinstance(test, CallTest):
        verdict, message = (Verdict.AC, "") if passed else (Verdict.WA, _difference(test, came))
    else:
        verdict, message = came.verdict, came.message
    if verdict is Verdict.RE:
        verdict, message = _how_it_failed(came, settings)
    return _result(came, settings, verdict, message)


def _result(came: TestOutcome, settings: AppsSettings, verdict: Verdict, message: str) -> TestOutcome:
    """The outcome for a result: with this verdict, and only the part of the output that is shown."""
    return replace(
        came,
        verdict=verdict,
        score=None if verdict is Verdict.JE else float(verdict is Verdict.AC),
        message=message,
        judge_program=came.judge_program if verdict is Verdict.JE else None,
        output=came.printed[: settings.shown_bytes],
        returned=Returned(report=Report(error=came.returned.report.error if verdict is not Verdict.AC else "")),
    )


def _how_it_failed(came: TestOutcome, settings: AppsSettings) -> tuple[Verdict, str]:
    """Verdict and message of a run-time error; MLE if the program asked for more memory than it may have."""
    report = came.returned.report
    if came.exit_code == 1 and report.error.startswith("MemoryError"):
        return Verdict.MLE, f"{report.error}: it asked for more memory than it may have"
    if came.limit == "threads":
        return Verdict.RE, f"more than {settings.threads} threads at once"
    if report.exit or not report.traceback:
        return Verdict.RE, f"{came.message}\n{came.evidence[-_TRACEBACK:]}".strip()
    return Verdict.RE, f"{came.message}: {report.traceback[-_TRACEBACK:]}".strip()


def _difference(test: CallTest, came: TestOutcome) -> str:
    expected = _words(test.expected)
    if not came.is_whole:
        return f"expected {_cut(expected, 0)}, found a result of {came.returned.output_bytes} bytes"
    try:
        value = decode(came.printed)
        found = _words(value)
    except ValueFormatError:
        return f"expected {_cut(expected, 0)}, found no result but {came.printed[:_SHOWN]!r}"
    if value is None:
        return f"expected {_cut(expected, 0)}, found null: {_RETURNS_NOTHING}"
    shorter = range(min(len(expected), len(found)))
    place = bisect_left(shorter, True, key=lambda last: expected[: last + 1] != found[: last + 1])
    return f"expected {_cut(expected, place)}, found {_cut(found, place)}"


def _words(value: Value) -> str:
    """A value for people: as JSON if possible."""
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_words, value))}]"
    if isinstance(value, dict):
        keys = [big_json.dumps(key if isinstance(key, str) else _words(key)) for key in value]
        return f"{{{','.join(map(':'.join, zip(keys, map(_words, value.values()), strict=True)))}}}"
    if isinstance(value, Foreign):
        return big_json.dumps(f"<{value.type_name}>")
    if isinstance(value, Fraction):
        over = "" if value.denominator == 1 else f"/{_digits(value.denominator)}"
        return big_json.dumps(f"{_digits(value.numerator)}{over}")
    return _digits(value) if type(value) is int else big_json.dumps(value)


def _digits(number: int) -> str:
    """An integer in decimal; `str` refuses more than 4,300 digits."""
    return f"{Decimal(number):f}" if number.bit_length() <= _MOST_BITS else f"an integer of {number.bit_length()} bits"


def _cut(words: str, place: int) -> str:
    """The text around a place."""
    if len(words) <= _SHOWN:
        return words
    start = max(0, min(place - _SHOWN // 2, len(words) - _SHOWN))
    end = start + _SHOWN
    dots = "…" if start else "", "…" if end < len(words) else ""
    return f"{dots[0]}{words[start:end]}{dots[1]} ({len(words)} characters)"


def skipped(test: AppsTest) -> TestOutcome:
    """A test that was not run, as it could not change the result."""
    return TestOutcome(test=str(test.number), verdict=Verdict.SKIPPED, score=None)


def result_of(problem: AppsProblem, tests: Sequence[TestOutcome], settings: AppsSettings) -> AppsResult:
    """The result of a program from all tests of the problem."""
    unjudged = next((test for test in tests if test.passed is None), None)
    wrong = next((test for test in tests if not test.passed), None)
    return AppsResult(
        problem=problem.id,
        verdict=Verdict.JE if unjudged else wrong.verdict if wrong else Verdict.AC,
        passed=sum(test.passed is True for test in tests),
        total=len(problem.tests),
        tests=tuple(tests),
        judged_by=settings.judged_by,
        message=unjudged.message if unjudged else "",
    )


def without_program(result: AppsResult, error: str) -> AppsResult:
    """The result of a program that does not compile: CE for every test, with the compiler's message."""
    told = Returned(report=Report(error=error))
    tests = tuple(
        test
        if test.passed is None
        else replace(test, verdict=Verdict.CE, score=0.0, message=error, returned=told, evidence="", output=None)
        for test in result.tests
    )
    verdict = Verdict.JE if any(test.passed is None for test in tests) else Verdict.CE
    return replace(result, verdict=verdict, passed=0, tests=tests, load_error=error, message=error)


# --------------------------------------------------------------------------- other graders' rules

_PHASES = {
    "done": Ending.FINISHED,
    "run": Ending.RAISED,
    "load": Ending.LOAD_FAILED,
    "compile": Ending.LOAD_FAILED,
}


def grades_right(problem: AppsProblem, place: int, came: TestOutcome, profile: Profile) -> bool:
    """Whether a profile's grader accepts this one run, apart from its time."""
    tests = problem.tests[place : place + 1]
    alone = replace(problem, tests=tests, inputs=len(tests), outputs=len(tests))
    in_time = replace(came, verdict=Verdict.JE, limit=None)
    run = replace(run_of(in_time, profile), wall_s=0.0)
    return profile.grade(alone, [run]).all_passed


def run_of(came: TestOutcome, profile: Profile) -> TestRun:
    """A run in the form that a profile's grader needs.

    The sum of CPU and idle time is used as wall clock, so that the load of this machine does not count.
    """
    by_itself = came.signal is None and came.verdict not in (Verdict.MLE, Verdict.SV, Verdict.OLE)
    return TestRun(
        ending=_ending(came, profile),
        output=came.printed,
        exit_code=came.exit_code if by_itself else None,
        wall_s=(came.cpu_ms or 0.0) / 1000 + came.returned.idle_s,
        error=came.returned.report.error,
        traceback=came.returned.report.traceback,
    )


def _ending(came: TestOutcome, profile: Profile) -> Ending:
    """How a run ended, for a profile. For a script the exit code decides; the report only says which error it was."""
    report = came.returned.report
    if came.verdict is Verdict.TLE:
        return Ending.TIMED_OUT
    if profile.harness is None:
        return Ending.FINISHED
    if came.signal is not None or came.limit is not None or came.verdict in (Verdict.MLE, Verdict.SV):
        return Ending.DIED
    if not profile.script:
        return _PHASES.get(report.phase, Ending.DIED)
    if came.exit_code == 0:
        return Ending.FINISHED
    return Ending.LOAD_FAILED if report.phase == "compile" and not report.exit else Ending.RAISED


def graded_result(
    problem: AppsProblem, came: Sequence[TestOutcome], graded: Graded, settings: AppsSettings
) -> AppsResult:
    """The result of a profile's grader in our terms. `came` are the runs that it saw."""
    tests = []
    for place, test in enumerate(problem.tests):
        code = graded.codes[place] if place < len(graded.codes) else None
        words = graded.rules[place] if place < len(graded.rules) else ""
        if place >= len(came):
            row = replace(skipped(test), message=words)
        else:
            row = _result(came[place], settings, _verdict(came[place], code), words)
        tests.append(replace(row, score=float(code is True)))
    ran = tests[: len(came)]  # a program that was refused without a run is wrong
    wrong = next((test.verdict for test in ran if not test.passed), Verdict.WA)
    verdict = Verdict.JE if graded.crash else Verdict.AC if graded.all_passed else wrong
    return AppsResult(
        problem=problem.id,
        verdict=verdict,
        passed=graded.passed,
        total=len(graded.codes),
        tests=tuple(tests),
        judged_by=settings.judged_by,
        message=graded.crash or ("" if ran or not graded.rules else graded.rules[0]),
        load_error=graded.rules[0] if graded.codes == (-2,) and graded.rules else "",
        graded=graded,
    )


def _verdict(outcome: TestOutcome, code: object) -> Verdict:
    """The runner's verdict if it has one, else the grader's."""
    if outcome.verdict is not Verdict.JE:
        return outcome.verdict
    return Verdict.AC if code is True else Verdict.WA
