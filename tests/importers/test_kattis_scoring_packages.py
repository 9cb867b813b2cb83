"""Kattis packages with scoring: what their test groups become, and what no subtask can express."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from tests.importers.kattis_packages import ANOTHER, ANY, SCORING, read, stated
from tests.importers.packages import loaded


def test_groups_become_subtasks(tmp_path: Path) -> None:
    """Each group scores its minimum. Samples are shown and worth 0 points. Expected grades are stated by group."""
    task = read(tmp_path, SCORING)
    problem = loaded(tmp_path, task)
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("sample", 0.0, ("sample/1",)),
        ("one", 30.0, ("secret/one/1",)),
        ("two", 70.0, ("secret/two/1", "secret/two/2")),
    ]
    assert (problem.key.id, problem.time_limit_s) == ("groups", 1.5)
    assert problem.tests["secret/two/2"].checker_args == ("case_sensitive",)
    assert problem.tests["sample/1"].checker_args == ()
    assert stated(task) == {
        "accepted/all.cpp": {"one": "AC", "two": "AC"},
        "partially_accepted/half.cpp": {"one": "AC", "two": "RE,MLE,SV"},
    }


def test_a_sum_of_tests_is_one_subtask_per_test(tmp_path: Path) -> None:
    """If a group stops at the first rejection, a test counts only if all earlier tests passed."""
    flags = {"data/secret/two/testdata.yaml": "accept_score: 35\non_reject: break\ngrader_flags: ''\n"}
    problem = loaded(tmp_path, read(tmp_path, SCORING, **flags))
    assert [(one.name, one.points, one.tests) for one in problem.subtasks[2:]] == [
        ("secret/two/1", 35.0, ("secret/two/1",)),
        ("secret/two/2", 35.0, ("secret/two/1", "secret/two/2")),
    ]
    going_on = flags["data/secret/two/testdata.yaml"].replace("break", "continue")
    problem = loaded(tmp_path, read(tmp_path / "b", SCORING, **{"data/secret/two/testdata.yaml": going_on}))
    assert [one.tests for one in problem.subtasks[2:]] == [("secret/two/1",), ("secret/two/2",)]


SUM_BELOW: dict[str, str | None] = {
    "data/secret/testdata.yaml": "grader_flags: sum\n",
    "data/sample/testdata.yaml": "grader_flags: min\naccept_score: 100\n",
}


def test_the_aggregation_with_ignored_samples_does_not_matter(tmp_path: Path) -> None:
    """With only the secret data left, sum, min and max are the same."""
    stated = {"data/testdata.yaml": "on_reject: continue\ngrader_flags: min ignore_sample\n", **SUM_BELOW}
    problem = loaded(tmp_path, read(tmp_path, SCORING, **stated))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0.0), ("one", 30.0), ("two", 70.0)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"problem.yaml": "validation: custom many-pass\n"}, "custom many-pass"),
        ({"problem.yaml": "validation: custom multi-pass interactive\n"}, "multi-pass problems that are interactive"),
        ({"problem.yaml": "type: submit-answer\n"}, "submit-answer"),
        ({"problem.yaml": "type: scoring\ngrading:\n  objective: min\n"}, "the objective 'min'"),
        ({"problem.yaml": "type: scoring\ngrading:\n  custom_scoring: true\n"}, "custom_scoring is not supported"),
        ({"data/secret/two/testdata.yaml": "grader_flags: max\n"}, "takes the max of its tests"),
        (
            {
                "data/secret/testdata.yaml": "grader_flags: min\n",
                "data/secret/two/testdata.yaml": "grader_flags: sum\n",
            },
            "each takes the min of its tests",
        ),
        (
            {
                "problem.yaml": "type: scoring\nvalidation: custom score\n",
                "output_validators/check.py": "",
                "data/secret/testdata.yaml": "grader_flags: min\n",
            },
            "all have the same points if the validator gives scores",
        ),
        (
            {
                "problem.yaml": "type: scoring\nvalidation: custom score\n",
                "output_validators/check.py": "",
                "data/secret/testdata.yaml": "on_reject: break\n",
            },
            "data/secret/two is judged only if the groups before it are accepted (on_reject: break), and has scores",
        ),
        (
            {
                "problem.yaml": "type: scoring\nvalidation: custom score\n",
                "output_validators/check.py": "",
                "data/secret/two/testdata.yaml": "on_reject: break\ngrader_flags: sum\nrange: 0 70\naccept_score: 35\n",
            },
            "data/secret/two sums scores of its own and breaks at the first rejection",
        ),
        ({"data/secret/testdata.yaml": "grader_flags: max\n"}, "takes the max of its groups"),
        (
            {"data/secret/testdata.yaml": "on_reject: break\n", "data/secret/one/testdata.yaml": ANY, **ANOTHER},
            "the group after data/secret/one is judged only if this one is accepted, and this one has accept_if_any",
        ),
        ({"data/secret/two/testdata.yaml": "grader_flags: avg\non_reject: break\n"}, "without on_reject: break avg"),
        ({"data/secret/two/testdata.yaml": "grader_flags: median\n"}, "'median'"),
        ({"data/testdata.yaml": "grader_flags: min\n", **SUM_BELOW}, "the min of its groups; the sum of samples and"),
        ({"data/testdata.yaml": "grader_flags: max\n", **SUM_BELOW}, "the max of its groups; the sum of samples and"),
        ({"data/secret/two/testdata.yaml": "reject_score: 1\n"}, "reject_score"),
        ({"data/secret/two/testdata.yaml": "grading: custom\n"}, "else state the points with grading: default"),
        ({"data/secret/3.in": "", "data/secret/3.ans": ""}, "both tests and groups"),
        (
            {"include/cpp/runner.cpp": "// no fork()\nint twice() { return fork(); }\n"},
            "include/cpp/runner.cpp starts a program (fork)",
        ),
    ],
)
def test_rules_that_no_minimum_can_express_are_refused(
    tmp_path: Path, changes: dict[str, str | None], words: str
) -> None:
    """The message has the rule. Nothing is scored."""
    with pytest.raises(UnsupportedError, match=re.escape(words)):
        read(tmp_path, SCORING, **changes)


def test_settings_of_problem_yaml_have_precedence_over_groups(tmp_path: Path) -> None:
    """As in problemtools, where old packages can give them for all groups."""
    changes = {"problem.yaml": "type: scoring\ngrading: {accept_score: 20, on_reject: first_error}\n"}
    changes["data/secret/two/testdata.yaml"] = "accept_score: 70\ngrader_flags: sum\non_reject: continue\n"
    rows = read(tmp_path, SCORING, **changes).problem_rows
    assert [(row["subtask"], row["score"], row["test_names"]) for row in rows[1:]] == [
        ("one", 20, ["sample/1", "secret/one/1"]),
        ("secret/two/1", 20, ["sample/1", "secret/one/1", "secret/two/1"]),
        ("secret/two/2", 20, ["sample/1", "secret/one/1", "secret/two/1", "secret/two/2"]),
    ]
    changes["problem.yaml"] = "type: scoring\ngrading: {on_reject: worst_error}\n"
    assert read(tmp_path / "b", SCORING, **changes).problem_rows[1]["test_names"] == ["secret/one/1"]


def test_points_of_submissions_that_fail_a_test(tmp_path: Path) -> None:
    """Kattis gives them no points, unless the outer groups are accepted all the same. A note says so."""
    changes = {"data/secret/testdata.yaml": "grader_flags: first_error\n"}
    task = read(tmp_path, SCORING, **changes)
    assert [note for note in task.notes if note.startswith("Kattis gives no points to a submission that fails a test")]
    assert not [note for note in read(tmp_path / "b", SCORING).notes if note.startswith("Kattis gives")]


def test_an_unknown_policy_in_the_problem_s_own_settings(tmp_path: Path) -> None:
    """It has no effect in problemtools. (`continue` is a word of `testdata.yaml`.)"""
    changes = {"problem.yaml": "type: scoring\ngrading: {on_reject: continue}\n"}
    assert "on_reject of grading in problem.yaml is 'continue', which is not known and has no effect" in (
        read(tmp_path, SCORING, **changes).notes
    )
    known = {"problem.yaml": "type: scoring\ngrading: {on_reject: worst_error}\n"}
    assert not [note for note in read(tmp_path / "b", SCORING, **known).notes if note.startswith("on_reject")]


def test_a_package_for_domjudge_scores_each_group_once(tmp_path: Path) -> None:
    """DOMjudge's tag for points shows it. In other packages each test of a group that sums has the group's points."""
    summed = {"data/secret/two/testdata.yaml": "grader_flags: sum\naccept_score: 35\n"}
    points = [one.points for one in loaded(tmp_path, read(tmp_path / "a", SCORING, **summed)).subtasks]
    assert points == [0, 30, 35, 35]
    stated = "// @EXPECTED_RESULTS@: WRONG-ANSWER\n// @EXPECTED_SCORE@: {}\n"
    tagged = {f"submissions/partial/{name}.cpp": stated.format(name) for name in ("30", "21.43")}
    task = read(tmp_path / "b", SCORING, **summed, **tagged)
    assert [one.points for one in loaded(tmp_path / "c", task).subtasks] == [0, 30, 35]
    counted = {"data/testdata.yaml": "on_reject: continue\n"}  # samples count too, but are worth 0 points
    task = read(tmp_path / "d", SCORING, **summed, **tagged, **counted)
    assert [one.points for one in loaded(tmp_path / "e", task).subtasks] == [0, 30, 35]
    rows = {row["label"]: row for row in task.solution_rows}
    assert (rows["partial/30.cpp"]["expected"], rows["partial/30.cpp"]["expected_total"]) == ("WA", 30)
    assert "expected_total" not in rows["partial/21.43.cpp"]
    assert any("each group gets its points once" in note for note in task.notes)


def test_old_packages_for_kattis_with_the_same_tag(tmp_path: Path) -> None:
    """A package is not for DOMjudge if a submission is expected to get more points than DOMjudge gives."""
    files = {
        "data/secret/two/testdata.yaml": "grader_flags: sum\naccept_score: 35\n",
        "submissions/accepted/all.cpp": "// @EXPECTED_SCORE@: 100\nint main() {}\n",
    }
    task = read(tmp_path, SCORING, **files)
    assert [one.points for one in loaded(tmp_path / "rows", task).subtasks] == [0, 30, 35, 35]
    assert not any("DOMjudge scores" in note for note in task.notes)


def test_unknown_settings(tmp_path: Path) -> None:
    """A misspelt setting would change the points."""
    task = read(tmp_path, SCORING, **{"data/secret/testdata.yaml": "acept_score: 5\ngrader_flags: always_accept\n"})
    assert "settings of test groups that the format does not have are not read: acept_score" in task.notes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"data/secret/two/testdata.yaml": f"accept_score: 1{'0' * 400}\ngrader_flags: min\n"},
            "accept_score of data/secret/two is 10{400}; it must be a number",
        ),
        (
            {"problem.yaml": "type: scoring\ngrading:\n  on_reject: [grade]\n"},
            r"on_reject of grading in problem.yaml is \['grade'\]; it must be a text",
        ),
    ],
)
def test_settings_that_are_no_usable_value(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """The import ends with a message, also if a number is too large for a float."""
    with pytest.raises(InputError, match=words):
        read(tmp_path, SCORING, **changes)


TAGGED = {"submissions/accepted/all.cpp": "// @EXPECTED_SCORE@: 100\nint main() {}\n"}


def test_scores_of_a_validator_for_domjudge(tmp_path: Path) -> None:
    """A group with only a `range`, as in DOMjudge's own example, has the points that the validator gives."""
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        "data/secret/one/testdata.yaml": "range: 0 30\non_reject: continue\n",
        "data/secret/two/testdata.yaml": "range: 0 70\ngrader_flags: min\n",
        **TAGGED,
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0.0), ("one", 30.0), ("two", 70.0)]
    assert {name: test.full_score for name, test in problem.tests.items()} == {
        **{"sample/1": 0, "secret/one/1": 30, "secret/two/1": 70, "secret/two/2": 70}
    }
    for group, words in (
        ("range: 0 70\n", "data/secret/two has one range for the sum of several tests' scores"),
        ("range: all\ngrader_flags: min\n", "range of data/secret/two is 'all'; it must be two numbers"),
    ):
        changes["data/secret/two/testdata.yaml"] = group
        with pytest.raises(InputError, match=words):
            read(tmp_path / words[:8], SCORING, **changes)


