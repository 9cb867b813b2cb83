"""Showing one submission of a directory of results: what `show` does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.readiness import make_ready, memory_limits_of
from ioi_eval.cli.sandboxes import opened, tell
from ioi_eval.cli.show_calls import ONLY_RESULTS, READ_BYTES, ShowCall, chosen_test, tell_change
from ioi_eval.cli.showing_apps import apps_text
from ioi_eval.config import KEPT_OUTPUT_BYTES
from ioi_eval.errors import InputError
from ioi_eval.model import Problem
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.row import Row
from ioi_eval.problems.submissions import fitted, submission_from_row
from ioi_eval.problems.time_scale import scaled
from ioi_eval.report.frame import RESULTS
from ioi_eval.report.inputs import beginning, stored_input
from ioi_eval.report.one_submission import Limits, Seen, TestTexts, listing, submission_text, tests_of
from ioi_eval.report.result_sets import Family, Name, ResultSet, open_results
from ioi_eval.report.rows import JudgedSubmission, result_row
from ioi_eval.report.terminal import printable
from ioi_eval.report.totals import distinct_outcomes
from ioi_eval.rows import open_source
from ioi_eval.scorer import Scorer


def show(call: ShowCall) -> int:
    """Show a submission, or list all.

    Returns:
        The exit code.

    Raises:
        InputError: there are no results, no such submission or test, or several of that name.
    """
    results = open_results(call.directory, id_column=call.id_column)
    if call.submission is None:
        if call.rerun or call.test:
            raise InputError("--rerun and --test are about one submission: name it")
        print(listing(_listed(call, results), most=call.most))
        return 0
    row, name = _find(call, results)
    if results.family is Family.APPS:
        print(apps_text(call, results, row, name))
    else:
        print(_contest_text(call, results, row, name))
    return 0


def _is_meant(call: ShowCall, name: Name) -> bool:
    return call.problem is None or call.problem in {name[0], name[0].rpartition("/")[2]}


def _listed(call: ShowCall, results: ResultSet) -> Iterator[tuple[Name, Mapping[str, Any]]]:
    for row in results.rows((*results.naming, "verdict", "total_score", "passed", "total")):
        name = results.name(row)
        if _is_meant(call, name) and call.verdict in {None, row.get("verdict")}:
            yield name, row


def _find(call: ShowCall, results: ResultSet) -> tuple[dict[str, Any], Name]:
    """The row of the submission, with its tests."""
    found = [
        (number, name)
        for number, name in enumerate(map(results.name, results.rows(results.naming)))
        if name[1] == call.submission and _is_meant(call, name)
    ]
    if not found:
        of = f" of problem {call.problem}" if call.problem else ""
        raise InputError(
            f"{results.directory / RESULTS} has no submission {call.submission}{of}; "
            f"`ioi-eval show {results.directory}` lists them"
        )
    if len({name for _, name in found}) > 1:
        problems = ", ".join(printable(problem) for _, (problem, _) in found)
        raise InputError(f"several submissions are called {call.submission}, of {problems}: add --problem")
    place, name = found[0]
    return next(row for number, row in enumerate(results.rows(tests=True)) if number == place), name


def _contest_text(call: ShowCall, results: ResultSet, row: Mapping[str, Any], name: Name) -> str:
    problem = _problem(call, results, name, float(row.get("time_scale") or 1.0))
    outputs: Mapping[str, bytes] = {}
    if call.rerun:
        if problem is None:
            raise InputError("--rerun needs the problem: say with --problems and --tests where it is")
        row, outputs = asyncio.run(_rerun(call, results, row, problem))
    test = chosen_test(call, row)
    case = None if problem is None or test is None else problem.tests.get(test)
    output, most = outputs.get(test or ""), READ_BYTES
    if output is None and test is not None and (kept := tests_of(row)[test].get("output")) is not None:
        output, most = str(kept).encode(), KEPT_OUTPUT_BYTES
    talks = problem is not None and problem.task_type.has_manager  # what it writes to a manager is not an output
    if test is not None and output is None and not call.rerun and not talks:
        tell("what it printed is not kept (`score --keep failing`): --rerun judges it again, and shows it")
    stored = None if case is not None or test is None else stored_input(results.directory, name[0], test)
    texts = TestTexts(
        given=stored if case is None else beginning(case.input, READ_BYTES),
        expected=None if case is None or case.answer is None else beginning(case.answer, READ_BYTES),
        output=None if output is None else Seen(content=output, size=len(output) if len(output) < most else None),
    )
    limits = Limits()
    if problem is not None:
        limits = Limits(time_s=problem.time_limit_s, memory_bytes=problem.memory_limit_bytes)
    return submission_text(row, name, limits, test=test, texts=texts)


def _problem(call: ShowCall, results: ResultSet, name: Name, scale: float) -> Problem | None:
    """The problem as it was judged. If it cannot be read: `None`, and a line says so."""
    problems, tests = (given or results.options.get(key) for given, key in _sources(call))
    if not problems or not tests:
        tell("the results do not say where the problems are: --problems and --tests say it")
        return None
    year, _, problem_id = name[0].partition("/")
    if not (year.isascii() and year.isdigit()):
        tell(f"{year} is no year, so the problem is not looked for")
        return None
    try:
        found = load_problems(
            open_source(problems, all_splits=True), open_source(tests), BlobStore(), years={int(year)}, ids={problem_id}
        )
    except InputError as error:
        tell(f"the problem cannot be read, {ONLY_RESULTS}: {error}; --problems and --tests say where it is")
        return None
    problem = next(iter(found.problems.values()), None)
    if problem is None:
        tell(f"problem {name[0]} is not in {problems} any more, {ONLY_RESULTS}")
        return None
    return scaled(problem, scale)


def _sources(call: ShowCall) -> tuple[tuple[str | None, str], tuple[str | None, str]]:
    return (call.problems, "problems"), (call.tests, "tests")


async def _rerun(
    call: ShowCall, results: ResultSet, row: Mapping[str, Any], problem: Problem
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Judge it again with the options of the run. Returns its result as a row, and its output on each test."""
    options = results.options
    source = Row(source=str(results.directory / RESULTS), number=1, values=row)
    submission = fitted(submission_from_row(source, id_column=results.id_column), source, problem)
    rules = ContestRules(std=options.get("std"), python=str(options.get("python") or "python3"))
    async with opened(call.place, rules=rules) as here:
        await make_ready(here, memory_limits_of([problem]))
        policy = rules.policy(here.isolation)
        scorer = Scorer(here.sandbox, artifacts=ArtifactStore(), policy=policy, return_bytes=READ_BYTES)
        result = await scorer.score(problem, submission)
    tell_change(row, result.verdict, result.score, before="total_score")
    judged = JudgedSubmission(problem=problem, submission=submission, fingerprint=result.fingerprint, result=result)
    new = result_row(row, judged, target_subtask=row.get("target_subtask"))
    outputs = {one.test: one.output for one in distinct_outcomes(result) if one.output is not None}
    return {**new, "extraction": row.get("extraction")}, outputs
