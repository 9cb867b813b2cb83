"""Programs on tests in real processes: right programs pass, wrong ones fail, and each result has a reason."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings, require_fit
from ioi_eval.apps.verdicts import why_unusable
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compat import grader_named
from ioi_eval.errors import InputError, SetupError
from ioi_eval.jobs.harness import Interpreter, interpreter_of, preloaded
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.model import Isolation, Verdict
from ioi_eval.model.apps import AppsProblem, RowFault
from ioi_eval.model.methods import Comparator
from ioi_eval.sandbox import LOCAL
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests import unprivileged
from tests.full_isolation import reached
from tests.python_box import row, score_all
from tests.shared_work import copy_cache

Score = Callable[..., AppsResult]

NEXT = row(["3\n", "-1\n"], ["4\n", "0\n"])
ADD = row([[1, 2], [[1], [2]]], [3, [1, 2]], "add")
BIG = row([f"1\n{'7 ' * 60_000}\n"], [f"{7 * 60_000}\n"])
DIGITS = row(["400\n"], [f"{10**400 + 7}\n"])
SEVENS = 10**5000 // 9 * 7
INC = row([[SEVENS]], [SEVENS + 1], "inc")

THREADED = """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(1 << 27)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
def main():
    print(down(50_000) - 49_999 + int(input()))
