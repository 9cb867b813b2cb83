"""Reads rows: from JSONL (also gzipped), Parquet, directories of these, saved data sets, and the Hub.

Every source streams: only the current row of JSONL is in memory, or a small batch of decoded rows of a table, and
memory-mapped data stays on disk. A source can be read any number of times, in the same order. If something cannot be
read, an `InputError` says where and what to do; nothing is skipped silently.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from ioi_eval.errors import InputError, NotReadWarning, listed, similar
from ioi_eval.problems.row import Source
from ioi_eval.rows.altered import Altered, KeptColumns, PlainValues
from ioi_eval.rows.jsonl import JsonLines
from ioi_eval.rows.names import named_sources, result_names
from ioi_eval.rows.packages import FORMATS
from ioi_eval.rows.source import ENDINGS, OBVIOUS, Chain, SplitChoice, read_state, refuse_pointer, split_in

__all__ = [
    "ENDINGS",
    "Altered",
    "KeptColumns",
    "Source",
    "is_hub_id",
    "is_hub_name",
    "joined_dumps",
    "named_sources",
    "open_source",
    "reads_all_files",
    "result_names",
]

_READABLE = f"{', '.join(ENDINGS)} files, or a data set saved by `save_to_disk`"
_IMPORT = "`ioi-eval import` makes rows of the package of a problem"
_ADVICE = {
    ".json": "For a list in JSON: jq -c '.[]' FILE.json > FILE.jsonl; if each line is an object, rename it",
    ".csv": "In Python: pandas.read_csv('FILE.csv', dtype=str, keep_default_na=False).to_parquet('FILE.parquet')",
    ".zst": "Unpack it: unzstd FILE.zst",
    ".arrow": "Give the directory that `Dataset.save_to_disk` made; or, in Python: "
    "datasets.Dataset.from_file('FILE.arrow').to_parquet('FILE.parquet')",
    **dict.fromkeys((".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz"), _IMPORT),
    ".bz2": "Unpack it: bunzip2 FILE.bz2",
    ".xz": "Unpack it: unxz FILE.xz",
    ".ndjson": "Rename it: FILE.jsonl",
}
"""What to do with files of other formats; the first ending that fits counts."""
_ROWS = (*ENDINGS, ".jsonl.zst", ".jsonl.bz2", ".jsonl.xz", ".ndjson", ".arrow")
"""Files of a directory that have rows. Those that cannot be read are refused: their rows would be missing silently."""
_UNREAD = (".csv", ".json")
"""Files of a directory that may have rows or something else. They are not read, and a warning names them. (A JSON file
counts only if it is a list, or has an object in each of several lines.)"""
_LONGEST_FIRST_LINE = 64 * 1024 * 1024  # of a JSON file; the largest row of a real data set has 22 MB
_SPLITS, _STATE = "dataset_dict.json", "state.json"
"""The files by which a directory is a saved data set, with splits and without."""

_HUB_ID = re.compile(r"(?P<name>[\w-][\w.-]*/[\w-][\w.-]*)(:(?P<config>[\w.-]+))?", re.ASCII)

_SHARD = re.compile(r"(?P<before>.*-)(?P<number>\d+)-of-(?P<count>\d+)(?:-[0-9a-f]{16})?(?P<after>\..*)")
"""The name of a file that has a part of the rows, as `datasets` gives it: `train-00000-of-00003.parquet`. Older
versions added a hash: `train-00000-of-00003-b42a775f407cee45.parquet`."""

_CSV = re.compile(rb"[\xef\xbb\xbf]*(\"?)[A-Za-z_][\w .-]*\1[,;\t]")
"""How a CSV file with a header begins. No line of JSON Lines does."""

_EXTENSION = re.compile(r"(?P<name>[a-z][a-z0-9_-]*)://(?P<rest>.*)", re.ASCII)


def open_source(
    spec: str | Path, *, all_splits: bool = False, split: str | None = None, obvious: Sequence[str] = OBVIOUS
) -> Source:
    """Open a source of rows.

    Args:
        spec: a file or directory, the id of a data set of the Hub (`owner/name`, or `owner/name:configuration`), or
            `NAME://…` for a source that another Python package provides (`ioi_eval.extensions`).
        all_splits: if a data set has several splits, read all, one after the other (problems); otherwise the first of
            `obvious`, else the only one. `describe()` names the splits that were chosen.
        split: read only this one. A source without splits (a file that is not named after one, or a data set
            that was saved without any) is then refused.
        obvious: the splits that are chosen by default, in order of preference. If this or `split` is given, files of a
            directory are splits, by their names (`test.jsonl`, `test-00000-of-00002.parquet`, `test/…`).

    Raises:
        InputError: the name is empty, there is no such file, it cannot be read, its ending is unknown, or no split is
            the obvious one.
    """
    if spec == "":  # as a path, it would be the working directory
        raise InputError("the name of a source of rows is empty; give a file, a directory or the id of a data set")
    splits = SplitChoice(split=split, all_splits=all_splits, obvious=tuple(obvious))
    path = Path(os.path.expanduser(spec))  # `Path.expanduser` fails for a user who does not exist
    try:
        if path.is_dir():
            return _open_directory(path, splits)
        if path.exists():
            source = _open_file(path)
            _require_split(split, (split_in(path.name), path.parent.name), path)
            return source
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror}") from error
    if other := _EXTENSION.fullmatch(str(spec)):
        return _from_extension(other["name"], other["rest"], split)
    hub = _HUB_ID.fullmatch(str(spec))
    if hub is None or not is_hub_name(str(spec)):
        is_list = "," in str(spec) and all(map(os.path.exists, str(spec).split(",")))
        several = "give one source of rows, such as a directory with all of these files"
        advice = several if is_list else "check the path"
        raise InputError(f"there is no file or directory {spec}; {advice}")
    from ioi_eval.rows.hub import HubSource

    configs = [hub["config"]] if hub["config"] else []
    return HubSource(hub["name"], configs=configs, splits=splits)


def is_hub_name(spec: str) -> bool:
    """Whether a source is read from the Hub: no such file or directory exists, and it has the form of a name there."""
    is_name = _HUB_ID.fullmatch(spec) is not None and not spec.endswith(ENDINGS)
    return is_name and not os.path.exists(os.path.expanduser(spec))


def is_hub_id(text: str) -> bool:
    """Whether a text has the form of a data set's id on the Hub: `owner/name`, which is not that of a file."""
    parts = _HUB_ID.fullmatch(text)
    return parts is not None and parts["config"] is None and not text.endswith((*ENDINGS, ".json"))


