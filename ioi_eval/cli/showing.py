"""Showing one submission of a directory of results: what `show` does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.cli.apps_calls import SPLITS
from ioi_eval.cli.readiness import make_ready, memory_limits_of
from ioi_eval.cli.sandboxes import Place, opened, tell
from ioi_eval.compat.eval_protocol_page import shown_texts
from ioi_eval.config import Policy
from ioi_eval.errors import InputError
from ioi_eval.model import Blob, Content, Problem, SubmissionResult
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.row import Row
from ioi_eval.problems.submissions import fitted, submission_from_row
from ioi_eval.problems.time_scale import scaled
from ioi_eval.report.frame import RESULTS
from ioi_eval.report.one_submission import Limits, Seen, TestTexts, failing_test, listing, submission_text, tests_of
from ioi_eval.report.outcomes import distinct_outcomes
from ioi_eval.report.result_sets import Family, Name, ResultSet, open_results
from ioi_eval.report.rows import Judged, result_row
from ioi_eval.report.terminal import printable
from ioi_eval.rows import open_source
from ioi_eval.scorer import Scorer

_READ_BYTES = 1 << 16
"""How much of an input, an output and the official one is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the command line asks for; see `ioi-eval show --help`."""

    directory: Path
    submission: str | None = None
    test: str | None = None
    problem: str | None = None
    verdict: str | None = None
    rerun: bool = False
    problems: str | None = None
    tests: str | None = None
    id_column: str | None = None
    most: int = 50
    place: Place = field(default_factory=Place)


def show(call: Call) -> int:
    """Show a submission, or list them.

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
        print(_apps_text(call, results, row, name))
    else:
        print(_contest_text(call, results, row, name))
    return 0


def _is_meant(call: Call, name: Name) -> bool:
    return call.problem is None or call.problem in {name[0], name[0].rpartition("/")[2]}


def _listed(call: Call, results: ResultSet) -> Iterator[tuple[Name, Mapping[str, Any]]]:
    for row in results.rows((*results.naming, "verdict", "total_score", "passed", "total")):
        name = results.name(row)
        if _is_meant(call, name) and call.verdict in {None, row.get("verdict")}:
            yield name, row


def _find(call: Call, results: ResultSet) -> tuple[dict[str, Any], Name]:
    """The row that is asked for, with its tests."""
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


def _chosen_test(call: Call, row: Mapping[str, Any]) -> str | None:
    tests = tests_of(row)
    if call.test is None:
        return failing_test(row)
    if call.test not in tests:
        there = ", ".join(map(printable, list(tests)[:20]))
        raise InputError(f"this submission has no test {call.test}; it has {there or 'none, as nothing was run'}")
    return call.test


# --------------------------------------------------------------------------- contests


def _contest_text(call: Call, results: ResultSet, row: Mapping[str, Any], name: Name) -> str:
    problem = _problem(call, results, name, float(row.get("time_scale") or 1.0))
    outputs: Mapping[str, bytes] = {}
    if call.rerun:
        if problem is None:
            raise InputError("--rerun needs the problem: say with --problems and --tests where it is")
        row, outputs = asyncio.run(_rerun(call, results, row, problem))
    test = _chosen_test(call, row)
    case = None if problem is None or test is None else problem.tests.get(test)
    output = outputs.get(test or "")
    talks = problem is not None and problem.task_type.has_manager  # what it says to a manager is no output
    if test is not None and output is None and not call.rerun and not talks:
        tell("what it printed is not kept: --rerun judges it again, and shows it")
    texts = TestTexts(
        given=None if case is None else _seen(case.input),
        expected=None if case is None or case.answer is None else _seen(case.answer),
        output=None
        if output is None
        else Seen(content=output, size=len(output) if len(output) < _READ_BYTES else None),
    )
    limits = Limits()
    if problem is not None:
        limits = Limits(time_s=problem.time_limit_s, memory_bytes=problem.memory_limit_bytes)
    return submission_text(row, name, limits, test=test, texts=texts)


def _seen(content: Content) -> Seen:
    if isinstance(content, Blob):
        with content.path.open("rb") as file:
            return Seen(content=file.read(_READ_BYTES), size=content.size)
    return Seen(content=content[:_READ_BYTES], size=len(content))


