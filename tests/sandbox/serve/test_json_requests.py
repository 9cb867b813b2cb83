"""Bodies of requests: invalid JSON, and bodies that would need much memory or time to read."""

from __future__ import annotations

import contextlib
import gzip
import json
import subprocess
import sys
import zlib
from collections.abc import Callable

import pytest

from ioi_eval.sandbox.piston import probing
from ioi_eval.sandbox.serve.json_bodies import MAX_RATIO, UNPACKED_BYTES, parse, unpack
from ioi_eval.sandbox.serve.request import Refusal
from tests.selecting import where_digits_are_limited

JSON = "application/json"


@pytest.mark.parametrize(
    ("body", "content_type", "status", "words"),
    [
        (b"{}", "text/plain", 415, "requests must be of type application/json"),
        (b"{}", "", 415, "requests must be of type application/json"),
        (b'{"a": ', "application/json", 400, "SyntaxError: "),
        (b'"x"', "application/json", 400, 'SyntaxError: Unexpected token " in JSON at position 0'),
        (b" 5", "application/json", 400, "SyntaxError: Unexpected token 5 in JSON at position 0"),
        (b'{"a": NaN}', "application/json", 400, "SyntaxError: Unexpected token N"),
        (b"[" * 10_000, "application/json", 400, "SyntaxError: "),
        (b"{}", "application/json; charset=latin1", 400, 'UnsupportedMediaTypeError: unsupported charset "LATIN1"'),
        (b"{}", "application/json; charset=utf-99", 400, 'UnsupportedMediaTypeError: unsupported charset "UTF-99"'),
        (
            b"{}",
            'application/json; charset="utf-16le"',
            400,
            'UnsupportedMediaTypeError: unsupported charset "UTF-16LE"',
        ),
    ],
)
def test_bodies_that_are_not_json(body: bytes, content_type: str, status: int, words: str) -> None:
    """Content type, charset and syntax are checked in this order. Syntax errors are in the field `stack`."""
    with pytest.raises(Refusal) as caught:
        parse(body, content_type)
    assert caught.value.status == status
    (answer,) = (caught.value.answer or {}).values()
    assert answer.startswith(words)


def test_bodies_that_are_json_for_node() -> None:
    """As in Node, an empty body, invalid UTF-8 and half a surrogate pair are accepted."""
    assert parse(b"", "application/json") == {}
    assert parse(b'{"a": "\xff"}', "application/json") == {"a": "\ufffd"}
    assert parse(b'{"a": "\\ud800"}', "application/json") == {"a": "\ud800"}
    assert parse(b"{}", 'application/json; charset="UTF-8"') == {}


@pytest.mark.parametrize(
    ("encoding", "pack"), [("", bytes), ("identity", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_compressed_bodies(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """A compressed body is unpacked up to the limit; one byte more is refused."""
    body = b"x" * 10_000
    assert unpack(pack(body), encoding, len(body)) == body
    if encoding in ("gzip", "deflate"):
        with pytest.raises(Refusal, match="PayloadTooLargeError"):
            unpack(pack(body), encoding, len(body) - 1)


GZIP, ZLIB = gzip.compress(b"{}", mtime=0), zlib.compress(b"{}")


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"{}", "br"),
        (b"{}", "gzip"),
        (ZLIB, "gzip"),
        (GZIP, "deflate"),
        (GZIP[:-3], "gzip"),
        (b"", "gzip"),
        (b"", "deflate"),
        (GZIP + GZIP, "gzip"),
        (GZIP + b"anything", "gzip"),
        (ZLIB + b"anything", "deflate"),
    ],
)
def test_bodies_that_cannot_be_unpacked(body: bytes, encoding: str) -> None:
    """An unknown or wrong encoding is a 400, and so is a body that is cut, or goes on after its end."""
    with pytest.raises(Refusal) as caught:
        unpack(body, encoding, 1000)
    assert caught.value.status == 400
    assert set(caught.value.answer or {}) == {"stack"}
    assert ('unsupported content encoding "br"' in str(caught.value)) == (encoding == "br")


def refused(body: bytes) -> str:
    """The message with which a body is refused."""
    with pytest.raises(Refusal) as caught:
        parse(body, JSON)
    assert caught.value.status == 400
    (answer,) = (caught.value.answer or {}).values()
    return str(answer)


MEASURED = """
import resource, sys
from ioi_eval.sandbox.serve.request import Refusal
from ioi_eval.sandbox.serve.json_bodies import parse
first, unit, times, last = sys.argv[1:]
body = b"".join((first.encode(), unit.encode() * int(times), last.encode()))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    parse(body, "application/json")
except Refusal:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(
    ("first", "unit", "times", "last"),
    [
        ("[", "{},", 7_000_000, "{}]"),
        ("[", "0,", 10_000_000, "0]"),
        ("{", '"":0,', 4_000_000, '"":0}'),
        ("[", '"",', 7_000_000, '""]'),
        ('["', '\\"', 10_000_000, ""),
        ("", "]", 20_000_000, ""),
        ("", '"', 20_000_000, ""),
    ],
)
def test_bodies_that_would_need_much_memory(first: str, unit: str, times: int, last: str) -> None:
    """A body of 20 MB that would need up to 20 times its size in memory is refused before it is parsed."""
    words = [sys.executable, "-c", MEASURED, first, unit, str(times), last]
    grown_kib = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert grown_kib < 60_000


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[[],{"":', b"[[],[],"])
@pytest.mark.parametrize("depth", [1_000, 20_000, 10_000_000])
def test_deeply_nested_bodies(opening: bytes, depth: int) -> None:
    """A deeply nested body is refused, at any depth."""
    assert refused(opening * depth).startswith(("the request's JSON has more than", "SyntaxError"))


@pytest.mark.parametrize(
    "number",
    [
        pytest.param("9" * 5_000, marks=where_digits_are_limited),
        "9" * 10_000_000,
        "0." + "9" * 10_000_000,
        "1e" + "9" * 10_000,
    ],
)
def test_long_numbers(number: str) -> None:
    """A very long number becomes a float (or infinity) or is refused, in a short time."""
    with contextlib.suppress(Refusal):
        assert isinstance(parse(f'{{"a": {number}}}'.encode(), JSON)["a"], float)


def test_strings_are_not_limited_like_values() -> None:
    """Brackets, commas and quotes inside strings do not count for the limit on the number of values."""
    text = '{"[,:' * 100_000 + "\\" * 1001 + '"' * 100_001
    files = [{"name": f"{number}", "content": text} for number in range(3)]
    assert parse(json.dumps({"files": files}).encode(), JSON) == {"files": files}
    files = [{"name": f"{number}", "content": "x", "encoding": "utf8"} for number in range(512)]
    assert parse(json.dumps({"files": files, "args": ["x"] * 1000}).encode(), JSON)["files"] == files


def test_a_compressed_body_is_bounded_by_its_own_size() -> None:
    """A compressed body of 29 kB must not unpack to 512 MB."""
    bomb = gzip.compress(b" " * (UNPACKED_BYTES + 1))
    assert MAX_RATIO * len(bomb) < UNPACKED_BYTES
    with pytest.raises(Refusal, match=f"PayloadTooLargeError.*over {UNPACKED_BYTES} bytes"):
        unpack(bomb, "gzip", 512 << 20)


def test_bodies_with_which_our_client_probes_are_accepted() -> None:
    """Our client finds a server's body limit with compressed blanks: these bodies are accepted."""
    for size in probing.BODY_LADDER:
        assert len(unpack(probing.padded(b"{}", size), "gzip", 512 << 20)) == size
