"""The warm interpreter: one process that forks for each test. Each fork confines itself before it reads its program.

`__init__.py` says why this is safe. The numbers are those of x86-64, as in the runner's tables.
"""

from __future__ import annotations

import _socket as socket
import binascii
import ctypes
import gc
import os
import resource
import struct
import sys
import time

from . import endings, execution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

SIGKILL, SIGCHLD = 9, 17  # not from `signal`: importing it takes half as long as a test

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

_CAPABILITIES_OF_SELF, _NO_CAPABILITIES = struct.pack("Ii", CAPABILITY_VERSION_3, 0), bytes(24)

_ABOVE_ALL = 64  # from this number on are the descriptors that a fork keeps besides its streams
_MAX_PASSED, _LONGEST_REQUEST = 16, 1 << 16
_MAX_DESCRIPTORS = 1024  # no descriptor is as high as this, because new ones get the lowest free numbers
_START_MESSAGE = "=qqi24s4x"  # the runner's `StartMessage`: CPU time and clock in microseconds, an error, and its step
_WARM_UP_RUNS = 10  # the interpreter adapts its code after eight
_COMMON = (
    *("bisect", "cmath", "collections", "copy", "functools", "heapq", "io", "itertools", "math", "operator", "re"),
    "string",
)
"""Modules that many programs import. Most of them are loaded anyway, by the modules that print tracebacks."""
_POOL_HEADER, _BYTES_HEADER = 48, 33  # sizes in CPython's memory
_NOT_CONFINED = 3  # the exit code of a fork that could not confine itself: no program ran in it

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def serve(control_fd: int, grader: Any = None, preload: str = "") -> NoReturn:
    """Fork for each request until the socket is closed, then exit; a fork exits with the exit code of its program."""
    control = _socket_of(control_fd)
    load(",".join(_COMMON))
    load(preload)
    if os.path.isdir("/proc/self/task") and len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("what was imported has started threads: a fork would inherit their locks")
    _prepare_streams()
    gc.collect()
    _filled = _fill_pools()  # these objects must stay
    gc.freeze()  # then a garbage collection in a fork visits only new objects, and copies no pages of ours
    last_data, request = b"", {}
    while True:
        data, descriptors = _received(control)
        if not data:
            os._exit(0)
        if data != last_data:  # the requests of a job's tests are equal
            last_data, request = data, _parsed(data)
        fds = {name: descriptors[index] for index, name in enumerate(request["descriptors"])}
        if "pid_namespace" in fds:
            _must(_libc.setns(fds["pid_namespace"], CLONE_NEWPID), "setns")
        pid = fork_sibling()
        if pid == 0:
            control.close()
            os._exit(_become_contestant(request, fds, grader))  # unwinding would free objects that forks share
        for fd in descriptors:
            os.close(fd)
        control.send(b'{"pid": %d}' % pid)


def load(names: str) -> None:
    """Import modules that programs use, so that forks need not import them. `names` has commas between the names.

    The name `call` means the modules for calls. If a module does not exist, the program's own import fails later.
    """
    for name in names.split(",") if names else ():
        if name == "call":
            from . import calls

            calls.prepare_calls()
            continue
        try:
            __import__(name)
        except ImportError:
            sys.modules.pop(name, None)


_before_fork = ctypes.pythonapi.PyOS_BeforeFork
_after_in_parent, _after_in_child = ctypes.pythonapi.PyOS_AfterFork_Parent, ctypes.pythonapi.PyOS_AfterFork_Child
_thread_id_at = ctypes.c_void_p()
_sibling_flags = CLONE_PARENT | SIGCHLD
if _libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(_thread_id_at), 0, 0, 0) == 0 and _thread_id_at.value:
    _sibling_flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID


def fork_sibling() -> int:
    """Fork a child of this process's parent. Returns 0 in the child.

    The C library's `fork` cannot do that. So this function also does what `fork` does besides: it handles the locks of
    the interpreter, and the place where the library keeps the thread's id.
    """
    _before_fork()
    pid = _libc.syscall(ctypes.c_long(SYS_CLONE), ctypes.c_long(_sibling_flags), None, None, _thread_id_at, None)
    if pid == 0:
        _after_in_child()
        return 0
    error = ctypes.get_errno()
    _after_in_parent()
    if pid < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return int(pid)


