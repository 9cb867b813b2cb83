"""Writing results in formats of other programs: what `export` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from ioi_eval.cli.export import ExportCall
from ioi_eval.cli.sources import opened_results
from ioi_eval.errors import InputError, SetupError
from ioi_eval.journal import check_writable
from ioi_eval.pipeline.writing import replacing
from ioi_eval.report.groups import grouping_of
from ioi_eval.report.publication import MARK, ExportFormat, format_named
from ioi_eval.report.publication.material import Material, refuse_unknown
from ioi_eval.rows import open_source

_HEAD_BYTES, _TAIL_BYTES = 1 << 14, 1 << 20  # the end of a Parquet file holds the schema, which may be large


def write_export(call: ExportCall) -> int:
    """Write the results of a directory.

    Raises:
        InputError: there is no such format or setting, there are no results, or `out` already exists.
        SetupError: it cannot be written.
    """
    form = format_named(call.to)
    given = _settings(call.settings or ())
    refuse_unknown(given, form.settings, call.to)
    [results] = opened_results(call.directory, id_column=call.id_column)
    grouping = grouping_of([open_source(results.path)], call.by)
    material = Material(results, grouping=grouping, settings=given)
    target = call.out if call.out is not None else results.directory / form.default_path
    names = form.files(material)
    paths = {name: target / name if name else target for name in names}
    _check(form, target, paths)

    def opened(name: str) -> AbstractContextManager[BinaryIO]:
        _make_folder(paths[name].parent)
        return replacing(paths[name], advice="Mend that, or name another --out")

    form.write(material, opened)
    for path in paths.values():
        print(f"Written: {path}")
    return 0


def _settings(given: Sequence[str]) -> Mapping[str, str]:
    settings = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key or not value.strip():
            raise InputError(f"--set {text}: it must be KEY=VALUE, as in organization=EvalLab")
        if key in settings:
            raise InputError(f"--set {key} is given twice: give it once")
        settings[key] = value
    return settings


def _check(form: ExportFormat, target: Path, paths: Mapping[str, Path]) -> None:
    """Refuse to replace a file that was not written by an export. Called before anything is written."""
    is_folder = form.default_path.endswith("/")
    if is_folder and target.exists() and not target.is_dir():
        raise InputError(f"--out {target} is a file, and this format makes a folder of files; name a folder")
    if not is_folder and target.is_dir():
        raise InputError(f"--out {target} is a directory; name the file itself: {target / form.default_path}")
    for path in paths.values():
        if path.is_dir() or (path.exists() and not _is_ours(path)):
            raise InputError(
                f"{path} is there already and no export has written it; move it away, or name another --out"
            )
    check_writable(target if is_folder else target.parent)


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            if MARK in file.read(_HEAD_BYTES):
                return True
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            return MARK in file.read()
    except OSError as error:
        raise InputError(f"{path} is there already and cannot be read: {error.strerror}; name another --out") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{folder} cannot be made: {error.strerror}; name another --out") from error