def test_points_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    """Also where the expected points of submissions are compared with them."""
    with pytest.raises(InputError, match="accept_score"):
        read(tmp_path, SCORING, **{"data/secret/one/testdata.yaml": "accept_score: [30]\n"}, **TAGGED)


def test_groups_without_points(tmp_path: Path) -> None:
    """For DOMjudge a group without `accept_score` has 0 points. If all have 0, the package is refused."""
    groups = dict.fromkeys(("data/secret/one/testdata.yaml", "data/secret/two/testdata.yaml"))
    with pytest.raises(InputError, match="no group of tests is worth points; state accept_score"):
        read(tmp_path, SCORING, **groups, **TAGGED)


def test_a_group_whose_tests_are_missing(tmp_path: Path) -> None:
    """Full marks would be fewer than the package's. A group that is worth nothing may be empty."""
    three = "data/secret/three/testdata.yaml"
    with pytest.raises(InputError, match="data/secret/three has a configuration and no tests"):
        read(tmp_path, SCORING, **{three: "accept_score: 20\nrange: 0 20\n"})
    task = read(tmp_path / "nothing", SCORING, **{three: "accept_score: 0\n"})
    assert [row["subtask"] for row in task.problem_rows] == ["sample", "one", "two"]


def test_the_minimum_over_groups_is_one_subtask(tmp_path: Path) -> None:
    """If groups get all or nothing, the minimum is the points of the cheapest group, given if all tests pass."""
    problem = loaded(tmp_path, read(tmp_path, SCORING, **{"data/secret/testdata.yaml": "grader_flags: min\n"}))
    subtasks = [(one.name, one.points, one.tests) for one in problem.subtasks]
    assert subtasks[1:] == [("secret", 30, ("secret/one/1", "secret/two/1", "secret/two/2"))]


