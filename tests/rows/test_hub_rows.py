"""Data sets in the layouts of the Hub, read by `datasets` without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hub_stand_in import put_rows, standing_in

CARD = """---
configs:
- config_name: '2023'
  data_files: [{split: train, path: 2023/train-*}]
- config_name: '2024'
  data_files: [{split: train, path: 2024/train-*}]
---
"""


@pytest.fixture
def by_year(tmp_path: Path) -> Path:
    """A data set in the layout of `open-r1/ioi-test-cases`: one configuration for each year."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = tmp_path / "by_year"
    for year in (2023, 2024):
        (root / str(year)).mkdir(parents=True)
        table = pa.Table.from_pylist([{"year": year, "test_name": f"{n}"} for n in range(2)])
        pq.write_table(table, root / str(year) / "train-00000-of-00001.parquet")
    (root / "README.md").write_text(CARD)
    return root


@pytest.fixture
def two_splits(tmp_path: Path) -> Path:
    """A data set in the layout of `open-r1/ioi`: one configuration, train and test."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = tmp_path / "two_splits"
    (root / "data").mkdir(parents=True)
    for split, ids in (("train", ["a", "b"]), ("test", ["c"])):
        pq.write_table(pa.table({"id": ids}), root / "data" / f"{split}-00000-of-00001.parquet")
    return root


def through_datasets(tmp_path: Path, code: str, *args: object, **more: str) -> str:
    """Run code with an empty cache of `datasets`, and offline unless `more` changes that."""
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", **more}
    code = (
        "import sys\nfrom ioi_eval.rows import open_source\nfrom ioi_eval.rows.hub import HubSource\n"
        "from ioi_eval.rows.source import SplitChoice\nfrom ioi_eval.errors import InputError\n" + code
    )
    argv = [sys.executable, "-c", code, *map(str, args)]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_configurations_of_a_year_are_read(tmp_path: Path, by_year: Path) -> None:
    """Only the selected years are loaded, and rows know their source."""
    code = """
source = HubSource(sys.argv[1], splits=SplitChoice()).with_configs(["2024", "2025"])
for row in [*source.iterate(["test_name"]), *source.iterate()]:
    print(row.source.replace(sys.argv[1], "ID"), row.number, dict(row.values))
print(source.describe().replace(sys.argv[1], "ID"))
try:
    HubSource(sys.argv[1], splits=SplitChoice()).with_configs(["2025"])
except InputError as error:
    print(error)
"""
    lines = through_datasets(tmp_path, code, by_year).splitlines()
    assert lines[0] == "the Hub data set ID (2024: train) 1 {'test_name': '0'}"
    assert lines[3] == "the Hub data set ID (2024: train) 2 {'year': 2024, 'test_name': '1'}"
    assert lines[4] == "the Hub data set ID (2024: train)"
    assert lines[5].endswith("has the configurations 2023, 2024, none of 2025")


def test_problems_are_read_from_all_splits(tmp_path: Path, two_splits: Path) -> None:
    """IOI 2024 is in the test split. For a dump only the train split is read. Years are not configurations here."""
    code = """
for all_splits in (True, False):
    source = HubSource(sys.argv[1], splits=SplitChoice(all_splits=all_splits)).with_configs(["2024"])
    print([row.values["id"] for row in source.iterate()], source.describe().rpartition(" (")[2])
"""
    assert through_datasets(tmp_path, code, two_splits).splitlines() == [
        "['a', 'b', 'c'] train, test)",
        "['a', 'b'] train)",
    ]


def test_the_message_for_an_unreachable_hub(tmp_path: Path) -> None:
    """A mistyped path with two parts looks like a Hub id. The message names both possibilities."""
    code = """
for spec in ("open-r1/ioi", "open-r1/ioi-test-cases:2024"):
    try:
        list(open_source(spec).iterate())
    except InputError as error:
        print(error)
"""
    first, second = through_datasets(tmp_path, code).splitlines()
    assert "there is no file or directory open-r1/ioi, so it was taken for a data set of the Hub" in first
    assert "Check the path or the name, the network, and HF_TOKEN" in first
    assert "open-r1/ioi-test-cases" in second


def test_rows_of_several_files_have_their_file_s_name(tmp_path: Path) -> None:
    """Rows are counted in each file, so the same number can mean different rows. The data set also has a loading
    script.
    """
    for file in ("test-00000-of-00002.jsonl", "test-00001-of-00002.jsonl", "train.jsonl"):
        put_rows(tmp_path / "hub", "lab/dump", [{"id": "a"}], file)
    (tmp_path / "hub" / "lab" / "dump" / "dump.py").write_text("import datasets\n")
    code = """
for row in HubSource("lab/dump", splits=SplitChoice(all_splits=True)).iterate():
    print(row.source, row.number)
"""
    with standing_in(tmp_path / "hub") as environment:
        lines = through_datasets(tmp_path, code, **{**environment, "HF_HUB_OFFLINE": "0"}).splitlines()
    assert lines == [
        "the Hub data set lab/dump (test, test-00000-of-00002.jsonl) 1",
        "the Hub data set lab/dump (test, test-00001-of-00002.jsonl) 1",
        "the Hub data set lab/dump (train) 1",
    ]
