"""Writes plans for the runner, as text. `graders/runner.cpp` reads them; `graders/PROTOCOL.md` defines the format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ioi_eval.boxfiles import RUNNER_VERSION
from ioi_eval.model import Isolation

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/,:=+@-")

Value = str | int | Sequence[str]


def word(text: str) -> str:
    """One word of a plan: special bytes become `%XX`, the empty string `%`."""
    if not text:
        return "%"
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode("utf-8", "surrogateescape"))


def word_list(texts: Iterable[str]) -> str:
    """Several words in one value, separated by `,`; each is encoded first."""
    return ",".join(word(text).replace(",", "%2C") for text in texts)


class RunnerPlan:
    """A plan being written, line by line.

    Args:
        mode: `compile` or `run`.
        nonce: 32 hexadecimal digits that the end line must repeat.
        least: the weakest isolation that is accepted.
    """

    def __init__(self, *, mode: str, nonce: str, least: Isolation) -> None:
        self._lines = [f"ioi-eval-runner {RUNNER_VERSION}", f"nonce {nonce}"]
        self.line("isolation", least=least.value)
        self._lines.append(f"mode {mode}")

    def line(self, name: str, **values: Value | None) -> None:
        """Add a line. A value of `None` is left out; for a sequence, the key is repeated."""
        parts = [name]
        for key, value in values.items():
            if value is None:
                continue
            if isinstance(value, (str, int)):
                parts.append(f"{key}={word(str(value))}")
            else:
                parts.extend(f"{key}={word(item)}" for item in value)
        self._lines.append(" ".join(parts))

    def encode(self) -> bytes:
        """The plan's bytes, closed by its `end` line."""
        return "\n".join([*self._lines, "end", ""]).encode("ascii")