def test_grades_for_another_number_of_groups_are_ignored(tmp_path: Path) -> None:
    """A comment with grades for too few or too many groups is noted and left out."""
    task = read(tmp_path, SCORING, **{"submissions/mixed/x.cpp": "// @EXPECTED_GRADES@ AC"})
    assert task.notes == ("submissions/mixed/x.cpp states 1 grades for 2 test groups: they are not compared",)
    stated = {row["label"]: row.get("expected_subtasks") for row in task.solution_rows}
    assert not stated["mixed/x.cpp"]


def test_scores_in_points_are_parts_of_the_group(tmp_path: Path) -> None:
    """Without its own grader, a validator's score is in points, up to the points of the group."""
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert {name: test.full_score for name, test in problem.tests.items()} == {
        **{"sample/1": 0, "secret/one/1": 30, "secret/two/1": 70, "secret/two/2": 70}
    }
    changes["data/secret/one/testdata.yaml"] = "range: 0 40\n"  # of its only test
    changes["data/secret/two/testdata.yaml"] = "grader_flags: min\nrange: 0 60\n"
    problem = loaded(tmp_path / "ranges", read(tmp_path / "ranges", SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0), ("one", 40), ("two", 60)]
    assert problem.tests["secret/one/1"].full_score == 40
    changes["data/secret/one/testdata.yaml"] = "grader_flags: min\naccept_score: 30\nrange: 0 40\n"
    with pytest.raises(UnsupportedError, match=r"scores of its own within 0 40.*: state the most points of a test"):
        read(tmp_path / "b", SCORING, **changes)


