"""Runs one program as a script in this process. Also has the functions that `calls.py` and `other_graders.py` share."""

from __future__ import annotations

import _frozen_importlib
import builtins
import io
import marshal
import os
import sys

from . import endings

TYPE_CHECKING = False  # each imported module costs every job time: `typing` as much as a test
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))  # what follows works if a program replaces `sorted` or `type`

FILE = "solution.py"
CALLS_IN_C = 3  # calls that have no frame, between ours and the program's; before Python 3.12 they count as recursion

_UNLIMITED_STACK = 1 << 40  # bytes: more than any memory limit, and less than a process's addresses

MAX_CODE = 1 << 20  # bytes of a program's compiled code that is kept for its next tests


class Program:
    """A program and how to run it. It is sent as one line of three words, then its source.

    mode:         `stdin`, `call`, or `linked`: as `stdin`, but the program (a grader) imports others (a submission).
    conventions:  1: undo what the data set changed in its reference solutions (`top_level.py`); else 0.
    name:         the rest of the line. For `call`: the function or method. For `linked`: the name of each module that
                  can be imported, and its length in bytes; the modules come before the program.
    """

    def __init__(self, data: bytes) -> None:
        line, _, self.source = data.partition(b"\n")
        self.mode, conventions, self.name = line.decode("utf-8", "surrogatepass").split(" ", 2)
        self.conventions = conventions == "1"
        self.arguments: list[str] = []
        self.code_fd: int | None = None  # a file for its compiled code: see `code_of`
        self.modules: list[Module] = []
        if self.mode == "linked":
            fields = self.name.split(" ")
            for at in range(0, len(fields), 2):
                size = int(fields[at + 1])
                self.modules.append(Module(fields[at], self.source[:size]))
                self.source = self.source[size:]


class Module:
    """Provides a module to the program that imports it, with the name in upper or lower case. It is in no file."""

    def __init__(self, name: str, source: bytes) -> None:
        self._name = name.lower()
        self.source = source

    def find_spec(self, name: str, path: Any = None, _: Any = None) -> Any:
        """The spec of this module, if the name is its name."""
        if path is None and name.lower() == self._name:
            loader: Any = self  # it has a loader's methods; `importlib.abc.Loader` would import many modules
            return _frozen_importlib.ModuleSpec(name, loader, origin=f"{name}.py")
        return None

    def create_module(self, spec: Any) -> None:
        """Let the interpreter make the module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute it, with the builtins of the program."""
        endings.imported.append(module.__name__)
        module.__dict__["__builtins__"] = builtins.__dict__
        exec(compile(self.source, f"{module.__name__}.py", "exec", dont_inherit=True), module.__dict__)

    def get_source(self, _: str) -> str:
        """The source, for tracebacks."""
        return self.source.decode("utf-8", "replace")


# --------------------------------------------------------------------------- a whole run


