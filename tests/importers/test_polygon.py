"""Packages of Polygon: the rows they become, the scores of their groups, and the messages for what is not supported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError, SetupError, UnsupportedError
from ioi_eval.importers import polygon_tests
from ioi_eval.importers.polygon import import_package
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import Batch, CheckerProtocol, Interactive, Problem, ScoreType
from ioi_eval.sandbox.local import confinement
from tests.full_isolation import require_full_isolation
from tests.importers.packages import as_zip, loaded, write_package
from tests.small_problems import checker_of

TESTS = """
<test group="0" method="manual" points="0.0" sample="true"/>
<test cmd="gen 1" group="1" method="generated" points="30.0"/>
<test cmd="gen 2" group="1" method="generated" points="0.0"/>
<test cmd="gen 3" group="2" method="generated" points="40.0"/>
<test cmd="gen 4" group="2" method="generated" points="20.0"/>
<test cmd="gen 5" group="3" method="generated" points="10"/>
"""
GROUPS = """<groups>
<group feedback-policy="icpc" name="0" points="0.0" points-policy="complete-group"/>
<group feedback-policy="icpc" name="1" points="30.0" points-policy="complete-group"/>
<group name="2" points-policy="each-test"><dependencies><dependency group="0"/></dependencies></group>
<group name="3" points="10.0" points-policy="complete-group">
  <dependencies><dependency group="1"/></dependencies></group>
</groups>"""
SOLUTIONS = """<solutions>
<solution tag="main"><source path="solutions/main.cpp" type="cpp.g++17"/><binary path="solutions/main.exe"/></solution>
<solution tag="accepted"><source path="solutions/good.py" type="python.3"/></solution>
<solution tag="wrong-answer"><source path="solutions/wrong.cpp" type="cpp.gcc13-64-winlibs-g++20"/>
  <extra-tags>
    <extra-tag group="1" tag="accepted" testset="tests"/>
    <extra-tag group="2" tag="wrong-answer" testset="tests"/>
    <extra-tag group="3" tag="time-limit-exceeded" testset="tests"/>
    <extra-tag tag="rejected" testset="pretests"/>
  </extra-tags></solution>
<solution tag="time-limit-exceeded-or-accepted"><source path="solutions/slow.cpp" type="cpp.g++17"/></solution>
<solution tag="rejected"><source path="solutions/old.py" type="python.2"/></solution>
<solution tag="accepted"><source path="solutions/good.dpr" type="pas.dpr"/></solution>
</solutions>"""
GENERATORS = """<executables>
<executable><source path="files/gen.cpp" type="cpp.g++17"/><binary path="files/gen.exe" type="exe.win32"/></executable>
<executable><source path="files/several.py" type="python.3"/></executable>
</executables>"""
CHECKER = '<checker type="testlib"><source path="files/check.cpp" type="cpp.g++17"/><copy path="check.cpp"/></checker>'


def problem_xml(
    *,
    tests: str = TESTS,
    groups: str = GROUPS,
    programs: str = CHECKER,
    solutions: str = SOLUTIONS,
    resources: str = "",
    executables: str = GENERATORS,
    judging: str = 'input-file="" output-file="" run-count="1"',
) -> str:
    """A `problem.xml` as Polygon writes it."""
    return f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<problem revision="3" short-name="a-plus-b">
<names><name language="russian" value="Сумма"/><name language="english" value="A + B"/></names>
<judging cpu-name="Intel" {judging}>
<testset name="tests">
<time-limit>1500</time-limit><memory-limit>268435456</memory-limit><test-count>{tests.count("<test ")}</test-count>
<input-path-pattern>tests/%02d</input-path-pattern><answer-path-pattern>tests/%02d.a</answer-path-pattern>
<tests>{tests}</tests>{groups}
</testset></judging>
<files><resources><file path="files/testlib.h" type="h.g++"/>{resources}</resources>{executables}</files>
<assets>{programs}{solutions}</assets>
</problem>"""


PACKAGE: dict[str, object] = {
    "problem.xml": problem_xml(),
    **{f"tests/{number:02}": f"{number} 1\r\n" for number in range(1, 7)},
    **{f"tests/{number:02}.a": f"{number + 1}\r\n" for number in range(1, 7)},
    "check.cpp": "// a copy\n",
    "files/check.cpp": '#include "testlib.h"\nint main() {}\n',
    "files/gen.cpp": "int main() {}\n",
    "files/testlib.h": "// testlib\n",
    **{f"solutions/{name}": "int main() {}\n" for name in ("main.cpp", "wrong.cpp", "slow.cpp", "good.dpr")},
    "solutions/good.py": "print(1)\n",
    "solutions/old.py": "print 1\n",
}