thread = threading.Thread(target=main)
thread.start()
thread.join()
"""

IN_C = """
import sys
from functools import lru_cache
sys.setrecursionlimit(10**6)
n = 3_000 if (3, 12) <= sys.version_info < (3, 14) else 20_000  # these limit recursion in C, not by the stack
@lru_cache(None)
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
print(down(n) - n + 1 + int(input()))
"""

RIGHT: dict[str, tuple[AppsProblem, str]] = {
    "plain": (NEXT, "print(int(input()) + 1)"),
    "open(0)": (NEXT, "print(int(open(0).read()) + 1)"),
    "its own file": (NEXT, "print(int(input()) + len(open(__file__).readlines()))"),
    "os.read": (NEXT, "import os\nprint(int(os.read(0, 100)) + 1)"),
    "buffer.readline": (NEXT, "import sys\ninput = sys.stdin.buffer.readline\nprint(int(input()) + 1)"),
    "120 KB on a line": (BIG, "input()\nprint(sum(map(int, input().split())))"),
    "120 KB, to the end": (BIG, "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split()[1:])))"),
    "blanks and blank lines at the ends": (NEXT, "print(int(input()) + 1, '')\nprint()\nprint()"),
    "carriage returns": (NEXT, "import sys\nsys.stdout.write(f'{int(input()) + 1}\\r\\n')"),
    "exit() at the end": (NEXT, "print(int(input()) + 1)\nexit()"),
    "exit(0) in a function": (
        NEXT,
        "import sys\ndef f():\n    print(int(input()) + 1)\n    sys.exit(0)\nf()\nprint(9)",
    ),
    "a guard": (NEXT, "def main():\n    print(int(input()) + 1)\nif __name__ == '__main__':\n    main()"),
    "global": (NEXT, "global n\nn = int(input())\ndef f():\n    global n\n    n += 1\nf()\nprint(n)"),
    "star imports": (
        NEXT,
        "from math import *\nfrom collections import *\nprint(Counter({gcd(6, 9): 1})[3] + int(input()))",
    ),
    "threads and deep recursion": (NEXT, THREADED),
    "deep recursion in C": (NEXT, IN_C),
    "401 digits": (DIGITS, "print(10 ** int(input()) + 7)"),
    "written at the end": (NEXT, "import atexit\nn = int(input())\natexit.register(lambda: print(n + 1))"),
    "streams by their paths": (
        NEXT,
        "import pathlib\nn = int(pathlib.Path('/dev/stdin').read_text())\n"
        "with open(b'/dev/stdout', 'w') as out: print(n + 1, file=out)",
    ),
    "without a line feed": (NEXT, "print(int(input()) + 1, end='')"),
    "through a descriptor": (NEXT, "import os\nos.write(1, b'%d' % (int(input()) + 1))"),
    "a file of its own": (NEXT, "open('x', 'w').write(input())\nprint(int(open('x').read()) + 1)"),
    "a function": (ADD, "def add(a, b):\n    print('not a result')\n    return a + b"),
    "a method": (ADD, "class Solution:\n    def add(self, a: List[int], b) -> int:\n        return a + b"),
    "LeetCode's own classes": (
        ADD,
        "class Solution:\n    def add(self, a: Optional[TreeNode], b: ListNode):\n"
        "        return ListNode(a + b).val if TreeNode().left is None else 0",
    ),
    "a tuple for a list": (ADD, "def add(a, b):\n    return a + b if a == 1 else tuple(a + b)"),
}


def score_warm_and_cold(score: Score, problem: AppsProblem, code: str) -> AppsResult:
    """The result in forks of a warm interpreter: a program cannot tell these from new interpreters."""

    def seen(result: AppsResult) -> list[object]:
        return [(test.verdict, test.message, test.output, test.exit_code, test.signal) for test in result.tests]

    result = score(problem, code)
    assert seen(score(problem, code, warm=False)) == seen(result)
    return result


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_pass(name: str, score: Score) -> None:
    """In any way of reading, writing and ending that works with `python3 solution.py`."""
    problem, code = RIGHT[name]
    result = score_warm_and_cold(score, problem, code)
    assert (result.verdict, result.score) == (Verdict.AC, 1.0), result


WRONG: dict[str, tuple[AppsProblem, str, list[str], str]] = {
    "an answer": (NEXT, "input()\nprint(4)", ["AC", "WA"], 'line 1: expected "0", found "4"'),
    "nothing": (NEXT, "", ["WA", "WA"], 'line 1: expected "4", found the end'),
    "a digit of 401": (DIGITS, "print(10 ** int(input()) + 1)", ["WA"], "line 1: expected"),
    "one line more": (NEXT, "print(int(input()) + 1)\nprint(1)", ["WA", "WA"], "line 2: expected the end"),
    "1_000": (row(["\n"], ["1000\n"]), "print('1_000')", ["WA"], "line 1"),
    "yes for YES": (row(["\n"], ["YES\n"]), "print('yes')", ["WA"], "line 1"),
    "lines in another order": (row(["\n"], ["1\n2\n"]), "print('2\\n1')", ["WA"], "line 1"),
    "right, then exit code 1": (NEXT, "print(int(input()) + 1)\nexit(1)", ["RE", "RE"], "exit code 1"),
    "an exception": (NEXT, "print(int(input()) + 1)\n1 / 0", ["RE", "RE"], "ZeroDivisionError: division by zero"),
    "a syntax error": (NEXT, "print(int(input()) + 1", ["CE", "CE"], "SyntaxError"),
    "a return at the top": (NEXT, "print(int(input()) + 1)\nreturn", ["CE", "CE"], "'return' outside function"),
    "no such module": (NEXT, "import nosuchmodule", ["RE", "RE"], "No module named 'nosuchmodule'"),
    "a signal": (NEXT, "import os\nos.abort()", ["RE", "RE"], "killed by SIGABRT"),
    "SIGTERM to itself": (NEXT, "import os\nos.kill(os.getpid(), 15)", ["RE", "RE"], "killed by SIGTERM"),
    "too much recursion": (NEXT, "def f(): f()\nf()", ["RE", "RE"], "RecursionError"),
    "a process": (NEXT, "import os\nos.fork()\nprint(int(input()) + 1)", ["RE", "RE"], "PermissionError"),
    "no function": (ADD, "def sub(a, b): return a - b", ["RE", "RE"], "the program has no function add"),
    "another result": (ADD, "def add(a, b): return a", ["WA", "WA"], "expected 3, found 1"),
    "an exit from a function": (ADD, "def add(a, b): exit()", ["RE", "RE"], "exit code 1"),
    "an object": (ADD, "class A: pass\ndef add(a, b): return A()", ["WA", "WA"], 'expected 3, found "<A>"'),
    "a digit of 5000, called": (INC, "def inc(n): return n + 2", ["WA"], "778 (5000 characters), found …777"),
    "far in a list": (
        row([[]], [list(range(20_000))], "f"),
        "def f(): return [*range(19_000), -1]",
        ["WA"],
        ", 18999, -1] (121894 characters)",
    ),
    "what is not a result": (ADD, "import os\ndef add(a, b):\n    os._exit(0)", ["WA", "WA"], "found no result"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_fail(name: str, score: Score) -> None:
    """With the verdict of each test, and a message with the reason."""
    problem, code, verdicts, words = WRONG[name]
    result = score_warm_and_cold(score, problem, code)
    assert [test.verdict for test in result.tests] == verdicts, result
    failed = next(test for test in result.tests if not test.passed)
    assert words in failed.message
    assert result.verdict == failed.verdict
    assert result.score == verdicts.count("AC") / len(verdicts)


@pytest.mark.parametrize(
    ("program", "loaded"),
    [
        ("import random, json\nimport re", "json,random"),
        ("import sys, heapq as h, os.path\nfrom math import *\n  import re", ""),
        ("from dataclasses import dataclass", "dataclasses"),
        ("important = from_ = 1\nx = 'import re'", ""),
        ("import numpy.linalg", "numpy"),
        ("import antigravity, this, subprocess, socket", ""),
    ],
)
def test_imports_that_a_warm_interpreter_preloads(program: str, loaded: str) -> None:
    """Slow modules that the program imports, if importing them has no effects. Common modules are always loaded."""
    assert preloaded(program, calls=False) == loaded
    assert preloaded(program, calls=True) == ",".join(["call", loaded] if loaded else ["call"])


@pytest.mark.parametrize("warm", [True, False])
def test_an_interpreter_that_cannot_read_the_program_is_our_failure(
    score: Score, monkeypatch: pytest.MonkeyPatch, warm: bool
) -> None:
    """As after an upgrade during the run, or on a worker with another Python: its harness is in another bytecode.
    Without a warm interpreter that was RE, with a score of 0.
    """

    def broken(answer: CompileAnswer, python: str) -> Interpreter:
        interpreter = interpreter_of(answer, python)
        return replace(interpreter, harness=interpreter.harness[:1000])

    monkeypatch.setattr("ioi_eval.tools.interpreter_of", broken)
    result = score(NEXT, "print(int(input()) + 1)", warm=warm, threads=77)  # other settings: another executor asks
    assert (result.verdict, result.score) == (Verdict.JE, None)
    assert "EOF" in result.message


MANY_THREADS = """
import threading
n = int(input())
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range(n)]
for thread in threads: thread.start()
while n > 500: go.wait(0.1)
go.set()
for thread in threads: thread.join()
print(n)
"""


def test_limit_on_threads(score: Score) -> None:
    """Three hundred threads at once are allowed. Above the limit the message names it. Threads are counted at
    intervals.
    """
    few, many = score(row(["300\n", "600\n"], ["300\n", "600\n"]), MANY_THREADS).tests
    assert few.verdict is Verdict.AC, few
    assert (many.verdict, many.limit, many.message) == (Verdict.RE, "threads", "more than 500 threads at once")


def test_a_function_that_returns_nothing_has_a_reason(score: Score) -> None:
    """Changes of its argument do not count."""
    (test,) = score(row([[[3, 1, 2]]], [[1, 2, 3]], "order"), "def order(numbers): numbers.sort()").tests
    assert test.verdict is Verdict.WA
    assert test.message.startswith("expected [1, 2, 3], found null: the function returned nothing")
    assert score(row([[1]], [None], "f"), "def f(n): pass").verdict is Verdict.AC


@pytest.mark.parametrize("compat", [None, "eval-protocol-page"])
def test_the_shown_output_of_a_function_is_its_result(compat: str | None, score: Score) -> None:
    """As JSON, not as the box encodes it."""
    rules = {} if compat is None else {"compat": grader_named(compat)}
    result = score(row([[1]], [[1, 2.5, "ä"]], "f"), "def f(n): return [n, 1.5, 'ö']", **rules)
    assert (result.tests[0].verdict, result.tests[0].printed_text) == (Verdict.WA, '[1, 1.5, "ö"]')
    if compat is not None:
        assert result.graded is not None
        assert result.graded.metadata[0]["output"] == '[1, 1.5, "ö"]'


def test_a_large_result_is_shown_as_it_came(score: Score) -> None:
    """Decoding it would keep other jobs waiting, and only its first bytes are shown."""
    (test,) = score(row([[1]], [["x" * 100_000]], "f"), "def f(n): return ['x' * 100_000]").tests
    assert (test.verdict, test.printed_text[:8]) == (Verdict.AC, '["l","xx')


def test_limits(score: Score) -> None:
    """Time, idle time, memory and output: the rules for compiled programs."""
    one = row(["1\n"], ["1\n"])
    limits: dict[str, Any] = {"time_limit_s": 0.5, "memory_limit_bytes": 32 << 20, "output_bytes": 1 << 20}
    cases = {
        "while True: pass": ("TLE", "cpu"),
        "import time\ntime.sleep(100)": ("TLE", "idle"),
        "a = [bytearray(1000) for _ in range(10**6)]": ("MLE", "memory"),
        "a = bytearray(1 << 40)": ("MLE", None),
        "while True: print('x' * 1000)": ("OLE", "output"),
    }
    found = {}
    for code in cases:
        (test,) = score(one, code, **limits).tests
        found[code] = (test.verdict, test.limit)
        assert test.passed is False
    assert found == cases


def test_a_program_is_compiled_in_its_first_test(score: Score) -> None:
    """Most of this program's time is its compilation. (On a busy machine its second test may be in another job.)"""
    code = "n = int(input())\n" + "".join(f"def f{i}(a): return [a + {i}, a * {i}]\n" for i in range(2000)) + "print(n)"

    def shares() -> float:
        first, second = score(row(["1\n", "2\n"], ["1\n", "2\n"]), code).tests
        assert first.verdict is second.verdict is Verdict.AC
        return (second.time_s or 9.0) / (first.time_s or 9.0)

    assert any(shares() < 0.6 for _ in range(5))


