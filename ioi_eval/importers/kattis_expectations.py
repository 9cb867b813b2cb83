"""Reads what a Kattis package of version 2025-09 states about its submissions in `submissions/submissions.yaml`.

For each glob pattern, `permitted` lists the verdicts that tests may have. At least one test must have a verdict from
`required`. Here a subtask has the verdict of its first test with the lowest score. So the expected verdict is AC if
only AC is permitted; otherwise any permitted verdict, without AC if another verdict is required. Points are compared as
stated. A note names statements that have no counterpart here (a judge's message, single tests).

Source: Kattis problem package format 2025-09, "Example submissions".
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.importers.package import Package, mapping_of, number_of

PATH = "submissions/submissions.yaml"
CRASHES = ("RE", "MLE", "SV")
"""Our verdicts for RTE: the format has no verdict for SV, DOMjudge none for MLE and SV."""

_OURS: Mapping[str, tuple[str, ...]] = {"AC": ("AC",), "WA": ("WA",), "TLE": ("TLE",), "RTE": CRASHES}
_ALL = tuple(_OURS)
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "accepted": {"permitted": ["AC"]},
    "rejected": {"required": ["RTE", "TLE", "WA"]},
    "wrong_answer": {"permitted": ["AC", "WA"], "required": ["WA"]},
    "time_limit_exceeded": {"permitted": ["AC", "TLE"], "required": ["TLE"]},
    "run_time_error": {"permitted": ["AC", "RTE"], "required": ["RTE"]},
    "brute_force": {"permitted": ["AC", "RTE", "TLE"], "required": ["RTE", "TLE"]},
}
_KEYS = frozenset({"language", "entrypoint", "authors", "model_solution", "permitted", "required", "score", "message"})
_STATES = frozenset({"permitted", "required", "score", "message", "use_for_time_limit"})
_BRACES = re.compile(r"\{([^{}]*)\}")
_MAX_PATTERNS = 10_000
_MAX_BRACES = 20

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What is stated about a submission."""

    verdicts: tuple[str, ...] = ()  # of which one must result; empty if none is stated
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by the path of the test group below `data/`
    score: float | Range | None = None  # the points, or the lowest and the highest points
    is_python_2: bool = False
    entry_point: str | None = None  # which of its files is started, if that is stated
    not_compared: tuple[str, ...] = ()


class Expectations:
    """All statements of a package's `submissions.yaml`."""

    def __init__(self, package: Package, groups: Sequence[str]) -> None:
        self._groups = groups
        values = package.yaml(PATH) if package.has(PATH) else {}
        given = {str(name): mapping_of(f"{PATH}: {name}", value) for name, value in values.items()}
        merged = {name: {**default, **given.get(name, {})} for name, default in _DEFAULTS.items()}
        others = {name: rule for name, rule in given.items() if name not in merged}
        self._rules = [
            (pattern, rule) for name, rule in {**merged, **others}.items() for pattern in self._patterns(name)
        ]

    def of(self, submission: str) -> Stated:
        """What is stated about a submission."""
        rules = [rule for pattern, rule in self._rules if _matches(pattern, submission)]
        of_groups = [(str(key), rule[key]) for rule in rules for key in rule if key not in _KEYS | _STATES]
        groups: dict[str, tuple[str, ...]] = {}
        for path in self._groups:
            if inner := [mapping_of(f"{PATH}: {key}", value) for key, value in of_groups if _fits_any(key, path)]:
                groups[path] = self._verdicts(inner)
        unknown = {key for key, _ in of_groups if not any(_fits_any(key, path) for path in groups)}
        score = self._common_range([rule["score"] for rule in rules if rule.get("score") is not None])
        return Stated(
            verdicts=self._verdicts(rules),
            groups=groups,
            score=score,
            is_python_2=(_last(rules, "language") or "").startswith("python2"),
            entry_point=_last(rules, "entrypoint"),
            not_compared=(
                *(key for key in ("message", "use_for_time_limit") if any(key in rule for rule in rules)),
                *sorted(unknown),
            ),
        )

    def _verdicts(self, rules: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
        """The verdicts that all rules together allow; empty if all verdicts are allowed."""
        left = list(_ALL)
        fails = False
        for rule in rules:
            permitted, required = (self._stated_verdicts(rule, key) for key in ("permitted", "required"))
            left = [word for word in left if word in permitted]
            fails = fails or "AC" not in required
        left = [word for word in left if word != "AC"] if fails else left
        if rules and not left:
            raise InputError(f"{PATH}: its permitted and required lists together allow no verdict; correct them")
        return () if len(left) == len(_ALL) else tuple(verdict for word in left for verdict in _OURS[word])

    def _stated_verdicts(self, rule: Mapping[str, Any], key: str) -> Sequence[str]:
        stated = rule.get(key, _ALL)
        stated = [stated] if isinstance(stated, str) else stated
        if not isinstance(stated, Sequence) or not stated or any(word not in _ALL for word in stated):
            raise InputError(f"{PATH}: {key} is {stated!r}; it must be a list of {', '.join(_ALL)}")
        return stated

    def _common_range(self, stated: Sequence[Any]) -> Range | None:
        if not stated:
            return None
        ranges = [self._score(value) for value in stated]
        least, most = max(low for low, _ in ranges), min(high for _, high in ranges)
        if least > most:
            raise InputError(f"{PATH}: by score {' and '.join(map(str, stated))} no points are possible; correct it")
        return least, most

    def _score(self, value: Any) -> Range:
        ends = value if isinstance(value, list) else [value, value]
        if len(ends) != 2:
            raise InputError(f"{PATH}: score is {value!r}; it must be one number or two")
        low, high = (float(number_of(f"{PATH}: score", end)) for end in ends)
        return low, high

    def _patterns(self, name: str) -> Sequence[str]:
        patterns = list(itertools.islice(_expanded(name), _MAX_PATTERNS + 1))
        if len(patterns) > _MAX_PATTERNS:
            raise InputError(f"{PATH}: {name[:40]!r} stands for more than {_MAX_PATTERNS} patterns; write fewer")
        return patterns


def _last(rules: Sequence[Mapping[str, Any]], key: str) -> str | None:
    """The value of this key in the last rule that has it."""
    return next((str(rule[key]) for rule in reversed(rules) if rule.get(key)), None)


def _expanded(pattern: str) -> Iterator[str]:
    """One pattern for each alternative in braces."""
    if pattern.count("{") > _MAX_BRACES:
        raise InputError(f"{PATH}: {pattern[:40]!r} has more than {_MAX_BRACES} pairs of braces; write fewer")
    match = _BRACES.search(pattern)
    if match is None:
        yield pattern
        return
    for word in match[1].split(","):
        yield from _expanded(pattern[: match.start()] + word + pattern[match.end() :])


def _fits_any(pattern: str, path: str) -> bool:
    return any(_matches(expanded, path) for expanded in itertools.islice(_expanded(pattern), _MAX_PATTERNS))


def _matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path or a directory above it; `*` matches any characters of a name.

    Only the star is special. (`fnmatch` tries each star once, so no pattern takes exponential time.)
    """
    wanted, parts = pattern.strip("/").replace("[", "[[]").replace("?", "[?]").split("/"), path.split("/")
    return len(wanted) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted))
