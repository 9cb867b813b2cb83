"""Problem packages in the Kattis format since version 2025-09."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.model import Batch, CheckerProtocol, Tokens
from tests.importers.kattis_packages import GROUP, PASS_FAIL, SCORING, read
from tests.importers.packages import loaded
from tests.small_problems import checker_of, manager_of

NEW: dict[str, str | None] = {
    "problem.yaml": "problem_format_version: 2025-09\nname: {en: New}\nlimits: {time_limit: 1.0}\ntype: scoring\n",
    "data/secret/test_group.yaml": "score_aggregation: sum\n",
    "data/secret/one/test_group.yaml": "max_score: 30\noutput_validator_args: [float_tolerance, '1e-3']\n",
    "data/secret/two/test_group.yaml": "max_score: 70\nscore_aggregation: sum\nrequire_pass: [sample, secret/one]\n",
    "data/invalid_input/no.in": "no answer",
    **{
        f"data/{name}.{end}": "1\n"
        for name in ("sample/1", "secret/one/1", "secret/two/1", "secret/two/2")
        for end in ("in", "ans")
    },
}

CHECK = {"output_validator/check.py": "import sys\nsys.exit(42)\n"}


@pytest.mark.parametrize("name", ["output_validator/.gitkeep", "output_validators/README.md"])
def test_a_directory_for_validators_without_programs(tmp_path: Path, name: str) -> None:
    """Git keeps no empty directories. The default validator is used."""
    task = read(tmp_path, NEW, **{name: ""})
    assert {row["checker_protocol"] for row in task.problem_rows} == {"tokens"}
    legacy = read(tmp_path / "b", PASS_FAIL, **{name: ""})
    assert not [note for note in legacy.notes if "output validator" in note]


@pytest.mark.parametrize(
    ("name", "title"),
    [("{de: Neu, en: New}", "New"), ("{de: Neu, fr: Nouveau}", "Neu"), ("Neu", "Neu"), ("{}", "sums")],
)
def test_the_name_in_several_languages(tmp_path: Path, name: str, title: str) -> None:
    """The English one, if there is one."""
    problem = f"problem_format_version: 2025-09\nname: {name}\nlimits: {{time_limit: 1.0}}\ntype: scoring\n"
    assert {row["name"] for row in read(tmp_path, NEW, **{"problem.yaml": problem}).problem_rows} == {title}


def test_a_group_without_tests(tmp_path: Path) -> None:
    """It is left out if it is worth nothing, as in earlier versions; otherwise full marks would be fewer."""
    three = "data/secret/three/test_group.yaml"
    with pytest.raises(InputError, match="data/secret/three has a configuration and no tests, so full marks would be"):
        read(tmp_path, NEW, **{three: "max_score: 5\n"})
    rows = read(tmp_path / "nothing", NEW, **{three: "max_score: 0\n"}).problem_rows
    assert rows == read(tmp_path / "without", NEW).problem_rows


def test_groups_of_a_draft(tmp_path: Path) -> None:
    """Points are in `testdata.yaml`, as in earlier versions, so groups are read as in those."""
    changes = {"problem.yaml": f"problem_format_version: 2023-07-draft\n{SCORING['problem.yaml']}"}
    assert [(row["subtask"], row["score"]) for row in read(tmp_path, SCORING, **changes).problem_rows] == [
        ("sample", 0),
        ("one", 30),
        ("two", 70),
    ]


@pytest.mark.parametrize(
    ("one", "points"), [("accept_score: 30\n", 30), ("range: 0 30\n", 1), ("grader_flags: sum\n", 1)]
)
def test_one_group_of_a_draft_is_enough(tmp_path: Path, one: str, points: int) -> None:
    """If one group has a setting of earlier versions, all groups are read as in those."""
    others = dict.fromkeys(("data/testdata.yaml", "data/secret/testdata.yaml", "data/secret/two/testdata.yaml"))
    changes = {"problem.yaml": f"problem_format_version: 2023-07-draft\n{SCORING['problem.yaml']}"}
    rows = read(tmp_path, SCORING, **others, **changes, **{"data/secret/one/testdata.yaml": one}).problem_rows
    assert [(row["subtask"], row["score"]) for row in rows] == [
        ("sample", 1),
        ("one", points),
        ("secret/two/1", 1),
        ("secret/two/2", 1),
    ]


def test_a_validator_of_a_draft_may_give_scores(tmp_path: Path) -> None:
    """In points, as in earlier versions with `validation: custom score`; drafts do not say whether it gives any."""
    changes = {
        "problem.yaml": f"problem_format_version: 2023-07-draft\n{SCORING['problem.yaml']}",
        "output_validators/check.py": "exit(42)\n",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0), ("one", 30), ("two", 70)]
    assert problem.tests["secret/one/1"].full_score == 30
    with pytest.raises(UnsupportedError, match="one has scores of its own within 0 40"):
        read(tmp_path / "b", SCORING, **changes, **{"data/secret/one/testdata.yaml": GROUP.format(30, 40)})


def test_flags_of_a_draft(tmp_path: Path) -> None:
    """Flags of Kattis's default grader alone show too that points are given as before 2025; by default one point."""
    yaml = "problem_format_version: 2023-07-draft\nlimits: {time_limit: 1.0}\ntype: scoring\n"
    changes = {"problem.yaml": yaml, ".timelimit": None, "data/testdata.yaml": "grader_flags: ignore_sample\n"}
    rows = read(tmp_path, PASS_FAIL, **changes, **{"data/secret/testdata.yaml": "grader_flags: min\n"}).problem_rows
    assert [(row["subtask"], row["score"]) for row in rows] == [("sample", 0), ("secret", 1)]
    with pytest.raises(InputError, match="data/secret has grading "):
        read(tmp_path, PASS_FAIL, **changes, **{"data/secret/testdata.yaml": "grading: {score: 20}\n"})


