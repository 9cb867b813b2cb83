"""Journals whose lines were removed, duplicated, moved, or joined from several journals, for both families."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.apps.family import APPS_CODEC, apps_facts
from ioi_eval.apps.result import AppsResult
from ioi_eval.errors import InputError
from ioi_eval.journal import Journal, RecordKind, TemporaryRecords, keys_of, read_index
from ioi_eval.model import CompileOutcome, Submission, SubmissionResult, TestOutcome, Verdict
from ioi_eval.pipeline.contest import CONTEST_CODEC, contest_facts
from ioi_eval.pipeline.family import ResultFacts
from ioi_eval.pipeline.result_store import ResultCodec, ResultStore
from ioi_eval.pipeline.window import Candidate
from ioi_eval.scores import submission_result
from tests.fuzz.budget import fuzzed
from tests.in_memory import directory_in_memory
from tests.pipeline.scripted import NILE

PROGRAMS = 4
IDS = 8


Waiting: TypeAlias = Candidate[int, int]
"""A submission of a program, which is a number."""


def waiting(name: str, program: int) -> Waiting:
    """A submission to the only problem."""
    fingerprint = f"program {program}"
    return Candidate(
        problem=0,
        submission=program,
        problem_key=NILE.key,
        id=name,
        size=10,
        max_s=1.0,
        fingerprint=fingerprint,
        keys=keys_of(NILE.key, name, fingerprint),
    )


def contest_result(one: Waiting) -> SubmissionResult:
    """A result with a score that only this program has. The last program has a final JE."""
    final = one.submission == PROGRAMS - 1
    score = (20 + one.submission) / 100
    outcomes = {name: TestOutcome(test=name, verdict=Verdict.PA, score=score, message="") for name in NILE.tests}
    if final:
        outcomes = {
            name: TestOutcome(test=name, verdict=Verdict.JE, score=None, final=True, message="") for name in NILE.tests
        }
    submission = Submission(id=one.id, problem=NILE.key, code="")
    return submission_result(NILE, submission, CompileOutcome(verdict=None), outcomes)


def apps_result(one: Waiting) -> AppsResult:
    """The same for APPS."""
    return AppsResult(verdict=Verdict.WA, passed=one.submission, total=PROGRAMS, judged_by="x")


@dataclass(frozen=True)
class Family:
    """How results of a family are made, stored and compared."""

    codec: ResultCodec[Any]
    facts: Callable[[Any], ResultFacts]
    result: Callable[[Waiting], Any]
    worth: Callable[[Any], Any]


FAMILIES = (
    Family(CONTEST_CODEC, contest_facts, contest_result, lambda result: (result.verdict, result.score)),
    Family(APPS_CODEC, apps_facts, apps_result, lambda result: result.passed),
)


def judge_all(directory: Path, family: Family, rows: list[Waiting]) -> None:
    """Judge as a run does: rows without a stored result are judged or copied."""
    with (
        Journal(directory, options={}, sync_records=10**6) as journal,
        closing(TemporaryRecords(directory)) as our_failures,
    ):
        store = ResultStore(journal, our_failures, family.codec)
        for row in rows:
            if (leader := journal.index.leader_offset(row.keys)) is not None and journal.index.find(row.keys) is None:
                store.record_copies([(row, leader)])
            elif journal.index.find(row.keys) is None:
                result = family.result(row)
                store.record(row, result, family.facts(result).end.record_kind)


def read_all(directory: Path, family: Family, rows: list[Waiting]) -> list[Any]:
    """The stored result of each row; `None` if there is none."""
    with Journal(directory, options={}) as journal, closing(TemporaryRecords(directory)) as our_failures:
        store = ResultStore(journal, our_failures, family.codec)
        found = [store.find(row) for row in rows]
    for row, one in zip(rows, found, strict=True):
        assert one is None or one.duplicate_of != row.id
    return [None if one is None else family.worth(one.result) for one in found]


def lines_of(directory: Path) -> list[bytes]:
    """The lines of the journal. The first one is its magic line."""
    return (directory / "journal").read_bytes().splitlines(keepends=True)


ROWS = st.lists(st.integers(0, PROGRAMS - 1), min_size=IDS, max_size=IDS).map(
    lambda numbers: [waiting(f"s{place}", program) for place, program in enumerate(numbers)]
)


@pytest.mark.parametrize("family", FAMILIES, ids=["contest", "apps"])
@fuzzed
@given(runs=st.tuples(ROWS, ROWS), data=st.data())
def test_edited_lines_never_make_a_wrong_result(
    family: Family, runs: tuple[list[Waiting], ...], data: st.DataObject
) -> None:
    """Each result that is found is right. Rows without one are judged again, and then all results are there."""
    with directory_in_memory() as directory:
        lines: list[bytes] = []
        for number, rows in enumerate(runs):
            judge_all(directory / str(number), family, rows)
            lines += lines_of(directory / str(number))
        places = st.lists(st.integers(0, len(lines) - 1), max_size=2 * len(lines))
        kept = [lines[place] for place in data.draw(places, label="which lines, in order")]
        first = [lines[0]] if data.draw(st.booleans(), label="with the first line") else []
        check_edited(directory / "edited", b"".join([*first, *kept]), family, runs[0])


def check_edited(directory: Path, journal: bytes, family: Family, rows: list[Waiting]) -> None:
    """A journal with this content gives right results or none, and after another run all of them."""
    directory.mkdir()
    (directory / "journal").write_bytes(journal)
    right = [family.worth(family.result(row)) for row in rows]
    try:
        read_index(directory)
        found = read_all(directory, family, rows)
    except InputError as error:
        assert "not a journal" in str(error)  # noqa: PT017 - it may also be fine
        return
    assert all(one in (None, worth) for one, worth in zip(found, right, strict=True))
    judge_all(directory, family, rows)
    assert read_all(directory, family, rows) == right


@pytest.mark.parametrize("family", FAMILIES, ids=["contest", "apps"])
def test_two_joined_journals(tmp_path: Path, family: Family) -> None:
    """Joined by `cat a; tail -n +2 b` or by `cat a b`. No program gets the result of another."""
    shards = [waiting("a1", 1), waiting("a2", 1)], [waiting("b1", 2), waiting("b2", 2), waiting("b3", 1)]
    for number, shard in enumerate(shards):
        judge_all(tmp_path / str(number), family, shard)
    first, second = (lines_of(tmp_path / str(number)) for number in range(2))
    both = [*shards[0], *shards[1]]
    for name, joined in (("cat", first + second), ("tail", first + second[1:]), ("other", second + first)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "journal").write_bytes(b"".join(joined))
        assert read_all(tmp_path / name, family, both) == [family.worth(family.result(row)) for row in both]


def test_a_journal_joined_with_itself_keeps_its_copies(tmp_path: Path) -> None:
    """A submission whose program another one has too is still its copy: else its CPU time counted twice."""
    judge_all(tmp_path, FAMILIES[0], [waiting("a", 1), waiting("b", 1)])
    (tmp_path / "journal").write_bytes(b"".join(lines_of(tmp_path) * 2))
    index, _ = read_index(tmp_path)
    stored = index.find(waiting("a", 1).keys)
    assert stored is not None
    assert stored.offset == index.leader_offset(waiting("b", 1).keys)


@pytest.mark.parametrize("family", FAMILIES, ids=["contest", "apps"])
def test_a_changed_record_is_not_used(tmp_path: Path, family: Family) -> None:
    """An editor changes the file while a run has it open. Another submission's record is now at that offset."""
    rows = [waiting("a", 1), waiting("b", 2), waiting("c", 1)]
    judge_all(tmp_path, family, rows)
    with Journal(tmp_path, options={}) as journal, closing(TemporaryRecords(tmp_path)) as our_failures:
        store = ResultStore(journal, our_failures, family.codec)
        lines = lines_of(tmp_path)
        results = [place for place, line in enumerate(lines) if b" r " in line]
        one, other = results
        lines[one], lines[other] = lines[other], lines[one]
        assert len(lines[one]) == len(lines[other])
        (tmp_path / "journal").write_bytes(b"".join(lines))
        assert [store.find(row) for row in rows] == [None, None, None]
        store.record_copies([(waiting("d", 1), journal.index.leader_offset(rows[0].keys) or 0)])
        assert journal.index.find(waiting("d", 1).keys) is None


def test_a_result_counts_if_a_final_je_follows(tmp_path: Path) -> None:
    """If lines were moved, the failure of a judge program may come after the result of its repetition."""
    one = keys_of("nile", "a", "f")
    with Journal(tmp_path, options={}) as journal:
        offset = journal.append(RecordKind.RESULT, one, b"{}")
        journal.append(RecordKind.FINAL_JE, one, b"{}")
        stored = journal.index.find(one)
        assert stored is not None
        assert (stored.offset, stored.is_final_je) == (offset, False)
