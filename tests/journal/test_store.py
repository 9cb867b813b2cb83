"""The journal on a real disk: truncated, damaged, full, locked, killed."""

from __future__ import annotations

import errno
import fcntl
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
from ioi_eval.journal import Journal, Keys, RecordKind, TemporaryRecords, keys_of, read_index, store
from ioi_eval.journal.records import RecordFile
from ioi_eval.model import ProblemKey
from tests.in_memory import directory_in_memory

NILE = ProblemKey(year=2024, id="nile")


def keys(number: int) -> Keys:
    """The keys of submission n."""
    return keys_of(NILE, str(number), f"fingerprint {number}")


def write(directory: Path, numbers: range, **settings_: object) -> None:
    """Append a record for each number."""
    with Journal(directory, options={}, **settings_) as journal:  # type: ignore[arg-type]
        for number in numbers:
            journal.append(RecordKind.RESULT, keys(number), orjson.dumps({"n": number}))


def read(directory: Path) -> dict[int, int]:
    """The contents of the first records that exist."""
    with Journal(directory, options={}) as journal:
        places = {n: journal.index.find(keys(n)) for n in range(100)}
        return {n: journal.read(p.offset).body["n"] for n, p in places.items() if p is not None}


def test_records_are_found_again_by_key_and_by_program(tmp_path: Path) -> None:
    """A journal that was closed is complete when it is opened again."""
    write(tmp_path, range(5))
    assert read(tmp_path) == {n: n for n in range(5)}
    with Journal(tmp_path, options={}) as journal:
        assert len(journal.index.submissions) == 5
        assert journal.index.find(keys(7)) is None
        stored = journal.index.find(keys(3))
        assert stored is not None
        assert journal.index.leader_offset(keys_of(NILE, "another id", "fingerprint 3")) == stored.offset
        assert journal.notes == []


def test_a_long_record_is_read_completely(tmp_path: Path) -> None:
    """Records with hundreds of tests are longer than one read."""
    with Journal(tmp_path, options={}) as journal:
        offset = journal.append(RecordKind.RESULT, keys(0), orjson.dumps({"text": "x" * 300_000}))
        journal.append(RecordKind.RESULT, keys(1), b"{}")
        assert len(journal.read(offset).body["text"]) == 300_000


def test_every_run_writes_its_options(tmp_path: Path) -> None:
    """So the journal shows which runs wrote it."""
    for number in range(2):
        with Journal(tmp_path, options={"run": number}):
            pass
    assert (tmp_path / "journal").read_bytes().count(b'{"run":') == 2


def test_truncated_at_any_byte_it_keeps_complete_records(tmp_path: Path) -> None:
    """`kill -9` at any of 1,000 bytes loses at most the record that was being written, and duplicates none."""
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
def test_garbage_at_the_end_is_removed_with_a_note(garbage: bytes, cut: int) -> None:
    """The records before it stay, and new ones follow."""
    with directory_in_memory() as directory:
        write(directory, range(2))
        path = directory / "journal"
        whole = path.read_bytes()
        third = whole[whole.rindex(b"\n", 0, len(whole) - 1) + 1 :]
        path.write_bytes(whole + third[: min(cut, len(third) - 1)] + garbage.replace(b"\n", b"\0") + garbage)
        write(directory, range(5, 6))
        assert read(directory) == {0: 0, 1: 1, 5: 5}


def test_a_truncated_record_is_reported(tmp_path: Path) -> None:
    """The note has the offset and the size, and says that nothing is lost permanently."""
    write(tmp_path, range(2))
    path = tmp_path / "journal"
    os.truncate(path, path.stat().st_size - 3)
    with Journal(tmp_path, options={}) as journal:
        assert len(journal.notes) == 1
        assert "unfinished record" in journal.notes[0]
        assert "judged again" in journal.notes[0]


def test_damage_in_synced_records_is_refused_with_its_offset(tmp_path: Path) -> None:
    """A bad disk or an editor caused it, not a crash. The message says how to continue."""
    write(tmp_path, range(3))
    write(tmp_path, range(3, 6))  # its first record says that all records of the first run are synced
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
        read_index(tmp_path)
    os.truncate(path, start)  # the advice works
    assert read(tmp_path) == {0: 0}


def test_a_hole_after_a_power_failure_is_removed(tmp_path: Path) -> None:
    """The pages of the last, unsynced group may be written in any order."""
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


