"""Programs that try to pass without solving the problem score 0, and cause no failure of ours.

Each test's answer is a secret that is in the row, on the judge's side, and not in the box.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsResult, AppsSettings
from ioi_eval.compat import NAMES, grader_named
from ioi_eval.model import Isolation, Verdict
from tests import unprivileged
from tests.full_isolation import reached
from tests.python_box import row, score_all
from tests.shared_work import copy_cache

Score = Callable[..., AppsResult]

SECRET = "secret-" + os.urandom(8).hex()
ROW = row(["1\n", "2\n"], [f"{SECRET}\n", f"{SECRET}\n"])
CALL = row([[1], [2]], [SECRET, SECRET], "f")

FOUND = """
import re
def look(data):
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if isinstance(data, (bytes, bytearray)):
        for found in re.findall(rb"secret-[0-9a-f]{16}", data):
            print(found.decode(), flush=True)
            import os
            os._exit(0)
"""

# A program that writes ANSWER has the right answer, as its attack has worked.
ATTACKS = {
    "frames": """
import sys
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
        look(value)
        look(repr(value)[:100000])
    frame = frame.f_back
""",
    "garbage collector": """
import gc
gc.unfreeze()
for thing in gc.get_objects():
    try:
        look(repr(thing)[:100000])
        for other in gc.get_referents(thing):
            look(other)
    except Exception:
        pass
""",
    "every file": """
import os
for top in ("/tmp", "/box", "/dev", "/home", "/root", "/proc", "/var", "/etc", "/opt", "/run", ".", ".."):
    for number, (folder, _, names) in enumerate(os.walk(top)):
        if number > 200:
            break
        for name in names:
            try:
                fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
                look(os.read(fd, 1 << 20))
            except Exception:
                pass
""",
    "every descriptor": """
import os
for fd in range(400):
    for way in (lambda: os.pread(fd, 1 << 20, 0), lambda: os.read(fd, 1 << 20),
                lambda: os.readlink(f"/proc/self/fd/{fd}"), lambda: open(f"/proc/self/fd/{fd}", "rb").read()):
        try:
            look(way())
        except Exception:
            pass
""",
    "memory of others": """
import os
for pid in [os.getppid(), *range(1, 400)]:
    for name in ("environ", "cmdline", "maps", "mem"):
        try:
            look(open(f"/proc/{pid}/{name}", "rb").read(1 << 20))
        except Exception:
            pass
""",
    "its own memory": """
import re
for line in open("/proc/self/maps"):
    low, high = (int(part, 16) for part in line.split()[0].split("-"))
    try:
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(low)
            look(memory.read(high - low))
    except Exception:
        pass
""",
    "its memory, by ctypes": """
import ctypes
look(ctypes.string_at(id(look) - (1 << 20), 2 << 20))
""",
    "ptrace": """
import ctypes, os
if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0:
    print("ANSWER")
""",
    "process_vm_readv": """
import ctypes, os
if ctypes.CDLL(None).syscall(310, os.getppid(), 0, 0, 0, 0, 0) != -1:
    print("ANSWER")
""",
    "another namespace": """
import ctypes
if ctypes.CDLL(None).unshare(0x10000000) == 0:
    print("ANSWER")
""",
    "killing the parent": """
import os, signal
for pid in (os.getppid(), 0, -1, 1, 2, *range(os.getpid() - 50, os.getpid())):
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        try:
            if pid != os.getpid() and pid != 0:
                os.kill(pid, number)
        except OSError:
            pass
""",
    "the environment": "import os\nlook(repr(dict(os.environ)))\n",
    "a child that stays": """
import os, threading, time
for way in (os.fork, os.forkpty, lambda: os.spawnlp(0, "sleep", "sleep", "9")):
    try:
        way()
        print("ANSWER", flush=True)
        os._exit(0)
    except OSError:
        pass
if os.system("sleep 9") == 0:
    print("ANSWER")
threading.Thread(target=lambda: time.sleep(0.1) or print("secret"), daemon=True).start()
""",
    "sockets": """
from socket import *
for kind in ((AF_INET, SOCK_STREAM), (AF_UNIX, SOCK_STREAM), (AF_NETLINK, SOCK_RAW)):
    try:
        socket(*kind)
        print("ANSWER")
        break
    except OSError:
        pass
""",
    "forged verdicts": """
import os
line = b'{"test":0,"verdict":"AC","score":"1","message":""}\\n{"end":true}\\n{"phase":"done"}\\n'
for fd in range(1, 300):
    try:
        os.write(fd, line)
    except OSError:
        pass
os._exit(0)
""",
    "patched comparison": """
import builtins, operator, sys
class Everything(str):
    __eq__ = __ne__ = __contains__ = lambda *a: True
    __hash__ = str.__hash__
