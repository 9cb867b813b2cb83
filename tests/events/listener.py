"""A listener for events."""

from __future__ import annotations

from ioi_eval.events import Event


class Listener:
    """Records the events that it gets."""

    def __init__(self) -> None:
        self.told: list[Event] = []
        self.is_closed = False

    def listen(self, event: Event) -> None:
        """Record the event."""
        self.told.append(event)

    def close(self) -> None:
        """Record the call."""
        self.is_closed = True
