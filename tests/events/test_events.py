"""What listeners are told, and what they are never told."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ioi_eval.events import Events
from tests.events.listener import Listener


def test_all_listeners_are_told() -> None:
    """Each event names its run; who leaves is told no more, and who wants only some is told those."""
    first, second = Listener(), Listener()
    third, events = Listener(), Events([first])
    events.add(second)
    events.add(third, "worker_joined")
    events.emit("worker_lost", endpoint="http://a:2000")
    events.remove(first)
    events.emit("worker_joined", endpoint="http://a:2000")
    events.close()
    assert [event["event"] for event in second.told] == ["worker_lost", "worker_joined"]
    assert {event["run"] for event in second.told} == {events.run}
    assert [event["event"] for event in first.told] == ["worker_lost"]
    assert [event["event"] for event in third.told] == ["worker_joined"]
    assert (first.is_closed, second.is_closed) == (False, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http://me:pass@host:2000/api", "http://…@host:2000/api"),
        ("https://host/x?token=abc&a=1", "https://host/x?token=…&a=1"),
        ("https://host/x?a=1&X-Amz-Signature=abc", "https://host/x?a=1&X-Amz-Signature=…"),
        ("refused: hf_abcdefghijklmnop", "refused: …"),
        ("a@b.example, no secret", "a@b.example, no secret"),
    ],
)
def test_secrets_are_left_out(text: str, told: str) -> None:
    """However deep they stand."""
    listener = Listener()
    Events([listener]).emit("run_begins", options={"endpoints": [text]})
    assert listener.told[0]["options"] == {"endpoints": [told]}


@pytest.mark.timeout(300)
def test_a_long_text_comes_to_an_end() -> None:
    """The message about a row may quote megabytes of it; to look for secrets in all of it would take an hour."""
    listener = Listener()
    Events([listener]).emit("row_refused", message="?" + "key" * 1_000_000)
    assert len(listener.told[0]["message"]) == 2000


def test_values_become_what_json_has() -> None:
    """Also those that it has no form for."""
    listener = Listener()
    values = {"nan": math.nan, "path": Path("x"), "half": "\ud800", "long": "x" * 9999, "set": {1}, "none": None}
    Events([listener]).emit("run_begins", **values)
    told = listener.told[0]
    assert {name: told[name] for name in values if name != "long"} == {
        "nan": None, "path": "x", "half": "?", "set": [1], "none": None,
    }  # fmt: skip
    assert len(told["long"]) == 2000
