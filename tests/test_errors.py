"""Errors that a process pool sends to the process that waits for its results."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import ioi_eval
from ioi_eval import submission_from_row
from ioi_eval.engine.target import NoTargetError
from ioi_eval.errors import RowError
from ioi_eval.sandbox.findings import fine
from ioi_eval.sandbox.piston.discovery import UnsuitableWorkerError
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.serve.request import Refusal

WITH_MORE = (
    RowError("dump.jsonl", 3, "no code"),
    UnsuitableWorkerError("too short", (fine("output", "4 MiB"),)),
    AnswerLostError("no answer", JobEnd.TIMED_OUT, before_answer=True),
    NoTargetError("none is left", all_unsuitable=True),
    Refusal(503, "the queue is full"),
)


def all_errors() -> list[Exception]:
    """An instance of each exception of the package."""
    found: dict[type[Exception], Exception] = {type(error): error for error in WITH_MORE}
    for module in pkgutil.walk_packages(ioi_eval.__path__, "ioi_eval."):
        if module.name.endswith("__main__"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            is_ours = isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == module.name
            if is_ours and kind not in found:
                found[kind] = kind("text")
    return list(found.values())


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_pickling(error: Exception) -> None:
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
