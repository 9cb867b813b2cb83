"""The file of `--log-file`: lines are appended, an incomplete line is repaired, and no error ends a run."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError
from ioi_eval.events import Events
from ioi_eval.events.lines import log_file


def read(path: Path) -> list[dict[str, Any]]:
    """The lines that are JSON."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def write(path: Path, *names: str) -> None:
    """Write a run with these events."""
    events = Events([log_file(path)])
    for name in ("run_begins", *names):
        events.emit(name)
    events.close()


def test_runs_append(tmp_path: Path) -> None:
    """Directories are created, and existing lines stay."""
    path = tmp_path / "new" / "log.jsonl"
    write(path, "run_ends")
    write(path, "run_ends")
    told = read(path)
    assert [event["event"] for event in told] == ["run_begins", "run_ends"] * 2
    assert len({event["run"] for event in told}) == 2


def test_a_killed_run_loses_at_most_its_last_line(tmp_path: Path) -> None:
    """The next run does not append to an incomplete line."""
    path = tmp_path / "log.jsonl"
    write(path, "progress", "progress")
    whole = path.read_bytes()
    end = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(end, len(whole)):
        path.write_bytes(whole[:cut])
        write(path, "run_ends")
        events = [event["event"] for event in read(path)]
        assert events in (
            ["run_begins", "progress", "run_begins", "run_ends"],
            ["run_begins", "progress", "progress", "run_begins", "run_ends"],
        )


def test_a_log_whose_first_line_is_incomplete_is_a_log(tmp_path: Path) -> None:
    """The disk was full. All later runs append to it."""
    path = tmp_path / "log.jsonl"
    write(path)
    path.write_bytes(path.read_bytes()[:40])
    write(path, "run_ends")
    write(path, "run_ends")
    assert [event["event"] for event in read(path)] == ["run_begins", "run_ends"] * 2


def test_two_runs_can_write_at_once(tmp_path: Path) -> None:
    """Their lines are not mixed."""
    path = tmp_path / "log.jsonl"
    runs = [Events([log_file(path)]) for _ in range(4)]

    def emit(events: Events) -> None:
        for number in range(200):
            events.emit("run_begins", number=number, words="x" * number)

    threads = [threading.Thread(target=emit, args=(events,)) for events in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = read(path)
    assert len(told) == len(path.read_text().splitlines()) == 800
    for events in runs:
        assert [event["number"] for event in told if event["run"] == events.run] == list(range(200))


def test_a_full_disk_is_reported_once() -> None:
    """The run continues."""
    log = log_file(Path("/dev/full"))
    messages: list[str] = []
    log.say = messages.append
    events = Events([log])
    for _ in range(3):
        events.emit("progress")
    events.close()
    (words,) = messages
    assert words.startswith("--log-file /dev/full cannot be written: No space left on device.")


def test_an_event_after_the_end_of_a_run_is_written_nowhere(tmp_path: Path) -> None:
    """A thread may still work after Ctrl-C. The descriptor of the log may then be that of another file."""
    log = log_file(tmp_path / "log")
    messages: list[str] = []
    log.say = messages.append
    events = Events([log])
    with (tmp_path / "other").open("wb") as other:
        events.close()
        os.dup2(other.fileno(), log._descriptor)
    events.emit("progress")
    os.close(log._descriptor)
    assert (tmp_path / "other").read_bytes() == b""
    assert messages == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".", "Is a directory; name another file"),
        ("rows.jsonl", "is a file of another kind"),
        ("binary", "is a file of another kind"),
        ("nested", "is a file of another kind"),
        ("other.log", "is a file of another kind"),
        ("rows.jsonl/log", "cannot be written"),
    ],
)
def test_files_that_cannot_be_a_log(tmp_path: Path, name: str, words: str) -> None:
    """In particular the user's data is not overwritten."""
    (tmp_path / "rows.jsonl").write_text('{"uuid": "a"}\n')
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    (tmp_path / "nested").write_text("[" * 100_000)
    (tmp_path / "other.log").write_text('{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"x"}\n')
    before = (tmp_path / "rows.jsonl").read_bytes()
    with pytest.raises(InputError, match=words):
        log_file(tmp_path / name)
    assert (tmp_path / "rows.jsonl").read_bytes() == before
