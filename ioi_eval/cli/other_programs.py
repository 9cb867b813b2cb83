"""Options of other programs that users type here by habit, and our counterparts.

The parser refuses an option that a command does not have, but cannot say that it belongs to another program. So the
arguments are first searched for options of other programs. `docs/coming-from.md` has the same in tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherProgram:
    """Another program, as its users call it; for each of its options, what to type to a command of ours instead."""

    name: str
    options: Mapping[str, str]


_RUN_TESTS = OtherProgram(
    name="Hugging Face's tests_runner.py",
    options={
        "--local_results_path": "--out DIR",
        "--id_column": "--id-column",
        "--max_concurrent_requests": "--workers",
        "--test_batch_size": "nothing to set here: a job holds many tests, and stops by itself at the first 0",
        "--dry_run": "--dry-run",
        "--override": "--no-resume",
        "--timeout": "--patience, while no worker is available; jobs keep their own time limits",
        "--add_includes": "--fix-includes",
        "--add_messages_column": "--add-messages-column",
        "--always_extract_code": "--always-extract-code",
    },
)

_NOT_OF_VALIDATE = (
    "--test_batch_size",
    "--dry_run",
    "--add_includes",
    "--add_messages_column",
    "--always_extract_code",
)
_RUN_TESTS_AND_VALIDATE = OtherProgram(
    name=_RUN_TESTS.name,
    options={**_RUN_TESTS.options, **dict.fromkeys(_NOT_OF_VALIDATE, "nothing; leave it out")},
)

_LEAVE_OUT_MODEL = "nothing; leave it out, because no model is asked here: DUMP has its programs"
_LEAVE_OUT_BENCHMARK = "nothing; leave it out, because this command is for APPS only"

_MCPBR = OtherProgram(
    name="mcpbr",
    options={
        "-b": _LEAVE_OUT_BENCHMARK,
        "--benchmark": _LEAVE_OUT_BENCHMARK,
        "-o": "--out DIR, whose mcpbr.jsonl holds mcpbr's records",
        "--output": "--out DIR, whose mcpbr.jsonl holds mcpbr's records",
        "--output-dir": "--out DIR",
        "--sampling-strategy": "--sampling sequential, random or stratified",
        "--random-seed": "--seed N",
        "--stratify-field": "nothing; leave it out, because --sampling stratified goes by difficulty",
        "-m": _LEAVE_OUT_MODEL,
        "--model": _LEAVE_OUT_MODEL,
    },
)

OTHER_NAMES: Mapping[tuple[str, ...], OtherProgram] = {
    ("score",): _RUN_TESTS,
    ("validate",): _RUN_TESTS_AND_VALIDATE,
    ("apps", "score"): _MCPBR,
}
"""For each command of ours, the other program whose options are known."""

_WHOLE_COMMAND = {("score",): "ioi-eval run-tests takes all of that program's options as they are"}

_MCPBR_RUN = "apps score DUMP --dataset SRC --out DIR (for what `mcpbr run` scores)"

_OTHER_COMMANDS = {
    ("tests_runner.py",): "run-tests",
    ("run_tests",): "run-tests",
    ("new_eval_model_generations.py",): "score (in Python: ioi_eval.pipeline.score_dump)",
    ("run",): _MCPBR_RUN,
    ("mcpbr",): _MCPBR_RUN,
    ("apps", "run"): _MCPBR_RUN,
    ("evaluate.py",): "score (answers of a model are made elsewhere; this scores them)",
}
"""Names of other programs that users type instead of a command, and the command to type."""


def message_about_other_names(arguments: Sequence[str]) -> str | None:
    """The message for a command line (without the program's name) with options of another program; else `None`."""
    for typed, here in _OTHER_COMMANDS.items():
        if tuple(arguments[: len(typed)]) == typed:
            return f"{' '.join(typed)} is not a command here; its counterpart is: ioi-eval {here}"
    for command, program in OTHER_NAMES.items():
        if tuple(arguments[: len(command)]) != command:
            continue
        for word in arguments[len(command) :]:
            option = word.partition("=")[0]
            if option in program.options:
                also = f". {_WHOLE_COMMAND[command]}" if command in _WHOLE_COMMAND else ""
                here = program.options[option]
                return f"{option} is an option of {program.name}; in ioi-eval {' '.join(command)} it is: {here}{also}"
    return None