def read(tmp_path: Path, changes: Mapping[str, object] | None = None, **xml: Any) -> ImportedTask:
    """Import a package with changes. `None` leaves a file out."""
    files = {**PACKAGE, **({"problem.xml": problem_xml(**xml)} if xml else {}), **(changes or {})}
    return import_package(write_package(tmp_path / "package", files), year=2025, day="1")


def read_problem(tmp_path: Path, changes: Mapping[str, object] | None = None, **xml: Any) -> Problem:
    """The problem that is read from the rows of such a package."""
    return loaded(tmp_path, read(tmp_path, changes, **xml))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("tests/%02d<", "<", "'' in problem.xml is not a pattern of paths"),
        (">1500<", f">{'9' * 400}<", "time-limit is '9{400}' in problem.xml; it must be a whole number"),
        (">268435456<", f">{'9' * 5000}<", "memory-limit is '9{5000}' in problem.xml; it must be a whole number"),
        (f"<tests>{TESTS}</tests>", "", "test-count is '9{12}' in problem.xml, which lists 0 tests"),
        (f"<tests>{TESTS}</tests>", "<!-- -->", "problem.xml has 10,001 tests, more than a package may .10,000"),
    ],
)
def test_settings_that_are_no_usable_value(tmp_path: Path, old: str, new: str, words: str) -> None:
    """The import ends with a message, also if a pattern is empty or a number has very many digits."""
    text = problem_xml().replace(old, new)
    if "<tests>" in old:
        text = text.replace("<test-count>6<", f"<test-count>{10_001 if new else '9' * 12}<")
    with pytest.raises(InputError, match=words):
        read(tmp_path, {"problem.xml": text})


def test_package_becomes_a_problem(tmp_path: Path) -> None:
    """Limits, checker, tests, and the standard of the newest source."""
    problem = read_problem(tmp_path)
    assert (problem.key.id, problem.name, problem.time_limit_s) == ("a-plus-b", "A + B", 1.5)
    assert (problem.memory_limit_bytes, problem.cxx_std, problem.score_type) == (
        1 << 28,
        "gnu++20",
        ScoreType.GROUP_MIN,
    )
    checker = checker_of(problem)
    assert (checker.protocol, checker.source.path) == (CheckerProtocol.TESTLIB, "checker/checker.cpp")
    assert {file.name for file in checker.files} == {"testlib.h"}
    assert isinstance(problem.method, Batch)
    assert not problem.linked
    assert set(problem.tests) == {f"{number:02}" for number in range(1, 7)}


def test_lines_end_with_line_feeds(tmp_path: Path) -> None:
    """Polygon's programs run on Windows, and do not see carriage returns."""
    rows = list(read(tmp_path).tests())
    assert (rows[0]["test_input"], rows[0]["test_output"]) == ("1 1\n", "2\n")


def test_groups_become_subtasks(tmp_path: Path) -> None:
    """A complete group is one subtask. Each test of another group is one. Tests of required groups are added."""
    problem = read_problem(tmp_path)
    assert {subtask.name: (subtask.points, subtask.tests) for subtask in problem.subtasks} == {
        "0": (0, ("01",)),
        "1": (30, ("02", "03")),
        "2/04": (40, ("01", "04")),
        "2/05": (20, ("01", "05")),
        "3": (10, ("02", "03", "06")),
    }
    assert {test.full_score for test in problem.tests.values()} == {1}


def test_groups_that_depend_through_others(tmp_path: Path) -> None:
    """A group that is not tested does not pass, so groups that depend on it give no points."""
    groups = GROUPS.replace('<group feedback-policy="icpc" name="1" points="30.0" points-policy="complete-group"/>', "")
    groups = groups.replace(
        "<groups>",
        '<groups><group name="1" points="30.0" points-policy="complete-group"><dependencies><dependency group="0"/>'
        "</dependencies></group>",
    )
    problem = read_problem(tmp_path, groups=groups)
    assert {subtask.name: subtask.tests for subtask in problem.subtasks}["3"] == ("01", "02", "03", "06")


