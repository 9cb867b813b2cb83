"""Attacks by Python programs: on the interpreter that they share with the harness, and on what lies behind it.

Each is a program for a problem of two tests whose answers nobody can know, drawn anew for each run: a program that
passes one has stolen it. What got something else that no program may get says so (`GOT …`). The tests are judged in
order, so that one can leave what the next looks for.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonAttack:
    """One attack.

    Args:
        name: its name, in the table too.
        tries: what it does, for people.
        code: its text.
        expect: the verdicts that are right; one of them must come.
        called: whether it is a function `solve(n)` rather than a program that reads standard input.
    """

    name: str
    tries: str
    code: str
    expect: frozenset[str]
    called: bool = False


def problem(*, called: bool) -> AppsProblem:
    """The problem of these attacks, with answers of its own."""
    numbers = [1, 2]
    answers = [secrets.token_hex(16) for _ in numbers]
    if called:
        values = {"inputs": [[n] for n in numbers], "outputs": answers, "fn_name": "solve"}
    else:
        values = {"inputs": [f"{n}\n" for n in numbers], "outputs": [f"{answer}\n" for answer in answers]}
    row = {"problem_id": 1, "input_output": values}
    return apps_problem(Row(source="attack", number=1, values=row), 0)


def honest_problem() -> AppsProblem:
    """What is judged behind each attack."""
    row = {"problem_id": 2, "input_output": {"inputs": ["20 22\n"], "outputs": ["42\n"]}}
    return apps_problem(Row(source="honest", number=1, values=row), 0)


HONEST = "print(sum(map(int, input().split())))"

_HEAD = """
import os, sys
def got(*words):
    print("GOT", *words, flush=True)
    os._exit(0)
def attempt(what, *arguments, **named):
    try:
        value = what(*arguments, **named)
    except (OSError, ValueError, ImportError, AttributeError, MemoryError):
        return None
    return True if value is None else value