def test_time_is_counted_for_each_test(score: Score) -> None:
    """Eight tests of 0.1 s pass under a limit of 0.5 s: their times are not added up."""
    busy = "import time\nwhile time.process_time() < 0.1: pass\nprint(input())"
    result = score(row(["1\n"] * 8, ["1\n"] * 8), busy, time_limit_s=0.5)
    assert result.score == 1.0
    assert all(test.time_s is not None and 0.08 < test.time_s < 0.5 for test in result.tests)


def test_tests_share_nothing(score: Score) -> None:
    """No file, module or other state is left from one test to the next."""
    code = """
import os, sys, builtins
print(len(os.listdir('.')), hasattr(builtins, 'left'), getattr(sys, 'left', 0))
open('left', 'w').write('x')
builtins.left = sys.left = 1
"""
    assert score(row(["1\n"] * 3, ["0 False 0\n"] * 3), code).score == 1.0


def test_fail_fast(score: Score) -> None:
    """Tests after the first failure do not count, whether the box or our side judges. The total stays the same."""
    for problem, code in ((row(["1\n"] * 9, ["1\n", "2\n"] + ["1\n"] * 7), "print(1)"),
                          (row([[1]] * 9, [1, 2, *[1] * 7], "f"), "def f(x): return x")):  # fmt: skip
        result = score(problem, code, fail_fast=True)
        assert [test.verdict for test in result.tests] == ["AC", "WA", *["SKIPPED"] * 7]
        assert (result.passed, result.total, result.verdict) == (1, 9, Verdict.WA)
        assert score(problem, code).passed == 8


