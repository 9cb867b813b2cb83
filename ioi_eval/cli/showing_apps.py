"""Showing a program for APPS: the part of `show` that is only for APPS."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.outcomes import AppsSettings
from ioi_eval.apps.results import error_of, judged_columns
from ioi_eval.cli import apps_calls
from ioi_eval.cli.sandboxes import opened, tell
from ioi_eval.cli.show_calls import ONLY_RESULTS, READ_BYTES, ShowCall, chosen_test, tell_change
from ioi_eval.compat import NAMES
from ioi_eval.config import MIB
from ioi_eval.errors import InputError
from ioi_eval.model.apps import AppsProblem
from ioi_eval.problems.apps_values import shown_texts
from ioi_eval.report.inputs import stored_input
from ioi_eval.report.one_submission import Limits, Seen, TestTexts, submission_text, tests_of
from ioi_eval.report.result_sets import Name, ResultSet
from ioi_eval.rows import open_source


def apps_text(call: ShowCall, results: ResultSet, row: Mapping[str, Any], name: Name) -> str:
    """A program with one of its tests.

    Args:
        call: the options of the command.
        results: the results that contain it.
        row: its result, with tests.
        name: problem and submission.

    Raises:
        InputError: there is no such test, or the program cannot be judged again.
    """
    problem = _problem(call, results, name[0])
    most = AppsSettings().shown_bytes
    if call.rerun:
        if problem is None:
            raise InputError("--rerun needs the problem: say with --problems where it is")
        row, most = asyncio.run(_rerun(call, results, row, problem)), READ_BYTES
    test = chosen_test(call, row)
    texts = TestTexts()
    if test is not None:
        texts = replace(_texts(problem, int(test)), output=_output(tests_of(row)[test].get("output"), most))
        texts = replace(texts, given=texts.given or stored_input(results.directory, name[0], test))
    memory = results.options.get("memory_limit_bytes")
    limits = Limits(time_s=results.options.get("time_limit_s"), memory_bytes=memory)
    return submission_text(row, name, limits, test=test, texts=texts)


def _output(text: object, most: int) -> Seen | None:
    """The stored part of an output, cut to `most` bytes."""
    if text is None:
        return None
    content = str(text).encode("utf-8", "replace")
    return Seen(content=content, size=len(content) if len(content) < most else None)


def _problem(call: ShowCall, results: ResultSet, problem: str) -> AppsProblem | None:
    """The problem from the data set. If that cannot be read: `None`, and a line says so."""
    dataset = call.problems or results.options.get("dataset")
    try:
        if not dataset:
            raise InputError("the results do not say where it is")
        source = open_source(dataset, split=results.options.get("split"), obvious=apps_calls.SPLITS)
        with closing(load_catalog(source, needed={problem})) as catalog:
            if problem not in catalog.listed:
                raise InputError(f"{dataset} does not have it any more")
            return catalog.problem(problem)
    except InputError as error:
        tell(f"problem {problem} cannot be read, {ONLY_RESULTS}: {error}; --problems says where it is")
        return None


def _texts(problem: AppsProblem | None, test: int) -> TestTexts:
    """Input and expected output of a test; empty if the data set does not have the test."""
    if problem is None or test >= len(problem.tests):
        return TestTexts()
    given, expected = (text.encode("utf-8", "replace") for text in shown_texts(problem.tests[test]))
    return TestTexts(
        given=Seen(content=given[:READ_BYTES], size=len(given)),
        expected=Seen(content=expected[:READ_BYTES], size=len(expected)),
    )


async def _rerun(call: ShowCall, results: ResultSet, row: Mapping[str, Any], problem: AppsProblem) -> dict[str, Any]:
    """Judge it again by the rules of the run. Returns its result as a row."""
    code = row.get("code")
    if not isinstance(code, str):
        raise InputError("--rerun needs a program, and this result has none")
    rules = replace(_rules(results, row), isolation=call.place.isolation)
    settings = replace(rules.settings(), shown_bytes=READ_BYTES)
    async with opened(call.place) as here:
        executor = await apps_calls.ready(here, settings, call.place)
        result = await executor.score(problem, code)
    tell_change(row, result.verdict, result.passed if result.score is not None else None, before="passed")
    return {**row, **judged_columns(result), "error": error_of(result)}


def _rules(results: ResultSet, row: Mapping[str, Any]) -> apps_calls.Rules:
    """The rules of the run, as far as its summary and the row record them."""
    options, judged_by = results.options, str(row.get("judged_by") or "lines")
    memory = options.get("memory_limit_bytes")
    return apps_calls.Rules(
        comparator="lines" if judged_by in NAMES else judged_by,
        compat=judged_by if judged_by in NAMES else None,
        timeout=options.get("time_limit_s"),
        memory_mib=1024 if memory is None else memory // MIB,
        python=str(options.get("python") or "python3"),
        near_limit_repeats=int(options.get("near_limit_repeats") or 1),
        fail_fast=bool(options.get("fail_fast")),
        conventions=bool(options.get("conventions")),
    )
