"""The journal on a real disk: torn, damaged, full, locked, killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.errors import InputError, SetupError
from ioi_eval.journal import Journal, Keys, RecordKind, TemporaryRecords, keys_of, peek
from ioi_eval.journal.records import RecordFile
from ioi_eval.model import ProblemKey
from tests.in_memory import directory_in_memory

NILE = ProblemKey(year=2024, id="nile")


def keys(number: int) -> Keys:
    """The keys of the n-th submission."""
    return keys_of(NILE, str(number), f"fingerprint {number}")


def write(directory: Path, numbers: range, **settings_: object) -> None:
    """Append a record for each number."""
    with Journal(directory, options={}, **settings_) as journal:  # type: ignore[arg-type]
        for number in numbers:
            journal.append(RecordKind.RESULT, keys(number), orjson.dumps({"n": number}))


def read(directory: Path) -> dict[int, int]:
    """Which of the first numbers are there, and what their records say."""
    with Journal(directory, options={}) as journal:
        places = {n: journal.index.find(keys(n)) for n in range(100)}
        return {n: journal.read(p.offset).body["n"] for n, p in places.items() if p is not None}


def test_records_are_found_again_by_key_and_by_program(tmp_path: Path) -> None:
    """A journal that was closed is whole when it is opened again."""
    write(tmp_path, range(5))
    assert read(tmp_path) == {n: n for n in range(5)}
    with Journal(tmp_path, options={}) as journal:
        assert len(journal) == 5
        assert journal.index.find(keys(7)) is None
        stored = journal.index.find(keys(3))
        assert stored is not None
        assert journal.index.leader_offset(keys_of(NILE, "another id", "fingerprint 3")) == stored.offset
        assert journal.notes == []


def test_a_long_record_is_read_back_whole(tmp_path: Path) -> None:
    """Records of hundreds of tests are longer than one read."""
    with Journal(tmp_path, options={}) as journal:
        offset = journal.append(RecordKind.RESULT, keys(0), orjson.dumps({"text": "x" * 300_000}))
        journal.append(RecordKind.RESULT, keys(1), b"{}")
        assert len(journal.read(offset).body["text"]) == 300_000


def test_every_run_leaves_its_options(tmp_path: Path) -> None:
    """Who reads the journal sees which runs made it."""
    for number in range(2):
        with Journal(tmp_path, options={"run": number}):
            pass
    assert (tmp_path / "journal").read_bytes().count(b'{"run":') == 2


def test_truncated_at_any_byte_it_keeps_what_was_whole(tmp_path: Path) -> None:
    """`kill -9` at any of 1,000 bytes loses at most the record that was being written, and doubles none."""
    count = 12
    write(tmp_path / "whole", range(count))
    whole = (tmp_path / "whole" / "journal").read_bytes()
    assert len(whole) > 1000
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]  # magic, run, the records
    with directory_in_memory() as directory:
        for size in range(len(whole) + 1):
            (directory / "journal").write_bytes(whole[:size])
            with Journal(directory, options={}) as journal:
                kept = [n for n in range(count) if journal.index.find(keys(n))]
                assert kept == list(range(max(0, sum(end <= size for end in ends) - 2)))
                assert bool(journal.notes) == (size > ends[0] and size not in ends)
                for number in range(count):
                    if number not in kept:
                        journal.append(RecordKind.RESULT, keys(number), orjson.dumps({"n": number}))
            assert read(directory) == {n: n for n in range(count)}
            assert (directory / "journal").read_bytes().count(b'{"n":') == count


@settings(max_examples=200, deadline=None)
@given(garbage=st.binary(min_size=1, max_size=300), cut=st.integers(0, 400))
def test_a_tail_of_garbage_is_dropped_with_a_note(garbage: bytes, cut: int) -> None:
    """Whatever a crash leaves at the end, the records before it stay and new ones follow."""
    with directory_in_memory() as directory:
        write(directory, range(2))
        path = directory / "journal"
        whole = path.read_bytes()
        third = whole[whole.rindex(b"\n", 0, len(whole) - 1) + 1 :]
        path.write_bytes(whole + third[: min(cut, len(third) - 1)] + garbage.replace(b"\n", b"\0") + garbage)
        write(directory, range(5, 6))
        assert read(directory) == {0: 0, 1: 1, 5: 5}


def test_a_torn_tail_is_told(tmp_path: Path) -> None:
    """The note says where, how much, and that nothing is lost for good."""
    write(tmp_path, range(2))
    path = tmp_path / "journal"
    os.truncate(path, path.stat().st_size - 3)
    with Journal(tmp_path, options={}) as journal:
        assert len(journal.notes) == 1
        assert "unfinished record" in journal.notes[0]
        assert "judged again" in journal.notes[0]


def test_damage_in_what_was_safe_is_refused_with_its_offset(tmp_path: Path) -> None:
    """A bad disk or an editor is not a crash: the user must know, and is told how to go on."""
    write(tmp_path, range(3))
    write(tmp_path, range(3, 6))  # its first record says that all of the first run's is safe
    path = tmp_path / "journal"
    damaged = bytearray(path.read_bytes())
    at = damaged.index(b'{"n":1}')
    start = damaged.rindex(b"\n", 0, at) + 1
    damaged[at + 5] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=rf"damaged at offset {start}, with 5 whole records after it") as caught:
        Journal(tmp_path, options={})
    assert f"truncate -s {start}" in str(caught.value)
    with pytest.raises(InputError, match="damaged"):
        peek(tmp_path)
    os.truncate(path, start)  # the advice works
    assert read(tmp_path) == {0: 0}


def test_a_hole_left_by_a_power_cut_is_cut_off(tmp_path: Path) -> None:
    """Pages of the last, unsynced group may reach the disk in any order."""
    write(tmp_path, range(2))
    with Journal(tmp_path, options={}, sync_records=10**6, sync_s=1e9) as journal:
        for number in range(2, 6):
            journal.append(RecordKind.RESULT, keys(number), orjson.dumps({"n": number}))
        state = bytearray((tmp_path / "journal").read_bytes())
    at = state.index(b'{"n":3}')
    state[at : at + 7] = bytes(7)
    (tmp_path / "journal").write_bytes(state)
    with Journal(tmp_path, options={}) as journal:
        assert "2 records after it" in journal.notes[0]
    assert read(tmp_path) == {0: 0, 1: 1, 2: 2}


def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    """Somebody's own file of that name is not overwritten."""
    (tmp_path / "journal").write_text("Dear diary\n")
    with pytest.raises(InputError, match="not a journal"):
        Journal(tmp_path, options={})
    assert (tmp_path / "journal").read_text() == "Dear diary\n"


