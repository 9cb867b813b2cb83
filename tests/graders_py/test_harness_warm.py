"""The warm interpreter: forks that are measured, confined and alone, like any other process."""

from __future__ import annotations

import base64
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
from typing import Any

import pytest

from ioi_eval.problems.apps_values import decode, encode

Warm = Any  # see conftest.py


def test_programs_run(warm: Warm) -> None:
    """Input, output, errors, exit codes and calls are as in a process of one's own."""
    assert warm.run("print(int(input()) * 2)", b"21\n").stdout == b"42\n"
    failed = warm.run("print(1)\n1 / 0")
    assert (failed.status, failed.stdout) == (1, b"1\n")
    assert "ZeroDivisionError" in failed.stderr
    assert json.loads(failed.report)["phase"] == "run"
    assert warm.run("exit(7)").status == 7
    assert warm.run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)").status == -signal.SIGSEGV
    called = warm.run("def f(a): return (a, 1.5)", encode(([1],)), fn_name="f")
    assert decode(called.stdout) == ([1], 1.5)


def test_streams_are_a_scripts(warm: Warm) -> None:
    """A fork's streams take the bytes of lines' ends as they come, and may be taken apart, as a script's."""
    program = "import sys\nprint(repr(input()), repr(sys.stdin.read()), sep='\\r\\n')"
    assert warm.run(program, b"1 2\r\n3\r4\r\n").stdout == b"'1 2\\r'\r\n'3\\r4\\r\\n'\n"
    taken = "import io, sys\nfor name in ('stdin', 'stdout'):\n    old = getattr(sys, name)\n"
    taken += "    setattr(sys, name, io.TextIOWrapper(old.detach(), encoding='latin-1'))\nprint(input())"
    ended = warm.run(taken, b"\xe9\n")
    assert (ended.status, ended.stdout) == (0, b"\xe9\n")


def test_fork_is_the_runners_child(warm: Warm) -> None:
    """The runner, not the warm process, is its parent, and reads its exact CPU time and memory."""
    program = (
        "import os, threading\nprint(os.getppid(), os.getpid() == threading.get_native_id())\nx = 'a' * 50_000_000"
    )
    ended = warm.run(program + "\nfor _ in range(3_000_000): pass")
    assert ended.stdout.split() == [str(os.getpid()).encode(), b"True"]
    assert ended.usage.ru_maxrss > 50_000
    idle = warm.run("import time\ntime.sleep(0.3)").usage
    busy = ended.usage
    assert idle.ru_maxrss < 50_000
    assert busy.ru_utime + busy.ru_stime > idle.ru_utime + idle.ru_stime


def test_threads_work_in_a_fork(warm: Warm) -> None:
    """A fork that the C library has not made can start threads, and they are joined."""
    program = "import threading\nfor i in range(20): threading.Thread(target=print, args=(i,)).start()"
    assert len(warm.run(program).stdout.split()) == 20


def test_forks_know_nothing_of_each_other(warm: Warm) -> None:
    """Whatever a program changes is gone with its process."""
    spoil = "import builtins, json, sys\nbuiltins.print = None\njson.dumps = None\nsys.modules['kept'] = json\n"
    assert warm.run(spoil + "builtins.kept = 1\nopen('left', 'w').close()").status == 0
    assert warm.run(
        "import sys, json\nprint('kept' in sys.modules, json.dumps(1), 'kept' in dir(__builtins__))"
    ).stdout == (b"False 1 False\n")


@pytest.mark.parametrize("imports", ["import bisect, collections, functools, heapq, math, re, string", "pass"])
def test_what_most_programs_need_is_loaded_before(warm: Warm, imports: str) -> None:
    """Neither a usual import nor the words on an error load a module in the fork; and the words are this program's."""
    look = "import atexit, sys\nbefore = set(sys.modules)\n"
    tell = "atexit.register(lambda: print(sorted(set(sys.modules) - before)))\n"
    ended = warm.run(f"{look}{tell}{imports}\n1 / 0 # mine")
    assert (ended.status, ended.stdout) == (1, b"[]\n")
    assert "    1 / 0 # mine\n" in ended.stderr
    assert "rehearsal" not in ended.stderr
    assert "    1 / 0 # mine\n" in json.loads(ended.report)["traceback"]


def test_many_at_once(warm: Warm) -> None:
    """Forks run beside each other, and end in any order."""
    slow = warm.start("import time\ntime.sleep(1)\nprint('slow')", b"", {})
    assert warm.run("print('quick')").stdout == b"quick\n"
    assert warm.finish(*slow).stdout == b"slow\n"


