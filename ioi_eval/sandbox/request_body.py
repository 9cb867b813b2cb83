"""Piston's API v2, the server's side: a request's body as JSON, without paying more for it than it may cost. Pure.

Compression and JSON both make much of little: 29 kB of gzip hold 29 MB, and 3 bytes of JSON (`{},`) take 64 bytes of
memory. So three things are bounded before anything is made of a body: what a packed one unpacks to, how many values
its JSON has, and how deep they are nested. Texts are not: they are the files, which the bound on the body holds for.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from typing import Any, NoReturn

import orjson

from ioi_eval.sandbox.request import Refusal

JSON = "application/json"

UNPACKED_BYTES = 64 << 20
"""What any packed body may unpack to: more than the 48 MiB with which our own client measures what a server takes."""

MOST_RATIO = 32
"""How many times its own size a packed body may unpack to beyond that. Test data of contests shrinks to a third or a
tenth."""

MOST_VALUES = 1 << 16
"""Values and keys of a request: three a file and a few more. Source: ours; Piston counts nothing."""

MOST_DEPTH = 64
"""A request is nested three deep."""

_MOST_FOR_NODE = 8 << 20
"""Bytes that are read once more as Node would (half a surrogate pair, broken UTF-8), which takes 12 times its size."""

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_SIGNS = (b",", b":", b"[", b"{", b"]", b"}")
_BRACKET = re.compile(rb"[\[{\]}]")
_CHARSETS = frozenset({"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})


def too_large(most: int) -> Refusal:
    """The refusal of a body over the bound. There is no 413: Piston says it so."""
    return Refusal(400, {"stack": f"PayloadTooLargeError: request entity too large (over {most} bytes)"})


def unpack(body: bytes, encoding: str, most: int) -> bytes:
    """A body as it was before its `Content-Encoding`; never more of it in memory than may be.

    Args:
        body: as it was sent.
        encoding: the header; "" for none.
        most: the largest body, unpacked. A packed one may be `UNPACKED_BYTES`, or `MOST_RATIO` times its own size.

    Raises:
        Refusal: it is larger than that, not what it says, or in an encoding that Piston does not know either.
    """
    if encoding.lower() in ("", "identity"):
        return body
    if encoding.lower() not in ("gzip", "deflate"):
        raise Refusal(400, {"stack": f'UnsupportedMediaTypeError: unsupported content encoding "{encoding[:64]}"'})
    most = min(most, max(UNPACKED_BYTES, MOST_RATIO * len(body)))
    unpacker = zlib.decompressobj(wbits=47)  # gzip or zlib, as it says itself
    try:
        unpacked = unpacker.decompress(body, most + 1)
    except zlib.error as error:
        raise Refusal(400, {"stack": f"Error: {error}"}) from error
    if len(unpacked) > most:
        raise too_large(most)
    if not unpacker.eof:
        raise Refusal(400, {"stack": "Error: unexpected end of file"})
    return unpacked


def parse(body: bytes, content_type: str) -> Any:
    """A request's JSON: an object or an array.

    Raises:
        Refusal: it is of another type, malformed, or has too many values or too deep ones.
    """
    if not content_type.startswith(JSON):
        raise Refusal(415, {"message": f"requests must be of type {JSON}"})
    body = _in_utf8(body, _charset(content_type))
    if not body:
        return {}
    _check_structure(body)
    try:
        return _strict(orjson.loads(body), body)
    except orjson.JSONDecodeError as error:  # what Node takes, or what it says to what it does not take
        if len(body) > _MOST_FOR_NODE:
            raise Refusal(400, {"stack": f"SyntaxError: {error}"}) from None
    try:
        return _strict(json.loads(body.decode("utf-8", "replace"), parse_constant=_no_constant), body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, {"stack": f"SyntaxError: {error}"}) from None


def _charset(content_type: str) -> str:
    """What the body is written in, by Python's name for it."""
    stated = "utf-8"
    for parameter in content_type.lower().split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name == "charset":
            stated = value.strip('" ')
            break
    try:
        name = codecs.lookup(stated).name
    except (LookupError, ValueError):
        name = ""
    if name not in _CHARSETS:
        raise Refusal(400, {"stack": f'UnsupportedMediaTypeError: unsupported charset "{stated[:64].upper()}"'})
    return name


def _in_utf8(body: bytes, charset: str) -> bytes:
    return body if charset == "utf-8" else body.decode(charset, "replace").encode()


def _check_structure(body: bytes) -> None:
    """Refuse what would be large in memory, or too deep for whoever walks through it.

    What lies in texts counts for nothing. It need not be JSON: what is not is refused later, by whoever reads it.
    """
    if sum(body.count(sign) for sign in (*_SIGNS, b'"')) <= MOST_DEPTH:
        return  # most requests, however large their files
    values = depth = start = 0
    for text in _TEXT.finditer(body):
        values, depth = _between(body, start, text.start(), values + 1, depth)
        start = text.end()
    _between(body, start, len(body), values, depth)


def _between(body: bytes, start: int, end: int, values: int, depth: int) -> tuple[int, int]:
    """Values and depth after a stretch of a body that holds no text."""
    values += sum(body.count(sign, start, end) for sign in _SIGNS)
    if values > MOST_VALUES:
        raise Refusal(400, {"message": f"the request's JSON has more than {MOST_VALUES} values; send less at once"})
    for bracket in _BRACKET.finditer(body, start, end):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > MOST_DEPTH:
            raise Refusal(400, {"message": f"the request's JSON is nested more than {MOST_DEPTH} deep"})
    return values, depth


def _strict(value: Any, body: bytes) -> Any:
    """Only objects and arrays, as body-parser has it."""
    if isinstance(value, dict | list):
        return value
    first = body.lstrip()[:1].decode("utf-8", "replace")
    raise Refusal(400, {"stack": f"SyntaxError: Unexpected token {first} in JSON at position 0"})


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"Unexpected token {name[0]} in JSON")
