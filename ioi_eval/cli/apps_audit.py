"""Auditing a data set by its own solutions: what `apps audit` does."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from ioi_eval.apps.audit import AuditSummary, ReferenceSolutions, RowFinding, RowFindingKind
from ioi_eval.apps.catalog import Catalog
from ioi_eval.apps.dump_reader import AppsDumpReader
from ioi_eval.apps.family import AppsFamily
from ioi_eval.cli.apps import AuditCall
from ioi_eval.cli.apps_executor import opened_executor
from ioi_eval.cli.exits import FAILED
from ioi_eval.cli.messages import tell
from ioi_eval.cli.outputs import refuse_inside
from ioi_eval.errors import InputError
from ioi_eval.journal import Journal
from ioi_eval.pipeline import DumpOutcome, Settings, score_dump
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.pipeline.settings import spare_for
from ioi_eval.pipeline.writing import write_text
from ioi_eval.report.result_files import lines_of
from ioi_eval.report.texts import counted, printable, table
from ioi_eval.rows import KeptColumns, Source


def audit(call: AuditCall) -> int:
    """Judge the reference solutions and list the problems that are broken, or whose solutions fail."""
    if call.out is not None:
        _check_out(call.out)
        refuse_inside("--out", call.out, call.problems.read_whole)
    settings, dataset = call.settings, call.problems.source
    with _working_directory(call.out) as directory, call.problems.catalog(settings, directory=directory) as catalog:
        solutions = ReferenceSolutions(dataset, frozenset(catalog.entries), call.solutions)
        dump = KeptColumns(solutions, None, directory)
        count = sum(1 for _ in dump.rows(None))
        counts = f"{counted(count, 'reference solution')} of {counted(len(catalog.entries), 'problem')}"
        tell(f"{counts}; {counted(solutions.without, 'problem')} without a solution")
        outcome, findings = asyncio.run(_audit(call, catalog, solutions, dump, directory, count=count))
    _report(findings, len(catalog.entries), solutions)
    if outcome.stopped_by or outcome.interrupted:
        print("Not all was judged: run the same command again." if call.out else "Not all was judged.")
    if call.out is not None:
        write_text(call.out, "".join(f"{json.dumps(finding.as_row(), ensure_ascii=False)}\n" for finding in findings))
        print(f"\nList: {call.out} (for apps score --exclude), all results: {directory / 'results.jsonl'}")
    undecided = any(finding.kind is RowFindingKind.UNDECIDED for finding in findings)
    return outcome.exit_code if outcome.interrupted else FAILED if undecided or outcome.stopped_by else 0


def _check_out(out: Path) -> None:
    """Refuse a path at which there is something that no audit has written."""
    if out.is_dir():
        name = out / "list.jsonl"
        raise InputError(f"--out {out} is a directory; name the file that the list is written to: {name}")
    if os.path.exists(out) and not _is_list(out):
        raise InputError(f"--out {out} is there already and no audit has written it; name another file")


def _is_list(path: Path) -> bool:
    """Whether a file is the list of an audit, which is empty without findings."""
    try:
        return path.is_file() and all("exclude" in row for _, _, row in islice(lines_of(path), 1))
    except (InputError, TypeError):
        return False


@contextmanager
def _working_directory(out: Path | None) -> Iterator[Path]:
    """A directory beside the list, so that an interrupted audit can continue; a temporary one if there is no list."""
    if out is not None:
        directory = out.with_name(f"{out.name}.run")
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{directory} cannot be made: {error.strerror}; choose another --out") from error
        yield directory
    else:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)


async def _audit(
    call: AuditCall, catalog: Catalog, solutions: ReferenceSolutions, dump: Source, directory: Path, *, count: int
) -> tuple[DumpOutcome, list[RowFinding]]:
    settings = call.settings
    options = {**call.problems.as_dict(), "judged_by": settings.judged_by, **call.sandbox.as_dict()}
    summary = AuditSummary()
    async with opened_executor(call.sandbox, settings) as (entered, executor):
        workers = entered.jobs_now()
        with Journal(directory, options=options) as journal:
            tell(*journal.notes)
            dump_reader = AppsDumpReader(dump, catalog, fingerprints=executor.fingerprints, test_s=settings.cpu_s)
            outcome = await score_dump(
                directory,
                AppsFamily(dump_reader, executor, settings.judged_by, summary),
                journal=journal,
                settings=Settings(
                    jobs_at_once=workers,
                    jobs_now=entered.jobs_now,
                    spare=spare_for(workers, shares=True),
                    options=options,
                ),
                progress=progress_for(count, bar=call.bar, load=entered.load),
            )
    return outcome, summary.findings(catalog.entries, solutions.broken)


def _report(findings: list[RowFinding], problems: int, solutions: ReferenceSolutions) -> None:
    rows = [(finding.entry.instance_id, finding.kind.value, finding.reason, _first(finding)) for finding in findings]
    if rows:
        head = ("problem", "kind", "why", "first failure")
        print(table(head, rows, left=frozenset(range(len(head)))))
        print()
    counts = Counter(finding.kind for finding in findings)
    undecided = counts.pop(RowFindingKind.UNDECIDED, 0)
    kinds = ", ".join(f"{counts[kind]} {kind.value}" for kind in RowFindingKind if counts[kind])
    kinds = next(iter(counts)).value if len(counts) == 1 else kinds
    parts = [
        f"{counted(problems, 'problem')}, {counts.total()} listed{f' ({kinds})' if kinds else ''}",
        f"{undecided} could not be judged" if undecided else "",
        f"{solutions.without} without a reference solution" if solutions.without else "",
    ]
    print("; ".join(filter(None, parts)))


def _first(finding: RowFinding) -> str:
    if not finding.tally.failures:
        return ""
    number, verdict, message = finding.tally.failures[0]
    return f"solution {number}: {verdict}, {printable(message, length=80)}"
