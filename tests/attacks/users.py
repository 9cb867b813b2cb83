"""The user who starts the sandbox: the one who runs the tests; if that is root, also an ordinary user.

Each function runs in a child process of its own. `harm.py` observes only what belongs to this process: its descendants,
the user ids of its boxes, and, without root, its directory for temporary files. So other tests can run meanwhile.

The ordinary user is a child process that gives up root after everything is imported, so that user does not need the
right to read Python or the checkout. On every machine, an audit hook keeps this process from opening the checkout, as
if the checkout were in root's home.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import pickle
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

from ioi_eval import boxfiles, fingerprint
from tests.attacks import catalogue
from tests.attacks.harm import OWN_UID, adopt_orphans

USER_UID = 0x6E000000 + os.getpid()
"""A user id for this process only: no other processes and files have it."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user who starts a sandbox.

    Args:
        name: `root` or `user`.
        gives_up_root: whether the child process must give up root.
    """

    name: str
    gives_up_root: bool

    def run(self, work: Callable[[], Result]) -> Result:
        """Call a function in a child process of this user. Its result comes back pickled.

        Raises:
            AssertionError: it failed; with the child's traceback.
        """
        boxfiles.runner_source()  # these cache files of the checkout, which the child may not be able to read
        boxfiles.classic_scripts()
        boxfiles.harness_archive()
        fingerprint.runner_meaning_digest()
        fingerprint.harness_digest()
        fingerprint.rules_digest()
        catalogue.programs()
        codecs.lookup("ascii")  # Python imports it when it is first used
        with contextlib.ExitStack() as stack:
            directory = None
            if os.geteuid() != 0:
                directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="attack-temporary-"))
            back, there = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(back)
                self._become(work, there, directory)
            os.close(there)
            with os.fdopen(back, "rb") as stream:
                answer = stream.read()
            os.waitpid(child, 0)
        assert answer, "the child process died"
        fine, value = pickle.loads(answer)
        assert fine, f"as {self.name}:\n{value}"
        result: Result = value
        return result

    def _become(self, work: Callable[[], object], there: int, directory: str | None) -> NoReturn:
        try:
            tempfile.tempdir = directory
            if self.gives_up_root:
                _give_up_root()
            adopt_orphans()
            answer = pickle.dumps((True, work()))
        except BaseException:  # noqa: BLE001 - the parent reports every error
            answer = pickle.dumps((False, traceback.format_exc()))
        try:
            with os.fdopen(there, "wb") as stream:
                stream.write(answer)
        finally:  # also if the parent was interrupted, and its end of the pipe is closed
            os._exit(0)


def users() -> tuple[User, ...]:
    """The users that are possible here: root and an ordinary user, or only the user that runs the tests."""
    if os.geteuid() == 0:
        return User(name="root", gives_up_root=False), User(name="user", gives_up_root=True)
    return (User(name="user", gives_up_root=False),)


def _close_the_checkout() -> None:
    """Refuse to open files of the checkout, as the kernel does if an ordinary user cannot enter its directory."""
    checkout = f"{Path(__file__).resolve().parents[2]}/"

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.fsdecode(arguments[0])
            if path.startswith(checkout):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    sys.addaudithook(refuse)


def _give_up_root() -> None:
    os.setgroups([])
    os.setresgid(USER_UID, USER_UID, USER_UID)
    os.setresuid(USER_UID, USER_UID, USER_UID)
    os.environ.update({"HOME": "/nonexistent", OWN_UID: str(USER_UID)})
    os.chdir("/")
    _close_the_checkout()
