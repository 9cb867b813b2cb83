"""With `--compat`, programs run as in other graders, and get the same results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.compat import grader_named
from ioi_eval.compat.terms import Code, CompatGrader, Ending, TestRun
from ioi_eval.model.apps import AppsProblem
from ioi_eval.rows import open_source
from tests.compat.compared_runs import problem

pytest.importorskip("numpy", reason="hendrycks/apps needs it")

WarmGrader = Callable[[str], Any]
PHASES = {"done": Ending.FINISHED, "run": Ending.RAISED, "load": Ending.LOAD_FAILED, "compile": Ending.LOAD_FAILED}


NODE = "from dataclasses import dataclass\n@dataclass\nclass Node:\n    value: int\n    next: 'Node' = None\n"
LOOP = "while True: pass"


def codes_of(warm_grader: WarmGrader, profile: CompatGrader, problem: AppsProblem, program: str) -> list[Code]:
    """The codes of a grader for a program. Runs tests while the grader needs more. CPU time replaces its wall clock;
    one second of it is enough for a loop without end.
    """
    assert profile.harness_grader is not None
    warm = warm_grader(profile.harness_grader)
    runs: list[TestRun] = []
    while profile.wants_another(problem, runs):
        test_input = profile.encode_input(problem.tests[len(runs)]) if problem.tests else b""
        fn_name = problem.fn_name if profile.calls == "call" else None
        seconds = 1 if program == LOOP else int(profile.per_test_s)
        ended = warm.run(program, test_input, fn_name=fn_name, rlimits=[[0, seconds, seconds + 1]])
        report = json.loads(ended.report) if ended.report else {}
        ending = PHASES.get(report.get("phase", ""), Ending.TIMED_OUT if ended.status == -24 else Ending.DIED)
        runs.append(TestRun(ending=ending, output=ended.stdout, exit_code=ended.status, error=report.get("error", "")))
    return list(profile.grade(problem, runs).codes)


SUM = problem(["3\n1 2 3\n", "2\n\n5 6\n"], ["6\n", "11\n"])
ONE = problem(["3\n"], ["3\n"])

PROGRAMS: dict[str, tuple[AppsProblem, str, list[Code], list[Code], list[Code]]] = {
    "sys.stdin": (SUM, "import sys\nprint(sum(map(int, sys.stdin.read().split()[1:])))", [1, 1], [1, 1], [1, 1]),
    "empty lines end a captured stdin": (
        SUM,
        "from sys import stdin\nn = int(stdin.readline())\ns = ''\nwhile not s.strip():\n    s = stdin.readline()\n"
        "print(sum(map(int, s.split())))",
        *([1, 1], [1, 1], [1, 1]),
    ),
    "iterating": (
        SUM,
        "import sys\nprint(sum(int(x) for l in sys.stdin for x in l.split()[:99]) - 3)",
        [1, 0],
        [1, 0],
        [-4],
    ),
    "buffer.read": (
        SUM,
        "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split()[1:])))",
        [-1, -1],
        [-1],
        [1, 1],
    ),
    "buffer.readline": (
        SUM,
        "import sys\ninput = sys.stdin.buffer.readline\nn = int(input())\nprint(sum(map(int, input().split())))",
        *([-1, -1], [-1], [-2]),
    ),
    "open(0)": (SUM, "print(sum(map(int, open(0).read().split()[1:])))", [1, 1], [0], [-2]),
    "os.read(0)": (ONE, "import os\nprint(int(os.read(0, 9) or 9))", [0], [0], [-2]),
    "os.write(1)": (ONE, "import os\nos.write(1, b'3')", [0], [0], [-2]),
    "stdout.buffer": (ONE, "import sys\nsys.stdout.buffer.write(b'3')", [-1], [-1], [-4]),
    "global": (ONE, "t = 0\ndef f():\n    global t\n    t += 3\nf()\nprint(t)", [-1], [-1], [-4]),
    "star import behind code": (ONE, "if 1:\n    from math import *\nprint(3)", [-2], [-2], [-4]),
    "import in try": (ONE, "try:\n    import json\nexcept ImportError:\n    pass\nprint(3)", [1], [-2], [1]),
    "text over lines": (ONE, "s = '''a\nb'''\nprint(len(s))", [0], [0], [1]),
    "exit()": (ONE, "print(3)\nexit()", [-1], [1], [1]),
    "quit()": (ONE, "print(3)\nquit()", [-1], [1], [-4]),
    "sys.exit(1)": (ONE, "import sys\nprint(3)\nsys.exit(1)", [1], [1], [1]),
    "sys.stdout.close()": (ONE, "import sys\nprint(3)\nsys.stdout.close()", [-1], [1], [-4]),
    "error behind the output": (ONE, "print(3)\n1 / 0", [-1], [-1], [-4]),
    "return": (ONE, "print(3)\nreturn", [1], [1], [1]),
    "main that nobody calls": (ONE, "def main():\n    print(3)", [0], [1], [-2]),
    "main guard": (ONE, "def main():\n    print(3)\nif __name__ == '__main__':\n    main()", [0], [1], [1]),
    "syntax error": (SUM, "print(3", [-2], [-2], [-4]),
    "nothing but imports": (ONE, "import sys", [-2], [-2], [-4]),
    "names of the prelude": (ONE, "print(gcd(3, 6), end='')", [1], [1], [1]),
    "pow of builtins": (problem([""], ["3"]), "print(pow(2, 3, 5))", [1], [1], [1]),
    "numpy without import": (ONE, "print(np.array([1, 2]).sum())", [1], [-1], [-4]),
    "annotations": (ONE, "def f(x=Optional[int]): pass\nprint(3)", [-1], [1], [1]),
    "functions taken away": (ONE, "import os\nprint(3 if os.getcwd is None else 4)", [1], [0], [1]),
    "kept going": (problem(["1", "2", "1"], ["1", "1", "1"]), "print(input())", [1, 0, 1], [1, 0], [1, -2]),
    "no tests": (problem([], []), "print(3)", [], [], []),
    "no tests, broken program": (problem([], []), "print(3", [-2], [-2], [-4]),
    "fewer outputs": (problem(["1", "2"], ["1"]), "print(1)", [-1] * 21, [-1, -1], [1]),
    "lines": (problem([["3", "4"]], [["3", "4"]]), "print(input())\nprint(input())", [1], [-1], [-4]),
    "a call": (problem([[3], [4]], [3, [4]], "f"), "def f(a): return a", [1, 1], [-1, -1], [-4]),
    "a method": (problem([[3]], [[3]], "f"), "class Solution:\n    def f(self, a): return (a,)", [1], [-1], [-4]),
    "an exit in a call": (problem([[3]], [3], "f"), "import sys\ndef f(a): sys.exit()", [-1] * 21, [-1], [-4]),
    "a missing function": (problem([[3]], [3], "f"), "def g(a): return a", [-2], [-1], [-4]),
    "a broken call": (problem([[3], [4]], [3, 4], "f"), "def f(a): return 12 // (a - 3) // 3", [-1, 1], [-1, -1], [-4]),
    "a class Solution": (ONE, "class Solution:\n    def f(self):\n        print(3)\nSolution().f()", [1], [1], [-4]),
    "no class Solution": (ONE, "# class Solution\nprint(3)", [1], [1], [1]),
    "a quoted annotation": (
        problem(["3"], ["3"]),
        f"{NODE}print(Node(int(input())).value)",
        [1],
        [-1],
        [-4],
    ),
    "a quoted annotation, in a call": (
        problem([[3]], [3], "f"),
        f"{NODE}def f(a): return Node(a).value",
        [1],
        [-1],
        [-4],
    ),
    "multiprocessing": (ONE, "import multiprocessing\nprint(3)", [1], [1], [1]),
    "no arguments of ours": (ONE, "import sys\nprint(3 if len(sys.argv) == 1 else sys.argv)", [1], [1], [1]),
    "a long number": (ONE, f"x = {'7' * 5000}\nprint(3)", [1], [-2], [1]),
    "a very long number": (ONE, f"x = {'7' * 50_001}\nprint(3)", [1], [-2], [-4]),
    "a lone surrogate": (ONE, "print(3)\n# \ud800", [-2], [-2], [-4]),
    "a loop": (ONE, LOOP, [-1], [-1], [-3]),
}


NAMES = ("hendrycks", "eval-protocol", "livecodebench")


@pytest.mark.parametrize(
    ("case", "name"),
    [
        pytest.param(case, name, id=f"{what}-{name}")
        for what, case in PROGRAMS.items()
        for name in NAMES
        if case[1] != LOOP or name == "livecodebench"  # a loop takes long: once is enough
    ],
)
def test_results(
    warm_grader: WarmGrader, case: tuple[AppsProblem, str, list[Code], list[Code], list[Code]], name: str
) -> None:
    """Each program gets the results of the original grader (found by running its code)."""
    row, program, *expected = case
    wanted = expected[NAMES.index(name)]
    found = codes_of(warm_grader, grader_named(name), row, program)
    assert found == wanted
    assert all(code is True or code is False or code < 0 for code in found)


# --------------------------------------------------------------------------- recorded results


def check_recorded(warm_grader: WarmGrader, shared: Path, step: int) -> None:
    """Grade each `step`-th recorded generation, and compare with the recorded result."""
    catalog = load_catalog(open_source(shared / "tasks/apps/apps.jsonl"))
    profile = grader_named("hendrycks")
    wrong = []
    for generation in list(open_source(shared / "tasks/apps/generations.jsonl").iterate())[::step]:
        values = generation.values
        row = catalog.problem(str(values["problem_id"]))
        worst = min(codes_of(warm_grader, profile, row, values["code"]), default=True)
        if worst is not values["recorded_result"] and worst != values["recorded_result"]:
            wrong.append((values["uuid"], worst, values["recorded_result"]))
    assert not wrong


def test_some_recorded_results(warm_grader: WarmGrader, shared: Path) -> None:
    """Some recorded generations get the recorded results, which are years old."""
    check_recorded(warm_grader, shared, 9)


@pytest.mark.full
def test_all_recorded_results(warm_grader: WarmGrader, shared: Path) -> None:
    """All 83 recorded generations get the recorded results."""
    check_recorded(warm_grader, shared, 1)
