"""All rows as one Parquet file: the columns of `results.jsonl`, with the tests of each row in their places.

`datasets.load_dataset("parquet", data_files=…)`, pandas, DuckDB and the like read it. A column of which two rows cannot
have one type holds JSON texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ioi_eval.report.parquet import write_parquet
from ioi_eval.report.publication import MARK, Open
from ioi_eval.report.publication.material import Material
from ioi_eval.version import __version__


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """See the module."""

    place: str = "results.parquet"
    settings: Mapping[str, str] = field(default_factory=dict)

    def files(self, material: Material) -> Sequence[str]:  # noqa: ARG002 - any results can be written so
        """One."""
        return ("",)

    def write(self, material: Material, open_file: Open) -> None:
        """Write it; the rows are read twice."""
        with open_file("") as file:
            write_parquet(file, material.rows, metadata={MARK.decode(): __version__})


FORMAT = ParquetTable()
