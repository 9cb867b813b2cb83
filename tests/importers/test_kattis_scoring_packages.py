"""Kattis packages with scoring: what their test groups become, and what no subtask can express."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from tests.full_isolation import require_full_isolation
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
    assert problem.tests["secret/two/2"].checker_args == ("fast",)
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
        ({"data/secret/two/testdata.yaml": "grading: custom\n"}, "'custom', by a program of its own"),
        ({"data/secret/3.in": "", "data/secret/3.ans": ""}, "both tests and groups"),
        ({"include/cpp/runner.cpp": "// no fork()\nint twice() { return fork(); }\n"}, "starts processes of its own"),
    ],
)
def test_rules_that_no_minimum_can_express_are_refused(
    tmp_path: Path, changes: dict[str, str | None], words: str
) -> None:
    """The message has the rule. Nothing is scored."""
    with pytest.raises(UnsupportedError) as caught:
        read(tmp_path, SCORING, **changes)
    assert words in str(caught.value)


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


GRADER = """
import sys
worth = int([flag for flag in sys.argv if flag.startswith("worth=")][0][6:])
words = sys.stdin.read().split()
print("AC", {})
"""

RULES: dict[str, tuple[str, set[int] | str]] = {
    "the lowest, rounded down": ("int(min(map(float, words[1::2])) * worth)", {0, 30, 70}),
    "the lowest": ("'%f' % (min(map(float, words[1::2])) * worth)", {0}),
    "the sum": ("int(sum(map(float, words[1::2])) * worth)", "gives 90.0 for"),
    "the mean": ("int(sum(map(float, words[1::2])) / len(words[1::2]) * worth)", "the lowest score times 30"),
    "the last": ("int(float(words[-1]) * worth)", "the lowest score times 30"),
    "to the nearest": ("round(min(map(float, words[1::2])) * worth)", "gives 30.0 for [('AC', 0.999)]"),
    "no number": ("None", "gives None for full marks"),
    "not a number": ("worth if min(map(float, words[1::2])) == 1 else 'nan'", "gives None for [('AC', 0.5)]"),
}


def test_an_own_grader_for_all_groups(tmp_path: Path) -> None:
    """If it is given for all groups at once, it must add up the points of groups. Otherwise it is refused."""
    require_full_isolation()
    adding = """
