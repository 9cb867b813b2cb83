"""Run a function as an unprivileged user, from a test that runs as root.

A new interpreter would not work: if Python is installed in root's home directory, no other user can start it. So the
test's process is forked, and the fork drops root's rights for good before it calls the function.
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
    """A directory that belongs to the user of `call`; if the tests do not run as root, to the user who runs them."""
    path = Path(tempfile.mkdtemp(prefix="ioi-eval-unprivileged-"))
    if os.geteuid() == 0:
        os.chown(path, UID, UID)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's result when the unprivileged user calls it. All that it imports must be imported already.

    Raises:
        AssertionError: the function raised; the message has its traceback.
    """
    boxfiles.runner_files_digest()  # these keep what they read of the checkout, which the child may be unable to read
    fingerprint.runner_meaning_digest()
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
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # as in a process that never was root
            answer = pickle.dumps((True, function(*arguments)))
        except BaseException:  # noqa: BLE001 - whatever it was, the parent must hear of it
            answer = pickle.dumps((False, traceback.format_exc()))
        try:
            with open(write, "wb") as stream:
                stream.write(answer)
        finally:  # whatever happens, only the parent goes on with the tests
            os._exit(0)
    os.close(write)
    with open(read, "rb") as stream:
        content = stream.read()
    os.waitpid(child, 0)
    assert content, "the child process sent nothing"
    good, value = pickle.loads(content)
    assert good, value
    return value
