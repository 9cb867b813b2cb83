"""A Kattis package's own grader: it is run on made-up results, and known rules become points of subtasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.errors import SetupError, UnsupportedError
from ioi_eval.model import StepRounding
from tests.full_isolation import require_full_isolation
from tests.importers.kattis_packages import SCORING, read
from tests.importers.packages import loaded

GRADER = """
import os, sys
assert "WAS_RUN" not in os.environ  # each run has a process of its own
os.environ["WAS_RUN"] = "1"
worth = int([flag for flag in sys.argv if flag.startswith("worth=")][0][6:])
words = sys.stdin.read().split()
print("AC", {})
"""


RULES: dict[str, tuple[str, set[int] | str]] = {
    "the lowest, rounded down": ("int(min(map(float, words[1::2])) * worth)", {0, 30, 70}),
    "the lowest": ("'%f' % (min(map(float, words[1::2])) * worth)", {0}),
    "the sum": ("int(sum(map(float, words[1::2])) * worth)", "gives 210.0 for"),
    "the mean": ("int(sum(map(float, words[1::2])) / len(words[1::2]) * worth)", "the lowest score times 70"),
    "the last": ("int(float(words[-1]) * worth)", "the lowest score times 70"),
    "too leniently": ("int(min(map(float, words[1::2])) * worth + 0.001)", "gives 29.0 for [('AC', 0.999)]"),
    "up": ("-int(-min(map(float, words[1::2])) * worth // 1)", "gives 30.0 for [('AC', 0.999)]"),
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
    capped = {**changes, "graders/grader.py": adding.replace("sum(scores)", "min(sum(scores), 100)")}
    for name, points in (("secret", 100), ("secret/one", 30), ("secret/two", 70)):
        capped[f"data/{name}/testdata.yaml"] += f"range: 0 {points}\n"
    capped["data/secret/testdata.yaml"] += "accept_score: 0\n"  # it has a range, so it is worth points
    read(tmp_path / "d", SCORING, **capped)
    with_samples = {
        "data/testdata.yaml": all_groups["data/testdata.yaml"],
        "data/sample/testdata.yaml": "grading: default\naccept_score: 0\n",
    }
    read(tmp_path / "s", SCORING, **{**capped, **with_samples})  # the samples are worth nothing
    capped["data/secret/two/testdata.yaml"] = f"{group.format(90)}range: 0 90\n"
    with pytest.raises(UnsupportedError, match=r"gives 100\.0 for groups of .* not 120; the sum of groups"):
        read(tmp_path / "e", SCORING, **capped)
    for most in ("nan", "-1"):  # such a group can have no points
        capped["data/secret/two/testdata.yaml"] = f"{group.format(70)}range: -9 {most}\n"
        read(tmp_path / most, SCORING, **capped)
    for other in ("max(scores)", "float('nan')"):
        changes["graders/grader.py"] = adding.replace("sum(scores)", other)
        with pytest.raises(UnsupportedError, match=r", not \d+; the sum of groups is supported"):
            read(tmp_path / other, SCORING, **changes)
    changes["graders/grader.py"] = adding + 'print "AC 1"\n'
    with pytest.raises(
        UnsupportedError, match=r"graders/grader\.py is Python 2, which is not supported; rewrite it in"
    ):
        read(tmp_path / "old", SCORING, **changes)


@pytest.mark.parametrize(
    ("files", "held"),
    [
        ((), "nothing"),
        (("grader.cpp",), "graders/grader.cpp"),
        (("a.py", "b.py"), "graders/a.py, graders/b.py"),
        (("a.py", "b.cpp"), "graders/a.py, graders/b.cpp"),
    ],
)
def test_an_own_grader_is_one_file_in_python(tmp_path: Path, files: tuple[str, ...], held: str) -> None:
    """No other one is taken silently."""
    changes = {
        "data/secret/one/testdata.yaml": "grading: custom\n",
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "import sys\nsys.exit(42)\n",
        **{f"graders/{name}": "" for name in files},
    }
    with pytest.raises(UnsupportedError, match=rf"^.*graders/ holds {held}; one grader in Python is supported"):
        read(tmp_path, SCORING, **changes)


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
    assert {test.step_rounding for test in problem.tests.values()} == {StepRounding.DOWN}


@pytest.mark.parametrize("stopped", ["os.getppid()", "os.getpid()"], ids=["all of it", "one run"])
def test_a_grader_that_was_stopped_says_nothing_about_its_rule(tmp_path: Path, stopped: str) -> None:
    """A time limit stops it, or the kernel when the machine lacks memory."""
    require_full_isolation()
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "data/secret/one/testdata.yaml": "grading: custom\nrange: 0 30\n",
        "output_validators/check.py": "exit(42)\n",
        "graders/grader.py": f"import os, signal\nos.kill({stopped}, 9)\nsignal.pause()\n",
    }
    with pytest.raises(SetupError, match="its grader cannot be tried: it was stopped: Caught fatal signal 9"):
        read(tmp_path, SCORING, **changes)


def test_a_huge_number_in_the_flags_is_no_score(tmp_path: Path) -> None:
    """It is longer than what Python reads as an integer, or more than a floating-point number holds."""
    require_full_isolation()
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "exit(42)\n",
        "graders/grader.py": f"{GRADER.format(RULES['the lowest'][0])}sys.exit()\n",
    }
    for group, worth, digits in (("one", 30, 400), ("two", 70, 5000)):
        flags = f"grader_flags: min worth={worth} x{'9' * digits} {'9' * digits}\n"
        changes[f"data/secret/{group}/testdata.yaml"] = f"grading: custom\nrange: 0 {worth}\n{flags}"
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [one.points for one in problem.subtasks] == [0.0, 30.0, 70.0]


def test_flags_that_are_not_unicode(tmp_path: Path) -> None:
    """YAML accepts a lone surrogate. The grader gets another character, as UTF-8 has none for it."""
    require_full_isolation()
    changes = {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "output_validators/check.py": "exit(42)\n",
        "graders/grader.py": f"{GRADER.format(RULES['the lowest'][0])}sys.exit()\n",
    }
    for group, worth in (("one", 30), ("two", 70)):
        flags = rf'"min worth={worth} \ud800"'
        changes[f"data/secret/{group}/testdata.yaml"] = f"grading: custom\ngrader_flags: {flags}\n"
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [one.points for one in problem.subtasks] == [0.0, 30.0, 70.0]


RESCALING = """
import sys
word, full, worth = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
lines = [line.split() for line in sys.stdin]
{}
print(lines[0][0], "%f" % {})
"""


SCALED = {"problem.yaml": "type: scoring\nvalidation: custom score\n", "output_validators/check.py": "exit(42)\n"}


@pytest.mark.parametrize("name", ["a group", "the only group in it"])
@pytest.mark.parametrize(
    "rule",
    [
        (StepRounding.LENIENTLY, "int({} + 1e-7)"),
        (StepRounding.NEAREST, "int({} + 0.49999999999999994)"),
        (StepRounding.NEAREST_EVEN, "round({})"),
    ],
)
def test_an_own_grader_may_rescale_scores(tmp_path: Path, name: str, rule: tuple[StepRounding, str]) -> None:
    """Its flags state the score of full marks. It may get only the minimum of the tests, from a group in the group."""
    require_full_isolation()
    inner = {
        "a group": ("", "min(float(line[1]) for line in lines)"),
        "the only group in it": ("assert len(lines) == 1", "float(lines[0][1])"),
    }
    check, score = inner[name]
    rounding, formula = rule
    rounded = formula.format(f"{score} * worth / full")
    changes: dict[str, str | None] = {**SCALED, "graders/grader.py": RESCALING.format(check, rounded)}
    for group, tests, worth in (("one", ["1"], 30), ("two", ["1", "2"], 70)):
        folder = f"data/secret/{group}"
        own = f"grading: custom\ngrader_flags: rescale 1000 {worth}\nrange: 0 {worth}\naccept_score: 1\n"
        changes[f"{folder}/testdata.yaml"] = own
        if check:
            changes |= {f"{folder}/{test}.{ending}": None for test in tests for ending in ("in", "ans")}
            changes |= {f"{folder}/all/{test}.{ending}": "1\n" for test in tests for ending in ("in", "ans")}
            flag = "min" if len(tests) > 1 else "max"  # of one test they are the same
            changes[f"{folder}/all/testdata.yaml"] = f"grading: default\ngrader_flags: {flag}\nrange: 0 1000\n"
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
        test.partition("/")[2].partition("/")[0]: (case.full_score, case.score_steps, case.step_rounding)
        for test, case in problem.tests.items()
    }
    assert scales == {"1": (0, 0, StepRounding.DOWN), "one": (1000, 30, rounding), "two": (1000, 70, rounding)}


def test_a_grader_for_scores_of_another_range_is_refused(tmp_path: Path) -> None:
    """Otherwise the group would be worth nothing; and a mean is no minimum."""
    require_full_isolation()
    grader = RESCALING.format("", "int(float(lines[0][1]) * worth / 1000)")
    own = "grading: custom\ngrader_flags: rescale 999 30\nrange: 0 30\n"
    changes = {**SCALED, "data/secret/one/testdata.yaml": own, "graders/grader.py": grader}
    with pytest.raises(UnsupportedError, match=r"gives 0 points for the score 1, though the group is worth up to 30"):
        read(tmp_path / "a", SCORING, **changes)
    mean = {"data/secret/one/all/testdata.yaml": "grading: default\ngrader_flags: avg\n"}
    tests: dict[str, str | None] = {}
    for ending in ("in", "ans"):
        tests |= {f"data/secret/one/1.{ending}": None, f"data/secret/one/all/1.{ending}": "1\n"}
    with pytest.raises(
        UnsupportedError, match="data/secret/one/all takes the avg of its tests for graders/; min and max"
    ):
        read(tmp_path / "b", SCORING, **changes, **mean, **tests)


COUNTING = """
import sys
lines = [line.split() for line in sys.stdin]
scores = [float(score) for _, score in lines]
score, rejected = {combine}(scores), any(verdict != "AC" for verdict, _ in lines)
assert score <= {most}
print(lines[0][0], {points})
"""

FALLING = "0 if rejected else 30 if score <= 3 else 15 if score == 4 else max(0, 26 - 4 * score)"

TABLES: dict[str, tuple[dict[str, object], str, dict[str, object]]] = {
    "one result, the highest": (
        {"points": FALLING, "most": 9},
        "max",
        {"full_score": 30, "score_table": ((3, 30), (4, 15), (5, 6), (6, 2), (9, 0))},
    ),
    "all results, the highest": (
        {"points": FALLING, "combine": "max", "most": "float('inf')"},
        "",
        {"full_score": 30, "score_table": ((3, 30), (4, 15), (5, 6), (6, 2), (10**9, 0))},
    ),
    "the same for all scores": ({"points": "0 if rejected else 30", "most": 2000}, "max", {"full_score": 0}),
}


def with_counts(
    inner: str, *, combine: str = "sum", most: object = 9, points: object = FALLING
) -> dict[str, str | None]:
    """Changes to a package: its own grader, for the first group, which has two tests. They are in a group of their own
    if `inner` says how their scores are combined.
    """
    changes: dict[str, str | None] = {
        **SCALED,
        "graders/grader.py": COUNTING.format(combine=combine, most=most, points=points),
        "data/secret/one/testdata.yaml": "grading: custom\nrange: 0 30\n",
    }
    changes |= {f"data/secret/one/1.{ending}": None for ending in ("in", "ans")}
    folder = "data/secret/one/all" if inner else "data/secret/one"
    changes |= {f"{folder}/{test}.{ending}": "1\n" for test in ("1", "2") for ending in ("in", "ans")}
    return changes | ({f"{folder}/testdata.yaml": f"grading: default\ngrader_flags: {inner}\n"} if inner else {})


@pytest.mark.parametrize("name", TABLES)
def test_points_of_whole_scores_become_a_table(tmp_path: Path, name: str) -> None:
    """It ends at the last score for which the grader has points. Points that are always the same need no table."""
    require_full_isolation()
    grader, inner, columns = TABLES[name]
    task = read(tmp_path, SCORING, **with_counts(inner, **grader))  # type: ignore[arg-type]
    problem = loaded(tmp_path, task)
    assert [(one.name, one.points) for one in problem.subtasks][:2] == [("sample", 0.0), ("one", 30.0)]
    cases = [case for test, case in problem.tests.items() if test.startswith("secret/one/")]
    assert [(case.full_score, case.score_table) for case in cases] == 2 * [
        (columns["full_score"], columns.get("score_table", ()))
    ]


@pytest.mark.parametrize(
    ("inner", "grader"),
    [
        ("min", {}),
        ("max", {"points": "30 if score in (0, 3) else 5"}),  # they rise
        ("max", {"points": FALLING.replace("0 if rejected else", "")}),
        ("", {}),  # the sum of all
        ("", {"points": "0 if score else 30", "combine": "min"}),
        ("max", {"points": "29 if score <= 3 else 15"}),  # not all points of the group
        ("max", {"points": "30 if score <= 3 else 10.5"}),
        ("max", {"points": "0 if rejected else 30 if score <= 3000 else 15", "most": "float('inf')"}),
    ],
)
def test_points_that_no_table_can_have_are_refused(tmp_path: Path, inner: str, grader: dict[str, object]) -> None:
    """Otherwise a submission would get other points than from the grader."""
    require_full_isolation()
    with pytest.raises(UnsupportedError, match="If scores are whole numbers, another rule is supported: whole points"):
        read(tmp_path, SCORING, **with_counts(inner, **grader))  # type: ignore[arg-type]


def test_a_grader_may_fail_on_made_up_results_of_one_group(tmp_path: Path) -> None:
    """Counts are whole numbers, and a grader may check that, also after it has printed points, which then do not count.
    The rule of another group is found all the same.
    """
    require_full_isolation()
    grader = """