def _problem(call: Call, results: ResultSet, name: Name, scale: float) -> Problem | None:
    """The problem as it was judged; `None`, which is said, where it cannot be read."""
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
        tell(f"the problem cannot be read, so its tests are not shown: {error}; --problems and --tests say where it is")
        return None
    problem = next(iter(found.problems.values()), None)
    if problem is None:
        tell(f"problem {name[0]} is not in {problems} any more, so its tests are not shown")
        return None
    return scaled(problem, scale)


def _sources(call: Call) -> tuple[tuple[str | None, str], tuple[str | None, str]]:
    return (call.problems, "problems"), (call.tests, "tests")


async def _rerun(
    call: Call, results: ResultSet, row: Mapping[str, Any], problem: Problem
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Judge it again, by the options of the run: its result as a row, and what it printed on each test."""
    options = results.options
    std, python = options.get("std"), str(options.get("python") or "python3")
    source = Row(source=str(results.directory / RESULTS), number=1, values=row)
    submission = fitted(submission_from_row(source, id_column=results.id_column), source, problem)
    async with opened(call.place, std=std, python=python) as here:
        await make_ready(here, memory_limits_of([problem]))
        policy = Policy(isolation=here.isolation, std=std, python=python)
        scorer = Scorer(here.sandbox, artifacts=ArtifactStore(), policy=policy, return_bytes=_READ_BYTES)
        result = await scorer.score(problem, submission)
    _tell_change(row, result)
    judged = Judged(problem=problem, submission=submission, fingerprint=result.fingerprint, result=result)
    new = result_row(row, judged, target_subtask=row.get("target_subtask"))
    outputs = {one.test: one.output for one in distinct_outcomes(result) if one.output is not None}
    return {**new, "extraction": row.get("extraction")}, outputs


def _tell_change(row: Mapping[str, Any], result: SubmissionResult) -> None:
    before = row.get("verdict")
    if before is not None and (before, row.get("total_score")) != (result.verdict, result.score):
        tell(f"it was {before} with {row.get('total_score')}, and is {result.verdict} with {result.score} now")


# --------------------------------------------------------------------------- APPS


def _apps_text(call: Call, results: ResultSet, row: Mapping[str, Any], name: Name) -> str:
    if call.rerun:
        raise InputError(
            "--rerun is for contest problems: results of APPS problems hold what was printed on each test that failed; "
            "`ioi-eval apps explain` judges again"
        )
    test = _chosen_test(call, row)
    given = expected = None
    if test is not None:
        given, expected = _apps_texts(call, results, name[0], int(test))
    output = tests_of(row)[test].get("output") if test is not None else None
    content = None if output is None else str(output).encode("utf-8", "replace")
    texts = TestTexts(
        given=given, expected=expected, output=None if content is None else Seen(content=content, size=len(content))
    )
    memory = results.options.get("memory_limit_bytes")
    limits = Limits(time_s=results.options.get("time_limit_s"), memory_bytes=memory)
    return submission_text(row, name, limits, test=test, texts=texts)


def _apps_texts(call: Call, results: ResultSet, problem: str, test: int) -> tuple[Seen | None, Seen | None]:
    """Input and expected output of a test; none, which is said, where the data set cannot be read."""
    dataset = call.problems or results.options.get("dataset")
    try:
        if not dataset:
            raise InputError("the results do not say where it is")
        source = open_source(dataset, split=results.options.get("split"), obvious=SPLITS)
        with closing(load_catalog(source, needed={problem})) as catalog:
            if problem not in catalog.listed:
                raise InputError(f"{dataset} does not have it any more")
            texts = shown_texts(catalog.problem(problem).tests[test])
    except (InputError, IndexError) as error:
        tell(f"problem {problem} cannot be read, so its tests are not shown: {error}; --problems says where it is")
        return None, None
    contents = [text.encode("utf-8", "replace") for text in texts]
    return Seen(content=contents[0][:_READ_BYTES], size=len(contents[0])), Seen(
        content=contents[1][:_READ_BYTES], size=len(contents[1])
    )
