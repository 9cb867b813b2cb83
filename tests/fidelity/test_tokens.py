"""The comparison of tokens agrees with a model in exact arithmetic, on pairs of texts with small differences.

Source of the rule: the default output validator of the Kattis problem format; for numbers that are not finite, that of
DOMjudge. Both read a token as a C string, which ends at a NUL, and a number by scanf.
"""

from __future__ import annotations

import itertools
import random
import re
import struct
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError
from ioi_eval.model import Batch, Tokens, Verdict
from ioi_eval.problems.token_rules import check_token_flags
from tests.graders.runner_box import RUNNER_FILES
from tests.shared_work import compiled

BLANKS = b" \t\n\v\f\r"
Case = tuple[tuple[str, ...], bytes, bytes]
"""Flags, output, answer."""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The runner's comparison as a program, which prints 0, 1 or ? for each case."""
    source = Path(__file__).with_name("compare_tokens.cpp")
    arguments = ("-std=c++17", "-O2", str(source))
    program = compiled(tmp_path_factory.mktemp("tokens") / "compare", arguments, [source, *RUNNER_FILES])

    def field(text: bytes) -> bytes:
        return struct.pack("<I", len(text)) + text

    def compare(cases: Sequence[Case]) -> str:
        content = b"".join(
            struct.pack("<I", len(flags))
            + b"".join(field(flag.encode()) for flag in flags)
            + field(output)
            + field(answer)
            for flags, output, answer in cases
        )
        return subprocess.run([program], input=content, capture_output=True, check=True).stdout.decode()

    return compare


def number(token: bytes) -> Fraction | str | None:
    """The value of a number, or `nan`, `inf` or `-inf`; `None` if the token is not a number."""
    text = re.sub(r"(?<=[0-9.])e[+-]?$", "", token.decode("latin-1").lower())  # scanf accepts an empty exponent
    sign, bare = ("-", text[1:]) if text.startswith("-") else ("", text.removeprefix("+"))
    if bare in ("inf", "infinity"):
        return f"{sign}inf"
    if bare == "nan":
        return "nan"
    if not bare or bare[0] not in "0123456789." or not bare.isascii() or "_" in bare or "/" in bare or bare[0] in "+-":
        return None
    try:
        return Fraction(f"{sign}{bare}")
    except ValueError:
        return None


def model(flags: tuple[str, ...], output: bytes, answer: bytes) -> bool | None:
    """Whether the output is right; `None` if a rounding error can decide."""
    tolerances = {"absolute": Fraction(-1), "relative": Fraction(-1)}
    for flag, value in itertools.pairwise(flags):
        for kind in tolerances:
            if flag in ("float_tolerance", f"float_{kind}_tolerance"):
                tolerances[kind] = Fraction(value)
    numeric = max(tolerances.values()) >= 0
    if "space_change_sensitive" in flags and blanks(output) != blanks(answer):
        return False
    ours, theirs = ([token.partition(b"\0")[0] for token in text.split()] for text in (output, answer))
    if len(ours) != len(theirs):
        return False
    certain = True
    for our, their in zip(ours, theirs, strict=True):
        wanted = number(their) if numeric else None
        if wanted is None:
            if (our != their) if "case_sensitive" in flags else (our.lower() != their.lower()):
                return False
            continue
        seen = number(our)
        if not isinstance(seen, Fraction) or not isinstance(wanted, Fraction):
            if seen != wanted:
                return False
            continue
        difference = abs(seen - wanted)
        bounds = [tolerances["absolute"], tolerances["relative"] * abs(wanted)]
        room = max(abs(seen), abs(wanted)) / 10**17
        certain &= all(abs(difference - bound) > room or difference == 0 for bound in bounds)
        if not any(difference <= bound for bound in bounds):
            return None if not certain else False
    return True if certain else None


