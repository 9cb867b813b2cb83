"""The warm interpreter: its forks are measured and confined like other processes, and do not affect each other."""

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
    """Input, output, errors, exit codes and calls are the same as in a separate process."""
    assert warm.run("print(int(input()) * 2)", b"21\n").stdout == b"42\n"
    failed = warm.run("print(1)\n1 / 0")
    assert (failed.status, failed.stdout) == (1, b"1\n")
    assert "ZeroDivisionError" in failed.stderr
    assert json.loads(failed.report)["phase"] == "run"
    assert warm.run("exit(7)").status == 7
    assert warm.run("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)").status == -signal.SIGSEGV
    called = warm.run("def f(a): return (a, 1.5)", encode(([1],)), fn_name="f")
    assert decode(called.stdout) == ([1], 1.5)


def test_streams_are_like_those_of_a_script(warm: Warm) -> None:
    """As in a script, a fork's streams do not change line ends, and can be detached."""
    program = "import sys\nprint(repr(input()), repr(sys.stdin.read()), sep='\\r\\n')"
    assert warm.run(program, b"1 2\r\n3\r4\r\n").stdout == b"'1 2\\r'\r\n'3\\r4\\r\\n'\n"
    taken = "import io, sys\nfor name in ('stdin', 'stdout'):\n    old = getattr(sys, name)\n"
    taken += "    setattr(sys, name, io.TextIOWrapper(old.detach(), encoding='latin-1'))\nprint(input())"
    ended = warm.run(taken, b"\xe9\n")
    assert (ended.status, ended.stdout) == (0, b"\xe9\n")


def test_fork_is_the_runners_child(warm: Warm) -> None:
    """The parent of a fork is the runner, not the warm process, so the runner gets its exact CPU time and memory."""
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
    """A fork, although made without libc, can start threads, and they are joined."""
    program = "import threading\nfor i in range(20): threading.Thread(target=print, args=(i,)).start()"
    assert len(warm.run(program).stdout.split()) == 20


def test_forks_do_not_affect_each_other(warm: Warm) -> None:
    """What a program changes in its process has no effect on later forks."""
    spoil = "import builtins, json, sys\nbuiltins.print = None\njson.dumps = None\nsys.modules['kept'] = json\n"
    assert warm.run(spoil + "builtins.kept = 1\nopen('left', 'w').close()").status == 0
    assert warm.run(
        "import sys, json\nprint('kept' in sys.modules, json.dumps(1), 'kept' in dir(__builtins__))"
    ).stdout == (b"False 1 False\n")


@pytest.mark.parametrize("imports", ["import bisect, collections, functools, heapq, math, re, string", "pass"])
def test_common_modules_are_loaded_before_the_fork(warm: Warm, imports: str) -> None:
    """Neither common imports nor printing an error loads a module in the fork. The traceback is the program's own."""
    look = "import atexit, sys\nbefore = set(sys.modules)\n"
    tell = "atexit.register(lambda: print(sorted(set(sys.modules) - before)))\n"
    ended = warm.run(f"{look}{tell}{imports}\n1 / 0 # mine")
    assert (ended.status, ended.stdout) == (1, b"[]\n")
    assert "    1 / 0 # mine\n" in ended.stderr
    assert "warm_up" not in ended.stderr
    assert "    1 / 0 # mine\n" in json.loads(ended.report)["traceback"]


def test_many_at_once(warm: Warm) -> None:
    """Several forks run at the same time, and end in any order."""
    slow = warm.start("import time\ntime.sleep(1)\nprint('slow')", b"", {})
    assert warm.run("print('quick')").stdout == b"quick\n"
    assert warm.finish(*slow).stdout == b"slow\n"


def run_with_code(warm: Warm, program: str, code_fd: int, stdin: bytes = b"", **rules: Any) -> Any:
    """Run a program in a fork with a file for its compiled code, writable only while it is empty, as in the runner."""
    mode = os.O_RDONLY if os.fstat(code_fd).st_size else os.O_RDWR
    opened = os.open(f"/proc/self/fd/{code_fd}", mode)
    ended = warm.finish(*warm.start(program, stdin, {"code": opened}, **rules))
    os.close(opened)
    return ended


def test_a_program_is_compiled_once(warm: Warm) -> None:
    """The first test stores the compiled code, and later tests use it. (To show this, the second program differs.)"""
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
def test_incomplete_code_is_not_used(warm: Warm, kept: bytes) -> None:
    """Incomplete code of a stopped test is not used: the program is compiled again, and the file is not changed."""
    code_fd = os.memfd_create("code")
    os.write(code_fd, kept)
    assert run_with_code(warm, "print(2)", code_fd).stdout == b"2\n"
    assert os.pread(code_fd, 100, 0) == kept
    os.close(code_fd)


def test_messages_of_the_compiler_are_in_each_test(warm: Warm) -> None:
    """A program with a syntax error or a warning is compiled in each test, so each test has the message."""
    for program, words in (("print(1) if 1 is 1 else 2", "SyntaxWarning"), ("print(1", "SyntaxError")):
        code_fd = os.memfd_create("code")
        seen = [run_with_code(warm, program, code_fd) for _ in range(2)]
        assert words in seen[0].stderr
        assert (seen[1].stderr, seen[1].report, seen[1].stdout) == (seen[0].stderr, seen[0].report, seen[0].stdout)
        assert os.fstat(code_fd).st_size == 0
        os.close(code_fd)


def test_a_program_cannot_change_its_code(warm: Warm) -> None:
    """When the program starts, the file's descriptor is closed."""
    code_fd = os.memfd_create("code")
    look = "import os\nfor fd in range(3, 300):\n    try: os.write(fd, b'mine')\n    except OSError: pass\n"
    assert run_with_code(warm, look, code_fd, nofile=300).status == 0
    assert b"mine" not in os.pread(code_fd, 8, 0)
    assert int.from_bytes(os.pread(code_fd, 8, 0), "little") == os.fstat(code_fd).st_size - 8
    os.close(code_fd)


