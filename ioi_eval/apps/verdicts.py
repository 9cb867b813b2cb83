"""Makes the result of a test from the outcome of a run, and the result of a program from its tests. Pure.

There are two ways: our own rules (`judged`), and another grader's (`_run_of`, then its `grade`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.compat.terms import Calls, CompatGrader, Ending, Graded, TestRun, can_grade
from ioi_eval.jobs.plan import cpu_stop_ms
from ioi_eval.model import HarnessReport, RunDetails, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest
from ioi_eval.problems.apps_values import ValueFormatError, decode, result_is_right, shown_result, shown_value

_SHOWN_CHARS = 200  # characters of a value
_DECODED_BYTES = 1 << 16
"""A larger result is shown as the box returned it: other jobs would wait while it is decoded for its first bytes."""

_TRACEBACK_CHARS = 1000  # characters of a traceback's end
_RETURNS_NOTHING = "the function returned nothing, and what it changes in its arguments does not count"


def why_unusable(problem: AppsProblem, settings: AppsSettings) -> str:
    """Why a problem cannot be judged under these settings; empty if it can.

    Some other graders judge broken rows.
    """
    compat = settings.compat
    if compat is None:
        if problem.fault is None and problem.fn_name is not None and settings.comparator.program:
            return f"the comparator {settings.comparator} judges what programs print, and this row asks for a function"
        return problem.reason
    if problem.fault is None:
        return ""
    return compat.grade(problem, ()).crash or ("" if can_grade(problem) else problem.reason)


def unjudged(problem: AppsProblem, settings: AppsSettings, message: str) -> AppsResult:
    """The result if a row cannot be judged, or if we failed."""
    return AppsResult(
        verdict=Verdict.JE,
        passed=0,
        total=len(problem.tests),
        judged_by=settings.judged_by,
        fault=problem.fault,
        message=message,
    )


def crashed(problem: AppsProblem, settings: AppsSettings, error: BaseException | None) -> AppsResult:
    """The result if the other grader fails on this row or output, and so does our imitation of it."""
    message = " ".join(str(error).split())[:200]
    crash = f"{settings.judged_by} fails on this row: {type(error).__name__}: {message}"
    return replace(unjudged(problem, settings, crash), graded=Graded(crash=crash))


# --------------------------------------------------------------------------- while tests run


def is_right(problem: AppsProblem, settings: AppsSettings, outcome: TestOutcome) -> bool:
    """Whether an output that our side judges is right, apart from its time."""
    number, compat = int(outcome.test), settings.compat
    if compat is None:
        test = problem.tests[number]
        return (
            isinstance(test, CallTest)
            and outcome.has_whole_output
            and result_is_right(test, outcome.printed, settings.comparator)
        )
    tests = problem.tests[number : number + 1]
    alone = replace(problem, tests=tests, inputs=len(tests), outputs=len(tests))
    in_time = replace(outcome, verdict=Verdict.JE, limit=None)  # JE: as it came from the box, not judged
    run = replace(_run_of(in_time, compat), wall_s=0.0)
    return compat.grade(alone, [run]).all_passed


def assessed(
    outcome: TestOutcome, is_right: Callable[[TestOutcome], bool] | None, *, time_limit_s: float
) -> TestOutcome:
    """The outcome for `Judging`. A test passes with the full score only; any other score is a zero.

    `is_right` judges its output, unless the box does. Late runs are judged too: a wrong one is not repeated.
    """
    if outcome.verdict is Verdict.TLE:
        in_time_score = None if outcome.in_time_score is None else float(outcome.in_time_score == 1.0)
        # whether it ended by itself, and was not stopped because it slept or was much too late
        ended = outcome.limit != "idle" and (outcome.cpu_ms or 0.0) < cpu_stop_ms(time_limit_s)
        if in_time_score is None and ended and is_right is not None:
            in_time_score = float(is_right(outcome))
        return replace(outcome, in_time_score=in_time_score)
    if not outcome.details.judged_in_box and is_right is not None:
        right = is_right(outcome)
        verdict = Verdict.AC if right else Verdict.WA
        return replace(outcome, verdict=verdict, score=float(right), message="", failed_program=None)
    return outcome if outcome.score is None else replace(outcome, score=float(outcome.score == 1.0))


# --------------------------------------------------------------------------- our own rules


def judged(test: AppsTest, outcome: TestOutcome, settings: AppsSettings) -> TestOutcome:
    """The result of a test by our own rules, from its outcome (`assessed`)."""
    if outcome.final:
        reason = f"{settings.comparator} failed on this output: {outcome.message.removeprefix('checker: ')}"
        return _result(test, outcome, settings, Verdict.JE, reason)
    verdict, message = outcome.verdict, outcome.message
    if verdict is Verdict.WA and not outcome.details.judged_in_box and isinstance(test, CallTest):
        message = _difference(test, outcome)
    if verdict is Verdict.RE:
        verdict, message = _how_it_failed(outcome, settings)
    return _result(test, outcome, settings, verdict, message)


def _result(
    test: AppsTest, outcome: TestOutcome, settings: AppsSettings, verdict: Verdict, message: str
) -> TestOutcome:
    """The outcome for a result: with this verdict, and only the part of the output that is shown."""
    return replace(
        outcome,
        verdict=verdict,
        score=None if verdict is Verdict.JE else float(verdict is Verdict.AC),
        message=message,
        failed_program=outcome.failed_program if verdict is Verdict.JE else None,
        output=_shown_output(test, outcome, settings)[: settings.shown_bytes],
        details=RunDetails(
            report=HarnessReport(error=outcome.details.report.error if verdict is not Verdict.AC else "")
        ),
    )


def _shown_output(test: AppsTest, outcome: TestOutcome, settings: AppsSettings) -> bytes:
    """What a program printed, or a function's result as text, if all of it was returned and it is not large."""
    calls = isinstance(test, CallTest) and (settings.compat is None or settings.compat.calls is Calls.CALL)
    is_small = outcome.has_whole_output and len(outcome.printed) <= _DECODED_BYTES
    return shown_result(outcome.printed) if calls and is_small else outcome.printed