import sys
kind, worth = sys.argv[1], int(sys.argv[2])
lines = [line.split() for line in sys.stdin]
score = min(float(score) for _, score in lines)
points = worth * score if kind == "share" else worth - 2 * score if lines[0][0] == "AC" else 0
print(lines[0][0], points, end="")
assert kind == "share" or score in range(8)
"""
    changes = {**with_counts("max"), "graders/grader.py": grader}
    for group, flags, worth in (("one", "count 30", 30), ("two", "share 70", 70)):
        own = f"grading: custom\nrange: 0 {worth}\ngrader_flags: {flags}\n"
        changes[f"data/secret/{group}/testdata.yaml"] = own
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    assert [one.points for one in problem.subtasks] == [0.0, 30.0, 70.0]
    assert problem.tests["secret/one/all/1"].score_table == tuple((score, 30 - 2 * score) for score in range(8))
    assert problem.tests["secret/two/1"].score_table == ()


def test_a_maximum_over_accepted_and_rejected_tests_is_refused(tmp_path: Path) -> None:
    """A submission that fails tests would get the points of others."""
    with pytest.raises(UnsupportedError, match="takes the accept_if_any_accepted max of its tests for graders/; min"):
        read(tmp_path, SCORING, **with_counts("accept_if_any_accepted max"))


def test_the_range_of_one_test_may_state_full_marks(tmp_path: Path) -> None:
    """The grader gives a score up to the end of the range as it is. How it combines several does not matter."""
    require_full_isolation()
    changes = with_counts("", points="min(30, score)", most="float('inf')")
    problem = loaded(
        tmp_path, read(tmp_path, SCORING, **{**changes, "data/secret/one/2.in": None, "data/secret/one/2.ans": None})
    )
    assert (problem.subtasks[1].points, problem.tests["secret/one/1"].full_score) == (30.0, 30)
