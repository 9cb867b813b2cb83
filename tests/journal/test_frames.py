"""The bytes of the journal, without a file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.journal import frames
from ioi_eval.journal.frames import RecordKind, keys_of
from ioi_eval.model import ProblemKey

NILE = ProblemKey(year=2024, id="nile")
bodies = st.binary(max_size=200).map(lambda raw: raw.replace(b"\n", b""))


@given(st.lists(bodies, min_size=1, max_size=5), st.integers(0, 10**12))
def test_frames_are_found_one_after_the_other(several: list[bytes], safe: int) -> None:
    """Kind, keys and body of each frame are found again."""
    keys = keys_of(NILE, "a", "f")
    buffer = memoryview(b"".join(frames.encode(RecordKind.RESULT, keys, body, safe=safe) for body in several))
    found = list(frames.whole_frames(buffer, 0))
    assert [bytes(buffer[f.body : f.end - 1]) for f in found] == several
    assert {(f.kind, f.keys, f.safe) for f in found} == {(RecordKind.RESULT, keys, safe)}
    assert found[-1].end == len(buffer)


@given(bodies, st.data())
def test_a_flipped_bit_is_noticed(body: bytes, data: st.DataObject) -> None:
    """With one damaged bit a frame is never valid."""
    frame = bytearray(frames.encode(RecordKind.RESULT, keys_of(NILE, "a", "f"), body, safe=0))
    bit = data.draw(st.integers(0, len(frame) * 8 - 1))
    frame[bit // 8] ^= 1 << (bit % 8)
    assert frames.frame_at(bytes(frame)) is None


def test_keys_distinguish_problem_submission_and_fingerprint() -> None:
    """The same id occurs in several problems, the same problem id in several years, the same program
    under several ids.
    """
    first = keys_of(NILE, "1", "f")
    assert keys_of(NILE, "2", "f").program == first.program
    assert keys_of(NILE, "1", "f", found_by=("fence:cpp",)).program == first.program
    others = [
        keys_of(NILE, "2", "f"),
        keys_of(NILE, "1", "g"),
        keys_of(NILE, "1", "f", found_by=("fence:cpp",)),
        keys_of(ProblemKey(year=2023, id="nile"), "1", "f"),
        keys_of(ProblemKey(year=2024, id="tree"), "1", "f"),
    ]
    assert first.submission not in {keys.submission for keys in others}


def test_the_head_has_the_length_of_its_record() -> None:
    """So a record longer than one read can be read completely."""
    frame = frames.encode(RecordKind.COPY, keys_of(NILE, "1", "f"), b"x" * 10**5, safe=10**17)
    assert frames.record_length(frame[: 1 << 16]) == len(frame)
    assert frames.record_length(b"no head at all") is None
