"""What showing a submission has in common for contest problems and APPS: the options, and the choice of a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ioi_eval.cli.sandboxes import Place, tell
from ioi_eval.errors import InputError
from ioi_eval.report.one_submission import failing_test, tests_of
from ioi_eval.report.terminal import printable

READ_BYTES = 1 << 16
"""How many bytes of an input, an output and the official output are read."""

ONLY_RESULTS = "so of its tests only what the results have is shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCall:
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


def chosen_test(call: ShowCall, row: Mapping[str, Any]) -> str | None:
    """The test to show: the one that the user named, else the first that failed; `None` if none failed.

    Raises:
        InputError: there is no such test.
    """
    tests = tests_of(row)
    if call.test is None:
        return failing_test(row)
    if call.test not in tests:
        there = ", ".join(map(printable, list(tests)[:20]))
        raise InputError(f"this submission has no test {call.test}; it has {there or 'none, as nothing was run'}")
    return call.test


def tell_change(row: Mapping[str, Any], verdict: str, worth: object, *, before: str) -> None:
    """Print a line if judging again gave another result.

    Args:
        row: the stored result.
        verdict, worth: verdict and score of the new result.
        before: the column of `row` with the stored score.
    """
    was = row.get("verdict")
    if was is not None and (was, row.get(before)) != (verdict, worth):
        tell(f"it was {was} with {row.get(before)}, and is {verdict} with {worth} now")
