"""A program can forge the harness's report about a run. Any report can be stored."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.jobs.runner_answer import run_answer
from ioi_eval.model import HarnessReport, Isolation, Stage
from tests.box_answers import answer_text

NONCE = "0123456789abcdef" * 2


def report_of(report_text: str) -> HarnessReport:
    """The report of a run whose program wrote this text in place of the report."""
    line = {
        "test": 0, "verdict": None, "score": None, "message": "", "cpu_us": 0, "wall_us": 0, "idle_us": 0,
        "memory_bytes": 0, "code": 0, "signal": 0, "limit": None, "attempted": {}, "stderr": "",
        "judge": {"cpu_us": 0, "wall_us": 0}, "report": report_text.encode().decode("latin-1"),
    }  # fmt: skip
    stage = Stage(stdout=answer_text([line], NONCE), stderr="", code=0)
    return run_answer(stage, NONCE, tests=1, time_limit_s=1.0, least=Isolation.NONE).tests[0].details.report


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(fields=st.fixed_dictionaries({}, optional=dict.fromkeys(("phase", "exit", "error", "traceback"), ANYTHING)))
def test_every_report_can_be_written(fields: dict[str, Any]) -> None:
    """Lone surrogates, numbers, lists: the texts made of them can be written to a file."""
    report = report_of(json.dumps(fields))
    orjson.dumps([report.phase, report.error, report.traceback])


@pytest.mark.parametrize("report_text", ["", "{", "[]", "7", '"run"', '{"phase"', "[" * 100_000, "1" * 5000])
def test_an_invalid_report_is_empty(report_text: str) -> None:
    """Invalid JSON, JSON of another form, JSON that is too deep or too long."""
    assert report_of(report_text) == HarnessReport()
