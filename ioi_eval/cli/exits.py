"""Exit codes: 0 success; 1 not all was judged or written, or verdicts disagree; 2 wrong command or data;
130 interrupted."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, ParamSpec

import typer

from ioi_eval.cli.messages import tell
from ioi_eval.errors import ODD_DATA, InputError, IoiEvalError, SandboxError, first_own_error

P = ParamSpec("P")

_NO_THREADS = (
    "this command may start no more threads: raise the limit of this user (ulimit -Hu) or of this container "
    "(docker run --pids-limit, systemd TasksMax=), or give fewer --workers; then start it again to continue. "
    "Docker before 20.10.10 forbids clone3, so newer systems can start no threads in its containers"
)

FAILED = 1
WRONG_CALL = 2
INTERRUPTED = 130

# Errors of writing to stdout. (Other code turns those of writing files into messages.)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})

# Errors of a path that the user gave: Python before 3.14 raises them also where it only asks whether there is a file.
_WRONG_PATH = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR})


def command(run: Callable[P, int]) -> Callable[P, None]:
    """Turn a function that returns an exit code into a command. Our errors become one message without a traceback.

    Paths may begin with `~`, like those of dumps: a shell replaces it in `--out ~/x`, but not in `--out=~/x`.
    """

    @functools.wraps(run)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            arguments: Any = {name: _expanded(value) for name, value in kwargs.items()}
            try:
                code = run(*args, **arguments)
            except BaseExceptionGroup as group:  # of a task group
                raise first_own_error(group) from None
            except ODD_DATA:
                if wrong := _wrong_results(arguments):
                    raise InputError(wrong) from None
                raise
            sys.stdout.flush()
        except IoiEvalError as error:
            tell("; ".join([str(error), *getattr(error, "__notes__", ())]))
            code = exit_code_of(error)
        except KeyboardInterrupt as error:
            tell("interrupted")
            code = exit_code_of(error)
        except (RuntimeError, ExceptionGroup) as error:
            if not _is_refused_thread(error):
                raise
            tell(_NO_THREADS)
            code = WRONG_CALL
        except BrokenPipeError:
            # The reader of our output closed it (`| head`): write nothing more, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        except OSError as error:
            code = _code_of_os_error(error)
        raise typer.Exit(code)

    return guarded


def _code_of_os_error(error: OSError) -> int:
    """Print what is wrong with the user's paths or disk. Returns the exit code; any other error is raised again."""
    if _is_in_deleted_directory():
        tell("the working directory has been deleted; cd to another one")
        return WRONG_CALL
    if error.errno in _WRONG_PATH and error.filename is not None:
        tell(f"{error.filename}: {error.strerror}")
        return WRONG_CALL
    if error.errno not in _FULL:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    tell(_unwritten(error))
    return FAILED


@contextlib.contextmanager
def output_on_full_disk() -> Iterator[None]:
    """Give a message and an exit code if typer's own text (a help, a wrong call) cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        tell(_unwritten(error))
        wrong = error.__context__  # the wrong call whose message could not be written
        raise SystemExit(getattr(wrong, "exit_code", FAILED)) from None
    finally:
        for stream in (sys.stdout, sys.stderr):  # else Python would exit with 120 for what it cannot flush
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _unwritten(error: OSError) -> str:
    return f"the output cannot be written: {error.strerror}"


def exit_code_of(error: BaseException) -> int:
    """The exit code of a command that an error has ended."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return WRONG_CALL if isinstance(error, IoiEvalError) and not isinstance(error, SandboxError) else FAILED


def exit_code_of_workers(able: int, workers: int) -> int:
    """The exit code of a command that asked several workers: 0 if all can do it, 1 if some cannot, 2 if none can."""
    if able == workers:
        return 0
    return FAILED if able else WRONG_CALL


def _expanded(value: object) -> object:
    if isinstance(value, list):
        return [_expanded(item) for item in value]
    return Path(os.path.expanduser(value)) if isinstance(value, Path) else value


def _wrong_results(arguments: Mapping[str, object]) -> str | None:
    """What is wrong with the results that a command was given, which somebody may have edited; `None` if nothing is."""
    from ioi_eval.report.result_files import RESULTS, directory_of, wrong_file

    values = chain.from_iterable(value if isinstance(value, list) else [value] for value in arguments.values())
    directories = [directory_of(value) for value in values if isinstance(value, Path)]
    wrong = (wrong_file(directory) for directory in directories if (directory / RESULTS).is_file())
    return next(filter(None, wrong), None)


def _is_refused_thread(error: BaseException) -> bool:
    """Whether the machine or container refused this command a thread; also in a group of errors."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_is_refused_thread, error.exceptions))
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)


def _is_in_deleted_directory() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
