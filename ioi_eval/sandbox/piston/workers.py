"""The workers of a cluster: they are found, explored, taken into service, checked, and removed.

    the list of endpoints ──► Prober: what each can do ──► WorkerGroups: which are alike ──► Pool: in service

The list is refreshed regularly, as workers come and go. Explorations go on meanwhile: an endpoint that does not answer
delays no other one. An endpoint that cannot be used is noted with the reason, and explored again later. An endpoint
whose runtimes or limits have changed is explored again too, as it may now belong to another group; if only problems'
packages have changed, this is only noted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from yarl import URL

from ioi_eval.errors import (
    InputError,
    SandboxError,
    SetupError,
    TooManyRequestsError,
    TransientError,
    UnavailableError,
    UnknownRuntimeError,
    UnservedError,
)
from ioi_eval.model import Execution, Isolation, JobKind
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.piston import answer
from ioi_eval.sandbox.piston.discovery import Prober, Worker
from ioi_eval.sandbox.piston.endpoint_state import Endpoint
from ioi_eval.sandbox.piston.endpoints import EndpointSource, endpoints_now
from ioi_eval.sandbox.piston.pool import Pool
from ioi_eval.sandbox.piston.wire import InstalledStarter, Starter, without_problems

JOIN_S = 1.5
"""When no endpoint has answered for so long, a run begins with the workers that have: exploring one takes less."""

MOST_JOINS = 3
"""After so many times `JOIN_S` with workers a run begins, although endpoints still answer. Workers that are busy with
the jobs of other clients answer one after another, for as long as those jobs take."""

StartTask: TypeAlias = Callable[[Coroutine[None, None, None]], asyncio.Task[None]]

_UNKNOWN_BODY_BYTES = 8 * 1024 * 1024
"""How large a request may be if the largest could not be found out: enough for most judge programs. Larger tests have
jobs of their own."""

REDISCOVER_S = 30.0
"""The interval between refreshes of the list of endpoints. Each `squeue` is work for Slurm's controller."""


_NAMED = 5  # a message names at most so many workers; a cluster may have a thousand


def first_of(texts: Sequence[str]) -> Sequence[str]:
    """The first of these texts, one for each worker; if there are more, a last text says how many."""
    more = len(texts) - _NAMED
    return texts if more <= 0 else (*texts[:_NAMED], f"{more} more (`ioi-eval cluster status` lists all)")


@dataclass(slots=True)
class WorkerGroup:
    """Workers that run jobs in the same way: the target that they serve (without its `slots`), the package that starts
    jobs on each of them, and their URLs."""

    target: Target
    installed: InstalledStarter
    members: set[str] = field(default_factory=set)


@dataclass(slots=True)
class UsedWorker:
    """A worker in use, and what its answers to jobs have shown since it was explored: that it is unable to isolate
    programs, or that its limits have changed."""

    worker: Worker
    group: WorkerGroup
    is_unconfined: bool = False
    has_changed: bool = False