def test_two_runs_into_one_directory_are_refused(tmp_path: Path) -> None:
    """The second is told who is there; when the first has ended it may start."""
    with Journal(tmp_path, options={}), pytest.raises(InputError, match=f"process {os.getpid()} on .* is writing"):
        Journal(tmp_path, options={})
    with Journal(tmp_path, options={}):
        pass


def test_starting_over_keeps_the_old_journal(tmp_path: Path) -> None:
    """Days of work are not deleted by an option."""
    write(tmp_path, range(3))
    for number in (1, 2):
        with Journal(tmp_path, options={}, resume=False) as journal:
            assert len(journal) == 0
            assert f"journal.{number}" in journal.notes[0]
    (tmp_path / "journal.1").rename(tmp_path / "journal")
    assert read(tmp_path) == {0: 0, 1: 1, 2: 2}


def test_failures_of_judge_programs_are_told_apart_and_never_lead(tmp_path: Path) -> None:
    """A run that retries them must recognise them, and no copy may inherit one."""
    with Journal(tmp_path, options={}) as journal:
        journal.append(RecordKind.FINAL_JE, keys(1), b"{}")
    with Journal(tmp_path, options={}) as journal:
        found = journal.index.find(keys(1))
        assert found is not None
        assert found.is_final_je
        assert journal.index.leader_offset(keys(1)) is None
        journal.append(RecordKind.RESULT, keys(1), b"{}")
        again = journal.index.find(keys(1))
        assert again is not None
        assert not again.is_final_je
        assert again.offset > found.offset


def test_records_are_synced_in_groups(tmp_path: Path) -> None:
    """So many, or so old: what the records themselves tell of the disk shows it."""
    now = 0.0

    def safes() -> list[int]:
        return [int(line.split()[2]) for line in (tmp_path / "journal").read_bytes().splitlines()[2:]]

    with Journal(tmp_path, options={}, sync_records=3, sync_s=10, clock=lambda: now) as journal:
        for number in range(5):
            journal.append(RecordKind.RESULT, keys(number), b"{}")
        assert len(set(safes()[:3])) == 1
        assert safes()[3] > safes()[2]
        now = 10.0
        journal.sync_if_due()
        journal.append(RecordKind.RESULT, keys(5), b"{}")
        assert safes()[5] > safes()[4]


def test_peeking_changes_nothing(tmp_path: Path) -> None:
    """A dry run says what would be resumed, and writes nothing, not even a lock."""
    index, notes = peek(tmp_path)
    assert index.find(keys(0)) is None
    assert notes == ()
    assert list(tmp_path.iterdir()) == []
    write(tmp_path, range(2))
    path = tmp_path / "journal"
    os.truncate(path, path.stat().st_size - 1)
    before = path.read_bytes()
    index, notes = peek(tmp_path)
    assert index.find(keys(0)) is not None
    assert index.find(keys(1)) is None
    assert len(notes) == 1
    assert path.read_bytes() == before


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """The message names the path and what the system says."""
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=r"file/out/journal: cannot be written: Not a directory"):
        Journal(tmp_path / "file" / "out", options={})


def test_after_a_failed_fsync_only_what_was_synced_is_promised(tmp_path: Path) -> None:
    """The kernel tells a failure once, and may have dropped what it could not write: success later says nothing."""
    source, sink = os.pipe()  # can be written, and cannot be synced
    try:
        records = RecordFile(sink, 0, "journal")
        records.append(RecordKind.RESULT, keys(1), b"{}")
        for _ in range(2):
            with pytest.raises(SetupError, match=r"The first 0 bytes are known .* whether the \d+ after them are, the"):
                records.sync()
        os.dup2(os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT), sink)
        with pytest.raises(SetupError, match="The first 0 bytes are known"):
            records.sync()
        assert records.safe == 0
    finally:
        os.close(source)
        os.close(sink)