@pytest.mark.parametrize(
    ("rule", "right"),
    [("lines", 0), ("tokens", 1), ("float:1e-6", 1), ("case-insensitive", 0), ("unordered-lines", 0), ("exact", 0)],
)
def test_comparators(rule: str, right: int, score: Score) -> None:
    """The box judges by the selected comparator, and the result names it."""
    result = score(row(["1\n"], ["1 2\n"]), "print('1\\n2')", comparator=Comparator.parse(rule))
    assert (result.passed, result.judged_by) == (right, rule)


def test_a_checker_judges(score: Score, tmp_path: Path) -> None:
    """A checker gets input, answer and output. Only a score of 1 passes."""
    source = tmp_path / "checker.cpp"
    source.write_text(
        "#include <cstdio>\n#include <fstream>\nint main(int, char** v) { double a, b, c; std::ifstream(v[1]) >> a;\n"
        'std::ifstream(v[2]) >> b; std::ifstream(v[3]) >> c; printf(c == a + b ? "1" : "0.5"); fputs("said", stderr); }'
    )
    result = score(row(["3\n", "4\n"], ["4\n", "5\n"]), "print(7)", comparator=Comparator.parse(f"checker:{source}"))
    assert [(test.verdict, test.passed) for test in result.tests] == [("AC", True), ("PA", False)]
    assert result.tests[1].message == "said"
    refused = score(ADD, "def add(a, b): return a + b", comparator=Comparator.parse(f"checker:{source}"))
    assert refused.score is None
    assert "asks for a function" in refused.message


