"""Events of a run: for a log file, for the progress display, for services that draw curves.

Any module of the package may call `Events.emit`. Listeners are called one after another. They must neither raise nor
wait: no listener may end a run or slow it down. `ioi_eval/report/schemas/event.json` lists the events and their values.

- `lines` writes events as lines of JSON, to a file or to a process;
- `tracking` starts a process that hands the numbers to wandb or trackio, and `tracker` is that process.
"""

from __future__ import annotations

import math
import re
import secrets
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

Event = Mapping[str, Any]

_MAX_CHARS = 2000  # of a text: messages quote compilers and servers

_SECRETS = re.compile(
    r"(?<=://)\S+(?=@)"  # the user and password in a URL; a password may contain `@` and `/`
    r"|(?<=[?&])([\w-]*(?:token|key|secret|password|signature)[\w-]*=)[^&\s]+"
    r"|\bhf_\w{8,}",  # a token of the Hub
    re.IGNORECASE,
)


class EventListener(Protocol):
    """Receives events."""

    def listen(self, event: Event) -> None:
        """Receive an event, without raising or waiting."""
        ...

    def close(self) -> None:
        """Called after the last event."""
        ...


class Events:
    """Passes events of one run to listeners. Any thread may emit.

    Attributes:
        run: identifies the run: a file may have events of several runs.
    """

    def __init__(self, listeners: Iterable[EventListener] = ()) -> None:
        self.run = secrets.token_hex(4)
        self._listeners = tuple(listeners)
        self._lock = threading.Lock()

    def add(self, listener: EventListener) -> None:
        """Add a listener, which receives events from now on."""
        self._listeners = (*self._listeners, listener)

    def remove(self, listener: EventListener) -> None:
        """Remove a listener, if it was added."""
        self._listeners = tuple(other for other in self._listeners if other is not listener)

    def emit(self, event: str, /, **values: Any) -> None:
        """Pass an event, with its name and values as in the schema, to the listeners.

        Texts are shortened, and parts that look like passwords or tokens are left out.
        """
        if not self._listeners:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        passed = {"time": time, "run": self.run, "event": event, **_json_value(values)}
        with self._lock:
            for listener in self._listeners:
                listener.listen(passed)

    def close(self) -> None:
        """Close all listeners. Later events are dropped: after Ctrl-C a thread may still work, and the descriptor of a
        closed file may be that of another file."""
        with self._lock:
            listeners, self._listeners = self._listeners, ()
        for listener in listeners:
            listener.close()


def _json_value(value: Any) -> Any:
    """The value in types that JSON has, without secrets."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_json_value(item) for item in value]
    text = str(value)[: 2 * _MAX_CHARS].encode("utf-8", "replace").decode()  # the search may take quadratic time
    return _SECRETS.sub(lambda match: f"{match[1] or ''}…", text)[:_MAX_CHARS]