def test_a_journal_that_is_deleted_in_mid_run_is_missed(tmp_path: Path) -> None:
    """Nothing says that what was judged is safe: the file is gone, or another one by now."""
    with Journal(tmp_path / "out", options={}) as journal:
        journal.require_there()
        shutil.rmtree(tmp_path / "out")
        with pytest.raises(SetupError, match=r"was deleted or replaced .* what was judged is lost"):
            journal.require_there()
        write(tmp_path / "out", range(1))
        with pytest.raises(SetupError, match="was deleted or replaced"):
            journal.require_there()


def test_temporary_records_are_gone_at_the_end(tmp_path: Path) -> None:
    """It is a file without a name: nothing is left, whatever ends the process."""
    records = TemporaryRecords(tmp_path)
    records.append(keys(1), b'{"n":1}')
    assert list(tmp_path.iterdir()) == []
    assert records.find(keys(1)) == {"n": 1}
    assert records.find(keys(2)) is None
    assert len(records) == 1
    records.close()


FILL = """
import resource, signal, sys, pathlib
from ioi_eval.errors import SetupError
from ioi_eval.journal import Journal, RecordKind, keys_of
from ioi_eval.model import ProblemKey
if len(sys.argv) > 2:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
done = -1
try:
    with Journal(pathlib.Path(sys.argv[1]), options={}) as journal:
        for number in range(100):
            keys = keys_of(ProblemKey(year=2024, id="nile"), str(number), f"fingerprint {number}")
            journal.append(RecordKind.RESULT, keys, b'{"n":%d,"pad":"%b"}' % (number, b"x" * 3000))
            done = number
except SetupError as error:
    print(done, error)
"""


def fill(directory: Path, *limit: str) -> int:
    """Write until the disk is full, and say which record was the last that was said to be done."""
    run = subprocess.run(
        [sys.executable, "-c", FILL, str(directory), *limit], stdout=subprocess.PIPE, text=True, check=True
    )
    done, message = run.stdout.split(" ", 1)
    assert 0 < int(done) < 99
    assert "All records before this one are on the disk; free some space" in message
    return int(done)


def test_a_file_that_may_not_grow_keeps_what_it_has(tmp_path: Path) -> None:
    """A quota or RLIMIT_FSIZE: the record that did not fit leaves no trace."""
    done = fill(tmp_path, "50000")
    assert list(read(tmp_path)) == list(range(done + 1))


@pytest.mark.root
def test_a_full_disk_keeps_what_it_has(tmp_path: Path) -> None:
    """On a real file system of 64 kB: error, valid journal, and on it goes when there is space."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)], check=False)
    if mounted.returncode:
        pytest.skip("may not mount a file system here")
    try:
        done = fill(tmp_path)
        subprocess.run(["mount", "-o", "remount,size=1m", str(tmp_path)], check=True)
        before = read(tmp_path)
        assert list(before) == list(range(done + 1))
        write(tmp_path, range(90, 91))
        assert read(tmp_path) == {**before, 90: 90}
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


WRITER = """
import pathlib, sys
from ioi_eval.journal import Journal, RecordKind, keys_of
from ioi_eval.model import ProblemKey
most = int(sys.argv[2])
with Journal(pathlib.Path(sys.argv[1]), options={}) as journal:
    for number in range(5000):
        keys = keys_of(ProblemKey(year=2024, id="nile"), str(number), f"fingerprint {number}")
        if journal.index.find(keys) is None:
            if most == 0:
                sys.stdin.read()  # until it is killed
            most -= 1
            journal.append(RecordKind.RESULT, keys, b'{"n":%d,"pad":"%b"}' % (number, b"x" * (number * 37 % 5000)))
            print(number, flush=True)
"""


def test_killed_at_random_moments_and_resumed_it_ends_whole(tmp_path: Path) -> None:
    """Nothing that was reported done is lost, nothing is there twice, however often `kill -9` strikes."""
    rng = random.Random(5)
    reported: list[int] = []
    kills = 0
    while True:
        strike = rng.randrange(100, 700) if kills < 6 else 10**6
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(strike + 100)]  # it is not done before it is killed
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for count, line in enumerate(child.stdout):
            if line.endswith("\n"):
                reported.append(int(line))
            if count == strike:
                child.kill()
                kills += 1
        if child.wait() == 0:
            break
        assert child.returncode == -signal.SIGKILL
    assert kills == 6
    assert len(reported) == len(set(reported)) >= 5000 - 6
    with Journal(tmp_path, options={}) as journal:
        assert len(journal) == 5000
        for number in range(5000):
            place = journal.index.find(keys_of(NILE, str(number), f"fingerprint {number}"))
            assert place is not None
            assert journal.read(place.offset).body["n"] == number
    bodies = (tmp_path / "journal").read_bytes()
    assert bodies.count(b'{"n":') == 5000
