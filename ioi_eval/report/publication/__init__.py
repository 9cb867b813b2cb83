"""Writes results in formats of other programs: one module per format.

Each of these modules defines `FORMAT` and is listed in `MODULES`. A format names its files and its settings
(`--set KEY=VALUE`), and writes the files from a `Material`, which `material` reads. The caller chooses the directory,
checks for existing files, and ensures that no reader sees an incomplete file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from typing import BinaryIO

from ioi_eval.errors import InputError, unknown
from ioi_eval.report.publication.material import Material

MARK = b"ioi-eval export"
"""Is in the first or the last part of every exported file; files with this mark may be replaced."""

MODULES: Mapping[str, str] = {
    "parquet": "parquet_table",
    "junit": "junit",
    "inspect": "inspect_log",
    "eval-results": "eval_results",
    "every-eval-ever": "every_eval_ever",
}
"""The module of each format, by the format's name."""

Open = Callable[[str], AbstractContextManager[BinaryIO]]
"""Opens a file for writing, by a name from `ExportFormat.files`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A format of another program.

    Args:
        default_path: the default path in the directory of the results: a file or, ending with `/`, a directory.
        settings: the settings that users may give, each with its meaning.
        files: the names of its files in its directory; one empty name if the format is a single file. An `InputError`
            if these results cannot be written in this format, or a setting is wrong.
    """

    default_path: str
    write: Callable[[Material, Open], None]
    settings: Mapping[str, str] = field(default_factory=dict)
    files: Callable[[Material], Sequence[str]] = lambda _: ("",)


def format_named(name: str) -> ExportFormat:
    """The format of that name."""
    if name not in MODULES:
        raise InputError(unknown("format", name, MODULES))
    export_format: ExportFormat = import_module(f"{__name__}.{MODULES[name]}").FORMAT
    return export_format
