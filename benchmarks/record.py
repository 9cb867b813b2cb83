"""The recorded figures: stored in `results.json`, shown in `RESULTS.md`, and compared with later figures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from pathlib import Path

from figures import Figure, number

ENOUGH_RUNS = 5
"""With fewer runs, the spread says little."""

LEAST_NOISE, LEAST_NOISE_OF_FEW = 0.05, 0.1
"""The least noise, as a part of the median: the spread may be small by chance. The second is that of fewer runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A figure with its values from several runs.

    Args:
        figure: its name, unit and bound; its value is the median.
        values: the values of all runs.
    """

    figure: Figure
    values: tuple[float, ...]

    @classmethod
    def of(cls, figures: Iterable[Figure]) -> Series:
        """The series of one figure, from each run."""
        series = list(figures)
        values = tuple(figure.value for figure in series)
        known = asdict(series[-1]) | {"value": statistics.median(values)}
        return cls(figure=Figure(**known), values=values)

    @property
    def noise(self) -> float:
        """By how much the median may change without a reason.

        The largest minus the smallest value, and at least 5 % of the median. Twice that with fewer than five runs.

        Source: of normal values, the medians of two series differ in one direction by more than the range of the first
        in 1.4 % of all cases with five runs, in 8.6 % with three; by more than twice the range in 2.5 % with three.
        """
        is_enough = len(self.values) >= ENOUGH_RUNS
        spread = (max(self.values) - min(self.values)) * (1 if is_enough else 2)
        return max(spread, (LEAST_NOISE if is_enough else LEAST_NOISE_OF_FEW) * abs(self.figure.value))

    def worse(self, now: Series) -> str | None:
        """How this figure got worse since the record by more than its noise; `None` if it did not."""
        change = now.figure.value - self.figure.value
        if (-change if self.figure.larger_is_better else change) <= self.noise:
            return None
        was, unit = f"{number(self.figure.value)} ± {number(self.noise)}", self.figure.unit
        return f"{self.figure.name}: {number(now.figure.value)} {unit}".rstrip() + f", recorded {was} {unit}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a benchmark.

    Args:
        day: the day of the measurement, as YYYY-MM-DD.
        machine: processors, memory, kernel.
        versions: of this project, Python, the compiler.
        seconds: the median wall clock of a run.
        others: the median number of processors that other programs kept busy during a run.
        is_busy: whether that number is too high.
        figures: in the order of the benchmark.
    """

    day: str
    machine: str
    versions: str
    seconds: float
    others: float
    is_busy: bool
    figures: tuple[Series, ...]

    def as_json(self) -> str:
        """The values for `results.json`, with a line for each figure."""
        values = {each.name: getattr(self, each.name) for each in fields(self)} | {"figures": []}
        head = json.dumps(values, ensure_ascii=False).removesuffix("]}")
        figures = (
            {name: value for name, value in asdict(series.figure).items() if name != "value"}
            | {"values": series.values}
            for series in self.figures
        )
        return head + ",".join(f"\n  {json.dumps(figure, ensure_ascii=False)}" for figure in figures) + "\n ]}"

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Measured:
        """Read the values of `results.json`."""
        entries = values["figures"]
        assert isinstance(entries, list)
        figures = tuple(
            Series.of(
                Figure(**{name: part for name, part in row.items() if name != "values"}, value=value)
                for value in row["values"]
            )
            for row in entries
        )
        return cls(**{**values, "figures": figures})  # type: ignore[arg-type]


Record = dict[str, Measured]
"""By the benchmark's name."""


def read(path: Path) -> Record:
    """Read `results.json`. Empty if there is no file."""
    if not path.exists():
        return {}
    return {name: Measured.from_dict(values) for name, values in json.loads(path.read_text(encoding="utf-8")).items()}


def write(path: Path, record: Record) -> None:
    """Write `results.json`."""
    entries = ",".join(f"\n {json.dumps(name)}: {measured.as_json()}" for name, measured in record.items())
    path.write_text(f"{{{entries}\n}}\n", encoding="utf-8")


def page(record: Record, missing: Mapping[str, str], reasons: Mapping[str, Mapping[str, str]]) -> str:
    """The text of `RESULTS.md`.

    Args:
        record: the recorded figures.
        missing: the reason, for each benchmark without figures.
        reasons: for each benchmark and figure, why a bound is not reached, and what would be needed for it.
    """
    lines = [
        "# Results",
        "",
        "`scripts/bench` wrote this page; [README.md](README.md) says what the benchmarks measure. A figure is the "
        "median of the runs; behind it are their number, the least and the greatest.",
    ]
    for conditions, group in groupby(
        sorted(record, key=lambda name: _conditions(record[name])), lambda n: _conditions(record[n])
    ):
        lines += ["", f"## {conditions[0]}", "", f"{conditions[1]}; {conditions[2]}.", ""]
        lines += ["| benchmark | figure | median | runs | bound |", "|---|---|---|---|---|"]
        for name in group:
            lines += [_row(name, record[name], series) for series in record[name].figures]
    unmet = [
        f"- `{name}`, {series.figure.name}: {_reason(reasons.get(name, {}).get(series.figure.name))}"
        for name, measured in record.items()
        for series in measured.figures
        if not series.figure.is_met
    ]
    lines += ["", "## Not reached", "", *unmet] if unmet else []
    absent = [f"- `{name}`: {why}." for name, why in missing.items()]
    lines += ["", "## Not measured", "", *absent] if absent else []
    return "\n".join(lines) + "\n"


def _reason(reason: str | None) -> str:
    return f"{(reason or 'the reason is not known').rstrip('.')}."


def _conditions(measured: Measured) -> tuple[str, str, str]:
    return measured.machine, measured.versions, measured.day


def _row(name: str, measured: Measured, series: Series) -> str:
    figure, least, most = series.figure, min(series.values), max(series.values)
    runs = f"{len(series.values)}: {number(least)} to {number(most)}" if len(series.values) > 1 else "1"
    bound = ""
    if figure.bound is not None:
        bound = f"{'≥' if figure.larger_is_better else '≤'} {number(figure.bound)}"
        bound += "" if figure.is_met else ", **not reached**"
    value = f"{number(figure.value)} {figure.unit}".rstrip()
    busy = f" (**busy machine**: others used {measured.others:.2f} processors)" if measured.is_busy else ""
    return f"| {name} | {figure.name} | {value}{busy} | {runs} | {bound} |"
