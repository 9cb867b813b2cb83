"""What the files of a Kattis package state about the whole problem: `problem.yaml`, and DOMjudge's additions.

DOMjudge reads `domjudge-problem.ini` and `.timelimit`. If a package has the first and no `problem.yaml`, an existing
output validator is used.

Source: Kattis problem package format, "legacy" (`type`, `validation`, `time_multiplier`), since 2023-07 (`type`, in
drafts `validation` too, `time_multipliers`, `time_resolution`; "Timelimit inference"), and 2025-09, "Constants";
problemtools; DOMjudge, `ImportProblemService`; DOMjudge manual, "Problem format".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ioi_eval.config import MIB, CompileLimits, JudgeLimits
from ioi_eval.errors import InputError, UnsupportedError, listed, similar
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.kattis_programs import has_validator
from ioi_eval.importers.package import Package, mapping_of
from ioi_eval.importers.task import PackageSolution, Timing
from ioi_eval.model import Subtask
from ioi_eval.problems.row import is_number

ROOT_FILE = "problem.yaml"
FORMAT = "a problem package in the Kattis format"
INI_FILE = "domjudge-problem.ini"
_LIMIT_FILE = ".timelimit"  # of DOMjudge
MAX_MEASURED_S = 60.0
"""The limit while solutions are measured. Source: chosen; problemtools has 300 s."""

_LEGACY_MULTIPLIER, _MULTIPLIER = 5.0, 2.0
_NEWEST = "2025-09"
_KNOWN = re.compile(rf"legacy|legacy-icpc|draft|(?:2023-07|{_NEWEST})(?:-draft)?")
_LIMITS = frozenset((
    *("time_limit", "time_multiplier", "time_multipliers", "time_safety_margin", "time_resolution"),
    *("memory", "output", "code", "validation_passes", "validation_output"),
    *("compilation_time", "compilation_memory", "validation_time", "validation_memory"),
))  # fmt: skip
"""The limits that the format has, before version 2023-07 and since."""
_KEYS = ("problem_format_version", "type", "limits", "validation", "validator_flags", "grading", "constants")
"""The keys of `problem.yaml` that decide how submissions are judged."""
_KEYS_OF_OTHERS = frozenset(("input_validator_flags", "output_validator_flags"))  # that other programs read

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CONSTANT_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_SEQUENCE = re.compile(r"\{\{([a-zA-Z_][a-zA-Z0-9_]*)(?:\.([a-zA-Z_][a-zA-Z0-9_]*))?\}\}")
_WITH_CONSTANTS = ("output_validator/", "output_validators/", "input_validators/", "include/", "submissions/")
_VALIDATIONS = frozenset({"custom", "score", "interactive", "multi-pass"})
_QUOTED = re.compile(r"(['\"])(.*?)\1\s*(?:;.*)?\Z", re.DOTALL)
_SERVER_PROGRAMS = {"special_compare": "compare", "special_run": "run"}
"""The programs of a DOMjudge server that judge if a package names none."""


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


class KattisSettings:
    """The settings of a package."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self.meta = package.yaml(ROOT_FILE) if package.has(ROOT_FILE) else {}  # what `problem.yaml` states
        version = str(self.meta.get("problem_format_version", "legacy"))
        package.format = f"{FORMAT}, version {version}"
        self.kind = _kind(package, self.meta, version)
        if not self.kind.legacy:
            package.edit = _constants(self.meta)
        self._ini = _read_ini(package)
        _check_server_programs(package, self._ini, self.kind)
        self._limits = self._mapping("limits")
        self._note_limits_without_effect()
        self._note_misspelled_keys()

    @cached_property
    def identifier(self) -> str:
        """The problem's id.

        DOMjudge's `short-name` is not used: it may be the letter that the problem has in a contest.
        """
        name = self._ini.get("externalid") or self._package.name
        if not _IDENTIFIER.fullmatch(name):
            raise InputError(f"{name!r} cannot be a problem's id; rename the package (letters, digits, - and _)")
        return name

    @property
    def title(self) -> str:
        """The problem's name; its id if it has none."""
        name = self.meta.get("name")
        if isinstance(name, Mapping):
            name = name.get("en") or next(iter(name.values()), None)
        return str(name or self._ini.get("name") or self.identifier)

    def limit(self, name: str, default: float) -> float:
        """A limit that `problem.yaml` states, or its default."""
        return self._package.check_limit(self._limits.get(name, default), name, ROOT_FILE)

    def _note_misspelled_keys(self) -> None:
        """Note keys that are not read, and are similar to one that is missing. Packages have many keys of their own."""
        others = [key for key in map(str, self.meta) if key not in _KEYS and key not in _KEYS_OF_OTHERS]
        near = {key: similar(key, others, least=0.8) for key in _KEYS if self.meta.get(key) is None}
        for key, other in near.items():
            if other:
                self._package.notes.append(f"{other} in {ROOT_FILE} is not read. Did you mean {key}?")

    def _note_limits_without_effect(self) -> None:
        """Note misspelled limits, in whose place the defaults count, and resources that programs do not get here."""
        if unknown := sorted(str(name) for name in self._limits.keys() - _LIMITS):
            self._package.notes.append(
                f"limits that the format does not have are not read: {listed(unknown)}, in {ROOT_FILE}"
            )
        judge, compiler = JudgeLimits(), CompileLimits()
        given = {"compilation_time": compiler.cpu_s, "compilation_memory": compiler.memory_bytes / MIB}
        if self.kind.validation:
            given |= {"validation_time": judge.cpu_s, "validation_memory": judge.memory_bytes / MIB}
        stated = {name: self._limits.get(name) for name in given}
        fewer = [
            f"{name} {value} (here {given[name]:g})" for name, value in stated.items() if _is_above(value, given[name])
        ]
        if fewer:
            self._package.notes.append(
                f"programs have less here than limits in {ROOT_FILE} guarantee, in seconds and MiB: {listed(fewer)}"
            )

    @cached_property
    def time_limits(self) -> dict[str, object]:
        """The time limits that the files of the package state, by file."""
        file = self._package.text(_LIMIT_FILE).strip() if self._package.has(_LIMIT_FILE) else None
        stated = {
            ROOT_FILE: self._limits.get("time_limit"),
            INI_FILE: self._ini.get("timelimit"),
            _LIMIT_FILE: file,
        }
        return {name: value for name, value in stated.items() if value is not None}

    def time_limit(self, given: float | None) -> float:
        """The time limit in seconds: the caller's, else that of `problem.yaml`, else that of DOMjudge's files.

        As in DOMjudge, `.timelimit` may not state another limit.
        """
        if given is not None:
            return _seconds(given)
        sources = self.time_limits
        if not sources:
            raise InputError(
                f"{self._package.where} states no time limit (Kattis derives it from the accepted submissions);"
                " give it in seconds with --time-limit, or --time-limit auto"
            )
        name, stated = next(iter(sources.items()))
        seconds = _seconds(stated)
        if _seconds(sources.get(_LIMIT_FILE, stated)) != seconds:
            raise InputError(
                f"the time limit is {stated} in {name} and {sources[_LIMIT_FILE]} in {_LIMIT_FILE}; give"
                " it with --time-limit"
            )
        return seconds

    def derived_timing(
        self, subtasks: Sequence[Subtask], solutions: Sequence[PackageSolution], *, any_group: bool
    ) -> Timing:
        """How to derive the limit of a package that states none from its accepted submissions.

        Before 2023-07 these are the submissions in `accepted/`. Since then all submissions that must not be late count,
        also wrong answers, and `accepted/` may mean something else. A submission of which only some groups are stated
        does not count: it may fail or be late in the others.
        """
        legacy, limits = self.kind.legacy, self._limits
        name, default = ("time_multiplier", _LEGACY_MULTIPLIER) if legacy else ("time_multipliers", _MULTIPLIER)
        multiplier = limits.get(name)
        if isinstance(multiplier, Mapping) and not legacy:
            name, multiplier = "ac_to_time_limit of time_multipliers", multiplier.get("ac_to_time_limit")
        worth = {subtask.name for subtask in subtasks if subtask.points > 0}
        stated = {solution.label: _verdicts(solution, worth) for solution in solutions}
        if legacy:
            stated = {label: {"AC"} for label in stated if label.startswith("accepted/")}
        return Timing(
            multiplier=_factor(name, default if multiplier is None else multiplier, 1.0),
            resolution_s=_factor("time_resolution", limits.get("time_resolution", 1.0), 0.001),
            accepted=frozenset(label for label, verdicts in stated.items() if verdicts == {"AC"}),
            in_time=frozenset(label for label, verdicts in stated.items() if verdicts and "TLE" not in verdicts),
            any_group=any_group,
        )

    def for_all_groups(self) -> dict[str, Any]:
        """The settings for all groups of tests, which old packages have in `problem.yaml`.

        Source: problemtools, `TestCaseGroup`: they take precedence over a group's own file; `worst_error` has no
        effect.
        """
        grading = self._mapping("grading")
        if grading.get("objective", "max") != "max":
            raise UnsupportedError(f"the objective {grading['objective']!r} is not supported; max is")
        if grading.get("custom_scoring"):
            raise UnsupportedError("custom_scoring is not supported")
        names = ("accept_score", "reject_score", "range")
        stated = {name: grading[name] for name in names if grading.get(name) is not None}
        rejects = grading.get("on_reject") or ""
        if not isinstance(rejects, str):
            raise InputError(f"on_reject of grading in {ROOT_FILE} is {rejects!r}; it must be a text")
        policies = {"first_error": "break", "grade": "continue", "worst_error": None}
        if rejects and rejects not in policies:
            self._package.notes.append(
                f"on_reject of grading in {ROOT_FILE} is {rejects!r}, which is not known and has no effect"
            )
        policy = policies.get(rejects)
        return {**stated, **({"on_reject": policy} if policy else {})}

    def _mapping(self, name: str) -> Mapping[str, Any]:
        return mapping_of(f"{name} in {ROOT_FILE}", self.meta.get(name) or None)


