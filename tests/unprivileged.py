"""Run a function as an unprivileged user, from a test that runs as root.

A new interpreter would not do: where Python lies in root's home, nobody else can start it. So the test's own process
is forked, and the fork leaves root for good before it calls anything.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ioi_eval import boxfiles, fingerprint
from ioi_eval.sandbox.local.compiler import detect

UID = 0x70FF0001
_PR_SET_DUMPABLE = 4


@contextmanager
def private_directory() -> Iterator[Path]:
    """A directory that belongs to the unprivileged user: the one of `call`, or whoever runs the tests if not root."""
    path = Path(tempfile.mkdtemp(prefix="ioi-eval-unprivileged-"))
    if os.geteuid() == 0:
        os.chown(path, UID, UID)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns when the unprivileged user calls it. Everything it imports must be imported already.

    Raises:
        AssertionError: it raised; with its traceback.
    """
    boxfiles.runner_digest()  # these keep what they read of the checkout: the child may be unable to read it
    fingerprint.runner_digest()
    fingerprint.harness_digest()
    fingerprint.rules_digest()
    detect("g++")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            os.setgroups([])
            os.setgid(UID)
            os.setuid(UID)
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # as any process that never was root
            answer: tuple[bool, Any] = (True, function(*arguments))
        except BaseException:  # noqa: BLE001 - whatever it was, the parent must hear of it
            answer = (False, traceback.format_exc())
        with open(write, "wb") as stream:
            pickle.dump(answer, stream)
        os._exit(0)
    os.close(write)
    with open(read, "rb") as stream:
        content = stream.read()
    os.waitpid(child, 0)
    good, value = pickle.loads(content)
    assert good, value
    return value
