"""Files that were sent in the file `packed`, or deflated: the runner judges as if they had been sent as they are."""

from __future__ import annotations

import itertools
import random
import secrets
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ioi_eval.model import JobFile
from ioi_eval.sandbox.piston import literals, wire
from tests.graders.runner_box import JUDGE, LIMITS, Answer, Box, line, plan

CHECKER = b"#!/bin/sh\necho 1\ncat $3 >&2\n"
OUTPUT = ("task kind=batch", line("checker", protocol="cms", file="checker", **JUDGE), "order run=all")


def packed(files: Mapping[str, bytes]) -> bytes:
    """These files as one."""
    return b"".join(b"%d %b\n%b" % (len(text), name.replace(" ", "%20").encode(), text) for name, text in files.items())


def deflated(content: bytes, level: int = 6, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    """A file's deflated form."""
    packer = zlib.compressobj(level, wbits=-zlib.MAX_WBITS, strategy=strategy)
    return b"%d\n%b%b" % (len(content), packer.compress(content), packer.flush())


def answer_to(box: Box, sent: Mapping[str, bytes], **files: bytes) -> Answer:
    """The answer to a job that judges the submitted output `o t`. `sent`: the files as the checksums describe them."""
    lines = (line("limits", **LIMITS), *OUTPUT, "test id=0 input=in output=o%20t")
    text = plan("run", *lines)
    job_files = [JobFile(name=name, content=content) for name, content in sent.items()]
    sums = wire.sums_file(job_files, [literals.literal(content) for content in sent.values()])
    assert isinstance(sums.content, bytes)
    return box.run(text, {**files, sums.name: sums.content})


def test_packed_and_deflated_files_are_judged(box: Box) -> None:
    """Inputs, outputs and a checker arrive unchanged, whichever way they are sent; an empty file too."""
    sent = {"in": b"", "o t": b"right %\n\0" * 300, "checker": CHECKER}
    as_one = packed(sent)
    alone = {f"{name}.deflated": deflated(content) for name, content in sent.items()}
    assert answer_to(box, sent, packed=as_one).only["verdict"] == "AC"
    assert answer_to(box, sent, **alone).only["verdict"] == "AC"
    assert answer_to(box, sent, packed=packed({"in": b""}), **alone).only["verdict"] == "AC"


def test_a_packed_program_cannot_change_its_input(box: Box, program: Callable[..., Path]) -> None:
    """The attempts of a contestant to change the mode, the seals or the bytes of a packed input are refused."""
    names = ("attributes", "descriptors", "paths")
    tests = [f"test id={number} input={number}.in answer=ans" for number in range(len(names))]
    lines = ("program file=program", line("limits", **{**LIMITS, "cpu_ms": 5000}), "task kind=batch")
    judged = line("checker", protocol="white-diff", **JUDGE)
    files = packed({"ans": b"held\n", **{f"{number}.in": name.encode() for number, name in enumerate(names)}})
    text = plan("run", *lines, judged, "order run=all", *tests)
    answer = box.run(text, {"packed": files, "program": program("attacker")})
    assert answer.verdicts == ["AC"] * len(names), answer.lines


@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE])
def test_all_that_zlib_makes_is_read(boxes: Callable[[str], Box], strategy: int) -> None:
    """Blocks of all types, long and short matches, near and far ones: the checksums show that each byte is right."""
    chance = random.Random(strategy)
    words = [chance.randbytes(chance.randrange(1, 300)) for _ in range(40)]
    outputs = [b"", b"a", b"ab" * 40_000, secrets.token_bytes(70_000), bytes(range(256)) * 300]
    outputs += [b"".join(chance.choices(words, k=900)) for _ in range(3)]
    for level, output in itertools.product((0, 1, 9), outputs):
        files = {"o t.deflated": deflated(output, level, strategy), "in": b"", "checker": CHECKER}
        answer = answer_to(boxes("fds-reduced-user"), {"o t": output}, **files)
        assert answer.only["verdict"] == "AC", (level, output[:9])


def fault_of(box: Box, sent: Mapping[str, bytes], **files: bytes) -> tuple[str, str]:
    """The kind and the explanation of the fault that ends a job."""
    answer = answer_to(box, sent, **{"in": b"", "checker": CHECKER, **files})
    assert (answer.code, answer.lines) == (3, [])
    return answer.last["fault"], answer.last["explanation"]