def _kind(package: Package, meta: Mapping[str, Any], version: str) -> KattisKind:
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


def _constants(meta: Mapping[str, Any]) -> Callable[[str, str], str] | None:
    """The function that replaces `{{name}}` in programs and settings by its value; `None` if there are no constants."""
    stated = meta.get("constants")
    if stated is None:
        return None
    values: dict[tuple[str, str], str] = {}
    for name, value in mapping_of(f"constants in {ROOT_FILE}", stated).items():
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


def _read_ini(package: Package) -> Mapping[str, str]:
    """DOMjudge's own settings: a file with lines `key = value`, the last of which counts. Sections mean nothing.

    A value may be in quotes, on one line, and a comment may follow it. Other lines are ignored.
    Source: PHP's `parse_ini_string`, which DOMjudge uses.
    """
    values: dict[str, str] = {}
    for line in package.lines(INI_FILE) if package.has(INI_FILE) else ():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith(("[", ";", "#")):
            quoted = _QUOTED.match(value.lstrip())  # `;` in quotes begins no comment
            values[key.rstrip()] = quoted[2] if quoted else value.partition(";")[0].strip().strip("'\"")
    return values


def _check_server_programs(package: Package, ini: Mapping[str, str], kind: KattisKind) -> None:
    """Refuse packages that are judged by a program of the DOMjudge server, because the package does not contain it.

    A package's own validator replaces one of the two.
    """
    replaced = None
    if kind.validation and has_validator(package):
        replaced = "special_run" if kind.interactive else "special_compare"
    for key, default in _SERVER_PROGRAMS.items():
        name = ini.get(key) or default
        if name != default and key != replaced:
            raise UnsupportedError(
                f"{INI_FILE} names {key} {name!r}, a program of a DOMjudge server that is not in the"
                " package; add it as an output validator, or, if it only allows for errors of numbers, remove the"
                " line (problem.yaml needs validator_flags then, such as float_tolerance 1e-6)"
            )


def _is_above(stated: object, most: float) -> bool:
    return is_number(stated) and stated > most


def _seconds(stated: object) -> float:
    try:
        seconds = float(str(stated))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise InputError(f"the time limit {stated!r} is not a number of seconds")
    return seconds


def _factor(name: str, value: object, least: float) -> float:
    if not is_number(value) or not least <= value <= 1000:
        raise InputError(f"{name} in {ROOT_FILE} is {value!r}; it must be a number from {least:g} to 1,000")
    return float(value)


def _verdicts(solution: PackageSolution, worth: set[str]) -> set[str]:
    """All verdicts that a submission may have; empty if nothing is stated about one of the subtasks worth points."""
    if solution.expected == MODEL_SOLUTION:
        return {"AC"}
    by_subtask = solution.expected_subtasks
    if solution.expected is None and not worth <= by_subtask.keys():
        return set()
    stated = by_subtask.values() if solution.expected is None else (solution.expected,)
    return {verdict for verdicts in stated for verdict in verdicts.split(",")}