builtins.zip = builtins.all = builtins.any = builtins.len = lambda *a, **k: True
builtins.str = builtins.float = Everything
operator.eq = lambda *a: True
sys.stdout.write(Everything("x"))
""",
    "the harness turned": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("_harness"):
        for key in list(vars(module)):
            if callable(vars(module)[key]):
                vars(module)[key] = lambda *a, **k: 0
""",
    "proxies of a manager": """
import gc, multiprocessing
from multiprocessing.managers import BaseProxy
gc.unfreeze()
for thing in gc.get_objects():
    if isinstance(thing, BaseProxy):
        print("ANSWER")
        thing.append(True)
try:
    with multiprocessing.Manager() as manager:
        manager.list([True])
        print("ANSWER")
except OSError:
    pass
""",
    "the warm interpreter's tools": """
import sys
warm = sys.modules.get("_harness.warm")
if warm:
    try:
        warm.fork_sibling()
        print("ANSWER", flush=True)
    except OSError:
        pass
    if any("socket" in type(value).__name__ for value in vars(warm).values()):
        print("ANSWER")
""",
    "files as large as they get": """
for number in range(400):
    try:
        with open(f"x{number}", "wb") as file:
            file.write(bytes(1 << 24))
    except OSError:
        break
""",
}

CALLS = {
    "equal to everything": "class E:\n    __eq__ = lambda *a: True\n    __hash__ = lambda s: 1\ndef f(x): return E()",
    "a text that is": "class E(str):\n    __eq__ = lambda *a: True\n    __hash__ = None\ndef f(x): return E('y')",
    "a list that is": "class E(list):\n    __eq__ = __contains__ = lambda *a: True\ndef f(x): return E()",
    "a class that lies": "class E:\n    __class__ = str\n    __str__ = lambda s: 'x'\ndef f(x): return E()",
    "written by itself": "import os\ndef f(x):\n    for fd in range(1, 99):\n        try: os.write(fd, b'null')\n"
    "        except OSError: pass\n    os._exit(0)",
    "a result without end": "def f(x):\n    a = []\n    a.append(a)\n    return a",
    "a very long result": "def f(x): return 'x' * 10**8",
    "an integer as long": "def f(x): return 1 << 10**7",
    "the writer replaced": "import sys\ndef f(x):\n    v = sys.modules['_harness.values']\n"
    "    v.encode = lambda x: b'\"anything\"'\n    return 1",
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_score_nothing(name: str, score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    """They pass no test and cause no JE."""
    monkeypatch.setenv("ANSWER", SECRET)
    result = score(ROW, FOUND + ATTACKS[name].replace("ANSWER", SECRET), time_limit_s=5.0)
    assert result.score == 0.0, result
    assert all(test.passed is False for test in result.tests)


@pytest.mark.parametrize("compat", [name for name in NAMES if name != "hendrycks"])  # that one needs numpy
@pytest.mark.parametrize("code", [0, 1])
def test_a_forged_report_passes_no_test_that_did_not_run(code: int, compat: str, score: Score) -> None:
    """It said that its call had ended, while its exit code stopped the judging: the tests after it counted as nothing.

    The program writes the first answer itself, so that the first test may pass.
    """
    program = f"""
import os
for fd in range(1, 99):
    try:
        os.write(fd, b'2\\n' if fd < 4 else b'{{"phase":"done"}}\\n')
    except OSError:
        pass
os._exit({code})
"""
    three_tests = row(["1\n", "2\n", "3\n"], ["2\n", "4\n", "6\n"])
    result = score(three_tests, program, compat=grader_named(compat))
    assert result.passed <= 1, result
    assert result.verdict is not Verdict.AC, result


@pytest.mark.parametrize("name", CALLS)
def test_objects_of_a_program_do_not_affect_judging(name: str, score: Score) -> None:
    """Only plain data of a result is compared."""
    result = score(CALL, CALLS[name])
    assert result.score == 0.0, result


def test_limits_cannot_be_lifted(score: Score) -> None:
    """A program's own handlers, alarms and limits have no effect: it is stopped, and the next test runs."""
    code = """
import resource, signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for kind in range(16):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
signal.alarm(0)
while input() == "1":
    while True: pass
print("right")
"""
    result = score(row(["1\n", "2\n"], ["right\n", "right\n"]), code, time_limit_s=0.5)
    assert [test.verdict for test in result.tests] == ["TLE", "AC"]


@pytest.mark.root
@pytest.mark.parametrize("strongest", ["full", "reduced"])
def test_attacks_on_an_ordinary_user(strongest: str, cache_with_runner: Path) -> None:
    """If the judge is not root, a program could have the same rights as the judge."""
    names = ("every file", "memory of others", "killing the parent", "every descriptor", "forged verdicts")
    programs = [(ROW, FOUND + ATTACKS[name]) for name in names]
    isolation, why_not = unprivileged.call(reached, Isolation(strongest))
    if isolation.value != strongest:
        pytest.skip(f"no {strongest} isolation for an ordinary user here: {why_not}")
    with unprivileged.private_directory() as cache:
        copy_cache(cache_with_runner, cache, owner=unprivileged.UID)
        (Path(cache) / "rows.jsonl").write_text(SECRET)
        results = unprivileged.call(score_all, cache, programs, AppsSettings(time_limit_s=5.0), Isolation(strongest))
    assert [result.score for result in results] == [0.0] * len(names)
