"""Programs are judged while tests of other problems are still being read, and the results are as if all came first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import InputError, IoiEvalError, RowError, SetupError
from ioi_eval.model import Problem, Submission
from ioi_eval.pipeline import DumpOutcome
from ioi_eval.pipeline.contest_dump import ContestDumpReader, RowSelection
from ioi_eval.pipeline.unchanged import STATE
from ioi_eval.problems.ioi import ProblemSet, with_tests
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.problems.row import Row
from ioi_eval.rows import open_source
from ioi_eval.rows.jsonl import JsonLines
from tests.pipeline.scripted import NILE, TREE, Contest, ScriptedScorer, programs

LARGE = "1" * 2_000_000 + "\n"
"""Rows are read ahead of their use. A large row ends a batch of these."""

Hold = Callable[[int], None]


def rows_of_tests(problem: str) -> list[dict[str, Any]]:
    """The tests of one problem. The last is large."""
    return [
        {"year": 2024, "problem_id": problem, "test_name": name, "test_input": given, "test_output": "1\n"}
        for name, given in (("0-01", "1\n"), ("1-01", "2\n"), ("2-01", LARGE))
    ]


FIRST, SECOND = rows_of_tests("nile"), rows_of_tests("tree")
OTHER = {**FIRST[1], "test_input": "3\n"}
"""A test of the first problem again, with different contents."""

UNNAMED = {"year": 2024, "problem_id": "tree"}
DUMP = [*programs("1", "0.5", "0"), *programs("1", "0.5", "CE", problem="tree")]
DUMP = [
    {**row, "uuid": f"{row['problem_id']}-{row['uuid']}"}
    for pair in zip(DUMP[:3], DUMP[3:], strict=True)
    for row in pair
]


class HeldTests(JsonLines):
    """A file of tests.

    Args:
        path: the file.
        hold: called before each row, with its index; reading waits until it returns.
    """

    def __init__(self, path: Path, hold: Hold) -> None:
        super().__init__(path)
        self._hold = hold

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows, each when it may be read."""
        for index, row in enumerate(super().rows(columns)):
            self._hold(index)
            yield row


