"""Reports of existing results: what `report` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.journal import check_writable
from ioi_eval.journal.opening import LOCK, locked, locked_for_reading
from ioi_eval.pipeline.unchanged import STATE
from ioi_eval.pipeline.writing import replacing, write_summary
from ioi_eval.report.groups import Grouping, grouping_of
from ioi_eval.report.html import Page
from ioi_eval.report.html_rows import GROUP
from ioi_eval.report.markdown import markdown_report
from ioi_eval.report.result_files import PAGE, REPORT, RESULTS
from ioi_eval.report.result_sets import Family, has_column, no_id_column, required_first_row
from ioi_eval.report.result_values import NamedRow
from ioi_eval.report.standings import no_contest, read_standings
from ioi_eval.report.summary_from_rows import summary_from_rows
from ioi_eval.report.terminal import terminal_report
from ioi_eval.rows import open_source

MakeText = Callable[[Mapping[str, Any]], str]


def remake(
    directories: Sequence[Path],
    out: Path | None,
    id_column: str | None = None,
    *,
    by: Sequence[str] | None = None,
    standings: str | None = None,
) -> int:
    """Make all reports of some results anew, and show the result. Returns the exit code: 1 if they are not complete.

    The arguments are the options of `report`; of several runs, only some may have the `id_column`.
    """
    target = _target(directories, out)
    for directory in directories:
        required_first_row(directory)
    check_writable(target)
    with ExitStack() as stack:
        is_locked = _keep_runs_out(stack, directories, target)
        chosen = grouping_of([open_source(directory / RESULTS) for directory in directories], by) if by else None
        beside = read_standings(standings)
        page = Page(directories, id_column=id_column, by=None if chosen is None else chosen.columns, standings=beside)
        if page.family is Family.CONTEST:
            _require_ids(page, id_column)
        if standings is not None and page.family is Family.APPS:
            raise InputError("results of APPS problems have no contests to compare with; leave --standings out")
        if standings is not None and not page.contests:
            raise no_contest(standings, beside, ", ".join(map(str, directories)))
        if not is_locked:
            target.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(target, []))
        values, markdown, terminal = _summarized(page, chosen)
        text = markdown(values)
        if values != page.results[0].summary:
            (target / STATE).unlink(missing_ok=True)  # otherwise the next run would keep these files as they are
        with replacing(target / PAGE) as file:
            page.write(file, noscript=text)
        write_summary(target, values, text)  # after the page: if that fails, a wrong value must still be there
    print(terminal(values))
    print(f"\nReport:  {target / REPORT}\nPage:    {target / PAGE}")
    return 0 if values["complete"] else 1


def _require_ids(page: Page, id_column: str | None) -> None:
    """Refuse results without the column with the ids. Of several, one must have the column that was asked for."""
    if id_column is not None and all(results.id_column != id_column for results in page.results):
        raise no_id_column(page.results[0].directory, id_column)
    for results in page.results:
        if not has_column(results.directory, results.id_column):
            raise no_id_column(results.directory, results.id_column)


def _keep_runs_out(stack: ExitStack, directories: Sequence[Path], target: Path) -> bool:
    """Keep runs out of directories until the stack is closed: a run would replace the files that are read.

    Returns whether the target is locked. It is not if no run has been there, because a refusal must leave it as it is.
    """
    for directory in directories:
        if directory.resolve() != target.resolve():
            stack.enter_context(locked_for_reading(directory))
    if not (target / LOCK).exists():
        return False
    stack.enter_context(locked(target, []))
    return True


def _target(directories: Sequence[Path], out: Path | None) -> Path:
    if out is None:
        if len(directories) > 1:
            raise InputError("several directories need --out: where the report of all of them goes")
        return directories[0]
    others = all(out.resolve() != directory.resolve() for directory in directories)
    if (others or len(directories) > 1) and any((out / name).exists() for name in (RESULTS, "journal")):
        raise InputError(f"--out {out} holds results, whose own report this would replace; choose another --out")
    return out


def _summarized(page: Page, chosen: Grouping | None) -> tuple[dict[str, Any], MakeText, MakeText]:
    """The summary, and the functions that make the report and the table from it.

    Its groups are those of the page; there the smallest are joined if they are many.
    """
    results, grouping = page.results, chosen
    rows: Iterator[NamedRow] = chain.from_iterable(result_set.named_rows() for result_set in results)
    if len(results) == 1 and len(page.group_names) > 1:
        grouping = results[0].grouping
    elif len(page.group_names) > 1:
        rows, grouping = page.grouped_rows(), Grouping(columns=(GROUP,))
    if results[0].family is Family.APPS:
        from ioi_eval.apps import report
        from ioi_eval.apps.summary_from_rows import apps_summary_from_rows

        values = apps_summary_from_rows(rows, results, grouping)
        return values, report.markdown_report, report.terminal_report
    values = summary_from_rows(rows, results, grouping)
    return values, markdown_report, terminal_report