def test_a_test_outside_of_groups(tmp_path: Path) -> None:
    """It is a subtask of its own. It joined a group that is called like its number."""
    tests = '<test points="10" method="manual"/><test points="20" method="manual" group="01"/><test method="manual"/>'
    groups = '<groups><group name="01" points="20" points-policy="complete-group"/><group name="03"/></groups>'
    problem = read_problem(tmp_path, tests=tests, groups=groups)
    assert {subtask.name: (subtask.points, subtask.tests) for subtask in problem.subtasks} == {
        "test 01/01": (10, ("01",)),
        "01": (20, ("02",)),
        "test 03": (0, ("03",)),
    }


def test_packages_without_points_or_groups(tmp_path: Path) -> None:
    """Without points all tests must be passed. Points without groups are those of each test."""
    plain = '<test method="manual" points="0.0"/>' * 2
    (only,) = read_problem(tmp_path / "plain", tests=plain, groups="").subtasks
    assert (only.name, only.points, only.tests) == ("all", 1, ("01", "02"))
    scored = '<test method="manual" points="0.0"/><test method="manual" points="2.5"/>'
    subtasks = read_problem(tmp_path / "scored", tests=scored, groups="").subtasks
    assert {subtask.name: (subtask.points, subtask.tests) for subtask in subtasks} == {
        "01": (0, ("01",)),
        "02/02": (2.5, ("02",)),
    }


def test_points_of_the_checker_are_those_of_the_test(tmp_path: Path) -> None:
    """A test of a complete group is passed with all points only; a test that is worth nothing, with any."""
    gives = {"files/check.cpp": '#include "testlib.h"\nint main() { quitp(5, "x"); }\n'}
    problem = read_problem(tmp_path, gives)
    assert {name: (test.full_score, test.score_steps) for name, test in problem.tests.items()} == {
        "01": (0, 0),
        "02": (30, 1),
        "03": (30, 1),
        "04": (40, 0),
        "05": (20, 0),
        "06": (10, 1),
    }
    nothing = TESTS.replace('"generated" points="20.0"', '"generated" points="0.0"')
    assert read_problem(tmp_path / "nothing", gives, tests=nothing).tests["05"].full_score == 0


def test_points_of_the_checker_may_be_a_percentage(tmp_path: Path) -> None:
    """They were read as points of the test: 50 of 40 points, which is no score."""
    gives = {"files/check.cpp": '#include "testlib.h"\nint main() { quitp(50, "x"); }\n'}
    percent = 'treat-points-from-checker-as-percent="true"'
    problem = read_problem(tmp_path / "whole", gives, judging=percent)
    assert [test.full_score for test in problem.tests.values()] == [0, 100, 100, 100, 100, 100]
    fractions = read_problem(tmp_path / "fractions", gives, judging=percent, **POINTS_AND_FRACTIONS)
    assert {test.full_score for test in fractions.tests.values()} == {100}


def test_expected_verdicts(tmp_path: Path) -> None:
    """Tags of the whole solution and of groups. Where a subtask has tests of other groups, only failure is certain."""
    task = read(tmp_path)
    every = ["0", "1", "2/04", "2/05", "3"]
    rows = {row["label"]: (row["expected"], row["expected_subtasks"]) for row in task.solution_rows}
    assert rows == {
        "main/main.cpp": ("model_solution", dict.fromkeys(every, "AC")),
        "accepted/good.py": ("model_solution", dict.fromkeys(every, "AC")),
        "wrong-answer/wrong.cpp": ("WA", {"1": "AC", "3": "FAILED"}),
        "time-limit-exceeded-or-accepted/slow.cpp": (None, dict.fromkeys(every, "AC,TLE")),
    }
    assert task.notes == ("left out, as they are in other languages: solutions/old.py, solutions/good.dpr",)
    of_all_tests = SOLUTIONS.replace('"rejected" testset="pretests"', '"rejected" testset="tests"')
    expected = {row["label"]: row["expected"] for row in read(tmp_path / "all", solutions=of_all_tests).solution_rows}
    assert expected["rejected/wrong.cpp"] == "FAILED"


