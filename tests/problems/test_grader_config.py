"""The grader's configuration: every form is read, and no value that affects judging is ignored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.model import ProcessIO, TaskType
from ioi_eval.problems.grader_config import GraderConfig, parse_grader_config

COMMUNICATION = {
    "task_type_parameters_Communication_num_processes": 2,
    "task_type_parameters_Communication_user_io": "fifo_io",
    "task_type_parameters_Communication_compilation": "stub",
    "task_type_parameters_Communication_manager_args": "7 quiet",
}
COMMON = {"task_type": "Communication", "code": "message", "time_limit": 3.0, "memory_limit": 2147483648}


def parse(task_type: TaskType | None = None, /, **values: Any) -> GraderConfig:
    """Parse a configuration given as keywords."""
    return parse_grader_config(json.dumps(values), task_type)


@pytest.mark.parametrize(
    "values",
    [
        {**COMMON, **COMMUNICATION},
        {**COMMON, "task_type_params": COMMUNICATION},
        {**COMMON, "task_type_params": json.dumps(COMMUNICATION)},
        {**COMMON, "task_type_params": {}, **COMMUNICATION, "feedback_level": "full", "unknown": [1]},
        {**COMMON, **COMMUNICATION, "task_type_parameters_Communication_num_processes": "2"},
    ],
    ids=["flat", "object", "escaped", "unknown keys", "number as text"],
)
def test_all_forms_are_equal(values: dict[str, Any]) -> None:
    """Flat, nested and escaped configurations."""
    assert parse(**values) == GraderConfig(
        task_type=TaskType.COMMUNICATION,
        code="message",
        time_limit_s=3.0,
        memory_limit_bytes=2147483648,
        linked=True,
        processes=2,
        process_io=ProcessIO.FIFO_IO,
        manager_args=("7", "quiet"),
    )


@pytest.mark.parametrize("key", ["task_type_params", "task_type_parameters"])
def test_parameters_as_lists_of_cms(key: str) -> None:
    """By position, for each task type with parameters; also as JSON text."""
    found = parse(TaskType.BATCH, **{key: ["alone", ["input.txt", "output.txt"], "comparator"]})
    assert (found.linked, found.checker_decides) == (False, True)
    assert (found.input_file, found.output_file) == ("input.txt", "output.txt")
    found = parse(TaskType.BATCH_AND_OUTPUT, **{key: '["grader", ["", ""], "diff", "01, 02,"]'})
    assert (found.linked, found.checker_decides, found.output_only_tests) == (True, False, ("01", "02"))
    found = parse(TaskType.COMMUNICATION, **{key: [2, "stub", "fifo_io"]})
    assert (found.processes, found.linked, found.process_io) == (2, True, ProcessIO.FIFO_IO)
    assert parse(**{"task_type": "OutputOnly", key: ["comparator"]}).checker_decides is True


@pytest.mark.parametrize("text", ["", "  \n", "{}", '{"task_type_params": null}', '{"task_type_params": ""}'])
def test_an_empty_configuration_sets_nothing(text: str) -> None:
    """A missing configuration and an empty one."""
    assert parse_grader_config(text, TaskType.BATCH) == GraderConfig(task_type=TaskType.BATCH)


def test_batch_parameters() -> None:
    """Whether a grader is linked, and whether a checker judges. Parameters of another task type are ignored."""
    prefix = "task_type_parameters_Batch_"
    found = parse(TaskType.BATCH, **{f"{prefix}compilation": "alone", f"{prefix}output_eval": "comparator"})
    assert (found.linked, found.checker_decides) == (False, True)
    found = parse(TaskType.BATCH, **{f"{prefix}compilation": "grader", f"{prefix}output_eval": "diff"})
    assert (found.linked, found.checker_decides) == (True, False)
    found = parse(TaskType.COMMUNICATION, **{f"{prefix}compilation": "alone", f"{prefix}output_eval": "diff"})
    assert (found.linked, found.checker_decides) == (None, None)
    assert parse(TaskType.BATCH, **{f"{prefix}io_0_inputfile": "", f"{prefix}user_managers": '["grader.%l"]'})


def test_parameters_of_batch_for_batch_and_output() -> None:
    """The second is a kind of the first, so these keys count if there are none of its own."""
    values = {
        "compilation": "grader",
        "io_0_inputfile": "in.txt",
        "io_1_outputfile": "out.txt",
        "output_eval": "comparator",
    }
    batch = {f"task_type_parameters_Batch_{key}": value for key, value in values.items()}
    for stated in (batch, {"task_type_params": batch}):
        found = parse(TaskType.BATCH_AND_OUTPUT, **stated)
        assert (found.linked, found.checker_decides) == (True, True)
        assert (found.input_file, found.output_file) == ("in.txt", "out.txt")
    own = {"task_type_parameters_BatchAndOutput_io_0_inputfile": "own.txt"}
    assert parse(TaskType.BATCH_AND_OUTPUT, **batch, **own).input_file == "own.txt"


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ("add.%l", "add"),
        (["Add-2.%l", "output_01.txt"], "Add-2"),
        (None, ""),
        ("first.%l, second.%l", ""),
        ("output_01.txt", ""),
        ("../add.%l", ""),
        ("two words.%l", ""),
        (f"{'x' * 251}.%l", ""),
        ({"add.%l": 1}, ""),
        ([1, "add.%l"], "add"),
    ],
)
def test_name_of_a_submission_s_file(stated: object, name: str) -> None:
    """It is that of the submission format, if this has one program with a plain name."""
    config = parse(TaskType.BATCH, **({} if stated is None else {"submission_format": stated}))
    assert config.source_name == name


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"task_type": "ThreeSteps"}, "task type 'ThreeSteps' is not supported; Batch, Communication, Interactive"),
        ({"task_type": 7}, "task type 7"),
        ({"score_type": "Best"}, "score type 'Best' is not supported"),
        (
            {"task_type": "Interactive", "task_type_params": ["grader"]},
            "a list, which is not supported for Interactive",
        ),
        ({"task_type_parameters_Batch_output_eval": "realprecision"}, "realprecision"),
        (
            {f"task_type_parameters_Batch_{name}": "sum.txt" for name in ("io_0_inputfile", "io_1_outputfile")},
            "gives 'sum.txt' to input and output; one file for both is not supported",
        ),
        ({"task_type_parameters_Batch_compilation": "both"}, "'both'"),
    ],
)
def test_unsupported_values_are_refused(values: dict[str, Any], words: str) -> None:
    """A value that we cannot follow is never ignored."""
    with pytest.raises(UnsupportedError, match=words):
        parse_grader_config(json.dumps({"task_type": "Batch", **values}), None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"task_type": }', "grader_config.json is not JSON"),
        ('"text"', "is not a JSON object"),
        ('{"task_type_params": "{"}', "task_type_params in graders/grader_config.json is not JSON"),
        ('{"task_type_params": 3}', "neither an object nor a list"),
        (
            '{"task_type": "Batch", "task_type_params": ["grader"]}',
            "list of compilation, io_0_inputfile/io_1_out",
        ),
        (
            '{"task_type": "Batch", "task_type_params": ["alone", ["in"], "diff"]}',
            "list of io_0_inputfile, io_1_ou",
        ),
        ('{"task_type_params": ["grader"]}', "is a list, which is not supported for an unstated task type"),
        ('{"time_limit": 0}', "time_limit in .* is 0; it must be a number above 0"),
        ('{"time_limit": NaN}', "is not JSON"),
        ('{"time_limit": "1"}', "time_limit"),
        ('{"time_limit": 1%s}' % ("0" * 400), "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        (r'{"task_type": "Batch", "task_type_parameters_Batch_io_0_inputfile": "\ud800"}', "is not JSON: no low surr"),
        (r'{"task_type": "Communication", "task_type_params": "{\"a\": \"\\ud800\"}"}', "task_type_params .* not JSON"),
        ('{"memory_limit": 0.5}', "it must be a whole number"),
        ('{"memory_limit": "%s"}' % ("9" * 5000), "memory_limit"),
        ('{"task_type_parameters_Communication_num_processes": 0}', "num_processes"),
        ('{"task_type_parameters_Communication_num_processes": true}', "num_processes"),
        ('{"task_type_parameters_Communication_num_processes": 65}', "num_processes .* is 65; at most 64 are possible"),
        ('{"task_type_parameters_Communication_num_processes": 1e300}', "at most 64 are possible"),
        ('{"task_type_parameters_Communication_user_io": 1}', "it must be a text"),
    ],
)
def test_invalid_values_are_errors(text: str, words: str) -> None:
    """The message has the key, the value and what is needed."""
    with pytest.raises(InputError, match=words):
        parse_grader_config(text, None)


def test_row_and_configuration_must_agree_on_the_type() -> None:
    """Their limits may differ, but not the task type."""
    with pytest.raises(InputError, match=r"the row says .* Batch, graders/grader_config.json says Communication; make"):
        parse(TaskType.BATCH, task_type="Communication")
    assert parse(TaskType.BATCH, task_type="batch").task_type is TaskType.BATCH


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_read_or_refused(text: str) -> None:
    """For any text, the result is a configuration or an error of ours."""
    try:
        parse_grader_config(text, None)
    except InputError:
        return


KEYS = [*COMMON, *COMMUNICATION, "task_type_params", "score_type", "task_type_parameters_Batch_compilation"]


@given(st.dictionaries(st.sampled_from(KEYS), st.none() | st.booleans() | st.integers() | st.floats() | st.text()))
def test_any_value_is_read_or_refused(values: dict[str, Any]) -> None:
    """The same for known keys with values of any type."""
    try:
        found = parse_grader_config(json.dumps(values), None)
    except InputError:
        return
    assert found.time_limit_s is None or found.time_limit_s > 0
    assert found.processes is None or found.processes >= 1
