"""Which events listeners get, and what events never contain."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ioi_eval.events import Events
from tests.events.listener import Listener


def test_all_listeners_get_events() -> None:
    """Each event has the id of its run. A removed listener gets no more events."""
    first, second = Listener(), Listener()
    events = Events([first])
    events.add(second)
    events.emit("worker_lost", endpoint="http://a:2000")
    events.remove(first)
    events.emit("worker_joined", endpoint="http://a:2000")
    events.close()
    assert [event["event"] for event in second.told] == ["worker_lost", "worker_joined"]
    assert {event["run"] for event in second.told} == {events.run}
    assert [event["event"] for event in first.told] == ["worker_lost"]
    assert (first.is_closed, second.is_closed) == (False, True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:pass@host:2000/api", "http://…@host:2000/api"),
        ("http://me:p@ss@host:2000, http://me:p/s@host", "http://…@host:2000, http://…@host"),
        ("https://host/x?token=abc&a=1", "https://host/x?token=…&a=1"),
        ("https://host/x?a=1&X-Amz-Signature=abc", "https://host/x?a=1&X-Amz-Signature=…"),
        ("refused: hf_abcdefghijklmnop", "refused: …"),
        ("a@b.example, no secret", "a@b.example, no secret"),
    ],
)
def test_secrets_are_left_out(text: str, shown: str) -> None:
    """At any depth of a value."""
    listener = Listener()
    Events([listener]).emit("run_begins", options={"endpoints": [text]})
    assert listener.told[0]["options"] == {"endpoints": [shown]}


@pytest.mark.timeout(300)
def test_a_long_text_is_cut() -> None:
    """The message about a row may quote megabytes of it. Searching all of it for secrets would take an hour."""
    listener = Listener()
    Events([listener]).emit("row_refused", message="?" + "key" * 1_000_000)
    assert len(listener.told[0]["message"]) == 2000


def test_values_become_json() -> None:
    """Also values that JSON has no form for."""
    listener = Listener()
    values = {"nan": math.nan, "path": Path("x"), "half": "\ud800", "long": "x" * 9999, "set": {1}, "none": None}
    Events([listener]).emit("run_begins", **values)
    event_as_json = listener.told[0]
    assert {name: event_as_json[name] for name in values if name != "long"} == {
        "nan": None, "path": "x", "half": "?", "set": [1], "none": None,
    }  # fmt: skip
    assert len(event_as_json["long"]) == 2000
