"""The data set's reference solutions, run by the harness and judged by the comparators: all except two pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.model.methods import Comparator
from ioi_eval.problems.apps import APPS_COLUMNS, apps_problem, solutions_of
from ioi_eval.problems.apps_values import arguments_of, encode, result_is_right
from ioi_eval.rows import open_source

Compare = Callable[[Sequence[tuple[str, bytes, bytes]]], list[str]]

KNOWN = {
    ("apps_sample_dataset.jsonl", "0", 3): {"tokens"},  # omits an empty line
    ("apps_sample_dataset.jsonl", "2", 1): set(),  # another right answer: needs a checker
}
"""Solutions that `lines` rejects, and the comparators that accept them."""


def passes(warm: Any, compare: Compare, problem: AppsProblem, solution: str, rules: Sequence[str]) -> set[str]:
    """The comparators by which a solution passes all tests of its problem."""
    passing = set(rules)
    for test in problem.tests:
        if isinstance(test, StdinTest):
            ended = warm.run(solution, test.stdin, conventions=True)
            lines = compare([(rule, ended.stdout, test.answer) for rule in rules])
            right = {rule for rule, line in zip(rules, lines, strict=True) if line == "right"}
        else:
            ended = warm.run(solution, encode(arguments_of(test)), fn_name=problem.fn_name, conventions=True)
            right = {rule for rule in rules if result_is_right(test, ended.stdout, Comparator.parse(rule))}
        assert ended.status == 0, ended.stderr
        passing &= right
    return passing


def test_reference_solutions(warm: Any, compare: Compare, shared: Path) -> None:
    """Each solution passes with `lines`, or is listed in `KNOWN` with the reason."""
    refused = {}
    count = 0
    for name in ("apps.jsonl", "apps_sample_dataset.jsonl"):
        rows = open_source(shared / "tasks/apps" / name).iterate((*APPS_COLUMNS, "solutions"))
        for index, row in enumerate(rows):
            problem = apps_problem(row, index)
            for number, solution in enumerate(solutions_of(row)[0]):
                count += 1
                right = passes(warm, compare, problem, solution, ["lines", "tokens"])
                if "lines" not in right:
                    refused[name, problem.id, number] = right
    assert refused == KNOWN
    assert count == 136
