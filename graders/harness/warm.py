"""The warm interpreter: one process that forks for each test, and what a fork gives up before it reads its program.

`__init__.py` says why this is safe. Numbers are those of x86-64, like the runner's tables.
"""

from __future__ import annotations

import array
import base64
import ctypes
import fcntl
import gc
import json
import os
import resource
import signal
import socket
from typing import Any

from . import program

CLONE_PARENT = 0x00008000
CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x00200000, 0x01000000
PR_SET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS = 38, 40
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 1 << 3
SYS_CLONE, SYS_SECCOMP, SYS_LANDLOCK_RESTRICT_SELF = 56, 317, 446

_ABOVE_ALL = 64  # descriptors are moved here while 0, 1 and 2 are given away
_LAST_WISH = 3  # the exit code of a fork that could not be confined: no program ran in it

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def serve(control_fd: int, grader: Any = None) -> int:
    """Fork for each request until the socket is closed. Returns only in a fork, with the exit code of its program.

    A request is one message of a SOCK_SEQPACKET socket: JSON with `descriptors` (the names of those that come with it:
    task, stdin, stdout, stderr, and maybe report, ready, landlock), `sibling`, and the rules of `confine`. The answer
    is `{"pid": …}`, seen from this process's namespace.
    """
    program.call_prelude()
    control = socket.socket(fileno=control_fd)
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("what was imported has started threads: a fork would inherit their locks")
    gc.collect()
    gc.freeze()  # a collection in a fork looks at what its program made, and copies no pages of ours
    while True:
        request, fds = _received(control)
        if request is None:
            os._exit(0)
        pid = fork_sibling() if request.get("sibling") else os.fork()
        if pid == 0:
            control.close()
            return _become_contestant(request, fds, grader)
        for fd in fds.values():
            os.close(fd)
        control.send(json.dumps({"pid": pid}).encode("ascii"))


def fork_sibling() -> int:
    """Fork, but the child is a child of this process's parent. Returns 0 in the child.

    The C library's `fork` cannot do that; what it does besides is done here: the locks of the interpreter, and the
    place in which the library keeps the thread's id.
    """
    address = ctypes.c_void_p()
    flags = CLONE_PARENT | signal.SIGCHLD
    if _libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value:
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = _libc.syscall(ctypes.c_long(SYS_CLONE), ctypes.c_long(flags), None, None, address, None)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return int(pid)


def confine(rules: dict[str, Any], landlock_fd: int | None = None, ready_fd: int | None = None) -> None:
    """Give up what the runner says, for good, and close `ready_fd`. Any failure ends the process.

    Args:
        rules: `rlimits` [[number, soft, hard], …]; `seccomp`, the filter's instructions in base64; `listener`, whether
            the runner gets the descriptor of its notifications.
        landlock_fd: a ruleset.
        ready_fd: a socket, for the listener.
    """
    try:
        for number, soft, hard in rules.get("rlimits", ()):
            resource.setrlimit(number, (soft, hard))
        _must(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if landlock_fd is not None:
            _must(_libc.syscall(ctypes.c_long(SYS_LANDLOCK_RESTRICT_SELF), landlock_fd, 0), "Landlock")
            os.close(landlock_fd)
        _install_filter(rules, ready_fd)
    except (OSError, ValueError) as error:
        os.write(2, f"harness: cannot be confined: {error}\n".encode())
        os._exit(_LAST_WISH)


class _Filter(ctypes.Structure):
    """The kernel's `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _install_filter(rules: dict[str, Any], ready_fd: int | None) -> None:
    ready = socket.socket(fileno=ready_fd) if ready_fd is not None else None
    if "seccomp" in rules:
        code = base64.b64decode(rules["seccomp"])
        program_of_rules = _Filter(len(code) // 8, code)
        flags = SECCOMP_FILTER_FLAG_NEW_LISTENER if rules.get("listener") else 0
        call = ctypes.c_long(SYS_SECCOMP)
        listener = _libc.syscall(call, SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program_of_rules))
        _must(listener, "seccomp")
        if flags and ready is not None:
            ready.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))])
            os.close(listener)
    if ready is not None:
        ready.close()


def _must(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


# --------------------------------------------------------------------------- one fork


def _received(control: socket.socket) -> tuple[dict[str, Any] | None, dict[str, int]]:
    fds = array.array("i")
    data, ancillary, _, _ = control.recvmsg(1 << 20, socket.CMSG_SPACE(16 * fds.itemsize))
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    if not data:
        return None, {}
    request = json.loads(data)
    names = request["descriptors"]
    return request, {names[i]: fds[i] for i in range(len(names))}


def _become_contestant(request: dict[str, Any], fds: dict[str, int], grader: Any) -> int:
    """What a fork does before it reads its program."""
    moved = {name: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _ABOVE_ALL) for name, fd in fds.items()}
    for target, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(moved.pop(name), target)
    _close_all_but({0, 1, 2, *moved.values()})
    program.fresh_streams()
    confine(request, moved.get("landlock"), moved.get("ready"))
    task = program.Task(program.read_all(moved["task"]))
    os.close(moved["task"])
    return program.perform(task, program.Report(moved.get("report")), grader)


def _close_all_but(kept: set[int]) -> None:
    for fd in sorted(int(name) for name in os.listdir("/proc/self/fd")):
        if fd not in kept:
            try:
                os.close(fd)
            except OSError:
                continue  # the directory that was listed