def run_with_code(warm: Warm, program: str, code_fd: int, stdin: bytes = b"", **rules: Any) -> Any:
    """Run a program in a fork that gets a file for its code: to write as long as it is empty, as from the runner."""
    mode = os.O_RDONLY if os.fstat(code_fd).st_size else os.O_RDWR
    opened = os.open(f"/proc/self/fd/{code_fd}", mode)
    ended = warm.finish(*warm.start(program, stdin, {"code": opened}, **rules))
    os.close(opened)
    return ended


def test_a_program_is_compiled_once(warm: Warm) -> None:
    """The first test leaves its code, and the next ones take that: here it is another program's, so that it shows."""
    code_fd = os.memfd_create("code")
    assert run_with_code(warm, "print(1)", code_fd).stdout == b"1\n"
    assert int.from_bytes(os.pread(code_fd, 8, 0), "little") == os.fstat(code_fd).st_size - 8 > 0
    assert run_with_code(warm, "print(2)", code_fd).stdout == b"1\n"
    failing = "def f():\n    return 1 / int(input())\nprint(f())"
    failed = os.memfd_create("code")
    seen = [run_with_code(warm, failing, failed, b"0\n") for _ in range(2)]
    assert seen[0].stderr == seen[1].stderr
    assert seen[0].report == seen[1].report
    assert "return 1 / int(input())" in seen[1].stderr
    called = os.memfd_create("code")
    for number in (3, 4):
        ended = run_with_code(warm, "def f(n): return n + 1", called, encode((number,)), fn_name="f")
        assert decode(ended.stdout) == number + 1
    for fd in (code_fd, failed, called):
        os.close(fd)


@pytest.mark.parametrize("kept", [b"\x07", (99).to_bytes(8, "little") + b"\xe3"])
def test_code_that_is_not_whole_is_not_used(warm: Warm, kept: bytes) -> None:
    """It was left by a test that was stopped; the program is compiled again, and what is there stays."""
    code_fd = os.memfd_create("code")
    os.write(code_fd, kept)
    assert run_with_code(warm, "print(2)", code_fd).stdout == b"2\n"
    assert os.pread(code_fd, 100, 0) == kept
    os.close(code_fd)


def test_what_the_compiler_says_each_test_shows(warm: Warm) -> None:
    """A program that is refused, or warned of, is compiled in each test."""
    for program, words in (("print(1) if 1 is 1 else 2", "SyntaxWarning"), ("print(1", "SyntaxError")):
        code_fd = os.memfd_create("code")
        seen = [run_with_code(warm, program, code_fd) for _ in range(2)]
        assert words in seen[0].stderr
        assert (seen[1].stderr, seen[1].report, seen[1].stdout) == (seen[0].stderr, seen[0].report, seen[0].stdout)
        assert os.fstat(code_fd).st_size == 0
        os.close(code_fd)


def test_a_program_cannot_change_its_code(warm: Warm) -> None:
    """No descriptor of the file is left when it begins."""
    code_fd = os.memfd_create("code")
    look = "import os\nfor fd in range(3, 300):\n    try: os.write(fd, b'mine')\n    except OSError: pass\n"
    assert run_with_code(warm, look, code_fd, nofile=300).status == 0
    assert b"mine" not in os.pread(code_fd, 8, 0)
    assert int.from_bytes(os.pread(code_fd, 8, 0), "little") == os.fstat(code_fd).st_size - 8
    os.close(code_fd)


def test_descriptors(warm: Warm) -> None:
    """A program holds its streams and the place of its report: neither its task nor our socket."""
    look = "import os\nfor f in os.listdir('/proc/self/fd'):\n    path = '/proc/self/fd/' + f\n"
    ended = warm.run(look + "    if int(f) > 2 and os.path.lexists(path): print(os.readlink(path))")
    assert ended.stdout.count(b"memfd") <= 1
    assert b"socket" not in ended.stdout


def test_a_killed_fork_harms_nobody(warm: Warm) -> None:
    """The runner can kill a program; the warm process goes on."""
    pid, fds = warm.start("while True: pass", b"", {})
    os.kill(pid, signal.SIGKILL)
    assert warm.finish(pid, fds).status == -signal.SIGKILL
    assert warm.run("print(1)").stdout == b"1\n"


# --------------------------------------------------------------------------- confinement


def instruction(code: int, true: int, false: int, value: int) -> bytes:
    """One instruction of a filter."""
    return struct.pack("HBBI", code, true, false, value)


WORD = "=qqi24s4x"  # the runner's `StartMessage`
LOAD_CALL = instruction(0x20, 0, 0, 0)
ALLOW = instruction(0x06, 0, 0, 0x7FFF0000)


def filter_for(call: int, action: int) -> str:
    """A filter that answers one system call with an action, and allows the rest."""
    code = LOAD_CALL + instruction(0x15, 0, 1, call) + instruction(0x06, 0, 0, action) + ALLOW
    return base64.b64encode(code).decode()