def blanks(text: bytes) -> list[bytes]:
    """The white space before, between and after tokens, in order."""
    runs, inside = [bytearray()], False
    for byte in text:
        if byte in BLANKS:
            runs[-1].append(byte)
        elif not inside:
            runs.append(bytearray())
        inside = byte not in BLANKS
    return [bytes(run) for run in runs]


def case(random_: random.Random) -> Case:
    """Random flags, and two texts that often have small differences only."""
    words = [
        "yes",
        "No",
        "x1",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "+Inf",
        "infinity",
        "1e",
        "0x",
        "1.",
        ".5",
        "-",
        "1_0",
        "1,5",
        "1\0",
        "1\0x",
    ]
    tolerance = random_.choice(["0", "1e-6", "0.01", "1e-9", "0.5"])
    flags: list[str] = random_.choice(
        [
            [],
            ["float_tolerance", tolerance],
            ["float_absolute_tolerance", tolerance],
            ["float_relative_tolerance", tolerance],
            ["float_absolute_tolerance", tolerance, "float_relative_tolerance", random_.choice(["1e-3", "1e-9"])],
        ]
    )
    flags += random_.choice([[], [], ["case_sensitive"], ["space_change_sensitive"]])
    theirs, ours = bytearray(), bytearray()
    for _ in range(random_.randrange(4)):
        space = bytes(random_.choice(BLANKS) for _ in range(random_.randrange(1, 3)))
        theirs += space
        ours += space if random_.random() < 0.8 else random_.choice([b" ", b"\n", b"\t\r\n"])
        if random_.random() < 0.3:
            word = random_.choice(words)
            theirs += word.encode()
            ours += random_.choice([word, word, word.upper(), random_.choice(words)]).encode()
            continue
        value = Fraction(random_.randrange(-1000, 1000), random_.choice([1, 1, 8, 1000]))
        theirs += written(random_, value)
        off = Fraction(random_.choice([0, 0, 1, -1, 3])) * Fraction(
            random_.choice(["1e-7", "1e-5", "0.003", "0.4", "2"])
        )
        ours += written(random_, value + off)
    if random_.random() < 0.2:
        ours += random_.choice([b"\n", b" ", b" 1", b"x"])
    return tuple(flags), bytes(ours), bytes(theirs)


def written(random_: random.Random, value: Fraction) -> bytes:
    """A number in one of several formats that programs print."""
    text = f"{float(value):.9f}"
    forms = [text, text.rstrip("0").rstrip("."), f"{float(value):.12e}", f"{float(value):+.9f}", f"{float(value):.10E}"]
    return random_.choice(forms).encode()


def differences(comparison: Any, seed: int, count: int) -> tuple[list[str], list[bool | None]]:
    """The cases in which runner and model differ, and the model's results."""
    random_ = random.Random(seed)
    cases = [case(random_) for _ in range(count)]
    expected = [model(*one) for one in cases]
    seen = comparison(cases)
    assert len(seen) == count
    wrong = [
        f"{one}: {answer}, not {wanted}"
        for one, wanted, answer in zip(cases, expected, seen, strict=True)
        if wanted is not None and answer != str(int(wanted))
    ]
    return wrong, expected


def test_tokens_agree_with_an_exact_model(comparison: Any) -> None:
    """They agree on 20,000 pairs. 20 % to 80 % of the pairs are equal, and under 5 % depend on rounding."""
    wrong, expected = differences(comparison, seed=1, count=20_000)
    assert wrong == []
    assert 0.2 < expected.count(True) / len(expected) < 0.8
    assert expected.count(None) / len(expected) < 0.05


@pytest.mark.full
def test_tokens_agree_with_an_exact_model_at_length(comparison: Any) -> None:
    """They agree on 10^5 other pairs."""
    assert differences(comparison, seed=2, count=100_000)[0] == []