def test_groups_since_2025(tmp_path: Path) -> None:
    """Aggregations and required groups. Nothing is inherited from `secret`."""
    problem = loaded(tmp_path, read(tmp_path, NEW))
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("sample", 0.0, ("sample/1",)),
        ("one", 30.0, ("secret/one/1",)),
        ("secret/two/1", 35.0, ("sample/1", "secret/one/1", "secret/two/1")),
        ("secret/two/2", 35.0, ("sample/1", "secret/one/1", "secret/two/2")),
    ]
    assert problem.tests["secret/one/1"].checker_args == ("float_tolerance", "1e-3")
    assert problem.tests["secret/two/1"].checker_args == ()
    assert problem.method == Batch(check=Tokens())


@pytest.mark.parametrize(("version", "noted"), [("2025-09", False), ("2025-09-draft", False), ("2031-01", True)])
def test_versions_that_are_not_known_are_noted(tmp_path: Path, version: str, noted: bool) -> None:
    """A later version may have other rules."""
    task = read(tmp_path, NEW, **{"problem.yaml": str(NEW["problem.yaml"]).replace("2025-09", version)})
    assert (f"version {version} of the format is not known" in "".join(task.notes)) == noted


def test_arguments_of_one_test(tmp_path: Path) -> None:
    """They replace those of its group, also if there are none. Tests without them keep the group's."""
    changes: dict[str, str | None] = {
        "data/secret/two/test_group.yaml": "max_score: 70\noutput_validator_args: [case_sensitive]\n",
        "data/secret/two/2.yaml": "output_validator_args: [float_tolerance, '1e-2']\n",
        "data/secret/one/1.yaml": "description: easy\noutput_validator_args: []\n",
        "data/sample/1.yaml": "output_validator_args: [space_change_sensitive]\n",
    }
    problem = loaded(tmp_path, read(tmp_path, NEW, **changes))
    assert {name: test.checker_args for name, test in problem.tests.items()} == {
        "sample/1": ("space_change_sensitive",),
        "secret/one/1": (),
        "secret/two/1": ("case_sensitive",),
        "secret/two/2": ("float_tolerance", "1e-2"),
    }


@pytest.mark.parametrize("file", ["data/test_group.yaml", "data/testdata.yaml"])
def test_arguments_of_all_groups(tmp_path: Path, file: str) -> None:
    """BAPCtools puts them in `data/`, where the format has no settings; correct programs were WA without them."""
    stated = "output_validator_args: [float_tolerance, '1e-6']\n"
    task = read(tmp_path, NEW, **{file: stated, "data/secret/two/2.yaml": "output_validator_args: []\n"})
    assert {name: test.checker_args for name, test in loaded(tmp_path, task).tests.items()} == {
        "sample/1": ("float_tolerance", "1e-6"),
        "secret/one/1": ("float_tolerance", "1e-3"),
        "secret/two/1": ("float_tolerance", "1e-6"),
        "secret/two/2": (),
    }
    assert not [note for note in task.notes if "output_validator_args" in note]


