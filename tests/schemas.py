"""The JSON Schemas of plans and lines (`graders/schema/`). Tests check with them what Python and the runner write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

jsonschema_rs: Any = import_module("jsonschema_rs") if find_spec("jsonschema_rs") else None
"""A development dependency. `test_schemas.py` is skipped without it, with the reason."""

SCHEMAS = Path(__file__).resolve().parents[1] / "graders" / "schema"
HEADS = ("ioi-eval-runner", "nonce", "mode")  # the words of these lines have no keys
REPEATED = {"step": ("argv",), "program": ("argv", "env", "sees")}


@cache
def schema(name: str) -> Mapping[str, Any]:
    """A schema by its name."""
    read: Mapping[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    return read


@cache
def _validator(name: str) -> Any:
    return jsonschema_rs.Draft202012Validator(schema(name))


def errors(name: str, value: object) -> list[str]:
    """How a value violates a schema, a message for each error. Empty if `jsonschema-rs` is not installed."""
    if jsonschema_rs is None:
        return []
    return [f"{error.instance_path}: {error.message}"[:500] for error in _validator(name).iter_errors(value)]


def decoded(word: str) -> str:
    """A word of a plan, decoded as the runner does it."""
    return "" if word == "%" else unquote_to_bytes(word).decode("latin-1")


def plan_lines(plan: bytes) -> list[dict[str, Any]]:
    """The lines of a plan as objects that the schema describes."""
    lines: list[dict[str, Any]] = []
    for text in plan.decode("ascii").splitlines():
        name, *rest = text.split(" ")
        line: dict[str, Any] = {"line": name}
        if name in HEADS:
            line["words"] = rest
            rest = []
        for pair in rest:
            key, _, value = pair.partition("=")
            if key in REPEATED.get(name, ()):
                line.setdefault(key, []).append(decoded(value))
            else:
                line[key] = decoded(value)
        lines.append(line)
    return lines
