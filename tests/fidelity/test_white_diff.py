"""White-diff agrees with a model of ten lines, on pairs of texts that differ mostly in white space.

Source of the rule: CMS, `cms/grading/steps/whitediff.py`. Lines end with `\\n`. In a line, a run of blanks counts as
one blank, and blanks at its ends do not count. Blank lines at the end of either text do not count.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

from ioi_eval.model import Batch, Verdict, WhiteDiff

CAT = """
#include <unistd.h>
int main() {
  static char block[65536];
  for (ssize_t n; (n = read(0, block, sizeof block)) > 0;)
    if (write(1, block, n) != n) return 1;
}
"""
BLANKS = b" \t\x0b\x0c\r"
BUFFER = 8192
"""Buffer size of the comparison under test, in bytes: texts of about this size need a second read."""

Pair = tuple[bytes, bytes]


def lines(text: bytes) -> list[list[bytes]]:
    """The part of a text that is compared: the words of its lines, without the blank lines at its end."""
    found = [line.split() for line in text.split(b"\n")]
    while found and not found[-1]:
        found.pop()
    return found


def equal(output: bytes, answer: bytes) -> bool:
    """The model."""
    return lines(output) == lines(answer)


def message(output: bytes, answer: bytes) -> str:
    """The start of the message: it names the first line that differs, or the last line of a shorter output."""
    if equal(output, answer):
        return "Output is correct"
    ended: list[bytes] = []
    both = enumerate(zip_longest(lines(output), lines(answer), fillvalue=ended), 1)
    first = next(number for number, (ours, theirs) in both if ours != theirs)
    last = output.count(b"\n") + 1
    return f"Output isn't correct: line {min(first, last)}: expected "


def text(random_: random.Random) -> bytes:
    """A short text, mostly white space."""
    words = [b"1", b"12", b"a", b"A", b"-1", b"\0", b"\xc2\xa0", b"\x85", b"\xff", b"0.5"]
    pieces = [random_.choice([b" ", b"\n", *words]) for _ in range(random_.randrange(8))]
    if random_.random() < 0.05:
        pieces.insert(0, random_.choice([b"x", b" ", b"\n", b"x "]) * random_.randrange(BUFFER - 4, BUFFER + 4))
    return b"".join(pieces)


def changed(random_: random.Random, original: bytes) -> bytes:
    """Nearly the same text: white space grows, shrinks, moves or turns into other white space."""
    result = bytearray(original)
    for _ in range(random_.randrange(4)):
        place = random_.randrange(len(result) + 1)
        match random_.randrange(5):
            case 0:
                result[place:place] = bytes([random_.choice(BLANKS)]) * random_.randrange(1, 3)
            case 1:
                result[place:place] = b"\n"
            case 2 if place < len(result) and result[place] in b" \t\n\x0b\x0c\r":
                del result[place]
            case 3 if place < len(result) and result[place] in BLANKS:
                result[place] = random_.choice(BLANKS)
            case _:
                result += random_.choice([b"", b"\n", b" \n", b"\n\n", b"\r\n", b" ", b"\t\n \n"])
    return bytes(result)


def pairs(count: int, seed: int) -> Iterator[Pair]:
    """Pairs of output and answer; two in three are equal."""
    random_ = random.Random(seed)
    for _ in range(count):
        answer = text(random_)
        yield (changed(random_, answer) if random_.random() < 0.95 else text(random_)), answer


def disagreements(full_bench: Any, problem_from: Any, cases: list[Pair]) -> list[str]:
    """The pairs for which sandbox and model differ."""
    problem = problem_from({str(place): pair for place, pair in enumerate(cases)}, method=Batch(check=WhiteDiff()))
    outcomes = full_bench.outcomes(problem, CAT)
    return [
        f"{output!r} for {answer!r}: {outcomes[str(place)].verdict}, {outcomes[str(place)].message}"
        for place, (output, answer) in enumerate(cases)
        if outcomes[str(place)].verdict is not (Verdict.AC if equal(output, answer) else Verdict.WA)
        or not outcomes[str(place)].message.startswith(message(output, answer))
    ]


def test_white_diff_agrees_with_its_model(full_bench: Any, problem_from: Any) -> None:
    """They agree on a thousand pairs."""
    cases = list(pairs(1000, seed=1))
    assert 0.2 < sum(equal(*pair) for pair in cases) / len(cases) < 0.8
    assert disagreements(full_bench, problem_from, cases) == []


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_white_diff_agrees_with_its_model_at_length(full_bench: Any, problem_from: Any) -> None:
    """They agree on 10^5 pairs."""
    for seed in range(2, 42):
        assert disagreements(full_bench, problem_from, list(pairs(2500, seed))) == []


def test_white_diff_rule_by_example(full_bench: Any, problem_from: Any) -> None:
    """Examples of CMS's rule, which check the model too."""
    right = [
        (b"1 2\n3\n", b"1 2\n3\n"),
        (b"1 2\n3", b"1 2\n3\n"),
        (b"1   2 \n3\n\n \n", b"1 2\n3\n"),
        (b"\t1 2\r\n3\r\n", b"1 2\n3\n"),
        (b"1 2\n3\n", b"1 2\n3\n\n\n"),
        (b"", b""),
        (b"", b"\n \n"),
        (b" ", b""),
        (b"\n1\n", b" \n1\n"),
    ]
    other = [
        (b"1\n2\n3\n", b"1 2\n3\n"),
        (b"1 2 3\n", b"1 2\n3\n"),
        (b"12\n3\n", b"1 2\n3\n"),
        (b"\n1 2\n3\n", b"1 2\n3\n"),
        (b"1 2\n\n3\n", b"1 2\n3\n"),
        (b"1 2\n", b"1 2\n3\n"),
        (b"1 2\n3\n4\n", b"1 2\n3\n"),
        (b"", b"1\n"),
        (b"1\n", b""),
        (b"YES\n", b"yes\n"),
        (b"1.0\n", b"1\n"),
        (b"1\xc2\xa02\n", b"1 2\n"),
        (b"1\0\n", b"1\n"),
    ]
    assert all(equal(*pair) for pair in right)
    assert not any(equal(*pair) for pair in other)
    assert disagreements(full_bench, problem_from, right + other) == []


def test_a_wrong_output_is_shown_where_it_differs(full_bench: Any, problem_from: Any) -> None:
    """The message has the expected and the found text at the first difference, in printable ASCII and shortened."""
    x = "x"
    cases = {
        (b"1 2\n3 4\n", b"1 2\n3 5\n"): 'line 2: expected "3 5", found "3 4"',
        (b"1\n", b"1\n2\n"): 'line 2: expected "2", found the end',
        (b"1", b"1\n2\n"): 'line 2: expected "2", found the end',
        (b"1\n2\n", b"1\n"): 'line 2: expected the end, found "2"',
        (b"1  2\n", b"1 2 3\n"): 'line 1: expected "1 2 3", found "1  2"',
        (b"\xc3\xa9\0\n", b"e\n"): 'line 1: expected "e", found "\\xc3\\xa9\\x00"',
        (b"x" * 100_000, b"x" * 99_999 + b"y"): f'line 1: expected "...{15 * x}y", found "...{16 * x}"',
    }
    problem = problem_from({str(place): pair for place, pair in enumerate(cases)}, method=Batch(check=WhiteDiff()))
    outcomes = full_bench.outcomes(problem, CAT)
    found = [outcomes[str(place)].message.removeprefix("Output isn't correct: ") for place in range(len(cases))]
    assert found == list(cases.values())
