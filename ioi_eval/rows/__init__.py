"""Rows from wherever users keep them: JSONL (also gzipped), Parquet, folders of these, saved data sets, the Hub.

Every source streams: a row is in memory while it is looked at, and whatever is memory-mapped stays on disk. A source
can be read any number of times, in the same order. What cannot be read is an `InputError` that says where and what
to do; nothing is skipped silently.
"""

from __future__ import annotations

import re
from pathlib import Path

from ioi_eval.errors import InputError
from ioi_eval.rows.hub import HubSource
from ioi_eval.rows.jsonl import JsonLines
from ioi_eval.rows.source import Chain, Source, choose_splits, read_state
from ioi_eval.rows.tables import Parquet, SavedDataset

__all__ = ["ENDINGS", "HubSource", "Source", "open_source"]

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
_READABLE = f"{', '.join(ENDINGS)} files, or a data set saved by `save_to_disk`"
_HUB_ID = re.compile(r"(?P<name>[\w-][\w.-]*/[\w-][\w.-]*)(:(?P<config>[\w.-]+))?", re.ASCII)


def open_source(spec: str | Path, *, all_splits: bool = False) -> Source:
    """Open a source of rows.

    Args:
        spec: a file or folder, or the id of a data set of the Hub (`owner/name`, or `owner/name:configuration`).
        all_splits: of a data set with several splits, read all, one after the other (problems); else `train`, else
            `test`, else the only one. Which were taken stands in `describe()`.

    Raises:
        InputError: there is no such file, its ending says nothing, or no split is the obvious one.
    """
    path = Path(spec).expanduser()
    if path.is_dir():
        return _open_directory(path, all_splits)
    if path.exists():
        return _open_file(path)
    hub = _HUB_ID.fullmatch(str(spec))
    if hub is None or str(spec).endswith(ENDINGS):
        raise InputError(f"there is no file or folder {spec}; check the path")
    return HubSource(hub["name"], configs=[hub["config"]] if hub["config"] else [], all_splits=all_splits)


def _open_directory(path: Path, all_splits: bool) -> Source:
    if (path / "dataset_dict.json").is_file():
        there = [str(name) for name in read_state(path / "dataset_dict.json").get("splits", [])]
        taken = choose_splits(there, all_splits, f"the saved data set {path}", f"one of its folders ({path}/<split>)")
        return Chain([SavedDataset(path / split) for split in taken], f"{path} (split {', '.join(taken)})")
    if (path / "state.json").is_file():
        return SavedDataset(path)
    files = sorted(
        file
        for file in path.rglob("*")
        if file.name.endswith(ENDINGS)
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise InputError(f"the folder {path} holds nothing that can be read as rows: {_READABLE}")
    return Chain([_open_file(file) for file in files], f"{path} ({len(files)} files)")


def _open_file(path: Path) -> Source:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return JsonLines(path)
    if path.name.endswith(".parquet"):
        return Parquet(path)
    raise InputError(f"{path} cannot be read as rows: its ending must be one of {', '.join(ENDINGS)}")
