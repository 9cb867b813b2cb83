"""A task's directory, which is written by hand, and the rows that are made from it.

tasks/<id>/problem.json     limits, type, subtasks, and the expected results of each solution
           statement.md     for contestants; its section "Subtasks" is a table of all subtasks
           starting.cpp     the code that a contestant starts from
           graders/         header, grader or stub, manager
           checker/         the checker, if there is one
           solutions/       <label>/<name>.cpp; labels as in official packages
           generations.md   answers that a language model might have given
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sample.inputs.case import Case

Row = dict[str, Any]

_LIMITS = """
## Limits

{seconds:g} s of processor time and {mebibytes} MiB of memory.

## Starting code

```cpp
{starting_code}```
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of the contest.

    Args:
        year: the year of the contest.
        folder: where its files are.
        settings: the contents of `problem.json`.
        cases: its tests.
    """

    year: int
    folder: Path
    settings: Mapping[str, Any]
    cases: tuple[Case, ...]

    @classmethod
    def read(cls, folder: Path, *, year: int, cases: Iterator[Case]) -> Task:
        """Read a task from its directory."""
        settings = json.loads((folder / "problem.json").read_text(encoding="utf-8"))
        return cls(year=year, folder=folder, settings=settings, cases=tuple(cases))

    @property
    def id(self) -> str:
        """Its short name."""
        return str(self.settings["id"])

    @property
    def subtasks(self) -> tuple[str, ...]:
        """The names of its subtasks, in order."""
        return tuple(subtask["name"] for subtask in self.settings["subtasks"])

    def code(self, label: str) -> str:
        """The source of a solution, by its label (`incorrect/touching.cpp`)."""
        return self._text(f"solutions/{label}")

    def generations(self) -> str:
        """The answers for the dump, unparsed."""
        return self._text("generations.md")

    def problem_rows(self) -> Iterator[Row]:
        """A row for each subtask. Columns: `open-r1/ioi`."""
        for subtask in self.settings["subtasks"]:
            yield {
                "year": self.year,
                "name": self.settings["name"],
                "id": self.id,
                "day": self.settings["day"],
                "subtask": subtask["name"],
                "statement": self._text("statement.md"),
                "score": subtask["score"],
                "time_limit": self.settings["time_limit"],
                "memory_limit": self.settings["memory_limit"],
                "score_precision": self.settings["score_precision"],
                "task_type": self.settings["task_type"],
                "test_names": [case.name for case in self.cases if case.name.split("-")[0] in subtask["tests"]],
                "starting_code": self._text("starting.cpp"),
                "grader_files": [[path, content] for path, content in self._grader_files()],
                "problem": self._problem_text(subtask),
            }

    def test_rows(self) -> Iterator[Row]:
        """A row for each test. Columns: `open-r1/ioi-test-cases`."""
        for case in self.cases:
            yield {
                "year": self.year,
                "day": self.settings["day"],
                "problem_name": self.settings["name"],
                "problem_id": self.id,
                "test_name": case.name,
                "test_input": case.input,
                "test_output": case.answer,
            }

    def solution_rows(self) -> Iterator[Row]:
        """A row for each solution, with its expected results."""
        for label, expected in self.settings["solutions"].items():
            yield {
                "year": self.year,
                "problem_id": self.id,
                "label": label,
                "code": self.code(label),
                "expected_subtasks": dict(zip(self.subtasks, expected["subtasks"], strict=True)),
                "expected_total": expected["total"],
            }

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def _grader_files(self) -> Iterator[tuple[str, str]]:
        for folder in ("checker", "graders"):
            for path in sorted((self.folder / folder).glob("*")):
                yield f"{folder}/{path.name}", path.read_text(encoding="utf-8")
        yield "graders/grader_config.json", self._grader_config()

    def _grader_config(self) -> str:
        """`grader_config.json` as in official rows: flat keys, limits in seconds and bytes."""
        config = {
            "code": self.id,
            "name": self.settings["name"],
            "task_type": self.settings["task_type"],
            "time_limit": self.settings["time_limit"],
            "memory_limit": self.settings["memory_limit"],
            "score_precision": self.settings["score_precision"],
        }
        for key, value in self.settings["task_type_parameters"].items():
            config[f"task_type_parameters_{key}"] = value
        return json.dumps(config, indent=4) + "\n"

    def _problem_text(self, subtask: Mapping[str, Any]) -> str:
        """The statement for a contestant who must solve only one subtask."""
        before, table = self._text("statement.md").split("## Subtasks\n")
        _, heading, after = table.partition("\n## ")
        only = f"## Subtask\n\nOnly this subtask counts. Further constraints: {subtask['constraint']}.\n"
        return (
            before
            + only
            + heading
            + after
            + _LIMITS.format(
                seconds=self.settings["time_limit"],
                mebibytes=self.settings["memory_limit"] // 2**20,
                starting_code=self._text("starting.cpp"),
            )
        )
