"""Where a command's jobs are executed, by `--sandbox`, `--endpoints` and `--profile`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from ioi_eval.cli import options
from ioi_eval.cli.endpoints import Endpoints, NamedCluster, RequestsPerEndpoint, named_cluster
from ioi_eval.cli.grouped import OptionGroup, option
from ioi_eval.cli.messages import tell
from ioi_eval.config import PATIENCE_S
from ioi_eval.errors import InputError, IsolationError
from ioi_eval.model.terms import Isolation, Profile
from ioi_eval.report.texts import counted

if TYPE_CHECKING:
    import asyncio

    from ioi_eval.events import Event, Events
    from ioi_eval.pipeline.tally import Load
    from ioi_eval.sandbox import Sandbox, Target
    from ioi_eval.sandbox.local.machine_limit import MachineLimit
    from ioi_eval.sandbox.local.sandbox import LocalSandbox
    from ioi_eval.sandbox.piston.cluster import PistonCluster


SILENT_S = 10.0
"""If no worker can be used after so long, a line says what is waited for. To explore one takes a second or two."""


LOST_S = 2.0
"""If no worker is left for so long, a line says so. One that has failed a job is tried again after half a second."""


class SandboxChoice(StrEnum):
    """Our values of `--sandbox`; others are names of sandboxes that other Python packages bring (`extensions`)."""

    AUTO = "auto"
    EMBEDDED = "embedded"
    PISTON = "piston"


class ProfileChoice(StrEnum):
    """The values of `--profile`."""

    AUTO = "auto"
    BUNDLED = Profile.BUNDLED
    CLASSIC = Profile.CLASSIC


SandboxOption = Annotated[
    str,
    option(
        "--sandbox auto|embedded|piston|NAME",
        "Where programs run. embedded: on this machine. piston: on Piston workers. auto: on Piston workers if any "
        "are named, else on this machine. NAME: in a sandbox of another Python package.",
    ),
]
ProfileOption = Annotated[
    ProfileChoice,
    option(
        "--profile",
        "Send many tests per job (bundled) or one (classic); by default, bundled on every worker that supports it.",
    ),
]
PatienceOption = Annotated[
    float | None,
    option(
        "--patience S", f"Seconds that jobs wait while no Piston worker is available; {PATIENCE_S:g} by default.", min=0
    ),
]


@dataclass(frozen=True, kw_only=True)
class SandboxOptions:
    """Where jobs are executed, and how, by the command's options, the environment and `.env`: a group of options.

    Args:
        at_most: use at most this many of the slots; `None` for no limit.
    """

    workers: options.Workers = None
    isolation: options.LeastIsolation = None
    sandbox: SandboxOption = SandboxChoice.AUTO
    endpoints: Endpoints = None
    max_requests_per_endpoint: RequestsPerEndpoint = None
    profile: ProfileOption = ProfileChoice.AUTO
    patience: PatienceOption = None
    at_most: int | None = None

    def __post_init__(self) -> None:
        """Raises `InputError` for options that contradict each other, and for names that are not valid."""
        sandbox, per_endpoint = self.sandbox, self.max_requests_per_endpoint
        if self.extension is not None:
            from ioi_eval.extensions import Kind, extension

            extension(Kind.SANDBOX, sandbox, ours=SandboxChoice)  # a wrong name is refused before anything is read
        if not self._may_be_cluster and (self.endpoints is not None or per_endpoint is not None):
            option = "--max-requests-per-endpoint" if self.endpoints is None else "--endpoints"
            asked = "this machine" if self.extension is None else "another sandbox"
            raise InputError(
                f"{option} is for Piston workers, and --sandbox {sandbox} asks for {asked}: leave out one of them"
            )
        if self.extension is not None and self.profile is not ProfileChoice.AUTO:
            raise InputError(f"--profile is for our sandboxes, and --sandbox {sandbox} asks for another: leave out one")
        if self.cluster is None and sandbox == SandboxChoice.PISTON:
            raise InputError("--sandbox piston: no worker is named; use --endpoints, or set PISTON_ENDPOINTS (or .env)")
        if self.cluster is None and per_endpoint is not None:
            raise InputError("--max-requests-per-endpoint is for Piston workers, and none is named; add --endpoints")

    @property
    def _may_be_cluster(self) -> bool:
        return self.sandbox in (SandboxChoice.AUTO, SandboxChoice.PISTON)

    @cached_property
    def cluster(self) -> NamedCluster | None:
        """The Piston workers; `None` for none."""
        return named_cluster(self.endpoints, self.max_requests_per_endpoint) if self._may_be_cluster else None

    @property
    def extension(self) -> str | None:
        """The name of a sandbox that another Python package provides; `None` for none."""
        return None if self.sandbox in set(SandboxChoice) else self.sandbox

    @property
    def only_profile(self) -> Profile | None:
        """The profile that was asked for; `None` for the best that is available."""
        return None if self.profile is ProfileChoice.AUTO else Profile(self.profile)

    @property
    def is_here(self) -> bool:
        """Whether programs run in the embedded sandbox, on this machine."""
        return self.cluster is None and self.extension is None

    def as_dict(self) -> Mapping[str, Any]:
        """The values that the journal and the summary record."""
        from ioi_eval.sandbox.piston.endpoints import without_logins

        return {
            "sandbox": self.extension or ("embedded" if self.cluster is None else "piston"),
            "endpoints": None if self.cluster is None else without_logins(self.cluster.text),
            "profile": self.only_profile or "auto",
            "workers": self.workers or "auto",
            "isolation": self.isolation or Isolation.REDUCED,
        }


SandboxGroup = Annotated[SandboxOptions, OptionGroup()]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSandbox:
    """A sandbox that is ready.

    Args:
        jobs_now: returns how many jobs with these programs can run now: more if workers have joined a cluster.
        limits: the limits of this machine that programs may reach; those of other machines are not known.
        load: returns how many jobs run now, and how many may run.
    """

    sandbox: Sandbox
    jobs_now: Callable[[], int]
    least_isolation: Isolation
    limits: Sequence[MachineLimit] = ()
    load: Load | None = None


@asynccontextmanager
async def opened(options: SandboxOptions, *, events: Events | None = None) -> AsyncIterator[OpenSandbox]:
    """Enter the sandbox, and print a line about it on stderr.

    Raises:
        InputError: an endpoint is not valid.
        SetupError: there is no compiler here, a limit under which correct programs fail, or no usable endpoint.
        IsolationError: not enough isolation.
        UnavailableError: no endpoint answers.
    """
    from ioi_eval.sandbox.local.sandbox import LocalSandbox

    async with _chosen_sandbox(options, events) as sandbox:
        targets = sandbox.targets()
        isolation = _accepted_isolation(options, targets)
        require_usable(targets, isolation)

        def jobs_now() -> int:
            slots = sum(target.slots for target in usable_targets(sandbox.targets(), isolation))
            return options.workers or min(slots, options.at_most or sys.maxsize)

        yield OpenSandbox(
            sandbox=sandbox,
            jobs_now=jobs_now,
            least_isolation=isolation,
            limits=sandbox.limits if isinstance(sandbox, LocalSandbox) else (),
            load=getattr(sandbox, "busy", None),  # only our own sandboxes have it
        )


def _chosen_sandbox(options: SandboxOptions, events: Events | None) -> AbstractAsyncContextManager[Sandbox]:
    if options.extension is not None:
        return _extension(options.extension)
    return _embedded(options) if options.cluster is None else _piston(options, options.cluster, events)


@asynccontextmanager
async def _extension(name: str) -> AsyncIterator[Sandbox]:
    from ioi_eval.extensions import Kind, extension

    async with extension(Kind.SANDBOX, name)() as sandbox:
        tell(f"the sandbox {name!r} of another package", *(f"  {describe(target)}" for target in sandbox.targets()))
        yield sandbox


@asynccontextmanager
async def _embedded(options: SandboxOptions) -> AsyncIterator[LocalSandbox]:
    from ioi_eval.config import Environment
    from ioi_eval.sandbox.local.control_groups import processors
    from ioi_eval.sandbox.local.sandbox import LocalSandbox

    async with LocalSandbox(
        slots=options.workers or (options.at_most and min(options.at_most, processors())),
        least_isolation=options.isolation or Isolation.REDUCED,
        compiler=Environment.read().compiler,
        profile=options.only_profile or Profile.BUNDLED,
    ) as sandbox:
        (target,) = sandbox.targets()
        classic = ", classic profile" if target.profile is Profile.CLASSIC else ""
        outer = ", inside another filter of system calls (a container's)" if target.outer_filter else ""
        weaker = " or none (results say which)" if options.isolation is Isolation.NONE and sandbox.why_not_full else ""
        tell(
            f"embedded sandbox: isolation {target.isolation.value}{weaker}{outer}, "
            f"{target.toolchain.version}{classic}, {target.slots} at once"
        )
        if sandbox.why_not_full:
            cause = sandbox.why_not_full.partition("; ")[0]
            tell(f"  not full isolation: {cause}. This is enough to score; for full isolation see ioi-eval doctor")
        yield sandbox


@asynccontextmanager
async def _piston(
    options: SandboxOptions, cluster: NamedCluster, events: Events | None
) -> AsyncIterator[PistonCluster]:
    from asyncio import get_running_loop

    from ioi_eval.events import Events
    from ioi_eval.sandbox.piston.cluster import PistonCluster
    from ioi_eval.sandbox.piston.workers import first_of

    events = events or Events()
    patience_s = PATIENCE_S if options.patience is None else options.patience
    piston = PistonCluster(
        cluster.source,
        max_requests_per_endpoint=cluster.max_requests_per_endpoint,
        profile=options.only_profile,
        patience_s=patience_s,
        events=events,
    )

    def tell_silent() -> None:
        if silent := ", ".join(first_of(piston.silent)):
            tell(f"no worker can be used yet; waiting, for some minutes at most, for {silent}")

    waiting = get_running_loop().call_later(SILENT_S, tell_silent)
    async with piston as sandbox:
        waiting.cancel()
        targets = sandbox.targets()
        workers, jobs = len(sandbox.workers), sum(target.slots for target in targets)
        size = f"{counted(workers, 'worker')}, {counted(jobs, 'job')} at once"
        named_by = "PISTON_ENDPOINTS" if options.endpoints is None else "--endpoints"
        tell(f"Piston cluster, as {named_by} says: {size}")
        tell(*(f"  {describe(target)}" for target in targets))
        tell(*(f"  not used: {reason}" for reason in first_of(tuple(sandbox.unusable.values()))))
        if sandbox.silent:
            tell(f"  no answer yet: {', '.join(first_of(sandbox.silent))}; each is used as soon as it answers")
        lines = _WorkerLines(sandbox, patience_s)
        events.add(lines)
        try:
            yield sandbox
        finally:
            events.remove(lines)
            lines.close()
            tell(*(f"  {fault}" for fault in sandbox.package_faults))


class _WorkerLines:
    """Prints a line when a cluster has had no worker in service for `LOST_S`, and another when it has one again; and
    one for each reason why the list of endpoints could not be read again."""

    def __init__(self, cluster: PistonCluster, patience_s: float) -> None:
        self._cluster, self._patience_s = cluster, patience_s
        self._timer: asyncio.TimerHandle | None = None
        self._is_told = False
        self._unreadable: set[str] = set()

    def listen(self, event: Event) -> None:
        """Note that a worker has entered or left service, or that the list could not be read."""
        from asyncio import get_running_loop

        if event["event"] == "endpoints_unreadable" and event["message"] not in self._unreadable:
            self._unreadable.add(event["message"])
            tell(f"the list of endpoints could not be read again, and the same workers are used: {event['message']}")
        if event["event"] not in ("worker_joined", "worker_lost"):
            return
        _, slots = self._cluster.busy()
        if not slots:
            self._timer = self._timer or get_running_loop().call_later(LOST_S, self._tell)
            return
        self.close()
        if self._is_told:
            self._is_told = False
            tell("a worker can be used again")

    def _tell(self) -> None:
        self._is_told = True
        tell(f"no worker can be used now; waiting up to {self._patience_s:g} s for one")

    def close(self) -> None:
        """Print no line any more about the workers that are lost now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def describe(target: Target) -> str:
    """One line about a kind of workers: compiler, profile, number of jobs, and isolation as far as it is known.

    The runner finds out in each job how strongly it can isolate. Before that only the weakest accepted level is known.
    """
    linking = "static" if target.toolchain.static else "dynamic"
    least = target.isolation.value if target.has_own_scripts else f"at least {target.isolation.value}"
    return f"{target.name}, {linking}: {target.profile}, {counted(target.slots, 'job')} at once, isolation {least}"


