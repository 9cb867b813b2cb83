"""The dump: answers that a language model might have given, and their expected results.

The answers are written by hand in `tasks/<id>/generations.md`. Each begins with a line

    %% target=<subtask> found=<label> [fixed=<label>]

where `found` is the label of the solution in it, or `none` (no code) or `ce` (a program without its includes, which
does not compile); `fixed` is the label of that program after the includes are added. In the text, `{{label}}` is
replaced by the solution's source without its opening comment; a filter may follow:

    {{label | bare}}         without any #include
    {{label | first half}}   cut off in the middle
    {{label | contest}}      as most contestants would write it: bits/stdc++.h and using namespace std
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.sample.task import Row, Task

_HEADER = re.compile(r"^%% target=(?P<target>\S+) found=(?P<found>\S+)(?: fixed=(?P<fixed>\S+))?\n", re.MULTILINE)
_CODE = re.compile(r"\{\{(?P<label>[^|}\s]+)(?: \| (?P<filter>[a-z ]+))?\}\}\n")

# From the worst to the best. Source: the reference's order, which has neither OLE nor NC.
_WORST_FIRST = ("CE", "NC", "RE", "OLE", "WA", "MLE", "TLE", "PA", "AC")

# A real prompt would contain the whole statement: column `problem` of the subtask's row.
_PROMPT = """\
Write a C++ program for subtask {target} of the task "{name}". End your answer with the whole program in a code block.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One answer.

    Args:
        number: its position among the answers to its task.
        target: the subtask that the model was asked to solve.
        text: the answer.
        found: label of the program in it, `none` or `ce`.
        fixed: with `ce`: the label of the program after its includes are added.
    """

    number: int
    target: str
    text: str
    found: str
    fixed: str | None


def generations(task: Task) -> Iterator[Generation]:
    """The answers to one task."""
    source = task.generations()
    headers = list(_HEADER.finditer(source))
    ends = [header.start() for header in headers[1:]] + [len(source)]
    for number, (header, end) in enumerate(zip(headers, ends, strict=True)):
        yield Generation(
            number=number,
            target=header["target"],
            text=_CODE.sub(lambda match: _filtered(task, match), source[header.end() : end]),
            found=header["found"],
            fixed=header["fixed"],
        )


def dump_row(task: Task, generation: Generation) -> Row:
    """The row, as a program that generates answers would write it. It has no `code`: we must extract it."""
    prompt = _PROMPT.format(name=task.settings["name"], target=generation.target)
    asked, answered = len(prompt) // 4, len(generation.text) // 4  # a token has about four characters
    return {
        "year": task.year,
        "problem_id": task.id,
        "subtask": generation.target,
        "language": "cpp",
        "solution_number": generation.number,
        "uuid": _uuid(task, generation),
        "prompt": prompt,
        "generation": generation.text,
        "model_kwargs": {"seed": generation.number},
        "metadata": {
            "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
            "stop_reason": "length" if _cut_off(generation.text) else "stop",
        },
    }


def expected_row(task: Task, generation: Generation) -> Row:
    """The expected result of the answer, unchanged and (if that differs) with added includes."""
    fixed = _worth(task, generation.fixed) if generation.fixed else None
    return {
        "uuid": _uuid(task, generation),
        "year": task.year,
        "problem_id": task.id,
        "solution": generation.fixed or (None if generation.found == "none" else generation.found),
        **_worth(task, generation.found),
        "with_fixed_includes": fixed,
    }


def _worth(task: Task, found: str) -> Mapping[str, object]:
    refused = {"none": "NC", "ce": "CE"}
    if found in refused:
        subtasks, total = dict.fromkeys(task.subtasks, refused[found]), 0.0
    else:
        stated = task.settings["solutions"][found]
        subtasks, total = dict(zip(task.subtasks, stated["subtasks"], strict=True)), stated["total"]
    verdict = min(subtasks.values(), key=_WORST_FIRST.index)
    return {"expected_verdict": verdict, "expected_subtasks": subtasks, "expected_total": total}


def _filtered(task: Task, match: re.Match[str]) -> str:
    lines = task.code(match["label"]).splitlines(keepends=True)
    while lines[0].startswith("//") or not lines[0].strip():
        del lines[0]
    code = "".join(lines)
    match match["filter"]:
        case None:
            return code
        case "bare":
            return re.sub(r"#include .*\n+", "", code)
        case "first half":
            return "".join(lines[: len(lines) // 2])
        case "contest":
            own, rest = re.findall(r'#include ".*\n', code), re.sub(r"#include .*\n+", "", code)
            head = ["#include <bits/stdc++.h>\n", *own, "\n", "using namespace std;\n", "\n"]
            return "".join(head) + rest.replace("std::", "")
        case unknown:
            raise ValueError(f"{task.id}/generations.md: no filter is called {unknown!r}")


def _cut_off(text: str) -> bool:
    """Whether a code block or a thought is not closed at the end."""
    return text.count("```") % 2 == 1 or text.count("<think>") > text.count("</think>")


def _uuid(task: Task, generation: Generation) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"ioi_eval/sample/{task.year}/{task.id}/{generation.number}"))
