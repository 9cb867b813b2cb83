"""A result is equal after encoding and decoding."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any, TypeVar

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.apps import result as apps
from ioi_eval.compat.terms import Graded
from ioi_eval.journal import decode_result, encode_result
from ioi_eval.model import (
    CompileOutcome,
    Isolation,
    ProblemKey,
    SubmissionResult,
    SubtaskResult,
    TestOutcome,
    Verdict,
)
from ioi_eval.model.apps import RowFault

T = TypeVar("T")

verdicts = st.sampled_from(Verdict)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(0, 1e9)
maybe_number = st.none() | numbers


def built(
    kind: type[T], *, without: Collection[str] = (), **strategies: st.SearchStrategy[Any]
) -> st.SearchStrategy[T]:
    """Objects of a dataclass, with any value in each field except those that are not stored."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    assert names - {*without} == strategies.keys(), f"{kind.__name__} needs a strategy for each field that is stored"
    return st.builds(kind, **strategies)


outcomes = built(
    TestOutcome,
    without={"details"},
    test=texts,
    verdict=verdicts,
    score=st.none() | st.floats(0, 1),
    message=texts,
    cpu_ms=maybe_number,
    wall_ms=maybe_number,
    memory_bytes=st.none() | st.integers(0, 2**40),
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.sampled_from(["SIGKILL", "SIGSEGV"]),
    limit=st.none() | st.sampled_from(["cpu", "memory"]),
    attempted=st.dictionaries(texts, st.integers(1, 10**6), max_size=3),
    near_limit=st.booleans(),
    in_time_score=st.none() | st.floats(0, 1),
    reran=st.booleans(),
    failed_program=st.none() | st.sampled_from(["checker", "runner"]),
    final=st.booleans(),
    stderr=texts,
    check_cpu_ms=maybe_number,
    output=st.none() | st.binary(max_size=20),
)
compiled = built(
    CompileOutcome,
    without={"all_unsuitable"},
    verdict=st.sampled_from([None, Verdict.CE, Verdict.NC, Verdict.JE]),
    message=texts,
    final=st.booleans(),
    cpu_ms=numbers,
)
subtasks = built(
    SubtaskResult,
    subtask=texts,
    verdict=verdicts,
    score=st.none() | st.floats(0, 1),
    points=numbers,
    weighted_score=maybe_number,
    tests=st.lists(outcomes, max_size=4).map(tuple),
)
results = built(
    SubmissionResult,
    without={"fingerprint"},
    submission=texts,
    problem=st.builds(ProblemKey, year=st.integers(1989, 2100), id=texts),
    verdict=verdicts,
    score=maybe_number,
    compile=compiled,
    subtasks=st.lists(subtasks, max_size=4).map(tuple),
    target=texts,
    isolation=st.none() | st.sampled_from(Isolation),
)
graded = built(
    Graded,
    without={"metadata"},
    codes=st.lists(st.booleans() | st.integers(-4, 4), max_size=4).map(tuple),
    rules=st.lists(texts, max_size=4).map(tuple),
    crash=texts,
)
apps_results = built(
    apps.AppsResult,
    without={"fingerprint", "judging_digest"},
    verdict=verdicts,
    target=texts,
    isolation=st.none() | st.sampled_from(Isolation),
    passed=st.integers(0, 100),
    total=st.integers(0, 100),
    tests=st.lists(outcomes, max_size=4).map(tuple),
    judged_by=texts,
    fault=st.none() | st.sampled_from(RowFault),
    message=texts,
    errors=st.lists(texts, max_size=3).map(tuple),
    graded=st.none() | graded,
    python=texts,
)


@given(results)
def test_encoding_and_decoding_change_nothing(result: SubmissionResult) -> None:
    """Through JSON, for any result."""
    assert decode_result(orjson.loads(orjson.dumps(encode_result(result)))) == result


@given(apps_results)
def test_the_same_for_apps(result: apps.AppsResult) -> None:
    """Through JSON, for any result."""
    assert apps.decode_result(orjson.loads(orjson.dumps(apps.encode_result(result)))) == result


@pytest.mark.parametrize("compiled", [None, Verdict.CE])
def test_verdicts_and_isolation_are_not_texts(compiled: Verdict | None) -> None:
    """Code asks whether a verdict `is` one of them, and a text that is equal never is."""
    outcome = TestOutcome(test="1", verdict=Verdict.WA, score=0.0)
    subtask = SubtaskResult(subtask="s", verdict=Verdict.WA, score=0.0, points=1, weighted_score=0, tests=(outcome,))
    result = SubmissionResult(
        submission="1",
        problem=ProblemKey(year=2024, id="nile"),
        verdict=Verdict.WA,
        score=0,
        compile=CompileOutcome(verdict=compiled),
        subtasks=(subtask,),
        isolation=Isolation.FULL,
    )
    again = decode_result(orjson.loads(orjson.dumps(encode_result(result))))
    (read,) = again.subtasks
    assert again.verdict is read.verdict is read.tests[0].verdict is Verdict.WA
    assert again.compile.verdict is compiled
    assert again.isolation is Isolation.FULL


def test_an_outcome_in_several_subtasks_is_written_once() -> None:
    """A year's problems list the same tests in up to ten subtasks."""
    shared = TestOutcome(test="1-01", verdict=Verdict.AC, score=1.0, message="Output is correct", cpu_ms=3.5)
    subtask = SubtaskResult(
        subtask="s", verdict=Verdict.AC, score=1.0, points=50, weighted_score=50, tests=(shared, shared)
    )
    result = SubmissionResult(
        submission="1",
        problem=ProblemKey(year=2024, id="nile"),
        verdict=Verdict.AC,
        score=100,
        compile=CompileOutcome(verdict=None),
        subtasks=(subtask, subtask),
    )
    assert orjson.dumps(encode_result(result)).count(b"Output is correct") == 1
