"""All rows as one Parquet file: the columns of `results.jsonl`, with the tests in each row.

`datasets.load_dataset("parquet", data_files=…)`, pandas, DuckDB and others read it. If the values of a column have no
common type, the column holds JSON texts.
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
        """The only file."""
        return ("",)

    def write(self, material: Material, open_file: Open) -> None:
        """Write the file; the rows are read twice."""
        with open_file("") as file:
            write_parquet(file, material.rows, metadata={MARK.decode(): __version__})


FORMAT = ParquetTable()
