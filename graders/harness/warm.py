"""The warm interpreter: one process that forks for each test, and what a fork gives up before it reads its program.

`__init__.py` says why this is safe. Numbers are those of x86-64, like the runner's tables.
"""

from __future__ import annotations

import _socket as socket
import array
import binascii
import ctypes
import fcntl
import gc
import os
import resource
import struct
import sys
import time

from . import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGKILL, SIGCHLD = 9, 17  # `signal` takes as long to load as half a test to run

CLONE_PARENT = 0x00008000
CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x00200000, 0x01000000
CLONE_NEWPID = 0x20000000
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS = 1, 24, 28, 38, 40
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
NO_ROOT_FOR_GOOD = 0x3F  # SECBIT_NOROOT, NO_SETUID_FIXUP, KEEP_CAPS, each with its lock
CAPABILITY_VERSION_3 = 0x20080522
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_SPEC_ALLOW, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 2, 1 << 3
SYS_CLONE, SYS_CAPSET, SYS_SECCOMP, SYS_LANDLOCK_RESTRICT_SELF = 56, 126, 317, 446

_ABOVE_ALL = 64  # descriptors are moved here while 0, 1 and 2 are given away
_MOST_DESCRIPTORS = 1024  # what is opened here takes the lowest numbers
_WORD = "=qqi24s4x"  # the runner's `Word`: CPU time and clock in microseconds, an error, and where
_LAST_WISH = 3  # the exit code of a fork that could not be confined: no program ran in it

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def serve(control_fd: int, grader: Any = None, preload: str = "") -> int:
    """Fork for each request until the socket is closed. Returns only in a fork, with the exit code of its program.

    A request is one message of a SOCK_SEQPACKET socket: JSON with `descriptors` (the names of those that come with it:
    task, stdin, stdout, stderr, and maybe report, ready, landlock, zone), `sibling`, and the rules of `confine`. With
    `zone`, a PID namespace, the fork is born into that. The answer is `{"pid": …}`, seen from this process's namespace.
    """
    control = _socket_of(control_fd)
    load(preload)
    if os.path.isdir("/proc/self/task") and len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("what was imported has started threads: a fork would inherit their locks")
    gc.collect()
    gc.freeze()  # a collection in a fork looks at what its program made, and copies no pages of ours
    while True:
        request, fds = _received(control)
        if request is None:
            os._exit(0)
        if "zone" in fds:
            _must(_libc.setns(fds["zone"], CLONE_NEWPID), "setns")
        pid = fork_sibling() if request.get("sibling") else os.fork()
        if pid == 0:
            control.close()
            return _become_contestant(request, fds, grader)
        for fd in fds.values():
            os.close(fd)
        control.send(b'{"pid": %d}' % pid)


def load(names: str) -> None:
    """Import modules that programs ask for, so that their forks need not: names with `,` between them.

    `call` stands for what calls need. A module that is not there is the program's to stumble over.
    """
    for name in names.split(",") if names else ():
        if name == "call":
            from . import values  # noqa: F401

            program.call_prelude()
            continue
        try:
            __import__(name)
        except ImportError:
            sys.modules.pop(name, None)


