"""The rows of the sample of APPS: problems as in `codeparrot/apps`, a dump, and the expected results of its programs.

A problem is a folder below `apps/`: `problem.json`, `statement.md` and `answers.md`. In `answers.md` each answer that a
model might have given begins with a line

    %% found=<a name for its program, or none> verdict=<by default> passed=<tests> [by_<rules>=<tests>]

where `by_checker` is the number of tests that pass if the problem's `checker.cpp` judges, and `by_page` the number by
the rules of Eval Protocol's page, if it differs. The program is the last block of the answer.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from ioi_eval import sample
from tests.sample.inputs.apps import TESTS

Row: TypeAlias = "dict[str, Any]"

FOLDER = Path(sample.__file__).parent / "apps"
_HEADER = re.compile(
    r"^%% found=(?P<found>\S+) verdict=(?P<verdict>\S+) passed=(?P<passed>\d+)"
    r"(?: by_checker=(?P<by_checker>\d+))?(?: by_page=(?P<by_page>\d+))?\n",
    re.MULTILINE,
)
_PROGRAM = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def problem_rows() -> Iterator[Row]:
    """The problems, in the order of their ids; columns as in `codeparrot/apps`."""
    for name, tests in TESTS.items():
        facts = _facts(name)
        inputs, outputs = map(list, zip(*tests(), strict=True))
        column: Row = {"inputs": inputs, "outputs": outputs}
        if "fn_name" in facts:
            column = {"fn_name": facts["fn_name"], **column}
        right = [program_of(text) for header, text in _answers(name) if header["found"].startswith("correct/")]
        yield {
            "problem_id": facts["problem_id"],
            "question": (FOLDER / name / "statement.md").read_text(encoding="utf-8"),
            "solutions": json.dumps(right),
            "input_output": json.dumps(column),
            "difficulty": facts["difficulty"],
            "url": f"https://example.org/harbour/{name}",
            "starter_code": facts["starter_code"],
        }


def dump_rows() -> Iterator[tuple[Row, Row]]:
    """Each answer as a row of a dump, with its expected result."""
    for name, tests in TESTS.items():
        problem = _facts(name)["problem_id"]
        total = len(list(tests()))
        for number, (header, text) in enumerate(_answers(name)):
            given = {"uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"apps {name} {number}")), "problem_id": problem}
            worth = {
                "solution": None if header["found"] == "none" else header["found"],
                "expected_verdict": header["verdict"],
                "expected_passed": int(header["passed"]),
                "expected_total": total,
                "expected_passed_by_checker": int(header["by_checker"] or header["passed"]),
                "expected_passed_by_page": int(header["by_page"] or header["passed"]),
            }
            yield {**given, "generation": text}, {**given, **worth}


def _answers(name: str) -> Iterator[tuple[re.Match[str], str]]:
    source = (FOLDER / name / "answers.md").read_text(encoding="utf-8")
    headers = list(_HEADER.finditer(source))
    ends = [header.start() for header in headers[1:]] + [len(source)]
    for header, end in zip(headers, ends, strict=True):
        yield header, source[header.end() : end]


def _facts(name: str) -> Row:
    facts: Row = json.loads((FOLDER / name / "problem.json").read_text(encoding="utf-8"))
    return facts


def program_of(answer: str) -> str | None:
    """The program in an answer; `None` if it has none."""
    programs: list[str] = _PROGRAM.findall(answer)
    return programs[-1] if programs else None
