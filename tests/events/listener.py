"""Somebody who is told of events."""

from __future__ import annotations

from ioi_eval.events import Event


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Event] = []
        self.is_closed = False

    def listen(self, event: Event) -> None:
        """Keep it."""
        self.told.append(event)

    def close(self) -> None:
        """Note it."""
        self.is_closed = True
