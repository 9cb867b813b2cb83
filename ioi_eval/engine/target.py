"""Chooses the target that judges a submission, and another one if that is lost.

A submission is bound to one target, because a program runs only where it was compiled. Of the targets that may judge
it, the one is chosen that would be least busy with it, so that every slot of a mixed cluster is used; targets without
workers come last. If its target is lost or turns out to be unsuitable, the whole submission is judged again on another
one: a result, and its fingerprint, contain one compiler, one interpreter and one profile. A target on which nothing can
be judged (its compiler does not work) gets no more submissions.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from ioi_eval.errors import BrokenTargetError, SandboxError, TargetLostError, UnsuitableError
from ioi_eval.sandbox import Sandbox, Target

ProblemT = TypeVar("ProblemT")
ResultT = TypeVar("ResultT")


class NoTargetError(SandboxError):
    """No target is left that may judge a submission; with the reason of each. `all_unsuitable`: all of them exist, and
    each is unsuitable."""

    def __init__(self, message: str, *, all_unsuitable: bool) -> None:
        super().__init__(message)
        self.all_unsuitable = all_unsuitable


def in_service_or_all(targets: Sequence[Target]) -> Sequence[Target]:
    """The targets that have workers now; all, if none has."""
    return [target for target in targets if target.slots] or targets


class Dispatcher(Generic[ProblemT]):
    """Gives submissions to the targets of a sandbox. It knows how many each judges, and what it may judge.

    `why_unsuitable` says why a target is unsuitable for a problem, once for each pair. `key_of` gives the key of a
    problem: problems are not kept, as their tests may be in memory.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        why_unsuitable: Callable[[Target, ProblemT], str | None],
        key_of: Callable[[ProblemT], Hashable],
    ) -> None:
        self._sandbox = sandbox
        self._why_unsuitable, self._key_of = why_unsuitable, key_of
        self._bound: defaultdict[str, set[object]] = defaultdict(set)  # sets, because threads may share this
        self._seen: dict[str, Target] = {}
        self._reasons: dict[tuple[Hashable, str], str | None] = {}
        self._broken: dict[str, str] = {}  # why nothing can be judged on a target, by name

    async def judge_on_target(
        self,
        problem: ProblemT,
        judge: Callable[[Target], Awaitable[ResultT]],
        *,
        why_unsuitable_for_submission: Callable[[Target], str | None] = lambda _: None,
        nothing_runs: bool = False,
    ) -> ResultT:
        """Judge a submission on one target.

        Args:
            judge: judges it there; called again with another target if one is lost, unsuitable or broken.
            why_unsuitable_for_submission: why a target is unsuitable for this one; `None` if no reason is known.
            nothing_runs: nothing is run, so if no target may judge it, any target is used.

        Raises:
            NoTargetError: no target is left.
            BrokenTargetError: nothing can be judged on any target.
        """
        failed: dict[str, SandboxError] = {}
        while True:
            targets = self._targets()
            failed |= {name: UnsuitableError(f"{name}: {reason}") for name, reason in self._broken.items()}
            reasons = {each.name: why_unsuitable_for_submission(each) for each in targets}
            failed |= {name: UnsuitableError(reason) for name, reason in reasons.items() if reason}
            target = self.choose(targets, problem, without=failed)
            if target is None and nothing_runs:
                target = targets[0]
            if target is None:
                of_problem = (self.why_unsuitable(each, problem) for each in targets)
                is_lost = any(isinstance(error, TargetLostError) for error in failed.values())
                message = "; ".join([*map(str, failed.values()), *filter(None, of_problem)])
                raise NoTargetError(message, all_unsuitable=not is_lost)
            try:
                with self.bound(target):
                    return await judge(target)
            except (TargetLostError, UnsuitableError) as error:
                failed[target.name] = error
            except BrokenTargetError as error:
                if self._broken.keys() >= {each.name for each in targets} - {target.name}:
                    raise
                self._broken[target.name] = str(error)

    def notes(self) -> list[str]:
        """A sentence for each target on which nothing could be judged."""
        return [f"{name} judged nothing more: {' '.join(reason.split())}" for name, reason in self._broken.items()]

    def suitable_so_far(self, problem: ProblemT) -> list[Target]:
        """The targets seen so far that may judge submissions to a problem, in order; all of them, if none may."""
        self._targets()
        targets = list(self._seen.values())
        return self.suitable(targets, problem) or targets

    def _targets(self) -> Sequence[Target]:
        targets = self._sandbox.targets()
        for target in targets:
            self._seen.setdefault(target.name, target)
        return targets

    def suitable(self, targets: Sequence[Target], problem: ProblemT) -> list[Target]:
        """The targets that may judge submissions to a problem, in the order given."""
        return [target for target in targets if self.why_unsuitable(target, problem) is None]

    def choose(self, targets: Sequence[Target], problem: ProblemT, *, without: Collection[str] = ()) -> Target | None:
        """The target for the next submission to a problem, without those that have failed it (by name); `None` if
        none may judge it. It is marked as the only one if no other that may judge the problem has workers."""
        candidates = [target for target in self.suitable(targets, problem) if target.name not in without]
        chosen = min(candidates, key=self._load, default=None)
        others = (target.slots for target in candidates if target is not chosen)
        return None if chosen is None else replace(chosen, is_only=not any(others))

    def why_unsuitable(self, target: Target, problem: ProblemT) -> str | None:
        """Why a target is unsuitable for a problem; `None` if it is suitable."""
        key = (self._key_of(problem), target.name)
        if key not in self._reasons:
            self._reasons[key] = self._why_unsuitable(target, problem)
        return self._reasons[key]

    @contextlib.contextmanager
    def bound(self, target: Target) -> Iterator[None]:
        """Count a submission as one of a target's while it is judged."""
        binding = object()
        self._bound[target.name].add(binding)
        try:
            yield
        finally:
            self._bound[target.name].discard(binding)

    def jobs_at_once(self, target: Target) -> int:
        """How many jobs each submission on a target may run at once: its share of the slots, at least one."""
        bound = max(1, len(self._bound[target.name]))
        return max(1, target.slots // bound)

    def _load(self, target: Target) -> float:
        """How busy a target would be with one more submission: 1 if each slot had one."""
        return (len(self._bound[target.name]) + 1) / target.slots if target.slots else math.inf
