"""What a program does to its own interpreter does not change how its run is reported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.jobs.harness import linked_program_file
from ioi_eval.model import SourceFile
from tests.graders_py.conftest import Run, Warm, memory_file, with_descriptors

MAX_REPORT_BYTES = 16_384  # that the runner reads; kReportBytes


@pytest.mark.parametrize("character", ["x", "é", "中", "🙂"])
@pytest.mark.parametrize(
    ("program", "phase"),
    [("raise ValueError({text!r})", "run"), ("{text} = = 1", "compile")],
)
def test_a_long_error_fits_into_a_report(run: Run, program: str, phase: str, character: str) -> None:
    """Also one of characters that take 6 or 12 bytes each in JSON."""
    ended = run(program.format(text=character * 20_000))
    assert (ended.code, ended.phase) == (1, phase)
    assert ended.report["error"]
    assert ended.report["traceback"].endswith("\n")
    assert len(str(ended.report).encode("unicode_escape")) < MAX_REPORT_BYTES


def test_an_exit_has_no_traceback(run: Run) -> None:
    """Nobody reads it, and a long chain of exceptions takes long to format."""
    ended = run("import sys\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    sys.exit(3)")
    assert (ended.code, ended.phase, ended.report["exit"], ended.report["traceback"]) == (3, "run", True, "")


@pytest.mark.parametrize(
    "ending",
    [
        "os.closerange(3, 1000)",
        "os.closerange(3, 1000); sys.exit()",
        "builtins.sorted = builtins.type = builtins.getattr = builtins.len = None",
    ],
)
def test_a_program_that_has_printed_its_answer_ends_well(run: Run, ending: str) -> None:
    """Although it closes all descriptors, or replaces functions of Python: as under a plain interpreter."""
    ended = run(f"import builtins, os, sys\nprint(7)\n{ending}")
    assert (ended.code, ended.stdout, ended.stderr) == (0, b"7\n", "")


WRITER = "import os, sys\nclass Writer:\n    def __del__(self): {}\nwriter = Writer()\n"
LAST_WORDS = {
    "a finalizer that needs a module": WRITER.format("sys.stdout.write('end')"),
    "a finalizer that needs a function": WRITER.format("say()") + "def say(): print('end')",
    "a finalizer after an exception": WRITER.format("print('end', sys is None)") + "raise ValueError",
    "a generator": "import sys\ndef g():\n    try: yield\n    finally: sys.stdout.write('end')\nx = g()\nnext(x)",
    "an unclosed file": "import os\nfile = os.fdopen(1, 'w')\nfile.write('end')",
    "an unclosed file beside a function": "def f(): file.write('end')\nfile = open(1, 'w')\nf()",
    "an unclosed file that a hook keeps": "import sys\nf = open(1, 'w')\nf.write('end')\nsys.excepthook = lambda: f",
    "an unclosed file in an object": "class A: pass\na = A()\na.a, a.file = a, open(1, 'w')\na.file.write('end')",
    "no standard output": "import sys\nprint('end')\ndel sys.stdout",
    "a function of C": "import ctypes\nprint('the')\nctypes.CDLL(None).puts(b'end')",
    "an exit code of 70 bits": "import sys\nprint('end')\nsys.exit(1 << 70)",
    "a hook that exits": "import sys\nprint('end')\nsys.excepthook = lambda *_: sys.exit(0)\nraise ValueError",
}


@pytest.mark.parametrize("program", LAST_WORDS.values(), ids=LAST_WORDS)
def test_the_end_of_a_program_is_that_of_a_script(run: Run, tmp_path: Path, program: str) -> None:
    """Finalizers find the names of their module, unclosed files are written out, and the exit code is the same."""
    (tmp_path / "script.py").write_text(program)
    script = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, check=False)
    ended = run(program)
    assert (ended.code, ended.stdout) == (script.returncode, script.stdout)
    assert b"end" in ended.stdout


@pytest.mark.parametrize("name", ["gcd", "factorial", "Counter"])
def test_a_name_of_ours_is_no_function_of_a_program(run: Run, name: str) -> None:
    """A program may use `gcd` without importing it, but one that is asked for `gcd` must define or import it."""
    missing = run("pass", args=(12,), fn_name=name)
    assert (missing.code, missing.phase) == (1, "load")
    assert f"the program has no function {name}" in missing.stderr
    other = run("class Solution:\n    def twice(self, n): return 2 * n", args=(12,), fn_name=name)
    assert (other.code, other.phase) == (1, "load")


@pytest.mark.parametrize(
    "program",
    [
        "from math import factorial",
        "class Solution:\n    def factorial(self, n): return factorial(n)",
        "def f(n): return factorial(n)\nclass Solution:\n    factorial = staticmethod(f)",
    ],
)
def test_a_name_of_ours_can_still_be_used(run: Run, program: str) -> None:
    """By a program that imports it, or defines a method of its name."""
    assert run(program, args=(5,), fn_name="factorial").value == 120


ORDERS = ["for x in {7, 15, 23}: print(x)", "print(*(x for x in {'a', 'b', 'c', 'd', 'e', 'f'}))"]


@pytest.mark.parametrize("program", [*ORDERS, f"def f():\n    {ORDERS[0]}\nf()"])
def test_a_set_has_the_same_order_in_each_test(warm: Warm, run: Run, program: str) -> None:
    """And the one that it has where the program is compiled anew, although compiled programs are kept between tests."""
    code = memory_file()
    printed = []
    for _ in range(3):
        opened = os.open(f"/proc/self/fd/{code}", os.O_RDWR)
        pid, fds = warm.start(program, b"", {"code": opened})
        printed.append(warm.finish(pid, fds).stdout)
        os.close(opened)
    assert len(set(printed)) == 1
    if "'a'" not in program:  # the order of texts depends on the process
        assert printed[0] == run(program).stdout


def test_numpy_draws_other_numbers_in_each_test(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the warm interpreter has imported `numpy.random` already, whose state each fork inherits."""
    pytest.importorskip("numpy")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # as in a box
    warm = Warm(archive, tmp_path, preload="numpy.random")
    drawn = [warm.run("import numpy as np\nprint(np.random.randint(1 << 62))").stdout for _ in range(4)]
    warm.stop()
    assert len(set(drawn)) == len(drawn)