SCORES: dict[str, str | None] = {
    "problem.yaml": "type: scoring\nvalidation: custom score\n",
    "output_validators/check.py": "import sys\nsys.exit(42)\n",
    "data/secret/one/testdata.yaml": "range: 0 30\n",
}


@pytest.mark.parametrize(
    "inherited",
    [
        {"data/secret/testdata.yaml": "range: 0 100\ngrader_flags: sum\n"},
        {"problem.yaml": "type: scoring\nvalidation: custom score\ngrading:\n  range: 0 100\n"},
    ],
)
def test_an_inherited_range_is_not_that_of_one_of_several_groups(
    tmp_path: Path, inherited: dict[str, str | None]
) -> None:
    """It is the range of their sum: no group has that many points, and the most points of a group are not known."""
    changes = {**SCORES, "data/secret/two/testdata.yaml": "grader_flags: min\n", **inherited}
    with pytest.raises(UnsupportedError, match=r"has scores of its own within 0 100 and an accept_score of 1"):
        read(tmp_path, SCORING, **changes)
    alone: dict[str, str | None] = {path: None for path in SCORING if path.startswith("data/secret/one/")}
    problem = loaded(tmp_path / "alone", read(tmp_path / "alone", SCORING, **{**changes, **alone}))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0), ("two", 100)]