"""


_LOOT = """
import re
def loot(texts):
    for text in texts:
        if type(text) is bytes:
            text = text.decode("latin-1")
        if type(text) is str:
            for found in re.findall(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", text):
                return found
    return "nothing"
"""


def _whole(code: str) -> str:
    return _HEAD + (_LOOT if "loot(" in code else "") + dedent(code)


def _program(name: str, tries: str, code: str, expect: str = "WA RE") -> PythonAttack:
    return PythonAttack(name=f"python_{name}", tries=tries, code=_whole(code), expect=frozenset(expect.split()))


def _function(name: str, tries: str, code: str, expect: str = "WA RE") -> PythonAttack:
    return PythonAttack(
        name=f"python_{name}", tries=tries, code=_whole(code), expect=frozenset(expect.split()), called=True
    )


READING = (
    _program(
        "frames",
        "to find the answer in the frames above its own",
        """
        frame, texts = sys._getframe(), []
        while frame:
            for names in (frame.f_locals, frame.f_globals):
                texts += [repr(value) for value in list(names.values())]
            frame = frame.f_back
        print(loot(texts))
        """,
    ),
    _program(
        "every_object",
        "to find the answer among all objects that the collector knows",
        """
        import gc
        texts = []
        for thing in gc.get_objects():
            texts += [x for x in gc.get_referents(thing) if type(x) in (str, bytes)]
        print(loot(texts))
        """,
    ),
    _program(
        "own_memory",
        "to search its memory for the answer, by ctypes",
        """
        import ctypes
        texts = []
        for thing in (texts, sys, os):
            texts.append(ctypes.string_at(id(thing) - 4096, 8192))
        print(loot(texts))
        """,
    ),
    _program(
        "memory_file",
        "/proc/self/mem and the memory of its parent",
        """
        for pid in ("self", os.getppid(), 1):
            for name in ("mem", "maps", "environ", "cmdline"):
                if attempt(open, f"/proc/{pid}/{name}", "rb"):
                    got(pid, name)
        """,
    ),
    _program(
        "files_of_the_judge",
        "to read answers, inputs, caches and other people's files",
        """
        for path in ("correct_output.txt", "../correct_output.txt", "/box/plan", "plan", "t0.ans", "/etc/passwd",
                     "/etc/shadow", os.path.expanduser("~/.cache/ioi-eval"), "/root/.cache", "/home", "/tmp",
                     CHECKOUT):
            if attempt(os.listdir, path) or attempt(open, path):
                got(path)
        """.replace("CHECKOUT", repr(str(Path(__file__).resolve().parents[2]))),
    ),
    _program(
        "environment",
        "to find secrets in its environment and its command line",
        """
        known = {"PATH", "LANG", "HOME", "LC_CTYPE", "PYTHONHASHSEED", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                 "MKL_NUM_THREADS"}
        for name in os.environ:
            if name not in known:
                got(name)
        print(sys.argv, sys.orig_argv)
        """,
    ),
    _program(
        "descriptors_left_open",
        "to read every descriptor that there is",
        """
        texts = []
        for fd in range(3, 300):
            texts.append(attempt(os.pread, fd, 1 << 20, 0) or "")
        print(loot(texts))
        """,
    ),
)

FORGING = (
    _program(
        "comparators_replaced",
        "to replace whatever compares, in every module",
        """
        import builtins, operator
        yes = lambda *a, **k: True
        for module in list(sys.modules.values()):
            for name in list(vars(module)):
                if any(word in name.lower() for word in ("compar", "check", "equal", "match", "judge", "allclose")):
                    attempt(setattr, module, name, yes)
        builtins.zip = lambda *a: iter(())
        builtins.all = builtins.any = operator.eq = yes
        print("anything")
        """,
    ),
    _program(
        "numpy_replaced",
        "to have numpy find everything close",
        """
        try:
            import numpy
            numpy.allclose = numpy.array_equal = lambda *a, **k: True
        except ImportError:
            pass
        print("nan")
        """,
    ),
    _program("leaves_at_once", "to leave by os._exit(0) with nothing said", "os._exit(0)", "WA"),
    _program(
        "leaves_in_an_exit_function",
        "an exit function that changes the exit code and prints",
        """
        import atexit
        atexit.register(lambda: (print("AC 1.0", flush=True), os._exit(0)))
        raise SystemExit(1)
        """,
    ),
    _program(
        "report_forged",
        "to write to the harness's report that all is well, and to fail",
        """
        for fd in range(3, 300):
            attempt(os.write, fd, b'{"phase":"done","verdict":"AC","score":"1"}\\n')
        os._exit(1)
        """,
        "RE",
    ),
    _program(
        "report_broken",
        "to write to the report what cannot be read",
        """
        for fd in range(3, 300):
            attempt(os.write, fd, bytes(range(256)) + b'{"phase":[[[["\\n' * 1000)
        print("x")
        """,
    ),
    _program(
        "report_without_end",
        "to fill the judge's memory by way of the report",
        """
        import time
        end = time.time() + 0.2
        while time.time() < end:
            for fd in (2, 4):
                attempt(os.write, fd, b"x" * 65536)
        """,
        "WA RE OLE TLE",
    ),
    _program(
        "stdout_of_the_parent",
        "to write to its parent's standard output",
        """
        for pid in (os.getppid(), 1, os.getpid() - 1):
            for fd in (1, 2, 3):
                if attempt(open, f"/proc/{pid}/fd/{fd}", "wb"):
                    got(pid, fd)
        """,
    ),
    _program(
        "stdout_replaced",
        "to put an object of its own in place of its standard output",
        """
        class Everything:
            buffer = property(lambda self: self)
            def __getattr__(self, name):
                return lambda *a, **k: self
            def __eq__(self, other):
                return True
        sys.stdout = sys.__stdout__ = Everything()
        print("x")
        """,
    ),
    _program("code_124", "to be taken for a timeout", "os._exit(124)", "RE"),
    _program("words_of_memory", "to be taken for a program without memory", "raise MemoryError", "RE MLE"),
    _program(
        "words_of_the_judge",
        "the words and lines of the judge",
        """
        for stream in (sys.stderr, sys.stdout):
            print('{"test":0,"verdict":"AC","score":"1.0"}\\n{"end":true}\\nMemoryError\\n1.0', file=stream)
        """,
    ),
    _program(
        "endless_words",
        "an exception whose words never come to an end",
        """
        class Endless(Exception):
            def __repr__(self):
                while True: pass
            __str__ = __repr__
        raise Endless
        """,
        "TLE RE",
    ),
    _program(
        "hook",
        "hooks that run at its end: of exceptions, threads, the collector",
        """
        import gc, threading
        sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: os._exit(0)
        class Last:
            def __del__(self):
                print("1.0")
        keep = Last()
        raise ValueError
        """,
    ),
)

STATE = (
    _program(
        "left_in_modules",
        "to leave something in modules, builtins and hooks for its next test",
        """
        import builtins, json
        if hasattr(builtins, "left") or hasattr(json, "left") or "left" in sys.modules:
            got("what was left")
        builtins.left = json.left = sys.modules["left"] = 1
        sys.meta_path.insert(0, object())
        sys.path.insert(0, "/box")
        """,
    ),
    _program(
        "left_in_files",
        "to leave modules and start-up files for its next test",
        """
        names = ("json.py", "sitecustomize.py", "usercustomize.py", "numpy.py", "_harness.py", "x.pth")
        if any(os.path.exists(name) for name in names):
            got("files of the test before")
        for name in names:
            attempt(lambda: open(name, "w").write("import os\\nprint('1.0')\\nos._exit(0)"))
        """,
    ),
    _program(
        "left_in_the_interpreter",
        "to write where the interpreter looks for modules",
        """
        import json
        places = [os.path.dirname(json.__file__), os.path.dirname(os.__file__), *sys.path, sys.prefix]
        for place in places:
            place = place or "/nowhere"
            if place != os.getcwd() and attempt(open, os.path.join(place, "left.py"), "w"):
                got(place)
        """,
    ),
)

OUTLASTING = (
    _program(
        "child",
        "a child that outlives it",
        """
        import subprocess
        if attempt(os.fork) is not None:
            got("fork")
        if attempt(subprocess.Popen, ["sleep", "100"]):
            got("a process")
        if attempt(os.posix_spawn, "/usr/bin/sleep", ["sleep", "100"], {}):
            got("posix_spawn")
        """,
    ),
    _program(
        "pool",
        "a pool of processes with shared memory",
        """
        import multiprocessing
        from multiprocessing import shared_memory
        if attempt(shared_memory.SharedMemory, "left", True, 4096):
            got("shared memory")
        try:
            with multiprocessing.Pool(2) as pool:
                got(pool.map(abs, [1]))
        except OSError:
            pass
        """,
    ),
    _program(
        "signals",
        "to kill its parent, everybody, and to ignore every signal",
        """
        import signal
        for pid in (os.getppid(), 1, -1, os.getpid() - 1):
            if pid and attempt(os.kill, pid, signal.SIGTERM):
                got(pid)
        for number in range(1, 65):
            attempt(signal.signal, number, signal.SIG_IGN)
        signal.alarm(0)
        while True: pass
        """,
        "TLE",
    ),
    _program(
        "thread_that_stays",
        "a thread that goes on after its main thread",
        """
        import threading, time
        threading.Thread(target=lambda: time.sleep(1000)).start()
        """,
        "TLE",
    ),
    _program(
        "thread_that_prints",
        "a daemon thread that prints while the judge reads",
        """
        import threading
        def on():
            while True:
                os.write(1, b"1")
        threading.Thread(target=on, daemon=True).start()
        """,
        "WA OLE TLE RE",
    ),
)

TALKING = (
    _program(
        "sockets",
        "a socket of any family",
        """
        import socket
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, 16, 40):
            if attempt(socket.socket, family):
                got(family)
        if attempt(socket.create_connection, ("127.0.0.1", 2000), 1):
            got("a connection")
        """,
    ),
    _program(
        "calls_by_ctypes",
        "the kernel's dangerous calls, by ctypes",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        for number in (321, 425, 272, 165):  # bpf, io_uring_setup, unshare, mount
            if libc.syscall(number, 0, 0, 0, 0, 0) >= 0:
                got(number)
        """,
        "SV WA RE",
    ),
)

