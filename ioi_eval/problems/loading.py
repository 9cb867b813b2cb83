"""Problems whose tests are read in a thread, so that the first programs need not wait for the last test.

The programs of a problem can be judged when all tests that its subtasks name have been read. A later row may still show
that the problem cannot be judged correctly: it has one of these tests again, with different contents. Then the problem
is unusable, as it is if both rows come first: its submissions have no score, and what was judged of them does not
count. So nothing is written to the results before everything is read.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from threading import Condition, Thread

from ioi_eval.blobs import BlobStore
from ioi_eval.model import Problem, ProblemKey
from ioi_eval.problems.ioi import ProblemSet, with_tests
from ioi_eval.problems.row import Source


class LoadingProblems:
    """Problems, of which some may still lack their tests. `begin` and `complete` make them.

    Attributes:
        drafts: the problems, with or without tests.
    """

    def __init__(self, drafts: ProblemSet) -> None:
        self.drafts = drafts
        self._ready: dict[ProblemKey, Problem] = {}
        self._whole: Future[ProblemSet] = Future()
        self._changed = Condition()

    @classmethod
    def complete(cls, problems: ProblemSet) -> LoadingProblems:
        """Problems that have their tests already."""
        loading = cls(problems)
        loading._whole.set_result(problems)
        return loading

    @classmethod
    def begin(cls, drafts: ProblemSet, tests: Source, blobs: BlobStore) -> LoadingProblems:
        """Begin to read the tests."""
        loading = cls(drafts)
        Thread(target=loading._read, args=(tests, blobs), name="ioi-eval-tests", daemon=True).start()
        return loading

    @property
    def is_loading(self) -> bool:
        """Whether tests are still being read. Not if reading failed."""
        return not self._whole.done()

    def so_far(self) -> ProblemSet:
        """The problems whose tests have been read. If reading failed, its error is raised."""
        with self._changed:
            if not self.is_loading:
                return self._whole.result()
            others = {*self.drafts.others, *self.drafts.problems}
            return replace(self.drafts, problems=dict(self._ready), others=others)

    def wait_for(self, key: ProblemKey) -> ProblemSet:
        """Wait until this problem's tests have been read, or it is known that they never will be; then as `so_far`."""
        if self.is_loading:
            with self._changed:
                self._changed.wait_for(
                    lambda: not self.is_loading or key in self._ready or key not in self.drafts.problems
                )
        return self.so_far()

    def wait_for_all(self) -> ProblemSet:
        """Wait until everything has been read; then as `so_far`."""
        return self._whole.result()

    def _read(self, tests: Source, blobs: BlobStore) -> None:
        try:
            self._whole.set_result(with_tests(self.drafts, tests, blobs, when_complete=self._add))
        except BaseException as error:  # noqa: BLE001 - it is raised in the threads that wait
            self._whole.set_exception(error)
        with self._changed:
            self._changed.notify_all()

    def _add(self, problem: Problem) -> None:
        with self._changed:
            self._ready[problem.key] = problem
            self._changed.notify_all()
