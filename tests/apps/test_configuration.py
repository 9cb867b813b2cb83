"""The configuration files of mcpbr."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.configuration import Configuration, read_configuration
from ioi_eval.apps.settings import TIME_LIMIT_S
from ioi_eval.cli.apps_options import AppsRules
from ioi_eval.compat import grader_named
from ioi_eval.errors import InputError
from ioi_eval.problems.apps_selection import Sampling


def test_known_keys_are_read(tmp_path: Path) -> None:
    """Other keys are named in a message."""
    path = tmp_path / "c.yaml"
    path.write_text(
        "benchmark: apps\nsample_size: 5\ntimeout_seconds: 180\nfilter_difficulty:\n  - interview\n"
        "sampling_strategy: stratified\nstratify_field: difficulty\nrandom_seed: 7\ntask_ids: [apps_4, 5]\n"
        "model: some-model\neval_timeout_seconds: 5\n1: 2\nmcp_server:\n  command: npx\n"
    )
    assert read_configuration(path) == Configuration(
        sample_size=5, timeout_seconds=180.0, filter_difficulty=("interview",), sampling_strategy=Sampling.STRATIFIED,
        random_seed=7, task_ids=("apps_4", "5"), unused=("model", "eval_timeout_seconds", "1", "mcp_server"),
    )  # fmt: skip
    path.write_text("")
    assert read_configuration(path) == Configuration()
    path.write_text("filter_difficulty: interview\nsample_size: null\n")
    assert read_configuration(path) == Configuration(filter_difficulty=("interview",))


def test_a_timeout_of_mcpbr_only_shortens_tests() -> None:
    """It is of a whole task there. An option for the time limit has precedence."""
    for compat, most in ((None, TIME_LIMIT_S), ("mcpbr", grader_named("mcpbr").per_test_s)):
        rules = AppsRules(compat=compat)
        limits = [
            rules.settings(Configuration(timeout_seconds=seconds), isolation=None).time_limit_s
            for seconds in (0.5, most + 1)
        ]
        assert limits == [0.5, most]
        stated = replace(rules, timeout=0.25).settings(Configuration(timeout_seconds=0.5), isolation=None)
        assert stated.time_limit_s == 0.25


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sample_size: 0", "sample_size is 0; it must be a whole number from 1 on"),
        ("sample_size: '5'", "sample_size is '5'"),
        ("sample_size: true", "sample_size is True"),
        ("timeout_seconds: -1", "timeout_seconds is -1; it must be a number of seconds above 0"),
        ("timeout_seconds: .nan", "timeout_seconds is nan"),
        ("filter_difficulty: [1]", "filter_difficulty is"),
        ("sampling_strategy: best", "sampling_strategy is 'best'; it must be one of sequential, random, stratified"),
        ("sample_sise: 5", r"mcpbr has no key 'sample_sise'\. Did you mean 'sample_size'\?"),
        ("Sample_Size: 5", r"mcpbr has no key 'Sample_Size'\. Did you mean 'sample_size'\?"),
        ("timeout_second: 5", r"mcpbr has no key 'timeout_second'\. Did you mean 'timeout_seconds'\?"),
        ("filter_dificulty: easy", r"mcpbr has no key 'filter_dificulty'\. Did you mean 'filter_difficulty'\?"),
        ("extends: base.yaml", "extends is not read here; put the keys of that file into this one"),
        ("benchmark: codecontests", "benchmark is 'codecontests'; it must be apps"),
        ("benchmark: [apps]", "benchmark is .*; it must be apps"),
        ("stratify_field: url", "stratify_field is 'url'; it must be difficulty"),
        ("task_ids: [true]", "task_ids is .*; it must be a list of ids, as 42 or apps_42"),
        ("[1]", "is not a table of names and values"),
        ("a: [", "cannot be read"),
        ("a: 2024-99-99", "cannot be read: month must be in 1..12"),
        (f"timeout_seconds: {10**400}", "timeout_seconds is .*; it must be a number of seconds above 0"),
        ("[" * 1000, "cannot be read"),
    ],
)
def test_errors_name_file_key_and_value(tmp_path: Path, text: str, words: str) -> None:
    """For example an unknown strategy."""
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"c\.yaml.*{words}"):
        read_configuration(path)


def test_a_missing_file(tmp_path: Path) -> None:
    """The message says so in the system's words."""
    with pytest.raises(InputError, match=r"configuration .*no\.yaml cannot be read: No such file or directory$"):
        read_configuration(tmp_path / "no.yaml")
