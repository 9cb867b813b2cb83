"""The family of contest problems: how rows of a dump become submissions, which are judged, stored and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import orjson

from ioi_eval.config import Unscored
from ioi_eval.errors import RowError
from ioi_eval.journal import decode_result, encode_result
from ioi_eval.model import (
    DEFAULT_YEAR,
    CompileOutcome,
    Language,
    Problem,
    ProblemKey,
    Submission,
    SubmissionResult,
    Verdict,
)
from ioi_eval.pipeline.dump_reader import DumpReader, DumpReading, Judgeable, Refused, or_refused
from ioi_eval.pipeline.family import ProblemFamily, ResultFacts, how_ended
from ioi_eval.pipeline.result_store import RecordedResult, ResultCodec
from ioi_eval.pipeline.window import Candidate
from ioi_eval.pipeline.writing import TestLines, to_json
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.problems.row import Row, Source
from ioi_eval.problems.samples import sample_rows
from ioi_eval.problems.submissions import (
    fitted,
    problem_of,
    submission_columns,
    submission_from_row,
    target_subtask,
    with_includes,
)
from ioi_eval.recent_values import RecentValues
from ioi_eval.report import compact
from ioi_eval.report.groups import Grouping
from ioi_eval.report.inputs import beginning
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.result_values import deciding_test
from ioi_eval.report.rows import (
    CpuSplit,
    JudgedSubmission,
    ResultColumns,
    count_run,
    distinct_outcomes,
    judge_error,
    refused_row,
)
from ioi_eval.report.summary import Summary
from ioi_eval.scores import submission_result

ContestCandidate: TypeAlias = Candidate[Problem, Submission]

_KNOWN = 4096  # results whose columns are kept in memory: about 4 kB each
_SIMILAR = 3  # how many similar problem ids a message names


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """Which rows of the dump are wanted.

    Args:
        years, problems: only rows of these; all if empty. Problems are named as by `ProblemKey.is_among`.
        limit: only this many of them, from the start.
    """

    years: frozenset[int] = frozenset()
    problems: frozenset[str] = frozenset()
    limit: int | None = None

    def rows(self, source: Source, columns: Collection[str] | None = None) -> Iterator[tuple[Row, ProblemKey | None]]:
        """The wanted rows, each with its problem; `None` if the row does not name it correctly."""
        count = 0
        for row in source.iterate(None if columns is None else tuple(columns)):
            key = _problem_of(row)
            if key is not None and not self.wants(key):
                continue
            if count == self.limit:
                return
            count += 1
            yield row, key

    def wants(self, key: ProblemKey) -> bool:
        """Whether rows for this problem are wanted."""
        return (not self.years or key.year in self.years) and (not self.problems or key.is_among(self.problems))

    def no_row_in(self, source: Source) -> str:
        """The message if no row of a source is wanted: it names the problems that the source has."""
        wanted = [f"--year {year}" for year in sorted(self.years)]
        wanted += [f"--problem {problem}" for problem in sorted(self.problems)]
        everything = Counter(key for _, key in RowSelection().rows(source, ("year", "problem_id")) if key is not None)
        existing = ", ".join(f"{key} ({count})" for key, count in everything.most_common(10))
        return f"{source.describe()} has no row for {' '.join(wanted)}; it has {existing}"


class ContestDumpReader(DumpReader[ContestCandidate]):
    """Reads a dump's rows as submissions to contest problems.

    Args:
        problems: a row waits until the tests of its problem have been read.
        fingerprints: returns a hash of everything that determines a submission's outcome, for each kind of target
            that may judge it.
    """

    def __init__(
        self,
        source: Source,
        selection: RowSelection,
        problems: LoadingProblems,
        *,
        fingerprints: Callable[[Problem, Submission], Sequence[str]],
        id_column: str = "uuid",
        with_includes: bool = False,
    ) -> None:
        super().__init__(source, id_column, submission_columns(id_column))
        self.problems, self.selection = problems, selection
        self._fingerprints, self._with_includes = fingerprints, with_includes

    @property
    def may_wait(self) -> bool:
        """Whether tests are still being read."""
        return self.problems.is_loading

    def _entries(
        self, reading: DumpReading, columns: Sequence[str] | None
    ) -> Iterator[Judgeable[ContestCandidate] | Refused]:
        for row, key in self.selection.rows(self.source, columns):
            problems = self.problems.so_far() if key is None else self.problems.wait_for(key)
            samples = or_refused(row, sample_rows, row, self.id_column)
            if isinstance(samples, Refused):
                yield samples
                continue
            for sample in samples:
                yield or_refused(sample, self._entry, sample, key, problems, reading)

    def problem_signatures(self) -> Iterator[str]:
        """For each problem its notes, and the fingerprints of an empty program in each language. It waits for all."""
        problems = self.problems.wait_for_all()
        for key, problem in sorted(problems.problems.items(), key=_key_text):
            yield f"{key} {problem.name} {problem.day} {problem.notes}"
            for language in Language:
                probe = Submission(id="", problem=key, code="", language=language)
                yield from self._fingerprints(problem, probe)
        yield from (f"{key}: {error}" for key, error in sorted(problems.unusable.items(), key=_key_text))

    def _entry(
        self, row: Row, key: ProblemKey | None, problems: ProblemSet, reading: DumpReading
    ) -> Judgeable[ContestCandidate] | Refused:
        submission = submission_from_row(row, id_column=self.id_column, problem=key, problems=problems.problems)
        target_subtask(row)  # if it is not a name, the row is refused
        problem = problems.problems.get(submission.problem)
        if problem is None:
            return _without_problem(row, submission.problem, problems)
        submission = fitted(submission, row, problem)
        if self._with_includes:
            submission = with_includes(submission, problem)
        if repeated := reading.refuse_repeated_id(row, submission.id, problem.key):
            return repeated
        found_by = (submission.extraction, *submission.fixes)
        fingerprints = self._fingerprints(problem, submission)
        fingerprint, keys = reading.keys(problem.key, submission.id, fingerprints, found_by=found_by)
        candidate = Candidate(
            problem=problem,
            submission=submission,
            problem_key=problem.key,
            id=submission.id,
            found_by=found_by,
            size=None if submission.is_empty else submission.size,
            max_s=problem.time_limit_s * len(problem.tests),
            fingerprint=fingerprint,
            keys=keys,
        )
        return Judgeable(row=row, candidate=candidate)


def _without_problem(row: Row, key: ProblemKey, problems: ProblemSet) -> Refused:
    unusable = problems.unusable.get(key)
    if unusable is not None:
        kind = str(unusable)
    else:
        kind = f"unknown problem {key}: it is not in --problems"
        if not row.has("year"):
            kind += f" (a row without a year is for {DEFAULT_YEAR})"
        if similar := problems.similar_to(key):
            kind += f". Did you mean {' or '.join(map(str, similar[:_SIMILAR]))}?"
    return Refused(row=row, kind=kind, message=str(row.error(kind)))


def _key_text(item: tuple[ProblemKey, object]) -> str:
    return str(item[0])


def _problem_of(row: Row) -> ProblemKey | None:
    try:
        return problem_of(row)
    except RowError:
        return None


class SubmissionScorer(Protocol):
    """Judges submissions and computes their scores: `ioi_eval.scorer.Scorer`."""

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """The result of a submission."""
        ...

    def fingerprints(self, problem: Problem, submission: Submission) -> Sequence[str]:
        """Hashes of everything that determines the outcome, one for each kind of target. Called from another thread."""
        ...


CONTEST_CODEC = ResultCodec(
    encode=encode_result,
    decode=decode_result,
    tests=lambda result: sum(len(subtask.tests) for subtask in result.subtasks),
)
"""Results of contest problems in the journal."""


def contest_facts(result: SubmissionResult) -> ResultFacts:
    """The facts about a result that a run needs."""
    undecided = (outcome for subtask in result.subtasks if subtask.score is None for outcome in subtask.tests)
    return ResultFacts(
        verdict=result.verdict,
        end=how_ended(None if result.score is not None else undecided, cannot_be_judged=result.compile.all_unsuitable),
        cpu=CpuSplit.of(result),
        ran=count_run(distinct_outcomes(result)),
        score=result.score,
        error=judge_error(result),
    )


class ContestFamily(ProblemFamily[ContestCandidate, SubmissionResult]):
    """A dump of submissions to contest problems. Columns that rows with the same result share are computed once.

    Args:
        unscored: the value in the results for scores that are not known.
        grouping: the columns of the dump by which the summary has groups too.
        dump_notes: notes on the dump, for the summary.
        restore: stores the tests in the cache again.
    """

    codec = CONTEST_CODEC
    facts = staticmethod(contest_facts)
    report = staticmethod(markdown_report)
    dump_reader: ContestDumpReader
    summary: Summary

    def __init__(
        self,
        dump_reader: ContestDumpReader,
        scorer: SubmissionScorer,
        *,
        unscored: Unscored = Unscored.NULL,
        grouping: Grouping | None = None,
        dump_notes: Sequence[str] = (),
        restore: Callable[[], None] = lambda: None,
    ) -> None:
        chosen = dump_reader.selection
        options = [sorted(chosen.years), sorted(chosen.problems), chosen.limit, dump_reader.id_column, str(unscored)]
        summary = Summary(grouping=grouping)
        summary.dump_notes = dump_notes
        super().__init__(dump_reader, summary, [*options, list(summary.by)])
        self._scorer, self._unscored, self._restore = scorer, unscored, restore
        self._known: RecentValues[int, ResultColumns] = RecentValues(_KNOWN)

    def await_problems(self) -> None:
        """Wait for the tests of all problems; then the summary names the problems that are unusable."""
        self.summary.unusable = self.dump_reader.problems.wait_for_all().unusable

    def restore(self) -> None:
        """Store the tests in the cache again."""
        self._restore()

    async def judge(self, candidate: ContestCandidate) -> SubmissionResult:
        """Judge a submission."""
        return await self._scorer.score(candidate.problem, candidate.submission)

    def our_failure(self, candidate: ContestCandidate, message: str) -> SubmissionResult:
        """The result of a submission that we failed to judge."""
        failure = CompileOutcome(verdict=Verdict.JE, message=message)
        return submission_result(candidate.problem, candidate.submission, failure, {})

    def add_result(
        self, entry: Judgeable[ContestCandidate], judged_row: RecordedResult[SubmissionResult], tests: TestLines
    ) -> tuple[bytes, ...]:
        """Add a result to the summary, and write its tests. Returns its line of `results.jsonl`."""
        candidate, dump_row = entry.candidate, entry.row.values
        judged = JudgedSubmission(
            problem=candidate.problem,
            submission=candidate.submission,
            fingerprint=candidate.fingerprint,
            result=judged_row.result,
            duplicate_of=judged_row.duplicate_of,
        )
        columns, reason = self._columns(judged, judged_row.offset, tests), judged.reason(dump_row)
        row = columns.row(dump_row, judged, target_subtask=target_subtask(entry.row), reason=reason)
        line = to_json(row)
        self.summary.add(
            row, dump_row, judged.problem, judged.result, submission=candidate.id, cpu=columns.cpu, reason=reason
        )
        return (line,)

    def refused_lines(self, entry: Refused) -> tuple[bytes, ...]:
        """The line of `results.jsonl`."""
        return (to_json(refused_row(entry.row.values, entry.message)),)

    def _columns(self, judged: JudgedSubmission, offset: int | None, tests: TestLines) -> ResultColumns:
        """The columns that depend on the result only, which is the record at this offset of the journal, if any."""
        if offset is not None and (known := self._known.get(offset)) is not None:
            return known
        whole = ResultColumns.of(judged, unscored=self._unscored)
        subtasks, line = compact.without_tests(whole.reference["all_subtasks_results"])
        cases = judged.problem.tests
        deciding = deciding_test({**whole.reference, "verdict": judged.result.verdict})
        key = str(judged.problem.key)
        tests_id = tests.write(line, key, lambda test: beginning(cases[test].input), deciding=deciding)
        encoded = to_json(subtasks).removesuffix(b"\n")
        columns = whole.with_tests_id(orjson.Fragment(encoded), tests_id)
        return columns if offset is None else self._known.put(offset, columns)
