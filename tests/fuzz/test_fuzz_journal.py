"""A journal that was damaged by a crash, a disk or an editor: all records that are read were once written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.journal import Journal, RecordKind, frames, keys_of, read_index
from ioi_eval.model import ProblemKey
from tests.fuzz.budget import fuzzed, mutated
from tests.in_memory import directory_in_memory

PROBLEM = ProblemKey(year=2024, id="nile")
BODIES = [b'{"submission":"%d","words":"%s"}' % (n, b"x" * (n * 37 % 300)) for n in range(6)]
KEYS = [keys_of(PROBLEM, str(n), f"fingerprint {n % 4}") for n in range(6)]


def _whole() -> bytes:
    content, safe = frames.MAGIC, 0
    for keys, body in zip(KEYS, BODIES, strict=True):
        content += frames.encode(RecordKind.RESULT, keys, body, safe=safe)
        safe = len(content) // 2
    return content


WHOLE = _whole()


@fuzzed
@given(st.one_of(mutated(WHOLE), st.binary(max_size=300), st.binary(max_size=100).map(lambda tail: WHOLE + tail)))
def test_opening_a_damaged_journal(content: bytes) -> None:
    """It is refused with a message, or opened with records that were once written, and can be continued."""
    with directory_in_memory() as directory:
        (directory / "journal").write_bytes(content)
        try:
            read_index(directory)
            journal = Journal(directory, options={})
        except InputError:
            return
        with journal:
            for keys, body in zip(KEYS, BODIES, strict=True):
                stored = journal.index.find(keys)
                if stored is not None:
                    assert b'"submission":"%s"' % journal.read(stored.offset).body["submission"].encode() in body
            journal.append(RecordKind.RESULT, KEYS[0], b'{"submission":"new"}')
        with Journal(directory, options={}) as again:
            stored = again.index.find(KEYS[0])
            assert stored is not None
            assert again.read(stored.offset).body == {"submission": "new"}


@fuzzed
@given(st.binary(max_size=400), st.integers(0, 10))
def test_frames_in_arbitrary_bytes(content: bytes, at: int) -> None:
    """A frame in random bytes does not end after them."""
    frame = frames.frame_at(content, min(at, len(content)))
    assert frame is None or frame.end <= len(content)
    frames.record_length(content)