def test_arguments_of_secret_tests(tmp_path: Path) -> None:
    """A group with a file of its own does not inherit them, as in the format; with BAPCtools it would."""
    task = read(tmp_path, NEW, **{"data/secret/test_group.yaml": "output_validator_args: [case_sensitive]\n"})
    assert loaded(tmp_path, task).tests["secret/two/1"].checker_args == ()
    assert [note.partition(", as")[0] for note in task.notes if "output_validator_args" in note] == [
        "output_validator_args of data/secret does not apply to data/secret/two"
    ]


def test_settings_of_data_that_is_not_judged(tmp_path: Path) -> None:
    """What only tests the package may have arguments, files and lists of anything."""
    changes = {
        "data/invalid_input/no.yaml": "args: [a]\n",
        "data/invalid_output/list.yaml": "- a\n",
        "data/invalid_answer/no.files/map.txt": "x",
    }
    assert read(tmp_path, NEW, **changes).problem_rows == read(tmp_path / "b", NEW).problem_rows


def test_required_groups_are_transitive(tmp_path: Path) -> None:
    """A group that is not run is not passed, so later groups also require what it requires."""
    changes = {
        "data/secret/test_group.yaml": "require_pass: sample\n",
        "data/secret/two/test_group.yaml": "max_score: 30\nrequire_pass: secret/one\n",
        "data/secret/zero/test_group.yaml": "max_score: 40\nrequire_pass: [secret/two]\n",
        "data/secret/zero/1.in": "",
        "data/secret/zero/1.ans": "",
    }
    assert {row["subtask"]: row["test_names"] for row in read(tmp_path, NEW, **changes).problem_rows} == {
        "sample": ["sample/1"],
        "one": ["sample/1", "secret/one/1"],
        "two": ["sample/1", "secret/one/1", "secret/two/1", "secret/two/2"],
        "zero": ["sample/1", "secret/one/1", "secret/two/1", "secret/two/2", "secret/zero/1"],
    }


@pytest.mark.parametrize(
    ("secret", "subtasks"),
    [
        ("require_pass: sample\n", {"secret/2": 50.0, "secret/one/1": 50.0}),
        ("require_pass: sample\nscore_aggregation: pass-fail\n", {"secret": 100}),
    ],
)
def test_secret_tests_that_require_the_samples(tmp_path: Path, secret: str, subtasks: dict[str, float]) -> None:
    """Without groups: a submission that fails a sample gets no points."""
    changes: dict[str, str | None] = {
        "data/secret/test_group.yaml": secret,
        "data/secret/2.in": "",
        "data/secret/2.ans": "",
    }
    without = dict.fromkeys(name for name in NEW if name.startswith("data/secret/two") or "one/test_group" in name)
    rows = read(tmp_path, {**NEW, **without}, **changes).problem_rows[1:]
    assert {row["subtask"]: row["score"] for row in rows} == subtasks
    assert all(row["test_names"][0] == "sample/1" for row in rows)


def test_a_static_validator_of_a_pass_fail_problem(tmp_path: Path) -> None:
    """It is refused, because it could reject a submission that passes the tests."""
    yaml = "problem_format_version: 2025-09\nname: New\nlimits: {time_limit: 1.0}\n"
    group = {"data/secret/test_group.yaml": "static_validation_score: pass-fail\n"}
    with pytest.raises(InputError, match=r"data/secret/test_group\.yaml states a static validation test case"):
        read(tmp_path, PASS_FAIL, **{"problem.yaml": yaml, ".timelimit": None, **group})


@pytest.mark.parametrize(("kind", "task_type"), [("pass-fail", "Batch"), ("[interactive]", "Interactive")])
def test_an_existing_validator_is_used_since_2023(tmp_path: Path, kind: str, task_type: str) -> None:
    """problem.yaml does not mention it any more."""
    yaml = f"problem_format_version: 2023-07-draft\nname: New\nlimits: {{time_limit: 1.0}}\ntype: {kind}\n"
    problem = loaded(tmp_path, read(tmp_path, PASS_FAIL, **{"problem.yaml": yaml, ".timelimit": None, **CHECK}))
    assert problem.task_type == task_type
    judge = checker_of(problem) if task_type == "Batch" else manager_of(problem)
    assert judge.protocol is CheckerProtocol.KATTIS
    assert [one.name for one in problem.subtasks] == ["all"]


