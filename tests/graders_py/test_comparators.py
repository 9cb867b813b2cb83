"""The comparators in C++ agree with simple models of their definitions in `docs/apps.md`."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from ioi_eval.model.methods import ComparatorKind

Case = tuple[str, bytes, bytes]  # comparator, output, answer
Compare = Callable[[Sequence[Case]], list[str]]

BLANKS = b" \t\v\f\r"
SPACES = BLANKS + b"\n"


# --------------------------------------------------------------------------- models


def model_lines(text: bytes) -> list[bytes]:
    """The lines without trailing blanks, and without blank lines at the end."""
    lines = [line.rstrip(BLANKS) for line in text.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def model_tokens(text: bytes) -> list[bytes]:
    """The texts between blanks and newlines."""
    return re.findall(rb"[^ \t\v\f\r\n]+", text)


def model_number(token: bytes) -> tuple[Fraction, bool] | None:
    """The value of a token, and whether it is written as an integer; `None` if it is not a number."""
    match = re.fullmatch(rb"([+-]?)(\d*)(?:(\.)(\d*))?(?:[eE]([+-]?\d+))?", token)
    if match is None or not (match[2] or match[4]) or abs(int(match[5] or 0)) > 400:
        return None
    value = Fraction(int(match[2] + (match[4] or b"")), 10 ** len(match[4] or b""))
    value *= Fraction(10) ** int(match[5] or 0)
    return (-value if match[1] == b"-" else value), match[3] is None and match[5] is None


def model_near(got: bytes, expected: bytes, absolute: Fraction, relative: Fraction) -> bool:
    """Whether two tokens are equal, or numbers within the tolerance."""
    if got == expected:
        return True
    ours, theirs = model_number(got), model_number(expected)
    if ours is None or theirs is None:
        return False
    if ours[1] and theirs[1]:
        return ours[0] == theirs[0]
    return abs(ours[0] - theirs[0]) <= max(absolute, relative * abs(theirs[0]))


def model(spec: str, output: bytes, answer: bytes) -> bool:
    """Whether the output is right by the definition of the comparator."""
    name, *parameters = spec.split(":")
    match name:
        case "exact":
            return output.strip(SPACES) == answer.strip(SPACES)
        case "lines":
            return model_lines(output) == model_lines(answer)
        case "case-insensitive":
            return model_lines(output.lower()) == model_lines(answer.lower())
        case "unordered-lines":
            return Counter(filter(None, model_lines(output))) == Counter(filter(None, model_lines(answer)))
        case "tokens":
            return model_tokens(output) == model_tokens(answer)
    absolute, relative = Fraction(parameters[0]), Fraction(parameters[1] if parameters[1:] else 0)
    ours, theirs = model_tokens(output), model_tokens(answer)
    return len(ours) == len(theirs) and all(
        map(model_near, ours, theirs, [absolute] * len(ours), [relative] * len(ours))
    )


# --------------------------------------------------------------------------- tables


def accepting_comparators(compare: Compare, output: bytes, answer: bytes) -> set[str]:
    """The comparators that accept the output."""
    specs = ["exact", "lines", "tokens", "case-insensitive", "unordered-lines", "float:1e-6", "float:1e-6:1e-6"]
    lines = compare([(spec, output, answer) for spec in specs])
    found = {spec for spec, line in zip(specs, lines, strict=True) if line == "right"}
    assert found == {spec for spec in specs if model(spec, output, answer)}
    return found


EVERY = {"exact", "lines", "tokens", "case-insensitive", "unordered-lines", "float:1e-6", "float:1e-6:1e-6"}
FLOATS = {"float:1e-6", "float:1e-6:1e-6"}
BY_TOKENS = {"tokens", *FLOATS}
BY_LINES = {"lines", "case-insensitive", "unordered-lines"}


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        (b"", b"", EVERY),
        (b" \n\t\r\n", b"", EVERY),
        (b"1 2\n", b"1 2", EVERY),
        (b"1 2\r\n3\r\n", b"1 2\n3\n", EVERY - {"exact"}),
        (b"3 \n-1\n", b"3\n-1\n", EVERY - {"exact"}),
        (b"\n1\n", b"1\n", EVERY - {"lines", "case-insensitive"}),
        (b" 1\n", b"1\n", {"exact", *BY_TOKENS}),
        (b"1\n\n2\n", b"1\n2\n", {"unordered-lines", *BY_TOKENS}),
        (b"1\n2\n\n\n", b"1\n2\n", EVERY),
        (b"1  2\n", b"1 2\n", BY_TOKENS),
        (b"1 2\n", b"1\n2\n", BY_TOKENS),
        (b"12\n", b"1 2\n", set()),
        (b"yes\n", b"YES\n", {"case-insensitive"}),
        ("É\n".encode(), "é\n".encode(), set()),
        (b"b\na\n", b"a\nb\n", {"unordered-lines"}),
        (b"a\na\nb\n", b"a\nb\nb\n", set()),
        (b"a\nb\n", b"a\n", set()),
        (b"1\r2\n", b"1 2\n", BY_TOKENS),
        (b"\xff\xfe\n", b"\xff\xfe", EVERY),
        (b"\xff\n", b"\xfe\n", set()),
        ("1\u00a0\n".encode(), b"1\n", set()),
        ("1\u30002\n".encode(), b"1 2\n", set()),
        (b"a\x00b", b"a\x00b\n", EVERY),
        (b"a\x00b", b"a\x00c", set()),
    ],
)
def test_texts(compare: Compare, output: bytes, answer: bytes, expected: set[str]) -> None:
    """Blanks, lines and tokens are those of the definitions."""
    assert accepting_comparators(compare, output, answer) == expected


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        (b"1000000000000000000000000", b"1000000000000000000000001", set()),
        (b"1" + b"0" * 400 + b"1", b"1" + b"0" * 400 + b"7", set()),
        (b"9" * 5000, b"9" * 5000, EVERY),
        (b"998244352", b"998240000", set()),
        (b"007", b"7", FLOATS),
        (b"+5", b"5", FLOATS),
        (b"-0", b"0", FLOATS),
        (b"-5", b"5", set()),
        (b"1_000", b"1000", set()),
        (b"1e3", b"1000", FLOATS),
        (b"1000.0", b"1000", FLOATS),
        (b"0x10", b"16", set()),
        (b"1.", b"1", FLOATS),
        (b".5", b"0.5", FLOATS),
        (b".", b"0", set()),
        (b"1e", b"1", set()),
        (b"1e5000", b"1e5001", set()),
        (b"0e999", b"0", set()),
        (b"1e-400", b"0.0", FLOATS),
        (b"1e-401", b"0.0", set()),
        (b"0.333333", b"0.333334", FLOATS),
        (b"0.333333", b"0.3333341", set()),
        (b"0.3333330", b"0.333334", FLOATS),
        (b"-0.0000004", b"0.0000004", FLOATS),
        (b"1000001.5", b"1000000.5", {"float:1e-6:1e-6"}),
        (b"1000002.5", b"1000000.5", set()),
        (b"1e-7", b"0", FLOATS),
        (b"nan", b"nan", EVERY),
        (b"nan", b"NaN", {"case-insensitive"}),
        (b"nan", b"1.0", set()),
        (b"inf", b"inf", EVERY),
        (b"inf", b"1e400", set()),
        (b"Infinity", b"inf", set()),
        (b"YES 0.5", b"YES 0.5000001", FLOATS),
        (b"YES 0.5", b"NO 0.5", set()),
    ],
)
def test_numbers(compare: Compare, output: bytes, answer: bytes, expected: set[str]) -> None:
    """Integers of any size are exact, tolerances are exact decimals, and other tokens are text."""
    assert accepting_comparators(compare, output, answer) == expected


@pytest.mark.parametrize(
    ("spec", "output", "answer", "words"),
    [
        ("lines", b"1\n2 \n3\n", b"1\n2\n4\n", 'line 3: expected "4", found "3"'),
        ("lines", b"1\n", b"1\n2\n", 'line 2: expected "2", found the end'),
        ("exact", b"1\n2\n", b"1", 'line 2: expected the end, found "2"'),
        ("lines", b"1", b"1\n2\n", 'line 2: expected "2", found the end'),
        ("lines", b"1 \n", b"1\n\n 2\n", 'line 3: expected " 2", found the end'),
        ("lines", b"1\n\n2\n", b"1", 'line 3: expected the end, found "2"'),
        ("lines", b"1", b"1 2\n3\n", 'line 1: expected "1 2", found the end'),
        ("lines", b"1 \n3", b"1\n2\n3", 'line 2: expected "2", found "3"'),
        ("lines", b"1\n3", b"1\n\n3", 'line 2: expected "", found "3"'),
        ("case-insensitive", b"a", b"A\nb\n", 'line 2: expected "b", found the end'),
        ("exact", b"1", b"1\n2\n", 'line 2: expected "2", found the end'),
        ("tokens", b"1 2", b"1\n2\n3\n", 'line 3: expected "3", found the end'),
        ("tokens", b"1\n2", b"1 2 3", 'line 2: expected "1 2 3", found the end'),
        ("tokens", b"a\nbb c", b"a bb d", 'line 2: expected "a bb d", found "bb c"'),
        ("float:0.1", b"1 2.5", b"1 2.7", 'line 1: expected "1 2.7", found "1 2.5"'),
        ("lines", b'"\\\x00\t\xffx\n', b"y\n", 'line 1: expected "y", found "\\"\\\\\\x00\\t\\xffx"'),
        ("unordered-lines", b"a\n\n", b"a\nb\n", "expected 2 lines, found 1"),
        ("unordered-lines", b"a\nccc\n", b"a\nb\n", "the lines have 6 bytes, not 4"),
        ("unordered-lines", b"a\nc\n", b"b\na\n", 'a line is missing: "b"'),
        ("unordered-lines", b"a\na\n", b"b\na\n", 'a line that is not expected, or not so often: "a"'),
    ],
)
def test_messages(compare: Compare, spec: str, output: bytes, answer: bytes, words: str) -> None:
    """The message shows output and answer near the first difference, in printable ASCII."""
    assert compare([(spec, output, answer)]) == [f"wrong {words}"]


def test_message_for_a_long_line(compare: Compare) -> None:
    """For a long line, the message shows the text near the difference, and is short."""
    line = b"".join(b"%d " % number for number in range(10_000))
    lines = compare([("lines", line + b"x" + line, line + b"y" + line)])[0]
    assert lines.startswith('wrong line 1: expected "...')
    assert "9999 y0 1" in lines
    assert "9999 x0 1" in lines
    assert len(lines) < 400


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "line",
        "lines:1",
        "float",
        "float:",
        "float:x",
        "float:-1",
        "float:1e-6:",
        "float:1:2:3",
        "float:1e999",
        "checker",
    ],
)
def test_unknown_comparators(compare: Compare, spec: str) -> None:
    """An unknown comparator is refused."""
    assert compare([(spec, b"1", b"1")]) == ["no such comparator"]


# --------------------------------------------------------------------------- fuzzing

WORDS = (
    *(b"0", b"1", b"-1", b"+1", b"01", b"1.0", b"1.", b".5", b"0.5", b"1e0", b"10e-1", b"1e400", b"1e401", b"-0.0"),
    *(b"0.999999", b"1.000001", b"1.0000011", b"nan", b"inf", b"YES", b"yes", b"Yes", b"a", b"A", b"\xff", b"\x00"),
    *(b"123456789012345678901234567890", b"123456789012345678901234567891", b"1_0", b"0x1", b"e", b"."),
)
GAPS = (b" ", b"\n", b"  ", b"\t", b"\r\n", b" \n", b"\n\n", b"\r", b"\v", b"\f", b"")
SPECS = ("exact", "lines", "tokens", "case-insensitive", "unordered-lines", "float:1e-6", "float:0", "float:0:1e-6")


def test_every_comparator_is_tried() -> None:
    """All but `checker`, which needs a program."""
    assert {spec.partition(":")[0] for spec in SPECS} == set(ComparatorKind) - {ComparatorKind.CHECKER}


def random_text(rng: random.Random) -> bytes:
    """Some random words and white space."""
    text = b"".join(rng.choice(WORDS) + rng.choice(GAPS) for _ in range(rng.randrange(6)))
    return rng.choice(GAPS) + text if rng.random() < 0.2 else text


def mutated(rng: random.Random, text: bytes) -> bytes:
    """The same text with a few changes of words, white space or lines."""
    parts = re.findall(rb"[^ \t\v\f\r\n]+|[ \t\v\f\r\n]", text)
    for _ in range(rng.randrange(3)):
        if not parts:
            break
        place = rng.randrange(len(parts))
        match rng.randrange(4):
            case 0:
                parts[place] = rng.choice(WORDS if parts[place].strip(SPACES) else GAPS)
            case 1:
                del parts[place]
            case 2:
                parts.insert(place, rng.choice(GAPS))
            case _:
                lines = b"".join(parts).split(b"\n")
                rng.shuffle(lines)
                parts = [b"\n".join(lines)]
    return b"".join(parts)


def random_case(rng: random.Random) -> Case:
    """A random comparator and two texts that are often equal for one of the comparators."""
    answer = random_text(rng)
    return rng.choice(SPECS), mutated(rng, answer) if rng.random() < 0.8 else random_text(rng), answer


def random_numbers(rng: random.Random) -> Case:
    """A comparator and two numbers whose difference is close to its tolerance."""
    places = rng.randrange(12)
    scaled = rng.randrange(10 ** rng.randrange(1, 25))
    step = rng.choice((0, 1, -1, 2, 10, -10))
    absolute, relative = rng.choice(("0", "1e-3", "0.001", "1e-6")), rng.choice(("", ":0", ":1e-6", ":.001"))

    def spelled(value: int) -> bytes:
        digits = f"{abs(value):0{places + 1}d}"
        text = f"{'-' * (value < 0)}{digits[: len(digits) - places]}.{digits[len(digits) - places :]}"
        if rng.random() < 0.3:
            text += rng.choice(("000", "e0", "E+00", "e-0"))
        return text.encode() if places or rng.random() < 0.5 else text.rstrip(".").encode()

    return f"float:{absolute}{relative}", spelled(scaled + step), spelled(scaled)


def check(compare: Compare, make: Callable[[random.Random], Case], count: int) -> None:
    """Check that comparator and model agree on `count` random cases."""
    rng = random.Random(20240917)
    cases = [make(rng) for _ in range(count)]
    outcomes: Counter[bool] = Counter()
    for (spec, output, answer), line in zip(cases, compare(cases), strict=True):
        right = model(spec, output, answer)
        outcomes[right] += 1
        assert (line == "right") is right, (spec, output, answer, line)
    assert min(outcomes[True], outcomes[False]) > count // 20, "right and wrong cases must both be common"


@pytest.mark.parametrize("make", [random_case, random_numbers])
def test_fuzz(compare: Compare, make: Callable[[random.Random], Case]) -> None:
    """Comparators and model agree on two thousand random cases of each kind."""
    check(compare, make, 2_000)


@pytest.mark.full
@pytest.mark.parametrize("make", [random_case, random_numbers])
def test_fuzz_long(compare: Compare, make: Callable[[random.Random], Case]) -> None:
    """Comparators and model agree on a hundred thousand random cases of each kind."""
    check(compare, make, 100_000)


def test_white_space_at_the_end_of_a_buffer(compare: Compare) -> None:
    """White space at the end of a buffer does not change the result."""
    cases: list[Case] = []
    for size in range(65_528, 65_540):
        body = b"x" * size
        for spec in SPECS:
            cases += [
                (spec, body + b" \r\n\n y", body + b"\n\n y"),
                (spec, body + b"   ", body),
                (spec, body + b" z", body),
            ]
    for case, line in zip(cases, compare(cases), strict=True):
        assert (line == "right") is model(*case), case


def test_large_files(compare: Compare) -> None:
    """An output of 5 MB without line ends, or with only line ends, is judged as usual."""
    long_token = b"7" * 5_000_000
    cases: list[Case] = [
        ("lines", long_token, long_token + b"\n"),
        ("float:1e-6", long_token, long_token),
        ("float:1e-6", long_token, long_token[:-1] + b"8"),
        ("float:1e-6", b"0" + long_token[: 1 << 19], long_token[: 1 << 19]),
        ("lines", b"\n" * 5_000_000, b""),
        ("unordered-lines", b"a\n" * 1_000_000, b"a\n"),
        ("exact", b" " * 5_000_000 + b"1", b"1"),
    ]
    right = ["right", "right", "wrong", "right", "right", "wrong", "right"]
    assert [line.split()[0] for line in compare(cases)] == right
