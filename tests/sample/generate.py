"""Writes the rows of the sample contest and of the sample of APPS: `python -m tests.sample.generate`.

The rows are committed, so that an installed package has them. A test checks that this program still writes exactly
these bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ioi_eval import sample
from tests.sample.apps_rows import dump_rows, problem_rows
from tests.sample.generations import dump_row, expected_row, generations
from tests.sample.inputs import berths, buoys, keepers, lamps
from tests.sample.task import Row, Task

_CASES = {"berths": berths.cases, "buoys": buoys.cases, "lamps": lamps.cases, "keepers": keepers.cases}


def contest() -> tuple[Task, ...]:
    """The four tasks, in the contest's order."""
    return tuple(Task.read(sample.tasks() / id, year=sample.YEAR, cases=cases()) for id, cases in _CASES.items())


def made_files() -> Iterator[tuple[str, str]]:
    """Names and contents of all generated files."""
    made = contest()
    yield "problems.jsonl", _jsonl(row for task in made for row in task.problem_rows())
    yield "tests.jsonl", _jsonl(row for task in made for row in task.test_rows())
    yield "solutions.jsonl", _jsonl(row for task in made for row in task.solution_rows())
    answers = [(task, answer) for task in made for answer in generations(task)]
    yield "dump.jsonl", _jsonl(dump_row(task, answer) for task, answer in answers)
    yield "dump_expected.jsonl", _jsonl(expected_row(task, answer) for task, answer in answers)
    yield "apps_problems.jsonl", _jsonl(problem_rows())
    yield "apps_dump.jsonl", _jsonl(row for row, _ in dump_rows())
    yield "apps_expected.jsonl", _jsonl(expected for _, expected in dump_rows())


def _jsonl(rows: Iterable[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def main() -> None:
    """Write the files into the package."""
    here = Path(sample.__file__).parent
    for name, contents in made_files():
        (here / name).write_text(contents, encoding="utf-8", newline="\n")
        print(f"{name}: {contents.count(chr(10))} rows, {len(contents.encode()):,} bytes")


if __name__ == "__main__":
    main()
