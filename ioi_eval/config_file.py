"""`ioi-eval.toml`: settings that a project keeps beside its data.

    [environment]               # variables that `.env` may set too
    PISTON_ENDPOINTS = "slurm"

    [score]                     # options of `ioi-eval score`, by their long names
    isolation = "full"

    [apps.score]
    python = "python3.12"

Of several values for a setting, the first of these counts: command line, environment, `.env`, this file, our default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError

NAME = "ioi-eval.toml"
PATH_VARIABLE = "IOI_EVAL_CONFIG"
"""The environment variable that names another file."""

VARIABLES = ("IOI_EVAL_CACHE", "CXX", "PISTON_ENDPOINTS", "PISTON_MAX_REQUESTS_PER_ENDPOINT")
"""The environment variables that this package reads and that the file may set."""

_ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The contents of a configuration file.

    Args:
        path: the file; `None` if there is none.
        commands: by command, its options; by group of commands (`apps`), its commands.
    """

    path: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, Any] = field(default_factory=dict)


def path_of_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where the file is, if there is one: at the path that `IOI_EVAL_CONFIG` names, else in the working directory."""
    return Path((os.environ if environ is None else environ).get(PATH_VARIABLE) or NAME)


def read_config_file(environ: Mapping[str, str] | None = None) -> ConfigFile:
    """Read the file at `path_of_file`, if there is one. The environment is by default the process's own.

    Raises:
        InputError: the file cannot be read or is not TOML; or `[environment]` sets a variable that this package does
            not read, or a value that is neither text nor a number.
    """
    named = (os.environ if environ is None else environ).get(PATH_VARIABLE)
    path = path_of_file(environ)
    try:
        if not named and not path.is_file():
            return ConfigFile()
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        source = f", which {PATH_VARIABLE} names," if named else ""
        raise InputError(f"{path}{source} cannot be read: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise InputError(f"{path} is not a TOML file: {error}") from None
    variables = tables.pop(_ENVIRONMENT, {})
    if not isinstance(variables, dict):
        raise InputError(f"{path}: {_ENVIRONMENT} must be a table: [{_ENVIRONMENT}] on a line of its own")
    for name, value in variables.items():
        if name not in VARIABLES:
            raise InputError(f"{path}, [{_ENVIRONMENT}]: {name} cannot be set here; it can have {', '.join(VARIABLES)}")
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InputError(f"{path}, [{_ENVIRONMENT}]: {name} must be text or a number")
    return ConfigFile(path, {name: str(value) for name, value in variables.items()}, tables)
