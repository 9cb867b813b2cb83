"""What is logged of a server's connections."""

from __future__ import annotations

import logging

import pytest
from aiohttp.http_exceptions import BadHttpMessage

from ioi_eval.sandbox.serve.connections import log_of_server


@pytest.mark.parametrize(
    ("error", "is_logged"), [(None, True), (ValueError("ours"), True), (BadHttpMessage("theirs"), False)]
)
def test_only_invalid_http_is_left_out(error: Exception | None, is_logged: bool) -> None:
    """Any client can send invalid HTTP, as often as it likes. The stack trace of an error of ours is needed."""
    raised = None if error is None else (type(error), error, None)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "Error handling request", None, raised)
    assert bool(log_of_server().filter(record)) == is_logged
