"""Calls a function in a forked child of the test's process."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from typing import Any


def in_a_fork(function: Callable[[], Any]) -> Any:
    """The function's result in a forked child, as with multiprocessing.

    Raises:
        AssertionError: the function raised; the message has its traceback.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                answer = pickle.dumps((True, function()))
            except BaseException:  # noqa: BLE001 - whatever it was, the parent must hear of it
                answer = pickle.dumps((False, traceback.format_exc()))
            os.write(writing, answer)
        finally:  # whatever happens, only the parent goes on with the tests
            os._exit(0)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            content = stream.read()
    finally:  # also if the test's time is over
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert content, "the child process sent nothing"
    good, value = pickle.loads(content)
    assert good, value
    return value
