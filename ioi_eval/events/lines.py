"""Writes events as lines of JSON, to the file of `--log-file` or to another process.

A line is written by one call that does not wait. The kernel appends such lines to a file one after another, so several
runs may share it. If only a part of a line was written (the disk was full), the next event begins on a new line;
readers skip lines that are not JSON.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

from ioi_eval.errors import InputError
from ioi_eval.events import Event


class EventLines:
    """Writes events to a descriptor that does not block, and closes it; `name` is for messages. If it `is_torn`, it
    ends with an unfinished line already.

    `say` shows the user a message at the first failure, if it is set. `failure` says why an event could not be written;
    it is empty if all could be.
    """

    def __init__(self, descriptor: int, name: str, *, is_torn: bool = False) -> None:
        self.say: Callable[[str], None] | None = None
        self.failure = ""
        self._descriptor, self._name, self._is_torn = descriptor, name, is_torn

    def listen(self, event: Event) -> None:
        """Write an event. The first failure is reported; later events are still tried."""
        line = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        line = b"\n" + line if self._is_torn else line
        try:
            written = os.write(self._descriptor, line)
        except OSError as error:
            self._fail(os.strerror(error.errno or 0))
        else:
            self._is_torn = written < len(line)
            if self._is_torn:
                self._fail("it took only a part of a line")

    def _fail(self, reason: str) -> None:
        if not self.failure and self.say is not None:
            self.say(f"{self._name} cannot be written: {reason}. The run goes on; some events will be missing there")
        self.failure = self.failure or reason

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def log_file(path: Path) -> EventLines:
    """Open the file of `--log-file`, to append to it; created if it does not exist, with the directories above it. A
    file that is not a log of ours is refused."""
    name = f"--log-file {path}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o666)
        first, last = b"", b""
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and os.fstat(descriptor).st_size > 0:
            with path.open("rb") as file:
                first = file.readline(1 << 20)
                file.seek(-1, os.SEEK_END)
                last = file.read(1)
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror}; name another file") from None
    if first and not _begins_a_log(first):
        os.close(descriptor)
        raise InputError(f"{name} is a file of another kind, so nothing is appended to it; name another file")
    return EventLines(descriptor, name, is_torn=last not in (b"", b"\n"))


def _begins_a_log(line: bytes) -> bool:
    """Whether it is the first event of a log, or the beginning of an event: the disk may have been full."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(b'{"time":"')
    return isinstance(event, dict) and event.get("event") == "run_begins"