def test_the_tests_that_are_judged(tmp_path: Path) -> None:
    """Those called `tests`, also if others come first. A note names the others."""
    pretests = '<testset name="pretests"><test-count>0</test-count><tests/></testset>'
    text = problem_xml().replace('<testset name="tests">', f'{pretests}<testset name="tests">')
    task = read(tmp_path, {"problem.xml": text})
    assert len(list(task.tests())) == 6
    assert "left out, as tests is judged: the tests of pretests" in task.notes


def test_a_tag_of_a_group_is_about_its_own_tests(tmp_path: Path) -> None:
    """The subtask is not accepted if a group that it depends on is not."""
    tags = SOLUTIONS.replace('group="1" tag="accepted"', 'group="1" tag="wrong-answer"')
    tags = tags.replace('group="3" tag="time-limit-exceeded"', 'group="3" tag="accepted"')
    rows = {row["label"]: row for row in read(tmp_path, solutions=tags).solution_rows}
    assert rows["wrong-answer/wrong.cpp"]["expected_subtasks"] == {"1": "WA"}


def test_a_tag_that_is_not_known(tmp_path: Path) -> None:
    """The solution is kept, and nothing is expected of it."""
    task = read(tmp_path, solutions=SOLUTIONS.replace('tag="wrong-answer"><source', 'tag="elegant"><source'))
    assert "solutions/wrong.cpp: the tag 'elegant' is not known, and states nothing here" in task.notes
    (row,) = [row for row in task.solution_rows if row["label"] == "elegant/wrong.cpp"]
    assert (row["expected"], row["expected_subtasks"]) == (None, {"1": "AC", "3": "FAILED"})


INTERACTIVE = CHECKER + '<interactor><source path="files/interact.cpp" type="cpp.g++17"/></interactor>'


def test_interactive_problems(tmp_path: Path) -> None:
    """The checker judges what the interactor wrote."""
    problem = read_problem(
        tmp_path, {"files/interact.cpp": '#include "testlib.h"\nint main() {}\n'}, programs=INTERACTIVE
    )
    assert isinstance(problem.method, Interactive)
    assert problem.method.manager.protocol is CheckerProtocol.TESTLIB
    assert problem.method.check is not None
    assert {file.name for file in problem.method.manager.files} == {"testlib.h"}
    alone = {"files/interact.cpp": "int main() {}\n", "files/check.cpp": None}
    assert read_problem(tmp_path / "alone", alone, programs=INTERACTIVE.removeprefix(CHECKER)).method.check is None


RESOURCES = """
<file for-types="cpp.*" path="files/sum.h" type="h.g++"><stages><stage name="COMPILE"/></stages>
  <assets><asset name="SOLUTION"/></assets></file>
<file for-types="cpp.*" path="files/main.cpp" type="cpp.g++17"><stages><stage name="COMPILE"/></stages>
  <assets><asset name="SOLUTION"/></assets></file>
<file for-types="python.*" path="files/main.py" type="python.3"><stages><stage name="COMPILE"/></stages>
  <assets><asset name="SOLUTION"/></assets></file>
"""


def test_graders_and_file_names(tmp_path: Path) -> None:
    """Resources that solutions are compiled with become graders; a problem may name its input and output."""
    files: dict[str, object] = {"files/sum.h": "int sum();\n", "files/main.cpp": '#include "sum.h"\nint main() {}\n'}
    problem = read_problem(
        tmp_path,
        {**files, "files/main.py": ""},
        resources=RESOURCES,
        judging='input-file="sum.in" output-file="sum.out"',
    )
    assert [file.path for file in problem.linked] == ["graders/grader.cpp"]
    assert [file.name for file in problem.headers] == ["sum.h"]
    assert isinstance(problem.method, Batch)
    assert (problem.method.input_file, problem.method.output_file) == ("sum.in", "sum.out")


def test_a_zip_of_a_contest_directory(tmp_path: Path) -> None:
    """The package may be an archive, below a directory."""
    files = {f"a-plus-b/{name}": str(content).encode() for name, content in PACKAGE.items()}
    assert import_package(as_zip(tmp_path / "one.zip", files), year=2025).key.id == "a-plus-b"


RUN_TWICE = f'{SOLUTIONS}</assets><tags><tag value="run-twice"/></tags><assets>'
POINTS_AND_FRACTIONS = {"tests": '<test points="2.5" method="manual"/>', "groups": ""}
WORTH_NOTHING = {"tests": '<test points="0.0" method="manual"/>' * 2, "groups": ""}


