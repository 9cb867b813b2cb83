"""Showing one submission of a directory of results: what `show` does."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.result_rows import error_of, judged_columns
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.apps_executor import opened_executor
from ioi_eval.cli.apps_options import SPLITS, AppsRules
from ioi_eval.cli.messages import tell
from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.readiness import make_ready
from ioi_eval.cli.sandboxes import opened
from ioi_eval.cli.show import ShowCall
from ioi_eval.cli.sources import contest_problems, opened_results
from ioi_eval.compat import NAMES
from ioi_eval.config import KEPT_OUTPUT_BYTES, MIB
from ioi_eval.errors import DoubtfulDataWarning, InputError, listed, similar, unknown
from ioi_eval.model import Problem, Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.model.methods import ComparatorKind, Tokens, WhiteDiff
from ioi_eval.problems.apps_values import shown_texts
from ioi_eval.problems.row import Row
from ioi_eval.problems.submissions import fitted, submission_from_row
from ioi_eval.problems.time_scale import scaled
from ioi_eval.report.inputs import TextPart, beginning, stored_input
from ioi_eval.report.result_files import RESULTS
from ioi_eval.report.result_sets import Family, Name, ResultSet
from ioi_eval.report.result_values import deciding_test_name, has_test_details, tests_of
from ioi_eval.report.rows import JudgedSubmission, result_row
from ioi_eval.report.submission_text import Limits, TestTexts, listing, submission_text
from ioi_eval.report.texts import counted, printable
from ioi_eval.report.totals import distinct_outcomes
from ioi_eval.rows import is_hub_name, open_source
from ioi_eval.scorer import Scorer

T = TypeVar("T")

_NAMED = 10  # lines that a message names

_READ_BYTES = 1 << 16
"""How many bytes of an input, an output and the official output are read."""


def show(call: ShowCall) -> int:
    """Show a submission, or list all."""
    [results] = opened_results(call.directory, id_column=call.id_column)
    if call.submission is None:
        if call.rerun or call.test:
            raise InputError("--rerun and --test are about one submission: name it")
        if call.verdict is not None and call.verdict not in set(Verdict):
            raise InputError(unknown("verdict", call.verdict, Verdict))
        print(listing(_matching_rows(call, results), most=call.most))
        return 0
    if call.verdict is not None:
        raise InputError(f"--verdict lists submissions, and {call.submission} is one: leave out one of them")
    row, name = _find(call, results)
    if results.family is Family.APPS:
        print(_apps_text(call, results, row, name))
    else:
        print(_contest_text(call, results, row, name))
    return 0


def _is_meant(call: ShowCall, name: Name) -> bool:
    return call.problem is None or call.problem in {name[0], name[0].partition("/")[2]}


def _matching_rows(call: ShowCall, results: ResultSet) -> Iterator[tuple[Name, Mapping[str, Any]]]:
    others: set[str] = set()
    is_problem_known = False
    for row in results.rows((*results.naming_columns, "verdict", "total_score", "passed", "total")):
        name = results.name_of(row)
        if not _is_meant(call, name):
            others |= {name[0], name[0].partition("/")[2]}
            continue
        is_problem_known = True
        if call.verdict in {None, row.get("verdict")}:
            yield name, row
    if call.problem is not None and not is_problem_known:
        near = similar(call.problem, sorted(others))
        hint = f". Did you mean {near!r}?" if near else f"; `ioi-eval show {results.directory}` lists all"
        raise InputError(f"{results.directory / RESULTS} has no submission to the problem {call.problem}{hint}")


def _find(call: ShowCall, results: ResultSet) -> tuple[dict[str, Any], Name]:
    matches = [
        (number, name)
        for number, name in enumerate(map(results.name_of, results.rows(results.naming_columns)))
        if name[1] == call.submission and _is_meant(call, name)
    ]
    if not matches:
        of = f" of problem {call.problem}" if call.problem else ""
        names = (name for _, name in map(results.name_of, results.rows(results.naming_columns)))
        near = (f". Did you mean {name!r}?" for name in names if name.startswith(f"{call.submission}/"))
        hint = next(near, f"; `ioi-eval show {results.directory}` lists them")
        raise InputError(f"{results.directory / RESULTS} has no submission {call.submission}{of}{hint}")
    if len({name for _, name in matches}) > 1:
        problems = ", ".join(printable(problem) for _, (problem, _) in matches)
        raise InputError(f"several submissions are called {call.submission}, of {problems}: add --problem")
    (index, name), *others = matches
    if others:
        lines = ", ".join(str(number + 1) for number, _ in others[:_NAMED])
        tell(f"{RESULTS} has {counted(len(others), 'more row')} with this id and problem, not shown (line {lines})")
    return next(row for number, row in enumerate(results.rows(tests=True)) if number == index), name


def _chosen_test(call: ShowCall, row: Mapping[str, Any]) -> str | None:
    """The test that the user named, else the one that gave the verdict; `None` if none failed or ran."""
    tests = tests_of(row)
    if call.test is None:
        return deciding_test_name(row) if has_test_details(row) else None
    if call.test not in tests:
        existing = listed(map(printable, tests), most=20) if tests else "none, as nothing was run"
        raise InputError(f"this submission has no test {call.test}; it has {existing}")
    return call.test


def _output(content: bytes | None, most: int) -> TextPart | None:
    """An output of which at most `most` bytes were returned or stored; `None` if there is none."""
    return None if content is None else TextPart(content=content, size=len(content) if len(content) < most else None)


def _if_readable(call: ShowCall, results: ResultSet, row: Mapping[str, Any], read: Callable[[], T]) -> T | None:
    """The problem that `read` returns. If it cannot be read, a line is printed and `None` is returned.

    It is not read for a row that was refused: nothing was run, and the reason may be that there is no such problem.
    What is doubtful in the source is not mentioned: the run has said it, and `show` lacks the run's options.
    """
    if row.get("verdict") is None and not call.rerun:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulDataWarning)
            return read()
    except InputError as error:
        is_apps = results.family is Family.APPS
        options = "its source with --dataset" if is_apps else "its sources with --problems and --tests"
        is_elsewhere = _are_sources_elsewhere(call, results)
        where = "paths are relative to the directory of the run: start show there, or " if is_elsewhere else ""
        why = f"{error}; {where}name {options}"
        if call.rerun:
            raise InputError(f"--rerun needs the problem, which cannot be read: {why}") from error
        tell(f"the problem cannot be read, so only what the results have of its tests is shown: {why}")
        return None


def _are_sources_elsewhere(call: ShowCall, results: ResultSet) -> bool:
    """Whether the run named a file by a relative path that does not exist from here, and the user names no other."""
    recorded = [str(results.options.get(name) or "") for name in ("problems", "tests", "dataset")]
    paths = [source for source in recorded if source and "://" not in source and not is_hub_name(source)]
    is_missing = any(not source.startswith(("/", "~")) and not Path(source).exists() for source in paths)
    return is_missing and not (call.problems or call.tests)


def _tell_change(row: Mapping[str, Any], verdict: str, worth: object, *, before: str) -> None:
    """Print a line if judging again gave another verdict or score; `before` is the column of `row` with the score.

    With `--unscored-as zero` rows have a 0 for JE.
    """
    earlier = row.get("verdict")
    old = None if earlier == Verdict.JE else row.get(before)
    if earlier is not None and (earlier, old) != (verdict, worth):
        was, now = ("no score" if score is None else score for score in (old, worth))
        tell(f"it was {earlier} with {was}, and is {verdict} with {now} now")


# --------------------------------------------------------------------------- contest problems


def _contest_text(call: ShowCall, results: ResultSet, row: Mapping[str, Any], name: Name) -> str:
    scale = float(row.get("time_scale") or 1.0)
    problem = _if_readable(call, results, row, lambda: _problem(call, results, name, scale))
    outputs: Mapping[str, bytes] = {}
    if call.rerun and problem is not None:
        row, outputs = asyncio.run(_rerun(call, results, row, problem))
    test = _chosen_test(call, row)
    texts = TestTexts()
    if test is not None:
        output = _contest_output(call, problem, outputs.get(test), tests_of(row)[test])
        case = None if problem is None else problem.tests.get(test)
        if case is None:
            texts = TestTexts(input=stored_input(results.directory, name[0], test), output=output)
        else:
            expected = None if case.answer is None else beginning(case.answer, _READ_BYTES)
            texts = TestTexts(
                input=beginning(case.input, _READ_BYTES),
                expected=expected,
                output=output,
                has_checker=problem is not None and not isinstance(problem.method.check, WhiteDiff | Tokens),
            )
    limits = Limits()
    if problem is not None:
        limits = Limits(time_s=problem.time_limit_s, memory_bytes=problem.memory_limit_bytes)
    return submission_text(row, name, limits, test=test, texts=texts)


def _contest_output(
    call: ShowCall, problem: Problem | None, returned: bytes | None, shown: Mapping[str, Any]
) -> TextPart | None:
    """The output on a test: what was returned now, else what the run stored. Without any, a line says how to see it."""
    if returned is not None:
        return _output(returned, _READ_BYTES)
    if (stored := shown.get("output")) is not None:
        return _output(str(stored).encode(), KEPT_OUTPUT_BYTES)
    if shown["status"] == Verdict.SKIPPED:
        return None  # nothing was run
    # data that a program writes to a manager is not an output
    talks = problem is not None and problem.method.manager is not None
    if not call.rerun and not talks:
        kept = "all" if shown["status"] == Verdict.AC else "failing"
        how = f"`score --keep {kept}` stores it"
        tell(f"the output is not stored ({how}); --rerun judges the program again and shows it")
    return None


def _problem(call: ShowCall, results: ResultSet, name: Name, scale: float) -> Problem:
    options = results.options
    problems, tests = call.problems or options.get("problems"), call.tests or options.get("tests")
    if not problems or not tests:
        raise InputError("the results do not name its sources")
    year = name[0].partition("/")[0]
    if not (year.isascii() and year.isdigit()):
        raise InputError(f"{year} is not a year")
    loaded = contest_problems(problems, tests, years=(), ids={name[0]})
    for error in loaded.unusable.values():
        raise error
    (problem,) = loaded.problems.values()
    return scaled(problem, scale)


async def _rerun(
    call: ShowCall, results: ResultSet, row: Mapping[str, Any], problem: Problem
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Judge the submission again with the run's options. Returns its result as a row, and its output on each test."""
    options = results.options
    source = Row(source=str(results.directory / RESULTS), number=1, values=row)
    read = submission_from_row(source, id_column=results.id_column, problems={problem.key: problem})
    submission = fitted(read, source, problem)
    async with opened(call.sandbox) as entered:
        await make_ready(entered, [problem.memory_limit_bytes])
        policy = contest_rules(options).policy(entered.least_isolation)
        scorer = Scorer(entered.sandbox, artifacts=ArtifactStore(), policy=policy, return_bytes=_READ_BYTES)
        result = await scorer.score(problem, submission)
    if not (options.get("score_only") and result.score == row.get("total_score")):
        _tell_change(row, result.verdict, result.score, before="total_score")
    judged = JudgedSubmission(problem=problem, submission=submission, fingerprint=result.fingerprint, result=result)
    new = result_row(row, judged, target_subtask=row.get("target_subtask"))
    outputs = {outcome.test: outcome.output for outcome in distinct_outcomes(result) if outcome.output is not None}
    return {**new, "extraction": row.get("extraction")}, outputs