class WorkerGroups:
    """The workers in use by URL, each with so many jobs at once, and their groups by the target's name."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.used: dict[str, UsedWorker] = {}
        self.groups: dict[str, WorkerGroup] = {}
        self._of_kind: dict[tuple[object, ...], WorkerGroup] = {}

    def add(self, worker: Worker) -> Endpoint:
        """Add or update a worker; returns its endpoint for the pool."""
        url = str(worker.url)
        self.remove(url)
        group = self._group(worker)
        group.members.add(url)
        self.used[url] = UsedWorker(worker, group)
        return Endpoint(url=url, machine=worker.url.host or url, group=group.target.name, slots=self.slots)

    def remove(self, url: str) -> None:
        """Forget a worker. Its group stays: jobs may wait for it."""
        if used := self.used.pop(url, None):
            used.group.members.discard(url)

    def require_unchanged(self, url: str, status: int, answered: bytes, *, size: int) -> None:
        """Raise UnservedError, and note it, if a worker has refused a request of this size that it allowed when it was
        explored.

        It may have been restarted with other limits. Without another exploration it would refuse job after job, while
        others could judge them.
        """
        used = self.used.get(url)
        if used is None:
            return
        if answer.is_too_large(status, answered):
            has_changed = size <= (used.worker.max_body_bytes or 0)
        else:
            refused = answer.refused_ceiling(status, answered)
            ceilings = used.worker.installed.ceilings
            has_changed = refused is not None and getattr(ceilings, refused[0], refused[1]) != refused[1]
        if has_changed:
            used.has_changed = True
            raise UnservedError(f"its limits have changed: {answer.error_of(status, answered)}")

    def require_suitable(self, url: str, execution: Execution, kind: JobKind) -> None:
        """Raise UnservedError, and note it, if the runner refuses a worker. It goes out of service, like one that
        cannot be reached."""
        used, refused = self.used.get(url), answer.fault_of_worker(execution, kind)
        if refused is None:
            if used is not None and kind is JobKind.RUNNER:
                used.is_unconfined = False
            return
        has_changed = refused[0] == "limits"
        if used is not None:
            used.has_changed |= has_changed
            used.is_unconfined |= not has_changed
        what = "its limits have changed" if has_changed else "the runner cannot isolate programs there"
        raise UnservedError(f"{what}: {refused[1]}")

    def has_changed(self, url: str) -> bool:
        """Whether a worker in use is known to have other limits than when it was explored."""
        return url in self.used and self.used[url].has_changed

    def is_lost_for(self, url: str, error: UnservedError) -> bool:
        """Whether a worker that has refused a job with this error gets no more such jobs: it lacks the package, cannot
        isolate programs, or is not used any more."""
        return isinstance(error, UnknownRuntimeError) or url not in self.used or self.used[url].is_unconfined

    def are_unconfined(self, urls: Collection[str]) -> bool:
        """Whether all of these workers have turned out unable to isolate programs."""
        return all(url in self.used and self.used[url].is_unconfined for url in urls)

    def targets(self) -> Sequence[Target]:
        """One target for each group, the largest first; groups that lost all their workers last. Their slots are
        not those in service."""
        groups = sorted(self.groups.values(), key=lambda group: -len(group.members))
        return [group.target for group in groups]

    def _group(self, worker: Worker) -> WorkerGroup:
        sizes = worker.max_output_bytes, worker.max_body_bytes
        kind = (worker.profile, worker.installed, worker.toolchain, worker.report.python, *sizes)
        if kind not in self._of_kind:
            name = f"piston {worker.installed.starter.value} {worker.installed.version}, {worker.toolchain.version}"
            if number := sum(taken == name or taken.startswith(f"{name} #") for taken in self.groups):
                name += f" #{number + 1}"
            group = WorkerGroup(target=_target(name, worker), installed=worker.installed)
            self._of_kind[kind] = self.groups[name] = group
        return self._of_kind[kind]


def _target(name: str, worker: Worker) -> Target:
    """The target that a worker serves.

    In jobs of either generation of servers the runner reaches `reduced` (Landlock, seccomp). A job says which isolation
    it accepts, and the runner refuses if it reaches less. The scripts of `cms_ioi` confine nothing.
    """
    has_own_scripts = worker.installed.starter is Starter.CMS_IOI
    ceilings = worker.installed.ceilings
    longest = [each for each in (ceilings.run_timeout, ceilings.run_cpu_time) if each is not None]
    return Target(
        name=name,
        profile=worker.profile,
        toolchain=worker.toolchain,
        slots=1,
        isolation=Isolation.NONE if has_own_scripts else Isolation.REDUCED,
        has_own_scripts=has_own_scripts,
        max_output_bytes=worker.max_output_bytes,
        max_wall_ms=min(longest, default=None),
        max_body_bytes=_UNKNOWN_BODY_BYTES if worker.max_body_bytes is None else worker.max_body_bytes,
        has_python=bool(worker.report.python),
        is_remote=True,
    )


class WorkerList:
    """Keeps groups and pool up to date with the list of endpoints, and notes which are unusable now, and why.

    Args:
        time: the pool's clock.
        start: starts a task that ends with the cluster.
        list_failed: called with the reason if the list of endpoints could not be read again.
    """

    def __init__(
        self,
        source: EndpointSource,
        prober: Prober,
        groups: WorkerGroups,
        pool: Pool,
        *,
        time: Callable[[], float],
        start: StartTask,
        list_failed: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.unusable: dict[str, SandboxError | SetupError] = {}
        self._source = source
        self._prober = prober
        self._groups = groups
        self._pool = pool
        self._start = start
        self._list_failed = list_failed
        self._time = time
        self._exploring: dict[str, asyncio.Task[None]] = {}
        self._listed: frozenset[str] = frozenset()

    @property
    def silent(self) -> Sequence[str]:
        """The endpoints that are being explored and have not answered yet."""
        return sorted(self._exploring.keys() - self._groups.used.keys() - self.unusable.keys())

    async def wait_for_workers(self) -> None:
        """Wait for the explorations that `refresh` has started; but if there is a worker, only while others answer, and
        not for long.

        Workers that answer later join later: those that are silent or busy must not keep all others waiting.
        """
        before, joins = -1, 0
        while self._exploring:
            explored = len(self._groups.used) + len(self.unusable)
            if self._groups.used and (explored == before or joins == MOST_JOINS):
                return
            before = explored
            joins += bool(self._groups.used)
            await asyncio.wait(self._exploring.values(), timeout=JOIN_S)

    def require_any(self) -> None:
        """Raise SetupError if no endpoint can be used, with the reason for the first ones; UnavailableError if none
        answers."""
        if self._groups.used:
            return
        reasons = first_of(tuple(map(str, self.unusable.values())))
        message = f"no endpoint can be used: {'; '.join(reasons) or 'none was named'}"
        silent = self.unusable and all(isinstance(error, TransientError) for error in self.unusable.values())
        error = UnavailableError(message) if silent else SetupError(message)
        error.add_note("`ioi-eval doctor --endpoints …` tries each and says what to do")
        raise error from next(iter(self.unusable.values()), None)

    async def refresh(self) -> None:
        """Read the list of endpoints; remove those not listed now; start to explore those that are new or could not be
        used."""
        wanted = {str(url): url for url in map(self._prober.address, await endpoints_now(self._source))}
        self._listed = frozenset(wanted)
        for endpoint in [endpoint for endpoint in (*self._groups.used, *self.unusable) if endpoint not in wanted]:
            self.unusable.pop(endpoint, None)
            self._remove(endpoint)
        for endpoint, url in wanted.items():
            if endpoint not in self._groups.used and endpoint not in self._exploring:
                self._exploring[endpoint] = self._start(self._explore_new(endpoint, url))

    async def keep_refreshing(self) -> None:
        """Refresh at intervals. A list that cannot be read changes nothing; each new reason is passed on once."""
        last = ""
        while True:
            await asyncio.sleep(REDISCOVER_S)
            reason = ""
            try:
                await self.refresh()
            except (SandboxError, SetupError, InputError) as error:
                reason = str(error)
            if reason not in {"", last}:
                self._list_failed(reason)
            last = reason

    async def check(self, endpoint: str) -> None:
        """Check for the pool whether an endpoint is alive, and whether it has changed."""
        used, url = self._groups.used.get(endpoint), self._prober.address(endpoint)
        is_alive = False
        try:
            runtimes = await self._prober.runtimes(url)
            # one that is not used any more may still run jobs
            is_alive = used is None or without_problems(runtimes) == without_problems(used.worker.runtimes)
            if used is not None:
                if used.has_changed:
                    is_alive = False
                    self._prober.measure_again(url)
                if is_alive:
                    used.worker = replace(used.worker, runtimes=runtimes)
                    self.unusable.pop(endpoint, None)
                elif await self._explore(url):
                    return
        except TooManyRequestsError:
            is_alive = used is None or not used.has_changed
        except (SandboxError, SetupError) as error:
            if used is not None:
                self.unusable[endpoint] = error
        self._pool.check_ended(endpoint, is_alive, self._time())

    async def _explore_new(self, endpoint: str, url: URL) -> None:
        try:
            await self._explore(url)
        finally:
            del self._exploring[endpoint]

    async def _explore(self, url: URL) -> bool:
        """Find out what an endpoint can do, and take it into service; or note why it cannot be used. Returns whether it
        is used.

        One that is not listed any more when that is known is neither used nor noted.
        """
        endpoint = str(url)
        try:
            worker = await self._prober.explore(url)
        except (SandboxError, SetupError) as error:
            if endpoint in self._listed:
                self.unusable[endpoint] = error
            if isinstance(error, SetupError):
                self._remove(endpoint)
            return False
        if endpoint not in self._listed:
            return False
        self.unusable.pop(endpoint, None)
        self._pool.add(self._groups.add(worker), self._time())
        return True

    def _remove(self, endpoint: str) -> None:
        self._groups.remove(endpoint)
        self._pool.remove(endpoint, self._time())
