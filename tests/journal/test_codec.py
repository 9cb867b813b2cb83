"""A result is equal after encoding and decoding."""

from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

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

verdicts = st.sampled_from(Verdict)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(0, 1e9)
maybe_number = st.none() | numbers

outcomes = st.builds(
    TestOutcome,
    test=texts,
    verdict=verdicts,
    score=st.none() | st.floats(0, 1),
    message=texts,
    cpu_ms=maybe_number,
    wall_ms=maybe_number,
    memory_bytes=st.none() | st.integers(0, 2**40),
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.sampled_from(["SIGKILL", "SIGSEGV"]),
    attempted=st.dictionaries(texts, st.integers(1, 10**6), max_size=3),
    near_limit=st.booleans(),
    reran=st.booleans(),
    final=st.booleans(),
    stderr=texts,
    check_cpu_ms=maybe_number,
    output=st.none() | st.binary(max_size=20),
)
compiled = st.builds(
    CompileOutcome,
    verdict=st.sampled_from([None, Verdict.CE, Verdict.NC, Verdict.JE]),
    message=texts,
    final=st.booleans(),
    cpu_ms=numbers,
)
subtasks = st.builds(
    SubtaskResult,
    subtask=texts,
    verdict=verdicts,
    score=st.none() | st.floats(0, 1),
    points=numbers,
    weighted_score=maybe_number,
    tests=st.lists(outcomes, max_size=4).map(tuple),
)
results = st.builds(
    SubmissionResult,
    submission=texts,
    problem=st.builds(ProblemKey, year=st.integers(1989, 2100), id=texts),
    verdict=verdicts,
    score=maybe_number,
    compile=compiled,
    subtasks=st.lists(subtasks, max_size=4).map(tuple),
    target=texts,
    isolation=st.none() | st.sampled_from(Isolation),
)


@given(results)
def test_encoding_and_decoding_change_nothing(result: SubmissionResult) -> None:
    """Through JSON, for any result."""
    assert decode_result(orjson.loads(orjson.dumps(encode_result(result)))) == result


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
