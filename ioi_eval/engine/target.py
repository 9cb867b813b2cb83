"""Which target judges a submission, and which one after that is lost.

A submission is bound to one target, as what is compiled on one is good only there. Among the targets that may judge
it, the one is taken that would be least busy with it, so that every slot of a mixed cluster is used; targets that
nobody serves at the moment come last. If its target is lost on the way, or turns out to be unfit, all of it begins anew
on another one: a result names one compiler, one interpreter and one profile, and so does its fingerprint.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from ioi_eval.errors import SandboxError, TargetLostError
from ioi_eval.programs import UnfitError
from ioi_eval.sandbox import Sandbox, Target

P = TypeVar("P")
R = TypeVar("R")


class NoTargetError(SandboxError):
    """There is no target, or none any more, that may judge a submission; with the reason of each.

    Args:
        words: the reasons.
        unfit: none was lost: what there is may not judge it, or cannot.
    """

    def __init__(self, words: str, *, unfit: bool) -> None:
        super().__init__(words)
        self.unfit = unfit


class Bindings(Generic[P]):
    """How many submissions each target of a sandbox judges, and what each may judge.

    Args:
        sandbox: has the targets.
        refusal: why a target may not judge submissions to a problem; `None` if it may. Asked once for both.
    """

    def __init__(self, sandbox: Sandbox, refusal: Callable[[Target, P], str | None]) -> None:
        self._sandbox = sandbox
        self._refusal = refusal
        self._bound: defaultdict[str, set[object]] = defaultdict(set)  # counted so, as threads may share this
        self._seen: dict[str, Target] = {}
        self._reasons: dict[tuple[int, str], tuple[P, str | None]] = {}

    async def judged(self, problem: P, judge: Callable[[Target], Awaitable[R]], *, any_will_do: bool = False) -> R:
        """What judging a submission on one target comes to.

        Args:
            problem: what the submission is for.
            judge: judges it there; asked again, with another one, where a target is lost or unfit.
            any_will_do: there is nothing to run: where no target may judge it, any one does.

        Raises:
            NoTargetError: there is none left.
        """
        failed: dict[str, SandboxError] = {}
        while True:
            targets = self._targets()
            target = self.choose(targets, problem, without=failed)
            if target is None and any_will_do:
                target = targets[0]
            if target is None:
                refusals = (self.refusal(one, problem) for one in targets)
                unfit = not any(isinstance(error, TargetLostError) for error in failed.values())
                raise NoTargetError("; ".join([*map(str, failed.values()), *filter(None, refusals)]), unfit=unfit)
            target = self.committed(target, targets, problem, without=failed)
            try:
                with self.bound(target):
                    return await judge(target)
            except (TargetLostError, UnfitError) as error:
                failed[target.name] = error

    def seen(self, problem: P) -> list[Target]:
        """The targets that may judge submissions to a problem, of all that there have been; all, if none may.

        In the order in which they were met first.
        """
        self._targets()
        targets = list(self._seen.values())
        return self.suitable(targets, problem) or targets

    def _targets(self) -> Sequence[Target]:
        targets = self._sandbox.targets()
        for target in targets:
            self._seen.setdefault(target.name, target)
        return targets

    def suitable(self, targets: Sequence[Target], problem: P) -> list[Target]:
        """The targets that may judge submissions to a problem, in the order given."""
        return [target for target in targets if self.refusal(target, problem) is None]

    def choose(self, targets: Sequence[Target], problem: P, *, without: Collection[str] = ()) -> Target | None:
        """The target for the next submission to a problem; `None` if none may judge it.

        Args:
            targets: what there is.
            problem: what the submission is for.
            without: names of targets that have failed it already.
        """
        candidates = [target for target in self.suitable(targets, problem) if target.name not in without]
        return min(candidates, key=self._load, default=None)

    def committed(self, chosen: Target, targets: Sequence[Target], problem: P, *, without: Collection[str]) -> Target:
        """The target that was chosen, marked if no other one that may judge is in service: leaving it helps nobody."""
        others = [target for target in self.suitable(targets, problem) if target.name not in {chosen.name, *without}]
        return replace(chosen, is_only=not any(target.slots for target in others))

    def refusal(self, target: Target, problem: P) -> str | None:
        """Why a target may not judge submissions to a problem; `None` if it may."""
        key = (id(problem), target.name)
        if key not in self._reasons:
            # the problem is kept beside the reason, so that its id cannot be given to another meanwhile
            self._reasons[key] = (problem, self._refusal(target, problem))
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
