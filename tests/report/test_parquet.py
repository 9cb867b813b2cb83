"""Rows as Parquet: a column's type fits all rows. Without a common type it is text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from huggingface_hub import RepoCard

from ioi_eval.errors import InputError
from ioi_eval.report.hub import card_with
from ioi_eval.report.parquet import BATCH, write_parquet

ROWS = 3 * BATCH


def rows() -> Iterator[dict[str, Any]]:
    """The last rows of each column have other types than the first ones."""
    for number in range(ROWS):
        late = number >= ROWS - 3
        yield {
            "id": number,
            "late_text": "here" if late else None,
            "late_half": 0.5 if late else 1,
            "lists": [{"name": "a", "count": 1}] if late else [],
            "objects": {"other": 1} if late else {"usage": {"tokens": number}},
            "empty": {},
            "mixed": number if late else "text",
            "large": 1 << 80,
            "large_then_half": (1 << 60) + 1 if number < BATCH else 0.5,
            **({"new": True} if late else {}),
        }


def test_types_fit_all_rows(tmp_path: Path) -> None:
    """No value of any row is lost."""
    path = tmp_path / "rows.parquet"
    write_parquet(path, rows)
    found = pq.read_table(path).to_pylist()
    assert len(found) == ROWS
    first, last = found[0], found[-1]
    assert (first["late_text"], last["late_text"], first["late_half"], last["late_half"]) == (None, "here", 1.0, 0.5)
    assert (first["lists"], last["lists"]) == ([], [{"name": "a", "count": 1}])
    assert (first["objects"]["usage"], last["objects"]["other"]) == ({"tokens": 0}, 1)
    assert (json.loads(first["empty"]), first["mixed"], last["mixed"]) == ({}, "text", str(ROWS - 1))
    assert (json.loads(first["large"]), first["new"], last["new"]) == (1 << 80, None, True)
    assert (first["large_then_half"], last["large_then_half"]) == (str((1 << 60) + 1), "0.5")


def test_a_card_keeps_other_configurations() -> None:
    """With their columns, the licence and the text."""
    card = (
        "---\nlicense: mit\nconfigs:\n- config_name: a\n  data_files: old\n- config_name: b\n  data_files: b/*\n"
        "dataset_info:\n- config_name: a\n  features: []\n- config_name: b\n  features: []\n---\n\n# Mine\n"
    )
    new = card_with(card, "a")
    assert new.endswith("---\n\n# Mine\n")
    for kept in ("license: mit", "path: a/train-*", "data_files: b/*"):
        assert kept in new
    assert new.count("config_name: a") == 1
    assert card_with("---\n---\n# Mine\n", "a").endswith("---\n# Mine\n")
    assert "config_name: a\n  data_files:\n  - split: train\n    path: a/train-*\n" in card_with("", "a")
    for head in (": [", "date: 2024-99-99", "dataset_info: [x]"):
        with pytest.raises(InputError, match=r"the head of the data set's README\.md cannot be read"):
            card_with(f"---\n{head}\n---\n", "a")


@pytest.mark.parametrize("card", ["# Mine\n", "\n---\n---\n# Mine\n", "---\nlicense: mit\n---", ""])
def test_a_card_has_a_head_that_ends(card: str) -> None:
    """Also if it had none. Otherwise the Hub does not see the configurations: load_dataset does not find them."""
    new = card_with(card, "a")
    assert [entry["config_name"] for entry in RepoCard(new).data["configs"]] == ["a"]
    assert ("# Mine" in new) == ("# Mine" in card)
    assert card_with(new, "a") == new