def _how_it_failed(outcome: TestOutcome, settings: AppsSettings) -> tuple[Verdict, str]:
    """Verdict and message of a run-time error; MLE if the program asked for more memory than it may have."""
    report = outcome.details.report
    if outcome.exit_code == 1 and report.error.startswith("MemoryError"):
        return Verdict.MLE, f"{report.error}: it asked for more memory than it may have"
    if outcome.limit == "threads":
        return Verdict.RE, f"more than {settings.threads} threads at once"
    if report.exit or not report.traceback:
        return Verdict.RE, f"{outcome.message}\n{outcome.stderr[-_TRACEBACK_CHARS:]}".strip()
    return Verdict.RE, f"{outcome.message}: {report.traceback[-_TRACEBACK_CHARS:]}".strip()


def _difference(test: CallTest, outcome: TestOutcome) -> str:
    expected = shown_value(test.expected)
    if not outcome.has_whole_output:
        return f"expected {_cut(expected, 0)}, found a result of {outcome.details.output_bytes} bytes"
    try:
        value = decode(outcome.printed)
        result = shown_value(value)
    except ValueFormatError:
        return f"expected {_cut(expected, 0)}, found no result but {outcome.printed[:_SHOWN_CHARS]!r}"
    if value is None:
        return f"expected {_cut(expected, 0)}, found null: {_RETURNS_NOTHING}"
    shorter = range(min(len(expected), len(result)))
    index = bisect_left(shorter, True, key=lambda last: expected[: last + 1] != result[: last + 1])
    return f"expected {_cut(expected, index)}, found {_cut(result, index)}"


