"""Problems whose tests are being read in a thread, so that the first programs need not wait for the last test.

The programs of a problem can be judged when all tests that its subtasks name are there. A later row may still show that
the problem cannot be judged correctly: it has one of these tests again, with different contents. Then the problem is
unusable, as it is if both rows come first: its submissions have no score, and what was judged of them does not count.
So nothing is written to the results before everything is read.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Condition, Thread

from ioi_eval.blobs import BlobStore
from ioi_eval.model import Problem, ProblemKey
from ioi_eval.problems.ioi import ProblemSet, with_tests
from ioi_eval.problems.row import Source


class ComingProblems:
    """Problems whose tests are being read. Reading begins at once.

    Args:
        drafts: the problems, without tests.
        tests: rows of tests.
        blobs: stores the test data.
    """

    def __init__(self, drafts: ProblemSet, tests: Source, blobs: BlobStore) -> None:
        self.drafts = drafts
        self._there: dict[ProblemKey, Problem] = {}
        self._all: ProblemSet | None = None
        self._error: BaseException | None = None
        self._changed = Condition()
        Thread(target=self._read, args=(tests, blobs), name="ioi-eval-tests", daemon=True).start()

    @property
    def has_ended(self) -> bool:
        """Whether everything was read, or reading failed."""
        return self._all is not None or self._error is not None

    def there(self) -> ProblemSet:
        """The problems as far as their tests were read; the others are among those that are passed over.

        Raises:
            IoiEvalError: reading failed.
        """
        if self._all is not None:
            return self._all
        with self._changed:
            if self._error is not None:
                raise self._error
            passed_over = {*self.drafts.passed_over, *self.drafts.problems}
            return replace(self.drafts, problems=dict(self._there), passed_over=passed_over)

    def wait_for(self, key: ProblemKey) -> ProblemSet:
        """The same when this problem is among them, or it is known that it never will be."""
        if self._all is None:
            with self._changed:
                self._changed.wait_for(lambda: self.has_ended or key in self._there or key not in self.drafts.problems)
        return self.there()

    def wait_for_all(self) -> ProblemSet:
        """The same when everything was read."""
        with self._changed:
            self._changed.wait_for(lambda: self.has_ended)
        return self.there()

    def _read(self, tests: Source, blobs: BlobStore) -> None:
        everything, failure = None, None
        try:
            everything = with_tests(self.drafts, tests, blobs, when_there=self._add)
        except BaseException as error:  # noqa: BLE001 - it is raised in the threads that wait
            failure = error
        with self._changed:
            self._all, self._error = everything, failure
            self._changed.notify_all()

    def _add(self, problem: Problem) -> None:
        with self._changed:
            self._there[problem.key] = problem
            self._changed.notify_all()
