"""Packages as directories, and the problems that are read from their rows."""

from __future__ import annotations

import json
import os
import socket
import zipfile
from collections.abc import Mapping
from pathlib import Path

from ioi_eval.blobs import BlobStore
from ioi_eval.importers.rows_out import write_rows
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import Problem
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source


def write_package(where: Path, files: Mapping[str, object]) -> Path:
    """Write a package as a directory: texts and bytes unchanged, other values as JSON; `None` leaves a file out."""
    for name, content in files.items():
        if content is None:
            continue
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return where


def as_zip(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files to a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def put_socket(at: Path) -> None:
    """Create a socket that no process listens on."""
    here = os.getcwd()
    os.chdir(at.parent)
    try:
        socket.socket(socket.AF_UNIX).bind(at.name)
    finally:
        os.chdir(here)


def loaded(tmp_path: Path, task: ImportedTask) -> Problem:
    """The problem that is read from the written rows."""
    written = write_rows([task], tmp_path / "rows")
    found = load_problems(open_source(written.problems), open_source(written.tests), BlobStore(tmp_path / "cache"))
    assert not found.unusable
    return found.problems[task.key]
