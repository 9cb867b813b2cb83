"""A program runs in the harness as with `python3 solution.py`."""

from __future__ import annotations

import ctypes
import importlib
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ioi_eval.boxfiles import harness_archive

Run = Callable[..., Any]

execution = importlib.import_module("graders.harness.execution")  # mypy knows it by another name


def as_script(program: str, stdin: bytes, tmp_path: Path) -> tuple[int, bytes]:
    """Exit code and stdout of the program in a plain interpreter."""
    path = tmp_path / "solution.py"
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, "-X", "int_max_str_digits=0", path.name],
        input=stdin,
        capture_output=True,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        check=False,
    )
    return done.returncode, done.stdout


PROGRAMS = {
    "input": "print(int(input()) * 2)",
    "stdin": "import sys\nprint(sum(map(int, sys.stdin)))",
    "from sys import stdin": "from sys import stdin\nprint(stdin.readline().strip(), stdin.read())",
    "buffer": "import sys\nprint(sys.stdin.buffer.readline(), sys.stdin.buffer.read())",
    "open(0)": "print(open(0).read().split())",
    "os.read": "import os\nprint(os.read(0, 100))\nos.write(1, b'x')",
    "end of file": "try:\n    while True:\n        print(input())\nexcept EOFError:\n    print('end')",
    "exit()": "print(1)\nexit()\nprint(2)",
    "sys.exit(3)": "import sys\nprint(1)\nsys.exit(3)",
    "exit('words')": "exit('words')",
    "exit(True)": "exit(True)",
    "exit(256)": "exit(256)",
    "exit(-1)": "exit(-1)",
    "os._exit": "import os\nprint('lost')\nos._exit(4)",
    "main guard": "def main():\n    print(__name__)\nif __name__ == '__main__':\n    main()",
    "global": "n = 1\ndef f():\n    global n\n    n += 1\nf()\nprint(n)",
    "star import": "from math import *\nprint(floor(pi))",
    "own names": "print(sorted(n for n in globals() if n[:2] != '__'), __doc__, __package__, __spec__)",
    "argv": "import sys\nprint(sys.argv)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**6)\n"
    "def f(n):\n    return n and 1 + f(n - 1)\nprint(f(50000))",
    "default recursion": "def f(n):\n    return n and 1 + f(n - 1)\nprint(f(990))",
    "deepest recursion": "def f(n):\n    return n and 1 + f(n - 1)\nprint(f(997))",
    "tight recursion": "import sys\nsys.setrecursionlimit(5010)\n"
    "def f(n):\n    return n and 1 + f(n - 1)\nprint(f(5000), sys.getrecursionlimit())",
    "invalid recursion limits": "import sys\nfor limit in 0, -1, 1.5, None, 'a', 2**31 - 1, 2**31, 2**80:\n    try:\n"
    "        print(sys.setrecursionlimit(limit), sys.getrecursionlimit())\n    except Exception as error:\n"
    "        print(type(error), error)",
    "too deep": "def f(n):\n    return 1 + f(n + 1)\nf(0)",
    "threads": "import threading, time\n"
    "def f():\n    time.sleep(.2)\n    print(2)\nthreading.Thread(target=f).start()\nprint(1)",
    "big thread": "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(1 << 26)\n"
    "def f(n):\n    return n and 1 + f(n - 1)\n"
    "t = threading.Thread(target=lambda: print(f(20000)))\nt.start()\nt.join()",
    "daemon thread": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(1)",
    "atexit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "never closed": "f = open(1, 'w', closefd=False)\nf.write('late')",
    "finalizer": "class A:\n    def __del__(self):\n        print('gone')\na = A()",
    "own stdout": "import io, os, sys\nclass W(io.StringIO):\n    def flush(self):\n"
    "        os.write(1, self.getvalue().encode()); self.seek(0); self.truncate()\nsys.stdout = W()\nprint('kept')",
    "closed stdout": "import sys\nprint(1)\nsys.stdout.close()",
    "detached stdout": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), 'utf-8')\nprint('ü')",
    "detached stdin": "import io, sys\nsys.stdin = io.TextIOWrapper(sys.stdin.detach(), 'utf-8')\nprint(input())",
    "lost stdout": "import sys\nsys.stdout.detach()",
    "error": "print(1)\n1 / 0",
    "own error": "class E(Exception):\n    def __repr__(self):\n        raise self\nraise E",
    "error in thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\nprint(1)",
    "own hook": "import sys\nsys.excepthook = lambda *a: print('hook')\n1 / 0",
    "keyboard": "raise KeyboardInterrupt",
    "syntax error": "print(1)\nx = (",
    "nul": "print(1)\0",
    "indentation": "  print(1)",
    "coding": "# coding: latin-1\nprint(len('é'))",
    "a huge integer in the source": f"print({'9' * 5000} % 7)",
    "huge integers": "print(10**5000 % 7, len(str(10**5000)), int('9' * 5000) % 7)",
    "carriage returns": "print(input().split(), end='\\r\\n')",
    "carriage returns kept": "import sys\nprint(repr(input()), sys.stdin.newlines, repr(sys.stdin.read()))",
    "not UTF-8": "import sys\nprint(ascii(sys.stdin.read()))",
    "surrogates": "print(1)\nprint('\\ud800')",
    "traceback source": "import traceback\ntry:\n    1 / 0\n"
    "except ZeroDivisionError:\n    print(traceback.format_exc())",
    "file": "import os\nprint(os.path.basename(__file__), os.path.exists('tmp.in'))",
    "eval": "x = 5\nprint(eval('x'), [eval('x') for _ in 'a'])",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__module__)",
    "future": "from __future__ import annotations\ndef f(a: B): pass\nprint(f.__annotations__)",
    "annotations": "x: int = 5\nprint(__annotations__)",
    "dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nprint(A(1))",
    "own modules": "import program",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_like_a_script(run: Run, tmp_path: Path, program: str) -> None:
    """Output and exit code are the same as in a plain interpreter."""
    stdin = b"1 \xff\n" if "ascii" in program else b"21\r\n4\n"
    ended = run(program, stdin)
    code, stdout = as_script(program, stdin, tmp_path)
    if "KeyboardInterrupt" in program:
        code = 1  # the interpreter kills itself with SIGINT
    if "\0" in program and code == 0:
        pytest.skip("this Python ignores a NUL in a script, and has no way to compile such a text but from a file")
    assert ended.code == code
    assert ended.stdout == stdout.replace(f"{tmp_path}/".encode(), b"")  # tracebacks without the directory