def fork_sibling() -> int:
    """Fork, but the child is a child of this process's parent. Returns 0 in the child.

    The C library's `fork` cannot do that; what it does besides is done here: the locks of the interpreter, and the
    place in which the library keeps the thread's id.
    """
    address = ctypes.c_void_p()
    flags = CLONE_PARENT | SIGCHLD
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
        rules: `rlimits` [[number, soft, hard], …], and `nofile`, the last of them; `drop`, whether there are
            capabilities to give up, and `uid`, a user to become; `directory`, where the program works; `seccomp`, the
            filter's instructions in base64, `self`, those that get this process's id, and `listener`, whether the
            runner gets the descriptor of its notifications.
        landlock_fd: a ruleset.
        ready_fd: a socket, for the listener and a last word.
    """
    try:
        for number, soft, hard in rules.get("rlimits", ()):
            resource.setrlimit(number, (soft, hard))
        if "directory" in rules:
            os.setsid()
            os.chdir(rules["directory"])
        _drop_privileges(rules)
        _must(_libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "parent's death")
        _must(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if landlock_fd is not None:
            _must(_libc.syscall(ctypes.c_long(SYS_LANDLOCK_RESTRICT_SELF), landlock_fd, 0), "Landlock")
            os.close(landlock_fd)
        _install_filter(rules, ready_fd)
    except (OSError, ValueError) as error:
        os.write(2, f"harness: cannot be confined: {error}\n".encode())
        os._exit(_LAST_WISH)


def _drop_privileges(rules: dict[str, Any]) -> None:
    """Nothing that root's privileges (of whatever namespace) could be regained from; as the runner does it."""
    if rules.get("drop"):
        for capability in range(64):
            _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        _must(_libc.prctl(PR_SET_SECUREBITS, NO_ROOT_FOR_GOOD, 0, 0, 0), "securebits")
    if "uid" in rules:
        os.setgroups([])
        os.setresgid(*(rules["uid"],) * 3)
        os.setresuid(*(rules["uid"],) * 3)
    header, nothing = struct.pack("Ii", CAPABILITY_VERSION_3, 0), bytes(24)
    _must(_libc.syscall(ctypes.c_long(SYS_CAPSET), header, nothing), "capset")
    _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)


class _Filter(ctypes.Structure):
    """The kernel's `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _install_filter(rules: dict[str, Any], ready_fd: int | None) -> None:
    ready = _socket_of(ready_fd) if ready_fd is not None else None
    if "seccomp" in rules:
        code = bytearray(binascii.a2b_base64(rules["seccomp"]))
        for at in rules.get("self", ()):
            struct.pack_into("I", code, 8 * at + 4, os.getpid())
        code = bytes(code)
        program_of_rules = _Filter(len(code) // 8, code)
        listens = rules.get("listener")
        flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW | (SECCOMP_FILTER_FLAG_NEW_LISTENER if listens else 0)
        call = ctypes.c_long(SYS_SECCOMP)
        listener = _libc.syscall(call, SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(program_of_rules))
        _must(listener, "seccomp")
        if listens and ready is not None:
            ready.sendmsg(
                [struct.pack(_WORD, 0, 0, 0, b"")],
                [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))],
            )
            os.close(listener)
    if "nofile" in rules:  # now: the listener needed one more
        resource.setrlimit(resource.RLIMIT_NOFILE, (rules["nofile"], rules["nofile"]))
    if ready is not None:
        spent_us = max(1, time.process_time_ns() // 1000)
        ready.sendmsg([struct.pack(_WORD, spent_us, time.monotonic_ns() // 1000, 0, b"")])  # `send` is not allowed
        ready.close()


def _must(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def _socket_of(fd: int) -> Any:
    return socket.socket(-1, -1, -1, fd)


# --------------------------------------------------------------------------- one fork


def _received(control: socket.socket) -> tuple[dict[str, Any] | None, dict[str, int]]:
    fds = array.array("i")
    data, ancillary, _, _ = control.recvmsg(1 << 20, socket.CMSG_SPACE(16 * fds.itemsize))
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    if not data:
        return None, {}
    request = eval(data, {"true": True, "false": False, "null": None})  # the runner's words: JSON
    names = request["descriptors"]
    return request, {names[i]: fds[i] for i in range(len(names))}


def _become_contestant(request: dict[str, Any], fds: dict[str, int], grader: Any) -> int:
    """What a fork does before it reads its program."""
    moved = {}
    for name, fd in fds.items():
        lowest = request["ready_fd"] if name == "ready" and "ready_fd" in request else _ABOVE_ALL
        moved[name] = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
    for target, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(moved.pop(name), target)
    moved.pop("zone", None)
    _close_all_but({0, 1, 2, *moved.values()})
    program.fresh_streams()
    confine(request, moved.get("landlock"), moved.get("ready"))
    task = program.Task(program.read_all(moved["task"]))
    os.close(moved["task"])
    return program.perform(task, program.Report(moved.get("report")), grader)


def _close_all_but(kept: set[int]) -> None:
    low = 2
    for high in [*sorted(kept - {0, 1, 2}), _MOST_DESCRIPTORS]:
        if low + 1 < high:  # an empty range would be taken for an endless one
            os.closerange(low + 1, high)
        low = high
