"""How a run ends: its exit code, traceback and report, and what an interpreter does at its end."""

from __future__ import annotations

import _weakref
import atexit
import builtins
import gc
import os
import sys

TYPE_CHECKING = False  # each imported module costs every job time: `typing` as much as a test
if TYPE_CHECKING:
    import types
    from typing import Any

globals()["__builtins__"] = dict(vars(builtins))  # what follows works if a program replaces `sorted` or `type`

MAX_ERROR_CHARS = 4000  # characters of an error that are reported
MAX_QUOTED_BYTES = 7500  # bytes of each of a report's two texts: the runner reads 16,384 bytes of a report
MAX_FRAMES = 2000  # frames of a traceback: more only if a program has raised its recursion limit

imported: list[str] = []
"""The names of the program's own modules that it has imported."""


class Report:
    """Writes how a run ended, as one line of JSON.

    `phase` is `compile` (a syntax error), `load` (an error while the module was executed or the function looked up),
    `run`, or `done`. An error has its `repr`, its traceback, and whether it was an `exit`.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write(self, phase: str, error: BaseException | None = None) -> None:
        """Write the line and close the descriptor."""
        line = [f'"phase":"{phase}"']
        if error is not None:
            is_exit = isinstance(error, SystemExit)
            line.append(f'"exit":{"true" if is_exit else "false"}')
            line.append(f'"error":{_quoted(_repr_of(error)[:MAX_ERROR_CHARS])}')
            trace = "" if is_exit else _traceback(error)[-MAX_ERROR_CHARS:]
            line.append(f'"traceback":{_quoted(trace, keeps_end=True)}')
        try:
            write_all(self._fd, f"{{{','.join(line)}}}\n".encode("ascii"))
            os.close(self._fd)
        except OSError:
            pass  # the program has closed it


def _traceback(error: BaseException) -> str:
    from traceback import format_exception

    trace = from_program(error.__traceback__)
    return "".join(format_exception(type(error), error, trace, _max_frames(trace)))


def _quoted(text: str, *, keeps_end: bool = False) -> str:
    """A text as JSON in ASCII, at most `MAX_QUOTED_BYTES`: longer ones lose their end, or their beginning.

    A character outside ASCII takes 6 or 12 bytes.
    """
    from json.encoder import encode_basestring_ascii as quote

    while len(quoted := quote(text)) > MAX_QUOTED_BYTES:
        fitting = len(text) * MAX_QUOTED_BYTES // len(quoted)
        text = text[len(text) - fitting :] if keeps_end else text[:fitting]
    return quoted


def exit_status(error: SystemExit) -> int:
    """The exit code that the interpreter gives for `sys.exit(x)`."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return (error.code if -1 << 63 <= error.code < 1 << 63 else -1) & 0xFF  # a C `long`
    write_all(2, f"{error.code}\n".encode("utf-8", "backslashreplace"))
    return 1


def print_error(error: BaseException) -> int:
    """Print the traceback, from the program's first frame on. Returns the exit code, which a hook may choose."""
    trace = error.__traceback__ = from_program(error.__traceback__)
    import traceback

    try:
        if sys.excepthook is not sys.__excepthook__:
            sys.excepthook(type(error), error, trace)
            return 1
    except SystemExit as chosen:
        return exit_status(chosen)
    except BaseException:  # noqa: BLE001 - the program's own hook
        pass
    traceback.print_exception(type(error), error, trace, _max_frames(trace))
    return 1


def from_program(trace: Any) -> Any:
    """A traceback from the program's first frame on."""
    while trace is not None and trace.tb_frame.f_globals.get("__package__") == __package__:
        trace = trace.tb_next
    return trace


def _max_frames(trace: Any) -> int | None:
    """How many of the last frames of a traceback to print: `None` for all. Printing 100,000 would take seconds."""
    depth = 0
    while trace is not None and depth <= MAX_FRAMES:
        trace, depth = trace.tb_next, depth + 1
    return None if depth <= MAX_FRAMES else -MAX_FRAMES // 10


def _repr_of(error: BaseException) -> str:
    try:
        return repr(error)
    except BaseException:  # noqa: BLE001 - the program's own method
        return type(error).__name__


def end_run(modules: list[types.ModuleType], status: int, ours: frozenset[str] = frozenset()) -> int:
    """Do what an interpreter does at its end, as far as a program notices: threads, exit functions, objects, files.

    Like the interpreter, it first removes the module, so that finalizers of the program's objects still find the
    module's names. These are cleared only if something else refers to them. Our own names in the module are not: that
    would change their objects, whose pages forks share.

    Args:
        modules: the program's module, with the only reference that we have. It is taken out.
        status: the exit code so far.
        ours: the names in the module that are not the program's.
    """
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        atexit._run_exitfuncs()
    except BaseException as error:  # noqa: BLE001 - the program's own functions
        print_error(error)
    flushed = flush(*(getattr(sys, name, None) for name in ("stdout", "stderr")))
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    _remove(modules, ours)
    flush(sys.stdout, sys.stderr)  # the program's own replacements were flushed above, and only that flush counts
    _flush_c()
    return status if flushed else status or 120


def _flush_c() -> None:
    """Write out what the program has printed by C's functions: `os._exit`, which follows, does not."""
    try:
        if "ctypes" in sys.modules:
            sys.modules["ctypes"].pythonapi.fflush(None)
    except BaseException:  # noqa: BLE001 - the program has replaced it
        pass


def _remove(modules: list[types.ModuleType], ours: frozenset[str]) -> None:
    """Finalize the module's objects. An unclosed file is written out when nothing refers to it any more."""
    gc.collect()  # as the interpreter: from now on a file is finalized before the descriptor to which it writes
    module = modules.pop()
    if sys.modules.get("__main__") is module:
        del sys.modules["__main__"]
    for name in imported:
        sys.modules.pop(name, None)
    module.__dict__["__module__"] = module  # so it exists as long as its names do
    still = _weakref.ref(module)
    del module
    gc.collect()
    left = still()
    if left is None:
        return
    names = left.__dict__
    for name in sorted(names, key=lambda name: not (type(name) is str and name[:1] == "_")):
        if name != "__builtins__" and name not in ours:
            names[name] = None
    gc.collect()


def flush(*streams: Any) -> bool:
    """Flush streams. Returns whether everything that was printed could be written."""
    flushed = True
    for stream in streams:
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException:  # noqa: BLE001 - the program's own stream
            flushed = False
    return flushed


def write_all(fd: int, data: bytes) -> None:
    """Write everything."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