def contest_rules(options: Mapping[str, Any]) -> ContestRules:
    """The rules of a run, as far as the options in its summary record them; the time scale is that of the problem."""
    return ContestRules(
        std=options.get("std"),
        python=str(options.get("python") or "python3"),
        near_limit_repeats=int(options.get("near_limit_repeats") or 1),
    )


# --------------------------------------------------------------------------- APPS


def _apps_text(call: ShowCall, results: ResultSet, row: Mapping[str, Any], name: Name) -> str:
    problem = _if_readable(call, results, row, lambda: _apps_problem(call, results, name[0]))
    most = AppsSettings().shown_bytes
    if call.rerun and problem is not None:
        row, most = asyncio.run(_rerun_apps(call, results, row, problem)), _READ_BYTES
    test = _chosen_test(call, row)
    texts = TestTexts()
    if test is not None:
        output = tests_of(row)[test].get("output")
        content = None if output is None else str(output).encode("utf-8", "replace")
        texts = replace(_apps_texts(problem, int(test)), output=_output(content, most))
        texts = replace(
            texts,
            input=texts.input or stored_input(results.directory, name[0], test),
            has_checker=str(row.get("judged_by")).startswith(f"{ComparatorKind.CHECKER}:"),
        )
    memory = results.options.get("memory_limit_bytes")
    limits = Limits(time_s=results.options.get("time_limit_s"), memory_bytes=memory)
    return submission_text(row, name, limits, test=test, texts=texts)


