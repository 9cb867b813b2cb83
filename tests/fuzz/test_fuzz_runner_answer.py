"""Any answer of the runner gives valid outcomes or a sandbox error."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import IsolationError, SandboxError
from ioi_eval.jobs.runner_answer import compile_answer, run_answer
from ioi_eval.model import Isolation, Stage, Verdict
from tests.fuzz.budget import damaged, fuzzed, mutated

NONCE = "0123456789abcdef" * 2
END = {"end": True, "nonce": NONCE, "lines": 2, "sum": "", "isolation": "full", "runner": 1}
LINE = {
    "test": 0, "verdict": "AC", "score": "1.0", "message": "ok", "cpu_us": 1000, "wall_us": 2000, "idle_us": 0,
    "memory_bytes": 1 << 20, "code": 0, "signal": 0, "limit": None, "attempted": {"socket": 1}, "stderr": "",
    "judge": {"cpu_us": 10, "wall_us": 20},
}  # fmt: skip
JUDGE_ERROR = LINE | {
    "test": 1,
    "verdict": "JE",
    "score": None,
    "fault": "exit",
    "program": "checker",
    "explanation": "x",
}
STEP = {"step": 0, "code": 0, "signal": 0, "limit": None, "cpu_us": 5, "wall_us": 6, "memory_bytes": 7, "output": ""}
ARTIFACT = {"artifact": "a.out", "base64": "f0VMRgA=", "bytes": 5}


def stages(*lines: Mapping[str, object]) -> st.SearchStrategy[Stage]:
    """Answers with damaged values, damaged bytes, or both; most with the right checksum of the damaged answer."""
    values = st.tuples(*(damaged(line) for line in (*lines, END)))
    texts = values.map(lambda parts: "".join(json.dumps(part) + "\n" for part in parts).encode())
    answers = st.tuples(texts.flatmap(mutated), st.sampled_from((True, True, True, False)))
    return answers.map(
        lambda drawn: Stage(stdout=with_sum(drawn[0].decode("utf-8", "replace"), drawn[1]), stderr="", code=0)
    )


def with_sum(text: str, is_right: bool) -> str:
    """The answer with the checksum of its lines in the end line, if that has one."""
    lines, newline, last = text.rstrip("\n").rpartition("\n")
    checksum = f"{zlib.crc32((lines + newline).encode('utf-8', 'replace')):08x}" if is_right else "0"
    return lines + newline + last.replace('"sum": ""', f'"sum": "{checksum}"') + "\n"


@fuzzed
@given(stages(LINE, JUDGE_ERROR))
def test_run_answers(stage: Stage) -> None:
    """A score exists except for JE, is finite, in [0, 1], and agrees with the verdict."""
    try:
        answer = run_answer(stage, NONCE, tests=2, time_limit_s=1.0, least=Isolation.NONE)
    except (SandboxError, IsolationError):
        return
    assert isinstance(answer.isolation, Isolation)
    for outcome in answer.tests.values():
        assert outcome.test in {"0", "1"}
        assert (outcome.score is None) == (outcome.verdict is Verdict.JE)
        if outcome.score is not None:
            assert math.isfinite(outcome.score)
            assert 0 <= outcome.score <= 1
            assert (outcome.verdict is Verdict.AC) == (outcome.score == 1)
        for number in (outcome.cpu_ms, outcome.wall_ms, outcome.check_cpu_ms, outcome.memory_bytes):
            assert number is not None
            assert math.isfinite(number)
            assert number >= 0
        assert all(isinstance(count, int) for count in outcome.attempted.values())
        for text in (outcome.message, outcome.stderr, outcome.limit or "", outcome.signal or ""):
            text.encode()


@fuzzed
@given(stages(STEP, ARTIFACT))
def test_compile_answers(stage: Stage) -> None:
    """Steps have exit codes and output, and artifacts are bytes."""
    try:
        answer = compile_answer(stage, NONCE, least=Isolation.NONE)
    except (SandboxError, IsolationError):
        return
    for step in answer.steps:
        assert all(type(number) is int for number in (step.code, step.signal))
        step.output.encode()
    assert all(isinstance(content, bytes) for content in answer.artifacts.values())


@fuzzed
@given(st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "replace")))
def test_random_texts(text: str) -> None:
    """Random text is a sandbox error."""
    try:
        run_answer(
            Stage(stdout=text, stderr="", code=None, signal="SIGKILL"),
            NONCE,
            tests=0,
            time_limit_s=1.0,
            least=Isolation.NONE,
        )
    except (SandboxError, IsolationError):
        return
    raise AssertionError("the text was accepted as an answer")
