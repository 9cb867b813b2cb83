"""Who starts the sandbox: whoever runs the tests, or an ordinary user where that is root.

The ordinary user is a child process that gave up root after everything was imported, so neither Python nor the checkout
need be readable for that user.
"""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from harm import OWN_UID, adopt_orphans

from ioi_eval import boxfiles

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
    boxfiles.runner_source()  # the child may not be able to read them
    boxfiles.harness_archive()
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
    return value


def _be_user(work: Callable[[], object], there: int) -> None:
    try:
        os.setgroups([])
        os.setresgid(USER_UID, USER_UID, USER_UID)
        os.setresuid(USER_UID, USER_UID, USER_UID)
        os.environ.update({"HOME": "/nonexistent", OWN_UID: str(USER_UID)})
        os.chdir("/")
        adopt_orphans()
        answer = pickle.dumps((True, work()))
    except BaseException:  # noqa: BLE001 - whatever it is, the parent reports it
        answer = pickle.dumps((False, traceback.format_exc()))
    with os.fdopen(there, "wb") as stream:
        stream.write(answer)
    os._exit(0)