def test_a_journal_joined_to_one_with_a_torn_tail_is_not_cut_off(tmp_path: Path) -> None:
    """Its `safe` values count from its own beginning, so the torn record looked like the hole of a power failure."""
    write(tmp_path / "a", range(3))
    write(tmp_path / "b", range(3, 6))
    torn = (tmp_path / "a" / "journal").read_bytes()[:-5]
    whole = (tmp_path / "b" / "journal").read_bytes()
    path = tmp_path / "journal"
    path.write_bytes(torn + whole)
    start = torn.rindex(b"\n") + 1
    with pytest.raises(InputError, match=rf"record at offset {start}, before the next one begins at {len(torn)};"):
        Journal(tmp_path, options={})
    with pytest.raises(InputError, match="ioi-eval merge"):
        read_index(tmp_path)
    assert path.read_bytes() == torn + whole
    path.write_bytes(torn + whole[:30])  # a first line that no record follows
    assert read(tmp_path) == {0: 0, 1: 1}
    path.write_bytes(torn[:start] + whole)  # the advice works
    assert read(tmp_path) == {n: n for n in range(6) if n != 2}


def test_damage_in_the_last_of_several_joined_journals_is_refused(tmp_path: Path) -> None:
    """Here too `safe` counts from that journal's beginning: its records after the damage were cut off."""
    write(tmp_path / "a", range(10))
    write(tmp_path / "b", range(10, 12))
    write(tmp_path / "b", range(12, 14))
    whole = (tmp_path / "a" / "journal").read_bytes() + (tmp_path / "b" / "journal").read_bytes()
    (tmp_path / "journal").write_bytes(whole.replace(b'{"n":10}', b'{"n":99}'))
    with pytest.raises(InputError, match="damaged at offset"):
        Journal(tmp_path, options={})
    assert len((tmp_path / "journal").read_bytes()) == len(whole)


def test_a_file_that_is_no_journal_is_not_changed(tmp_path: Path) -> None:
    """A user's own file of that name is not overwritten."""
    (tmp_path / "journal").write_text("Dear diary\n")
    with pytest.raises(InputError, match="not a journal"):
        Journal(tmp_path, options={})
    assert (tmp_path / "journal").read_text() == "Dear diary\n"


def test_two_runs_into_one_directory_are_refused(tmp_path: Path) -> None:
    """The message to the second names the first. When the first has ended, the second may start."""
    with Journal(tmp_path, options={}), pytest.raises(InputError, match=f"process {os.getpid()} on .* is writing"):
        Journal(tmp_path, options={})
    with Journal(tmp_path, options={}):
        pass


def test_no_resume_keeps_the_old_journal(tmp_path: Path) -> None:
    """An option must not delete days of work."""
    write(tmp_path, range(3))
    for number in (1, 2):
        with Journal(tmp_path, options={}, resume=False) as journal:
            assert not journal.index.submissions
            assert f"journal.{number}" in journal.notes[0]
    (tmp_path / "journal.1").rename(tmp_path / "journal")
    assert read(tmp_path) == {0: 0, 1: 1, 2: 2}


def test_final_jes_are_marked_and_never_copied(tmp_path: Path) -> None:
    """A run with `--retry-failed` must recognise them, and no copy may get one."""
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


def test_a_record_of_a_file_that_was_cut_during_the_run_is_damaged(tmp_path: Path) -> None:
    """Also a record that is longer than what is read at once."""
    with Journal(tmp_path, options={}) as journal:
        offset = journal.append(RecordKind.RESULT, keys(1), b'"%b"' % (b"x" * 200_000))
        os.truncate(journal.path, offset + 100_000)
        with pytest.raises(InputError, match=f"the record at offset {offset} is damaged"):
            journal.read(offset)


def test_a_file_system_without_locks_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on, and the user must see to it that there is no second one."""

    def flock(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with Journal(tmp_path, options={}) as journal:
        assert journal.notes == [
            f"{tmp_path}: this file system has no locks (No locks available): do not start a second run here"
        ]


def test_records_are_synced_in_groups(tmp_path: Path) -> None:
    """After a number of records or a time. The records themselves show what was synced."""
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


def test_peek_changes_nothing(tmp_path: Path) -> None:
    """A dry run shows what would be resumed, and writes no file, not even a lock."""
    index, notes = read_index(tmp_path)
    assert index.find(keys(0)) is None
    assert notes == ()
    assert list(tmp_path.iterdir()) == []
    write(tmp_path, range(2))
    path = tmp_path / "journal"
    os.truncate(path, path.stat().st_size - 1)
    before = path.read_bytes()
    index, notes = read_index(tmp_path)
    assert index.find(keys(0)) is not None
    assert index.find(keys(1)) is None
    assert len(notes) == 1
    assert path.read_bytes() == before


def test_a_directory_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    """The message has the path and the error of the system."""
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=r"file/out/journal: cannot be written: Not a directory"):
        Journal(tmp_path / "file" / "out", options={})


def test_a_file_system_without_fsync_of_directories_suffices() -> None:
    """VirtualBox's shared folders have none, as `/proc`."""
    store._sync_name(Path("/proc"))


