"""APPS in the formats of the Hub, read through a stand-in of the Hub."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ioi_eval.report.result_files import result_rows
from tests.cli.addition import Start, Write
from tests.hub_stand_in import Hub, put_rows

DOUBLE = {
    "problem_id": 7,
    "question": "Print the double.",
    "solutions": json.dumps(["print(2 * int(input()))"]),
    "input_output": json.dumps({"inputs": ["2\n", "5\n"], "outputs": ["4\n", "10\n"]}),
    "difficulty": "introductory",
    "url": "",
    "starter_code": "",
}
OTHER = {**DOUBLE, "input_output": "", "solutions": ""}


def metr_evals(root: Path) -> str:
    """One Parquet file for each split."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = root / "metr-evals" / "apps" / "data"
    folder.mkdir(parents=True)
    for split, row in (("train", OTHER), ("test", DOUBLE)):
        pq.write_table(pa.Table.from_pylist([row]), folder / f"{split}-00000-of-00001.parquet")
    return "metr-evals/apps"


def codeparrot(root: Path) -> str:
    """One file for each split, and a loading script, which `datasets` no longer runs."""
    put_rows(root, "codeparrot/apps", [OTHER], "train.jsonl")
    put_rows(root, "codeparrot/apps", [DOUBLE], "test.jsonl")
    (root / "codeparrot" / "apps" / "apps.py").write_text("import datasets\n")
    return "codeparrot/apps"


@pytest.mark.parametrize("make", [metr_evals, codeparrot])
def test_apps_is_read_from_the_hub(start: Start, write: Write, hub: Hub, tmp_path: Path, make: type) -> None:
    """The test split is read with its columns."""
    name = make(hub.root)
    dump = write(
        "dump.jsonl",
        {"problem_id": 7, "code": "print(2 * int(input()))"},
        {"problem_id": 7, "code": "print(4)"},
    )
    ended = start("apps", "score", dump, "--dataset", name, "--out", "out", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert f"there is no file or directory {name}; asking the Hugging Face Hub (without a network" in ended.stderr
    again = start("apps", "score", dump, "--dataset", name, "--split", "valid", "--out", "other", env=hub.environment)
    assert [row["passed"] for row in result_rows(tmp_path / "out")] == [2, 1]
    assert again.returncode == 2
    assert "no such split 'valid'; there are: " in again.stderr