def test_a_changed_file_is_a_fault(plain_box: Box) -> None:
    """One other byte in a packed or deflated file: no verdict, and the file is named."""
    words = ("system", "the job's file o t was changed on the way")
    assert fault_of(plain_box, {"o t": b"1\n"}, packed=packed({"o t": b"2\n"})) == words
    assert fault_of(plain_box, {"o t": b"1\n"}, **{"o t.deflated": deflated(b"2\n")}) == words


def test_damaged_bytes_are_a_fault(plain_box: Box) -> None:
    """Bytes that are cut, changed or foreign end the job, and never the runner itself."""
    text = b"".join(b"%d " % (number * number) for number in range(3000))
    right = deflated(text)
    size = right.index(b"\n") + 1
    damaged = [
        right[:size],
        right[: size + 1],
        right[:-1],
        right[: len(right) // 2],
        b"%d\n" % len(text) + b"\xff" * 99,
    ]
    damaged += [deflated(text + b"1").replace(b"%d\n" % (len(text) + 1), b"%d\n" % len(text), 1), b"9" + right]
    chance = random.Random(1)
    for _ in range(40):
        changed = bytearray(right)
        changed[chance.randrange(size, len(right))] ^= 1 << chance.randrange(8)
        damaged.append(bytes(changed))
    for content in damaged:
        kind, words = fault_of(plain_box, {"o t": text}, **{"o t.deflated": content})
        assert kind == "system", words
        assert words.startswith(("packed bytes are damaged: ", "the job's file o t was changed"))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"packed": b"9 o%20t\n1\n"}, "packed is cut off"),
        ({"packed": b"2o%20t\n1\n"}, "packed is cut off"),
        ({"packed": b"2 o%20t"}, "packed is cut off"),
        ({"packed": b"2 o%Q0t\n1\n"}, "a word is not encoded as it must be: o%Q0t"),
        ({"packed": b"-2 o%20t\n1\n"}, "packed has a size that is no number: -2"),
        ({"o t.deflated": b""}, "o t.deflated has a size that is no number: "),
        ({"o t.deflated": b"99999999999\n"}, "o t is too large when unpacked"),
    ],
)
def test_a_wrong_frame_is_damage(plain_box: Box, files: dict[str, bytes], words: str) -> None:
    """Sizes that are wrong, or that would take much memory, are refused before anything is unpacked."""
    assert fault_of(plain_box, {}, **files) == ("system", words)


@pytest.fixture(scope="module")
def too_large() -> bytes:
    """The deflated form of a file that is one byte too large."""
    return deflated(bytes((64 << 20) + 1), 9)


def test_a_file_that_is_too_large_when_unpacked_is_damage(plain_box: Box, too_large: bytes) -> None:
    """Its size is that of its content, and is refused too."""
    words = ("system", "o t is too large when unpacked")
    assert fault_of(plain_box, {}, **{"o t.deflated": too_large}) == words


def test_a_changed_name_is_damage(plain_box: Box) -> None:
    """A file that is in the list of checksums, but is not found, was sent. Another one is a fault of the plan."""
    files = packed({"another": b"1\n"})
    assert fault_of(plain_box, {"o t": b"1\n"}, packed=files) == ("system", "the job's file o t was lost on the way")
    assert fault_of(plain_box, {}, packed=files) == ("plan", "the job has no file o t")


@pytest.mark.parametrize("how", ["packed", "deflated", "opened before"])
def test_a_plan_is_never_packed(plain_box: Box, how: str) -> None:
    """`ioi-eval serve` reads plans, to refuse those that need too much memory. So the runner follows no other ones."""
    limits = line("limits", cpu_ms=1000, wall_ms=1000, memory_bytes=1 << 28, processes=1, output_bytes=1, file_bytes=1)
    steps = plan("compile", limits, "artifact path=a into=program")
    lines = ("compile plan=steps max_ms=1000", "program file=program", line("limits", **LIMITS), "task kind=batch")
    name = "steps" if how == "opened before" else "in"
    test = f"test id=0 input={name} answer=in"
    text = plan("run", *lines, line("checker", protocol="white-diff", **JUDGE), "order run=all", test)
    sent = {"steps.deflated": deflated(steps)} if how == "deflated" else {"packed": packed({"steps": steps})}
    answer = plain_box.run(text, {"in": b"", **sent})
    assert answer.last["explanation"] == "the job has no file steps that is sent as it is"