RIGHT: list[tuple[str, bytes, bytes]] = [
    ("", b"YES\n", b"yes"),
    ("", b"1   2\n\n3", b"1 2 3\n"),
    ("", b"", b" \n"),
    ("case_sensitive", b"Yes", b"Yes\n"),
    ("float_tolerance 1e-6", b"0.3333333", b"0.333333333"),
    ("float_tolerance 1e-6", b"1000000.9", b"1000000"),
    ("float_absolute_tolerance 1e-6", b"-0.0", b"0"),
    ("float_relative_tolerance 0.01", b"0", b"0.0"),
    ("float_tolerance 1e-9", b"nan inf -Infinity", b"NaN +inf -inf"),
    ("float_tolerance 1e-9", b"0x1p-1", b"0.5"),
    ("float_tolerance 1e-9", b"ok 1", b"OK 1.0"),
    ("float_tolerance 1e-9", b"1\0002", b"1"),
    ("float_tolerance 1e-9", b"1e", b"1.0"),
    ("", b"a\0b c", b"A c"),
    ("case_sensitive", b"a\0\n", b"a\n"),
    ("space_change_sensitive", b"a  b\n", b"a  b\n"),
]
OTHER: list[tuple[str, bytes, bytes]] = [
    ("", b"1.0", b"1"),
    ("", b"1 2 3 4", b"1 2 3"),
    ("", b"1 2", b"1 2 3"),
    ("", b"12", b"1 2"),
    ("", b"\xc2\xa01", b"1"),
    ("", b"1 \0", b"1"),
    ("", b"\x001", b"1"),
    ("case_sensitive", b"YES", b"yes"),
    ("float_tolerance 1e-6", b"0.3334", b"0.333333333"),
    ("float_tolerance 1e-6", b"inf", b"1e30"),
    ("float_tolerance 1e-6", b"-inf", b"inf"),
    ("float_tolerance 1e-6", b"nan", b"1"),
    ("float_tolerance 1e-6", b"1x", b"1"),
    ("float_tolerance 1e-6", b"nan(1)", b"nan"),
    ("float_relative_tolerance 0.01", b"0.001", b"0"),
    ("space_change_sensitive", b"a b\n", b"a  b\n"),
    ("space_change_sensitive", b"a b", b"a b\n"),
    ("space_change_sensitive", b"a b\n\n", b"a b\n"),
]


def test_rule_by_example(full_bench: Any, problem_from: Any) -> None:
    """Examples of the rule, judged with a real program."""
    for wanted, cases in ((Verdict.AC, RIGHT), (Verdict.WA, OTHER)):
        for flags in sorted({flags for flags, _, _ in cases}):
            pairs = [(output, answer) for flag, output, answer in cases if flag == flags]
            problem = problem_from(
                {str(place): pair for place, pair in enumerate(pairs)},
                method=Batch(check=Tokens(args=tuple(flags.split()))),
            )
            outcomes = full_bench.outcomes(problem, CAT)
            for place, pair in enumerate(pairs):
                assert outcomes[str(place)].verdict is wanted, (flags, pair)


CAT = """
#include <unistd.h>
int main() {
  static char block[65536];
  for (ssize_t n; (n = read(0, block, sizeof block)) > 0;)
    if (write(1, block, n) != n) return 1;
}
"""


@pytest.mark.parametrize("flags", ["float_tolerance", "float_tolerance x", "float_tolerance -1", "ignore_case", "1e-6"])
def test_unknown_flags_are_refused(flags: str) -> None:
    """An unknown flag, or one with an invalid value, is an error: to ignore it could change scores."""
    with pytest.raises(InputError, match=flags.split(maxsplit=1)[0]):
        check_token_flags(flags.split())


def test_flags_of_the_format_are_known() -> None:
    """All five flags are accepted, in any order."""
    check_token_flags(["space_change_sensitive", "float_relative_tolerance", "1E-6", "case_sensitive"])
    check_token_flags(["float_absolute_tolerance", ".5", "float_tolerance", "0"])