def _accepted_isolation(options: SandboxOptions, targets: Sequence[Target]) -> Isolation:
    """The weakest isolation that is accepted.

    If the user asks for the classic profile on workers that have only their own scripts, the level is `none`, because
    these scripts do not isolate. A line says so, and every result has the level. Otherwise such workers are not used.
    """
    if options.isolation is not None:
        return options.isolation
    if options.profile is ProfileChoice.CLASSIC and all(target.has_own_scripts for target in targets):
        tell("the cms_ioi package confines nothing (isolation none): a program can reach its judge there")
        return Isolation.NONE
    return Isolation.REDUCED


def usable_targets(targets: Sequence[Target], least: Isolation) -> list[Target]:
    """The targets with enough isolation."""
    return [target for target in targets if target.isolation.rank >= least.rank]


def require_usable(targets: Sequence[Target], least: Isolation) -> None:
    """Name the targets with too little isolation in a line; refuse if no other is left."""
    usable = usable_targets(targets, least)
    weak = [f"{target.name} offers isolation {target.isolation.value}" for target in targets if target not in usable]
    if not usable:
        better = "install the ioi_eval package on the workers, or accept" if least is not Isolation.FULL else "accept"
        raise IsolationError(
            f"isolation {least.value} is asked for, and {'; '.join(weak)}: {better} a lower level with --isolation"
        )
    tell(*(f"  not used: {reason}, and {least.value} is asked for" for reason in weak))
