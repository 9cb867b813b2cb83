"""Checks whether official solutions get the verdicts and points that their authors state.

Solutions are judged on all tests, so that every subtask is complete, and each statement is compared with the result.
If we fail to judge a solution it neither agrees nor disagrees. Such solutions are listed separately, and the validation
is then not successful.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from ioi_eval.concurrency import for_each, in_thread
from ioi_eval.errors import ODD_DATA, UnavailableError, internal_error_text
from ioi_eval.journal import Journal, Keys, RecordKind, decode_result, encode_result, keys_of
from ioi_eval.model import CompileOutcome, ProblemKey, Submission, SubmissionResult, Verdict
from ioi_eval.pipeline.contest import SubmissionScorer
from ioi_eval.report.rows import JudgedSubmission, result_row
from ioi_eval.scores import submission_result
from ioi_eval.validate.comparison import Validation
from ioi_eval.validate.statements import StatedSolution, StatedSolutions


class ValidationRun:
    """Judges solutions on every test, identical ones only once. Finished results can be compared at any time.

    Args:
        stated: the solutions, in the order in which they are reported.
        journal: has the results of earlier runs, and gets those of this run that have a score. Results of `score`
            in it are not used: they are not exhaustive, and have other keys.
    """

    def __init__(self, stated: StatedSolutions, scorer: SubmissionScorer, journal: Journal | None = None) -> None:
        self._stated, self._scorer, self._journal = stated, scorer, journal
        self._results: list[SubmissionResult | None] = [None] * len(stated.solutions)
        self._stop_reason: str | None = None

    async def run(
        self, *, workers: int, on_result: Callable[[SubmissionResult, float | None], None] = lambda *_: None
    ) -> None:
        """Judge all solutions. If no endpoint is left, the remaining ones are JE.

        Args:
            on_result: called with each result, and the seconds that it took; `None` if it was stored.

        Raises:
            ExceptionGroup: of `SetupError` if nothing can be judged here.
        """

        async def judge(alike: tuple[tuple[str, ...], list[int]]) -> None:
            fingerprints, indices = alike
            known = self._find_earlier(self._stated.solutions[indices[0]].problem.key, fingerprints)
            is_known = known is not None
            for index in indices:
                begun = time.monotonic()
                solution = self._stated.solutions[index]
                if known is None or known.score is None:  # a failure of ours is not passed on to other copies
                    known = await self._judge(solution, fingerprints[0])
                result = self._results[index] = replace(known, submission=solution.submission.id)
                on_result(result, None if is_known else time.monotonic() - begun)

        await for_each(self._alike().items(), judge, workers=workers)

    def validation(self) -> Validation:
        """The comparison of all solutions judged so far, and the number of the others."""
        validation = Validation(stated=self._stated)
        for solution, result in zip(self._stated.solutions, self._results, strict=True):
            if result is None:
                validation.pending += 1
                continue
            validation.add(solution, result)
            judged = JudgedSubmission(
                problem=solution.problem,
                submission=solution.submission,
                fingerprint=result.fingerprint or self._scorer.fingerprints(solution.problem, solution.submission)[0],
                result=result,
            )
            validation.judged.append((solution, judged))
        return validation

    def _alike(self) -> dict[tuple[str, ...], list[int]]:
        """For the fingerprints of each program, the positions of the solutions that are this program, in order."""
        by_key: dict[tuple[str, ...], list[int]] = {}
        for index, solution in enumerate(self._stated.solutions):
            key = tuple(self._scorer.fingerprints(solution.problem, solution.submission))
            by_key.setdefault(key, []).append(index)
        return by_key

    def _find_earlier(self, problem: ProblemKey, fingerprints: Sequence[str]) -> SubmissionResult | None:
        """The stored result of a program with one of these fingerprints, with the id that it was judged under."""
        if self._journal is None:
            return None
        for fingerprint in fingerprints:
            keys = _keys(problem, fingerprint)
            stored = self._journal.index.find(keys)
            if stored is not None and (record := self._journal.read_stored(stored, keys)) is not None:
                return replace(decode_result(record.body), fingerprint=fingerprint)
        return None

    def _store(self, result: SubmissionResult, fingerprint: str) -> None:
        """Store a result if it has a score. After this returns, it is not lost if the process is killed."""
        if self._journal is not None and result.score is not None:
            body = orjson.dumps({"fingerprint": fingerprint, **encode_result(result)})
            self._journal.append(RecordKind.RESULT, _keys(result.problem, fingerprint), body)

    async def _judge(self, solution: StatedSolution, fingerprint: str) -> SubmissionResult:
        message = self._stop_reason
        if message is None:
            try:
                result = await self._scorer.score(solution.problem, solution.submission, exhaustive=True)
            except UnavailableError as error:
                message = self._stop_reason = str(error)
            except ODD_DATA as error:
                message = internal_error_text(error, "judging this solution")
            else:
                await in_thread(self._store, result, result.fingerprint or fingerprint)
                return result
        failure = CompileOutcome(verdict=Verdict.JE, message=message)
        return submission_result(solution.problem, solution.submission, failure, {})


def _keys(problem: ProblemKey, fingerprint: str) -> Keys:
    return keys_of(problem, "", f"exhaustive {fingerprint}")


def rows_of_validation(validation: Validation) -> Iterator[dict[str, Any]]:
    """The results as `score` writes them, with all tests: to read, or for another `validate --against`."""
    for solution, judged in validation.judged:
        key = solution.problem.key
        named = {"uuid": solution.submission.id, "year": key.year, "problem_id": key.id, "label": solution.name}
        yield result_row({**named, **_program_of(solution.submission)}, judged, target_subtask=None)


def _program_of(submission: Submission) -> dict[str, Any]:
    """The columns from which a row's program is read again, in addition to `code`."""
    sources = {file.path: file.content.decode() for file in submission.sources}
    outputs = {f"output_{output.test}.txt": output.content.decode("utf-8", "replace") for output in submission.outputs}
    columns = {"source_files": sources, "outputs": outputs}
    return {"language": submission.language.value, **{name: files for name, files in columns.items() if files}}
