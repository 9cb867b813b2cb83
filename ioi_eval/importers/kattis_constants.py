"""Constants of a Kattis package: `{{name}}` in its programs and settings stands for a value of `problem.yaml`.

Source: Kattis problem package format 2025-09, "Constants".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SEQUENCE = re.compile(r"\{\{([a-zA-Z_][a-zA-Z0-9_]*)(?:\.([a-zA-Z_][a-zA-Z0-9_]*))?\}\}")
_FOLDERS = ("output_validator/", "output_validators/", "input_validators/", "include/", "submissions/")


def constants(where: Path, meta: Mapping[str, Any]) -> Callable[[str, str], str] | None:
    """The function that replaces the names in a text by their values; `None` if there are no constants.

    Args:
        where: the package, for messages.
        meta: the contents of `problem.yaml`.

    Raises:
        InputError: a constant is not valid.
    """
    stated = meta.get("constants")
    if stated is None:
        return None
    if not isinstance(stated, Mapping):
        raise InputError(f"{where}: constants in problem.yaml is {stated!r}; it must be a mapping of names to values")
    values: dict[tuple[str, str], str] = {}
    for name, value in stated.items():
        variants = value if isinstance(value, Mapping) else {"value": value}
        if not _NAME.fullmatch(str(name)) or "value" not in variants:
            raise InputError(
                f"{where}: the constant {name!r} in problem.yaml has a name or a value that is not allowed"
            )
        for variant, constant in variants.items():
            if isinstance(constant, bool) or not isinstance(constant, int | float | str):
                raise InputError(
                    f"{where}: the constant {name} in problem.yaml is {constant!r}; it must be a number or a text"
                )
            values[name, str(variant)] = str(constant)

    def edit(path: str, text: str) -> str:
        if not path.startswith(_FOLDERS) and not path.endswith("/test_group.yaml"):
            return text
        return _SEQUENCE.sub(lambda match: values.get((match[1], match[2] or "value"), match[0]), text)

    return edit
