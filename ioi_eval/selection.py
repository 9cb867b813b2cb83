"""Which submissions count under a contest's limit on their number. Pure.

A contestant at the IOI may make 50 submissions for a problem; a model may make any number of generations. Like the
reference, `round-robin` simulates a contestant who uses only public information: whether the code compiles, its score
on the samples (the first subtask, if it is worth 0 points), and the length of the reasoning. `docs/formats.md`, "Fifty
submissions", has its rule and the other methods.

Rows are result rows of one problem in dump order, ours or the reference's. Ties are broken by dump order.

Source: the reference's round robin. It marked solved subtasks by number but looked for them by name, so it never
skipped any; and it needed a target and nested metadata in every row.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.problems.row import is_finite
from ioi_eval.scores import total_points, unrounded_points

ResultRow = Mapping[str, Any]
"""A row of `results.jsonl`, or of the results of the reference."""

LIMIT = 50
"""Submissions for each problem. Source: IOI regulations."""

SEEDS = 100
"""The number of random draws."""

PRECISION = 2
"""Decimals of a problem's points if its rows do not state them. Source: `score_precision` of open-r1/ioi."""


class SelectionMethod(StrEnum):
    """How the submissions that count are chosen."""

    SINGLE = "single"
    ALL = "all"
    ROUND_ROBIN = "round-robin"
    FIRST = "first"
    RANDOM = "random"
    ORACLE = "oracle"
    REFERENCE = "reference"


_NO_PROGRAM = frozenset({"CE", "NC"})


def select(rows: Sequence[ResultRow], limit: int | None = LIMIT) -> tuple[int, ...]:
    """The rows that a contestant would hand in, as indices, in the order of handing in.

    Args:
        rows: result rows of one problem, with `all_subtasks_results` and optionally `target_subtask`,
            `code_compiles`, `code`, `metadata` and `generation`. Rows without a program that compiles are never
            chosen. Rows without a valid target are only chosen to fill the rest of the limit.
        limit: how many may be chosen; `None` for all.
    """
    if limit is not None and limit < 0:
        raise InputError(f"a limit of {limit} submissions is not possible; give 0 or more, or none for all")
    candidates = [index for index, row in enumerate(rows) if _compiles(row)]
    most = len(candidates) if limit is None else min(limit, len(candidates))
    listed = _first_results(rows)
    subtasks = [str(result["subtask"]) for result in listed]
    places = {name: number for number, name in enumerate(subtasks)}
    samples = _samples_of(listed)
    preference = {index: (_score_in(rows[index], samples), reasoning_length(rows[index])) for index in candidates}
    candidates.sort(key=preference.__getitem__, reverse=True)

    targets = {index: _target(rows[index]) for index in candidates}
    queues: dict[str, deque[int]] = {name: deque() for name in reversed(subtasks) if name != samples}  # not the samples
    for index, target in targets.items():
        if target in queues:
            queues[target].append(index)
    chosen = _take_turns(rows, queues, most)
    rest = sorted(set(candidates).difference(chosen))
    rest.sort(key=lambda index: (*preference[index], places.get(targets[index], 0)), reverse=True)
    return (*chosen, *rest[: most - len(chosen)])


def select_first(rows: Sequence[ResultRow], limit: int = LIMIT) -> tuple[int, ...]:
    """The first rows with a program that compiles, in dump order."""
    return tuple(index for index, row in enumerate(rows) if _compiles(row))[:limit]


def select_by_oracle(rows: Sequence[ResultRow], limit: int = LIMIT) -> tuple[int, ...]:
    """The best choice if all scores were known; not a simulation, because a contestant does not know them.

    It is the best row of each subtask. If these are more than the limit, it is nearly the best choice: each time the
    row that adds most points, or the choice of another method if that has more points.
    """
    scores = [_scores_of(row) for row in rows]
    best: dict[str, tuple[tuple[float, float], int]] = {}
    for index, of_row in enumerate(scores):
        for name, result in of_row.items():
            if result > (best[name][0] if name in best else (0.0, 0.0)):
                best[name] = result, index
    needed = {index for (_, points), index in best.values() if points > 0}
    if len(needed) <= limit:
        return tuple(sorted(needed))
    choices = (_greedy(scores, limit), select(rows, limit), select_first(rows, limit))
    return max(choices, key=lambda chosen: selected_score(rows, chosen))