def _apps_problem(call: ShowCall, results: ResultSet, problem: str) -> AppsProblem:
    dataset = call.problems or results.options.get("dataset")
    if not dataset:
        raise InputError("the results do not name its data set")
    source = open_source(dataset, split=results.options.get("split"), obvious=SPLITS)
    with closing(load_catalog(source, needed={problem})) as catalog:
        if problem not in catalog.entries:
            raise InputError(f"{dataset} does not have it")
        return catalog.problem(problem)


def _apps_texts(problem: AppsProblem | None, test: int) -> TestTexts:
    """Input and expected output of a test; empty if the data set does not have the test."""
    if problem is None or test >= len(problem.tests):
        return TestTexts()
    texts = (text.encode("utf-8", "replace") for text in shown_texts(problem.tests[test]))
    input_text, expected = (beginning(text, _READ_BYTES) for text in texts)
    return TestTexts(input=input_text, expected=expected)


async def _rerun_apps(
    call: ShowCall, results: ResultSet, row: Mapping[str, Any], problem: AppsProblem
) -> dict[str, Any]:
    """Judge the program again by the rules of the run. Returns its result as a row."""
    code = row.get("code")
    if not isinstance(code, str):
        raise InputError("--rerun needs a program, and this result has none")
    settings = _rules(results, row).settings(isolation=call.sandbox.isolation)
    settings = replace(settings, shown_bytes=_READ_BYTES)
    async with opened_executor(call.sandbox, settings) as (_, executor):
        result = await executor.score(problem, code)
    _tell_change(row, result.verdict, result.passed if result.score is not None else None, before="passed")
    return {**row, **judged_columns(result), "error": error_of(result)}


def _rules(results: ResultSet, row: Mapping[str, Any]) -> AppsRules:
    """The rules of the run, as far as its summary and the row record them."""
    options, judged_by = results.options, str(row.get("judged_by") or "lines")
    memory = options.get("memory_limit_bytes")
    return AppsRules(
        comparator="lines" if judged_by in NAMES else judged_by,
        compat=judged_by if judged_by in NAMES else None,
        timeout=options.get("time_limit_s"),
        memory_mib=1024 if memory is None else memory // MIB,
        python=str(options.get("python") or "python3"),
        near_limit_repeats=int(options.get("near_limit_repeats") or 1),
        fail_fast=bool(options.get("fail_fast")) and judged_by not in NAMES,
        conventions=bool(options.get("conventions")),
    )