def test_a_directory_that_cannot_be_synced_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power failure could take the file's name, and with it all results."""

    def fsync(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(SetupError, match="journal: cannot be written: Input/output error"):
        Journal(tmp_path, options={})


def test_after_a_failed_fsync_nothing_more_is_reported_as_synced(tmp_path: Path) -> None:
    """The kernel reports a failure once, and may have dropped the data. A later success is no evidence."""
    source, sink = os.pipe()  # can be written, and cannot be synced
    try:
        records = RecordFile(sink, 0, "journal")
        records.append(RecordKind.RESULT, keys(1), b"{}")
        for _ in range(2):
            with pytest.raises(SetupError, match=r"Only the first 0 bytes are known .* the next start checks"):
                records.sync()
        with open(tmp_path / "file", "wb") as file:
            os.dup2(file.fileno(), sink)
        with pytest.raises(SetupError, match="Only the first 0 bytes are known"):
            records.sync()
        assert records.safe == 0
    finally:
        os.close(source)
        os.close(sink)


def test_nothing_is_written_to_a_journal_whose_closing_failed(tmp_path: Path) -> None:
    """Its descriptor is closed, and its number may be that of another file by then."""
    source, sink = os.pipe()
    journal = Journal(tmp_path, options={})
    journal.append(RecordKind.RESULT, keys(1), b"{}")
    os.dup2(sink, journal._records.fd)  # cannot be synced
    with pytest.raises(SetupError, match="fsync failed"):
        journal.close()
    with pytest.raises(ValueError, match="is closed"):
        journal.append(RecordKind.RESULT, keys(2), b"{}")
    os.close(source)
    os.close(sink)


def test_a_journal_deleted_during_a_run_is_an_error(tmp_path: Path) -> None:
    """The file is deleted or replaced. No record is reported as synced."""
    with Journal(tmp_path / "out", options={}) as journal:
        journal.require_in_place()
        shutil.rmtree(tmp_path / "out")
        with pytest.raises(SetupError, match=r"was deleted or replaced .* what was judged is lost"):
            journal.require_in_place()
        write(tmp_path / "out", range(1))
        with pytest.raises(SetupError, match="was deleted or replaced"):
            journal.require_in_place()


def test_temporary_records_leave_no_file(tmp_path: Path) -> None:
    """The file has no name, so nothing is left however the process ends."""
    records = TemporaryRecords(tmp_path)
    name = keys(1).submission
    records.append(name, b'{"n":1}')
    assert list(tmp_path.iterdir()) == []
    assert records.find(name) == {"n": 1}
    assert records.find(keys(2).submission) is None
    assert len(records) == 1
    records.close()
    with pytest.raises(ValueError, match="closed file"):
        records._file.fileno()


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
    """Write until the disk is full. Returns the last record that was reported as written."""
    run = subprocess.run(
        [sys.executable, "-c", FILL, str(directory), *limit], stdout=subprocess.PIPE, text=True, check=True
    )
    done, message = run.stdout.split(" ", 1)
    assert 0 < int(done) < 99
    assert "The records before this one are kept; free some space" in message
    return int(done)


def test_a_file_at_its_size_limit_keeps_its_records(tmp_path: Path) -> None:
    """A quota or RLIMIT_FSIZE: the record that did not fit leaves no trace."""
    done = fill(tmp_path, "50000")
    assert list(read(tmp_path)) == list(range(done + 1))


@pytest.mark.root
def test_a_full_disk_keeps_the_records(tmp_path: Path) -> None:
    """On a real file system of 64 kB: an error, a valid journal, and further records when there is space again."""
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


def test_killed_at_random_moments_and_resumed_it_is_complete(tmp_path: Path) -> None:
    """After any number of `kill -9` no record that was reported as written is lost, and none is duplicated."""
    rng = random.Random(5)
    reported: list[int] = []
    kills = 0
    while True:
        strike = rng.randrange(100, 700) if kills < 6 else 10**6
        command = [sys.executable, "-c", WRITER, str(tmp_path), str(strike + 100)]  # it is killed before it is done
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
        assert len(journal.index.submissions) == 5000
        for number in range(5000):
            place = journal.index.find(keys_of(NILE, str(number), f"fingerprint {number}"))
            assert place is not None
            assert journal.read(place.offset).body["n"] == number
    bodies = (tmp_path / "journal").read_bytes()
    assert bodies.count(b'{"n":') == 5000