def reads_all_files(spec: str) -> bool:
    """Whether a source is a directory of which all files with rows are read (unless a split is chosen)."""
    path = os.path.expanduser(spec)
    return os.path.isdir(path) and not any(os.path.isfile(os.path.join(path, name)) for name in (_SPLITS, _STATE))


def _from_extension(name: str, rest: str, split: str | None) -> Source:
    from ioi_eval.extensions import Kind, extension, names

    known = names(Kind.SOURCE)
    if name not in known and similar(name, known) is None:
        also = f". Sources of installed packages are {', '.join(f'{other}://' for other in known)}" if known else ""
        raise InputError(
            f"{name}://{rest} is a URL, which is not read; download it and give the file, "
            f"or, for a data set of the Hub, its id (owner/name){also}"
        )
    source = extension(Kind.SOURCE, name)(rest)
    if not isinstance(source, Source):
        raise InputError(f"{name}://{rest}: its package gives a {type(source).__name__}, not an ioi_eval.rows.Source")
    if split is not None:
        raise InputError(f"{name}://{rest} has no splits, so there is none called {split!r}; leave out the split")
    return PlainValues(source)


def joined_dumps(sources: Sequence[tuple[str, Source]]) -> Source:
    """Several dumps, each with its name on the command line, as one, in their order.

    One that is named twice, or is inside another one, is refused: each of its rows would count twice.
    """
    names = [name for name, _ in sources]
    paths = [os.path.realpath(os.path.expanduser(name)) for name in names]
    for number, path in enumerate(paths):
        if path in paths[:number]:
            raise InputError(f"{names[number]} is named twice; give each dump once")
    for directory, path in product([path for path in paths if os.path.isdir(path)], paths):
        if directory != path and Path(path).is_relative_to(directory):
            outer, inner = names[paths.index(directory)], names[paths.index(path)]
            raise InputError(f"{inner} is in {outer}, whose files are all read; give each dump once")
    if len(sources) == 1:
        return sources[0][1]
    return Chain([source for _, source in sources], ", ".join(source.describe() for _, source in sources))


def _open_directory(path: Path, splits: SplitChoice) -> Source:
    if os.path.isfile(path / _SPLITS):  # `Path.is_file` fails, and names that file, if the directory may not be read
        from ioi_eval.rows.tables import SavedDataset

        existing = [str(name) for name in read_state(path / _SPLITS).get("splits", [])]
        instead = f"one of its directories ({path}/<split>)"
        what = f"the saved data set {path}"
        chosen = splits.among(existing, what, instead)
        return Chain([SavedDataset(path / split) for split in chosen], f"{path} (split {', '.join(chosen)})")
    if os.path.isfile(path / _STATE):
        from ioi_eval.rows.tables import SavedDataset

        _require_split(splits.split, (str(read_state(path / _STATE).get("_split") or ""), path.name), path)
        return SavedDataset(path)
    found = _files_with_rows(path)
    files = [file for file in found if file.name.endswith(_ROWS)]
    if not files:
        is_package = any((path / name).exists() for name in FORMATS)
        advice = f". {_IMPORT}" if is_package else next(filter(None, map(_advice, sorted(os.listdir(path)))), "")
        raise InputError(f"the directory {path} holds nothing that can be read as rows: {_READABLE}{advice}")
    for ending in _UNREAD:
        if unread := [str(file.relative_to(path)) for file in found if file.name.endswith(ending)]:
            warnings.warn(f"{path}: not read: {listed(unread)}{_advice(ending)}", NotReadWarning, stacklevel=1)
    if splits.split is not None or splits.obvious != OBVIOUS:
        return _by_split(path, files, splits)
    return Chain([_open_file(file) for file in files], f"{path} ({len(files)} files)")


