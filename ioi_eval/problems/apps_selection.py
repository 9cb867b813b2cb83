"""Selects problems of a split: by difficulty, by id, or a sample of them. Pure.

Rows are selected by their positions, before any tests are read, and are never renumbered: a problem keeps its id. The
same seed selects the same problems as mcpbr does, from the same rows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ioi_eval.errors import InputError
from ioi_eval.problems.apps import ProblemIds


class Sampling(StrEnum):
    """How `limit` problems are taken."""

    SEQUENTIAL = "sequential"  # the first
    RANDOM = "random"  # a random sample
    STRATIFIED = "stratified"  # a random sample with each difficulty's share of the problems


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSelection:
    """Which problems are wanted. Filters are applied first, then the sample is drawn."""

    difficulties: tuple[str, ...] = ()  # only these, in upper or lower case; empty for all
    ids: tuple[str, ...] = ()  # only these, as `42` or `apps_42`, with any number of leading zeros; empty for all
    limit: int | None = None  # how many at most; `None` for all
    sampling: Sampling = Sampling.SEQUENTIAL
    seed: int = 0

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise InputError(f"a sample of {self.limit} problems is not possible; take at least 1")


def choose(rows: Sequence[tuple[str, str]], selection: ProblemSelection, source: str) -> frozenset[int]:
    """The positions of the selected problems.

    Source: mcpbr's `sample_tasks`: `random.Random(seed).sample`; stratified, shares are rounded down and the remaining
    problems go to the largest fractions.
    """
    wanted = {word.strip().lower() for word in selection.difficulties}
    known = ProblemIds(name for name, _ in rows)
    ids = {known.id_of(word.strip()) for word in selection.ids}
    _check(wanted, {difficulty for _, difficulty in rows}, "difficulty", source)
    _check(ids, {name for name, _ in rows}, "id", source)
    left = [
        index
        for index, (name, difficulty) in enumerate(rows)
        if (not wanted or difficulty in wanted) and (not ids or name in ids)
    ]
    limit = selection.limit
    if limit is None or limit >= len(left):
        return frozenset(left)
    rng = random.Random(selection.seed)
    match selection.sampling:
        case Sampling.SEQUENTIAL:
            return frozenset(left[:limit])
        case Sampling.RANDOM:
            return frozenset(rng.sample(left, limit))
        case Sampling.STRATIFIED:
            strata: dict[str, list[int]] = {}
            for index in left:
                strata.setdefault(rows[index][1], []).append(index)
            shares = _shares({name: len(strata[name]) for name in sorted(strata)}, limit)
            return frozenset(index for name, share in shares.items() for index in rng.sample(strata[name], share))


def _shares(sizes: dict[str, int], limit: int) -> dict[str, int]:
    """How many problems of each stratum: `limit` in all, which is less than the number of problems."""
    total = sum(sizes.values())
    exact = {name: limit * (size / total) for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    largest_first = sorted(exact, key=lambda name: exact[name] - shares[name], reverse=True)
    for name in largest_first[: limit - sum(shares.values())]:
        shares[name] += 1
    return shares


def _check(wanted: set[str], existing: set[str], what: str, source: str) -> None:
    absent = sorted(wanted - existing)
    if not absent:
        return
    few = sorted(existing - {""})
    known = f"; there are: {', '.join(few)}" if len(few) <= 20 else ""
    raise InputError(f"{source} has no problem of {what} {', '.join(absent)}{known}")