@pytest.mark.parametrize(
    ("program", "phase", "error"),
    [
        ("print(1)", "done", None),
        ("exit()", "run", "SystemExit(None)"),
        ("import sys\nsys.exit('no')", "run", "SystemExit('no')"),
        ("1 / 0", "run", "ZeroDivisionError('division by zero')"),
        ("x = (", "compile", "SyntaxError"),
        ("print(1)\0", "compile", "null bytes"),
        ("class E(Exception):\n    def __repr__(self):\n        raise self\nraise E", "run", "E"),
    ],
)
def test_report(run: Run, program: str, phase: str, error: str | None) -> None:
    """The report distinguishes syntax errors, other errors, and exits."""
    report = run(program).report
    assert report["phase"] == phase
    assert (error is None) is ("error" not in report)
    assert error is None or error in str(report["error"])
    assert report.get("exit", False) is ("exit" in program)


def test_traceback_begins_with_the_program(run: Run) -> None:
    """A traceback has the program's lines, and no lines of the harness."""
    ended = run("def f():\n    return [][0]\nf()")
    assert '  File "solution.py", line 2, in f\n    return [][0]' in ended.stderr
    assert "harness" not in ended.stderr


def test_large_input(run: Run) -> None:
    """Megabytes are read from stdin and written to stdout."""
    ended = run("import sys\nsys.stdout.write(sys.stdin.read().upper())", b"abc\n" * 1_000_000)
    assert ended.stdout == b"ABC\n" * 1_000_000


# --------------------------------------------------------------------------- conventions of the data set

