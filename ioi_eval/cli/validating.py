"""Validating solutions: what `validate` does."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.blobs import BlobStore
from ioi_eval.cli.sandboxes import Place, opened
from ioi_eval.config import Environment
from ioi_eval.errors import InputError, SetupError
from ioi_eval.pipeline.finish import replacing, to_json
from ioi_eval.pipeline.progress import progress_for
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.time_scale import scaled_set
from ioi_eval.report.validation import markdown_validation, terminal_validation
from ioi_eval.rows import open_source
from ioi_eval.toolchain import check_std
from ioi_eval.validate import Reading, Validation, read_solutions, result_rows, validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the command line asks for; see `ioi-eval validate --help`."""

    solutions: str | None
    against: str | None
    problems: str
    tests: str
    out: Path | None
    place: Place
    id_column: str
    years: frozenset[int]
    ids: frozenset[str]
    std: str | None
    time_scale: float
    bar: bool | None


def validate_solutions(call: Call) -> int:
    """Validate and show what was found.

    Returns:
        The exit code.
    """
    check_std(call.std)
    given = call.solutions or call.against
    if given is None:
        raise InputError("nothing to validate: give SOLUTIONS, or --against RESULTS with their programs")
    solutions = open_source(given)
    against = None if call.against is None else open_source(call.against)
    problems = load_problems(
        open_source(call.problems, all_splits=True),
        open_source(call.tests),
        BlobStore(Environment.read().cache),
        years=call.years or None,
        ids=call.ids or None,
    )
    reading = read_solutions(
        solutions,
        scaled_set(problems, call.time_scale),
        id_column=call.id_column,
        against=against,
        years=call.years,
        ids=call.ids,
    )
    validation = asyncio.run(_validate(call, reading))
    values = validation.as_dict()
    print(terminal_validation(values))
    if call.out is not None:
        _write(call.out, values, validation)
        print(f"\nReport: {call.out / 'validation.md'}")
    return 0 if validation.agrees else 1


async def _validate(call: Call, reading: Reading) -> Validation:
    progress = progress_for(len(reading.solutions), bar=call.bar)
    try:
        async with opened(call.place, std=call.std) as sandbox:
            return await validate(reading, sandbox.scorer, workers=sandbox.workers + 1, advance=progress.advance)
    finally:
        progress.close()


def _write(directory: Path, values: dict[str, Any], validation: Validation) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(f"{directory} cannot be made: {error.strerror}; choose another --out") from error
    with replacing(directory / "validation.json") as file:
        file.write(json.dumps(values, indent=2, ensure_ascii=False).encode() + b"\n")
    with replacing(directory / "validation.md") as file:
        file.write(markdown_validation(values).encode())
    with replacing(directory / "results.jsonl") as file:
        for row in result_rows(validation):
            file.write(to_json(row))
