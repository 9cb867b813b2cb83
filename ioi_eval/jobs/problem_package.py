"""Names the package of a worker that has a problem's files. Pure.

The package's name is a hash of the problem's test data. So the name follows from the data, and a worker that lists the
package has exactly that data. The package also contains the problem's compiled programs (checker, manager, objects of
graders) and what runs them. They are not part of the name, because they differ with compilers and versions; a job sends
those that a worker does not have.
"""

from __future__ import annotations

import hashlib

from ioi_eval.model import Content, Problem, ProblemKey, ProblemPackage
from ioi_eval.sandbox.piston.stored_files import digest, is_worth_storing
from ioi_eval.sandbox.piston.wire import PROBLEM_PACKAGE_PREFIX

_FORMAT = b"1"  # of the package's contents; part of its name


def data_of(problem: Problem) -> dict[str, Content]:
    """A problem's test data that is worth storing, by its hash."""
    data: dict[str, Content] = {}
    for case in problem.tests.values():
        for content in (case.input, case.answer):
            if content is not None and is_worth_storing(content):
                data.setdefault(digest(content), content)
    return data


def package_of(problem: Problem) -> ProblemPackage:
    """The package that workers may have for a problem."""
    held = frozenset(data_of(problem))
    named = hashlib.sha256(_FORMAT + b"\0" + str(problem.key).encode("utf-8", "surrogateescape"))
    for each in sorted(held):
        named.update(bytes.fromhex(each))
    whole = named.digest()
    return ProblemPackage(
        language=PROBLEM_PACKAGE_PREFIX + whole.hex()[:24], key=hashlib.sha256(b"names\0" + whole).digest(), held=held
    )


class Packages:
    """The packages of problems. Each is computed once, because hashing a problem's data takes as long as reading it."""

    def __init__(self) -> None:
        self._made: dict[ProblemKey, tuple[Problem, ProblemPackage]] = {}

    def of(self, problem: Problem) -> ProblemPackage:
        """The package that workers may have for a problem."""
        known = self._made.get(problem.key)
        if known is None or known[0].tests is not problem.tests:
            known = self._made[problem.key] = problem, package_of(problem)
        return known[1]
