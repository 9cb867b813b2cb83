"""Several journals are merged to one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from ioi_eval.cli.validate import ValidateCall
from ioi_eval.errors import InputError
from ioi_eval.journal import Journal, RecordKind, keys_of
from ioi_eval.journal.merging import Merged, merge

Record = tuple[RecordKind, str, int, object]


def write(directory: Path, *records: Record, contest: bool = True, **options: object) -> Path:
    """Write a journal with these kinds, ids, programs and scores, of a run with these options."""
    with Journal(directory, options=options) as journal:
        for kind, submission, program, score in records:
            names = {"submission": submission, "problem": "nile", **({"year": 2024} if contest else {})}
            worth = {
                "verdict": "NC" if score == 0 else "PA",
                **({"score": score} if contest else {"passed": score, "total": 9}),
            }
            keys = keys_of("nile", submission, f"program {program}")
            journal.append(kind, keys, orjson.dumps({**names, **({} if kind is RecordKind.COPY else worth)}))
    return directory


def scores(directory: Path, *submissions: tuple[str, int]) -> list[object]:
    """The scores of the submissions with these programs; `None` for unknown ones."""
    found = []
    with Journal(directory, options={}) as journal:
        for submission, program in submissions:
            keys = keys_of("nile", submission, f"program {program}")
            stored = journal.index.find(keys)
            record = None if stored is None else journal.read(stored.offset)
            found.append(None if record is None else record.body.get("score", record.body.get("passed")))
    return found


@pytest.mark.parametrize("contest", [True, False])
def test_shards_are_merged(tmp_path: Path, contest: bool) -> None:
    """Each result is there once. A copy finds its program in any of the journals."""
    one = write(tmp_path / "1", (RecordKind.RESULT, "a", 1, 5), (RecordKind.COPY, "b", 1, None), contest=contest)
    two = write(
        tmp_path / "2",
        (RecordKind.RESULT, "c", 2, 7),
        (RecordKind.RESULT, "a", 1, 5),
        (RecordKind.COPY, "d", 2, None),
        (RecordKind.RESULT, "f", 3, 0),
        (RecordKind.COPY, "g", 3, None),
        contest=contest,
    )
    merged = merge([one, two], tmp_path / "out")
    assert (merged.results, merged.copies, merged.left_out, merged.conflicts) == (4, 2, 1, []), "g has no program"
    assert merged.command == ("ioi-eval score" if contest else "ioi-eval apps score")
    assert scores(tmp_path / "out", ("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 2)) == [5, 5, 7, 7, None]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".lock", "journal"]


def test_journals_of_validate_are_refused(tmp_path: Path) -> None:
    """`score` would find none of their results: they are of all tests, and have other keys."""
    one = write(tmp_path / "1", (RecordKind.RESULT, "a", 1, 5))
    options = ValidateCall(problems="problems.jsonl", tests="tests.jsonl").as_dict()
    two = write(tmp_path / "2", (RecordKind.RESULT, "a", 1, 5), **options)
    with pytest.raises(InputError, match="2 holds results of `ioi-eval validate`, which cannot be joined"):
        merge([one, two], tmp_path / "out")
    assert not (tmp_path / "out" / "journal").exists()


def test_a_result_has_precedence_over_a_failure(tmp_path: Path) -> None:
    """In any order: one run has repeated a test at which the judge program had failed."""
    one = write(tmp_path / "1", (RecordKind.FINAL_JE, "a", 1, None), (RecordKind.RESULT, "b", 2, 3))
    two = write(tmp_path / "2", (RecordKind.RESULT, "a", 1, 5), (RecordKind.FINAL_JE, "b", 2, None))
    merged = merge([one, two], tmp_path / "out")
    assert (merged.results, merged.failures, merged.left_out) == (2, 1, 1)
    assert scores(tmp_path / "out", ("a", 1), ("b", 2)) == [5, 3]


@pytest.mark.parametrize("beginning", [b"", b"ioi-eval jour"])
def test_a_journal_whose_run_was_killed_at_once_has_no_records(tmp_path: Path, beginning: bytes) -> None:
    """The first line of its journal is absent, or not complete."""
    one = write(tmp_path / "1", (RecordKind.RESULT, "a", 1, 5))
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "journal").write_bytes(beginning)
    assert merge([tmp_path / "2", one], tmp_path / "out").results == 1
    assert scores(tmp_path / "out", ("a", 1)) == [5]


def test_a_copy_counts_like_the_copied_result(tmp_path: Path) -> None:
    """It has precedence over a failure in any order, and over a result from a later directory."""
    copied = write(tmp_path / "1", (RecordKind.RESULT, "leader", 1, 5), (RecordKind.COPY, "a", 1, None))
    judged = write(tmp_path / "2", (RecordKind.RESULT, "a", 1, 9))
    failed = write(tmp_path / "3", (RecordKind.FINAL_JE, "a", 1, None))
    for number, (sources, score) in enumerate(
        [([copied, judged], 5), ([judged, copied], 9), ([copied, failed], 5), ([failed, copied], 5)]
    ):
        merge(sources, tmp_path / f"out{number}")
        assert scores(tmp_path / f"out{number}", ("leader", 1), ("a", 1)) == [5, score]


def test_conflicts_are_named_and_the_first_counts(tmp_path: Path) -> None:
    """A conflict: the same submission, or another one with the same program, has another score."""
    one = write(tmp_path / "1", (RecordKind.RESULT, "a", 1, 5), (RecordKind.RESULT, "b", 2, 6))
    two = write(
        tmp_path / "2", (RecordKind.RESULT, "a", 1, 9), (RecordKind.RESULT, "c", 2, 8), (RecordKind.COPY, "d", 2, None)
    )
    merged = merge([one, two], tmp_path / "out")
    assert scores(tmp_path / "out", ("a", 1), ("b", 2), ("c", 2), ("d", 2)) == [5, 6, 8, 6]
    assert [words.replace(str(tmp_path), "") for words in merged.conflicts] == [
        "the same program, judged in the same way: a of nile in /1 (PA, 5), but a of nile in /2 (PA, 9)",
        "the same program, judged in the same way: b of nile in /1 (PA, 6), but c of nile in /2 (PA, 8)",
    ]


@pytest.mark.parametrize(
    ("score_only", "conflicts"),
    [
        ((True, True, True), [0, 0]),
        ((False, False, False), [1, 1]),
        ((True, False, False), [0, 0]),
        ((False, True, False), [0, 1]),
    ],
)
def test_verdicts_may_differ_if_only_scores_count(
    tmp_path: Path, score_only: tuple[bool, ...], conflicts: list[int]
) -> None:
    """With `--score-only` they depend on what was judged before. A merged journal still says how it was judged."""
    directories = []
    for verdict, scores_only in zip(("WA", "RE", "TLE"), score_only, strict=True):
        directories.append(tmp_path / verdict)
        with Journal(directories[-1], options={"score_only": scores_only}) as journal:
            names = {"submission": "a", "problem": "nile", "year": 2024}
            journal.append(
                RecordKind.RESULT,
                keys_of("nile", "a", "program"),
                orjson.dumps({**names, "verdict": verdict, "score": 0}),
            )
    first = merge(directories[:2], tmp_path / "out")
    again = merge([tmp_path / "out", directories[2]], tmp_path / "again")
    assert [len(merged.conflicts) for merged in (first, again)] == conflicts


def test_a_copy_without_its_program_is_reported(tmp_path: Path) -> None:
    """The next run judges it."""
    merged = merge([write(tmp_path / "1", (RecordKind.COPY, "a", 1, None))], tmp_path / "out")
    assert merged.unknown == 1
    assert scores(tmp_path / "out", ("a", 1)) == [None]


def test_journals_that_cannot_be_merged_are_refused(tmp_path: Path) -> None:
    """The message has the reason. No journal is written."""
    contest = write(tmp_path / "contest", (RecordKind.RESULT, "a", 1, 5))
    apps = write(tmp_path / "apps", (RecordKind.RESULT, "a", 1, 5), contest=False)
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "journal").write_text("Dear diary\n")
    for sources, words in (
        ([contest, apps], "apps holds results of `ioi-eval apps score`, and those before it of `ioi-eval score`"),
        ([contest, tmp_path / "absent"], "absent/journal cannot be read: No such file or directory"),
        ([contest, tmp_path / "diary"], "diary/journal: not a journal of this version of ioi-eval; leave .*diary out"),
    ):
        with pytest.raises(InputError, match=words):
            merge(sources, tmp_path / "out")
        assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]
    with pytest.raises(InputError, match="absent/journal cannot be read"):
        merge([contest, tmp_path / "absent"], tmp_path / "mistyped")
    assert not (tmp_path / "mistyped").exists()
    (tmp_path / "folder" / "journal").mkdir(parents=True)
    with pytest.raises(InputError, match="folder/journal is a directory; name directories that"):
        merge([contest, tmp_path / "folder"], tmp_path / "mistyped")
    with pytest.raises(InputError, match="contest has a journal already"):
        merge([apps], contest)
    with Journal(contest, options={}), pytest.raises(InputError, match="a run is writing to"):
        merge([contest], tmp_path / "out")


def test_a_merge_without_space_says_that_nothing_is_kept(tmp_path: Path) -> None:
    """The records that it wrote are deleted, so the message names the cause and the journal that does not exist."""
    source = write(tmp_path / "1", *((RecordKind.RESULT, str(n), n, n) for n in range(99)))
    program = (
        "import pathlib, resource, signal, sys; from ioi_eval.journal.merging import merge; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096,) * 2); "
        "merge([pathlib.Path(sys.argv[1])], pathlib.Path(sys.argv[2]))"
    )
    argv = [sys.executable, "-c", program, str(source), str(tmp_path / "out")]
    run = subprocess.run(argv, stderr=subprocess.PIPE, text=True, check=False)
    assert "out/journal cannot be written: File too large; choose another --out" in run.stderr.splitlines()[-1]
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]


def test_another_merge_into_the_same_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first goes on. While it writes, no run can begin there either."""
    source, out = write(tmp_path / "1", (RecordKind.RESULT, "a", 1, 5)), tmp_path / "out"
    add, refused = Merged.add_journal, []

    def add_and_try_others(merged: Merged, directory: Path, journal: Journal) -> None:
        add(merged, directory, journal)
        monkeypatch.undo()
        for begin in (lambda: merge([source], out), lambda: Journal(out, options={})):
            with pytest.raises(InputError, match="is writing results here") as error:
                begin()
            refused.append(error.value)

    monkeypatch.setattr(Merged, "add_journal", add_and_try_others)
    assert merge([source], out).results == 1
    assert len(refused) == 2
    assert scores(out, ("a", 1)) == [5]
