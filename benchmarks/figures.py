"""The figures of a benchmark, printed for readers; with the argument `--json` as JSON lines for `scripts/bench`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass

COMPARABLE_UNITS = frozenset({"×", "%", "MB", "bytes", ""})
"""Units whose figures mean the same on another machine: ratios within one run, sizes and counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A measured figure of one run of a benchmark.

    Args:
        name: the measured quantity; different from the names of the benchmark's other figures.
        value: the number.
        unit: `×` for a ratio, nothing for a count; otherwise `%`, `MB`, `bytes`, `s`, `CPU-s`, `ms`, …
        bound: the highest acceptable value; the lowest one if larger is better.
        larger_is_better: for rates.
    """

    name: str
    value: float
    unit: str
    bound: float | None = None
    larger_is_better: bool = False

    @property
    def is_comparable(self) -> bool:
        """Whether the figure means the same on another machine."""
        return self.unit in COMPARABLE_UNITS

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its bound; true without a bound."""
        if self.bound is None:
            return True
        return self.value >= self.bound if self.larger_is_better else self.value <= self.bound

    @property
    def line(self) -> str:
        """The figure for a reader."""
        text = f"{self.name}: {number(self.value)} {self.unit}".rstrip()
        if self.bound is None:
            return text
        limit = f"{'at least' if self.larger_is_better else 'at most'} {number(self.bound)}"
        return f"{text} (bound: {limit}{'' if self.is_met else '; NOT REACHED'})"


def number(value: float) -> str:
    """A number with three significant digits, and with all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def arguments() -> list[str]:
    """The arguments of the program without `--json`."""
    return [word for word in sys.argv[1:] if word != "--json"]


def report(*figures: Figure) -> None:
    """Print figures, one per line."""
    for figure in figures:
        print(json.dumps(asdict(figure)) if "--json" in sys.argv[1:] else figure.line, flush=True)
