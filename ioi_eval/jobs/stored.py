"""Which package of a worker has a problem's files. Pure.

The package is named by a hash of the problem's test data, so whoever has the data knows the name, and a worker that
lists it has that data and no other. What is compiled of the problem (checker, manager) and what runs it are in there
too, but not in the name: they differ with compilers and versions, and a job sends what a worker turns out not to have.
"""

from __future__ import annotations

import hashlib

from ioi_eval.model import Content, Problem, ProblemKey, ProblemPackage
from ioi_eval.sandbox.stored_files import PREFIX, digest, is_worth_storing

_FORMAT = b"1"  # of the package: another one is another package


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
        language=PREFIX + whole.hex()[:24], key=hashlib.sha256(b"names\0" + whole).digest(), held=held
    )


class Packages:
    """The packages of problems, each made once: to hash a problem's data takes as long as to read it."""

    def __init__(self) -> None:
        self._made: dict[ProblemKey, tuple[Problem, ProblemPackage]] = {}

    def of(self, problem: Problem) -> ProblemPackage:
        """The package that workers may have for a problem."""
        known = self._made.get(problem.key)
        if known is None or known[0].tests is not problem.tests:
            known = self._made[problem.key] = problem, package_of(problem)
        return known[1]
