"""Workers that process many items."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest

from ioi_eval.pipeline.threads import for_each


def test_items_are_processed_in_order_by_a_fixed_number_of_workers() -> None:
    """Each item once. The next one is read when a worker is free."""
    begun: list[int] = []
    read: list[int] = []
    under_way, most = 0, 0

    def items() -> Iterator[int]:
        for number in range(20):
            read.append(number)
            yield number

    async def work(number: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        begun.append(number)
        assert len(read) <= len(begun) + 3
        await asyncio.sleep(0)
        under_way -= 1

    asyncio.run(for_each(items(), work, workers=3))
    assert begun == list(range(20))
    assert most <= 3


@pytest.mark.parametrize("broken", ["items", "work"])
def test_a_failure_ends_the_work_on_all_items(broken: str) -> None:
    """The failure of a worker, or of reading the items."""

    def items() -> Iterator[str]:
        yield "fine"
        if broken == "items":
            raise ValueError("unreadable")
        yield from itertools.repeat("bad")

    async def work(item: str) -> None:
        if item == "bad":
            raise ValueError("unreadable")

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(for_each(items(), work, workers=2))
    assert {str(error) for error in caught.value.exceptions} == {"unreadable"}
