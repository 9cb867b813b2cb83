"""Filters and samples: they select the right problems and change no id."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.apps.dump_reader import survey
from ioi_eval.errors import InputError, NotReadWarning
from ioi_eval.problems.apps import read_ids, read_rows
from ioi_eval.problems.apps_selection import ProblemSelection, Sampling, choose
from ioi_eval.rows import open_source

ROWS = [(str(100 + index), ("introductory", "interview", "competition")[index % 7 % 3]) for index in range(70)]


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """A split whose even rows have no id."""
    lines = []
    for index in range(20):
        row = {
            "input_output": {"inputs": ["1"], "outputs": [str(index)]},
            "difficulty": ["Interview", "competition"][index % 2],
        }
        lines.append(json.dumps(row if index % 2 == 0 else {**row, "problem_id": 1000 + index}))
    path = tmp_path / "apps.jsonl"
    path.write_text("\n".join(lines))
    return path


def ids(split: Path, selection: ProblemSelection) -> list[str]:
    """The ids of the selected rows."""
    source = open_source(split)
    chosen = choose(read_ids(source), selection, source.describe())
    return [problem.id for problem in read_rows(source, chosen)]


def test_misspelled_optional_columns_are_named(tmp_path: Path) -> None:
    """Of the data set, and of a dump: its programs would have no names, and none would be refused as C++."""
    problems, dump = tmp_path / "problems.jsonl", tmp_path / "dump.jsonl"
    problems.write_text('{"input_output": "{}", "dificulty": "interview"}\n')
    with pytest.warns(
        NotReadWarning, match=r"problems\.jsonl: column dificulty is not read. Did you mean difficulty\?"
    ):
        read_ids(open_source(problems))
    dump.write_text('{"problem_id": "1", "code": "", "uid": "a", "Language": "C++"}\n')
    with pytest.warns(NotReadWarning) as warned:
        survey(open_source(dump))
    assert [str(one.message) for one in warned] == [
        f"{dump}: column uid is not read. Did you mean uuid?",
        f"{dump}: column Language is not read. Did you mean language?",
    ]
    dump.write_text('{"problem_id": "1", "code": "", "uuid": "a", "lang": "C++"}\n')
    with pytest.warns(NotReadWarning, match="column lang is not read. Did you mean language?"):
        survey(open_source(dump))


def test_of_contest_problems_nothing_else_is_said(tmp_path: Path) -> None:
    """A warning that `starting_code` may be misspelled, as contest problems have that column, would mislead."""
    problems = tmp_path / "problems.jsonl"
    problems.write_text('{"grader_files": [], "test_names": [], "starting_code": ""}\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotReadWarning)
        with pytest.raises(InputError, match="these are contest problems"):
            read_ids(open_source(problems))


def test_limits_that_are_not_used_are_named(tmp_path: Path) -> None:
    """Rows as in BAAI/TACO have limits of their own."""
    problems = tmp_path / "problems.jsonl"
    problems.write_text('{"id": 0, "input_output": "{}", "time_limit": "2.0 seconds", "memory_limit": null}\n')
    with pytest.warns(NotReadWarning) as warned:
        read_ids(open_source(problems))
    assert [str(one.message) for one in warned] == [
        f"{problems}: not used: time_limit, memory_limit; all problems have the limits of --timeout and --memory"
    ]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            ["task", "task"],
            "no row has problem_id or id, so the id of a problem is the position of its row, from 0; the columns are: "
            "task, input_output",
        ),
        (
            ["problemid", "problemid"],
            "no row has problem_id or id, or problem_id is misspelled as problemid, so the id of a problem is the "
            "position of its row, from 0; the columns are: problemid, input_output",
        ),
        (
            ["task", "id"],
            "the id of 1 of 2 problems, whose rows have no problem_id or id, is their position, from 0",
        ),
        (["problem_id", "id"], None),
    ],
)
def test_positions_as_ids_are_named(tmp_path: Path, columns: list[str], said: str | None) -> None:
    """If the ids are in another column, a program for problem 1 is judged on the tests of the row at position 1."""
    problems = tmp_path / "problems.jsonl"
    problems.write_text("".join(json.dumps({name: "1", "input_output": "{}"}) + "\n" for name in columns))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        read_ids(open_source(problems))
    assert [str(one.message) for one in warned] == ([f"{problems}: {said}"] if said else [])


def test_without_a_selection(split: Path) -> None:
    """Every row is selected, in order."""
    everything = [str(index if index % 2 == 0 else 1000 + index) for index in range(20)]
    assert ids(split, ProblemSelection()) == everything
    assert ids(split, ProblemSelection(limit=100)) == everything


def test_ids_are_stable(split: Path) -> None:
    """A selected row has the same id as in the whole split."""
    assert ids(split, ProblemSelection(difficulties=("INTERVIEW",), limit=3)) == ["0", "2", "4"]
    assert ids(split, ProblemSelection(difficulties=("competition",), limit=2)) == ["1001", "1003"]
    sampled = ids(split, ProblemSelection(limit=5, sampling=Sampling.RANDOM, seed=3))
    everything = ids(split, ProblemSelection())
    assert set(sampled) < set(everything)
    assert sampled == sorted(sampled, key=everything.index)


@pytest.mark.parametrize("name", ["1003", "apps_1003", " apps_1003 ", "01003"])
def test_by_id(split: Path, name: str) -> None:
    """Both forms of an id select it, also with leading zeros, as in a dump."""
    assert ids(split, ProblemSelection(ids=(name, "apps_4"))) == ["1003", "4"]


def test_filters_are_combined(split: Path) -> None:
    """With an id and a difficulty, a row must match both."""
    assert ids(split, ProblemSelection(ids=("4", "1003"), difficulties=("interview", "Competition"))) == ["1003", "4"]
    assert ids(split, ProblemSelection(ids=("4", "1003"), difficulties=("interview",))) == ["4"]


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (ProblemSelection(difficulties=("hard",)), "no problem of difficulty hard; there are: competition, interview"),
        (ProblemSelection(ids=("apps_7", "4")), "no problem of id 7;"),
        (ProblemSelection(ids=("1",), difficulties=("interview",)), "no problem of id 1;"),
    ],
)
def test_unknown_names_are_errors(split: Path, selection: ProblemSelection, words: str) -> None:
    """The error comes before judging; the result is not an empty selection."""
    with pytest.raises(InputError, match=words):
        ids(split, selection)


@pytest.mark.parametrize("limit", [0, -1])
def test_samples_below_one(limit: int) -> None:
    """A sample has at least one problem."""
    with pytest.raises(InputError, match="sample"):
        ProblemSelection(limit=limit)


@given(st.integers(1, 80), st.sampled_from(Sampling), st.integers(0, 5))
def test_samples(limit: int, sampling: Sampling, seed: int) -> None:
    """A sample has the requested size and is the same for the same seed. Strata get their shares."""
    selection = ProblemSelection(limit=limit, sampling=sampling, seed=seed)
    taken = choose(ROWS, selection, "rows")
    assert taken == choose(ROWS, selection, "rows")
    assert len(taken) == min(limit, len(ROWS))
    if sampling is Sampling.SEQUENTIAL:
        assert taken == set(range(len(taken)))
    if sampling is Sampling.STRATIFIED:
        for name in ("introductory", "interview", "competition"):
            share = sum(difficulty == name for _, difficulty in ROWS) * len(taken) / len(ROWS)
            assert abs(sum(ROWS[index][1] == name for index in taken) - share) < 1


def test_random_sample_equals_that_of_mcpbr() -> None:
    """With mcpbr's seed its users get the same problems."""
    assert choose(ROWS, ProblemSelection(limit=9, sampling=Sampling.RANDOM, seed=42), "rows") == set(
        random.Random(42).sample(range(70), 9)
    )


def test_seeds_differ() -> None:
    """Another seed gives another sample."""
    samples = {
        choose(ROWS, ProblemSelection(limit=9, sampling=Sampling.RANDOM, seed=seed), "rows") for seed in range(5)
    }
    assert len(samples) == 5


def test_rows_after_the_last_selected_one_are_not_parsed(split: Path) -> None:
    """Rows of the data set have megabytes."""
    with split.open("a") as file:
        file.write("\n{broken")
    source = open_source(split)
    assert [problem.id for problem in read_rows(source, {0, 1, 2})] == ["0", "1001", "2"]
    with pytest.raises(InputError):
        list(read_rows(source, range(21)))
