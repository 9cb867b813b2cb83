"""Solutions of a task in the Italian YAML format, and what their comments state about them.

    // @check-accepted: small trees
    // @check-wrong-answer: large*

Each line names a result and the subtasks that have it: by their names in `gen/GEN` (`#STNAME`) or `gen/gen.toml`, where
`*` and `?` stand for other letters. A failure such as `wrong-answer` is stated of at least one test, but the verdict of
a subtask here is that of its first test with the lowest score. So only the score is compared: all of it, a part, none.

Source: task-maker-rust, `docs/ioi-task-format.typ`, "Solution folder".
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.output_sets import output_sets
from ioi_eval.importers.package import Package, first_names
from ioi_eval.importers.task import PackageSolution, language
from ioi_eval.model import Subtask

LINKED = ("grader", "stub")
_DIRECTORY = "sol"
_MODELS = ("solution", "soluzione")
MODELS = f"{_DIRECTORY}/{_MODELS[0]}"
_NO_SOLUTIONS = (*LINKED, "template", "manager", "checker")
_CHECK = re.compile(r"@check-([\w-]+):([^\n]*)")
_NO_POINTS = "WA,TLE,RE,MLE,SV,OLE"
_FAILURES = (
    "wrong-answer",
    "time-limit-exceeded",
    "wall-time-limit-exceeded",
    "memory-limit-exceeded",
    "runtime-error",
)
_RESULTS = {"accepted": "AC", "partial-score": "PA", **dict.fromkeys((*_FAILURES, "zero"), _NO_POINTS)}


def read_solutions(package: Package, subtasks: Sequence[Subtask], *, output_only: bool) -> list[PackageSolution]:
    """The sources in `sol/`, or the outputs there if the task takes outputs only."""
    programs = [
        path
        for path in package.names(_DIRECTORY)
        if language(path) is not None and PurePosixPath(path).stem not in _NO_SOLUTIONS
    ]
    if output_only:
        package.leave_out("as the task takes outputs only", programs)
        sets = output_sets(package, _DIRECTORY)
        used = {*programs, *(path for output_set in sets for path in output_set.paths)}
        others = [path for path in package.names(_DIRECTORY) if path not in used and "output" in path]
        package.leave_out("as outputs are called output_000.txt", others)
        return [
            PackageSolution(
                path=None,
                label=output_set.name or "outputs",
                expected=MODEL_SOLUTION if output_set.name in _MODELS else None,
                outputs=output_set.outputs,
            )
            for output_set in sets
        ]
    names = _subtask_names(package, subtasks)
    return [
        PackageSolution(
            path=path,
            label=path.removeprefix(f"{_DIRECTORY}/"),
            expected=MODEL_SOLUTION if path.count("/") == 1 and PurePosixPath(path).stem in _MODELS else None,
            expected_subtasks=_stated(package, path, names),
        )
        for path in programs
    ]


def _subtask_names(package: Package, subtasks: Sequence[Subtask]) -> Mapping[str, str]:
    """The authors' name of each subtask that has one, by its name in the rows; empty if their numbers differ."""
    names: list[str] = []
    if package.has("gen/gen.toml"):
        stated = package.toml("gen/gen.toml").get("subtask", {})
        names = list(stated) if isinstance(stated, dict) else []
    elif package.has("gen/GEN"):
        for line in package.lines("gen/GEN"):
            comment = line.partition("#")[2].strip()
            if comment.startswith("ST:"):
                names.append("")
            elif comment.startswith("STNAME:") and names:
                names[-1] = comment.removeprefix("STNAME:").partition("#")[0].strip()
    if len(names) != len(subtasks):
        return {}
    return {subtask.name: name for subtask, name in zip(subtasks, names, strict=True) if name}


def _stated(package: Package, path: str, names: Mapping[str, str]) -> dict[str, str]:
    stated: dict[str, str] = {}
    not_compared: list[str] = []
    for match in _CHECK.finditer(package.text(path)):
        result, patterns = match[1], match[2].replace("*/", " ").split()
        for pattern in patterns:
            glob = pattern.replace("[", "[[]")
            chosen = [subtask for subtask, name in names.items() if fnmatch.fnmatchcase(name, glob)]
            if result in _RESULTS and chosen:
                stated |= dict.fromkeys(chosen, _RESULTS[result])
            else:
                not_compared.append(f"{result} of {pattern}")
    if not_compared:
        package.notes.append(
            f"{path}: what it states is not compared, as no such subtask or result is known:"
            f" {first_names(not_compared)}"
        )
    return stated
