"""hendrycks/apps, the benchmark's own grader: accepts many wrong outputs, which its results do not show.

An output is right if any of six rules accepts it, from equal text to equal sets of rounded numbers. All tests run in
one process within 11 s. If that process is killed or dies, the grader reports 21 failed tests.

Source: hendrycks/apps, eval/testing_util.py and eval/test_one_solution.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ioi_eval.compat.terms import (
    Calls,
    CompatGrader,
    Ending,
    Graded,
    Match,
    TestRun,
    allclose,
    can_grade,
    different,
    graded_all,
    too_long,
)
from ioi_eval.model.apps import AppsProblem, AppsTest, CallTest, StdinTest, joined
from ioi_eval.problems.apps_values import Foreign, ValueFormatError, decode, encode

GUESSED_TESTS = 21  # Source: its `avg_number_tests`
ALL_TESTS_S = 11.0


def encode_input(test: AppsTest) -> bytes:
    """Lines joined, without a final line feed. Arguments are encoded; if the first is a dictionary with integer keys,
    the others are dropped.
    """
    if isinstance(test, StdinTest):
        return joined(test.given).encode("utf-8", "replace")
    return encode(arguments(test))


def arguments(test: CallTest) -> tuple[Any, ...]:
    """The arguments of the function."""
    first = test.given[0] if test.given else None
    undone = _converted(first) if isinstance(first, dict) else first
    return (undone,) if undone is not first else test.given


def _converted(value: dict[Any, Any]) -> dict[Any, Any]:
    """The dictionary, with integer keys if Python reads all its keys as integers: also `"01"`."""
    try:
        return {int(key): item for key, item in value.items()}
    except ValueError:
        return value


def _grade(problem: AppsProblem, runs: Sequence[TestRun], all_tests_s: float) -> Graded:
    """Its results for all tests; it never stops early."""
    if not can_grade(problem):
        return Graded(crash=problem.reason)
    if any(run.ending is Ending.LOAD_FAILED for run in runs):
        return Graded(codes=(-2,), rules=("the program does not load",))
    if any(run.ending is Ending.DIED for run in runs):
        return _nothing("the process died")
    if too_long(runs, all_tests_s):
        return _nothing(f"all tests together took more than {all_tests_s:g} s")
    unpaired = max(0, problem.inputs - problem.outputs)
    if unpaired and problem.fn_name is None:
        return _nothing("an input without an output ends the grader")
    graded = graded_all(problem, runs, _match)
    more = ("an error, as the input has no output",) * unpaired
    return replace(graded, codes=(*graded.codes, *(-1,) * unpaired), rules=(*graded.rules, *more))


def _nothing(rule: str) -> Graded:
    return Graded(codes=(-1,) * GUESSED_TESTS, rules=(rule,) * GUESSED_TESTS)


def _match(test: AppsTest, run: TestRun) -> Match | None:
    """Whether it accepts an output; `None` for an error."""
    if run.ending is not Ending.FINISHED:
        return None
    if isinstance(test, StdinTest):
        return match_output(joined(test.expected), run.text)
    try:
        return match_result(test.expected, decode(run.output))
    except ValueFormatError:  # it is too long, or the program itself wrote in the place of its result
        return Match(right=False, rule="no value")


# --------------------------------------------------------------------------- results of calls


def match_result(expected: Any, result: Any) -> Match | None:
    """Compare a function's result with the row's; `None` if the grader's comparison itself fails."""
    expected = _with_integer_keys(expected)
    if isinstance(result, Foreign) and result.type_name == "numpy.ndarray":
        return None
    if isinstance(result, tuple):
        result = list(result)
    if result == expected:
        return Match(right=True, rule="equal")
    if isinstance(expected, list) and expected:
        if result == expected[0]:
            return Match(right=True, rule="equal to the first element of what is expected")
        tuples = isinstance(result, list) and bool(result) and isinstance(result[0], tuple)
        iterable = tuples and all(isinstance(item, list | tuple | str | dict) for item in result)
        if iterable and [list(item) for item in result] == expected[0]:
            return Match(right=True, rule="tuples equal to the lists in the first element of what is expected")
    return Match(right=False, rule="different")


def _with_integer_keys(expected: Any) -> Any:
    """A dictionary with integer keys becomes the only element of a list, as in its code."""
    found = expected[0] if isinstance(expected, list) and expected else expected
    if not isinstance(found, dict) or (undone := _converted(found)) is found:
        return expected
    return [decode(encode(undone))]  # as it is read from a result: a large dictionary has its keys as text


# --------------------------------------------------------------------------- standard output


def match_output(expected: str, printed: str) -> Match:
    """Compare the output with the row's text, by its six rules in order."""
    lines = printed.splitlines()
    whole = expected.strip()
    if "\n".join(lines).strip() == whole or "\n".join(line.strip() for line in lines).strip() == whole:
        return Match(right=True, rule="equal text")
    if lines == [expected]:
        return Match(right=True, rule="equal text")
    wanted = [line.strip() for line in expected.split("\n") if line]
    if lines == wanted:
        return Match(right=True, rule="equal lines")
    lines = [line for line in lines if line]
    if lines == wanted:
        return Match(right=True, rule="equal lines without empty ones")
    if _close(lines, wanted):
        return Match(right=True, rule="a close number on each line")
    return _match_sets(lines, wanted)


def _close(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    if len(lines) != len(wanted):
        return False
    try:
        numbers, expected = [float(line) for line in lines], [float(line) for line in wanted]
    except ValueError:
        return False
    return allclose(numbers, expected)


def _match_sets(lines: Sequence[str], wanted: Sequence[str]) -> Match:
    """Its last rules: the sets of the lines' sets of words are equal, then the same with rounded numbers."""
    if _same_sets(lines, wanted, str):
        return Match(right=True, rule="the same words in any order, and however often")
    try:
        rounded = _same_sets(lines, wanted, _rounded)
    except ValueError:
        rounded = False
    if rounded:
        return Match(right=True, rule="the same numbers to 3 places, in any order, and however often")
    theirs, ours = (map(" ".join, map(str.split, each)) for each in (wanted, lines))
    return different(theirs, filter(None, ours))


def _same_sets(lines: Sequence[str], wanted: Sequence[str], of: Callable[[str], object]) -> bool:
    """Whether two texts have the same set of lines, each a set of words; blank lines of the first do not count.

    A program may print millions of lines, whose sets would take gigabytes. So this ends at the first line that is not
    wanted.
    """
    theirs = {frozenset(map(of, line.split())) for line in wanted}
    ours: set[frozenset[object]] = set()
    for words in filter(None, map(str.split, lines)):
        line = frozenset(map(of, words))
        if line not in theirs:
            return False
        ours.add(line)
    return ours == theirs


def _rounded(word: str) -> object:
    """A text that is equal if the rounded numbers are. (Texts cannot be chosen to share a hash.) NaN equals nothing."""
    number = round(float(word), 3)
    return object() if math.isnan(number) else repr(number + 0.0)  # + 0.0 turns -0.0 into 0.0


GRADER = CompatGrader(
    name="hendrycks",
    harness_grader="hendrycks",
    calls=Calls.CALL,
    per_test_s=4.0,
    all_tests_s=lambda *_: ALL_TESTS_S,
    stops=False,
    encode_input=encode_input,
    grade_runs=_grade,
    numpy=True,
)
