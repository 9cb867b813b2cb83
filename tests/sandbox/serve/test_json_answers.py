"""Answers as JSON, in pieces."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from ioi_eval.sandbox.serve.json_bodies import PIECE, pieces_of

_LONG = {
    "ascii": "line\n" * PIECE,
    "control": "\x00" * (PIECE + 1),
    "wide": "a" * (PIECE - 1) + "\N{GRINNING FACE}é" + "\\" * PIECE,
    "whole": "x" * 2 * PIECE,
}


def _answer(text: str, **fields: Any) -> dict[str, Any]:
    run = {"stdout": text, "stderr": "", "code": None, "output": text, "cpu_time": 1.5}
    return {"compile": {"stdout": "", "output": ""}, "run": run, "version": "1.0.0", **fields}


@pytest.mark.parametrize("text", [*_LONG.values(), "short"], ids=[*_LONG, "short"])
def test_pieces_are_the_json_of_the_answer(text: str) -> None:
    """The text is the same as if it were made at once. No piece is long: meanwhile the event loop stops."""
    pieces = pieces_of(_answer(text))
    assert b"".join(pieces) == orjson.dumps(_answer(text))
    assert max(map(len, pieces)) <= 6 * PIECE


@pytest.mark.parametrize("text", ["short", _LONG["ascii"]], ids=["short", "long"])
def test_half_a_surrogate_pair(text: str) -> None:
    """It is escaped, as Node does."""
    whole = b"".join(pieces_of(_answer(text, language="\ud800")))
    assert whole.replace(b" ", b"").endswith(rb'"language":"\ud800"}')


def test_answers_that_are_no_executions() -> None:
    """Lists, messages and nothing are JSON too."""
    for answer in ([{"language": "bash"}], {"message": "Not Found"}, [], {}):
        assert b"".join(pieces_of(answer)) == orjson.dumps(answer)