RETURNING = {
    "return": ("print(1)\nreturn\nprint(2)", "1"),
    "in a condition": ("n = int(input())\nif n > 5:\n    print('big')\n    return\nprint('small')", "big"),
    "past a bare except": ("try:\n    print(1)\n    return\nexcept:\n    print(2)", "1"),
    "through finally": ("try:\n    return\nfinally:\n    print(3)", "3"),
    "names stay global": (
        "import math as m\nfrom os import path as p\nx = 1\nfor i in range(3): pass\nclass C: pass\ndef f():\n"
        "    global x\n    x += i + m.floor(1.5)\n    return C\n"
        "f()\nprint(x, [y for y in range(x)], p is not None)\nreturn",
        "4 [0, 1, 2, 3] True",
    ),
    "global at the top": ("global x\nx = 1\ndef f(): print(x)\nf()\nreturn", "1"),
    "star import": ("from math import *\nprint(floor(1.5))\nreturn", "1"),
    "annotations": ("x: int = 5\ny: int\nprint(x)\nreturn", "5"),
    "future": ('"""Doc."""\nfrom __future__ import annotations\nprint(__doc__)\nreturn', "Doc."),
    "with, except, walrus": (
        "import io\nwith io.StringIO('a') as s: t = s.read()\n"
        "try:\n    1/0\nexcept ZeroDivisionError as e: u = str(e)\n"
        "if (n := 3): pass\ndef f(): print(t, u, n)\nf()\nreturn",
        "a division by zero 3",
    ),
    "del": ("x = 1\ndel x\nprint('x' in globals())\nreturn", "False"),
    "starting point defined only": ("def __starting_point():\n    print(7)", "7"),
    "starting point called": ("def __starting_point():\n    print(7)\n\n__starting_point()", "7"),
    "starting point called in try": (
        "def __starting_point():\n    print(7)\n\ntry:\n    __starting_point()\nexcept EOFError:\n    pass",
        "7",
    ),
    "starting point called in a function": (
        "def __starting_point():\n    print(7)\n\ndef main():\n    return __starting_point()\n\nmain()",
        "7",
    ),
    "starting point that calls itself": (
        "def __starting_point(n=7):\n    print(n, end='')\n    if n > 6:\n        __starting_point(n - 1)",
        "76",
    ),
    "nothing to mend": ("print(1)", "1"),
}


@pytest.mark.parametrize(("program", "printed"), RETURNING.values(), ids=RETURNING)
def test_conventions(run: Run, program: str, printed: str) -> None:
    """With `conventions`, programs that the collectors of the data set changed do what their authors intended."""
    ended = run(program, b"7\n", conventions=True)
    assert (ended.code, ended.stdout.decode().strip()) == (0, printed), ended.stderr


@pytest.mark.parametrize("program", ["print(1)\nreturn", "def __starting_point():\n    print(7)"])
def test_conventions_are_opt_in(run: Run, program: str) -> None:
    """Without `conventions`, these programs print nothing, as in a plain interpreter."""
    assert run(program).stdout == b""


@pytest.mark.parametrize(
    "program", ["yield 1\nreturn", "return\nyield 1", "class A:\n    return", "return (", "return\nawait x"]
)
def test_other_errors_are_not_repaired(run: Run, program: str) -> None:
    """With `conventions`, other errors are still compile errors."""
    ended = run(program, conventions=True)
    assert (ended.code, ended.phase) == (1, "compile")


# --------------------------------------------------------------------------- the stack


@pytest.mark.parametrize("limit", [1 << 26, resource.RLIM_INFINITY])
def test_whole_stack_is_used(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Python 3.14 is told of a stack that ends where the main thread's begins, and is as large as the limit."""
    told: list[tuple[int, int, int]] = []

    def protect(thread: int, start: int, size: int) -> int:
        told.append((thread, start, size))
        return 0

    fake = SimpleNamespace(PyUnstable_ThreadState_SetStackProtection=protect, PyThreadState_Get=lambda: 7)
    monkeypatch.setattr(ctypes, "pythonapi", fake)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    execution.use_whole_stack()
    monkeypatch.undo()
    ((thread, start, size),) = told
    assert thread == 7
    assert size == (1 << 40 if limit == resource.RLIM_INFINITY else limit)
    (stack,) = (line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith("[stack]"))
    low, high = (int(text, 16) for text in stack.split()[0].split("-"))
    assert low < start + size <= high


def test_python_that_lacks_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without this call runs programs as it is."""
    monkeypatch.setattr(ctypes, "pythonapi", SimpleNamespace())
    execution.use_whole_stack()


# --------------------------------------------------------------------------- the archive


def test_archive_is_reproducible() -> None:
    """The same sources give the same bytes, because results depend on the archive."""
    harness_archive.cache_clear()
    first = harness_archive()
    harness_archive.cache_clear()
    assert harness_archive() == first
    folder = Path(__file__).resolve().parent.parent.parent / "graders/harness"
    for path in folder.rglob("*.py"):
        assert path.read_bytes() in first, f"{path.name} is not in the archive"
