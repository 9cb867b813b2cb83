"""Errors that a process pool sends to the process that waits for its results."""

from __future__ import annotations

import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from ioi_eval import errors, submission_from_row
from ioi_eval.errors import IoiEvalError, RowError

WITH_A_MESSAGE = [
    error
    for _, error in inspect.getmembers(errors, inspect.isclass)
    if issubclass(error, IoiEvalError) and error is not RowError
]


@pytest.mark.parametrize("error", [*(kind("text") for kind in WITH_A_MESSAGE), RowError("dump.jsonl", 3, "no code")])
def test_an_error_is_the_same_after_pickling(error: IoiEvalError) -> None:
    """Its class, message and attributes stay. An error that cannot be unpickled breaks a pool, or it waits for ever."""
    error.add_note("a note")
    received = pickle.loads(pickle.dumps(error))
    assert (type(received), str(received), vars(received)) == (type(error), str(error), vars(error))


def test_a_broken_row_in_a_process_pool() -> None:
    """The caller gets the row's error, and the pool can be used again."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(RowError, match="has no program"):
            pool.submit(submission_from_row, {"uuid": "-"}).result()
        assert pool.submit(abs, -1).result() == 1
