"""What `problem.yaml` of a Kattis package states: how submissions are judged, and constants.

Source: Kattis problem package format, "legacy" (`type`, `validation`), since 2023-07 (`type`; in drafts `validation`
too), and 2025-09, "Constants".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis_programs import has_validator
from ioi_eval.importers.package import Package

ROOT_FILE = "problem.yaml"
_NEWEST = "2025-09"
_KNOWN = re.compile(rf"legacy|legacy-icpc|draft|(?:2023-07|{_NEWEST})(?:-draft)?")
_CONSTANT_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SEQUENCE = re.compile(r"\{\{([a-zA-Z_][a-zA-Z0-9_]*)(?:\.([a-zA-Z_][a-zA-Z0-9_]*))?\}\}")
_WITH_CONSTANTS = ("output_validator/", "output_validators/", "input_validators/", "include/", "submissions/")
_VALIDATIONS = frozenset({"custom", "score", "interactive", "multi-pass"})


@dataclass(frozen=True, slots=True, kw_only=True)
class KattisKind:
    """How the submissions of a package are judged."""

    legacy: bool  # whether the package is of a version before 2023-07
    scoring: bool  # whether submissions get points, not only pass or fail
    validation: frozenset[str]  # empty for the default validator; else `custom` and the abilities of the package's own

    @property
    def custom_score(self) -> bool:
        """Whether the validator gives scores."""
        return "score" in self.validation

    @property
    def interactive(self) -> bool:
        """Whether the validator talks to the submission."""
        return "interactive" in self.validation

    @property
    def multi_pass(self) -> bool:
        """Whether the submission is run several times on a test."""
        return "multi-pass" in self.validation


def read_kind(package: Package, meta: Mapping[str, Any]) -> KattisKind:
    """The kind that `problem.yaml` states."""
    version = str(meta.get("problem_format_version", "legacy"))
    if not _KNOWN.fullmatch(version):
        package.notes.append(f"version {version} of the format is not known; the package is read as one of {_NEWEST}")
    legacy = version in ("legacy", "legacy-icpc")
    kind = _legacy_kind(package, meta) if legacy else _kind_by_type(package, meta)
    if kind.multi_pass and (kind.interactive or kind.scoring):
        raise UnsupportedError("multi-pass problems that are interactive or scoring are not supported")
    return kind


def _legacy_kind(package: Package, meta: Mapping[str, Any]) -> KattisKind:
    kind = meta.get("type") or "pass-fail"
    if kind not in ("pass-fail", "scoring"):
        raise UnsupportedError(f"type {kind!r} in {ROOT_FILE} is not supported; pass-fail and scoring are")
    validation = _validation(meta)
    if not validation and has_validator(package):
        if not package.has(ROOT_FILE):  # Source: DOMjudge
            validation = frozenset({"custom"})
        else:
            package.notes.append(
                f"the package's output validator is not used, because validation in {ROOT_FILE} is not custom, as on"
                " Kattis; DOMjudge would use it"
            )
    return KattisKind(legacy=True, scoring=kind == "scoring", validation=validation)


def _kind_by_type(package: Package, meta: Mapping[str, Any]) -> KattisKind:
    """The kind of a package of a later version: `type` is one word or several, and an existing validator is used.

    Drafts of 2023-07 state interactive and multi-pass in `validation`. Source: BAPCtools, `bapctools/upgrade.py`.
    """
    stated = meta.get("type") or "pass-fail"
    words = frozenset(map(str, stated) if isinstance(stated, list) else str(stated).split())
    if others := sorted(words - {"pass-fail", "scoring", "interactive", "multi-pass"}):
        raise UnsupportedError(
            f"type {', '.join(others)} in {ROOT_FILE} is not supported; pass-fail, scoring,"
            " interactive and multi-pass are"
        )
    special = (words | _validation(meta)) & {"interactive", "multi-pass"}
    validation = special | {"custom"} if has_validator(package) or special else frozenset()
    return KattisKind(legacy=False, scoring="scoring" in words, validation=validation)


def _validation(meta: Mapping[str, Any]) -> frozenset[str]:
    """The words of `validation` without `default`: none, or `custom` and its abilities."""
    words = frozenset(str(meta.get("validation") or "default").split())
    if words == {"default"}:
        return frozenset()
    if "custom" not in words or words - _VALIDATIONS:
        stated = meta["validation"]
        raise UnsupportedError(
            f"validation {stated!r} is not supported; default, custom, custom score, custom interactive"
            " and custom multi-pass are"
        )
    return words


def constants(meta: Mapping[str, Any]) -> Callable[[str, str], str] | None:
    """The function that replaces `{{name}}` in programs and settings by its value; `None` if there are no constants."""
    stated = meta.get("constants")
    if stated is None:
        return None
    if not isinstance(stated, Mapping):
        raise InputError(f"constants in {ROOT_FILE} is {stated!r}; it must be a mapping of names to values")
    values: dict[tuple[str, str], str] = {}
    for name, value in stated.items():
        variants = value if isinstance(value, Mapping) else {"value": value}
        if not _CONSTANT_NAME.fullmatch(str(name)) or "value" not in variants:
            raise InputError(f"the constant {name!r} in {ROOT_FILE} has a name or a value that is not allowed")
        for variant, constant in variants.items():
            if isinstance(constant, bool) or not isinstance(constant, int | float | str):
                raise InputError(f"the constant {name} in {ROOT_FILE} is {constant!r}; it must be a number or a text")
            values[name, str(variant)] = str(constant)

    def edit(path: str, text: str) -> str:
        if not path.startswith(_WITH_CONSTANTS) and not path.endswith("/test_group.yaml"):
            return text
        return _SEQUENCE.sub(lambda match: values.get((match[1], match[2] or "value"), match[0]), text)

    return edit
