"""All rows as one Parquet file: the columns of `results.jsonl`, with the tests in each row.

`datasets.load_dataset("parquet", data_files=…)`, pandas, DuckDB and others read it.
"""

from __future__ import annotations

from ioi_eval.report.parquet import write_parquet
from ioi_eval.report.publication import MARK, ExportFormat, Open
from ioi_eval.report.publication.material import Material
from ioi_eval.report.result_files import result_rows
from ioi_eval.version import __version__


def _write(material: Material, open_file: Open) -> None:
    with open_file("") as file:
        write_parquet(file, lambda: result_rows(material.results.directory), metadata={MARK.decode(): __version__})


FORMAT = ExportFormat(
    default_path="results.parquet",
    write=_write,
)