class LoadingContest(Contest):
    """A contest whose tests are read during the run.

    Attributes:
        hold: as of `HeldTests`.
    """

    def __init__(self, directory: Path, tests: Sequence[Mapping[str, Any]] = (*FIRST, *SECOND)) -> None:
        directory.mkdir(exist_ok=True)
        super().__init__(directory)
        self.write(*DUMP)
        self.write_tests(tests)
        self.hold: Hold = lambda _index: None

    def write_tests(self, tests: Sequence[Mapping[str, Any]]) -> None:
        """Write the file of tests."""
        (self.directory / "tests.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in tests))

    def dump_reader(self, scorer: ScriptedScorer, selection: RowSelection | None = None) -> ContestDumpReader:
        """A reader of the dump. Reading the tests has begun."""
        drafts: dict[Any, Problem] = {problem.key: replace(problem, tests={}) for problem in (NILE, TREE)}
        problems = LoadingProblems.begin(
            ProblemSet(problems=drafts, unusable={}),
            HeldTests(self.directory / "tests.jsonl", self.hold),
            BlobStore(self.directory / "cache"),
        )
        return ContestDumpReader(
            open_source(self.dump), selection or RowSelection(), problems, fingerprints=scorer.fingerprints
        )

    def hold_until_a_result(self, before: int) -> None:
        """Let this row, and those after it, be read only when a result is in the journal."""

        def hold(index: int) -> None:
            if index == before:
                wait_for_a_result(self.out / "journal")

        self.hold = hold

    def written(self) -> tuple[bytes, ...]:
        """The result files."""
        return tuple((self.out / name).read_bytes() for name in ("results.jsonl", "tests.jsonl", "inputs.jsonl"))


def wait_for_a_result(journal: Path) -> None:
    """Wait until the journal has a result."""
    for _ in range(6000):
        if journal.exists() and b" r " in journal.read_bytes():
            return
        time.sleep(0.01)
    raise InputError("nothing was judged in a minute")


@pytest.fixture
def undisturbed(tmp_path: Path) -> tuple[bytes, ...]:
    """The result files of a run over the right tests."""
    contest = LoadingContest(tmp_path / "undisturbed")
    assert contest.run(ScriptedScorer()).exit_code == 0
    return contest.written()


@pytest.fixture
def contest(tmp_path: Path) -> LoadingContest:
    """A contest with the right tests."""
    return LoadingContest(tmp_path / "contest")


def test_the_first_verdict_comes_before_the_last_test(
    contest: LoadingContest, scorer: ScriptedScorer, undisturbed: tuple[bytes, ...]
) -> None:
    """Reading the last test waits until a result is in the journal. The result files do not depend on that."""
    contest.hold_until_a_result(before=5)
    assert contest.run(scorer).exit_code == 0
    assert scorer.judged[0] == "nile-u0"
    assert sorted(scorer.judged) == sorted(row["uuid"] for row in DUMP)
    assert contest.written() == undisturbed


@pytest.fixture
def contradicting(tmp_path: Path) -> list[bytes]:
    """The result files of a run over tests that contradict themselves at once."""
    contest = LoadingContest(tmp_path / "contradicting", [OTHER, *FIRST, *SECOND])
    assert contest.run(ScriptedScorer()).exit_code == 1
    return [line.replace(b"/contradicting/", b"/contest/") for line in contest.written()]


def assert_contradicting(contest: LoadingContest, outcome: DumpOutcome, contradicting: list[bytes]) -> None:
    """The results are as if the contradicting row had come first, but for its number."""
    assert outcome.exit_code == 1
    assert "test 1-01 occurs twice, with different contents" in outcome.summary["unusable_problems"]["2024/nile"]
    assert [row["total_score"] for row in contest.results()] == [None, 100, None, 50, None, 0]
    assert [line.replace(b"tests.jsonl, row 7", b"tests.jsonl, row 3") for line in contest.written()] == contradicting


def test_a_problem_that_contradicts_itself_later_is_unusable(
    contest: LoadingContest, scorer: ScriptedScorer, contradicting: list[bytes]
) -> None:
    """Its submissions have no score although one was judged; those to the other problem have theirs."""
    contest.write_tests([*FIRST, *SECOND, OTHER])
    contest.hold_until_a_result(before=5)
    assert_contradicting(contest, contest.run(scorer), contradicting)
    assert "nile-u0" in scorer.judged


def test_results_of_an_earlier_run_wait_for_the_last_test(contest: LoadingContest, contradicting: list[bytes]) -> None:
    """A run that continues another one does not write old results before it is known that their problem is usable.
    The last row of tests is read when the run has begun to read the dump.
    """
    assert contest.run(ScriptedScorer(), selection=RowSelection(limit=1)).exit_code == 0
    contest.write_tests([*FIRST, *SECOND, OTHER])
    reads_dump = threading.Event()

    class Telling(ScriptedScorer):
        def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
            reads_dump.set()
            return super().fingerprints(problem, submission)

    (contest.out / STATE).unlink()
    contest.hold = lambda index: None if index < 6 else _wait(reads_dump)
    assert_contradicting(contest, contest.run(Telling()), contradicting)


def test_a_dump_that_is_changed_during_a_run_is_judged_again(contest: LoadingContest) -> None:
    """The row that was changed after its program had been judged gets no result. The next run judges it."""
    contest.write(*programs("1", "0.5"))

    def change(submission: Submission) -> None:
        if submission.id == "u1":
            contest.write(*programs("0", "0.5"))

    outcome = contest.run(ScriptedScorer(before=change), jobs_at_once=1)
    assert (outcome.exit_code, outcome.summary["submissions"]["pending"]) == (1, 1)
    again = ScriptedScorer()
    assert contest.run(again).exit_code == 0
    assert again.judged == ["u0"]
    assert [row["total_score"] for row in contest.results()] == [0, 50]


@pytest.mark.parametrize("kind", [RowError, SetupError])
def test_an_error_at_the_end_ends_the_run(
    contest: LoadingContest, kind: type[IoiEvalError], undisturbed: tuple[bytes, ...]
) -> None:
    """It is raised as if nothing had been judged, and no results are written. What was judged is right, and the next
    run does not judge it again.
    """
    contest.write_tests([*FIRST, *SECOND, *([UNNAMED] if kind is RowError else [])])

    def hold(index: int) -> None:
        if index == 5:
            wait_for_a_result(contest.out / "journal")
            if kind is SetupError:
                raise SetupError("no room for test data")

    contest.hold, scorer = hold, ScriptedScorer()
    with pytest.raises(kind, match="no room for test data" if kind is SetupError else "row 7: test_name is missing"):
        contest.run(scorer)
    assert "nile-u0" in scorer.judged
    assert not (contest.out / "results.jsonl").exists()
    contest.write_tests([*FIRST, *SECOND])
    contest.hold, again = lambda _index: None, ScriptedScorer()
    assert contest.run(again).exit_code == 0
    assert sorted(scorer.judged + again.judged) == sorted(row["uuid"] for row in DUMP)
    assert contest.written() == undisturbed


def test_an_error_ends_a_run_that_has_read_all_rows(contest: LoadingContest, scorer: ScriptedScorer) -> None:
    """It does not wait for the programs that are being judged, which may take hours: here for ever."""
    contest.write(*programs("1", "wait"))
    contest.write_tests([*FIRST, *SECOND, UNNAMED])
    contest.hold_until_a_result(before=5)
    with pytest.raises(RowError, match="row 7: test_name is missing"):
        contest.run(scorer)
    assert not (contest.out / "results.jsonl").exists()


def test_a_signal_while_tests_are_read(contest: LoadingContest, undisturbed: tuple[bytes, ...]) -> None:
    """The rest of the tests is read, then the results so far are written. The next run continues."""
    was_sent = threading.Event()

    def interrupt(_submission: Submission) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        was_sent.set()

    contest.hold = lambda index: None if index < 5 else _wait(was_sent)
    assert contest.run(ScriptedScorer(before=interrupt), jobs_at_once=1).exit_code == 130
    contest.hold = lambda _index: None
    assert contest.run(ScriptedScorer()).exit_code == 0
    assert contest.written() == undisturbed


def test_a_signal_before_judging_does_not_wait_for_the_tests(
    contest: LoadingContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run over results that are there needs all tests before it can begin. Ctrl-C ends it at once, while they are
    still being read.
    """
    assert contest.run(ScriptedScorer()).exit_code == 0
    before, has_begun, may_read, went_on = contest.written(), threading.Event(), threading.Event(), list[bool]()

    def may_wait(reader: ContestDumpReader) -> bool:
        has_begun.set()
        return reader.problems.is_loading

    def hold(index: int) -> None:
        if index == 5:
            _wait(has_begun)
            os.kill(os.getpid(), signal.SIGINT)
            went_on.append(may_read.wait(60))

    monkeypatch.setattr(ContestDumpReader, "may_wait", property(may_wait))
    contest.hold = hold
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            contest.run(ScriptedScorer())
        assert went_on == []
    finally:
        may_read.set()
        signal.signal(signal.SIGINT, handler)
    assert contest.written() == before


def _wait(event: threading.Event) -> None:
    assert event.wait(60)


def test_a_killed_run_is_continued(contest: LoadingContest, undisturbed: tuple[bytes, ...]) -> None:
    """It is killed after its first result, while it waits for the last test, which never comes."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(contest.directory)], env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    try:
        wait_for_a_result(contest.out / "journal")
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()
    scorer = ScriptedScorer()
    assert contest.run(scorer).exit_code == 0
    assert "nile-u0" not in scorer.judged
    assert contest.written() == undisturbed


CHILD = """
import pathlib, sys, threading
from tests.pipeline.scripted import ScriptedScorer
from tests.pipeline.test_loading_problems import LoadingContest
contest = LoadingContest(pathlib.Path(sys.argv[1]))
contest.hold = lambda index: None if index < 5 else threading.Event().wait()
contest.run(ScriptedScorer())
"""


def test_problems_are_told_when_their_last_test_is_there(tmp_path: Path) -> None:
    """Each once, in the order in which they are complete; none that has an error by then, or lacks a test."""
    drafts = ProblemSet(problems={problem.key: replace(problem, tests={}) for problem in (NILE, TREE)}, unusable={})
    path, complete = tmp_path / "tests.jsonl", list[Problem]()

    def read(*rows: Mapping[str, Any]) -> ProblemSet:
        complete.clear()
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        return with_tests(drafts, JsonLines(path), BlobStore(tmp_path / "cache"), when_complete=complete.append)

    found = read(*SECOND, *FIRST, *FIRST)
    assert [problem.key.id for problem in complete] == ["tree", "nile"]
    assert {problem.key: problem.tests for problem in complete} == {
        key: problem.tests for key, problem in found.problems.items()
    }
    read(*FIRST[:2], OTHER, FIRST[2], *SECOND[1:])
    assert complete == []