def test_a_range_of_the_problem_that_is_not_the_sum_of_the_groups(tmp_path: Path) -> None:
    """A note says so: the package contradicts itself, or its groups are read in another way than they are meant."""
    assert not read(tmp_path, SCORING).notes
    samples_count = "on_reject: continue\nrange: 0 100\n"  # each is worth a point by default
    assert read(tmp_path / "samples", SCORING, **{"data/testdata.yaml": samples_count}).notes == (
        "full marks are 101 points, as the groups are worth that together; the range of data/ ends at 100",
    )
    unbounded = f"{samples_count.replace('100', 'inf')}grader_flags: ignore_sample\n"
    assert not read(tmp_path / "unbounded", SCORING, **{"data/testdata.yaml": unbounded}).notes


def test_an_inherited_range_in_a_package_for_domjudge(tmp_path: Path) -> None:
    """The samples are worth nothing then, and a secret group needs points or a range of its own."""
    changes = {**SCORES, "problem.yaml": "type: scoring\nvalidation: custom\n", **TAGGED}
    changes["data/secret/two/testdata.yaml"] = "grader_flags: min\n"
    with pytest.raises(UnsupportedError, match="data/secret/two states neither accept_score nor range"):
        read(tmp_path, SCORING, **changes)
    changes["data/secret/two/testdata.yaml"] = "grader_flags: min\nrange: 0 70\n"
    problem = loaded(tmp_path / "own", read(tmp_path / "own", SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0), ("one", 30), ("two", 70)]


def test_samples_without_a_range_may_be_several(tmp_path: Path) -> None:
    """They are worth nothing, though their scores are summed."""
    changes = {
        **SCORES,
        **TAGGED,
        "problem.yaml": "type: scoring\nvalidation: custom\n",
        "data/testdata.yaml": "on_reject: continue\ngrader_flags: ignore_sample\n",
        "data/secret/two/testdata.yaml": "grader_flags: min\nrange: 0 70\n",
        "data/sample/2.in": "",
        "data/sample/2.ans": "",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.points, len(one.tests)) for one in problem.subtasks] == [(0, 2), (30, 1), (70, 2)]


def test_a_range_of_a_sum_is_that_of_all_its_tests(tmp_path: Path) -> None:
    """If it is smaller than their `accept_score`s together, full marks of a test are not known, and it is refused."""
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        "data/secret/two/testdata.yaml": "grader_flags: sum\naccept_score: 35\nrange: 0 70\non_reject: continue\n",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert {name: test.full_score for name, test in problem.tests.items() if name.startswith("secret/two/")} == {
        "secret/two/1": 35,
        "secret/two/2": 35,
    }
    changes["data/secret/two/testdata.yaml"] = changes["data/secret/two/testdata.yaml"].replace("35", "70")
    with pytest.raises(UnsupportedError, match=r"two has .* accept_score of 70 for each of 2 tests"):
        read(tmp_path / "b", SCORING, **changes)


def test_a_group_after_one_that_stops(tmp_path: Path) -> None:
    """It has points only if all earlier groups pass; also samples, if the whole problem stops."""
    changes = {"data/testdata.yaml": "on_reject: break\ngrader_flags: ignore_sample\n"}
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes, **ANOTHER))
    one = ("sample/1", "secret/one/1", "secret/one/2")
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("sample", 0.0, ("sample/1",)),
        ("one", 30.0, one),
        ("two", 70.0, (*one, "secret/two/1", "secret/two/2")),
    ]


def test_means_become_shares(tmp_path: Path) -> None:
    """Of tests in a group, and of groups in a group."""
    changes = {
        "data/secret/testdata.yaml": "grader_flags: avg\n",
        "data/secret/two/testdata.yaml": "grader_flags: avg\naccept_score: 100\n",
        "data/secret/one/testdata.yaml": "grader_flags: avg\naccept_score: 100\non_reject: break\n",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks[1:]] == [
        ("one", 50.0),
        ("secret/two/1", 25.0),
        ("secret/two/2", 25.0),
    ]
