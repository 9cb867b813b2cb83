"""Several sources named at once: with commas between them, and by patterns.

Source: `parse_datasets_to_evaluate` of huggingface/ioi, which takes commas, and `*` in the name behind the owner's.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from ioi_eval.errors import InputError
from ioi_eval.rows.hub import names_of_owner

_SPECIAL = re.compile(r"[*?\[]")
_OWNER_AND_NAME = re.compile(r"(?P<owner>[^/]+)/(?P<name>[^/]+)")
_NAMED = 10  # how many names a message lists
_ENDINGS = (".jsonl.gz", ".jsonl", ".parquet")
_PREFIX = "ioi-eval-"  # Source: the reference's generator puts it in front of a model's name, and its runner drops it


def named_sources(text: str) -> tuple[str, ...]:
    """The sources that a text names, each once, in order.

    Args:
        text: files, folders or ids of data sets of the Hub, with commas between them. A name with `*`, `?` or `[`
            stands for the files that it matches or, of data sets of the Hub, for those of the owner that it matches.

    Raises:
        InputError: a name is empty, nothing matches a pattern, or the Hub cannot be asked.
    """
    if os.path.exists(Path(text).expanduser()):  # `Path.exists` fails where a name is too long
        return (text,)  # its name may have a comma
    terms = [term.strip() for term in text.split(",")]
    if not all(terms):
        raise InputError(f"{text!r} names an empty data set: write names with one comma between them")
    return tuple(dict.fromkeys(name for term in terms for name in _matches(term)))


def _matches(term: str) -> Iterable[str]:
    if not _SPECIAL.search(term) or os.path.exists(Path(term).expanduser()):
        return (term,)
    if files := sorted(glob.glob(str(Path(term).expanduser()))):
        return files
    parts = _OWNER_AND_NAME.fullmatch(term)
    if parts is None or _SPECIAL.search(parts["owner"]):
        raise InputError(
            f"no file matches {term}; of data sets of the Hub a pattern may stand for the name, not for the owner: "
            "owner/name-*"
        )
    there = names_of_owner(parts["owner"])
    found = sorted(name for name in there if fnmatchcase(name, parts["name"]))
    if not found:
        more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
        has = f"; {parts['owner']} has {', '.join(sorted(there)[:_NAMED])}{more}" if there else ""
        raise InputError(f"no data set of the Hub matches {term}{has}")
    return [f"{parts['owner']}/{name}" for name in found]


def short_name(source: str) -> str:
    """What a source's results are called: its name without the owner, the folder, and the ending of a file.

    Source: the reference, which drops `ioi-eval-` too.
    """
    base = source.rstrip("/").rpartition("/")[2]
    ending = next((one for one in _ENDINGS if base.endswith(one)), "")
    return _plain(base.removesuffix(ending).removeprefix(_PREFIX)) or "results"


def result_names(sources: Iterable[str], occupied: Mapping[str, str]) -> dict[str, str]:
    """A name for the results of each source; no two share one.

    Args:
        sources: what is scored.
        occupied: names that are taken, with the source they belong to; empty for nobody's.

    Returns:
        By source, its short name; where another source has that already, with the owner's or folder's name in front,
        and a number where this is taken, too.
    """
    taken = dict(occupied)
    names: dict[str, str] = {}
    for source in sources:
        short = short_name(source)
        owner = _plain(source.rstrip("/").rpartition("/")[0].rpartition("/")[2])
        long = f"{owner}--{short}" if owner else short
        candidates = [short, long, *(f"{long}-{number}" for number in range(2, len(taken) + 3))]
        names[source] = next(name for name in candidates if taken.get(name, source) == source)
        taken[names[source]] = source
    return names


def _plain(name: str) -> str:
    """As a folder and as a configuration of the Hub may be called."""
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip(".-")
