"""Any grader_config.json is either read or refused with a message."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.model import ProcessIO, TaskType
from ioi_eval.problems.grader_config import parse_grader_config
from tests.fuzz.budget import damaged, fuzzed, json_values, mutated

COMMUNICATION = {
    "task_type_parameters_Communication_num_processes": 2,
    "task_type_parameters_Communication_user_io": "fifo_io",
    "task_type_parameters_Communication_compilation": "stub",
    "task_type_parameters_Communication_manager_args": "7 quiet",
}
BATCH = {
    "task_type_parameters_Batch_compilation": "grader",
    "task_type_parameters_Batch_output_eval": "comparator",
}
COMMON = {"code": "message", "time_limit": 3.0, "memory_limit": 2147483648, "score_type": "GroupMin"}
CONFIGS = [
    {"task_type": "Communication", **COMMON, **COMMUNICATION},
    {"task_type": "Batch", **COMMON, **BATCH},
    {"task_type": "Communication", **COMMON, "task_type_params": COMMUNICATION},
    {"task_type": "Batch", **COMMON, "task_type_params": json.dumps(BATCH)},
]

damaged_bytes = st.sampled_from(CONFIGS).flatmap(lambda whole: mutated(json.dumps(whole).encode()))
malformed = [
    *("[" * 100_000, '{"a":' * 100_000, '{"time_limit":' + "9" * 10_000 + "}"),
    *('{"time_limit":NaN}', '{"memory_limit":1e999}', "\ufeff{}"),
]
texts = st.one_of(
    st.sampled_from(CONFIGS).flatmap(damaged).map(json.dumps),
    damaged_bytes.map(lambda raw: raw.decode("utf-8", "replace")),
    json_values.map(json.dumps),
    st.sampled_from(malformed),
)


@fuzzed
@given(texts, st.sampled_from([None, *TaskType]))
def test_any_configuration(text: str, task_type: TaskType | None) -> None:
    """An accepted configuration has finite limits above 0, and values of the right types."""
    try:
        config = parse_grader_config(text, task_type)
    except InputError:
        return
    assert config.task_type is None or isinstance(config.task_type, TaskType)
    assert config.time_limit_s is None or (math.isfinite(config.time_limit_s) and config.time_limit_s > 0)
    assert config.memory_limit_bytes is None or (
        type(config.memory_limit_bytes) is int and config.memory_limit_bytes > 0
    )
    assert config.processes is None or (type(config.processes) is int and config.processes > 0)
    assert config.process_io is None or isinstance(config.process_io, ProcessIO)
    assert all(isinstance(word, str) for word in config.manager_args)
