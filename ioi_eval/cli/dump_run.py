"""How `score` and `apps score` judge a dump into its directory, what they print at the end, and pushing to the Hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioi_eval.cli.exits import FAILED
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import EarlierResults
from ioi_eval.cli.run_options import RunOptions
from ioi_eval.cli.sandboxes import OpenSandbox
from ioi_eval.cli.watching import emit_judging_begins, emit_summary
from ioi_eval.concurrency import in_thread
from ioi_eval.errors import ODD_DATA, InputError, IoiEvalError
from ioi_eval.events import Events
from ioi_eval.journal import Journal
from ioi_eval.journal.opening import locked
from ioi_eval.pipeline import DumpOutcome, Settings, score_dump
from ioi_eval.pipeline.family import ProblemFamily
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.pipeline.result_store import ResultT
from ioi_eval.pipeline.settings import spare_for
from ioi_eval.pipeline.window import CandidateT
from ioi_eval.pipeline.writing import replacing
from ioi_eval.report.result_files import PAGE, REPORT, RESULTS, SUMMARY, TESTS
from ioi_eval.report.texts import counted

if TYPE_CHECKING:
    from ioi_eval.report.hub import HubResults


_REPORTS = (REPORT, PAGE, SUMMARY)


async def judge_dump(
    call: RunOptions,
    family: ProblemFamily[CandidateT, ResultT],
    entered: OpenSandbox,
    *,
    rows: int,
    problems: int,
    shares: bool,
    events: Events,
) -> DumpOutcome:
    """Judge a dump. The directory is made last, when all else is ready, so a command that fails earlier leaves none.

    Args:
        rows: the number of programs in the selected rows of the dump.
        shares: whether programs of different rows may be in one job.
    """
    options, jobs_at_once = call.as_dict(), entered.jobs_now() or 1
    with await in_thread(Journal, call.out, options=options, resume=not call.no_resume) as journal:
        tell(*journal.notes)
        if stored := journal.index.stored:
            others = "a result of another target, limit, rule or version of a problem is not used"
            tell(f"stored in {call.out}: {counted(stored, 'result')} ({others})")
        _tell_replaced(call, options, rows)
        emit_judging_begins(
            events, entered, dump=call.dump, out=call.out, rows=rows, problems=problems, workers=jobs_at_once
        )
        outcome = await score_dump(
            call.out,
            family,
            journal=journal,
            settings=Settings(
                jobs_at_once=jobs_at_once,
                jobs_now=entered.jobs_now,
                spare=spare_for(jobs_at_once, shares=shares),
                dedupe=not call.no_dedupe,
                retry_failed=call.retry_failed,
                keep=call.keep,
                options=options,
                events=events,
            ),
            progress=progress_for(rows, bar=call.watch.bar, events=events, load=entered.load),
        )
    if call.no_resume and outcome.exit_code:
        tell("to continue, leave out --no-resume (of run-tests, --override): with it the next run begins again")
    return outcome


def _tell_replaced(call: RunOptions, options: Mapping[str, Any], rows: int) -> None:
    """Print a line if this run will replace results of another dump, or will leave out some of an earlier run's."""
    before = EarlierResults.of(call.out)
    earlier_dump = before.options.get("dump")
    if not before.command:
        return
    if earlier_dump != call.dump:
        theirs = f"of {earlier_dump}" if earlier_dump else "that are"
        tell(f"the results {theirs} in {call.out} will be replaced by those of {call.dump}")
        return
    changed = {
        option: name
        for option, name in call.row_options.items()
        if options[name] and options[name] != before.options.get(name)
    }
    lacking = any(_lacks(options[name], before.options.get(name)) for name in changed.values())
    if rows >= before.rows and not lacking:
        return
    note = f"the results of {counted(before.rows, 'row')} in {call.out} will be replaced by those of {rows}"
    if changed and not call.no_resume:
        note += f"; the journal keeps all, and the command without {' and '.join(changed)} restores them"
    tell(note)


def _lacks(now: object, before: object) -> bool:
    """Whether a list lacks an item that the earlier list had."""
    return isinstance(now, list) and isinstance(before, list) and not set(before) <= set(now)


def end_run(out: Path, summary: Mapping[str, Any], events: Events, *texts: str) -> None:
    """Print these texts about the results of a dump, send the event with the summary, and write the page."""
    emit_summary(events, summary, out=out)
    print("\n\n".join(texts))
    page = _write_page(out)
    print(f"\nResults: {out / RESULTS}\nReport:  {out / REPORT}{page}", flush=True)


def _write_page(directory: Path) -> str:
    """Write the page of a run's results beside them. If that fails, print a message; the exit code does not change.

    A page that is newer than the results is not changed. Returns a line that names the page; empty if there is none.
    """
    path = directory / PAGE
    try:
        if not _is_new(path, directory):
            markdown = (directory / REPORT).read_text(encoding="utf-8", errors="replace")
            from ioi_eval.report.html import Page

            with locked(directory, []):  # a run that begins now would replace the results while they are read
                page = Page([directory])
                with replacing(path, advice="Fix the cause first") as file:
                    page.write(file, noscript=markdown)
    except (IoiEvalError, OSError, *ODD_DATA) as error:
        reason = str(error) or type(error).__name__
        tell(f"{path} was not written, but all else was; `ioi-eval report {directory}` makes it later: {reason}")
        return ""
    return f"\nPage:    {path}"


def _is_new(path: Path, directory: Path) -> bool:
    """Whether the page was made from these results. (Another version makes the results again, and so the page.)"""
    if not path.exists():
        return False
    made = path.stat().st_mtime_ns
    return all(made >= (directory / name).stat().st_mtime_ns for name in (RESULTS, TESTS))


def push(
    hub: HubResults,
    config: str,
    call: RunOptions,
    outcome: DumpOutcome,
    *,
    pages: Mapping[str, Path] | None = None,
    replace: bool = False,
) -> int:
    """Push what a run has written, unless it ended early. Returns the exit code: 1 if that failed.

    Args:
        config: the configuration of that data set that gets the rows; each dump has one.
        pages: the files that are pushed too, by their paths there; by default the run's reports.
        replace: remove the rows there that are not in this dump.
    """
    kept = ", and keeps the rows that RESULTS already has" if replace else ""
    if outcome.interrupted or outcome.stopped_by:
        reason = "interrupted" if outcome.interrupted else f"stopped early ({outcome.stopped_by})"
        tell(f"{reason}: {config} is not pushed to {hub.name}; a run that continues this one pushes it{kept}")
        return 0
    if pages is None:
        paths = {name: call.out / name for name in _REPORTS}
        pages = {f"reports/{config}/{name}": path for name, path in paths.items() if path.is_file()}
    try:
        others = hub.push(config, call.out, pages, id_column=call.id_column, replace=replace)
    except InputError as error:
        without = " without --no-resume (of run-tests, --override)" if call.no_resume else ""
        again = f"the same command{without} pushes them without judging again{kept}"
        tell(f"{error}; the results are in {call.out}, and {again}")
        return FAILED
    more = f"; kept there: {counted(others, 'row')} not of this dump" if others else ""
    print(f"Pushed:  {hub.name}, configuration {config}{more}", flush=True)
    return 0