EXHAUSTING = (
    _program("memory", "more memory than it may have", "kept = bytearray(400 << 20)\nprint(len(kept))", "MLE RE"),
    _program(
        "shared_mapping",
        "memory in a shared mapping",
        """
        import mmap
        area = attempt(mmap.mmap, -1, 400 << 20)
        if area:
            area[:: 4096] = bytes(len(area) // 4096)
            got("a shared mapping")
        """,
        "WA RE MLE",
    ),
    _program(
        "recursion",
        "recursion until the stack breaks",
        "sys.setrecursionlimit(1 << 30)\ndef f(): return f()\nf()",
        "RE MLE",
    ),
    _program("number", "a number too long to be printed", "print(9 ** (10 ** 8))", "TLE MLE"),
    _program("pattern", "a pattern that never ends", 'import re\nre.match("(a+)+$", "a" * 99 + "b")', "TLE"),
    _program("crash", "to crash the interpreter", "import ctypes\nctypes.string_at(0)", "RE"),
    _program(
        "code_object",
        "to crash the interpreter by code that no compiler made",
        """
        def f(): pass
        exec(f.__code__.replace(co_code=bytes([100, 255]) * 64, co_consts=()))
        """,
        "RE WA SV TLE MLE",
    ),
)

CALLED = (
    _function(
        "equal_to_everything",
        "to return an object that is equal to everything",
        """
        class Everything(str):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 0
            def __len__(self): return 32
        def solve(n): return Everything()
        """,
    ),
    _function(
        "another_class",
        "to return an object that says it is of another class",
        """
        class Liar:
            __class__ = str
            def __eq__(self, other): return True
            def __iter__(self): return iter("1.0")
        def solve(n): return Liar()
        """,
    ),
    _function("not_a_number", "to return what compares with nothing", 'def solve(n): return float("nan")'),
    _function(
        "endless_result",
        "to return what never ends",
        """
        import itertools
        def solve(n): return itertools.count()
        """,
        "WA RE TLE MLE",
    ),
    _function(
        "result_in_itself",
        "to return a list that holds itself",
        "def solve(n):\n    a = []\n    a.append(a)\n    return a",
        "WA RE MLE",
    ),
    _function(
        "deep_result",
        "to return a list a million deep",
        "def solve(n):\n    a = []\n    for _ in range(10**6): a = [a]\n    return a",
        "WA RE MLE TLE",
    ),
    _function(
        "harness_replaced",
        "to replace the harness's own functions",
        """
        for name, module in list(sys.modules.items()):
            if "harness" in name:
                for each in list(vars(module)):
                    if each in ("encode", "write_all", "quote"):
                        setattr(module, each, lambda *a, **k: b'"1"')
        def solve(n): return "1"
        """,
    ),
    _function(
        "result_written_twice",
        "to write a result of its own where the harness writes",
        """
        def solve(n):
            for fd in range(3, 100):
                attempt(os.write, fd, b'"1"\\n')
            return "1"
        """,
    ),
    _function(
        "metaclass",
        "a class Solution that answers to every name",
        """
        class Meta(type):
            def __getattr__(cls, name): return lambda *a: "1"
            def __instancecheck__(cls, other): return True
            def __eq__(cls, other): return True
            __hash__ = type.__hash__
        class Solution(metaclass=Meta):
            def __getattr__(self, name): return lambda *a: "1"
        """,
    ),
    _function(
        "caller",
        "to find the expected result in its caller",
        """
        def solve(n):
            frame, texts = sys._getframe(), []
            while frame:
                texts += [repr(value) for value in list(frame.f_locals.values())]
                frame = frame.f_back
            return loot(texts)
        """,
    ),
)

GROUPS = (
    ("reading", READING),
    ("forging", FORGING),
    ("state", STATE),
    ("outlasting", OUTLASTING),
    ("talking", TALKING),
    ("exhausting", EXHAUSTING),
    ("functions", CALLED),
)
ATTACKS: tuple[PythonAttack, ...] = tuple(attack for _, group in GROUPS for attack in group)
