"""The user who starts the sandbox: the one who runs the tests, or an ordinary user if that is root.

The ordinary user is a child process that gave up root after everything was imported, so neither Python nor the checkout
need be readable for that user. It may not open the checkout on any machine, as where it lies in root's home.
"""

from __future__ import annotations

import errno
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ioi_eval import boxfiles, fingerprint
from tests.attacks.harm import OWN_UID, adopt_orphans

USER_UID = 0x6E000000
"""A user of these tests' own: nobody else's processes and files are found under it."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who starts a sandbox.

    Args:
        name: `root` or `user`.
        forks: whether it takes a child process to be that person.
    """

    name: str
    forks: bool

    def does(self, work: Callable[[], Result]) -> Result:
        """Have the person do something; what comes of it travels back pickled.

        Raises:
            AssertionError: it failed in the child process, with the child's traceback.
        """
        if not self.forks:
            adopt_orphans()
            return work()
        return _in_child(work)


def persons() -> tuple[Person, ...]:
    """Who can be had here: root and a user, or only the user that runs the tests."""
    if os.geteuid() == 0:
        return Person(name="root", forks=False), Person(name="user", forks=True)
    return (Person(name="user", forks=False),)


def _in_child(work: Callable[[], Result]) -> Result:
    boxfiles.runner_digest()  # these keep what they read of the checkout: the child cannot read it
    fingerprint.runner_digest()
    fingerprint.harness_digest()
    fingerprint.rules_digest()
    back, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(back)
        _be_user(work, there)
    os.close(there)
    with os.fdopen(back, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    assert answer, "the child process died"
    fine, value = pickle.loads(answer)
    assert fine, f"as an ordinary user:\n{value}"
    result: Result = value
    return result


def _close_the_checkout() -> None:
    """Refuse this process what the kernel refuses an ordinary user where the checkout lies in a closed directory."""
    checkout = f"{Path(__file__).resolve().parents[2]}/"

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.fsdecode(arguments[0])
            if path.startswith(checkout):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    sys.addaudithook(refuse)


def _be_user(work: Callable[[], object], there: int) -> None:
    try:
        os.setgroups([])
        os.setresgid(USER_UID, USER_UID, USER_UID)
        os.setresuid(USER_UID, USER_UID, USER_UID)
        os.environ.update({"HOME": "/nonexistent", OWN_UID: str(USER_UID)})
        os.chdir("/")
        _close_the_checkout()
        adopt_orphans()
        answer = pickle.dumps((True, work()))
    except BaseException:  # noqa: BLE001 - whatever it is, the parent reports it
        answer = pickle.dumps((False, traceback.format_exc()))
    with os.fdopen(there, "wb") as stream:
        stream.write(answer)
    os._exit(0)