@pytest.mark.parametrize(
    ("stated", "task_type", "passes"), [("custom interactive", "Interactive", None), ("custom multi-pass", "Batch", 2)]
)
def test_validation_of_a_draft(tmp_path: Path, stated: str, task_type: str, passes: int | None) -> None:
    """Drafts of 2023-07 had `validation` too, with the words that are in `type` since then."""
    yaml = f"problem_format_version: 2023-07-draft\nlimits: {{time_limit: 1}}\ntype: pass-fail\nvalidation: {stated}\n"
    row = read(tmp_path, PASS_FAIL, **{"problem.yaml": yaml, ".timelimit": None, **CHECK}).problem_rows[0]
    assert (row["task_type"], row["passes"]) == (task_type, passes)


def test_a_part_of_a_pass_is_refused(tmp_path: Path) -> None:
    """Rounded, it would be another number of passes than the package states."""
    yaml = "problem_format_version: 2025-09\ntype: multi-pass\nlimits: {validation_passes: %s}\n"
    task = read(tmp_path / "whole", PASS_FAIL, **{"problem.yaml": yaml % 3, **CHECK})
    assert loaded(tmp_path, task).method.passes == 3
    with pytest.raises(InputError, match=r"passes is 2\.5; it must be a whole number"):
        read(tmp_path / "part", PASS_FAIL, **{"problem.yaml": yaml % 2.5, **CHECK})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem.yaml": "problem_format_version: 2023-07\nvalidation: {interactive: true}\n"}, "validation"),
        ({"problem.yaml": "problem_format_version: 2025-09\ntype: [scoring, multi-pass]\n"}, "multi-pass problems"),
        ({"problem.yaml": "problem_format_version: 2025-09\ntype: submit-answer\n"}, "type submit-answer"),
        ({"data/secret/one/1.yaml": "args: [fast]\n"}, "data/secret/one/1.yaml states args"),
        ({"data/secret/one/1.yaml": "output_validator_args: x\n"}, "data/secret/one/1.yaml: output_validator_args is"),
        ({"data/secret/one/1.files/map.txt": "x"}, "data/secret/one/1.files/map.txt is a file for the submission"),
        ({"data/secret/one/test_group.yaml": ""}, "data/secret/one has no max_score"),
        ({"data/secret/one/test_group.yaml": "max_score: 31\n"}, "worth 101 points, more than its max_score 100"),
        ({"data/secret/one/test_group.yaml": "max_score: lots\n"}, "max_score of data/secret/one is 'lots'"),
        ({"data/secret/one/test_group.yaml": f"max_score: 1{'0' * 400}\n"}, "000; it must be a number"),
        ({"data/secret/one/test_group.yaml": "max_score: 1\nrequire_pass: six\n"}, "requires 'six', which is no"),
        ({"data/secret/one/test_group.yaml": "max_score: 1\nrequire_pass: 1\n"}, "requires 1, which is not"),
        ({"data/secret/one/test_group.yaml": "max_score: 1\nrequire_pass: [[six]]\n"}, "requires ['six'], which is no"),
        ({"data/secret/one/test_group.yaml": "max_score: 1\nrequire_pass: secret/two\n"}, "not a test group before it"),
        ({"data/secret/one/test_group.yaml": "max_score: 1\nstatic_validation_score: 1\n"}, "static validation"),
        ({"data/secret/test_group.yaml": "score_aggregation: min\n"}, "takes the min of its groups"),
        ({"data/secret/test_group.yaml": "score_aggregation: max\n"}, "score_aggregation of data/secret is 'max'"),
        ({"data/secret/3.in": "", "data/secret/3.ans": ""}, "holds test groups and other tests"),
        ({name: None for name in NEW if name.startswith("data/secret")}, "there is no test in data/secret/"),
        (CHECK, "takes the sum of scores that the package's output validator gives"),
    ],
)
def test_unsupported_features_since_2025(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """The message has the feature. Nothing is scored."""
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, NEW, **changes)