import sys
worth = next((int(flag[6:]) for flag in sys.argv if flag.startswith("worth=")), None)
scores = list(map(float, sys.stdin.read().split()[1::2]))
scores = scores[-1:] if "ignore_sample" in sys.argv else scores
print("AC", sum(scores) if worth is None else min(scores) * worth)
"""
    group = "grader_flags: min worth={0}\naccept_score: {0}\n"
    changes = {
        "data/testdata.yaml": "on_reject: continue\ngrading: custom\ngrader_flags: ignore_sample\n",
        "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n",
        "data/secret/one/testdata.yaml": group.format(30),
        "data/secret/two/testdata.yaml": group.format(70),
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        "graders/grader.py": adding,
    }
    problem = loaded(tmp_path, read(tmp_path / "a", SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0.0), ("one", 30.0), ("two", 70.0)]
    all_groups = {
        **changes,
        "data/testdata.yaml": "on_reject: continue\ngrading: custom\n",
        "data/sample/testdata.yaml": "grading: default\naccept_score: 0\nrange: 0 0\n",
        "graders/grader.py": adding.replace("scores[-1:]", "scores"),
    }
    assert [one.points for one in loaded(tmp_path, read(tmp_path / "b", SCORING, **all_groups)).subtasks] == [0, 30, 70]
    ignored = {"data/testdata.yaml": changes["data/testdata.yaml"]}  # the samples' points, which are 0, are added
    assert [
        one.points for one in loaded(tmp_path, read(tmp_path / "c", SCORING, **{**all_groups, **ignored})).subtasks
    ] == [0, 30, 70]
    for other in ("max(scores)", "float('nan')"):
        changes["graders/grader.py"] = adding.replace("sum(scores)", other)
        with pytest.raises(UnsupportedError, match=r", not \d+; the sum of groups is supported"):
            read(tmp_path / other, SCORING, **changes)
    changes["graders/grader.py"] = adding + 'print "AC 1"\n'
    with pytest.raises(
        UnsupportedError, match=r"graders/grader\.py is Python 2, which is not supported; rewrite it in"
    ):
        read(tmp_path / "old", SCORING, **changes)


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


@pytest.mark.parametrize("name", RULES)
def test_an_own_grader_is_run_on_examples(tmp_path: Path, name: str) -> None:
    """If its rule is the lowest score times the points, possibly rounded down, the rule is used. Otherwise it is
    refused.
    """
    require_full_isolation()
    rule, expected = RULES[name]
    flags = {"data/secret/one/testdata.yaml": "grading: custom\ngrader_flags: min worth=30\n"}
    flags["data/secret/two/testdata.yaml"] = "grading: custom\ngrader_flags: min worth=70\n"
    changes = {
        **flags,
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        "graders/grader.py": GRADER.format(rule),
    }
    if isinstance(expected, str):
        with pytest.raises(UnsupportedError) as caught:
            read(tmp_path, SCORING, **changes)
        assert expected in str(caught.value)
        return
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks] == [("sample", 0.0), ("one", 30.0), ("two", 70.0)]
    assert {test.score_steps for test in problem.tests.values()} == expected


RESCALING = """
import sys
word, full, worth = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
lines = [line.split() for line in sys.stdin]
{}
print(lines[0][0], "%f" % {})
"""
SCALED = {"problem.yaml": "type: scoring\nvalidation: custom score\n", "output_validators/check.py": "exit(42)\n"}


@pytest.mark.parametrize("name", ["a group", "the only group in it"])
def test_an_own_grader_may_rescale_scores(tmp_path: Path, name: str) -> None:
    """Its flags state the score of full marks. It may get only the minimum of the tests, from a group in the group."""
    require_full_isolation()
    inner = {
        "a group": ("", "min(float(line[1]) for line in lines)"),
        "the only group in it": ("assert len(lines) == 1", "float(lines[0][1])"),
    }
    check, score = inner[name]
    rounds_down = f"int({score} * worth / full + 1e-7)"
    changes: dict[str, str | None] = {**SCALED, "graders/grader.py": RESCALING.format(check, rounds_down)}
    for group, tests, worth in (("one", ["1"], 30), ("two", ["1", "2"], 70)):
        folder = f"data/secret/{group}"
        own = f"grading: custom\ngrader_flags: rescale 1000 {worth}\nrange: 0 {worth}\naccept_score: 1\n"
        changes[f"{folder}/testdata.yaml"] = own
        if check:
            changes |= {f"{folder}/{test}.{ending}": None for test in tests for ending in ("in", "ans")}
            changes |= {f"{folder}/all/{test}.{ending}": "1\n" for test in tests for ending in ("in", "ans")}
            changes[f"{folder}/all/testdata.yaml"] = "grading: default\ngrader_flags: min\nrange: 0 1000\n"
    nothing = {
        "data/sample/testdata.yaml": "accept_score: 0\nrange: 0 0\ngrading: custom\ngrader_flags: rescale 1000 0\n"
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes, **nothing))
    assert [(one.name, one.points, len(one.tests)) for one in problem.subtasks] == [
        ("sample", 0.0, 1),
        ("one", 30.0, 1),
        ("two", 70.0, 2),
    ]
    scales = {
        test.partition("/")[2].partition("/")[0]: (case.full_score, case.score_steps)
        for test, case in problem.tests.items()
    }
    assert scales == {"1": (0, 0), "one": (1000, 30), "two": (1000, 70)}


def test_a_grader_for_scores_of_another_range_is_refused(tmp_path: Path) -> None:
    """Otherwise the group would be worth nothing; and a maximum is no minimum."""
    require_full_isolation()
    grader = RESCALING.format("", "int(float(lines[0][1]) * worth / 1000)")
    own = "grading: custom\ngrader_flags: rescale 999 30\nrange: 0 30\n"
    changes = {**SCALED, "data/secret/one/testdata.yaml": own, "graders/grader.py": grader}
    with pytest.raises(UnsupportedError, match=r"gives 0 points for the score 1, though the group is worth up to 30"):
        read(tmp_path / "a", SCORING, **changes)
    largest = {"data/secret/one/all/testdata.yaml": "grading: default\ngrader_flags: max\n"}
    tests: dict[str, str | None] = {}
    for ending in ("in", "ans"):
        tests |= {f"data/secret/one/1.{ending}": None, f"data/secret/one/all/1.{ending}": "1\n"}
    with pytest.raises(UnsupportedError, match="data/secret/one/all takes the max of its tests for graders/"):
        read(tmp_path / "b", SCORING, **changes, **largest, **tests)


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
    changes["data/secret/one/testdata.yaml"] = "grader_flags: min\naccept_score: 30\nrange: 0 40\n"
    with pytest.raises(UnsupportedError, match="scores of its own within 0 40"):
        read(tmp_path / "b", SCORING, **changes)


def test_a_group_after_one_that_stops(tmp_path: Path) -> None:
    """It has points only if all earlier groups pass; also samples, if the whole problem stops."""
    changes = {"data/testdata.yaml": "on_reject: break\ngrader_flags: ignore_sample\n"}
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("sample", 0.0, ("sample/1",)),
        ("one", 30.0, ("sample/1", "secret/one/1")),
        ("two", 70.0, ("sample/1", "secret/one/1", "secret/two/1", "secret/two/2")),
    ]


def test_means_become_shares(tmp_path: Path) -> None:
    """Of tests in a group, and of groups in a group."""
    changes = {
        "data/secret/testdata.yaml": "grader_flags: avg\n",
        "data/secret/two/testdata.yaml": "grader_flags: avg\naccept_score: 100\n",
        "data/secret/one/testdata.yaml": "grader_flags: min\naccept_score: 100\n",
    }
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [(one.name, one.points) for one in problem.subtasks[1:]] == [
        ("one", 50.0),
        ("secret/two/1", 25.0),
        ("secret/two/2", 25.0),
    ]