def run_program(program: Program, report: endings.Report, grader: Any = None) -> int:
    """Run a program, with the streams on 0, 1 and 2. Returns the exit code.

    In a call the standard input has the arguments and the standard output gets the result; the program itself reads
    nothing, and what it prints goes to standard error.

    Args:
        program: what to run.
        report: says how the run ended.
        grader: an `OtherGrader`, if the program must run as that grader would run it.
    """
    sys.path[0] = os.getcwd()  # as for a script; programs must not import from the harness's archive
    sys.argv[:] = [FILE, *program.arguments]  # not ours, which `argparse` and `fileinput` would read
    sys.meta_path[:0] = program.modules
    if program.mode != "call":
        return grader.run_stdin(program, report) if grader else run_stdin(program, report)
    from . import calls, values  # before the program is executed, so that it cannot replace what writes its result

    arguments = values.decode(read_all(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    result_fd = os.dup(1)
    os.dup2(2, 1)
    run = grader.run_call if grader else calls.run_call
    return run(program, arguments, result_fd, report)


def run_stdin(program: Program, report: endings.Report, prelude: Any = None) -> int:
    """Run a program as `python3 solution.py` would, to its end. Returns its exit code.

    `prelude` is code that is executed before it, in its module; the program's line numbers stay the same.
    """
    modules = [fresh_module("__main__", program)]  # not a variable: `end_run` takes the last reference
    phase = "compile"
    status = 0
    try:
        allow_long_integers()
        code = compiled_program(program)
        phase = "run"
        sources = [program.source, *(module.source for module in program.modules)]
        if any(b"/dev/" in source or b"/proc/self/fd" in source for source in sources):
            builtins.open = io.open = _OpenStreams(io.open)
        if b"__file__" in program.source:
            _write_own_file(program)
        allow_script_recursion()
        if prelude is not None:
            exec(prelude, modules[0].__dict__)
        exec(code, modules[0].__dict__)
        _start(program, modules[0])
    except SystemExit as error:
        status = endings.exit_status(error)
        report.write(phase, error)
    except BaseException as error:  # noqa: BLE001 - a program may end by any exception
        status = endings.print_error(error)
        report.write(phase, error)
    else:
        report.write("done")
    return endings.end_run(modules, status)


# --------------------------------------------------------------------------- as a fresh interpreter would


def _write_own_file(program: Program) -> None:
    """Let a program open its own file, by `__file__`."""
    try:
        fd = os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        endings.write_all(fd, program.source)
        os.close(fd)
    except OSError:
        pass  # some kinds of programs may not make files


class _OpenStreams:
    """`open`, with the usual paths of the streams added, which do not exist in a box.

    It is not a function: `pathlib` of Python 3.10 keeps `io.open` in a class, where a function would become a method.
    """

    def __init__(self, opened: Callable[..., Any]) -> None:
        self._opened = opened
        self._paths = {f"/dev/{name}": fd for fd, name in enumerate(("stdin", "stdout", "stderr"))}
        self._paths.update({f"{directory}/{fd}": fd for directory in ("/dev/fd", "/proc/self/fd") for fd in range(3)})

    def __call__(self, file: Any, *args: Any, **kwargs: Any) -> Any:
        fd = None if isinstance(file, int) else self._paths.get(os.fsdecode(file))
        return self._opened(file if fd is None else os.dup(fd), *args, **kwargs)


def fresh_module(name: str, program: Program, prepared: types.ModuleType | None = None) -> types.ModuleType:
    """A fresh module, or the prepared one, with the program's source for tracebacks."""
    module = type(sys)(name) if prepared is None else prepared
    module.__dict__["__builtins__"] = builtins
    if name == "__main__":
        module.__dict__["__file__"] = FILE
    module.__dict__["__loader__"] = Module(name, program.source)  # it has the lines for tracebacks
    sys.modules[name] = module
    return module


def code_of(program: Program, compiled: Callable[[], types.CodeType]) -> types.CodeType:
    """The program's compiled code: from `compiled`, or from an earlier test of the same program.

    The first test that compiles the program writes the code to `code_fd`, before any of the program runs, and closes
    the file. It does not if the compiler warns, because each test must print that, or if the order of a constant set
    would change. If a test is stopped while it writes, the code is incomplete, and is not used.
    """
    fd, program.code_fd = program.code_fd, None
    if fd is None:
        return compiled()
    try:
        cached = read_all(fd)
        if cached and int.from_bytes(cached[:8], "little") == len(cached) - 8:
            code: types.CodeType = marshal.loads(cached[8:])
            return code
        stderr_size = os.fstat(2).st_size
        code = compiled()
        if not cached and os.fstat(2).st_size == stderr_size:
            _store_code(code, fd)
        return code
    finally:
        os.close(fd)


def _store_code(code: types.CodeType, fd: int) -> None:
    try:
        data = marshal.dumps(code)
        if len(data) <= MAX_CODE and _has_same_order(code, marshal.loads(data)):
            endings.write_all(fd, len(data).to_bytes(8, "little") + data)
    except (ValueError, OSError, MemoryError):
        pass  # nested too deeply, or too large: the next test compiles it again


def _has_same_order(code: types.CodeType, copy: types.CodeType) -> bool:
    """Whether a loop over a constant set has the same order in a copy. `{7, 15, 23}` in a `for` is such a constant.

    `marshal` adds the elements in another order than the compiler, and the order of a set depends on that.
    """
    for const, copied in zip(code.co_consts, copy.co_consts):  # noqa: B905 - `strict` needs Python 3.10
        if type(const) is frozenset and list(const) != list(copied):
            return False
        if type(const) is type(code) and not _has_same_order(const, copied):
            return False
    return True


def compiled_program(program: Program) -> types.CodeType:
    """The program's code, without another grader's changes."""
    return code_of(program, lambda: _compile(program))


def _compile(program: Program) -> types.CodeType:
    try:
        return compile(program.source, FILE, "exec", dont_inherit=True)
    except SyntaxError as error:
        if not (program.conventions and "'return' outside function" in str(error.msg)):
            raise
    from . import top_level

    return top_level.compile_returning(program.source, FILE)


def allow_long_integers() -> None:
    """Allow integers of any length, as when APPS was made: also in the program's source."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


def use_whole_stack() -> None:
    """Let recursion in C use the whole stack of the main thread, as in a script. Forks inherit this.

    Python 3.14 refuses recursion in C near the end of the stack. The C library finds that end in /proc/self/maps, which
    cannot be read in a box. Then Python assumes 4 MiB, and a function with `lru_cache` fails at a depth of 3,500.
    """
    import ctypes
    import resource

    size = resource.getrlimit(resource.RLIMIT_STACK)[0]
    if size == resource.RLIM_INFINITY:
        size = _UNLIMITED_STACK
    try:
        protect = ctypes.pythonapi.PyUnstable_ThreadState_SetStackProtection
        top = ctypes.c_size_t.in_dll(ctypes.CDLL(None), "__libc_stack_end").value
    except (AttributeError, ValueError):
        return  # an early 3.14, or another C library
    current = ctypes.pythonapi.PyThreadState_Get
    current.restype = ctypes.c_void_p
    protect.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    if protect(current(), top - size, size) != 0:
        raise RuntimeError("the interpreter does not accept its stack")


def allow_script_recursion() -> None:
    """Allow at least a script's depth of recursion."""
    depth = CALLS_IN_C
    frame: types.FrameType | None = sys._getframe(2)
    while frame:
        depth, frame = depth + 1, frame.f_back
    _count_recursion_from(depth)
    sys.setrecursionlimit(1000)


def _count_recursion_from(depth: int) -> None:
    """Let programs set and read the limit of recursion as if they were not called from a depth of our calls.

    Some set just the limit that they need, as `sys.setrecursionlimit(n + 10)`.
    """
    set_limit, current, most = sys.setrecursionlimit, sys.getrecursionlimit(), (1 << 31) - 1

    def setrecursionlimit(limit: Any) -> None:
        nonlocal current
        if hasattr(limit, "__index__"):
            limit = limit.__index__()
        # an invalid limit raises what it raises in a script
        set_limit(min(limit + depth, most) if isinstance(limit, int) and 0 < limit <= most else limit)
        current = limit

    sys.setrecursionlimit = setrecursionlimit
    sys.getrecursionlimit = lambda: current


def _start(program: Program, module: types.ModuleType) -> None:
    start = module.__dict__.get("__starting_point")
    if not program.conventions or start is None:
        return
    from . import top_level

    if top_level.lacks_start(program.source):
        start()


# --------------------------------------------------------------------------- descriptors


def read_all(fd: int) -> bytes:
    """Everything that comes from a descriptor."""
    pieces: list[bytes] = []
    while True:
        piece = os.read(fd, 1 << 16)  # a larger buffer would be mapped and unmapped each time
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def fresh_streams() -> None:
    """New standard streams over the descriptors 0, 1 and 2, made as the interpreter makes them."""
    for fd, name, mode in ((0, "stdin", "rb"), (1, "stdout", "wb"), (2, "stderr", "wb")):
        old = getattr(sys, f"__{name}__")
        binary: Any = open(fd, mode, closefd=False)  # noqa: SIM115 - open as long as the process
        binary.raw.name = f"<{name}>"
        text = io.TextIOWrapper(
            binary,
            encoding=old.encoding if old else "utf-8",
            errors=old.errors if old else "surrogateescape",
            newline="\n",  # nothing is translated, also not on input: a carriage return reaches the program
            line_buffering=fd == 2,
        )
        text.mode = mode[0]  # type: ignore[misc]  # as the interpreter does; the type stubs do not allow it
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)
