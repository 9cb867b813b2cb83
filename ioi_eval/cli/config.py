"""`ioi-eval config`: which value each setting has, and where from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup

from ioi_eval.cli.file_options import commands_of, default_map, settings_of
from ioi_eval.cli.grouped import argument
from ioi_eval.config import Environment
from ioi_eval.config_file import NAME, read_config_file
from ioi_eval.errors import InputError, unknown

_DEFAULT = "default"

_WITH_URLS = frozenset({"PISTON_ENDPOINTS", "endpoints", "repository"})
"""The settings whose URLs may contain passwords, which are not shown: people pass on what this prints."""


def config(
    context: typer.Context,
    command: Annotated[
        list[str] | None, argument("COMMAND", "Show all options of this command, as `score` or `apps score`.")
    ] = None,
) -> int:
    """Show the value of each setting, and where it comes from.

    Of several values the first of these counts: command line, environment, .env, ioi-eval.toml, default.

    ioi-eval.toml in the working directory (or the file that IOI_EVAL_CONFIG names) has a table for the environment,
    [environment], and one for each command, as [score] or [apps.score], with its options by their long names.
    """
    root = context.find_root().command
    assert isinstance(root, TyperGroup)
    file = read_config_file()
    set_here = default_map(root, file)
    all_commands = dict(commands_of(root))
    wanted = tuple(word for argument in command or () for word in argument.split())
    if wanted and wanted not in all_commands:
        asked = " ".join(wanted)
        if below := [" ".join(words) for words in all_commands if words[: len(wanted)] == wanted]:
            raise InputError(f"{asked} is a group of commands; name one of them: {', '.join(below)}")
        raise InputError(unknown("command", asked, map(" ".join, all_commands), help_of="ioi-eval"))
    print(f"file: {file.path or f'none (no {NAME} here)'}")
    if not wanted:
        _show("environment", _environment())
    for words, known in all_commands.items():
        values = set_here
        for word in words:
            values = values.get(word, {})
        if wanted in ((), words):
            _show(" ".join(words), _options(known, values, str(file.path), only_set=not wanted))
    return 0


def _environment() -> Iterable[tuple[str, object, str]]:
    environment = Environment.read()
    sources = environment.set_by
    if "XDG_CACHE_HOME" in sources:  # "environment" alone would mean the variable IOI_EVAL_CACHE
        sources = {"IOI_EVAL_CACHE": "XDG_CACHE_HOME", **sources}
    values = (
        ("IOI_EVAL_CACHE", environment.cache, "IOI_EVAL_CACHE"),
        ("CXX", environment.compiler, "CXX"),
        ("PISTON_ENDPOINTS", environment.piston_endpoints or "not set", "PISTON_ENDPOINTS"),
        ("PISTON_MAX_REQUESTS_PER_ENDPOINT", environment.piston_slots, "PISTON_MAX_REQUESTS_PER_ENDPOINT"),
    )
    return [(name, value, sources.get(variable, _DEFAULT)) for name, value, variable in values]


def _options(
    command: TyperCommand, values: dict[str, object], file: str, *, only_set: bool
) -> Iterable[tuple[str, object, str]]:
    for name, option in settings_of(command).items():
        if option.name in values:
            yield name, values[option.name], file
        elif not only_set:
            default = option.get_default(typer.Context(command))
            value = "not set" if default is None else getattr(default, "value", default)
            yield name, value, "required" if option.required else _DEFAULT


def _show(title: str, rows: Iterable[tuple[str, object, str]]) -> None:
    from ioi_eval.sandbox.piston.endpoints import without_logins

    texts = [(name, _as_text(value), source) for name, value, source in rows]
    shown = [(name, without_logins(text) if name in _WITH_URLS else text, source) for name, text, source in texts]
    lines = [f"  {name:32} {text}  ({source})" for name, text, source in shown]
    if lines:
        print("\n".join([f"{title}:", *lines]))


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)  # several values of one option