def _greedy(scores: Sequence[Mapping[str, tuple[float, float]]], limit: int) -> tuple[int, ...]:
    left = dict(enumerate(scores))
    best: dict[str, float] = {}
    chosen: list[int] = []

    def gain(index: int) -> float:
        return math.fsum(max(0.0, points - best.get(name, 0.0)) for name, (_, points) in left[index].items())

    while left and len(chosen) < limit:
        index = max(left, key=gain)
        if gain(index) <= 0:
            break
        chosen.append(index)
        for name, (_, points) in left.pop(index).items():
            best[name] = max(points, best.get(name, 0.0))
    return tuple(chosen)


def random_scores(
    rows: Sequence[ResultRow], limit: int = LIMIT, *, seeds: int = SEEDS, problem: str = ""
) -> tuple[float, ...]:
    """For each of the seeds 0, 1, … the points of random submissions among those with a program that compiles.

    Args:
        problem: its name is a part of the seeds. Otherwise rows at the same positions would be drawn for each problem,
            and the points of several problems would be high together if dumps have the same order.
    """
    scores, precision = [_scores_of(rows[index]) for index in select_first(rows, len(rows))], _precision_of(rows)
    draws = (random.Random(f"{seed} {problem}").sample(scores, min(limit, len(scores))) for seed in range(seeds))
    return tuple(_best_total(drawn, precision) for drawn in draws)


def select_as_reference(rows: Sequence[ResultRow]) -> tuple[int, ...]:
    """The 50 rows that the reference's code selects, with its bugs, to reproduce its published numbers.

    The bugs: a solved subtask is recorded by its number but looked up by its name, so it still gets turns. The number
    counts as a subtask that needs no more turns, so the turns of the others may end early. Rounded scores of 1 count as
    solved. The first subtask gets no turns, even if it is worth points. Rows without a target make the reference's run
    fail; here they only fill the rest of the limit.

    Source: huggingface/ioi, `run_tests/selection_simulator.py`.
    """
    subtasks = [str(result["subtask"]) for result in _first_results(rows)]
    if not subtasks:
        return ()
    preference = {index: _preference_of_reference(row) for index, row in enumerate(rows) if _counts_for_reference(row)}
    by_preference = sorted(preference, key=preference.__getitem__, reverse=True)
    queues = {name: deque(i for i in by_preference if _target(rows[i]) == name) for name in subtasks}
    exhausted = {name for name, queue in queues.items() if not queue}
    finished: set[str | int] = {subtasks[0]}
    chosen: list[int] = []
    turn = len(subtasks) - 1
    while len(chosen) < LIMIT and len(exhausted | finished) < len(subtasks):
        name = subtasks[turn]
        turn = (turn - 1) % len(subtasks)
        if name in finished or name in exhausted:
            continue
        chosen.append(queues[name].popleft())
        finished |= {number for number, result in enumerate(_results(rows[chosen[-1]])) if result.get("score") == 1.0}
        if not queues[name]:
            exhausted.add(name)
    places = {name: order for order, name in enumerate(subtasks)}
    rest = [index for queue in queues.values() for index in queue]
    rest += [index for index in by_preference if _target(rows[index]) not in places]
    rest.sort(key=lambda index: (*preference[index], places.get(_target(rows[index]), 0)), reverse=True)
    return (*chosen, *rest[: LIMIT - len(chosen)])


def _counts_for_reference(row: ResultRow) -> bool:
    results = _results(row)
    return bool(row.get("code", True)) and bool(results) and results[0].get("status") != "CE"


def _preference_of_reference(row: ResultRow) -> tuple[float, float]:
    return _results(row)[0].get("score") or 0.0, reasoning_length(row)


def _scores_of(row: ResultRow) -> dict[str, tuple[float, float]]:
    """The score of a row in each subtask, and its points, not rounded; 0 if they are not known."""
    return {str(result["subtask"]): (result.get("score") or 0.0, points_in_subtask(result)) for result in _results(row)}


def points_in_subtask(result: Mapping[str, Any]) -> float:
    """The points in a subtask, not rounded; 0 if they are not known. `result` is its entry in a row of results."""
    score, points, weighted_score = (result.get(name) for name in ("score", "points", "weighted_score"))
    if score is None or points is None or weighted_score is None:
        return weighted_score or 0.0
    return unrounded_points(score, points, weighted_score, _precision(result))


def _precision(result: Mapping[str, Any]) -> int:
    stated = result.get("score_precision")
    return PRECISION if stated is None else int(stated)


def _precision_of(rows: Sequence[ResultRow]) -> int:
    return _precision(next(iter(_first_results(rows)), {}))