def test_rows_that_cannot_be_judged(score: Score) -> None:
    """They have no score and are neither passed nor failed."""
    for problem, fault in ((row([], []), RowFault.EMPTY), (row(["1"], []), RowFault.UNEQUAL)):
        result = score(problem, "print(1)")
        assert (result.score, result.fault, result.verdict) == (None, fault, Verdict.JE)


@pytest.mark.parametrize(
    ("compat", "words"),
    [
        ("mcpbr", "Empty test cases"),
        ("eval-protocol-page", "Execution utility returned no results."),
        ("eval-protocol", ""),
        ("livecodebench", ""),
        ("hendrycks", ""),
    ],
)
def test_a_row_without_a_pair_of_input_and_output(compat: str, words: str) -> None:
    """Graders that judge only pairs have nothing to judge, as in a row with empty lists. With Eval Protocol's page each
    program was AC, and with mcpbr JE, except a row without code, which counted as a score of 0.
    """
    settings = AppsSettings(compat=grader_named(compat))
    assert why_unusable(row(["1"], []), settings) == words
    assert not why_unusable(row(["1", "2"], ["1"]), settings)


@pytest.mark.parametrize(
    ("compat", "code", "codes"),
    [
        ("mcpbr", "print(int(input()) + 1)\nexit(1)", (False, False)),
        ("mcpbr", "print(int(input()) + 1)", (True, True)),
        ("eval-protocol", "print(int(input()) + 1)\nexit(1)", (True, True)),
        ("eval-protocol", "input()\nprint(5)", (False,)),
        ("eval-protocol", "print(int(input()) + 1", (-2,)),
        ("eval-protocol", "import os\nos._exit(0)", (-1, -1)),
        ("eval-protocol", "print('x' * 10**6)", (False,)),
        ("eval-protocol", "print(int(input()) + 1)\nprint(' ' * 10**6)", (False,)),
        ("livecodebench", "print(int(input()) + 1)", (True, True)),
        ("livecodebench", "input()\nprint(5)", (-2,)),
        ("livecodebench", "import sys\nprint(int(sys.stdin.readline()) + 1)\n1 / 0", (-4,)),
    ],
)
def test_other_graders(compat: str, code: str, codes: tuple[object, ...], score: Score) -> None:
    """The codes of another grader are computed from our runs."""
    result = score(NEXT, code, compat=grader_named(compat))
    assert result.graded is not None
    assert result.graded.codes == codes
    assert (result.passed, result.total) == (sum(code is True for code in codes), len(codes))
    assert result.judged_by == compat


def failing_with(error: type[Exception]) -> Callable[..., Any]:
    """A function that raises this error."""

    def fail(*_: object, **__: object) -> Any:
        raise error("odd")

    return fail


def test_a_grader_that_fails_has_a_result(score: Score) -> None:
    """It fails on this row or output whenever it is judged."""
    failing = replace(grader_named("mcpbr"), grade_runs=failing_with(ValueError))
    result = score(NEXT, "print(1)", compat=failing)
    assert (result.verdict, result.score, result.message) == (
        Verdict.JE,
        None,
        "mcpbr fails on this row: ValueError: odd",
    )
    assert result.graded is not None
    assert result.graded.crash == result.message


