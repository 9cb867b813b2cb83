"""Answers as JSON, in pieces.

Python runs no other thread while it encodes a text in one call, which takes up to a second for 100 MB. So the event
loop would stop, and with it the answers to all other clients, even if another thread does that. Between two pieces, the
event loop goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

PIECE = 1 << 20
"""The most characters of a text that are encoded at once, which takes about 5 ms."""


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