def selected_score(rows: Sequence[ResultRow], selected: Iterable[int] | None = None) -> float:
    """The points of a problem: the sum over its subtasks of the best result of a selected row (`None`: of any row).

    The sum is rounded once, as a submission's total is, so that one submission has its own points here, except that
    under Sum, of whose subtasks rows have only the mean, the last decimal may differ. Rows of the reference have only
    rounded scores: there the sum is that of `weighted_score`, which is rounded less coarsely than `score`. Subtasks
    that could not be judged add nothing.
    """
    chosen = range(len(rows)) if selected is None else selected
    return _best_total((_scores_of(rows[index]) for index in chosen), _precision_of(rows))


def _best_total(submissions: Iterable[Mapping[str, tuple[float, float]]], precision: int) -> float:
    """The sum over subtasks of the points of the submission with the best score; by score, as in `summary.json`."""
    best: dict[str, tuple[float, float]] = {}
    for scores in submissions:
        for name, result in scores.items():
            best[name] = max(result, best.get(name, (0.0, 0.0)))
    return total_points(((points, 1.0) for _, points in best.values()), precision) or 0.0


def sum_of_points(points: Iterable[float]) -> float:
    """The points of several problems or subtasks, which have few decimals: as the number that the sum's decimals mean,
    because it is compared with other totals."""
    return round(math.fsum(points), 9)


def _take_turns(rows: Sequence[ResultRow], queues: Mapping[str, deque[int]], most: int) -> list[int]:
    """Take turns among the queues: choose the first row of each queue whose subtask is not solved yet."""
    chosen: list[int] = []
    solved: set[str] = set()
    while len(chosen) < most:
        before = len(chosen)
        for name, queue in queues.items():
            if queue and name not in solved and len(chosen) < most:
                index = queue.popleft()
                chosen.append(index)
                solved.update(str(result["subtask"]) for result in _results(rows[index]) if _solves(result))
        if len(chosen) == before:
            break
    return chosen


def _results(row: ResultRow) -> Sequence[Mapping[str, Any]]:
    results: Sequence[Mapping[str, Any]] | None = row.get("all_subtasks_results")
    return () if results is None else results


def _first_results(rows: Sequence[ResultRow]) -> Sequence[Mapping[str, Any]]:
    """The results of the first row that has any, which show the problem's subtasks."""
    return next(filter(None, map(_results, rows)), ())


def _target(row: ResultRow) -> str:
    target = row.get("target_subtask")
    return "" if target is None else str(target)


def _compiles(row: ResultRow) -> bool:
    """Whether the program compiles. Without that column, the code and the verdicts of the subtasks decide. With JE we
    failed to find out, and the submission counts; a row of submitted outputs has no code."""
    if (compiles := row.get("code_compiles")) is not None:
        return bool(compiles)
    verdicts = [result.get("status") for result in _results(row)]
    has_program = bool(row.get("code", True)) or "JE" in verdicts
    return has_program and bool(verdicts) and _NO_PROGRAM.isdisjoint(verdicts)


def _solves(result: Mapping[str, Any]) -> bool:
    """Whether the unrounded score is 1. The reference's column is rounded, so 1.0 counts only together with AC."""
    return result.get("score") == 1.0 and result.get("status") in ("AC", None)


def _samples_of(results: Sequence[Mapping[str, Any]]) -> str | None:
    """The subtask with the samples, which a contestant knows: the first one, unless it is worth points."""
    return str(results[0]["subtask"]) if results and not results[0].get("points") else None


def _score_in(row: ResultRow, subtask: str | None) -> float:
    """The score in a subtask; 0 if it is unknown."""
    if subtask is None:
        return 0.0
    return next((result.get("score") or 0.0 for result in _results(row) if str(result["subtask"]) == subtask), 0.0)


def reasoning_length(row: ResultRow) -> float:
    """The length of the model's reasoning: in tokens if the row has their number, else in characters.

    Dumps have `metadata.usage.completion_tokens`, or `metadata.completion_tokens`, or `output_tokens` in either place.
    Infinity, an integer beyond all floats, and NaN, which tables use for missing values, count as missing.
    """
    metadata = row.get("metadata")
    if metadata is not None and isinstance(metadata, Mapping):
        for holder in (metadata.get("usage"), metadata):
            if isinstance(holder, Mapping):
                for column in ("output_tokens", "completion_tokens"):
                    tokens = holder.get(column)
                    if is_finite(tokens):
                        return float(tokens)
    generation = row.get("generation")
    return float(len(generation)) if isinstance(generation, str) else 0.0