def test_our_failure_is_not_that_of_a_grader(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours, or too little memory on this machine, was stored as the result of the other grader."""
    mcpbr = grader_named("mcpbr")
    with pytest.raises(MemoryError):
        score(NEXT, "print(1)", compat=replace(mcpbr, grade_runs=failing_with(MemoryError)))
    monkeypatch.setattr("ioi_eval.engine.scheduling.ProgramRun._next_bundle", failing_with(LookupError))
    with pytest.raises(LookupError, match="odd"):
        score(NEXT, "print(1)", compat=mcpbr)


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("print(len(bytearray(10**9)))", "memory over the limit"),
        ("while True:\n    print('x' * 10**6)", "output over the limit"),
        ("import os\nos.kill(os.getpid(), 9)", "killed by SIGKILL"),
    ],
)
@pytest.mark.parametrize("compat", ["mcpbr", "eval-protocol-page"])
def test_other_graders_name_what_stopped_a_program(compat: str, code: str, rule: str, score: Score) -> None:
    """The limit, or the signal by which it ended."""
    result = score(NEXT, code, compat=grader_named(compat), memory_limit_bytes=100 << 20)
    assert result.graded is not None
    assert result.graded.rules == (rule, rule)


def test_a_row_that_a_grader_refuses_without_a_run(score: Score) -> None:
    """It is WA with the grader's message, and not only SKIPPED."""
    result = score(ADD, "def add(a, b): return a + b", compat=grader_named("livecodebench"))
    assert (result.verdict, result.score) == (Verdict.WA, 0.0)
    assert "has no attribute 'split'" in result.message
    assert result.message in result.tests[0].message


def test_a_profile_that_needs_numpy_requires_it(score: Score) -> None:
    """If the interpreter has no numpy, the program must not fail because of that."""
    if "numpy" in score(NEXT, "print(1)").python:
        pytest.skip("this machine's Python has numpy")
    with pytest.raises(SetupError, match="needs numpy"):
        score(NEXT, "print(int(input()) + 1)", compat=grader_named("hendrycks"))


def test_a_missing_interpreter(score: Score) -> None:
    """A setup error with its name, and no verdict. No package is named: not every system has one for each version."""
    how = "install it there, or give another one with --python"
    with pytest.raises(SetupError, match=f"python2 cannot be started on this machine; {how}"):
        score(NEXT, "print(1)", python="python2")


def test_a_virtual_environment(score: Score) -> None:
    """An interpreter given by its path, with its own modules. Programs can read them, but neither change them nor read
    other files there.
    """
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "beside").write_text("not for programs")
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", folder / "venv"], check=True)
        (site,) = (folder / "venv/lib").glob("python3*/site-packages")
        (site / "only_here.py").write_text("ANSWER = 1\n")
        code = f"""
import only_here, os
print(int(input()) + only_here.ANSWER)
for way in (lambda: open("{folder}/beside").read(), lambda: open("{site}/x", "w"), lambda: os.listdir("/var/tmp")[1]):
    try:
        print(way())
    except (OSError, IndexError):
        pass
"""
        result = score(NEXT, code, python=f"{folder}/venv/bin/python")
    assert result.score == 1.0, result


def test_an_interpreter_that_finds_its_library_from_its_own_place(score: Score) -> None:
    """Those of Conda and uv have the search path `$ORIGIN/../lib`. Programs do not see the variable for the loader."""
    shared, directory, name = map(sysconfig.get_config_var, ("Py_ENABLE_SHARED", "LIBDIR", "INSTSONAME"))
    if not shared or not Path(directory, name).exists():
        pytest.skip("this Python has no shared library")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        python, library = folder / "bin" / "python", folder / "lib" / name
        python.parent.mkdir()
        modules = sysconfig.get_path("stdlib")
        unused = shutil.ignore_patterns("site-packages", "dist-packages", "test", "config-*", "idlelib", "ensurepip")
        shutil.copytree(modules, library.parent / Path(modules).name, ignore=unused)
        shutil.copy(Path(directory, name), library)
        source = (
            'extern "C" int Py_BytesMain(int, char**);\nint main(int n, char** argv) { return Py_BytesMain(n, argv); }'
        )
        command = ["g++", "-x", "c++", "-", "-x", "none", str(library), "-Wl,-rpath,$ORIGIN/../lib", "-o", str(python)]
        subprocess.run(command, input=source, text=True, check=True)
        code = "import os\nassert 'LD_ORIGIN_PATH' not in os.environ\nprint(int(input()) + 1)"
        for warm in (True, False):
            result = score(NEXT, code, python=str(python), warm=warm)
            assert result.score == 1.0, result


