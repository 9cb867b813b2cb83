"""Finds the value of a result file that disagrees with its JSON Schema (`schemas/`).

Checking each row as it is read would make reading twice as slow. So `results.jsonl` and `tests.jsonl` are checked only
after reading them has failed, to say which value is wrong; lines of `inputs.jsonl` are checked as they are read. Extra
keys are no fault.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

Schema = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,), "boolean": (bool,), "integer": (int,), "null": (type(None),), "number": (int, float),
    "object": (dict,), "string": (str,),
}  # fmt: skip
_GROWING = frozenset({"result", "apps-result", "summary"})  # earlier versions wrote fewer columns or keys
_LONGEST = 60  # characters of a value in a message


@cache
def schema_named(name: str) -> Schema:
    """The schema of a file: `result`, `apps-result`, `tests`, `input`, `summary` or `event`."""
    schema: Schema = orjson.loads(Path(__file__).with_name("schemas").joinpath(f"{name}.json").read_bytes())
    return schema


def wrong_value(name: str, value: object, *, partial: bool = False) -> str | None:
    """The first place where a value disagrees with the schema with this name, with the reason; `None` if it agrees.
    Keys may be missing if it is `partial`."""
    root = schema_named(name)
    schema = {**root, "required": ()} if name in _GROWING else root
    faults = _faults(value, schema, "it", root.get("$defs", {}), partial=partial)
    return next((f"{place} {reason}" for place, reason in faults), None)


def _faults(
    value: Any, schema: Schema, place: str, defs: Mapping[str, Schema], *, partial: bool
) -> Iterator[tuple[str, str]]:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        each = [list(_faults(value, one, place, defs, partial=partial)) for one in schema["anyOf"]]
        if all(each):  # the schema that is meant fails at the innermost place
            yield from max(each, key=lambda faults: len(faults[0][0]))
        return
    if reason := _reason(value, schema):
        yield place, reason
        return
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _faults(item, schema.get("items", {}), f"{place}[{number}]", defs, partial=partial)
    if isinstance(value, dict):
        if missing := [key for key in schema.get("required", ()) if key not in value and not partial]:
            yield place, f"lacks {missing[0]}"
        others = schema.get("additionalProperties")
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, others if isinstance(others, dict) else {})
            yield from _faults(item, inner, key if place == "it" else f"{place}.{key}", defs, partial=partial)


def _reason(value: Any, schema: Schema) -> str | None:
    """Why the value itself is wrong, without those inside it."""
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else types
    is_number = isinstance(value, int | float)
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else [value])
    if names and not any(_is(value, name) for name in names):
        wanted = f"of type {' or '.join(names)}"
    elif value not in allowed:
        wanted = f"one of {', '.join(map(str, allowed))}"
    elif is_number and value < schema.get("minimum", value):
        wanted = f"at least {schema['minimum']}"
    elif is_number and value > schema.get("maximum", value):
        wanted = f"at most {schema['maximum']}"
    else:
        return None
    text = json.dumps(value)
    return f"is {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}, and must be {wanted}"


def _is(value: object, name: str) -> bool:
    """Whether a value has a JSON type. A truth value and NaN are no numbers; 1.0 is no integer, as our files have 1."""
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name]) and not (isinstance(value, float) and not math.isfinite(value))