def confine(rules: dict[str, Any], fds: dict[str, int]) -> None:
    """Confine this process permanently by the rules of a request. Any failure ends the process.

    The descriptors `directory`, `ready` and `landlock` are closed; others are not used.
    """
    ready = _socket_of(fds["ready"])
    try:
        _send_thread(ready)
        for number, soft, hard in rules["rlimits"]:
            resource.setrlimit(number, (soft, hard))
        os.setsid()
        os.fchdir(fds["directory"])
        os.close(fds["directory"])
        _drop_privileges(rules)
        _must(_libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "parent's death")
        _must(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        if "landlock" in fds:
            _must(_libc.syscall(ctypes.c_long(SYS_LANDLOCK_RESTRICT_SELF), fds["landlock"], 0), "Landlock")
            os.close(fds["landlock"])
        _install_filter(rules, ready)
        resource.setrlimit(resource.RLIMIT_NOFILE, (rules["nofile"], rules["nofile"]))  # now: the listener needed more
        _send(ready, None, max(1, time.process_time_ns() // 1000), time.monotonic_ns() // 1000)
        ready.close()
    except (OSError, ValueError) as error:
        os.write(2, f"harness: cannot be confined: {error}\n".encode())
        os._exit(_NOT_CONFINED)


def _send_thread(ready: Any) -> None:
    """Send this thread's directory in /proc, if there is one: the runner sees by it what /proc hides.

    Before descriptors are limited, because the kernel limits how many may be under way by that limit too.
    """
    try:
        thread = os.open("/proc/thread-self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    _send(ready, thread, step=b"thread")
    os.close(thread)


def _drop_for_forks() -> None:
    """Drop what could give a fork the privileges of root (of any namespace).

    Forks inherit this, so once is enough. This process itself executes nothing and needs none of it.
    """
    for capability in range(64):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    _must(_libc.prctl(PR_SET_SECUREBITS, NO_ROOT_FOR_GOOD, 0, 0, 0), "securebits")


def _drop_privileges(rules: dict[str, Any]) -> None:
    """Drop everything by which root's privileges could be regained, as the runner does."""
    if "uid" in rules:
        os.setgroups([])
        os.setresgid(*(rules["uid"],) * 3)
        os.setresuid(*(rules["uid"],) * 3)
    _must(_libc.syscall(ctypes.c_long(SYS_CAPSET), _CAPABILITIES_OF_SELF, _NO_CAPABILITIES), "capset")
    _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)


class _Filter(ctypes.Structure):
    """The kernel's `struct sock_fprog`, complete except for the process's own id."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    def __init__(self, code: bytes, own_id_at: list[int]) -> None:
        self.code = ctypes.create_string_buffer(code, len(code))
        super().__init__(len(code) // 8, ctypes.addressof(self.code))
        self.own_id_offsets = [8 * at + 4 for at in own_id_at]

    def for_this_process(self) -> Any:
        pid = os.getpid()
        for offset in self.own_id_offsets:
            struct.pack_into("I", self.code, offset, pid)
        return ctypes.byref(self)


def _install_filter(rules: dict[str, Any], ready: Any) -> None:
    if "filter" not in rules:
        return
    flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW | (SECCOMP_FILTER_FLAG_NEW_LISTENER if rules["listener"] else 0)
    call = ctypes.c_long(SYS_SECCOMP)
    listener = _libc.syscall(call, SECCOMP_SET_MODE_FILTER, flags, rules["filter"].for_this_process())
    _must(listener, "seccomp")
    if rules["listener"]:
        _send(ready, listener)
        os.close(listener)


def _send(ready: Any, descriptor: int | None, spent_us: int = 0, now_us: int = 0, step: bytes = b"") -> None:
    """Send a `StartMessage` with a descriptor. (`send` is not allowed.)"""
    passed = [] if descriptor is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", descriptor))]
    ready.sendmsg([struct.pack(_START_MESSAGE, spent_us, now_us, 0, step)], passed)


def _must(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def _socket_of(fd: int) -> Any:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fd)


# --------------------------------------------------------------------------- one fork


def _prepare_streams() -> None:
    """Make the standard streams of the forks.

    They are made over empty files, because the runner's descriptors are files too. So they are still right when a fork
    has replaced the descriptors.
    """
    nothing = os.memfd_create("nothing")
    copies = [os.dup(fd) for fd in (0, 1, 2)]
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    _warm_up(nothing)
    _warm_up_tracebacks()
    execution.fresh_streams()
    for fd in (0, 1, 2):
        os.dup2(copies[fd], fd)
        os.close(copies[fd])
    os.close(nothing)


_WARM_UP_PROGRAM = b"""stdin 0 \nimport sys
n = int(input())
a, b = map(int, input().split())
for line in sys.stdin:
    values = [int(word) for word in line.split()]
    print(*values, sum(values), sep=" ")
def f(n):
    return n if n < 2 else f(n - 1) + f(n - 2)
print("%d %s" % (f(2), "x"), f"{len(str(n))}", max(a, b), min(a, b), sorted({1: 2}.items()))
"""


def _warm_up(nothing: int) -> None:
    """Run a program of ours as forks run theirs.

    The interpreter then has the classes that a first compilation makes, caches of methods, and adapted code. Otherwise
    each fork would make these again, on pages that the kernel must copy.
    """
    program = execution.Program(_WARM_UP_PROGRAM)
    for _ in range(_WARM_UP_RUNS):
        os.ftruncate(nothing, 0)
        os.pwrite(nothing, b"1\n2 3\n4 5 6\n", 0)
        os.lseek(nothing, 0, os.SEEK_SET)
        execution.fresh_streams()
        exec(execution.compiled_program(program), {"__name__": "warm_up"})
        endings.flush(sys.stdout, sys.stderr)
    os.ftruncate(nothing, 0)
    os.lseek(nothing, 0, os.SEEK_SET)


def _warm_up_tracebacks() -> None:
    """Let a program of ours fail, to import what prints tracebacks: that takes five times as long as a test."""
    import linecache

    program = execution.Program(b"stdin 0 \ndef f(n):\n    print(n, missing)\nf(1)\n")
    try:
        exec(execution.compiled_program(program), execution.fresh_module("warm_up", program).__dict__)
    except NameError as error:
        endings.print_error(error)
        endings.Report(os.open(os.devnull, os.O_WRONLY)).write("run", error)
    del sys.modules["warm_up"]
    linecache.clearcache()  # its keys are names of files, and all programs have the same name


def _fill_pools() -> list[Any]:
    """Fill the free places on pages that are in use.

    Then a fork's first objects are on new pages. Otherwise each would be on a page of ours, which the kernel must copy.
    (CPython puts small objects into pools, one for each size.)
    """
    pool = 1 << 14 if sys.version_info >= (3, 10) else 1 << 12
    objects: list[Any] = []
    for size in range(16, 513, 16):
        for number in range(2 * pool // size):
            item: Any = object() if size == 16 else (1 << 40) + number if size == 32 else bytes(size - _BYTES_HEADER)
            objects.append(item)
            if id(item) % pool == _POOL_HEADER:
                break  # the first of a new pool: the others are full
    return objects


def _received(control: socket.socket) -> tuple[bytes, tuple[int, ...]]:
    data, ancillary, flags, _ = control.recvmsg(_LONGEST_REQUEST, socket.CMSG_SPACE(4 * _MAX_PASSED))
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise RuntimeError("a request is too long")
    fds: tuple[int, ...] = ()
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += struct.unpack(f"{len(payload) // 4}i", payload)
    return data, fds


def _parsed(data: bytes) -> dict[str, Any]:
    """A request, with everything prepared that forks would otherwise do."""
    request: dict[str, Any] = eval(data, {"true": True, "false": False, "null": None})
    # (It is JSON from the runner, which is trusted. To import json would take 9 ms at each start.)
    if "seccomp" in request:
        request["filter"] = _Filter(binascii.a2b_base64(request.pop("seccomp")), request["self"])
    if request.get("drop"):
        _drop_for_forks()
    return request


def _become_contestant(request: dict[str, Any], fds: dict[str, int], grader: Any) -> int:
    """Confine a fork, then read its program and run it. Returns the exit code."""
    for target, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(fds[name], target)
    moved: dict[str, int] = {}
    for name in ("program", "code", "report", "landlock", "directory"):  # low numbers stay free for the program
        if name in fds:
            moved[name] = os.dup2(fds[name], _ABOVE_ALL + len(moved), False)
    first_free = _ABOVE_ALL + len(moved)
    moved["ready"] = os.dup2(fds["ready"], request["ready_fd"], False)
    os.closerange(3, _ABOVE_ALL)
    os.closerange(first_free, moved["ready"])
    os.closerange(moved["ready"] + 1, _MAX_DESCRIPTORS)
    confine(request, moved)
    program = execution.Program(execution.read_all(moved["program"]))
    os.close(moved["program"])
    if "numpy.random" in sys.modules:  # else all forks would draw the same numbers, as if they had agreed on them
        sys.modules["numpy.random"].seed()
    program.code_fd = moved["code"]
    return execution.run_program(program, endings.Report(moved["report"]), grader)
