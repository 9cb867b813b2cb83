"""Importers, sandboxes and sources of rows from other Python packages, found by entry points.

A package names them in its `pyproject.toml`:

    [project.entry-points."ioi_eval.importers"]
    timus = "my_package.timus:import_package"

`Kind` says what each kind is. An importer or sandbox with a name of ours is not used. Nothing of another package
is imported before its name is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ioi_eval.errors import ODD_DATA, InputError, similar


class Kind(StrEnum):
    """The groups of entry points."""

    IMPORTER = "ioi_eval.importers"
    """A function with the arguments of `ioi_eval.importers.cms.import_package` (also `day`) that returns an
    `ioi_eval.importers.task.ImportedTask`: `ioi-eval import NAME PACKAGE…` calls it."""

    SANDBOX = "ioi_eval.sandboxes"
    """A function without arguments that returns an async context manager of an `ioi_eval.sandbox.Sandbox`, for
    `--sandbox NAME`."""

    SOURCE = "ioi_eval.sources"
    """A function that turns the text behind `NAME://` into an `ioi_eval.rows.Source`, for every argument that names
    rows. Its rows may have numbers and arrays of numpy."""


_NOUNS = {Kind.IMPORTER: "importer", Kind.SANDBOX: "sandbox", Kind.SOURCE: "source of rows"}


def names(kind: Kind) -> list[str]:
    """The names of the extensions of a kind in installed packages, sorted."""
    return sorted({entry_point.name for entry_point in entry_points(group=kind)})


def extension(kind: Kind, name: str, *, ours: Iterable[str] = ()) -> Any:
    """The extension with a name. `ours` are the names that this package itself has, for the message: it may be one of
    them, mistyped."""
    named: list[EntryPoint] = list(entry_points(group=kind, name=name))
    if not named:
        own, others = list(ours), names(kind)
        if near := similar(name, [*own, *others]):
            raise InputError(f"no such {_NOUNS[kind]} {name!r}. Did you mean '{near}'?")
        raise InputError(
            f"no such {_NOUNS[kind]} {name!r}; "
            + (f"ours are {', '.join(own)}; " if own else "")
            + f"installed packages have {', '.join(others) or 'none'} (entry points in the group {kind})"
        )
    if len({entry_point.value for entry_point in named}) > 1:
        packages = ", ".join(sorted(_package(entry_point) for entry_point in named))
        raise InputError(
            f"several packages have an entry point {name!r} in the group {kind}: {packages}; uninstall all but one"
        )
    try:
        return named[0].load()
    except (ImportError, SyntaxError, OSError, *ODD_DATA) as error:
        raise InputError(
            f"the entry point {name!r} ({named[0].value}) of the package {_package(named[0])} cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def _package(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist is not None else entry_point.value