def test_a_module_has_the_builtins_of_the_program(archive: Path, tmp_path: Path) -> None:
    """A grader that replaces a builtin replaces it for the submission, too, as under a plain interpreter."""
    grader = b"import builtins\nbuiltins.input = lambda: 'from the grader'\nbuiltins.ask = lambda: 7\nimport sol\n"
    assert linked(archive, tmp_path, grader, b"print(input(), ask())\n") == (b"from the grader 7\n", b"")


def test_a_module_opens_a_stream_by_its_path(archive: Path, tmp_path: Path) -> None:
    """As a program without a grader does. The kernel cannot open a socket by its path, as a box has no path."""
    grader = (
        b"import os, socket, sol\nours, its = socket.socketpair()\nos.dup2(its.fileno(), 1)\n"
        b"sol.say('end')\nos.write(2, ours.recv(100))\n"
    )
    sol = b"def say(x):\n    with open('/dev/stdout', 'w') as out: out.write(x)\n"
    assert linked(archive, tmp_path, grader, sol) == (b"", b"end")


@pytest.mark.parametrize("keep", [b"", b"import sys\nsys.excepthook = lambda: sol\n"])
def test_files_of_a_module_are_written_out(archive: Path, tmp_path: Path, keep: bytes) -> None:
    """A file that a module of the program opened and did not close, also if something refers to the program."""
    program = b"import sol\nsol.say('end')\n" + keep
    assert linked(archive, tmp_path, program, b"out = open(1, 'w')\ndef say(x): out.write(x)\n") == (b"end", b"")


def linked(archive: Path, tmp_path: Path, program: bytes, sol: bytes) -> tuple[bytes, bytes]:
    """What a program that imports `sol` prints, and its errors."""
    submission = SourceFile(path="sol.py", content=sol)
    program_fd = memory_file(linked_program_file(program, [submission]))
    done = subprocess.run(
        with_descriptors([program_fd], [sys.executable, "-s", str(archive), "run"]),
        capture_output=True,
        pass_fds=[program_fd],
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    os.close(program_fd)
    return done.stdout, done.stderr
