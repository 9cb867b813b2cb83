"""`--track`: settings and numbers reach the package, and none of its failures affects the run."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError
from ioi_eval.events import Events, tracking
from ioi_eval.events.tracker import numbers
from ioi_eval.events.tracking import TrackerProcess

RECORDS = """
import json, os
def note(*values):
    with open(os.environ["CALLS"], "a") as file:
        print(json.dumps(values), file=file)
def init(**options): note("init", options); print("noise")
def log(values): note("log", values)
def finish(): note("finish")
"""
FAILS = "def init(**options): raise RuntimeError('no key for this service')\n"
HANGS = "import signal\ndef init(**options): signal.pause()\n"

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package `trackio` with this source. Gives the file in which it records its calls."""

    def installed(text: str) -> Path:
        folder = tmp_path / "packages"
        folder.mkdir()
        (folder / "trackio.py").write_text(text)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
        return tmp_path / "calls"

    return installed


def run(tracker: str, messages: list[str]) -> None:
    """A run with two submissions."""
    events = Events([TrackerProcess(tracker, messages.append)])
    events.emit("run_begins", command="ioi-eval score", options={"dump": "a.jsonl"}, ioi_eval="1", python="3")
    events.emit("submission_judged", submission="a", verdict="AC", score=100.0)
    for done in (1, 2):
        events.emit("progress", done=done, verdicts={"AC": done}, left_s=None)
    events.emit("summary", complete=True, average_score={"value": 0.5})
    events.emit("run_ends", exit_code=0, error=None)
    events.close()


def test_calls_of_a_tracker(install: Install) -> None:
    """The settings once, then the progress, then the summary."""
    calls, messages = install(RECORDS), list[str]()
    run("trackio:mine", messages)
    (_, begin), *logged, (end,) = [json.loads(line) for line in calls.read_text().splitlines()]
    assert begin["project"] == "mine"
    assert begin["config"]["options"] == {"dump": "a.jsonl"}
    assert [values for _, values in logged] == [
        {"done": 1, "verdicts/AC": 1},
        {"done": 2, "verdicts/AC": 2},
        {"summary/complete": True, "summary/average_score/value": 0.5},
    ]
    assert end == "finish"
    assert messages[-1] == "trackio: project mine"


def test_a_tracker_that_fails(install: Install) -> None:
    """One message at the end says so."""
    install(FAILS)
    messages: list[str] = []
    run("trackio", messages)
    assert messages[-1] == "trackio failed: RuntimeError: no key for this service. The results are complete"
    assert all("waiting until trackio has sent everything" in words for words in messages[:-1])


def test_a_tracker_that_is_slow_at_first(install: Install) -> None:
    """It gets the events that it has room for. A message at the end says that others are missing."""
    calls, messages = install(RECORDS + "import time\ntime.sleep(1)\n"), list[str]()
    events = Events([TrackerProcess("trackio", messages.append)])
    events.emit("run_begins", options={})
    for number in range(200):
        events.emit("progress", done=number, words="x" * 1000)
    events.close()
    assert calls.read_text().count("log") < 200
    assert messages[-2:] == [
        "trackio: project ioi-eval",
        "trackio was too slow for some events, which are missing there; the results are complete",
    ]


def test_a_tracker_that_hangs(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that it does not take in time are dropped, and the end of the run waits only for a limited time."""
    install(HANGS)
    monkeypatch.setattr(tracking, "FINISH_S", 0.1)
    messages: list[str] = []
    tracker = TrackerProcess("trackio", messages.append)
    events = Events([tracker])
    for number in range(2000):
        events.emit("run_begins", number=number, words="x" * 1000)
    try:
        events.close()
        waits, ends, lost = messages
        assert waits.startswith("waiting until trackio has sent everything, at most 0.1 s; Ctrl-C ends the waiting")
        assert "trackio is still sending" in ends
        assert "some events, which are missing there" in lost
    finally:
        tracker.process.kill()
        tracker.process.wait()


@pytest.mark.parametrize(
    ("tracker", "words"),
    [("mlflow", "is unknown; wandb and trackio are supported"), ("trackio", r"pip install '\.\[trackio\]'")],
)
def test_a_missing_tracker(tracker: str, words: str) -> None:
    """The message says what to install."""
    if importlib.util.find_spec("trackio") is not None and tracker == "trackio":
        pytest.skip("trackio is installed here")
    with pytest.raises(InputError, match=words):
        TrackerProcess(tracker, print)


def test_numbers_of_an_event() -> None:
    """Values that are no numbers are left out."""
    event: dict[str, Any] = {"a": 1, "b": {"c": 0.5, "d": {"e": True}}, "f": "x", "g": None, "h": [1]}
    assert numbers(event) == {"a": 1, "b/c": 0.5, "b/d/e": True}


def test_the_real_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its offline mode it writes a file and needs no network."""
    pytest.importorskip("wandb", reason="wandb is not installed (the extra `wandb`)")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    messages: list[str] = []
    run("wandb", messages)
    (written,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    assert b"verdicts/AC" in written.read_bytes()
    assert str(tmp_path) in messages[-1], messages


def test_the_real_trackio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes a database on this machine."""
    pytest.importorskip("trackio", reason="trackio is not installed (the extra `trackio`)")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    messages: list[str] = []
    run("trackio", messages)
    assert messages[-1] == "trackio: project ioi-eval"
    (database,) = [path for path in tmp_path.rglob("*.db") if path.stat().st_size]
    with sqlite3.connect(database) as connection:
        (metrics,) = connection.execute("select group_concat(metrics) from metrics").fetchone()
    assert "verdicts/AC" in str(metrics)