def test_descriptors(warm: Warm) -> None:
    """A program has its streams and the descriptor of its report, but not that of its task or of our socket."""
    look = "import os\nfor f in os.listdir('/proc/self/fd'):\n    path = '/proc/self/fd/' + f\n"
    ended = warm.run(look + "    if int(f) > 2 and os.path.lexists(path): print(os.readlink(path))")
    assert ended.stdout.count(b"memfd") <= 1
    assert b"socket" not in ended.stdout


def test_a_killed_fork_does_not_affect_others(warm: Warm) -> None:
    """If the runner kills a fork, the warm process still works."""
    pid, fds = warm.start("while True: pass", b"", {})
    os.kill(pid, signal.SIGKILL)
    assert warm.finish(pid, fds).status == -signal.SIGKILL
    assert warm.run("print(1)").stdout == b"1\n"


# --------------------------------------------------------------------------- confinement


def instruction(code: int, true: int, false: int, value: int) -> bytes:
    """One instruction of a seccomp filter."""
    return struct.pack("HBBI", code, true, false, value)


START_MESSAGE = "=qqi24s4x"  # the runner's `StartMessage`
LOAD_CALL = instruction(0x20, 0, 0, 0)
ALLOW = instruction(0x06, 0, 0, 0x7FFF0000)


def filter_for(call: int, action: int) -> str:
    """A filter with an action for one system call, which allows all others."""
    code = LOAD_CALL + instruction(0x15, 0, 1, call) + instruction(0x06, 0, 0, action) + ALLOW
    return base64.b64encode(code).decode()


SYS_SOCKET = 41
NO_SOCKETS = filter_for(SYS_SOCKET, 0x00050000 | errno.EPERM)
NOTIFY_SOCKETS = filter_for(SYS_SOCKET, 0x7FC00000)
OPEN_SOCKET = "import socket\ntry:\n    socket.socket()\n    print('open')\nexcept OSError as e:\n    print(e.errno)"


def test_rlimits(warm: Warm) -> None:
    """The limits are set before the program is read."""
    ended = warm.run("import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))", nofile=80)
    assert ended.stdout == b"(80, 80)\n"
    assert warm.run("while True: pass", rlimits=[[resource.RLIMIT_CPU, 1, 2]]).status == -signal.SIGXCPU


def test_seccomp(warm: Warm) -> None:
    """The runner's filter applies in the fork, and only there."""
    assert warm.run(OPEN_SOCKET, seccomp=NO_SOCKETS).stdout == b"%d\n" % errno.EPERM
    assert warm.run(OPEN_SOCKET).stdout == b"open\n"


def test_no_new_privileges(warm: Warm) -> None:
    """`no_new_privs` is set, so a program cannot gain privileges by executing another."""
    ended = warm.run("print([l for l in open('/proc/self/status') if l.startswith('NoNewPrivs')])")
    assert b"NoNewPrivs:\\t1" in ended.stdout


def receive_thread(ours: socket.socket, pid: int) -> None:
    """Receive the first message, with a descriptor of the main thread's directory. (The process may have ended.)"""
    message, ancillary, _, _ = ours.recvmsg(64, socket.CMSG_SPACE(4))
    assert struct.unpack(START_MESSAGE, message)[3].rstrip(b"\0") == b"thread"
    (thread,) = struct.unpack("i", ancillary[0][2][:4])
    assert os.readlink(f"/proc/self/fd/{thread}") == f"/proc/{pid}/task/{pid}"
    os.close(thread)


def test_ready_is_closed_when_confined(warm: Warm) -> None:
    """The socket `ready` is closed after confinement, before the program starts: the runner can start its clock."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid, fds = warm.start("print(1)", b"", {"ready": theirs.fileno()}, seccomp=NO_SOCKETS)
    theirs.close()
    receive_thread(ours, pid)
    spent_us, now_us, error, _ = struct.unpack(START_MESSAGE, ours.recv(64))
    assert 0 < spent_us < now_us
    assert error == 0
    assert ours.recv(1) == b""
    assert warm.finish(pid, fds).stdout == b"1\n"
    ours.close()


def test_listener_reaches_the_runner(warm: Warm) -> None:
    """The runner receives the descriptor of the filter's notifications over the socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid, fds = warm.start(OPEN_SOCKET, b"", {"ready": theirs.fileno()}, seccomp=NOTIFY_SOCKETS, listener=True)
    theirs.close()
    receive_thread(ours, pid)
    message, ancillary, _, _ = ours.recvmsg(64, socket.CMSG_SPACE(4))
    assert struct.unpack(START_MESSAGE, message)[:3] == (0, 0, 0)
    (listener,) = struct.unpack("i", ancillary[0][2][:4])
    assert os.readlink(f"/proc/self/fd/{listener}") == "anon_inode:seccomp notify"
    os.close(listener)  # without a listener the call fails with ENOSYS
    assert warm.finish(pid, fds).stdout == b"%d\n" % errno.ENOSYS
    ours.close()


def test_landlock(warm: Warm) -> None:
    """The runner's Landlock ruleset applies in the fork, and only there."""
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
def test_a_program_that_cannot_be_confined_does_not_run(warm: Warm, rules: dict[str, Any]) -> None:
    """If confinement fails, the fork ends with exit code 3 before its program is read, which the runner recognises."""
    ended = warm.run("print('ran')", **rules)
    assert (ended.status, ended.stdout, ended.report) == (3, b"", b"")
    assert "cannot be confined" in ended.stderr
