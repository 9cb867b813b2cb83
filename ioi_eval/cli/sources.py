"""Opens the sources and results that several commands read, and prints what users should know of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ioi_eval.cli.messages import tell
from ioi_eval.errors import InputError, listed
from ioi_eval.rows import is_hub_name, open_source

if TYPE_CHECKING:
    from ioi_eval.problems.ioi import ProblemSet
    from ioi_eval.report.result_sets import ResultSet


def tell_hub_names(specs: Iterable[str]) -> None:
    """Print which sources are not files or directories: a mistyped path may have the form of a name on the Hub."""
    names = [spec for spec in dict.fromkeys(specs) if is_hub_name(spec)]
    if names:
        asking = "asking the Hugging Face Hub (without a network this takes half a minute)"
        tell(f"there is no file or directory {' or '.join(names)}; {asking}")


def contest_problems(problems: str, tests: str, *, years: Collection[int], ids: Collection[str]) -> ProblemSet:
    """Problems with their tests, which are stored in the cache: those of these years, and with these ids; all if none
    is named. InputError if there is no problem of one of the ids, or of all these years."""
    from ioi_eval.blobs import BlobStore
    from ioi_eval.problems.ioi import problems_without_tests, with_tests

    source, test_source = open_source(problems, all_splits=True), open_source(tests)
    drafts = problems_without_tests(source, years=years or None, ids=ids or None)
    found = {*drafts.problems, *drafts.unusable}
    absent = [name for name in ids if not any(key.is_among({name}) for key in found)]
    if absent or (years and not found):
        known = sorted({*found, *drafts.others}, key=lambda key: (key.year, key.id))
        named = [key for key in known if key.year in years] or known
        what = f"problem {listed(absent)}" if absent else "problem"
        of = f" of {listed(map(str, sorted(years)))}" if years else ""
        raise InputError(f"{source.describe()} has no {what}{of}; it has {listed(map(str, named))}")
    return with_tests(drafts, test_source, BlobStore())


def opened_results(*directories: Path, id_column: str | None) -> list[ResultSet]:
    """Open results, and print a line about each run that was stopped before all its submissions were judged.

    The column that names a submission is by default that of each run. A directory may be named twice.
    """
    from ioi_eval.report.result_sets import open_results

    opened = [open_results(directory, id_column=id_column) for directory in directories]
    tell(*dict.fromkeys(results.pending.warning(str(results.directory)) for results in opened if results.pending))
    return opened