SYS_SOCKET = 41
NO_SOCKETS = filter_for(SYS_SOCKET, 0x00050000 | errno.EPERM)
TELL_SOCKETS = filter_for(SYS_SOCKET, 0x7FC00000)
OPEN_SOCKET = "import socket\ntry:\n    socket.socket()\n    print('open')\nexcept OSError as e:\n    print(e.errno)"


def test_rlimits(warm: Warm) -> None:
    """The limits are set before the program is read."""
    ended = warm.run("import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))", rlimits=[[7, 80, 80]])
    assert ended.stdout == b"(80, 80)\n"
    assert warm.run("while True: pass", rlimits=[[resource.RLIMIT_CPU, 1, 2]]).status == -signal.SIGXCPU


def test_seccomp(warm: Warm) -> None:
    """The runner's filter holds in the fork, and only there."""
    assert warm.run(OPEN_SOCKET, seccomp=NO_SOCKETS).stdout == b"%d\n" % errno.EPERM
    assert warm.run(OPEN_SOCKET).stdout == b"open\n"


def test_no_new_privileges(warm: Warm) -> None:
    """No program gains privileges by executing another."""
    ended = warm.run("print([l for l in open('/proc/self/status') if l.startswith('NoNewPrivs')])")
    assert b"NoNewPrivs:\\t1" in ended.stdout


def received_memory(ours: socket.socket, pid: int) -> None:
    """The first message: the process's open `statm`. (The process may have ended since.)"""
    said, ancillary, _, _ = ours.recvmsg(64, socket.CMSG_SPACE(4))
    assert struct.unpack(WORD, said)[3].rstrip(b"\0") == b"memory"
    (memory,) = struct.unpack("i", ancillary[0][2][:4])
    assert os.readlink(f"/proc/self/fd/{memory}") == f"/proc/{pid}/statm"
    os.close(memory)


def test_ready_is_closed_when_confined(warm: Warm) -> None:
    """The runner's clock can start when the socket ends; nothing of the program has run by then."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid, fds = warm.start("print(1)", b"", {"ready": theirs.fileno()}, seccomp=NO_SOCKETS)
    theirs.close()
    received_memory(ours, pid)
    spent_us, now_us, error, _ = struct.unpack(WORD, ours.recv(64))
    assert 0 < spent_us < now_us
    assert error == 0
    assert ours.recv(1) == b""
    assert warm.finish(pid, fds).stdout == b"1\n"
    ours.close()


def test_listener_reaches_the_runner(warm: Warm) -> None:
    """The descriptor of the filter's notifications comes over the socket, and works."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid, fds = warm.start(OPEN_SOCKET, b"", {"ready": theirs.fileno()}, seccomp=TELL_SOCKETS, listener=True)
    theirs.close()
    received_memory(ours, pid)
    said, ancillary, _, _ = ours.recvmsg(64, socket.CMSG_SPACE(4))
    assert struct.unpack(WORD, said)[:3] == (0, 0, 0)
    (listener,) = struct.unpack("i", ancillary[0][2][:4])
    assert os.readlink(f"/proc/self/fd/{listener}") == "anon_inode:seccomp notify"
    os.close(listener)  # without a listener the call is refused as unknown
    assert warm.finish(pid, fds).stdout == b"%d\n" % errno.ENOSYS
    ours.close()


def test_landlock(warm: Warm) -> None:
    """A ruleset of the runner keeps paths away."""
    libc = ctypes.CDLL(None, use_errno=True)
    handled = struct.pack("Q", 1 << 2)  # reading files
    ruleset = libc.syscall(444, handled, len(handled), 0)
    if ruleset < 0:
        pytest.skip("no Landlock here")
    program = "try:\n    open('/etc/passwd')\n    print('open')\nexcept OSError as e:\n    print(e.errno)"
    assert warm.finish(*warm.start(program, b"", {"landlock": ruleset})).stdout == b"%d\n" % errno.EACCES
    assert warm.run(program).stdout == b"open\n"
    os.close(ruleset)


@pytest.mark.parametrize(
    "rules",
    [
        {"seccomp": ""},
        {"seccomp": base64.b64encode(LOAD_CALL).decode()},
        {"rlimits": [[999, 1, 1]]},
        {"rlimits": [[7, 90, 80]]},
    ],
)
def test_what_cannot_be_confined_does_not_run(warm: Warm, rules: dict[str, Any]) -> None:
    """Any failure on the way ends the fork before its program is read: that is the runner's fault, and it can tell."""
    ended = warm.run("print('ran')", **rules)
    assert (ended.status, ended.stdout, ended.report) == (3, b"", b"")
    assert "cannot be confined" in ended.stderr
