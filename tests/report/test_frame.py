"""Results as a data frame."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from ioi_eval.errors import InputError
from ioi_eval.report.frame import load_results


def test_results_become_a_frame(tmp_path: Path) -> None:
    """A row a submission, in order; an unknown score is NaN, not 0."""
    rows = [{"uuid": "a", "total_score": 100.0, "fixes": []}, {"uuid": "b", "total_score": None, "fixes": ["includes"]}]
    (tmp_path / "results.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    frame = load_results(tmp_path)
    assert list(frame["uuid"]) == ["a", "b"]
    assert frame["total_score"].isna().tolist() == [False, True]
    assert frame["total_score"].mean() == 100
    assert list(load_results(tmp_path / "results.jsonl")["uuid"]) == ["a", "b"]


def test_no_results_is_an_error_that_says_what_makes_them(tmp_path: Path) -> None:
    """Also damaged ones."""
    with pytest.raises(InputError, match=f"ioi-eval score … --out {tmp_path}"):
        load_results(tmp_path)
    (tmp_path / "results.jsonl").write_text("{not json\n")
    with pytest.raises(InputError, match="to make it anew"):
        load_results(tmp_path)
