"""`ioi-eval export`: writes results in formats of other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ioi_eval.cli import options
from ioi_eval.cli.grouped import argument, option
from ioi_eval.errors import InputError, SetupError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from ioi_eval.report.publication import ExportFormat

_HEAD_BYTES, _TAIL_BYTES = 1 << 14, 1 << 20  # the end of a Parquet file holds the schema, which may be large


def export(
    directory: Annotated[Path, argument("DIR", "Results, as score or apps score wrote them.")],
    *,
    to: Annotated[str, option("--to FORMAT", "parquet, junit, inspect, eval-results or every-eval-ever.")],
    out: Annotated[
        Path | None, option("--out PATH", "The file, or the directory of files; by default one in DIR.")
    ] = None,
    settings: Annotated[
        list[str] | None, option("--set KEY=VALUE", "A setting of the format (model=o3); may be repeated.")
    ] = None,
    by: Annotated[
        list[str] | None,
        option(
            "--by COLUMN",
            "Write one file for each group of rows with the same values in these columns (model,temperature; a.b "
            "for a field); junit: add the group to the names of classes; parquet: no effect. By default, the "
            "column that names the model, if there is one. `--by none`: no groups.",
        ),
    ] = None,
    id_column: options.IdColumnOfRun = None,
) -> int:
    """Write results in another program's format.

    Nothing is judged. parquet: one table of all rows. junit: XML for a CI, one suite per problem. One file for each
    model: inspect (a log for `inspect view`), eval-results (YAML for the model's page on the Hub), every-eval-ever
    (JSON for its datastore).
    """
    from ioi_eval.cli.sources import opened_results
    from ioi_eval.pipeline.writing import replacing
    from ioi_eval.report.groups import grouping_of
    from ioi_eval.report.publication import format_named
    from ioi_eval.report.publication.material import Material, refuse_unknown
    from ioi_eval.rows import open_source

    form = format_named(to)
    given = _settings(settings or ())
    refuse_unknown(given, form.settings, to)
    [results] = opened_results(directory, id_column=id_column)
    grouping = grouping_of([open_source(results.path)], by)
    material = Material(results, grouping=grouping, settings=given)
    target = out if out is not None else results.directory / form.default_path
    names = form.files(material)
    paths = {name: target / name if name else target for name in names}
    _check(form, target, paths)

    def opened(name: str) -> AbstractContextManager[BinaryIO]:
        _make_directory(paths[name].parent)
        return replacing(paths[name], advice="Fix that, or name another --out")

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
    from ioi_eval.journal import check_writable

    is_directory = form.default_path.endswith("/")
    if is_directory and target.exists() and not target.is_dir():
        raise InputError(f"--out {target} is a file, and this format makes a directory of files; name a directory")
    if not is_directory and target.is_dir():
        raise InputError(f"--out {target} is a directory; name the file itself: {target / form.default_path}")
    for path in paths.values():
        if path.is_dir() or (path.exists() and not _is_ours(path)):
            raise InputError(
                f"{path} is there already and no export has written it; move it away, or name another --out"
            )
    check_writable(target if is_directory else target.parent)


def _is_ours(path: Path) -> bool:
    from ioi_eval.report.publication import MARK

    try:
        with path.open("rb") as file:
            if MARK in file.read(_HEAD_BYTES):
                return True
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            return MARK in file.read()
    except OSError as error:
        raise InputError(f"{path} is there already and cannot be read: {error.strerror}; name another --out") from error


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{directory} cannot be made: {error.strerror}; name another --out") from error
