"""Results in the formats of others, from results alone: one module a format.

A format is a module in this folder with `FORMAT`, and a line in `MODULES`. It says which files it makes and which
settings it accepts (`--set KEY=VALUE`), and writes them. Its caller chooses the place, checks for existing files, and
makes sure that no reader sees half of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import BinaryIO, Protocol

from ioi_eval.errors import InputError
from ioi_eval.report.publication.material import Material

Open = Callable[[str], AbstractContextManager[BinaryIO]]
"""Opens one of the files that a format makes, by the name that it gave it."""

MARK = b"ioi-eval export"
"""Stands in the first or the last part of every file that a format makes: what has it may be replaced."""

MODULES: Mapping[str, str] = {
    "parquet": "parquet_table",
    "junit": "junit",
    "inspect": "inspect_log",
    "eval-results": "eval_results",
    "every-eval-ever": "every_eval_ever",
}
"""By a format's name, its module."""


class ExportFormat(Protocol):
    """A format of others that results can be written in."""

    @property
    def place(self) -> str:
        """Where it goes beside the results, unless the user says otherwise: a file or, ending with `/`, a folder."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What users may set, and what that is."""

    def files(self, material: Material) -> Sequence[str]:
        """The files that it makes, below its folder; one without a name where it is a file itself.

        Raises:
            InputError: these results cannot be written so, or a setting is wrong.
        """

    def write(self, material: Material, open_file: Open) -> None:
        """Write all of them."""


def format_named(name: str) -> ExportFormat:
    """The format of that name.

    Raises:
        InputError: there is none.
    """
    if name not in MODULES:
        raise InputError(f"--to {name}: there is no such format; the formats are {', '.join(MODULES)}")
    found: ExportFormat = import_module(f"{__name__}.{MODULES[name]}").FORMAT
    return found
