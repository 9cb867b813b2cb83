"""Options of commands that `ioi-eval.toml` sets. All are checked, whichever command is called.

The parser uses them (`default_map`) after environment variables and before an option's own default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from ioi_eval.config_file import ConfigFile
from ioi_eval.errors import InputError, similar, unknown

_NOT_SETTINGS = frozenset({"help", "version"})
_PARSED = re.compile(r", unable to parse string as an? \w+$")  # the end of some of the parser's messages
_TABLES = "write the command of an option above it, as in [score] or [apps.score]"


def commands_of(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    """All commands below a group, each with the words that call it."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands_of(command, (*path, name))
        elif isinstance(command, TyperCommand):
            yield (*path, name), command


def settings_of(command: TyperCommand) -> dict[str, TyperOption]:
    """The options of a command that a file can set, each by the longest of its names (`_setting`)."""
    options = (option for option in command.params if isinstance(option, TyperOption))
    named = ((_setting(max(option.opts, key=len)), option) for option in options)
    return {name: option for name, option in named if option.name not in _NOT_SETTINGS}


def _setting(name: str) -> str:
    """A long name as in a file: without the dashes, with `-` for `_`."""
    return name.removeprefix("--").replace("_", "-")


def default_map(group: TyperGroup, file: ConfigFile) -> dict[str, Any]:
    """The options that the file sets, in the parser's form: command → name of the parameter → value."""
    return _of_group(group, file.commands, f"{file.path}", ())


def _of_group(group: TyperGroup, tables: Mapping[str, Any], where: str, path: tuple[str, ...]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, table in tables.items():
        command = group.commands.get(name)
        if command is None and not isinstance(table, dict):
            raise InputError(f"{where}: {'.'.join((*path, name))} is outside of a table of options: {_TABLES}")
        if command is None:
            near = similar(name, group.commands)  # without the path, which makes all its commands similar
            named = unknown(
                "command",
                ".".join((*path, name)),
                (),
                near=".".join((*path, near)) if near else None,
                help_of=" ".join(("ioi-eval", *path)),
            )
            raise InputError(f"{where}: {named}")
        header = f"{where}, [{'.'.join((*path, name))}]"
        if not isinstance(table, dict):
            raise InputError(f"{header} must be a table of options")
        if isinstance(command, TyperGroup):
            options[name] = _of_group(command, table, where, (*path, name))
        elif isinstance(command, TyperCommand):
            options[name] = _of_command(command, table, header, " ".join(("ioi-eval", *path, name)))
    return options


def _of_command(command: TyperCommand, table: Mapping[str, Any], header: str, call: str) -> dict[str, Any]:
    options = settings_of(command).values()
    settings = {_setting(name): option for option in options for name in option.opts if name.startswith("--")}
    values: dict[str, Any] = {}
    for name, value in table.items():
        option = settings.get(_setting(name))
        if option is None:
            raise InputError(f"{header}: {unknown('option', name, settings, help_of=call)}")
        if option.name in values:
            raise InputError(f"{header}: {name} is set twice; its names are {', '.join(option.opts)}")
        if wrong := _why_wrong(value, option):
            raise InputError(f"{header}: {name} = {value!r}: {wrong}")
        text = _as_text(value, option)
        try:
            option.process_value(typer.Context(command), text)
        except typer.BadParameter as error:
            raise InputError(f"{header}: {name} = {value!r}: {value_message(error.message)}") from None
        values[str(option.name)] = text
    return values


def _why_wrong(value: object, option: TyperOption) -> str:
    """Why a value is wrong that the parser would accept as text; empty if nothing is."""
    items = value if isinstance(value, list) and option.multiple else [value]
    if any(isinstance(item, list | dict) for item in items):
        return "one value is wanted, not a list or a table"
    return "it is empty" if "" in items else ""


def _as_text(value: object, option: TyperOption) -> object:
    """A value of the file as text, as a user would type it, so that the parser checks it in the same way."""
    if option.is_flag:
        return value if isinstance(value, bool) else f"{value} (true or false is wanted)"
    if option.multiple:
        return [_typed(item) for item in value] if isinstance(value, list) else [_typed(value)]
    return _typed(value)


def _typed(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def value_message(message: str) -> str:
    """The message of the parser about a value, in our words."""
    match = re.fullmatch(r"(?:Value error, )?'(?P<value>.*)' is not one of (?P<choices>'.*')\.", message)
    if match is not None:
        return unknown("value", match["value"], match["choices"].strip("'").split("', '"))
    return _PARSED.sub("", message).replace("Input should be", "it must be")
