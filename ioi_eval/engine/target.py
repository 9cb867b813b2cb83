"""Which target judges a submission. Pure.

A submission is bound to one target, as what is compiled on one is good only there. Among the targets that may judge
it, the one is taken that would be least busy with it, so that every slot of a mixed cluster is used; targets that
nobody serves at the moment come last.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ioi_eval.config import Policy
from ioi_eval.jobs import classic
from ioi_eval.model import Problem
from ioi_eval.sandbox import Target


class Bindings:
    """How many submissions each target judges, and what each may judge.

    Args:
        policy: what is asked of a target.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._bound: defaultdict[str, set[object]] = defaultdict(set)  # counted so, as threads may share this
        self._reasons: dict[tuple[int, str], tuple[Problem, str | None]] = {}

    def suitable(self, targets: Sequence[Target], problem: Problem) -> list[Target]:
        """The targets that may judge submissions to a problem, in the order given."""
        return [target for target in targets if self.refusal(target, problem) is None]

    def choose(self, targets: Sequence[Target], problem: Problem, *, without: Collection[str] = ()) -> Target | None:
        """The target for the next submission to a problem; `None` if none may judge it.

        Args:
            targets: what there is.
            problem: what the submission is for.
            without: names of targets that have failed it already.
        """
        candidates = [target for target in self.suitable(targets, problem) if target.name not in without]
        return min(candidates, key=self._load, default=None)

    def committed(
        self, chosen: Target, targets: Sequence[Target], problem: Problem, *, without: Collection[str]
    ) -> Target:
        """The target that was chosen, marked if no other one that may judge is in service: leaving it helps nobody."""
        others = [target for target in self.suitable(targets, problem) if target.name not in {chosen.name, *without}]
        return replace(chosen, is_only=not any(target.slots for target in others))

    def refusal(self, target: Target, problem: Problem) -> str | None:
        """Why a target may not judge submissions to a problem; `None` if it may."""
        key = (id(problem), target.name)
        if key not in self._reasons:
            # the problem is kept beside the reason, so that its id cannot be given to another meanwhile
            self._reasons[key] = (problem, refusal(target, problem, self._policy))
        return self._reasons[key][1]

    @contextlib.contextmanager
    def bound(self, target: Target) -> Iterator[None]:
        """Count a submission among those of a target, for as long as it is judged."""
        one = object()
        self._bound[target.name].add(one)
        try:
            yield
        finally:
            self._bound[target.name].discard(one)

    def lanes(self, target: Target) -> int:
        """How many jobs each submission on a target may run at once, so that none of its slots is idle."""
        bound = max(1, len(self._bound[target.name]))
        return max(1, target.slots // bound)

    def _load(self, target: Target) -> float:
        """How busy a target would be with one submission more: 1 if each slot had one."""
        return (len(self._bound[target.name]) + 1) / target.slots if target.slots else math.inf


def refusal(target: Target, problem: Problem, policy: Policy) -> str | None:
    """Why a target may not judge submissions to a problem under a policy; `None` if it may."""
    if target.isolation.rank < policy.isolation.rank:
        return (
            f"{target.name} offers isolation {target.isolation.value!r}, and {policy.isolation.value!r} is asked for: "
            "install the ioi_eval package on its workers, or accept less with --isolation"
        )
    if not target.brings_pair:
        return None
    problem = classic.to_standard(problem, policy.std)
    reason = next(filter(None, (classic.refusal(problem, case) for case in problem.tests.values())), None)
    return reason and f"{target.name} cannot judge {problem.key}: {reason}; use the bundled profile"
