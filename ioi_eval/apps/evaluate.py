"""`evaluate_apps_solution`: Eval Protocol's function, on our sandbox; and the conversion of APPS rows to its rows.

Both return classes of the package `eval-protocol` if the caller has imported it, else ours, which have the same fields.
The package takes seconds to import, so it is never imported here; for type checkers they are always ours.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ioi_eval.apps.background import background
from ioi_eval.apps.eval_protocol_results import empty_code, evaluated, judge_failed, no_messages, read_ground_truth
from ioi_eval.apps.evaluate_result import EvaluateResult, EvaluationRow, Message, MetricResult
from ioi_eval.apps.settings import AppsSettings
from ioi_eval.compat import grader_named
from ioi_eval.config import MAX_WORKERS, MIB
from ioi_eval.errors import ODD_DATA, InputError, IoiEvalError, internal_error_text
from ioi_eval.model import Isolation
from ioi_eval.model.methods import Comparator
from ioi_eval.problems.apps_submissions import EXTRACTORS, our_extractor
from ioi_eval.problems.row import is_finite, is_whole, plain

PAGE, CODE, OURS = "eval-protocol-page", "eval-protocol", "ioi_eval"
TIMEOUT_S = 10.0  # Source: its `execution_timeout`

_KNOWN = ("execution_timeout", "compat", "comparator", "memory_mb", "python", "isolation", "slots")


def evaluate_apps_solution(messages: Sequence[Any], ground_truth: Any = None, **kwargs: Any) -> EvaluateResult:
    """Score the program in a conversation: Eval Protocol's function, with its strings and metrics.

    By default the program is judged as on Eval Protocol's page: each test has its own process, and the page's prelude
    precedes the program; outputs are compared without blanks at both ends; all tests count. Unlike on the page,
    functions are called. With `compat="ioi_eval"`, or a `comparator`, our own rules judge, and a metric `judged_by`
    names them. With `compat="eval-protocol"` the program is found, run and judged as by Eval Protocol's own code.

    Synchronous. It may be called while an event loop runs, and from several threads at once.

    Args:
        messages: a conversation: objects with `role` and `content`, or dictionaries. The program is in the assistant's
            last message. An array is accepted too.
        ground_truth: the tests: JSON text, or an object, with `inputs`, `outputs` and maybe `fn_name`.
        kwargs: `execution_timeout`, seconds for a test (10); and ours: `compat`, `comparator`, `memory_mb` (in MiB),
            `python`, `isolation`, `slots` (how many jobs run at once; the first call decides for all with the same
            `isolation`). Others are ignored, as in Eval Protocol, but with a warning.

    Returns:
        `EvaluateResult`: Eval Protocol's if its package has been imported, else ours. If we failed, or the ground truth
        is broken, there is no score: `is_score_valid` is false, and `error` says why (with `compat="eval-protocol"` a
        broken ground truth is a valid 0, as in its code).

    Raises:
        InputError: an argument of ours has a value that is not allowed; or `messages` is no list, or an item of it is
            not a message (with `compat="eval-protocol"`: a valid score of 0).

    Source: Eval Protocol's page on APPS; `evaluate_apps_solution` in eval-protocol 0.3.
    """
    return _as_theirs(_evaluate(messages, ground_truth, kwargs))


def apps_dataset_to_evaluation_row(data: Sequence[Mapping[str, Any]]) -> list[EvaluationRow]:
    """Rows of APPS as Eval Protocol's: the question is the user's message, the tests are the ground truth.

    Args:
        data: rows with `question` and `input_output`.

    Raises:
        InputError: these are no rows, or a row is not a dictionary, or has no question.
    """
    theirs = sys.modules.get("eval_protocol.models")
    row_class, message_class = (EvaluationRow, Message) if theirs is None else (theirs.EvaluationRow, theirs.Message)
    rows = []
    given: Any = data  # of a DataFrame, iteration gives the columns' names
    if not isinstance(given, Iterable):
        raise InputError(f"data is of type {type(given).__name__}; give a list of dictionaries")
    for number, row in enumerate(given):
        if isinstance(row, str) or not hasattr(row, "get"):
            kind = type(row).__name__
            raise InputError(f"row {number} is of type {kind}; give dictionaries (of a DataFrame: to_dict('records'))")
        if not isinstance(row.get("question"), str):
            raise InputError(f"row {number} has no question; it has: {', '.join(map(str, row.keys())) or 'nothing'}")
        message = message_class(role="user", content=row["question"])
        rows.append(row_class(messages=[message], ground_truth=row.get("input_output")))
    return rows


def _evaluate(messages: Sequence[Any], ground_truth: Any, kwargs: Mapping[str, Any]) -> EvaluateResult:
    settings = _settings(kwargs)
    if unknown := sorted(set(kwargs) - set(_KNOWN)):  # a misspelt one that was ignored would change the score
        warnings.warn(
            f"evaluate_apps_solution ignores {', '.join(unknown)}; it has the arguments {', '.join(_KNOWN)}",
            stacklevel=3,  # the caller of `evaluate_apps_solution`
        )
    talk: Any = [] if messages is None else messages
    if isinstance(talk, str | Mapping) or not isinstance(talk, Iterable):
        kind = "one message" if isinstance(talk, Mapping) else f"of type {type(talk).__name__}"
        what = "a text" if isinstance(talk, str) else kind
        raise InputError(f'messages is {what}; give a list: [{{"role": "assistant", "content": "…"}}]')
    messages = list(plain(talk))  # a row of pandas has arrays
    if not messages:
        return no_messages()
    extractor = EXTRACTORS.get(settings.judged_by, our_extractor)
    code = extractor.extract(extractor.answer_of(messages) or "").code
    if not code:
        return empty_code()
    problem = read_ground_truth(ground_truth, as_is=settings.judged_by == CODE)
    if isinstance(problem, EvaluateResult):
        return problem
    try:
        sandbox = background(settings.least_isolation, kwargs.get("slots"))
        result = evaluated(problem, sandbox.score(problem, code, settings))
    except InputError:
        raise
    except IoiEvalError as error:
        return judge_failed(str(error))
    except ODD_DATA as error:
        return judge_failed(internal_error_text(error, "judging this row"))
    if settings.compat is None:
        note = MetricResult(score=0.0, reason=f"{OURS}: {settings.judged_by}", is_score_valid=False)
        result.metrics["judged_by"] = note
    return result


def _settings(kwargs: Mapping[str, Any]) -> AppsSettings:
    timeout = kwargs.get("execution_timeout")
    timeout = TIMEOUT_S if timeout is None else timeout
    comparator, compat, python = kwargs.get("comparator"), kwargs.get("compat"), kwargs.get("python", "python3")
    memory_mb, isolation = kwargs.get("memory_mb", 1024), kwargs.get("isolation", Isolation.REDUCED)
    slots = kwargs.get("slots")
    may_be_slots = slots is None or (is_whole(slots) and 1 <= slots <= MAX_WORKERS)
    rules, levels = (PAGE, CODE, OURS), tuple(Isolation)  # tuples: a list has no hash, which a set needs
    checks = (
        ("execution_timeout", timeout, is_finite(timeout) and timeout > 0, "a number of seconds above 0"),
        ("comparator", comparator, comparator is None or isinstance(comparator, str), "a text"),
        ("python", python, isinstance(python, str), "a text"),
        ("compat", compat, compat is None or compat in rules, f"one of {', '.join(rules)}"),
        ("memory_mb", memory_mb, is_whole(memory_mb), "a whole number"),
        ("isolation", isolation, isolation in levels, f"one of {', '.join(levels)}"),
        ("slots", slots, may_be_slots, f"a whole number from 1 to {MAX_WORKERS:,}"),
    )
    for name, value, is_allowed, needed in checks:
        if not is_allowed:
            raise InputError(f"{name} is {value!r}; it must be {needed}")
    if not python:
        raise InputError("python is empty; it must be an interpreter's name or path")
    if comparator is not None and compat in (PAGE, CODE):
        raise InputError(f"{compat} has its own rules; remove comparator={comparator!r} or compat={compat!r}")
    if compat is None:
        compat = PAGE if comparator is None else OURS
    return AppsSettings(
        time_limit_s=float(timeout),
        memory_limit_bytes=memory_mb * MIB,
        comparator=Comparator() if comparator is None else Comparator.parse(comparator),
        compat=None if compat == OURS else grader_named(compat),
        python=python,
        least_isolation=Isolation(isolation),
    )


def _as_theirs(result: EvaluateResult) -> EvaluateResult:
    """The result as the package's class, if the caller has imported the package."""
    theirs: Any = sys.modules.get("eval_protocol.models")
    if theirs is None:
        return result
    metrics = {name: theirs.MetricResult(**dict(metric.items())) for name, metric in result.metrics.items()}
    converted: EvaluateResult = theirs.EvaluateResult(**{**dict(result.items()), "metrics": metrics})
    return converted