def _cut(text: str, index: int) -> str:
    """The text around this index."""
    if len(text) <= _SHOWN_CHARS:
        return text
    start = max(0, min(index - _SHOWN_CHARS // 2, len(text) - _SHOWN_CHARS))
    end = start + _SHOWN_CHARS
    dots = "…" if start else "", "…" if end < len(text) else ""
    return f"{dots[0]}{text[start:end]}{dots[1]} ({len(text)} characters)"


def skipped(test: AppsTest) -> TestOutcome:
    """A test that was not run, as it could not change the result."""
    return TestOutcome(test=str(test.number), verdict=Verdict.SKIPPED, score=None)


def result_of(problem: AppsProblem, outcomes: Mapping[str, TestOutcome], settings: AppsSettings) -> AppsResult:
    """The result of a program from the outcomes (`assessed`) of the tests that were run, by our own rules."""
    tests: list[TestOutcome] = []
    load_error, has_failed = "", False
    for number, test in enumerate(problem.tests):
        outcome = outcomes.get(str(number))
        # runs after a failure do not count, so results do not depend on the job's size
        if outcome is None or has_failed:
            tests.append(skipped(test))
            continue
        tests.append(judged(test, outcome, settings))
        report = outcome.details.report
        if report.phase == "compile" and outcome.verdict is Verdict.RE:
            load_error = load_error or report.error
        has_failed = settings.fail_fast and tests[-1].passed is False
    if load_error:
        details = RunDetails(report=HarnessReport(error=load_error))
        uncompiled = partial(replace, verdict=Verdict.CE, score=0.0, message=load_error, details=details)
        tests = [test if test.passed is None else uncompiled(test, stderr="", output=None) for test in tests]
    failure = next((test for test in tests if test.passed is None), None)
    wrong = next((test for test in tests if not test.passed), None)
    return AppsResult(
        verdict=Verdict.JE if failure else wrong.verdict if wrong else Verdict.AC,
        passed=sum(test.passed is True for test in tests),
        total=len(problem.tests),
        tests=tuple(tests),
        judged_by=settings.judged_by,
        message=load_error or (failure.message if failure else ""),
        errors=_errors(tests),
    )


def _errors(tests: Sequence[TestOutcome]) -> tuple[str, ...]:
    """The different exceptions with which tests ended."""
    return tuple(dict.fromkeys(filter(None, (test.details.report.error for test in tests))))


# --------------------------------------------------------------------------- other graders' rules

_AND_MORE = b"\n(and more, which was not kept)"
"""The end of an output that is too long: so no grader takes its beginning, which we have, for the whole."""

_PHASES = {
    "done": Ending.FINISHED,
    "run": Ending.RAISED,
    "load": Ending.LOAD_FAILED,
    "compile": Ending.LOAD_FAILED,
}


def _wall_s(outcome: TestOutcome) -> float:
    """The sum of CPU and idle time is used as wall clock, so that the load of this machine does not count."""
    return (outcome.cpu_ms or 0.0) / 1000 + outcome.details.idle_s


def _run_of(outcome: TestOutcome, compat: CompatGrader) -> TestRun:
    """A run in the form that the other grader needs."""
    by_itself = outcome.signal is None and outcome.verdict not in (Verdict.MLE, Verdict.SV, Verdict.OLE)
    return TestRun(
        ending=_ending(outcome, compat),
        output=outcome.printed + (_AND_MORE if outcome.verdict is Verdict.OLE else b""),
        exit_code=outcome.exit_code if by_itself else None,
        wall_s=_wall_s(outcome),
        error=outcome.details.report.error or ("" if by_itself else outcome.message),
        traceback=outcome.details.report.traceback,
    )


def _ending(outcome: TestOutcome, compat: CompatGrader) -> Ending:
    """How a run ended for that grader. For a script the exit code decides; the report says only which error it was."""
    report = outcome.details.report
    if outcome.verdict is Verdict.TLE:
        return Ending.TIMED_OUT
    printed_too_much = outcome.verdict is Verdict.OLE and outcome.limit == "output"
    # A function's output is written at the end.
    if compat.harness_grader is None or (printed_too_much and not compat.script):
        return Ending.FINISHED
    if outcome.signal is not None or outcome.limit is not None or outcome.verdict in (Verdict.MLE, Verdict.SV):
        return Ending.DIED
    if not compat.script:
        ending = _PHASES.get(report.phase, Ending.DIED)
        # the program can write to the report; a process whose call ended leaves with 0
        return Ending.DIED if ending is Ending.FINISHED and outcome.exit_code != 0 else ending
    if outcome.exit_code == 0:
        return Ending.FINISHED
    return Ending.LOAD_FAILED if report.phase == "compile" and not report.exit else Ending.RAISED


def wants_another(
    problem: AppsProblem, outcomes: Mapping[str, TestOutcome], settings: AppsSettings, compat: CompatGrader
) -> bool:
    """Whether the other grader would run another test.

    A late run that will be repeated counts with half of its time here, the least that its repetition may take: whether
    the other tests run before its repetition or after it depends on how many share a job, and must not change the
    result.
    """
    known = dict(outcomes)
    for test, outcome in outcomes.items():
        if outcome.may_be_in_time and not outcome.reran:
            details = replace(outcome.details, idle_s=outcome.details.idle_s / 2)
            known[test] = replace(outcome, cpu_ms=(outcome.cpu_ms or 0.0) / 2, details=details)
    counted, runs = _runs_of_grader(problem, known, settings, compat)
    return _first_judge_error(counted) is None and compat.wants_another(problem, runs, test_s=settings.cpu_s)


def result_of_grader(
    problem: AppsProblem, outcomes: Mapping[str, TestOutcome], settings: AppsSettings, *, compat: CompatGrader
) -> AppsResult:
    """The result of a program from the outcomes of the tests, by the rules of the other grader."""
    counted, runs = _runs_of_grader(problem, outcomes, settings, compat)
    fault = _first_judge_error(counted)
    if fault is not None:
        return unjudged(problem, settings, fault)
    graded = compat.grade(problem, runs, test_s=settings.cpu_s)
    tests = []
    for index, test in enumerate(problem.tests):
        code = graded.codes[index] if index < len(graded.codes) else None
        rule = graded.rules[index] if index < len(graded.rules) else ""
        if index >= len(counted):
            tests.append(replace(skipped(test), message=rule))
        else:
            row = _result(test, counted[index], settings, _verdict(counted[index], code), rule)
            tests.append(replace(row, score=float(code is True)))
    ran = tests[: len(counted)]  # a program that was refused without a run is wrong
    wrong = next((test.verdict for test in ran if not test.passed), Verdict.WA)
    verdict = Verdict.JE if graded.crash else Verdict.AC if graded.all_passed else wrong
    return AppsResult(
        verdict=verdict,
        passed=graded.passed,
        total=len(graded.codes),
        tests=tuple(tests),
        judged_by=settings.judged_by,
        message=graded.crash or ("" if ran or not graded.rules else graded.rules[0]),
        errors=_errors(tests),
        graded=graded,
    )


def _runs_of_grader(
    problem: AppsProblem, outcomes: Mapping[str, TestOutcome], settings: AppsSettings, compat: CompatGrader
) -> tuple[list[TestOutcome], list[TestRun]]:
    """The runs that the other grader would have made too: in order, up to the test at which it stops."""
    counted: list[TestOutcome] = []
    runs: list[TestRun] = []
    while (outcome := outcomes.get(str(len(runs)))) and (
        not runs or compat.wants_another(problem, runs, test_s=settings.cpu_s)
    ):
        # its limit is one of wall clock; our runner allows a program as much CPU time, and a second more of waiting
        if not _failed_in_box(outcome) and outcome.verdict is not Verdict.TLE and _wall_s(outcome) >= settings.cpu_s:
            outcome = replace(outcome, verdict=Verdict.TLE, limit="idle", score=0.0)
        counted.append(outcome)
        runs.append(_run_of(outcome, compat))
    return counted, runs


def _first_judge_error(outcomes: Sequence[TestOutcome]) -> str | None:
    """Why a program cannot be graded: the first failure of ours, or of a judge program; `None` if there is none."""
    return next((outcome.message for outcome in outcomes if _failed_in_box(outcome)), None)


def _failed_in_box(outcome: TestOutcome) -> bool:
    """Whether the box failed to judge it. An outcome that our side has not judged yet is JE too."""
    return outcome.details.judged_in_box and outcome.verdict is Verdict.JE


def _verdict(outcome: TestOutcome, code: object) -> Verdict:
    """The runner's verdict if it has one, else the grader's."""
    if outcome.details.judged_in_box or outcome.verdict is Verdict.TLE:
        return outcome.verdict
    return Verdict.AC if code is True else Verdict.WA
