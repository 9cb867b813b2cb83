"""What DOMjudge adds to a Kattis package: `domjudge-problem.ini` and `.timelimit`.

A package may have the first in place of `problem.yaml`. Then an output validator that exists is used.

Source: DOMjudge, `ImportProblemService`; DOMjudge manual, "Problem format".
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.package import Package

INI_FILE = "domjudge-problem.ini"
_LIMIT_FILE = ".timelimit"
_DEFAULTS = {"special_compare": "compare", "special_run": "run"}
"""The programs of a DOMjudge server that judge if a package names none."""


def read_ini(package: Package) -> Mapping[str, str]:
    """DOMjudge's own settings: a file with lines `key = value`; values are often quoted."""
    name = INI_FILE
    if not package.has(name):
        return {}
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(f"[problem]\n{package.text(name)}")
    except configparser.Error as error:
        raise InputError(f"{package.where}: {name} cannot be read: {error}") from error
    return {key: value.strip().strip("'\"") for key, value in parser["problem"].items()}


def check_executables(package: Package, ini: Mapping[str, str], *, own: str | None) -> None:
    """Refuse a program of a DOMjudge server that judges there, in place of what the package has.

    Args:
        package: for messages.
        ini: DOMjudge's settings.
        own: the setting that the package's own validator outranks; `None` if it has none.

    Raises:
        UnsupportedError: a setting names such a program.
    """
    for key, default in _DEFAULTS.items():
        name = ini.get(key) or default
        if name != default and key != own:
            raise UnsupportedError(
                f"{package.where}: {INI_FILE} names {key} {name!r}, a program of a DOMjudge server that is not in the"
                " package; add it as an output validator, or remove the line"
            )


def time_limit(package: Package, limits: Mapping[str, Any], ini: Mapping[str, str], given: float | None) -> float:
    """The time limit in seconds: the caller's, else that of `problem.yaml`, else that of DOMjudge's files.

    Raises:
        InputError: there is none, it is no number, or `.timelimit` states another one (source: DOMjudge).
    """
    if given is not None:
        return _seconds(package.where, given)
    file = package.text(_LIMIT_FILE).strip() if package.has(_LIMIT_FILE) else None
    sources = ((limits.get("time_limit"), "problem.yaml"), (ini.get("timelimit"), INI_FILE), (file, _LIMIT_FILE))
    stated, name = next(((value, name) for value, name in sources if value is not None), (None, ""))
    if stated is None:
        raise InputError(
            f"{package.where} states no time limit (Kattis derives it from the accepted submissions);"
            " give it in seconds with --time-limit, or --time-limit auto"
        )
    seconds = _seconds(package.where, stated)
    if file is not None and _seconds(package.where, file) != seconds:
        raise InputError(
            f"{package.where}: the time limit is {stated} in {name} and {file} in {_LIMIT_FILE}; give it with"
            " --time-limit"
        )
    return seconds


def _seconds(where: Path, stated: object) -> float:
    try:
        seconds = float(str(stated))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise InputError(f"{where}: the time limit {stated!r} is no number of seconds")
    return seconds