@pytest.mark.parametrize(
    ("changes", "xml", "words"),
    [
        ({"problem.xml": None}, {}, "it is not a package of Polygon"),
        ({"problem.xml": "<problem>"}, {}, "problem.xml is not XML"),
        ({"problem.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x/>'}, {}, "has a declaration"),
        ({"problem.xml": "<problem/>"}, {}, "names no tests"),
        ({"tests/01": None}, {}, "there is no tests/01, and no generator is named for it; get the full package"),
        (
            {"tests/05": None},
            {"executables": GENERATORS.replace("gen.cpp", "other.cpp")},
            "there is no tests/05, and no program of the package is called gen",
        ),
        (
            {"tests/05.a": None},
            {"solutions": SOLUTIONS.replace('tag="main"', 'tag="accepted"')},
            "there is no tests/05.a, and no solution is tagged main",
        ),
        ({"files/check.cpp": None}, {}, "there is no files/check.cpp"),
        ({}, {"programs": ""}, "neither a checker nor an interactor"),
        (
            {},
            {"groups": GROUPS.replace('group="1"', 'group="9"')},
            "the group 3 depends on '9', but problem.xml has no group",
        ),
        ({}, {"groups": GROUPS.replace('group="1"', 'group="3"')}, "depend on each other in a circle"),
        (
            {},
            {"groups": '<groups><group name="1" points="30"/></groups>', "tests": '<test group="1" method="manual"/>'},
            "the group 1 has points, but its policy is each-test and its tests have none",
        ),
        ({}, {"tests": TESTS.replace('group="3"', 'group="1"')}, "the group 3 has points and no tests"),
        ({}, {"tests": TESTS.replace("30.0", "many")}, "test 2 has points='many'"),
        (
            {"tests/05": None},
            {"tests": TESTS.replace("gen 4", "gen &quot;4")},
            "the command of tests/05 is 'gen \"4': No closing quotation",
        ),
    ],
)
def test_invalid_packages(tmp_path: Path, changes: Mapping[str, object], xml: dict[str, str], words: str) -> None:
    """The message has the fault and what to do."""
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, changes, **xml)


@pytest.mark.parametrize(
    ("changes", "xml", "words"),
    [
        ({}, {"judging": 'run-count="2"'}, "run 2 times on a test (run-count)"),
        ({}, {"judging": "", "solutions": RUN_TWICE}, "run 2 times on a test (run-count)"),
        ({}, {"programs": CHECKER + '<scorer><source path="files/scorer.cpp"/></scorer>'}, "scorer"),
        ({}, {"programs": INTERACTIVE, "judging": 'input-file="a.in"'}, "interactive and names an input"),
        ({}, {"groups": GROUPS.replace("each-test", "best")}, "the points-policy 'best'"),
        ({}, {"programs": CHECKER + "<solution-files><solution-file/></solution-files>"}, "(solution-file)"),
        (
            {"files/check.java": ""},
            {"programs": CHECKER.replace("check.cpp", "check.java")},
            "the checker is files/check",
        ),
        ({"files/check.cpp": "quitf(_pc(50), x);"}, {}, "files/check.cpp gives partial results by `_pc`"),
        ({"files/check.cpp": "quitp(1);"}, POINTS_AND_FRACTIONS, "the test 01 is worth 2.5; whole points"),
        (
            {"files/check.cpp": "quitp(1);"},
            {"groups": GROUPS.replace('group="1"', 'group="2"')},
            "gives points in the group 2",
        ),
        ({"files/check.cpp": "quitp(1);"}, WORTH_NOTHING, "every test is worth 0 in problem.xml"),
        (
            {"files/gen.pas": "", "tests/05": None},
            {"executables": GENERATORS.replace("gen.cpp", "gen.pas")},
            "1 inputs and 0 answers are missing, and files/gen.pas would have to make some",
        ),
        (
            {"files/b.cpp": ""},
            {"resources": RESOURCES.replace("main.py", "b.cpp")},
            "compiled with files/main.cpp, files/b.cpp",
        ),
    ],
)
def test_unsupported_packages(tmp_path: Path, changes: Mapping[str, object], xml: dict[str, str], words: str) -> None:
    """What would be scored wrongly is refused by name."""
    with pytest.raises(UnsupportedError, match=re.escape(words)):
        read(tmp_path, changes, **xml)


GENERATED = """<test method="manual"/><test cmd="gen 4 &quot;a b&quot;" method="generated"/>
<test cmd="several 6 8" from-file="1" method="generated"/><test cmd="several 6 8" from-file="2" method="generated"/>"""
STANDARD: dict[str, object] = {
    "tests/01": "1\n",
    **{
        path: None
        for number in range(1, 7)
        for path in (f"tests/{number:02}", f"tests/{number:02}.a")
        if path != "tests/01"
    },
    "files/gen.cpp": '#include "shared.h"\n#include <cstdio>\n'
    'int main(int, char** argv) { printf("%d\\n%s\\n", SHARED + atoi(argv[1]), argv[2]); }\n',
    "files/shared.h": "#include <cstdlib>\n#define SHARED 0\n",
    "files/several.py": "import sys\n"
    "for i, word in enumerate(sys.argv[1:], 1):\n    open(f'{i:02}', 'w').write(word)\n",
    "solutions/main.cpp": "#include <iostream>\n#ifndef ONLINE_JUDGE\n#error\n#endif\n"
    "int main() { int n; std::cin >> n; std::cout << 2 * n << std::endl; }\n",
}


def made(task: ImportedTask) -> dict[str, tuple[str, str]]:
    """Input and answer of each test."""
    return {row["test_name"]: (row["test_input"], row["test_output"]) for row in task.tests()}


def test_missing_tests_are_made(tmp_path: Path) -> None:
    """Inputs by generators, which print one or write several files; answers by the main solution."""
    require_full_isolation()
    task = read(tmp_path, STANDARD, tests=GENERATED, groups="")
    assert task.notes[0] == (
        "made here, because they are not in the package: inputs by its generators: 3; answers by its main solution: 4"
    )
    assert made(task) == {"01": ("1\n", "2\n"), "02": ("4\na b\n", "8\n"), "03": ("6", "12\n"), "04": ("8", "16\n")}


def test_missing_tests_are_made_with_the_compiler_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for judging, `CXX` names it."""
    require_full_isolation()
    monkeypatch.setenv("CXX", "/nonexistent/g++")
    task = read(tmp_path, STANDARD, tests=GENERATED, groups="")
    with pytest.raises(SetupError, match=r"/nonexistent/g\+\+, which CXX .* names, is no program"):
        made(task)


def test_answers_of_interactive_problems(tmp_path: Path) -> None:
    """The answer is what the interactor writes."""
    require_full_isolation()
    interactor = """#include <cstdio>
int main(int, char** argv) {
  int n, answer;
  if (fscanf(fopen(argv[1], "r"), "%d", &n) != 1 || printf("%d\\n", n) < 0 || fflush(stdout) != 0) return 1;
  if (scanf("%d", &answer) != 1) return 1;
  fprintf(fopen(argv[2], "w"), "said %d\\n", answer);
}
"""
    changes = {**STANDARD, "files/interact.cpp": interactor}
    task = read(tmp_path, changes, tests='<test method="manual"/>', groups="", programs=INTERACTIVE)
    assert made(task) == {"01": ("1\n", "said 2\n")}


def test_an_interactive_problem_with_a_main_solution_in_python(tmp_path: Path) -> None:
    """We only start programs beside the interactor."""
    require_full_isolation()
    changes = {**STANDARD, "files/interact.cpp": "int main() {}\n", "solutions/main.py": "print(input())\n"}
    solutions = SOLUTIONS.replace("main.cpp", "main.py")
    task = read(
        tmp_path, changes, tests='<test method="manual"/>', groups="", programs=INTERACTIVE, solutions=solutions
    )
    with pytest.raises(UnsupportedError, match="the main solution of an interactive problem is not in C"):
        made(task)


def test_a_test_that_cannot_be_made(tmp_path: Path) -> None:
    """The message has the program and what it printed. No answer is taken for right."""
    require_full_isolation()
    crash = {**STANDARD, "solutions/main.cpp": '#include <cstdio>\nint main() { fprintf(stderr, "no"); return 3; }\n'}
    with pytest.raises(InputError, match=r"tests/01\.a \(the main solution\) cannot be made here: exit code 3\. no"):
        made(read(tmp_path, crash, tests=GENERATED, groups=""))


@pytest.mark.parametrize(
    ("changes", "test", "judging", "words"),
    [
        ({}, '<test cmd="several 6" from-file="7" method="generated"/>', "", r"tests/01 \(several 6, its file 7\)"),
        (
            {"tests/01": "1\n"},
            '<test method="manual"/>',
            'input-file="" output-file="out.txt"',
            r"tests/01\.a \(the main solution\)",
        ),
    ],
    ids=["input", "answer"],
)
def test_a_program_that_leaves_no_file(
    tmp_path: Path, changes: Mapping[str, object], test: str, judging: str, words: str
) -> None:
    """It does not make an empty input or answer."""
    require_full_isolation()
    task = read(tmp_path, {**STANDARD, "tests/01": None, **changes}, tests=test, groups="", judging=judging)
    with pytest.raises(InputError, match=f"{words} cannot be made here: the program did not write the file"):
        made(task)


@pytest.mark.parametrize("pattern", ["tests-%02d", "x" * 300 + "%02d"], ids=["similar", "long"])
def test_patterns_of_made_tests(tmp_path: Path, pattern: str) -> None:
    """A pattern may differ from the other one only in `/`, or be too long for a name of a file."""
    require_full_isolation()
    xml = problem_xml(tests='<test cmd="gen 4 x" method="generated"/>', groups="").replace(
        "tests/%02d.a<", f"{pattern}<"
    )
    task = read(tmp_path, {**STANDARD, "tests/01": None, "problem.xml": xml})
    assert made(task) == {"01": ("4\nx\n", "8\n")}


def test_a_made_file_may_be_as_large_as_a_file_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More is not unpacked."""
    require_full_isolation()
    monkeypatch.setattr(polygon_tests, "LARGEST_FILE", 1 << 20)
    source = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << std::string(n, 'x'); }\n"
    changes = {**STANDARD, "solutions/main.cpp": source}
    test = '<test method="manual"/>'
    fine = read(tmp_path / "fine", {**changes, "tests/01": f"{1 << 20}\n"}, tests=test, groups="")
    assert made(fine)["01"][1] == "x" * (1 << 20)
    larger = read(tmp_path / "larger", {**changes, "tests/01": f"{(1 << 20) + 1}\n"}, tests=test, groups="")
    with pytest.raises(InputError, match=r"01\.a .*: it is larger than a file of a package may be \(1,048,576 bytes\)"):
        made(larger)