def _files_with_rows(path: Path) -> list[Path]:
    """The files below a directory that have rows, or may have, sorted; not those that are hidden.

    A link to a directory is refused. Links to nothing are among them, so that opening them fails: their rows would be
    missing silently.
    """

    def fail(error: OSError) -> None:
        raise error

    files: list[Path] = []
    for directory, below, names in os.walk(path, onerror=fail):
        below[:] = [name for name in below if not name.startswith(".")]
        if links := [link for link in (Path(directory, name) for name in sorted(below)) if link.is_symlink()]:
            raise InputError(
                f"{links[0]} is a link to a directory, and such links are not followed; name that directory itself, or"
                " replace the link by its files"
            )
        wanted = [name for name in names if name.endswith((*_ROWS, *_UNREAD)) and not name.startswith(".")]
        files += [file for file in (Path(directory, name) for name in wanted) if _may_have_rows(file)]
    _require_all_parts(str(file) for file in files if file.name.endswith(_ROWS))
    return sorted(file for file in files if file.is_file() or file.is_symlink())


def _may_have_rows(file: Path) -> bool:
    """Whether a file is not JSON, is a list in JSON, or is JSON Lines. (One JSON object describes the data set.)"""
    if not (file.name.endswith(".json") and file.is_file()):
        return True
    with file.open("rb") as opened:
        first, second = opened.readline(_LONGEST_FIRST_LINE), opened.readline(100)
    is_line = first.rstrip().endswith(b"}") and second.lstrip().startswith(b"{")
    return is_line or first.lstrip().startswith(b"[")


def _require_all_parts(paths: Iterable[str]) -> None:
    names = filter(None, map(_SHARD.fullmatch, paths))
    parts = {name.group("before", "count", "after", "number") for name in names}
    for (before, count, after), number in Counter(part[:3] for part in parts).items():
        if number < int(count):
            raise InputError(
                f"{before}…-of-{count}{after}: only {number} of {int(count)} files are there; get the others, or name"
                " the files to be read instead of the directory"
            )


def _require_split(split: str | None, names: tuple[str, str], path: Path) -> None:
    """Refuse a source that is not the wanted split (`None`: any). Its `names` are the split that it states, empty if it
    states none, and the name of its directory, which may be that of a split."""
    if split is not None and split not in names:
        problem = f"is the split {names[0]}, not" if names[0] else "has no splits, so there is none called"
        raise InputError(
            f"{path} {problem} {split!r}; leave out the split, or give the directory or data set that has it"
        )


def _by_split(path: Path, files: Sequence[Path], splits: SplitChoice) -> Source:
    """The files of one split; all files, if the user named no split and the name of a file states none."""
    named: dict[str, list[Path]] = {}
    for file in files:
        named.setdefault(split_in(str(file.relative_to(path))), []).append(file)
    if "" in named and splits.split is None:
        return Chain([_open_file(file) for file in files], f"{path} ({len(files)} files)")
    existing = sorted(named.keys() - {""})
    (chosen,) = replace(splits, all_splits=False).among(existing, f"the directory {path}", "one of its files")
    parts = [_open_file(file) for file in named[chosen]]
    return Chain(parts, f"{path} (split {chosen}, {len(parts)} files)")


def _open_file(path: Path) -> Source:
    if path.name.endswith(ENDINGS):
        with path.open("rb") as file:
            start = file.read(100)
        refuse_pointer(start, path)
        _refuse_other_format(start, path)
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return JsonLines(path)
    if path.name.endswith(".parquet"):
        from ioi_eval.rows.tables import Parquet

        return Parquet(path)
    raise InputError(
        f"{path} cannot be read as rows: its ending must be one of {', '.join(ENDINGS)}{_advice(path.name)}"
    )


def _refuse_other_format(start: bytes, path: Path) -> None:
    """Refuse a file with the ending of another format: it would be called damaged, and to get it again would not help.

    Gzip with the ending `.jsonl` is recognised when its first line is read.
    """
    for kind, first, ending in (("Parquet", b"PAR1", ".parquet"), ("JSON", b"{", ".jsonl")):
        if start.startswith(first) and not path.name.endswith(ending):
            raise InputError(f"{path} is {kind}: name it {ending}")
    if path.name.endswith(".jsonl") and _CSV.match(start):
        raise InputError(f"{path} looks like CSV, and not like JSON Lines{_advice('.csv')}")


def _advice(name: str) -> str:
    """What to do with a file of another format, by its name; empty if nothing is known."""
    return next((f". {advice}" for ending, advice in _ADVICE.items() if name.endswith(ending)), "")
