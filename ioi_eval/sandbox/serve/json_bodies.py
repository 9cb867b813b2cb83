"""The JSON bodies of `serve`: reads those of requests, with limited memory and time, and makes those of answers. Pure.

A small body can need much memory: 29 kB of gzip unpack to 29 MB, and 3 bytes of JSON (`{},`) take 64 bytes. So two
things are limited before a body is parsed: its unpacked size, and the number of values in its JSON. Strings are not:
they are the files, to which the limit on the whole body applies. (Nesting is limited by the parser.)

Python runs no other thread while it encodes a text in one call, which takes up to a second for 100 MB. So the event
loop would stop, and with it the answers to all other clients, even if another thread does that. So long texts of an
answer are encoded in pieces. Between two of them, the event loop goes on.
"""

from __future__ import annotations

import itertools
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, NoReturn

import orjson

from ioi_eval.sandbox.serve.request import Refusal

JSON = "application/json"

UNPACKED_BYTES = 64 << 20
"""Any packed body may unpack to this: more than the 48 MiB with which our client measures what a server accepts."""

MAX_RATIO = 32
"""Or to this many times its packed size, if that is more. Test data of contests is compressed to a third or a tenth."""

MAX_VALUES = 1 << 16
"""The most values of a request, as `_limit_values` counts them: 13 for a file with name, content and encoding, and a
few more. Source: ours; Piston has no such limit."""

_MAX_FOR_NODE = 8 << 20
"""The largest body that is parsed again as in Node (half a surrogate pair, broken UTF-8), which takes 12 times its
size in memory."""

PIECE = 1 << 20
"""The most characters of a text that are encoded at once, which takes about 5 ms."""

_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_SIGNS = (b",", b":", b"[", b"{")
_CHARSET = re.compile(r'charset="?([^";\s]*)', re.IGNORECASE)


def too_large(most: int) -> Refusal:
    """The refusal of a body that is too large: 400 and not 413, as in Piston."""
    return Refusal(400, {"stack": f"PayloadTooLargeError: request entity too large (over {most} bytes)"})


def unpack(body: bytes, encoding: str, most: int) -> bytes:
    """Undo a body's `Content-Encoding` ("" for none), and refuse it at the limit, or if it is damaged.

    Args:
        most: the largest unpacked body. A packed one may have `UNPACKED_BYTES`, or `MAX_RATIO` times its packed size.
    """
    if encoding.lower() in ("", "identity"):
        return body
    if encoding.lower() not in ("gzip", "deflate"):
        raise Refusal(400, {"stack": f'UnsupportedMediaTypeError: unsupported content encoding "{encoding[:64]}"'})
    most = min(most, max(UNPACKED_BYTES, MAX_RATIO * len(body)))
    unpacker = zlib.decompressobj(zlib.MAX_WBITS + (16 if encoding.lower() == "gzip" else 0))
    try:
        unpacked = unpacker.decompress(body, most + 1)
    except zlib.error as error:
        raise Refusal(400, {"stack": f"Error: {error}"}) from error
    if len(unpacked) > most:
        raise too_large(most)
    if not unpacker.eof:
        raise Refusal(400, {"stack": "Error: unexpected end of file"})
    if unpacker.unused_data:
        raise Refusal(400, {"stack": "Error: data follows the end of the compressed body"})
    return unpacked


def parse(body: bytes, content_type: str) -> Any:
    """A request's JSON: an object or an array, without too many values."""
    if not content_type.startswith(JSON):
        raise Refusal(415, f"requests must be of type {JSON}")
    charset = _CHARSET.search(content_type)
    if charset is not None and charset[1].lower() not in ("utf-8", "utf8"):
        raise Refusal(400, {"stack": f'UnsupportedMediaTypeError: unsupported charset "{charset[1][:64].upper()}"'})
    if not body:
        return {}
    _limit_values(body)
    try:
        return _strict(orjson.loads(body), body)
    except orjson.JSONDecodeError as error:  # Node may still accept it; else its message is needed
        if len(body) > _MAX_FOR_NODE:
            raise Refusal(400, {"stack": f"SyntaxError: {error}"}) from None
    try:
        return _strict(json.loads(body.decode("utf-8", "replace"), parse_constant=_no_constant), body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, {"stack": f"SyntaxError: {error}"}) from None


def _limit_values(body: bytes) -> None:
    """Refuse a body with too many values. Each text counts (keys are texts), and each `,`, `:`, `[` and `{` outside of
    texts. It need not be valid JSON: the parser refuses it later if it is not."""
    values = sum(body.count(sign) for sign in (*_SIGNS, b'"'))
    if values <= MAX_VALUES:
        return  # most requests, however large their files
    values = start = 0
    for end, after in itertools.chain((text.span() for text in _TEXT.finditer(body)), [(len(body), 0)]):
        values += 1 + sum(body.count(sign, start, end) for sign in _SIGNS)
        if values > MAX_VALUES:
            raise Refusal(400, f"the request's JSON has more than {MAX_VALUES} values; send less at once")
        start = after


def _strict(value: Any, body: bytes) -> Any:
    """Only objects and arrays are accepted, as by body-parser."""
    if isinstance(value, dict | list):
        return value
    first = body.lstrip()[:1].decode("utf-8", "replace")
    raise Refusal(400, {"stack": f"SyntaxError: Unexpected token {first} in JSON at position 0"})


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"Unexpected token {name[0]} in JSON")


# ---------------------------------------------------------------------- answers


def pieces_of(answer: Any) -> list[bytes]:
    """An answer as JSON, as `orjson` writes it. Its pieces are to be sent one after the other."""
    return [_json(answer)] if size_of(answer) <= PIECE else list(_pieces(answer))


def size_of(answer: Any) -> int:
    """Roughly the size of an answer. Only executions can be large, by the texts of their stages."""
    stages = (answer.get("compile"), answer.get("run")) if isinstance(answer, dict) else ()
    return sum(4 * len(stage["output"]) for stage in stages if isinstance(stage, dict))


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, dict) and value:
        before = b"{"
        for name, each in value.items():
            yield before + _json(name) + b":"
            yield from _pieces(each)
            before = b","
        yield b"}"
    elif isinstance(value, str) and len(value) > PIECE:
        yield b'"'
        for start in range(0, len(value), PIECE):
            yield _json(value[start : start + PIECE])[1:-1]
        yield b'"'
    else:
        yield _json(value)


def _json(value: Any) -> bytes:
    """As JSON; half a surrogate pair, which may come from the request, is escaped as in Node."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()
