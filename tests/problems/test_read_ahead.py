"""Rows that are read ahead are the same and in the same order, and reading ends with the caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ioi_eval.errors import InputError
from ioi_eval.problems import read_ahead as read_ahead_module
from ioi_eval.problems.read_ahead import read_ahead
from ioi_eval.problems.row import Row


def row(number: int, size: int = 10) -> Row:
    """A row with a text of this size."""
    return Row(source="tests.jsonl", number=number, values={"number": number, "test_input": "1" * size})


def readers() -> list[threading.Thread]:
    """The threads that read ahead."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("ioi-eval-rows")]


@pytest.mark.parametrize("sizes", [[], [10], [10] * 1000, [2_000_000, 5, 1_000_000, 0] * 5], ids=len)
def test_same_rows_in_the_same_order(sizes: list[int]) -> None:
    """Whether a batch has one row or many."""
    rows = [row(number, size) for number, size in enumerate(sizes)]
    assert list(read_ahead(iter(rows))) == rows


def test_next_row_is_read_while_the_caller_works() -> None:
    """The second row is read before the caller requests it."""
    second_was_read = threading.Event()

    def rows() -> Iterator[Row]:
        yield row(1, 2_000_000)
        second_was_read.set()
        yield row(2)

    for each in read_ahead(rows()):
        assert each.number == 2 or second_was_read.wait(60)


def test_few_rows_of_megabytes_are_read_ahead() -> None:
    """Otherwise memory could contain the tests of a whole year if storing them is slow."""
    read = 0

    def rows() -> Iterator[Row]:
        nonlocal read
        for number in range(20):
            read = number + 1
            yield row(number, 2_000_000)

    for handed_out, _ in enumerate(read_ahead(rows()), 1):
        assert read <= handed_out + 3


@pytest.mark.parametrize("size", [10, 2_000_000])
def test_error_comes_after_the_rows_before_it(size: int) -> None:
    """As without reading ahead, also if the rows do not fill a batch."""

    def rows() -> Iterator[Row]:
        yield row(1)
        yield row(2, size)
        yield row(3, size)
        raise InputError("tests.jsonl is damaged")

    seen: list[int] = []
    with pytest.raises(InputError, match="is damaged"):
        seen.extend(each.number for each in read_ahead(rows()))
    assert seen == [1, 2, 3]


def test_the_thread_ends_if_the_caller_stops() -> None:
    """The source is closed too."""
    closed = threading.Event()

    def rows() -> Iterator[Row]:
        try:
            for number in range(10**9):
                yield row(number, 2_000_000)
        finally:
            closed.set()

    reading = read_ahead(rows())
    assert next(reading).number == 0
    threads = readers()
    reading.close()  # type: ignore[attr-defined]
    for thread in threads:
        thread.join(60)
    assert closed.is_set()
    assert not readers()


def test_a_slow_read_does_not_block_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a caller that stops (Ctrl-C) nor the end of the process waits for it: the thread is a daemon."""
    monkeypatch.setattr(read_ahead_module, "_END_S", 0.01)
    answered = threading.Event()

    def rows() -> Iterator[Row]:
        yield row(1, 2_000_000)
        answered.wait()  # a server that does not answer

    reading = read_ahead(rows())
    assert next(reading).number == 1
    (thread,) = readers()
    reading.close()  # type: ignore[attr-defined]
    assert thread.is_alive()
    assert thread.daemon
    answered.set()
    thread.join(60)
    assert not readers()
