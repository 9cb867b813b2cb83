"""Several sources in one argument: with commas between them, or as patterns.

Source: `parse_datasets_to_evaluate` of huggingface/ioi, which accepts commas, and `*` in the name after the owner's.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from ioi_eval.errors import InputError, listed
from ioi_eval.rows.source import ENDINGS

_SPECIAL = re.compile(r"[*?\[]")
_OWNER_AND_NAME = re.compile(r"(?P<owner>[^/]+)/(?P<name>[^/]+)")
_PREFIX = "ioi-eval-"  # Source: the reference's generator adds it before a model's name, and its runner removes it


def named_sources(text: str) -> tuple[str, ...]:
    """The sources that a text names, each once, in order.

    They are files, directories or ids of data sets of the Hub, with commas between them. A name with `*`, `?` or `[`
    stands for the files that it matches or, of data sets of the Hub, for those of the owner that it matches.
    """
    if os.path.exists(os.path.expanduser(text)):  # `Path.exists` fails where a name is too long
        return (text,)  # a file whose name contains a comma
    terms = [term.strip() for term in text.split(",")]
    if not all(terms):
        raise InputError(f"{text!r} names an empty data set: write names with one comma between them")
    return tuple(dict.fromkeys(name for term in terms for name in _matches(term)))


def _matches(term: str) -> Iterable[str]:
    if not _SPECIAL.search(term) or os.path.exists(os.path.expanduser(term)):
        return (term,)
    if files := sorted(glob.glob(os.path.expanduser(term))):
        return files
    parts = _OWNER_AND_NAME.fullmatch(term)
    if parts is None or _SPECIAL.search(parts["owner"]):
        raise InputError(
            f"no file matches {term}; of data sets of the Hub a pattern may stand for the name, not for the owner: "
            "owner/name-*"
        )
    from ioi_eval.rows.hub import names_of_owner

    data_sets = names_of_owner(parts["owner"])
    names = sorted(name for name in data_sets if fnmatchcase(name, parts["name"]))
    if not names:
        has = f"; {parts['owner']} has {listed(sorted(data_sets))}" if data_sets else ""
        raise InputError(f"no data set of the Hub matches {term}{has}")
    return [f"{parts['owner']}/{name}" for name in names]


def _short_name(source: str) -> str:
    """The name for a source's results: without the owner, the directory, and a file's ending.

    Source: the reference, which removes `ioi-eval-` too.
    """
    base = source.rstrip("/").rpartition("/")[2]
    ending = next((suffix for suffix in ENDINGS if base.endswith(suffix)), "")
    return _name_of_directory(base.removesuffix(ending).removeprefix(_PREFIX)) or "results"


def result_names(sources: Iterable[str], occupied: Mapping[str, str]) -> dict[str, str]:
    """A name for the results of each source; no two share one.

    It is the source's short name. If another source has it already, the owner's or directory's name is added before it;
    if that is used too, also a number. `occupied` has names that are already used, with the source of each (an empty
    text if it belongs to none of ours).
    """
    taken = dict(occupied)
    names: dict[str, str] = {}
    for source in sources:
        short = _short_name(source)
        owner = _name_of_directory(source.rstrip("/").rpartition("/")[0].rpartition("/")[2])
        long = f"{owner}--{short}" if owner else short
        candidates = [short, long, *(f"{long}-{number}" for number in range(2, len(taken) + 3))]
        names[source] = next(name for name in candidates if taken.get(name, source) == source)
        taken[names[source]] = source
    return names


def _name_of_directory(name: str) -> str:
    """The text as a name that is valid for a directory and for a configuration of the Hub."""
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip(".-")