def test_what_did_not_fit_into_the_box_is_no_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most programs do not look whether their output was written."""
    require_full_isolation()
    small = tuple((mounted, place, min(size, 16 << 20)) for mounted, place, size in confinement._TMPFS)
    monkeypatch.setattr(confinement, "_TMPFS", small)
    source = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << std::string(n, 'x'); }\n"
    changes = {**STANDARD, "solutions/main.cpp": source, "tests/01": f"{32 << 20}\n"}
    with pytest.raises(InputError, match=r"01\.a .*exit code 1\. the box had no room for all that was written"):
        made(read(tmp_path, changes, tests='<test method="manual"/>', groups=""))


def test_windows_formats_make_no_test(tmp_path: Path) -> None:
    """Here `%I64d` prints other digits than on Windows. A branch for Windows is no error, nor a type of this name."""
    require_full_isolation()
    source = "#include <cstdio>\n#ifdef _WIN32\n#define D %s\n#else\n#define D %s\n#endif\n"
    source += 'using I64 = long long;\nchar quote = \'"\';\nI64 rest() { return printf("") %% I64(2); }\n'
    source += "int main() { printf(D, 5000000000LL); }\n"
    good = {**STANDARD, "solutions/main.cpp": source % ('"%I64d"', '"%lld"')}
    assert made(read(tmp_path, good, tests='<test method="manual"/>', groups="")) == {"01": ("1\n", "5000000000")}
    bad = {**STANDARD, "solutions/main.cpp": source % ('"%lld"', '"%020I64d"')}
    with pytest.raises(InputError, match="Only the C library of Windows has %I64"):
        made(read(tmp_path, bad, tests='<test method="manual"/>', groups=""))


def test_settings_of_cms_are_noted(tmp_path: Path) -> None:
    """CMS scores such a package by a program in it, not by `problem.xml`."""
    task = read(tmp_path, {"files/cms_conf.py": "datasets = {'tests': {'score_type': 'GroupMin'}}\n"})
    assert any("files/cms_conf.py, from which CMS takes the score type" in note for note in task.notes)