def test_settings_are_checked() -> None:
    """Invalid settings are refused before anything runs."""
    for settings in (
        {"time_limit_s": -1.0},
        {"time_limit_s": 0.0},
        {"memory_limit_bytes": 0},
        {"memory_limit_bytes": 2**47},
        {"comparator": "tokens"},
        {"compat": "mcpbr"},
    ):
        with pytest.raises(InputError):
            AppsSettings(**settings)
    with pytest.raises(InputError, match="hendrycks itself decides after which test it stops; leave fail_fast out"):
        AppsSettings(compat=grader_named("hendrycks"), fail_fast=True)
    with pytest.raises(InputError, match="hendrycks has its own rules; leave the comparator tokens out"):
        AppsSettings(compat=grader_named("hendrycks"), comparator=Comparator.parse("tokens"))


@pytest.mark.parametrize("max_jobs", [0, -1])
def test_no_jobs_at_once_are_an_error(max_jobs: int, tmp_path: Path) -> None:
    """The executor waited for ever for the first job."""
    with pytest.raises(InputError, match=f"max_jobs is {max_jobs}; give 1 or more"):
        AppsExecutor(LocalSandbox(), artifacts=ArtifactStore(tmp_path), max_jobs=max_jobs)


@pytest.mark.root
@pytest.mark.parametrize("strongest", ["full", "reduced"])
def test_an_ordinary_user_gets_the_same(strongest: str, cache_with_runner: Path) -> None:
    """Verdicts do not depend on the user who judges."""
    programs = [RIGHT["plain"], RIGHT["threads and deep recursion"], RIGHT["a function"]]
    programs += [WRONG[name][:2] for name in ("an answer", "an exception", "a process")]
    isolation, why_not = unprivileged.call(reached, Isolation(strongest))
    if isolation.value != strongest:
        pytest.skip(f"no {strongest} isolation for an ordinary user here: {why_not}")
    with unprivileged.private_directory() as cache:
        copy_cache(cache_with_runner, cache, owner=unprivileged.UID)
        results = unprivileged.call(score_all, cache, programs, AppsSettings(), Isolation(strongest))
    assert [result.verdict for result in results] == ["AC", "AC", "AC", "WA", "RE", "RE"]
    assert {result.isolation for result in results} == {Isolation(strongest)}


@pytest.mark.parametrize("compat", ["eval-protocol", "livecodebench"])
def test_profiles_that_rewrite_programs_need_python_3_9(compat: str) -> None:
    """Python 3.8 has no `ast.unparse`. These graders need it and would otherwise judge right programs wrong."""

    def python(version: str) -> Interpreter:
        return Interpreter(version=version, numpy=None, path="/usr/bin/python3", sees=(), harness=b"")

    with pytest.raises(SetupError, match=r"needs Python 3\.9 or newer, .* is cpython 3\.8\.18"):
        require_fit(python("cpython 3.8.18"), grader_named(compat), on="here")
    for version in ("cpython 3.9.0", "cpython 3.14.0rc1", "pypy 3.10.14"):
        require_fit(python(version), grader_named(compat), on="here")


def test_the_message_about_numpy_says_how_to_install_it() -> None:
    """For this machine's Python, and for another one."""
    python = Interpreter(version="cpython 3.11.2", numpy=None, path="/opt/py/bin/python3", sees=(), harness=b"")
    how = r"\(Debian, Ubuntu: apt install python3-numpy; elsewhere: /opt/py/bin/python3 -m pip install numpy\), or give"
    for on, where in ((LOCAL, "this machine"), ("http://w1:2000", "http://w1:2000")):
        with pytest.raises(SetupError, match=f"/opt/py/bin/python3 on {where} has none; install it there {how}"):
            require_fit(python, grader_named("hendrycks"), on=on)
